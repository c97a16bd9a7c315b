"""A conversation as people read it: first what the user sees, then the rest; results with their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from agent_journal.model import Event, Media, Message, Reasoning, ToolCall, ToolResult, branches, tree
from agent_journal.text import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from agent_journal.model import Conversation, Part
    from agent_journal.model.tree import Entry

_TOOLS = {ToolCall, ToolResult}
_MIN_RUN_CALLS = 4  # fewer are as short as the line that would replace them
_NO_FAILURES: Mapping[str, Sequence[str]] = {}
Kind: TypeAlias = Literal["main", "branch", "subagent"]


class Section(NamedTuple):
    """Consecutive entries: the path to the head, another branch, or the work of a subagent."""

    kind: Kind
    after: Message | None
    """The message that a branch or subagent continues from; None if it starts a conversation."""
    entries: list[Entry]


class ToolUse(NamedTuple):
    """A tool call, its result and the message with that result; None if there is no result."""

    call: ToolCall
    result: ToolResult | None
    result_message: Message | None
    called_at: str | None = None


class Turn(NamedTuple):
    """A message with results next to their calls. A message with only such results makes no turn."""

    message: Message
    parts: list[Part | ToolUse]
    is_continuation: bool
    """Whether the speaker is the same as in the turn before, so that no heading is needed."""
    failures: Sequence[str] = ()
    """Why requests that end with this message failed."""
    is_parallel: bool = False
    """Whether its tools were called by the same answer as those of a turn next to it."""


class ToolRun(NamedTuple):
    """Many consecutive turns of which none has text: tool calls, and the thinking between them."""

    items: list[Turn | Event]

    @property
    def uses(self) -> list[ToolUse]:
        """The tool calls."""
        return [
            part
            for item in self.items
            if isinstance(item, Turn)
            for part in item.parts
            if isinstance(part, ToolUse)
        ]


def split_sections(conversation: Conversation) -> list[Section]:
    """Split the timeline into sections, first what the user sees. Each entry is in exactly one of them."""
    timeline = conversation.timeline
    main = Section("main", None, [])
    if conversation.shape == "list" or _is_chain(timeline):
        main.entries.extend(timeline)
        return [main]
    head = conversation.head_id or tree.newest_leaf(timeline)
    path = {entry.id for entry in tree.path_to(timeline, head)} if head is not None else set()
    if len(path) in {0, len(timeline)}:
        main.entries.extend(timeline)
        return [main]
    return _split_by_path(main, timeline, path)


def _is_chain(timeline: list[Entry]) -> bool:
    """Whether each entry is the child of the one before it."""
    previous_id = None
    for entry in timeline:
        if entry.parent_id != previous_id or (isinstance(entry, Message) and entry.sidechain):
            return False
        previous_id = entry.id
    return True


def _split_by_path(main: Section, timeline: list[Entry], path: set[str]) -> list[Section]:
    """The entries of a path as the main section, and the others by where they branch off."""
    sections = [main]
    section_of: dict[str, Section] = dict.fromkeys(path, main)
    with_text_below = branches.with_visible_messages(timeline)
    last_messages = branches.previous_messages(timeline)
    is_all_sidechain = all(entry.sidechain for entry in timeline if isinstance(entry, Message))
    continued = set(path)  # ids of entries that have a child in their section
    for entry in timeline:
        section = section_of.get(entry.id)
        if section is None:
            parent = entry.parent_id or ""
            section = section_of.get(parent, main)
            kind = _section_kind(entry, with_text_below, has_main_chain=not is_all_sidechain)
            if kind and section.kind != "subagent":
                if kind == "subagent" or parent in continued or parent not in section_of:
                    section = Section(kind, last_messages[entry.id], [])
                    sections.append(section)
                continued.add(parent)
            section_of[entry.id] = section
        section.entries.append(entry)
    return sections


def _section_kind(entry: Entry, with_text_below: set[str], *, has_main_chain: bool) -> Kind | None:
    """What kind of section an entry outside the path may start; None if it belongs to its parent's."""
    if isinstance(entry, Message) and entry.sidechain and has_main_chain:
        return "subagent"
    if entry.id not in with_text_below or (isinstance(entry, Message) and branches.is_prompt(entry)):
        return None
    return "branch"


def referenced_messages(conversation: Conversation, sections: list[Section]) -> set[str]:
    """The ids of messages where branches start or that have feedback."""
    branch_points = {section.after.id for section in sections if section.after is not None}
    return branch_points | {
        feedback.message_id for feedback in conversation.feedback if feedback.message_id is not None
    }


