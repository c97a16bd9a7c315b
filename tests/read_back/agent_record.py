"""Plain agent records: who said and did what and when, and few facts about the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal import readers
from agent_journal.model import (
    Conversation,
    Event,
    Item,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.model.content_blocks import ACTIONS, of_parts, output_as_json, parts_in, tool_output
from agent_journal.model.tree import Entry
from agent_journal.records.forms import FAILED, RecordForm
from agent_journal.writers.dialects.agent_records import echoed_text, is_separate, started_at
from tests.read_back.losing import (
    Loss,
    Losses,
    each_message,
    each_part,
    fields,
    message_fields,
    no_memories,
)

Change: TypeAlias = Callable[[Entry, RecordForm], Iterable[Entry]]
TOLD = ("queue-operation", "token-count", "step-start", "step-finish")
NOBODY = "agent-record"


def form_of(item: Item) -> RecordForm:
    """How records tell of the source."""
    reader = readers.discover().get(item.source)
    return RecordForm() if reader is None else reader.INFO.record


def each_entry(change: Change) -> Loss:
    """Makes none, one or several entries of each entry of a conversation."""

    def lose(item: Item) -> Item:
        if not isinstance(item, Conversation):
            return item
        found = [left for entry in item.timeline for left in change(entry, form_of(item))]
        return replace(item, timeline=found)

    return lose


def no_system(entry: Entry, form: RecordForm) -> Iterator[Entry]:
    """Some sources' messages of the app are told as the person's or the model's, others are left out."""
    if isinstance(entry, Event) or entry.role != "system":
        yield entry
    elif form.system_as:
        yield replace(entry, role=form.system_as)


def few_events(entry: Entry, form: RecordForm) -> Iterator[Entry]:
    """What some sources tell of changed files is told as a result that answers no call.

    Events that show what was said are told as that. Where calls are entries, a message that says nothing is
    none.
    """
    is_patch = bool(form.part_of) and isinstance(entry, Message) and answers_nothing(entry)
    if isinstance(entry, Event) and entry.name in TOLD:
        yield replace(entry, data={})
    elif isinstance(entry, Event) and (echo := echoed_text(entry, form)):
        kind, words = echo
        part: Part = Reasoning(text=words) if kind == "reasoning" else Text(text=words)
        role: Role = "user" if kind == "user" else "assistant"
        yield Message(id=entry.id, made_id=entry.made_id, role=role, at=entry.at, parts=[part])
    elif isinstance(entry, Message) and form.separate and not entry.parts and entry.native is None:
        return
    elif isinstance(entry, Message) and not is_patch:
        yield entry


def answers_nothing(message: Message) -> bool:
    match message.parts:
        case [ToolResult(call_id=None, output="")]:
            return message.role == "tool"
    return False


def apart(entry: Entry, form: RecordForm) -> Iterator[Entry]:
    """Parts that are entries of their own: all of some sources, and those of tools' messages."""
    if isinstance(entry, Event):
        yield replace(entry, id="", made_id=True, at=None) if form.part_of else entry
    elif form.part_of:
        for part in entry.parts:
            if isinstance(part, Text | Reasoning | ToolCall) or (
                isinstance(part, ToolResult) and part.output
            ):
                kept = replace(part, encrypted=None) if isinstance(part, Reasoning) else part
                yield Message(id="", made_id=True, role=doer(entry.role, part), parts=[kept])
    elif is_separate(entry, form) and len(entry.parts) > 1:
        for part in entry.parts:
            yield Message(id="", made_id=True, role=doer("assistant", part), at=entry.at, parts=[part])
    elif entry.role == "tool" and len(entry.parts) > 1:
        for part in told_by_tool(entry):
            yield replace(entry, id="", made_id=True, parts=[part], native=None)
    else:
        yield entry


def doer(role: Role, part: Part) -> Role:
    if isinstance(part, Text):
        return role
    return "tool" if isinstance(part, ToolResult) else "assistant"


def told_by_tool(message: Message) -> list[Part]:
    """The results, and what else was said as one."""
    deeds = [part for part in message.parts if isinstance(part, ACTIONS)]
    said = [part for part in message.parts if not isinstance(part, ACTIONS)]
    return [*deeds, *([as_result(of_parts(said))] if said else [])]


def as_result(content: Any) -> ToolResult:
    output, _ = tool_output(msgspec.to_builtins(content))
    return ToolResult(output=output, is_error=False)


def as_the_source_has_it(message: Message) -> Message:
    """What the content says to somebody who does not know the source, and what was done."""
    deeds: list[Any] = [
        as_told(as_made(part, message.native), block)
        for part, block in zip(message.parts, blocks_of(message), strict=True)
        if isinstance(part, ACTIONS)
    ]
    content = message.native if message.native is not None else msgspec.to_builtins(of_parts(message.parts))
    if message.role == "tool":
        return replace(message, native=None, parts=deeds or [as_result(content)])
    return replace(message, native=None, parts=parts_in(content, deeds))


