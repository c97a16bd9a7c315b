"""Models of every shape, for Hypothesis: whatever the types allow and the model promises.

It promises valid Unicode, finite numbers of 64 bits, and moments in RFC 3339. It does not promise that
parents exist, that ids differ, or that counts make sense.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Event,
    Feedback,
    Item,
    Link,
    Media,
    Memory,
    Message,
    Origin,
    Other,
    Reasoning,
    Request,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
)

WORDS = ["", "a", "id-1", "id-2", "userType", "user_type", "exit_code", "metadata", "content", "timestamp"]
# Names that targets have for something of their own.
WORDS += [
    "type",
    "media",
    "name",
    "title",
    "hidden",
    "usage",
    "raw",
    "citations",
    "line_range",
    "summary",
    "ref",
]
WORDS += [
    "requestId",
    "response_id",
    "model_override",
    "service_tier",
    "agent_journal",
    "total_tokens",
    "link",
]
text = st.one_of(st.sampled_from(WORDS), st.text(max_size=12))
# Few ids, so that parents, calls and usages meet.
an_id = st.sampled_from(["", "1", "2", "3", "4", "ünïcode", "11111111-2222-4333-8444-555555555555"])
whole = st.integers(-(2**63), 2**63 - 1)
line = st.integers(-1, 5)
decimal = st.floats(allow_nan=False, allow_infinity=False)
scalar = st.one_of(st.none(), st.booleans(), whole, decimal, text)
value: SearchStrategy[Any] = st.recursive(
    scalar,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=5,
)
bag = st.dictionaries(text, value, max_size=3)
moment = st.one_of(
    st.datetimes().map(lambda at: at.isoformat(timespec="milliseconds") + "Z"),
    st.sampled_from(
        [
            "2026-03-01T10:00:00Z",
            "2026-02-30T10:00:00Z",
            "2026-12-31T23:59:60Z",
            "0001-01-01T00:00:00+14:00",
            "2026-03-01T10:00:00.123456789-08:00",
        ]
    ),
)


def maybe(of: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(st.none(), of)


def few(of: SearchStrategy[Any], most: int = 3) -> SearchStrategy[list[Any]]:
    return st.lists(of, max_size=most)


citations = st.builds(
    Citation,
    title=maybe(text),
    url=maybe(text),
    text=maybe(text),
    start=maybe(whole),
    end=maybe(whole),
    extra=bag,
)
texts = st.builds(Text, text=text, citations=few(citations, 2), extra=bag)
codes = st.builds(
    Code,
    code=text,
    language=maybe(text),
    file=maybe(text),
    first_line=maybe(line),
    last_line=maybe(line),
    extra=bag,
)
reasonings = st.builds(
    Reasoning,
    text=maybe(text),
    summary=maybe(text),
    signature=maybe(text),
    encrypted=maybe(text),
    extra=bag,
)
calls = st.builds(
    ToolCall,
    name=text,
    call_id=maybe(an_id),
    input=st.one_of(
        value, st.sampled_from(["{}", '{"a": [1]}', '{"a":"ü"}', '{"raw":1}', "[1]", "{", "null"])
    ),
    kind=maybe(st.sampled_from(["shell", "mcp"])),
    extra=bag,
)
media = st.builds(
    Media,
    kind=st.sampled_from(["image", "audio", "video", "document", "file"]),
    mime=maybe(text),
    name=maybe(text),
    size=maybe(whole),
    ref=maybe(text),
    data=maybe(text),
    text=maybe(text),
    extra=bag,
)
others = st.builds(Other, data=value, name=maybe(text))
inner_parts = st.one_of(texts, codes, reasonings, calls, media, others)
results = st.builds(
    ToolResult,
    call_id=maybe(an_id),
    output=st.one_of(text, few(inner_parts)),
    is_error=maybe(st.booleans()),
    name=maybe(text),
    native=value,
    extra=bag,
)
parts = st.one_of(inner_parts, results)
usages = st.builds(
    Usage,
    key=maybe(an_id),
    input=maybe(whole),
    output=maybe(whole),
    cache_read=maybe(whole),
    cache_write=maybe(whole),
    cache_write_5m=maybe(whole),
    cache_write_1h=maybe(whole),
    reasoning=maybe(whole),
    total=maybe(whole),
    cost_usd=maybe(decimal),
    estimated=st.booleans(),
    extra=st.one_of(
        bag, st.fixed_dictionaries({"service_tier": value, "input_tokens": value, "cache_creation": value})
    ),
)
messages = st.builds(
    Message,
    id=an_id,
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    made_id=st.booleans(),
    parent_id=maybe(an_id),
    at=maybe(moment),
    model=maybe(text),
    stop_reason=maybe(text),
    hidden=st.booleans(),
    sidechain=st.booleans(),
    response_id=maybe(an_id),
    parts=few(parts),
    usage=maybe(usages),
    native=value,
    extra=bag,
)
events = st.builds(
    Event,
    id=an_id,
    name=st.one_of(text, st.just("queue-operation")),
    made_id=st.booleans(),
    parent_id=maybe(an_id),
    at=maybe(moment),
    data=bag,
)
links = st.builds(
    Link,
    conversation_id=an_id,
    relation=st.sampled_from(["continues", "subagent", "fork"]),
    message_id=maybe(an_id),
    call_id=maybe(an_id),
)
summaries = st.builds(
    Summary,
    text=text,
    kind=st.sampled_from(["automatic", "user_generated", "system"]),
    at=maybe(moment),
    message_id=maybe(an_id),
    extra=bag,
)
feedback = st.builds(
    Feedback,
    rating=maybe(st.sampled_from(["up", "down"])),
    text=maybe(text),
    at=maybe(moment),
    message_id=maybe(an_id),
    extra=bag,
)
tools = st.builds(Tool, name=text, description=maybe(text), parameters=value, extra=bag)
requests = st.builds(
    Request,
    id=maybe(an_id),
    index=st.integers(0, 5),
    api=maybe(st.sampled_from(["openai", "claude", ""])),
    at=maybe(moment),
    model=maybe(text),
    duration_ms=maybe(st.one_of(whole, decimal)),
    system=few(an_id),
    since_id=maybe(an_id),
    prompt_id=maybe(an_id),
    response_ids=few(an_id),
    tools=few(st.integers(0, 3)),
    error=value,
    extra=bag,
)
origins = st.builds(Origin, reader=text, version=text, revision=whole, file=maybe(text), sha256=maybe(text))
conversations = st.builds(
    Conversation,
    id=an_id,
    source=text,
    title=maybe(text),
    started_at=maybe(moment),
    updated_at=maybe(moment),
    app_version=maybe(text),
    model=maybe(text),
    cwd=maybe(text),
    git_branch=maybe(text),
    git_commit=maybe(text),
    account_id=maybe(text),
    editor=maybe(text),
    os=maybe(text),
    shell=maybe(text),
    archived=maybe(st.booleans()),
    tags=few(text),
    only_prompts=st.booleans(),
    shape=st.sampled_from(["list", "tree"]),
    head_id=maybe(an_id),
    link=maybe(links),
    made_id=st.booleans(),
    timeline=st.lists(st.one_of(messages, messages, events), max_size=6),
    summaries=few(summaries, 2),
    feedback=few(feedback, 2),
    tools=few(tools, 2),
    requests=few(requests, 2),
    platform=bag,
    context=bag,
    origin=maybe(origins),
    extra=bag,
)
memories = st.builds(
    Memory,
    id=an_id,
    source=text,
    kind=text,
    text=text,
    made_id=st.booleans(),
    account_id=maybe(text),
    about=maybe(st.one_of(an_id, text)),
    at=maybe(moment),
    origin=maybe(origins),
    extra=bag,
)
items: SearchStrategy[Item] = st.one_of(conversations, conversations, memories)
