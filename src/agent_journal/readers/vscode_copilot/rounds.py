"""The rounds with the model for one prompt: text, reasoning and tool calls.

The shown parts of a response repeat most of it under other names and ids: calls are paired by their id, else
by the tool's name in order, else by their position.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot.names import MODEL_TOOL_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

# The editor appends this and a number to call ids to make them unique.
_SUFFIX = "__vscode-"
_INTERNAL = "_internal"
_OBJECTS = {dict}
# Shorter argument values may occur in any text.
_MIN_VALUE_CHARS = 4
# How many consecutive calls are searched for the one that is shown.
_MAX_SKIPPED_CALLS = 50
_TEXT_KEYS = ("value", "command", "original")


class Call(NamedTuple):
    """A call of the model: its round, and its number among all calls."""

    round: int
    number: int
    name: str
    call_id: str | None
    fields: Fields


class Round(NamedTuple):
    """One answer of the model."""

    fields: Fields
    calls: list[Call]
    text: str | None
    """Its text."""
    thought: str | None


def thought_of(value: Any) -> str | None:
    """Return a thought, which is one text or several pieces."""
    if isinstance(value, list):
        value = "".join(piece for piece in value if isinstance(piece, str))
    return value if isinstance(value, str) and value and not value.isspace() else None


def read_rounds(metadata: Fields) -> list[Round]:
    """Return the rounds of a response; values of another form stay in the metadata."""
    raw = metadata.view("toolCallRounds")
    if not isinstance(raw, list):
        return []
    if not set(map(type, raw)) <= _OBJECTS:
        metadata.note(Kind.WRONG_TYPE, metadata.where, "a round of tool calls is not an object")
        return []
    rounds: list[Round] = []
    number = 0
    for index, item in enumerate(raw):
        fields = Fields(item, metadata.note, metadata.where)
        calls = _read_calls(fields, index, number)
        response, thinking = fields.view("response"), fields.view("thinking")
        text = response if isinstance(response, str) and response and not response.isspace() else None
        thought = thought_of(thinking.get("text")) if isinstance(thinking, dict) else None
        rounds.append(Round(fields, calls, text, thought))
        number += len(calls)
    return rounds


def _read_calls(fields: Fields, round_index: int, number: int) -> list[Call]:
    raw = fields.view("toolCalls")
    if not raw or not isinstance(raw, list) or not set(map(type, raw)) <= _OBJECTS:
        return []
    calls = []
    for count, item in enumerate(raw):
        inner = Fields(item, fields.note, fields.where)
        call_id = inner.text("id")
        calls.append(Call(round_index, number + count, inner.text("name") or "", call_id, inner))
    return calls


class Pairing:
    """Pairs each shown invocation with a call, by their indexes in either list."""

    def __init__(self, calls: list[Call], invocations: dict[int, Fields]) -> None:
        self.call_of: dict[int, Call] = {}
        self._calls = calls
        self._unpaired = set(range(len(calls)))
        pending = {index: shown for index, shown in invocations.items() if not is_internal(shown)}
        for pair_by in (self._pair_by_id, self._pair_by_name, self._pair_by_order):
            if pending:
                pair_by(pending)

    @property
    def hidden_calls(self) -> list[Call]:
        """The calls that were not shown, in order."""
        return [self._calls[number] for number in sorted(self._unpaired)] if self._unpaired else []

    def _pair(self, pending: dict[int, Fields], index: int, number: int) -> None:
        self.call_of[index] = self._calls[number]
        self._unpaired.discard(number)
        pending.pop(index, None)

    def _pair_by_id(self, pending: dict[int, Fields]) -> None:
        numbers: dict[str, int] = {}
        for number, call in enumerate(self._calls):
            if call.call_id is not None:
                numbers.setdefault(call.call_id.partition(_SUFFIX)[0], number)
                numbers.setdefault(call.call_id, number)
        for index, shown in list(pending.items()):
            call_id = shown.view("toolCallId")
            matching = numbers.get(call_id.partition(_SUFFIX)[0]) if isinstance(call_id, str) else None
            if matching is not None and matching in self._unpaired:
                self._pair(pending, index, matching)

    def _pair_by_name(self, pending: dict[int, Fields]) -> None:
        waiting: dict[str, deque[int]] = {}
        for number in sorted(self._unpaired):
            waiting.setdefault(self._calls[number].name, deque()).append(number)
        unpaired = Counter(map(model_tool_name, pending.values()))
        for index, shown in list(pending.items()):
            tool = model_tool_name(shown)
            if queue := waiting.get(tool):
                for _ in range(self._count_skipped(queue, shown, len(queue) - unpaired[tool])):
                    queue.popleft()
                self._pair(pending, index, queue.popleft())
            unpaired[tool] -= 1

    def _count_skipped(self, queue: deque[int], shown: Fields, max_skipped: int) -> int:
        """Count the hidden calls of a tool before the shown one, which is the first that matches.

        The editor does not show a call with invalid arguments.
        """
        if max_skipped <= 0:
            return 0
        shown_text = _shown_text(shown)
        calls = (self._calls[number] for number in islice(queue, min(max_skipped, _MAX_SKIPPED_CALLS) + 1))
        return next((count for count, call in enumerate(calls) if _matches(call, shown_text)), 0)

    def _pair_by_order(self, pending: dict[int, Fields]) -> None:
        if len(pending) == len(self._unpaired):
            for index, number in zip(list(pending), sorted(self._unpaired), strict=True):
                self._pair(pending, index, number)


def _shown_text(shown: Fields) -> str:
    """Return the text of an invocation: a terminal command, or a sentence with links."""
    specific = shown.view("toolSpecificData")
    line = specific.get("commandLine") if isinstance(specific, dict) else None
    values = [shown.view("invocationMessage"), shown.view("pastTenseMessage"), specific, line]
    inner_values = [value.get(name) for value in values if isinstance(value, dict) for name in _TEXT_KEYS]
    text = "\n".join(value for value in (*values, *inner_values) if isinstance(value, str))
    return unquote(text, errors="replace")


def _matches(call: Call, shown_text: str) -> bool:
    """Whether the text of an invocation contains an argument of a call."""
    arguments = call.fields.view("arguments")
    try:
        decoded = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False
    values = decoded.values() if isinstance(decoded, dict) else ()
    texts = (unquote(value, errors="replace") for value in values if isinstance(value, str))
    return any(len(text) >= _MIN_VALUE_CHARS and text in shown_text for text in texts)


def model_tool_name(shown: Fields) -> str:
    """Return the model's name for the tool of an invocation."""
    tool = shown.view("toolId")
    return MODEL_TOOL_NAMES.get(tool, tool) if isinstance(tool, str) else ""


def is_internal(shown: Fields) -> bool:
    """Whether another tool called this one, not the model."""
    tool = shown.view("toolId")
    return isinstance(tool, str) and tool.endswith(_INTERNAL)


def all_calls(rounds: Iterable[Round]) -> list[Call]:
    """Return the calls of all rounds, in order."""
    return [call for current in rounds for call in current.calls]
