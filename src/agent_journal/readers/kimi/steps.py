"""The steps of a model: one request each, with the parts of its answer and then the results of its calls."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.model import Event, Message, Part, Text, ToolResult, Usage
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog


class Step:
    """One answer of the model, as far as it is known."""

    def __init__(self, step_id: str, at: str | None, extra: dict[str, Any]) -> None:
        self.id = step_id
        self.at = at
        self.extra = extra
        self.parts: list[Part] = []
        self.model: str | None = None
        self.usage: Usage | None = None
        self.stop_reason: str | None = None
        self.is_sidechain = False

    def entry(self) -> Message | Event:
        """Return the message; an event if the model answered nothing, as before it was asked again."""
        if not self.parts and self.usage is None:
            return Event(id=self.id, name="step", at=self.at, data=self.extra)
        return Message(
            id=self.id,
            role="assistant",
            at=self.at,
            model=self.model,
            stop_reason=self.stop_reason,
            sidechain=self.is_sidechain,
            parts=self.parts,
            usage=self.usage,
            extra=self.extra,
        )


class _StatedUsage(NamedTuple):
    """Tokens that a record states, and whether they are those of a turn."""

    usage: Usage
    model: str | None
    at: str | None
    is_of_turn: bool


class Timeline:
    """Collects steps, messages and events in their order, until all of a step is known."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._items: list[tuple[Step | Message | Event | _StatedUsage, int | str]] = []
        # The positions of prompts that no message has repeated yet.
        self._prompts: dict[str, int] = {}
        self.step: Step | None = None

    def add(self, entry: Message | Event, location: int | str) -> None:
        """Add a message or an event."""
        self._items.append((entry, location))

    def add_value(self, value: Any, location: int | str) -> None:
        """Add a record that is no object."""
        self._note(Kind.WRONG_TYPE, location, f"a record is {type(value).__name__}, not an object")
        self.add(Event(id="", name="unknown", data={"value": value}), location)

    def begin(self, step: Step, location: int | str) -> Step:
        """Begin the next step."""
        self.step = step
        self._items.append((step, location))
        return step

    def add_part(self, part: Part, at: str | None, location: int | str) -> None:
        """Add a part to the step; a part without one begins a step."""
        step = self.step or self.begin(Step("", at, {}), location)
        if not step.parts:
            step.at = at or step.at
        step.parts.append(part)

    def add_result(
        self, result: ToolResult, at: str | None, extra: dict[str, Any], location: int | str
    ) -> None:
        """Add the result of a call."""
        is_sidechain = self.step is not None and self.step.is_sidechain
        message = Message(id="", role="tool", at=at, parts=[result], sidechain=is_sidechain, extra=extra)
        self.add(message, location)

    def add_usage(
        self,
        usage: Usage,
        model: str | None,
        at: str | None,
        location: int | str,
        *,
        is_of_turn: bool = False,
    ) -> None:
        """Add tokens that a record states; those of a step may repeat its own."""
        self._items.append((_StatedUsage(usage, model, at, is_of_turn), f"{location}:usage"))

    def add_prompt(self, entry: Event, text: str, location: int | str) -> None:
        """Add the event of a prompt, which becomes a message if no message repeats it."""
        if text:
            self._prompts[text] = len(self._items)
        self.add(entry, location)

    def add_message(self, message: Message, location: int | str) -> None:
        """Add a message of the context, which may repeat a prompt."""
        self._prompts.pop(text_of(message.parts), None)
        self.add(message, location)

    def write(self, log: SessionLog) -> None:
        """Add everything to a log."""
        self._place_usages()
        unrepeated = {index: text for text, index in self._prompts.items()}
        for index, (value, location) in enumerate(self._items):
            if isinstance(value, _StatedUsage):
                continue
            entry = value.entry() if isinstance(value, Step) else value
            if isinstance(entry, Event) and index in unrepeated:
                entry = _prompt(entry, unrepeated[index])
            if isinstance(entry, Event):
                log.add_event(entry.name, entry.data, location, at=entry.at, entry_id=entry.id)
            else:
                log.add(entry, location)

    def _place_usages(self) -> None:
        """Give tokens that no step states to the step before them, or to a message of their own.

        A step that was interrupted states none. Those of a summary belong to no step.
        """
        stated = Counter(_counts(value.usage) for value, _ in self._items if isinstance(value, Step))
        step: Step | None = None
        for index, (value, location) in enumerate(self._items):
            if isinstance(value, Step):
                step = value
            if not isinstance(value, _StatedUsage):
                continue
            counts = _counts(value.usage)
            if stated[counts]:
                stated[counts] -= 1
            elif value.is_of_turn and step is not None and step.usage is None:
                step.usage = replace(value.usage, key=step.id or None)
                self._note(Kind.PARTIAL_USAGE, step.id, "the answer was interrupted")
            else:
                self._items[index] = (_message_of(value), location)


def text_of(parts: list[Part]) -> str:
    """Return the text of parts."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _prompt(event: Event, text: str) -> Message:
    return Message(id=event.id, role="user", at=event.at, parts=[Text(text=text)], extra=event.data)


def _message_of(stated: _StatedUsage) -> Message:
    return Message(id="", role="assistant", at=stated.at, hidden=True, model=stated.model, usage=stated.usage)


def _counts(usage: Usage | None) -> tuple[int | None, ...]:
    if usage is None:
        return ()
    return usage.input, usage.output, usage.cache_read, usage.cache_write
