"""The log events of a session: the times of answers and results, and the user's feedback.

`dev_data/0.2.0/chatInteraction.jsonl` has a line for each answer of an editor's chat, with the prompt and the
answer as in `promptLogs` of the session. Logs may be much larger than sessions: for a folder, they are read
once and regrouped on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Event, Feedback, ToolResult, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev.context import as_text
from agent_journal.readers.continue_dev.names import CHAT, FEEDBACK, SOURCE, TOOL_USE
from agent_journal.readers.continue_dev.values import is_equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

# The keys by which the lines of a log are grouped.
KEYS = {CHAT: "sessionId", FEEDBACK: "sessionId", TOOL_USE: "toolCallId"}


class Logs:
    """The logs next to the sessions, looked up by session or call."""

    def __init__(self, files: dict[str, list[Input]], note: Notes, only: str | None = None) -> None:
        self._files = files
        self._note = note
        self._only = only
        self._lookups: dict[str, Callable[[str], list[Any]]] = {}

    def has(self, event: str) -> bool:
        """Whether there is a log of an event kind."""
        return bool(self._files.get(event))

    def events_of(self, event: str, key: str) -> list[Bag]:
        """Return the events of a kind for a session or call, in order."""
        if not self.has(event):
            return []
        if event not in self._lookups:
            is_one_session = self._only is not None and KEYS[event] == "sessionId"
            self._lookups[event] = self._filter(event) if is_one_session else self._group(event)
        return [*objects([_decode(line) for line in self._lookups[event](key)])]

    def _group(self, event: str) -> Callable[[str], list[Any]]:
        from agent_journal.decoding.spill import Grouped  # noqa: PLC0415 (only folders with logs need it)

        grouped = Grouped()
        for line, record in self._lines(event):
            if key := nonempty_str(record.get(KEYS[event])):
                grouped.add(key, None, line.decode("utf-8", "replace"))
        return grouped.of

    def _filter(self, event: str) -> Callable[[str], list[Any]]:
        """Read only the lines of one session, without regrouping the log."""
        lines: dict[str, list[Any]] = {}
        for line, record in self._lines(event, (self._only or "").encode("utf-8", "replace")):
            if key := nonempty_str(record.get(KEYS[event])):
                lines.setdefault(key, []).append(line.decode("utf-8", "replace"))
        return lambda key: lines.get(key, [])

    def _lines(self, event: str, containing: bytes = b"") -> Iterator[tuple[bytes, Bag]]:
        for file in self._files[event]:
            note = self._note.about(file.label)
            try:
                for number, line, is_complete in json_stream.raw_lines(file, note):
                    if containing in line:
                        kind = Kind.BAD_RECORD if is_complete else Kind.TORN_TAIL
                        record = json_stream.decode(line, note, number, kind)
                        if record.__class__ is dict:
                            yield line, record
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, "", error.reason)


def _decode(line: str) -> Any:
    from agent_journal.notes import Notes  # noqa: PLC0415 (problems were noted when the line was first read)

    return json_stream.decode(line.encode(), Notes(keep=0), "")


class SessionLogs:
    """The log events of one session; each occurs once, with its message or by itself."""

    def __init__(self, logs: Logs | None, session_id: str, items: Iterable[Any]) -> None:
        self._logs = logs
        self._answers = logs.events_of(CHAT, session_id) if logs is not None else []
        self._feedback = logs.events_of(FEEDBACK, session_id) if logs is not None else []
        self._match_in_order = self._can_match_in_order(items)
        self.agent = self._first_text("userAgent")
        self.model = self._first_text("modelName")

    def _first_text(self, name: str) -> str | None:
        return next((text for event in self._answers if (text := nonempty_str(event.get(name)))), None)

    def _can_match_in_order(self, items: Iterable[Any]) -> bool:
        """Whether events without text can be matched by position: there is one for each answer."""
        if not self._answers or any(event.get("prompt") is not None for event in self._answers):
            return False
        return len(self._answers) == sum(len([*objects(item.get("promptLogs"))]) for item in objects(items))

    @property
    def is_empty(self) -> bool:
        """Whether no log has an event of the session."""
        return self._logs is None or not (self._answers or self._logs.has(TOOL_USE))

    @property
    def has_feedback(self) -> bool:
        """Whether the user rated answers."""
        return bool(self._feedback)

    def take_answer_event(self, prompts: list[Bag]) -> Bag:
        """Take the event of an answer, matched by its prompts."""
        extra: Bag = {}
        for prompt in prompts:
            event = self._take_matching(prompt)
            if event is not None:
                extra = {
                    CHAT: {key: value for key, value in event.items() if not is_equal(prompt.get(key), value)}
                }
        return extra

    def _take_matching(self, prompt: Bag) -> Bag | None:
        if self._match_in_order:
            return self._answers.pop(0) if self._answers else None
        for index, event in enumerate(self._answers):
            if all(is_equal(event.get(key), prompt.get(key)) for key in ("prompt", "completion")):
                return self._answers.pop(index)
        return None

    def find_result_event(self, part: ToolResult) -> Bag:
        """Return the event of a tool use, matched by its result."""
        if self._logs is None or part.call_id is None:
            return {}
        events = self._logs.events_of(TOOL_USE, part.call_id)
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

    def unmatched_events(self, session_id: str) -> list[Event]:
        """Return answers that the session no longer contains: they were regenerated."""
        return [
            Event(
                id=ids.made(SOURCE, session_id, CHAT, index, event),
                made_id=True,
                name=CHAT,
                at=timestamps.parse_timestamp(event.get("timestamp")),
                data=event,
            )
            for index, event in enumerate(self._answers)
        ]

    def feedback(self, prompts_by_message: dict[str, list[Bag]]) -> list[Feedback]:
        """Return the user's feedback, linked to the messages with the same prompts."""
        return [_feedback(event, prompts_by_message) for event in self._feedback]


def _feedback(event: Bag, prompts_by_message: dict[str, list[Bag]]) -> Feedback:
    message_id = next(
        (
            message_id
            for message_id, prompts in prompts_by_message.items()
            for prompt in prompts
            if event.get("completion") is not None
            and all(is_equal(event.get(key), prompt.get(key)) for key in ("prompt", "completion"))
        ),
        None,
    )
    known = {"prompt", "completion"} if message_id is not None else set()
    is_positive = event.get("feedback")
    return Feedback(
        rating=("up" if is_positive else "down") if is_positive.__class__ is bool else None,
        at=timestamps.parse_timestamp(event.get("timestamp")),
        message_id=message_id,
        extra={key: value for key, value in event.items() if key not in {*known, "feedback", "timestamp"}},
    )