def iter_turns(
    entries: list[Entry],
    failures: Mapping[str, Sequence[str]] = _NO_FAILURES,
    referenced: Collection[str] = (),
) -> Iterator[Turn | Event]:
    """Yield the turns and events of a section, in order.

    `failures` are those of requests, by the id of their last message. Entries without content are omitted
    unless they are in `referenced`.
    """
    results = _results_by_call(entries)
    used: set[int] = set()
    previous: Message | None = None
    omitted = describe.insignificant_entries(entries, {*failures, *referenced})
    for index, entry in enumerate(entries):
        if index in omitted:
            continue
        if isinstance(entry, Event):
            yield entry
            continue
        parts = _parts(entry, results, used)
        failed = failures.get(entry.id, ())
        if parts or failed or not entry.parts:
            yield Turn(entry, parts, previous is not None and _is_same_speaker(previous, entry), failed)
            previous = entry


def _results_by_call(entries: list[Entry]) -> dict[str, tuple[ToolResult, Message]]:
    """The result of each earlier call, with its message, by call id; the last one if there are several."""
    results: dict[str, tuple[ToolResult, Message]] = {}
    called: set[str] = set()
    for entry in entries:
        if isinstance(entry, Event):
            continue
        for part in entry.parts:
            kind = part.__class__
            if kind is ToolCall:
                called.add(part.call_id or "")  # type: ignore[union-attr]
            elif kind is ToolResult and part.call_id and part.call_id in called:  # type: ignore[union-attr]
                results[part.call_id] = part, entry  # type: ignore[union-attr, assignment]
    return results


def _parts(
    message: Message, results: dict[str, tuple[ToolResult, Message]], used: set[int]
) -> list[Part | ToolUse]:
    parts: list[Part | ToolUse] = []
    if _TOOLS.isdisjoint(part.__class__ for part in message.parts):
        parts.extend(message.parts)
        return parts
    for part in message.parts:
        if isinstance(part, ToolCall):
            result = None if part.call_id is None else results.pop(part.call_id, None)
            if result is not None:
                used.add(id(result[0]))
            answer, holder = result or (None, None)
            parts.append(ToolUse(part, answer, holder, message.at))
        elif not (isinstance(part, ToolResult) and id(part) in used):
            parts.append(part)
    return parts


def _is_same_speaker(previous: Message, message: Message) -> bool:
    return (
        previous.role == message.role == "assistant"
        and previous.model == message.model
        and previous.hidden == message.hidden
        and previous.sidechain == message.sidechain
    )


def group_tool_turns(
    items: Iterable[Turn | Event], ends_run: Callable[[Turn], bool]
) -> Iterator[Turn | Event | ToolRun]:
    """Group long runs of tool calls, and mark turns whose tools were called by one answer.

    `ends_run` is whether something that is not to be folded follows a turn.
    """
    run: list[Turn | Event] = []
    for item in items:
        is_in_run = bool(run) if isinstance(item, Event) else item.is_continuation and _is_tool_turn(item)
        if is_in_run:
            run.append(item)
        else:
            yield from _close_run(run)
            run = []
            yield item
        if run and isinstance(item, Turn) and ends_run(item):
            yield from _close_run(run)
            run = []
    yield from _close_run(run)


def _is_tool_turn(turn: Turn) -> bool:
    """Whether a turn has nothing but tool calls and thinking, and none of it is shown unfolded."""
    return bool(turn.parts) and all(
        isinstance(part, Reasoning) or (isinstance(part, ToolUse) and not _has_media(part))
        for part in turn.parts
    )


def _has_media(use: ToolUse) -> bool:
    return (
        use.result is not None
        and not isinstance(use.result.output, str)
        and any(isinstance(part, Media) for part in use.result.output)
    )


def _close_run(run: list[Turn | Event]) -> list[Turn | Event | ToolRun]:
    marked = _mark_parallel(run)
    grouped = ToolRun(marked)
    return [grouped] if len(grouped.uses) >= _MIN_RUN_CALLS else [*marked]


def _mark_parallel(run: list[Turn | Event]) -> list[Turn | Event]:
    responses = [
        item.message.response_id if isinstance(item, Turn) and _calls_tools(item) else None for item in run
    ]
    neighbors = zip([None, *responses], responses, [*responses[1:], None], strict=False)
    return [
        item._replace(is_parallel=True)
        if isinstance(item, Turn) and response is not None and response in {before, after}
        else item
        for item, (before, response, after) in zip(run, neighbors, strict=True)
    ]


def _calls_tools(turn: Turn) -> bool:
    return any(isinstance(part, ToolUse) for part in turn.parts)
