"""What went to and from the model while it answered one prompt: rounds of text, thoughts and tool calls.

What was shown of a response repeats most of it, under other names and ids: calls are found by their id, else
by the tool's name in its order, else by their place.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot.names import MODELS_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

# The editor makes ids of calls unique with this and a number.
_SUFFIX = "__vscode-"
_INTERNAL = "_internal"
_OBJECTS = {dict}
# Shorter words of what a call was given may stand anywhere.
_TELLING = 4
# Calls in a row that are looked through for the one that is shown.
_MOST_REFUSED = 50
_WORDED = ("value", "command", "original")


class Call(NamedTuple):
    """A call that the model made: the round it made it in, and its number among all calls."""

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
    """What it said."""
    thought: str | None


def thought_of(value: Any) -> str | None:
    """A thought is one text or several pieces of it."""
    if isinstance(value, list):
        value = "".join(piece for piece in value if isinstance(piece, str))
    return value if isinstance(value, str) and value and not value.isspace() else None


def rounds_of(metadata: Fields) -> list[Round]:
    """The rounds of a response; what is none stays where it is."""
    raw = metadata.look("toolCallRounds")
    if not isinstance(raw, list):
        return []
    if not set(map(type, raw)) <= _OBJECTS:
        metadata.note(Kind.WRONG_TYPE, metadata.where, "a round of tool calls is no object")
        return []
    found: list[Round] = []
    number = 0
    for place, item in enumerate(raw):
        fields = Fields(item, metadata.note, metadata.where)
        calls = _calls(fields, place, number)
        said, thinking = fields.look("response"), fields.look("thinking")
        text = said if isinstance(said, str) and said and not said.isspace() else None
        thought = thought_of(thinking.get("text")) if isinstance(thinking, dict) else None
        found.append(Round(fields, calls, text, thought))
        number += len(calls)
    return found


def _calls(fields: Fields, place: int, number: int) -> list[Call]:
    raw = fields.look("toolCalls")
    if not raw or not isinstance(raw, list) or not set(map(type, raw)) <= _OBJECTS:
        return []
    calls = []
    for count, item in enumerate(raw):
        inner = Fields(item, fields.note, fields.where)
        call_id = inner.text("id")
        calls.append(Call(place, number + count, inner.text("name") or "", call_id, inner))
    return calls


class Pairing:
    """Which shown invocation is of which call, by their places in either list."""

    def __init__(self, calls: list[Call], invocations: dict[int, Fields]) -> None:
        self.call_of: dict[int, Call] = {}
        self._calls = calls
        self._left = set(range(len(calls)))
        pending = {place: shown for place, shown in invocations.items() if not is_internal(shown)}
        for take in (self._by_id, self._by_name, self._by_order):
            if pending:
                take(pending)

    @property
    def unshown(self) -> list[Call]:
        """The calls of which nothing was shown, in their order."""
        return [self._calls[number] for number in sorted(self._left)] if self._left else []

    def _pair(self, pending: dict[int, Fields], place: int, number: int) -> None:
        self.call_of[place] = self._calls[number]
        self._left.discard(number)
        pending.pop(place, None)

    def _by_id(self, pending: dict[int, Fields]) -> None:
        numbers: dict[str, int] = {}
        for number, call in enumerate(self._calls):
            if call.call_id is not None:
                numbers.setdefault(call.call_id.partition(_SUFFIX)[0], number)
                numbers.setdefault(call.call_id, number)
        for place, shown in list(pending.items()):
            said = shown.look("toolCallId")
            found = numbers.get(said.partition(_SUFFIX)[0]) if isinstance(said, str) else None
            if found is not None and found in self._left:
                self._pair(pending, place, found)

    def _by_name(self, pending: dict[int, Fields]) -> None:
        waiting: dict[str, deque[int]] = {}
        for number in sorted(self._left):
            waiting.setdefault(self._calls[number].name, deque()).append(number)
        unpaired = Counter(map(tool_of, pending.values()))
        for place, shown in list(pending.items()):
            tool = tool_of(shown)
            if queue := waiting.get(tool):
                for _ in range(self._skipped(queue, shown, len(queue) - unpaired[tool])):
                    queue.popleft()
                self._pair(pending, place, queue.popleft())
            unpaired[tool] -= 1

    def _skipped(self, queue: deque[int], shown: Fields, most: int) -> int:
        """How many calls of a tool were not shown before this one was: the first that fits is its own.

        The editor shows no call whose arguments are not what the tool takes.
        """
        if most <= 0:
            return 0
        said = _shown_words(shown)
        calls = (self._calls[number] for number in islice(queue, min(most, _MOST_REFUSED) + 1))
        return next((count for count, call in enumerate(calls) if _fits(call, said)), 0)

    def _by_order(self, pending: dict[int, Fields]) -> None:
        if len(pending) == len(self._left):
            for place, number in zip(list(pending), sorted(self._left), strict=True):
                self._pair(pending, place, number)


def _shown_words(shown: Fields) -> str:
    """What is shown of a call: the command of a terminal, or a sentence with links."""
    specific = shown.look("toolSpecificData")
    line = specific.get("commandLine") if isinstance(specific, dict) else None
    told = [shown.look("invocationMessage"), shown.look("pastTenseMessage"), specific, line]
    worded = [one.get(name) for one in told if isinstance(one, dict) for name in _WORDED]
    words = "\n".join(word for word in (*told, *worded) if isinstance(word, str))
    return unquote(words, errors="replace")


def _fits(call: Call, said: str) -> bool:
    """Whether what is shown has words of what a call was given."""
    arguments = call.fields.look("arguments")
    try:
        given = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return False
    values = given.values() if isinstance(given, dict) else ()
    words = (unquote(value, errors="replace") for value in values if isinstance(value, str))
    return any(len(word) >= _TELLING and word in said for word in words)


def tool_of(shown: Fields) -> str:
    """What the model calls the tool of an invocation."""
    tool = shown.look("toolId")
    return MODELS_NAMES.get(tool, tool) if isinstance(tool, str) else ""


def is_internal(shown: Fields) -> bool:
    """Whether another tool used this one: the model did not ask for it."""
    tool = shown.look("toolId")
    return isinstance(tool, str) and tool.endswith(_INTERNAL)


def all_calls(rounds: Iterable[Round]) -> list[Call]:
    """The calls of all rounds, in their order."""
    return [call for one in rounds for call in one.calls]
