"""Merge the two histories of a task into one; each stays in its own order.

UI records state after which API message they were shown (Cline), or both histories have timestamps. Otherwise
the requests are counted: each was sent with one prompt.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from agent_journal.model import Reasoning, Text
from agent_journal.readers.roo_code import markup
from agent_journal.readers.roo_code.history import DatedMessage
from agent_journal.readers.roo_code.ui_messages import FEEDBACK, REQUEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Message
    from agent_journal.readers.roo_code.ui_messages import Record

Entry: TypeAlias = "Record | DatedMessage"


def merge_histories(records: list[Record], messages: list[DatedMessage]) -> list[Entry]:
    """Merge UI records and API messages into one list."""
    merged: list[Entry] = []
    done = 0
    for record, message_count in zip(records, _message_counts(records, messages), strict=True):
        if message_count > done:
            merged += messages[done:message_count]
            done = message_count
        merged.append(record)
    return merged + messages[done:]


def _message_counts(records: list[Record], messages: list[DatedMessage]) -> list[int]:
    """Return how many messages come before each record; the first record, the task, comes before all."""
    timestamps = list(accumulate((message.ts or 0 for message in messages), max))
    has_history_index = bool(records) and records[0].history_index is not None
    if has_history_index or not timestamps or not timestamps[-1]:
        return _counts_by_index(records, messages)
    return _counts_by_time(records, timestamps)


def _counts_by_time(records: list[Record], timestamps: list[int]) -> list[int]:
    counts = [0] if records else []
    count, end = 0, len(timestamps)
    for record in records[1:]:
        if record.ts is not None:
            # The user's feedback is sent later; everything else with the same timestamp was sent already.
            until = record.ts - 1 if record.name == FEEDBACK else record.ts
            while count < end and timestamps[count] <= until:
                count += 1
        counts.append(count)
    return counts


def _counts_by_index(records: list[Record], messages: list[DatedMessage]) -> list[int]:
    """Use the index of the message that a record states, else the number of requests so far."""
    counter = _RequestCounter(messages)
    counts: list[int] = []
    last = 0
    for record in records:
        count = counter.message_count(is_request=record.name == REQUEST)
        if record.history_index is not None:
            count = record.history_index + 1 if counts else 0
        last = max(last, min(count, len(messages)))
        counts.append(last)
    return counts


class _RequestCounter:
    """Positions by the count of requests: one is shown before each prompt, all else after the answer."""

    def __init__(self, messages: list[DatedMessage]) -> None:
        self._prompts = [index for index, entry in enumerate(messages) if entry.message.role != "assistant"]
        self._end = len(messages)
        self._requests = 0

    def message_count(self, *, is_request: bool) -> int:
        count = self._prompts[self._requests] if self._requests < len(self._prompts) else self._end
        self._requests += is_request
        return count if self._requests else 0


class Turns:
    """What the API history contains of each turn. A turn begins with a request."""

    def __init__(self, entries: list[Entry]) -> None:
        self.turn_of: list[int] = []
        self._answered: set[int] = set()
        self._with_reasoning: set[int] = set()
        self._prompts: list[int] = []
        self._entries = entries
        turn, add = 0, self.turn_of.append
        for index, entry in enumerate(entries):
            if type(entry) is DatedMessage:  # several times faster than `isinstance`
                if not entry.message.hidden:
                    self._add_message(entry.message, index, turn)
            elif entry.name == REQUEST:
                turn += 1
            add(turn)
        self.answered = [turn in self._answered for turn in self.turn_of]
        """For each entry, whether the API history has the model's answer of its turn."""

    def _add_message(self, message: Message, index: int, turn: int) -> None:
        if message.role != "assistant":
            self._prompts.append(index)
            return
        self._answered.add(turn)
        for part in message.parts:
            if part.__class__ is Reasoning:
                self._with_reasoning.add(turn)

    def has_reasoning(self, index: int) -> bool:
        """Whether the API history has the model's reasoning in the turn of an entry."""
        return self.turn_of[index] in self._with_reasoning

    def is_in_next_prompt(self, index: int, text: str | None) -> bool:
        """Whether the prompt after an entry contains the user's text of that entry."""
        following = bisect_right(self._prompts, index)
        if following == len(self._prompts):
            return False
        at = self._prompts[following]
        texts = list(_texts(self._entries[at]))
        user_text = (text or "").strip()
        if any(user_text in prompt_text for prompt_text, _ in texts):
            return True
        # The extensions expand the user's mentions; then the text differs, but it is in the user's tags.
        return self.turn_of[at] <= self.turn_of[index] + 1 and any(is_tagged for _, is_tagged in texts)


def _texts(prompt: Entry) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a prompt (results only quote the user), and whether each has the user's tags."""
    for part in prompt.message.parts if isinstance(prompt, DatedMessage) else ():
        if isinstance(part, Text):
            yield part.text, "tag" in part.extra or markup.has_user_text(part.text)
