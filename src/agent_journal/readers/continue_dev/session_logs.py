"""What the logs of events say about a session: when answers and results came, what people thought of them.

`dev_data/0.2.0/chatInteraction.jsonl` has a line for each answer of an editor's chat, with the prompt and the
answer as `promptLogs` of the session has them. Logs may be much larger than sessions: for a folder, they are
read once and regrouped on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.model import Event, Feedback, ToolResult, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev.context import as_text
from agent_journal.readers.continue_dev.names import CHAT, FEEDBACK, SOURCE, TOOL_USE
from agent_journal.readers.continue_dev.values import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

# What the lines of a log are grouped by.
KEYS = {CHAT: "sessionId", FEEDBACK: "sessionId", TOOL_USE: "toolCallId"}


class Logs:
    """The logs that lie beside sessions, asked for what belongs to one session or call."""

    def __init__(self, files: dict[str, list[Source]], note: Notes, only: str | None = None) -> None:
        self._files = files
        self._note = note
        self._only = only
        self._kept: dict[str, Callable[[str], list[Any]]] = {}

    def has(self, event: str) -> bool:
        """Whether there is a log of events of a kind."""
        return bool(self._files.get(event))

    def of(self, event: str, key: str) -> list[Bag]:
        """The events of a kind that belong to a session or call, in order."""
        if not self.has(event):
            return []
        if event not in self._kept:
            is_small = self._only is not None and KEYS[event] == "sessionId"
            self._kept[event] = self._few(event) if is_small else self._grouped(event)
        return [*objects([_record(line) for line in self._kept[event](key)])]

    def _grouped(self, event: str) -> Callable[[str], list[Any]]:
        from agent_journal.decoding.spill import Grouped  # noqa: PLC0415 (only folders with logs need it)

        kept = Grouped()
        for line, record in self._lines(event):
            if key := words(record.get(KEYS[event])):
                kept.add(key, None, line.decode("utf-8", "replace"))
        return kept.of

    def _few(self, event: str) -> Callable[[str], list[Any]]:
        """Only what one session needs: a log is not regrouped for that."""
        found: dict[str, list[Any]] = {}
        for line, record in self._lines(event, (self._only or "").encode("utf-8", "replace")):
            if key := words(record.get(KEYS[event])):
                found.setdefault(key, []).append(line.decode("utf-8", "replace"))
        return lambda key: found.get(key, [])

    def _lines(self, event: str, mark: bytes = b"") -> Iterator[tuple[bytes, Bag]]:
        for file in self._files[event]:
            note = self._note.about(file.label)
            try:
                for number, line, is_whole in json_stream.raw_lines(file, note):
                    if mark in line:
                        kind = Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL
                        record = json_stream.decode(line, note, number, kind)
                        if record.__class__ is dict:
                            yield line, record
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, "", error.reason)


def _record(line: str) -> Any:
    from agent_journal.notes import Notes  # noqa: PLC0415 (what is odd was noted when the line was first read)

    return json_stream.decode(line.encode(), Notes(keep=0), "")


class Logged:
    """The events of one session; each is told once, with the message it is about or by itself."""

    def __init__(self, logs: Logs | None, session_id: str, items: Iterable[Any]) -> None:
        self._logs = logs
        self._answers = logs.of(CHAT, session_id) if logs is not None else []
        self._feedback = logs.of(FEEDBACK, session_id) if logs is not None else []
        self._in_order = self._are_in_order(items)
        self.agent = next((found for each in self._answers if (found := words(each.get("userAgent")))), None)
        self.model = next((found for each in self._answers if (found := words(each.get("modelName")))), None)

    def _are_in_order(self, items: Iterable[Any]) -> bool:
        """Whether events that keep no text can be told by their place: there is one for each answer."""
        if not self._answers or any(each.get("prompt") is not None for each in self._answers):
            return False
        return len(self._answers) == sum(len([*objects(item.get("promptLogs"))]) for item in objects(items))

    @property
    def is_silent(self) -> bool:
        """Whether no log has anything to say of the session."""
        return self._logs is None or not (self._answers or self._logs.has(TOOL_USE))

    @property
    def has_feedback(self) -> bool:
        """Whether the person thought something of the answers."""
        return bool(self._feedback)

    def of_answer(self, prompts: list[Bag]) -> Bag:
        """What the logs say of an answer, known by its prompts."""
        found: Bag = {}
        for prompt in prompts:
            event = self._taken(prompt)
            if event is not None:
                found = {
                    CHAT: {key: value for key, value in event.items() if not same(prompt.get(key), value)}
                }
        return found

    def _taken(self, prompt: Bag) -> Bag | None:
        if self._in_order:
            return self._answers.pop(0) if self._answers else None
        for place, event in enumerate(self._answers):
            if all(same(event.get(key), prompt.get(key)) for key in ("prompt", "completion")):
                return self._answers.pop(place)
        return None

    def of_result(self, part: ToolResult) -> Bag:
        """What the logs say of how a tool was used, known by its result."""
        if self._logs is None or part.call_id is None:
            return {}
        events = self._logs.of(TOOL_USE, part.call_id)
        if not events:
            return {}
        event = events[-1]
        if event.get("toolCallId") == part.call_id:
            del event["toolCallId"]
        if event.get("functionName") == part.name:
            event.pop("functionName", None)
        if as_text(event.get("output")) == part.output:
            event.pop("output", None)
        return {TOOL_USE: event}

    def left(self, session_id: str) -> list[Event]:
        """Answers of which the session knows nothing any more: another one was asked for in their place."""
        return [
            Event(
                id=ids.made(SOURCE, session_id, CHAT, place, event),
                made_id=True,
                name=CHAT,
                at=timestamps.moment(event.get("timestamp")),
                data=event,
            )
            for place, event in enumerate(self._answers)
        ]

    def feedback(self, asked: dict[str, list[Bag]]) -> list[Feedback]:
        """What the person thought of answers; `asked` has the prompts of each message."""
        return [_feedback(event, asked) for event in self._feedback]


def _feedback(event: Bag, asked: dict[str, list[Bag]]) -> Feedback:
    message_id = next(
        (
            message_id
            for message_id, prompts in asked.items()
            for prompt in prompts
            if event.get("completion") is not None
            and all(same(event.get(key), prompt.get(key)) for key in ("prompt", "completion"))
        ),
        None,
    )
    known = {"prompt", "completion"} if message_id is not None else set()
    liked = event.get("feedback")
    return Feedback(
        rating=("up" if liked else "down") if liked.__class__ is bool else None,
        at=timestamps.moment(event.get("timestamp")),
        message_id=message_id,
        extra={key: value for key, value in event.items() if key not in {*known, "feedback", "timestamp"}},
    )
