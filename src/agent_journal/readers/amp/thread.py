"""The document of a thread as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Message, ToolResult, Usage, ids, roles, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.readers.amp.names import TOOL_KINDS
from agent_journal.readers.dialects.anthropic_blocks import parse_block, parse_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.model import Part
    from agent_journal.notes import Notes

_MESSAGES = "messages"
_TITLE_REQUEST = "title-generation"
# What a tool's result has as its text, the best first.
_OUTPUT_FIELDS = ("output", "content", "diff")
# Of these models the fresh part of a prompt is counted as written to the cache; their cache has no such cost.
_WITHOUT_CACHE_WRITES = "gpt-"


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a thread."""
    document: dict[str, Any] = {}
    messages: list[tuple[str, Any]] = []
    for key, index, value in json_stream.members(source, note):
        if index is None:
            document[key] = value
        elif key == _MESSAGES:
            messages.append((f"{_MESSAGES}[{index}]", value))
        else:
            document.setdefault(key, []).append(value)
    document.pop(_MESSAGES, None)
    fields = Fields(document, note, "")
    thread = nonempty_str(fields.take("id"))
    if thread is None and not messages:
        raise UnreadableSource(source.label, "it has neither the id of a thread nor a message")
    if thread is None:
        note(Kind.MISSING_ID, "", "the thread has no id; the name of the file is used")
    thread = thread or source.name.removesuffix(".json")
    strays = [raw for _, raw in messages if raw.__class__ is not dict]
    timeline = _timeline(thread, messages, note)
    timeline = _with_ledger(thread, timeline, fields.view("usageLedger"))
    first, last = tree.span(timeline)
    env = _environment(fields.view("env"))
    return Conversation(
        id=thread,
        source=name,
        title=fields.text("title") or None,
        started_at=fields.timestamp("created") or first,
        updated_at=_latest(last, _end_of_traces(fields.view("meta"))),
        model=next((each.model for each in timeline if each.model and not each.hidden), None),
        cwd=env.get("cwd"),
        git_branch=env.get("branch"),
        git_commit=env.get("commit"),
        os=env.get("os"),
        shape="list",
        timeline=list(timeline),
        extra=fields.rest() | ({_MESSAGES: strays} if strays else {}),
    )


def _timeline(thread: str, messages: Iterable[tuple[str, Any]], note: Notes) -> list[Message]:
    timeline: list[Message] = []
    seen: set[str] = set()
    for where, raw in messages:
        if raw.__class__ is not dict:
            note(Kind.WRONG_TYPE, where, f"a message is {type(raw).__name__}, not an object")
            continue
        message = _message(Fields(raw, note, where))
        if not message.id or message.id in seen:
            if message.id:
                note(Kind.DUPLICATE_ID, where, f"message {message.id}")
            own = {"messageId": message.id} if message.id else {}
            message = replace(message, id=ids.made(thread, where), made_id=True, extra=message.extra | own)
        seen.add(message.id)
        if message.usage is not None:
            message = replace(message, usage=replace(message.usage, key=f"{thread}:{message.id}"))
        timeline.append(message)
    return timeline


def _message(fields: Fields) -> Message:
    number = fields.view("messageId")
    if number.__class__ is int:
        fields.drop("messageId")
    name = fields.view("role")
    role = roles.role(name)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(name)[:40]!r}")
    elif role == name:
        fields.drop("role")
    raw_usage, meta, state = fields.view("usage"), fields.view("meta"), fields.view("state")
    usage = _usage(raw_usage)
    if usage is not None:
        fields.drop("usage")
    sent_at = meta.get("sentAt") if meta.__class__ is dict else None
    stated_at = raw_usage.get("timestamp") if usage is not None else None
    at = timestamps.parse_timestamp(sent_at) or timestamps.parse_timestamp(stated_at)
    return Message(
        id=str(number) if number.__class__ is int else "",
        role=role or "user",
        at=at,
        model=nonempty_str(raw_usage.get("model")) if usage is not None else None,
        stop_reason=nonempty_str(state.get("stopReason")) if state.__class__ is dict else None,
        parts=_parts(fields),
        usage=usage,
        extra=fields.rest(),
    )


def _parts(fields: Fields) -> list[Part]:
    content = fields.take("content")
    if content.__class__ is not list:
        return parse_blocks(content, fields.note, fields.where, TOOL_KINDS)
    return [_part(block, fields) for block in content]


