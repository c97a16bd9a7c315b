"""A conversation as people read it: first what the person sees, then the rest; results at their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from agent_journal.model import Event, Message, ToolCall, ToolResult, branches, tree
from agent_journal.text import describe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from agent_journal.model import Conversation, Part
    from agent_journal.model.tree import Entry

_TOOLS = {ToolCall, ToolResult}
_NONE: Mapping[str, Sequence[str]] = {}
Kind: TypeAlias = Literal["main", "branch", "subagent"]


class Section(NamedTuple):
    """Entries that follow each other: the way to the head, another branch, or what a subagent did."""

    kind: Kind
    after: Message | None
    """The message that a branch or subagent goes on from; None if it is a beginning."""
    entries: list[Entry]


class Done(NamedTuple):
    """A call, what it gave, and the message that said so; None if nothing did."""

    call: ToolCall
    result: ToolResult | None
    answer: Message | None


class Turn(NamedTuple):
    """A message, with results where their calls are; one of which nothing else is left makes no turn."""

    message: Message
    parts: list[Part | Done]
    goes_on: bool
    """Whether the one who spoke before goes on, so that there is no need to name them again."""
    failures: Sequence[str] = ()
    """Why requests failed that end with it."""


def sections(conversation: Conversation) -> list[Section]:
    """The timeline in parts: first what the person sees. Each entry is in exactly one of them."""
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
    return _apart(main, timeline, path)


def _is_chain(timeline: list[Entry]) -> bool:
    """Whether each entry follows the one before it."""
    before = None
    for entry in timeline:
        if entry.parent_id != before or (isinstance(entry, Message) and entry.sidechain):
            return False
        before = entry.id
    return True


def _apart(main: Section, timeline: list[Entry], path: set[str]) -> list[Section]:
    """The entries of a path, and those beside it by where they left it."""
    found = [main]
    home: dict[str, Section] = dict.fromkeys(path, main)
    spoken = branches.spoken_below(timeline)
    above = branches.said_after(timeline)
    is_all_aside = all(entry.sidechain for entry in timeline if isinstance(entry, Message))
    followed = set(path)  # what has something that goes on from it
    for entry in timeline:
        section = home.get(entry.id)
        if section is None:
            parent = entry.parent_id or ""
            section = home.get(parent, main)
            kind = _begins(entry, spoken, is_aside_of_others=not is_all_aside)
            if kind and section.kind != "subagent":
                if kind == "subagent" or parent in followed or parent not in home:
                    section = Section(kind, above[entry.id], [])
                    found.append(section)
                followed.add(parent)
            home[entry.id] = section
        section.entries.append(entry)
    return found


def _begins(entry: Entry, spoken: set[str], *, is_aside_of_others: bool) -> Kind | None:
    """What an entry beside the path may begin; None if it belongs to what it hangs on."""
    if isinstance(entry, Message) and entry.sidechain and is_aside_of_others:
        return "subagent"
    if entry.id not in spoken or (isinstance(entry, Message) and branches.is_prompt(entry)):
        return None
    return "branch"


def places(conversation: Conversation, found: list[Section]) -> set[str]:
    """The messages that something goes on from beside what follows them, or that something is said of."""
    left = {section.after.id for section in found if section.after is not None}
    return left | {each.message_id for each in conversation.feedback if each.message_id is not None}


def turns(
    entries: list[Entry],
    failures: Mapping[str, Sequence[str]] = _NONE,
    named: Collection[str] = (),
) -> Iterator[Turn | Event]:
    """What a section holds, in order: what was said, by whom, and what happened.

    `failures` are those of requests, by the message that they end with. What says nothing is left out, unless
    it is `named`.
    """
    answers = _answers(entries)
    taken: set[int] = set()
    before: Message | None = None
    unsaid = describe.unsaid(entries, {*failures, *named})
    for place, entry in enumerate(entries):
        if place in unsaid:
            continue
        if isinstance(entry, Event):
            yield entry
            continue
        parts = _parts(entry, answers, taken)
        failed = failures.get(entry.id, ())
        if parts or failed or not entry.parts:
            yield Turn(entry, parts, before is not None and _goes_on(before, entry), failed)
            before = entry


def _answers(entries: list[Entry]) -> dict[str, tuple[ToolResult, Message]]:
    """The result of each call before it, and the message it is in; the last one, if it repeats."""
    found: dict[str, tuple[ToolResult, Message]] = {}
    asked: set[str] = set()
    for entry in entries:
        if isinstance(entry, Event):
            continue
        for part in entry.parts:
            kind = part.__class__
            if kind is ToolCall:
                asked.add(part.call_id or "")  # type: ignore[union-attr]
            elif kind is ToolResult and part.call_id and part.call_id in asked:  # type: ignore[union-attr]
                found[part.call_id] = part, entry  # type: ignore[union-attr, assignment]
    return found


def _parts(
    message: Message, answers: dict[str, tuple[ToolResult, Message]], taken: set[int]
) -> list[Part | Done]:
    found: list[Part | Done] = []
    if _TOOLS.isdisjoint(part.__class__ for part in message.parts):
        found.extend(message.parts)
        return found
    for part in message.parts:
        if isinstance(part, ToolCall):
            answered = None if part.call_id is None else answers.pop(part.call_id, None)
            if answered is not None:
                taken.add(id(answered[0]))
            found.append(Done(part, *(answered or (None, None))))
        elif not (isinstance(part, ToolResult) and id(part) in taken):
            found.append(part)
    return found


def _goes_on(before: Message, message: Message) -> bool:
    return (
        before.role == message.role == "assistant"
        and before.model == message.model
        and before.hidden == message.hidden
        and before.sidechain == message.sidechain
    )
