"""Whether two conversations that say the same are one: nothing that identifies them may differ.

Parallel agents are given one prompt and often give one short answer, within seconds. Equal words at about the
same time are therefore necessary for a duplicate and never sufficient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.archive import encoded
from agent_journal.model import Text, ToolCall, ToolResult, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agent_journal.model import Message

# Shorter ids may be counters ("1", "call_0"), which say nothing where they are equal.
_MIN_VENDOR_ID_LENGTH = 16
_SECOND_MS = 1_000


class Candidate(NamedTuple):
    """A conversation, as far as it can be told from another one that says the same."""

    source: str
    id: str
    has_made_id: bool
    folder: str | None
    account: str | None
    messages: Mapping[int, Message]
    """By any key, in the order of the timeline."""


def is_duplicate(ours: Candidate, theirs: Candidate, pairs: Mapping[int, int]) -> bool:
    """Whether two conversations are one, given the keys of those of their messages that say the same.

    They are one if they share a vendor's id, or if neither has ids that could be compared and their clocks
    agree. What is left open is no duplicate.
    """
    if not pairs or _differ(_folder(ours), _folder(theirs)) or _differ(ours.account, theirs.account):
        return False
    matched = [(ours.messages[key], theirs.messages[other]) for key, other in pairs.items()]
    if any(_contradict(one, other) for one, other in matched):
        return False
    calls = _paired_tool_work(ours, theirs, pairs)
    if calls is None:
        return False
    if ours.source == theirs.source and _have_other_ids(ours, theirs, matched, calls):
        return False
    if _share_an_id(ours, theirs, matched, calls):
        return True
    return ours.source == theirs.source and all(_clocks_agree(one.at, other.at) for one, other in matched)


def are_in_different_folders(one: str | None, other: str | None) -> bool:
    """Whether two folders are known, and neither is the other or lies in it."""
    if not one or not other:
        return False
    first, second = (each.replace("\\", "/").rstrip("/") + "/" for each in (one, other))
    return not (first.startswith(second) or second.startswith(first))


def _folder(conversation: Candidate) -> str | None:
    return conversation.folder.rstrip("/\\") if conversation.folder else None


def _differ(one: object, other: object) -> bool:
    """Whether both are known and are not the same."""
    return one is not None and other is not None and one != other


def _contradict(one: Message, other: Message) -> bool:
    """Whether two messages were answers of different requests, whatever they say."""
    if _differ(one.response_id, other.response_id) or _differ(_model(one), _model(other)):
        return True
    ours, theirs = one.usage, other.usage
    if ours is None or theirs is None:
        return False
    return _differ(ours.input, theirs.input) or _differ(ours.output, theirs.output)


def _model(message: Message) -> str | None:
    return message.model.lower() if message.model else None


def _have_other_ids(
    ours: Candidate,
    theirs: Candidate,
    matched: Iterable[tuple[Message, Message]],
    calls: Iterable[tuple[str | None, str | None]],
) -> bool:
    """Whether ids of one vendor differ; ids that we made prove nothing."""
    if not (ours.has_made_id or theirs.has_made_id or ours.id == theirs.id):
        return True
    if any(not (one.made_id or other.made_id) and one.id != other.id for one, other in matched):
        return True
    return any(_differ(one, other) for one, other in calls)


def _share_an_id(
    ours: Candidate,
    theirs: Candidate,
    matched: Iterable[tuple[Message, Message]],
    calls: Iterable[tuple[str | None, str | None]],
) -> bool:
    shared = [one for one, other in calls if one == other]
    if ours.id == theirs.id and not (ours.has_made_id or theirs.has_made_id):
        shared.append(ours.id)
    for one, other in matched:
        if one.id == other.id and not (one.made_id or other.made_id):
            shared.append(one.id)
        if one.response_id == other.response_id:
            shared.append(one.response_id)
    return any(id_ is not None and len(id_) >= _MIN_VENDOR_ID_LENGTH for id_ in shared)


def _paired_tool_work(
    ours: Candidate, theirs: Candidate, pairs: Mapping[int, int]
) -> list[tuple[str | None, str | None]] | None:
    """The ids of calls that are the same in both; None if what tools did differs.

    Up to the last message that is in both, all of it must be the same. Of what follows, one has a beginning
    of the other's.
    """
    (one, after_one), (other, after_other) = (
        _tool_work(conversation, keys)
        for conversation, keys in ((ours, pairs.keys()), (theirs, set(pairs.values())))
    )
    if _contents(one) != _contents(other):
        return None
    common = min(len(after_one), len(after_other))
    if _contents(after_one[:common]) != _contents(after_other[:common]):
        return None
    first, second = one + after_one[:common], other + after_other[:common]
    return [(id_, other_id) for (id_, _), (other_id, _) in zip(first, second, strict=True)]


_Work = list[tuple[str | None, bytes]]


def _tool_work(conversation: Candidate, matched: Iterable[int]) -> tuple[_Work, _Work]:
    """Calls and results by id and content, up to the last matched message and after it."""
    keys = set(matched)
    places = [place for place, key in enumerate(conversation.messages) if key in keys]
    cut = places[-1] + 1
    work = [list(_work_of(message)) for message in conversation.messages.values()]
    return [each for part in work[:cut] for each in part], [each for part in work[cut:] for each in part]


def _work_of(message: Message) -> Iterator[tuple[str | None, bytes]]:
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield part.call_id, encoded.encode(["call", part.name, part.input])
        elif isinstance(part, ToolResult):
            yield part.call_id, encoded.encode(["result", bool(part.is_error), _output(part)])


def _output(result: ToolResult) -> object:
    if isinstance(result.output, str):
        return result.output
    if all(isinstance(part, Text) for part in result.output):
        return "".join(part.text for part in result.output if isinstance(part, Text))
    return result.output


def _contents(work: Sequence[tuple[str | None, bytes]]) -> list[bytes]:
    return [content for _, content in work]


def _clocks_agree(one: str | None, other: str | None) -> bool:
    """Whether two times are one, as exactly as the coarser of them states it."""
    first, second = timestamps.epoch_ms(one), timestamps.epoch_ms(other)
    if first is None or second is None:
        return False
    if first == second:
        return True
    is_coarse = not _has_fraction(one) or not _has_fraction(other)
    return is_coarse and first // _SECOND_MS == second // _SECOND_MS


def _has_fraction(at: str | None) -> bool:
    return at is not None and "." in at