def _part(block: Any, fields: Fields) -> Part:
    """Return the part of a block; a result may state how the tool's run ended."""
    is_own = block.__class__ is dict and block.get("type") == "tool_result" and "toolUseID" in block
    if not is_own:
        return parse_block(block, fields.note, fields.where, TOOL_KINDS)
    result = Fields(dict(block), fields.note, fields.where)
    result.drop("type")
    call_id, run = result.text("toolUseID"), result.view("run")
    if run.__class__ is not dict:
        return ToolResult(call_id=call_id, output=_text(result.take("content")), extra=result.rest())
    status, error = run.get("status"), run.get("error")
    message = error.get("message") if error.__class__ is dict else error
    output = _text(run.get("result")) or _text(message)
    is_whole = run.keys() <= {"status", "result"} and run.get("result") == output
    if is_whole and status in ("done", "error"):
        result.drop("run")
    return ToolResult(
        call_id=call_id,
        output=output,
        is_error={"done": False, "error": True, "cancelled": True}.get(str(status)),
        extra=result.rest(),
    )


def _text(value: Any) -> str:
    """Return the text of a tool's result: a text, lines, or an object with a text."""
    if value is None:
        return ""
    if value.__class__ is str:
        return str(value)
    if value.__class__ is list and all(line.__class__ is str for line in value):
        return "\n".join(value)
    if value.__class__ is dict:
        texts = (_text(value[name]) for name in _OUTPUT_FIELDS if name in value)
        if text := next(filter(None, texts), ""):
            return text
    return msgspec.json.encode(value).decode()


def _usage(raw: Any) -> Usage | None:
    """Convert the tokens of an answer."""
    if raw.__class__ is not dict or not any(
        counted(raw.get(name)) for name in ("inputTokens", "outputTokens")
    ):
        return None
    fresh, written = counted(raw.get("inputTokens")), counted(raw.get("cacheCreationInputTokens"))
    if not fresh and str(raw.get("model")).startswith(_WITHOUT_CACHE_WRITES):
        fresh, written = written, None
    return Usage(
        input=fresh,
        output=counted(raw.get("outputTokens")),
        cache_read=counted(raw.get("cacheReadInputTokens")),
        cache_write=written,
        extra=raw,
    )


def _with_ledger(thread: str, timeline: list[Message], ledger: Any) -> list[Message]:
    """Add the tokens that only the ledger states; requests for a title are no part of the conversation."""
    events = ledger.get("events") if ledger.__class__ is dict else None
    by_id = {message.id: index for index, message in enumerate(timeline)}
    hidden: list[Message] = []
    for number, event in enumerate(objects(events)):
        tokens = event.get("tokens")
        if tokens.__class__ is not dict:
            continue
        usage = Usage(
            key=f"{thread}:ledger:{number}",
            input=counted(tokens.get("input")),
            output=counted(tokens.get("output")),
            cache_read=counted(tokens.get("cacheRead")),
            cache_write=counted(tokens.get("cacheWrite")),
        )
        model, at = nonempty_str(event.get("model")), timestamps.parse_timestamp(event.get("timestamp"))
        index = by_id.get(str(event.get("toMessageId")))
        if index is not None and event.get("operationType") != _TITLE_REQUEST:
            answer = timeline[index]
            if answer.usage is None:
                timeline[index] = replace(
                    answer, usage=usage, model=answer.model or model, at=answer.at or at
                )
            continue
        hidden.append(
            Message(
                id=f"{thread}:ledger:{number}",
                made_id=True,
                role="assistant",
                at=at,
                model=model,
                hidden=True,
                usage=usage,
            )
        )
    return timeline + hidden


def _environment(env: Any) -> dict[str, str | None]:
    """Return the folder, branch, commit and system at the beginning."""
    initial = env.get("initial") if env.__class__ is dict else None
    if initial.__class__ is not dict:
        return {}
    folder: dict[str, Any] = next(objects(initial.get("trees")), {})
    repository, platform = folder.get("repository"), initial.get("platform")
    if repository.__class__ is not dict:
        repository = {}
    uri = nonempty_str(folder.get("uri"))
    ref = nonempty_str(repository.get("ref"))
    return {
        "cwd": None if uri is None else uri.removeprefix("file://"),
        "branch": None if ref is None else ref.removeprefix("refs/heads/"),
        "commit": nonempty_str(repository.get("sha")),
        "os": nonempty_str(platform.get("os")) if platform.__class__ is dict else None,
    }


def _end_of_traces(meta: Any) -> str | None:
    """Return the end of the last thing that the app did in a thread."""
    traces = meta.get("traces") if meta.__class__ is dict else None
    last: dict[str, Any] = next(iter([*objects(traces)][-1:]), {})
    return timestamps.parse_timestamp(last.get("endTime"))


def _latest(*times: str | None) -> str | None:
    return max(filter(None, times), key=lambda at: timestamps.epoch_ms(at) or 0, default=None)
