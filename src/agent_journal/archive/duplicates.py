"""Detect the same conversation under different ids, and the messages that both have.

Two messages are copies if role and words are equal and their times are at most five seconds apart. Parallel
agents get the same prompt and often give the same short answer within seconds. So equal words at about the
same time are necessary for a duplicate, but not sufficient: no identifying detail may differ either.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.archive import encoded
from agent_journal.model import Text, ToolCall, ToolResult, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agent_journal.model import Message

MATCH_WINDOW_MS = 5_000
# One equal message is not evidence: a conversation of one message is never a duplicate.
_MIN_MESSAGES = 2
_MIN_PROMPT_CHARS = 5  # shorter prompts may be part of other texts by chance
# Shorter ids may be counters ("1", "call_0"), which prove nothing if they are equal.
_MIN_VENDOR_ID_CHARS = 16
_SECOND_MS = 1_000


class TimedText(NamedTuple):
    """The text of a message with its role and time."""

    key: int
    role: str
    text: str
    at_ms: int | None


def timed_texts(
    rows: Iterable[tuple[int, str | None, str | None, str | None]], *, at_any_time: bool = False
) -> list[TimedText]:
    """Return the messages among (key, role, text, at) that have text, and a time unless `at_any_time`."""
    texts = []
    for key, role, text, at in rows:
        if role and text and ((at_ms := timestamps.epoch_ms(at)) is not None or at_any_time):
            texts.append(TimedText(key, role, text, at_ms))
    return texts


def is_contained(copies: int, messages: int) -> bool:
    """Whether so many copies among so many messages prove that one conversation is contained in another."""
    return copies == messages >= _MIN_MESSAGES


def opening_hash(rows: Iterable[tuple[str | None, str | None, str | None]]) -> bytes | None:
    """Hash the first messages with text, which are equal in duplicates."""
    first = list(islice(((role, text) for role, text, at in rows if role and text and at), _MIN_MESSAGES))
    if len(first) < _MIN_MESSAGES:
        return None
    return hashlib.sha256("\0".join(f"{role}\0{text}" for role, text in first).encode()).digest()[:16]


def match_texts(left: Sequence[TimedText], right: Sequence[TimedText]) -> dict[int, int]:
    """Map keys of messages on the left to keys of their copies on the right; each is used once.

    If a time is unknown, the texts alone decide: that is for formats of one conversation.
    """
    unmatched: dict[tuple[str, str], list[TimedText]] = {}
    for message in right:
        unmatched.setdefault((message.role, message.text), []).append(message)
    pairs = {}
    for message in left:
        candidates = unmatched.get((message.role, message.text), [])
        for index, other in enumerate(candidates):
            if (
                other.at_ms is None
                or message.at_ms is None
                or abs(other.at_ms - message.at_ms) <= MATCH_WINDOW_MS
            ):
                pairs[message.key] = candidates.pop(index).key
                break
    return pairs


def find_prompts(prompts: Sequence[TimedText], messages: Iterable[TimedText]) -> list[int]:
    """Return the keys of prompts that are among messages of about the same time.

    A program may put its own words around a prompt, as around commands, so a prompt that is not too short may
    be a part of a message.
    """
    timed = sorted((message for message in messages if message.at_ms is not None), key=_at_ms)
    times = [_at_ms(message) for message in timed]
    keys = []
    for prompt in prompts:
        at_ms, prompt_text = _at_ms(prompt), prompt.text.strip()
        index = bisect_left(times, at_ms - MATCH_WINDOW_MS)
        while prompt_text and index < len(timed) and times[index] <= at_ms + MATCH_WINDOW_MS:
            text = timed[index].text
            if prompt_text == text.strip() or (len(prompt_text) >= _MIN_PROMPT_CHARS and prompt_text in text):
                keys.append(prompt.key)
                break
            index += 1
    return keys


def _at_ms(message: TimedText) -> int:
    return message.at_ms or 0


class Fingerprint(NamedTuple):
    """What distinguishes a conversation from another one with the same messages."""

    source: str
    id: str
    has_made_id: bool
    folder: str | None
    account: str | None
    messages: Mapping[int, Message]
    """Messages by any key, in the order of the timeline."""


def is_duplicate(left: Fingerprint, right: Fingerprint, pairs: Mapping[int, int]) -> bool:
    """Whether two conversations are duplicates, given the keys of their equal messages.

    They are if they share a vendor's id, or if neither has ids to compare and their times are equal. In doubt
    they are not.
    """
    if not pairs or _differ(_folder(left), _folder(right)) or _differ(left.account, right.account):
        return False
    matched = [(left.messages[key], right.messages[other]) for key, other in pairs.items()]
    if any(_contradict(one, other) for one, other in matched):
        return False
    calls = _paired_tool_work(left, right, pairs)
    if calls is None:
        return False
    if left.source == right.source and _have_other_ids(left, right, matched, calls):
        return False
    if _share_an_id(left, right, matched, calls):
        return True
    return left.source == right.source and all(_clocks_agree(one.at, other.at) for one, other in matched)


def are_in_different_folders(one: str | None, other: str | None) -> bool:
    """Whether two known folders are different, and neither contains the other."""
    if not one or not other:
        return False
    first, second = (each.replace("\\", "/").rstrip("/") + "/" for each in (one, other))
    return not (first.startswith(second) or second.startswith(first))


def _folder(conversation: Fingerprint) -> str | None:
    return conversation.folder.rstrip("/\\") if conversation.folder else None


def _differ(one: object, other: object) -> bool:
    """Whether both values are known and different."""
    return one is not None and other is not None and one != other


def _contradict(one: Message, other: Message) -> bool:
    """Whether two messages answer different requests, even if their texts are equal."""
    if _differ(one.response_id, other.response_id) or _differ(_model(one), _model(other)):
        return True
    left, right = one.usage, other.usage
    if left is None or right is None:
        return False
    return _differ(left.input, right.input) or _differ(left.output, right.output)


def _model(message: Message) -> str | None:
    return message.model.lower() if message.model else None


def _have_other_ids(
    left: Fingerprint,
    right: Fingerprint,
    matched: Iterable[tuple[Message, Message]],
    calls: Iterable[tuple[str | None, str | None]],
) -> bool:
    """Whether ids from one vendor differ; ids that the reader made prove nothing."""
    if not (left.has_made_id or right.has_made_id or left.id == right.id):
        return True
    if any(not (one.made_id or other.made_id) and one.id != other.id for one, other in matched):
        return True
    return any(_differ(one, other) for one, other in calls)


def _share_an_id(
    left: Fingerprint,
    right: Fingerprint,
    matched: Iterable[tuple[Message, Message]],
    calls: Iterable[tuple[str | None, str | None]],
) -> bool:
    shared = [one for one, other in calls if one == other]
    if left.id == right.id and not (left.has_made_id or right.has_made_id):
        shared.append(left.id)
    for one, other in matched:
        if one.id == other.id and not (one.made_id or other.made_id):
            shared.append(one.id)
        if one.response_id == other.response_id:
            shared.append(one.response_id)
    return any(id_ is not None and len(id_) >= _MIN_VENDOR_ID_CHARS for id_ in shared)


def _paired_tool_work(
    left: Fingerprint, right: Fingerprint, pairs: Mapping[int, int]
) -> list[tuple[str | None, str | None]] | None:
    """Return the ids of tool calls that are equal in both; None if the work of tools differs.

    Up to the last common message, all calls and results must be equal. After it, one must begin like the
    other.
    """
    (one, after_one), (other, after_other) = (
        _tool_work(conversation, keys)
        for conversation, keys in ((left, pairs.keys()), (right, set(pairs.values())))
    )
    if _contents(one) != _contents(other):
        return None
    common = min(len(after_one), len(after_other))
    if _contents(after_one[:common]) != _contents(after_other[:common]):
        return None
    first, second = one + after_one[:common], other + after_other[:common]
    return [(id_, other_id) for (id_, _), (other_id, _) in zip(first, second, strict=True)]


_Work = list[tuple[str | None, bytes]]


def _tool_work(conversation: Fingerprint, matched: Iterable[int]) -> tuple[_Work, _Work]:
    """Return calls and results as (id, content), up to the last matched message and after it."""
    keys = set(matched)
    indexes = [index for index, key in enumerate(conversation.messages) if key in keys]
    cut = indexes[-1] + 1
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
    """Whether two times are equal at the precision of the coarser one."""
    first, second = timestamps.epoch_ms(one), timestamps.epoch_ms(other)
    if first is None or second is None:
        return False
    if first == second:
        return True
    is_coarse = not _has_fraction(one) or not _has_fraction(other)
    return is_coarse and first // _SECOND_MS == second // _SECOND_MS


def _has_fraction(at: str | None) -> bool:
    return at is not None and "." in at