def only_stated(entry: Entry, form: RecordForm) -> Iterator[Entry]:
    """Whether a call failed is not told where no source says so."""
    if isinstance(entry, Message) and "status" in form.derived:
        parts = [
            replace(part, is_error=None) if isinstance(part, ToolResult) else part for part in entry.parts
        ]
        yield replace(entry, parts=parts)
    else:
        yield entry


def blocks_of(message: Message) -> list[Any]:
    native = message.native
    if isinstance(native, list) and len(native) == len(message.parts):
        return native
    return [None] * len(message.parts)


def as_made(part: Part, native: Any) -> Part:
    """A call as the content has it, where words of it were told as what was said."""
    if not isinstance(part, ToolCall) or not isinstance(part.input, dict) or not isinstance(native, list):
        return part
    for block in native:
        if isinstance(block, dict) and part.call_id and block.get("id") == part.call_id:
            stated = block.get("input")
            if isinstance(stated, dict) and part.input.keys() < stated.keys():
                return replace(part, input=stated)
    return part


def as_told(part: Any, block: Any) -> Any:
    match part:
        case ToolCall():
            return replace(part, name=part.name or "unknown", input={} if part.input is None else part.input)
        case ToolResult():
            value = output_as_json(part.output) if part.native is None else part.native
            if part.native is None and isinstance(block, dict) and block.get("content") is not None:
                value = block["content"]
            output, _ = tool_output(value)
            status = part.extra.get("status")
            failed = FAILED.get(status) if isinstance(status, str) else part.is_error
            return replace(part, output=output, native=None, is_error=bool(failed))
        case Reasoning():
            return Reasoning(text=part.text or part.summary or None, encrypted=part.encrypted)
    return part


def bare(part: Part) -> Part:
    """A part without what only the source has a field for."""
    match part:
        case Text():
            return Text(text=part.text)
        case ToolCall():
            return replace(part, kind=None, extra={})
        case ToolResult():
            return replace(part, name=None, extra={})
        case Reasoning():
            return replace(part, signature=None, extra={})
    return part


def known_source(item: Item) -> Item:
    """The name of a source that nobody here reads is only that of the agent."""
    return item if item.source in readers.discover() else replace(item, source=NOBODY)


def no_made_ids(entry: Entry, _form: RecordForm) -> Iterator[Entry]:
    yield replace(entry, id="") if entry.made_id else entry


def first_time(item: Item) -> Item:
    return replace(item, started_at=started_at(item)) if isinstance(item, Conversation) else item


def last_model(item: Item) -> Item:
    """The agent's model is the one that answered last."""
    if not isinstance(item, Conversation):
        return item
    seen = [entry.model for entry in item.timeline if isinstance(entry, Message) and entry.model]
    return replace(item, model=seen[-1] if seen else item.model or None)


def all_of(*losses: Loss) -> Loss:
    def lose(item: Item) -> Item | None:
        left: Item | None = item
        for loss in losses:
            left = None if left is None else loss(left)
        return left

    return lose


LOSSES: Losses = {
    "memories": no_memories,
    "title, tags, summaries, feedback, links, tools and requests": fields(
        title=None, tags=[], summaries=[], feedback=[], link=None, tools=[], requests=[]
    ),
    "account, environment other than the folder, and end time": fields(
        product=None, account_id=None, editor=None, os=None, shell=None, archived=None, git_branch=None,
        git_commit=None, updated_at=None,
    ),
    "a stated start time later than the first entry": first_time,
    "the fact that only the prompts are known": fields(only_prompts=False),
    "system messages": each_entry(no_system),
    "events other than queue operations, token counts and steps; event data": each_entry(few_events),
    "parents and branches": all_of(
        fields(shape="list", head_id=None), each_entry(lambda entry, _form: [replace(entry, parent_id=None)])
    ),
    "token usage and cost of messages": message_fields(usage=None),
    "models of single messages": all_of(last_model, message_fields(model=None)),
    "hidden and side-chain flags, response ids and stop reasons of messages": message_fields(
        hidden=False, sidechain=False, response_id=None, stop_reason=None
    ),
    "the message of separate parts, and media and files among these": each_entry(apart),
    "the interpretation of content, which is in native form": all_of(
        each_message(as_the_source_has_it), each_entry(only_stated)
    ),
    "source-specific fields": all_of(
        fields(extra={}, platform={}, context={}), each_part(bare), message_fields(extra={})
    ),
    "generated ids, and names of sources without a reader": all_of(
        each_entry(no_made_ids), fields(made_id=False), known_source
    ),
}  # fmt: skip
