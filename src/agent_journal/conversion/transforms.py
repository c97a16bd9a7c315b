"""Conversation to conversation: what a person leaves out or keeps secret, and which branch they want.

They are applied before any writer, so that every target has the same switches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from agent_journal.errors import NoSuchMessage
from agent_journal.model import Message, Reasoning, ToolCall, ToolResult, branches, tree
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agent_journal.model import Conversation, Event, Part, Request, Usage
    from agent_journal.notes import Notes
    from agent_journal.redaction import ItemT

What: TypeAlias = Literal["thinking", "tools"]
WHAT: tuple[What, ...] = ("thinking", "tools")
_KINDS: dict[What, tuple[type, ...]] = {"thinking": (Reasoning,), "tools": (ToolCall, ToolResult)}


def without(conversation: Conversation, what: Collection[What]) -> Conversation:
    """The conversation without thinking, without tool calls and their results, or both.

    A message of which nothing is left is removed; its children follow its parent. The native content of every
    message that was changed is removed, and so is the data of events: some sources repeat thinking and tool
    results there. A request is reduced to what is left of it.
    """
    unwanted = tuple(kind for name in what for kind in _KINDS[name])
    if not unwanted:
        return conversation
    timeline = conversation.timeline
    left = [each for entry in timeline if (each := _left_of(entry, unwanted)) is not None]
    alive = {entry.id for entry in left}
    parents = {entry.id: entry.parent_id for entry in timeline if entry.id not in alive}
    counts = _counts_of_removed(timeline, alive)
    timeline_left = [
        _followed(_counted(entry, counts), _surviving(parents, entry.parent_id)) for entry in left
    ]
    offered = [] if "tools" in what else conversation.tools
    return replace(
        conversation,
        timeline=timeline_left,
        head_id=_surviving(parents, conversation.head_id),
        requests=[*_left_of_requests(conversation, parents, has_tools=bool(offered))],
        tools=offered,
    )


def _left_of(entry: Message | Event, unwanted: tuple[type, ...]) -> Message | Event | None:
    """The entry without parts of some kinds; None if nothing is left of it."""
    if not isinstance(entry, Message):
        return replace(entry, data={}) if entry.data else entry
    if not any(isinstance(part, unwanted) for part in entry.parts):
        return entry
    left: list[Part] = [part for part in entry.parts if not isinstance(part, unwanted)]
    # What the source stores in addition to the parts may repeat what was removed.
    return replace(entry, parts=left, native=None, extra={}) if left else None


def _surviving(parents: dict[str, str | None], entry_id: str | None) -> str | None:
    """The entry, or the nearest one above it that was not removed; none if those go round."""
    passed: dict[str, None] = {}
    while entry_id is not None and entry_id in parents and entry_id not in passed:
        passed[entry_id] = None
        entry_id = parents[entry_id]
    survivor = None if entry_id in passed else entry_id
    parents.update(dict.fromkeys(passed, survivor))  # nobody goes that way again
    return survivor


def _followed(entry: Message | Event, parent_id: str | None) -> Message | Event:
    return entry if parent_id == entry.parent_id else replace(entry, parent_id=parent_id)


def _counts_of_removed(timeline: list[Message | Event], alive: set[str]) -> dict[str, Usage]:
    """The usage of answers whose last message was removed: of several messages, the last one states it."""
    last = {
        entry.usage.key: entry
        for entry in timeline
        if isinstance(entry, Message) and entry.usage is not None and entry.usage.key is not None
    }
    return {key: entry.usage for key, entry in last.items() if entry.usage and entry.id not in alive}


def _counted(entry: Message | Event, counts: dict[str, Usage]) -> Message | Event:
    if not isinstance(entry, Message) or entry.usage is None or entry.usage.key not in counts:
        return entry
    return replace(entry, usage=counts[entry.usage.key])


def _left_of_requests(
    conversation: Conversation, parents: dict[str, str | None], *, has_tools: bool
) -> Iterator[Request]:
    """What is left of each request; one of which no answer is left goes, unless it had none."""
    for request in conversation.requests:
        answers = [each for each in request.response_ids if each not in parents]
        if request.response_ids and not answers:
            continue
        yield replace(
            request,
            system=[each for each in request.system if each not in parents],
            since_id=_first_sent(conversation, request, parents),
            prompt_id=_surviving(parents, request.prompt_id),
            response_ids=answers,
            tools=request.tools if has_tools else [],
            extra={},
        )


def _first_sent(conversation: Conversation, request: Request, parents: dict[str, str | None]) -> str | None:
    """The first message that was sent and not removed, where a client left out what was before it."""
    since = request.since_id
    if since is None or since not in parents or request.prompt_id is None:
        return since
    path = [entry.id for entry in tree.chain_to(conversation.timeline, request.prompt_id)]
    sent = path[path.index(since) :] if since in path else []
    return next((each for each in sent if each not in parents), None)


def branch(conversation: Conversation, which: str) -> Conversation:
    """The path to the head, to any message by its id, or `all` as it is."""
    if which == "all" or (which == "head" and conversation.shape == "list"):
        return conversation
    if conversation.shape == "list":
        return _until(conversation, which)
    target = conversation.head_id if which == "head" else which
    if target is None:
        target = tree.newest_leaf(conversation.timeline)
    if target is None:
        return conversation
    path = tree.path_to(conversation.timeline, target)
    if not path:
        if which == "head":
            return conversation
        raise NoSuchMessage(which)
    requests = _within(conversation, path)
    prompts = {system for request in requests for system in request.system}
    on_path = {entry.id for entry in path}
    # What a request says before the dialogue stands outside of every path.
    system = [entry for entry in conversation.timeline if entry.id in prompts - on_path]
    return replace(
        _with_path_metadata(conversation, path), timeline=[*system, *path], head_id=target, requests=requests
    )


def _until(conversation: Conversation, message_id: str) -> Conversation:
    """A conversation in which one thing follows the other, up to a message."""
    timeline = conversation.timeline
    end = next((place for place, entry in enumerate(timeline, 1) if entry.id == message_id), None)
    if end is None:
        raise NoSuchMessage(message_id)
    path = timeline[:end]
    return replace(
        _with_path_metadata(conversation, path), timeline=path, requests=_within(conversation, path)
    )


def _with_path_metadata(conversation: Conversation, path: list[tree.Entry]) -> Conversation:
    """The conversation without summaries and feedback on messages that are not on a path."""
    off_path = {entry.id for entry in conversation.timeline} - {entry.id for entry in path}
    return replace(
        conversation,
        summaries=[each for each in conversation.summaries if each.message_id not in off_path],
        feedback=[each for each in conversation.feedback if each.message_id not in off_path],
    )


def last(conversation: Conversation, count: int) -> Conversation:
    """The last messages in which a user or an assistant speaks, with tool results and events after them."""
    timeline = conversation.timeline
    spoken = [place for place, entry in enumerate(timeline) if branches.speaks(entry)]
    if count >= len(spoken):
        return conversation
    newest = timeline[spoken[-count] :] if count else []
    ids = {entry.id for entry in newest}
    parted = [entry if entry.parent_id in ids else replace(entry, parent_id=None) for entry in newest]
    head = conversation.head_id if conversation.head_id in ids else None
    return replace(conversation, timeline=parted, head_id=head, requests=[])


def _within(conversation: Conversation, path: list[tree.Entry]) -> list[Request]:
    """The requests of which everything is on a path."""
    ids = {entry.id for entry in path}
    return [
        request
        for request in conversation.requests
        if (request.prompt_id is None or request.prompt_id in ids)
        and all(response in ids for response in request.response_ids)
    ]


def redacted(item: ItemT, note: Notes, *, personal: bool = False) -> ItemT:
    """The item without secrets, with `personal` also without personal data; each finding is noted."""
    from agent_journal.redaction import redact  # noqa: PLC0415 (its rules take a moment to compile)

    result = redact(item, personal=personal)
    for finding in result.findings:
        times = f" × {finding.count}" if finding.count > 1 else ""
        where = " ".join(filter(None, (finding.message, finding.field)))
        note.add(Kind.REDACTED, f"{item.source}:{item.id}", where, f"{finding.kind}{times}")
    return result.item
