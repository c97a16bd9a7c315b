"""How a conversation used its time and the model's context, collected entry by entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from agent_journal.model import Message, timestamps, tree

if TYPE_CHECKING:
    from agent_journal.model import Event, Usage

Lane: TypeAlias = Literal["model", "tool", "person"]

LANES: tuple[Lane, ...] = ("model", "tool", "person")
_MAX_PAUSE_MS = 300_000
"""Whoever pauses longer is taken to do something else."""
_MAX_SLOTS = 100


class ContextPoint(NamedTuple):
    """How many tokens the model read for an answer."""

    message_id: str
    tokens: int


class LaneSlot(NamedTuple):
    """How much of a slice of the time one lane has, from 0 to 1, and where the slice starts."""

    lane: Lane
    slot: int
    share: float
    message_id: str


class _Segment(NamedTuple):
    lane: Lane
    ms: int
    message_id: str


class ConversationFigures:
    """Collects the context that answers used, and what took how long."""

    def __init__(self) -> None:
        self._context: list[ContextPoint] = []
        self._segments: list[_Segment] = []
        self._last_ms: int | None = None
        self.paused_ms = 0
        """Pauses of more than five minutes, which belong to no lane."""

    def add(self, entry: Message | Event) -> None:
        """Add the next entry."""
        if not isinstance(entry, Message):
            return
        if entry.usage is not None and (tokens := context_tokens(entry.usage)):
            self._context.append(ContextPoint(entry.id, tokens))
        now_ms = timestamps.epoch_ms(entry.at)
        if now_ms is None:
            return
        if self._last_ms is not None and now_ms > self._last_ms:
            self._add_time(now_ms - self._last_ms, entry)
        self._last_ms = max(now_ms, self._last_ms or now_ms)

    def _add_time(self, ms: int, entry: Message) -> None:
        lane: Lane = "tool"
        if entry.role == "assistant":
            lane = "model"
        elif entry.role == "user" and not entry.hidden and not any(tree.results_in(entry)):
            lane = "person"
        if lane == "person" and ms > _MAX_PAUSE_MS:
            self.paused_ms += ms
        else:
            self._segments.append(_Segment(lane, ms, entry.id))

    @property
    def context(self) -> list[ContextPoint]:
        """The context of the answers in order; of many, the largest of each slice."""
        size = len(self._context) // _MAX_SLOTS + 1
        slices = (self._context[start : start + size] for start in range(0, len(self._context), size))
        return [max(each, key=lambda point: point.tokens) for each in slices]

    @property
    def totals_ms(self) -> dict[Lane, int]:
        """The time of each lane that has any."""
        totals = {lane: sum(each.ms for each in self._segments if each.lane == lane) for lane in LANES}
        return {lane: ms for lane, ms in totals.items() if ms}

    def lanes(self) -> list[LaneSlot]:
        """The time without pauses in equal slices, with what each lane has of it."""
        total_ms = sum(each.ms for each in self._segments)
        if not total_ms:
            return []
        slot_ms = total_ms / _MAX_SLOTS
        shares: dict[tuple[Lane, int], float] = {}
        first_ids: dict[tuple[Lane, int], str] = {}
        start_ms = 0.0
        for lane, ms, message_id in self._segments:
            end_ms = start_ms + ms
            for slot in range(int(start_ms / slot_ms), min(int(end_ms / slot_ms) + 1, _MAX_SLOTS)):
                inside_ms = min(end_ms, (slot + 1) * slot_ms) - max(start_ms, slot * slot_ms)
                if inside_ms > 0:
                    shares[lane, slot] = shares.get((lane, slot), 0.0) + inside_ms / slot_ms
                    first_ids.setdefault((lane, slot), message_id)
            start_ms = end_ms
        return [
            LaneSlot(lane, slot, min(share, 1.0), first_ids[lane, slot])
            for (lane, slot), share in shares.items()
        ]


def context_tokens(usage: Usage) -> int:
    """How many tokens the model read for an answer."""
    return (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
