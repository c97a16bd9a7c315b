"""Logs read by themselves: the answers of sessions whose files are missing, and edits.

Each line of a chat repeats the whole dialogue before it as one text. Without the repetitions, the lines of a
session are a tree: it branches where the user edited a prompt.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.decoding.spill import Grouped
from agent_journal.model import (
    Conversation,
    Event,
    Feedback,
    Message,
    Other,
    Request,
    Text,
    Tool,
    ids,
    timestamps,
)
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev.companions import Companions
from agent_journal.readers.continue_dev.names import (
    CHAT,
    EVENTS,
    FEEDBACK,
    LOG_FOLDERS,
    SESSIONS,
    SOURCE,
    STANDALONE_EVENTS,
)
from agent_journal.readers.continue_dev.session import parse_agent
from agent_journal.readers.dialects import chat_templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Item, Part
    from agent_journal.notes import Notes
    from agent_journal.readers.continue_dev.config import Models
    from agent_journal.readers.dialects.chat_templates import Turn

_OPENING, _BETWEEN = "<assistant>\n", "\n\n<assistant>\n"
_NO_TURN = (None, "")
_FOLDERS = frozenset(folder[0] for folder in LOG_FOLDERS if folder)


def read_log(source: Input, note: Notes, known: set[str] | None = None) -> Iterator[Item]:
    """Yield the conversations that only a log has: not those in `known` or with a file of their own."""
    log = _Log(source, note, known)
    if log.kind == FEEDBACK and source.companion(f"{CHAT}.jsonl") is not None:
        note(Kind.IGNORED_FILE, "", "the feedback is read with the answers")
        return
    yield from log.edits()
    yield from log.sessions()
    log.note_ignored()


class _Log:
    """One log: the lines of sessions are regrouped; edits are converted at once."""

    def __init__(self, source: Input, note: Notes, known: set[str] | None) -> None:
        self._source = source
        self._note = note
        self._known = known
        self._up = ("..", "..") if _parent_name(source) in _FOLDERS else ("..",)
        self._models = Companions(source, self._up, note).models
        self._grouped = Grouped(is_owner=True)
        self._has_file: dict[str, bool] = {}
        self._ignored: Counter[str] = Counter()
        name = source.name.partition(".")[0]
        self.kind = name if name in EVENTS else None

    def edits(self) -> Iterator[Conversation]:
        """Read all lines; each edit is a small conversation."""
        for number, line, raw_line in _lines(self._source, self._note):
            kind = _event_kind(line)
            if line.__class__ is not dict or kind is None:
                self._note(Kind.UNKNOWN_TYPE, number, "a line that is not an event")
                self._grouped.add("", number, {"value": line})
            elif kind in STANDALONE_EVENTS:
                yield _edit(Fields(line, self._note, number), kind, self._models)
            elif kind in (CHAT, FEEDBACK):
                self._group(line, number, raw_line)
            else:
                self._ignored[kind] += 1
        if self.kind == CHAT and (file := self._source.companion(f"{FEEDBACK}.jsonl")) is not None:
            for number, line in json_stream.lines(file, self._note.about(file.label)):
                if line.__class__ is dict:
                    self._group({**line, "eventName": FEEDBACK}, number, None)

    def _group(self, line: Bag, number: int, raw_line: bytes | None) -> None:
        session_id = nonempty_str(line.get("sessionId"))
        if session_id is None:
            self._note(Kind.MISSING_ID, number, "an answer without a session id")
        if not self._is_in_file(session_id):
            self._grouped.add(session_id or "", None, line, raw_line)

    def _is_in_file(self, session_id: str | None) -> bool:
        """Whether the session has a file, which is more detailed."""
        if session_id is None:
            return False
        if self._known is not None:
            return session_id in self._known
        if session_id not in self._has_file:
            file = self._source.companion(*self._up, SESSIONS, f"{session_id}.json")
            self._has_file[session_id] = file is not None
        return self._has_file[session_id]

    def sessions(self) -> Iterator[Conversation]:
        """Yield the conversations of the regrouped lines."""
        for session_id, lines in self._grouped.groups():
            yield _Dialogue(session_id, self._models, self._note).conversation(lines)

    def note_ignored(self) -> None:
        """Note the events that do not belong to a conversation."""
        for kind, count in self._ignored.items():
            self._note(Kind.IGNORED_FILE, "", f"{count:,} × {kind}, not part of a conversation")


def _lines(source: Input, note: Notes) -> Iterator[tuple[int, Any, bytes | None]]:
    """Yield number and value of each line, and its bytes if a fast decoder accepts them."""
    raw_line: bytes | None
    for number, line, is_complete in json_stream.raw_lines(source, note):
        try:
            value, raw_line = json_stream.ANY.one(line), line
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            kind = Kind.BAD_RECORD if is_complete else Kind.TORN_TAIL
            value, raw_line = json_stream.decode(line, note, number, kind), None
        if value is not json_stream.BAD:
            yield number, value, raw_line


def _parent_name(source: Input) -> str:
    steps = source.label.replace("\\", "/").split("/")
    return steps[-2] if len(steps) > 1 else ""


def _event_kind(line: Any) -> str | None:
    """Return the event kind of a line: stated, or until schema 0.2.0 implied by its fields."""
    if line.__class__ is not dict:
        return None
    name = line.get("eventName")
    if name is not None:
        return name if name.__class__ is str and name in EVENTS else None
    for kind, key in ((FEEDBACK, "sessionId"), ("autocomplete", "completionId"), ("quickEdit", "label")):
        if key in line:
            return kind
    return "tokensGenerated" if "generatedTokens" in line else None


class _Dialogue:
    """Converts the lines of one session to messages, without repetitions."""

    def __init__(self, session_id: str, models: Models, note: Notes) -> None:
        self._session_id = session_id
        self._models = models
        self._note = note
        self._timeline: list[Message | Event] = []
        self._ids: dict[tuple[str | None, str, str], str] = {}
        self._prompt_parser = chat_templates.TemplateParser()
        self._last_path: list[tuple[Turn, str]] = []
        self._requests: list[Request] = []
        self._tools: dict[str, int] = {}
        self._feedback: list[Feedback] = []
        self._agent: str | None = None

    def conversation(self, lines: list[Bag]) -> Conversation:
        """Make the conversation of all lines."""
        for index, line in enumerate(lines):
            self._add(Fields(line, self._note, f"{self._session_id} [{index}]"))
        all_times = [entry.at for entry in self._timeline if entry.at is not None]
        editor, app_version = parse_agent(self._agent)
        answers = [entry for entry in self._timeline if isinstance(entry, Message) and entry.model]
        made_id = not self._session_id
        return Conversation(
            id=ids.made(SOURCE, [entry.id for entry in self._timeline]) if made_id else self._session_id,
            made_id=made_id,
            source=SOURCE,
            started_at=min(all_times, key=_epoch_ms, default=None),
            updated_at=max(all_times, key=_epoch_ms, default=None),
            app_version=app_version,
            editor=editor,
            model=answers[0].model if answers else None,
            head_id=answers[-1].id if answers else None,
            timeline=self._timeline,
            feedback=self._feedback,
            tools=[Tool(name=name) for name in self._tools],
            requests=self._requests,
            extra={} if self._agent is None else {"userAgent": self._agent},
        )

    def _add(self, line: Fields) -> None:
        event = line.view("eventName")
        if nonempty_str(line.view("sessionId")) == self._session_id:
            line.drop("sessionId")
        prompt, completion = line.view("prompt"), line.view("completion")
        at = line.timestamp("timestamp")
        self._agent = self._agent or nonempty_str(line.view("userAgent"))
        if prompt.__class__ is not str or completion.__class__ is not str:
            self._add_event(line, at)
            return
        line.drop("prompt", "completion")
        title = nonempty_str(line.view("modelTitle")) or nonempty_str(line.view("modelName"))
        model = self._models.id_of(title)
        system_ids, last_id, template = self._add_prompt(prompt)
        answer_id = self._add_answer(last_id, completion, at, model)
        request = Request(index=len(self._requests), at=at, model=model, system=system_ids, prompt_id=last_id)
        if template is not None:
            line.keep("template", template)
        if event == FEEDBACK or "feedback" in line.rest():
            self._feedback.append(_feedback(line, at, answer_id))
        else:
            self._requests.append(self._finish_request(request, answer_id, line))

    def _add_event(self, line: Fields, at: str | None) -> None:
        """Add a line without texts: some tools do not log them."""
        name = nonempty_str(line.view("eventName")) or "event"
        event_id = ids.made(SOURCE, self._session_id, len(self._timeline), line.rest())
        self._timeline.append(Event(id=event_id, made_id=True, name=name, at=at, data=line.rest()))

    def _add_prompt(self, prompt: str) -> tuple[list[str], str | None, str | None]:
        """Add the messages of a prompt; return the ids of system messages, the last id, and the template."""
        parsed = self._prompt_parser.parse_dialogue(prompt)
        turns = parsed.turns if parsed is not None else [chat_templates.Turn("user", "", prompt)]
        system_ids: list[str] = []
        last_id: str | None = None
        path: list[tuple[Turn, str]] = []
        known = iter(self._last_path)
        is_known = True
        for turn in turns:
            known_turn, message_id = next(known, _NO_TURN) if is_known else _NO_TURN
            is_system = turn.role == "system" and last_id is None
            if known_turn is not turn:
                is_known, message_id = False, self._add_turn(None if is_system else last_id, turn)
            path.append((turn, message_id))
            if is_system:
                system_ids.append(message_id)
            else:
                last_id = message_id
        self._last_path = path
        return system_ids, last_id, None if parsed is None else parsed.template

    def _add_turn(self, parent_id: str | None, turn: Turn) -> str:
        """Return the id of the message of a turn; add the message if it is new."""
        key = parent_id, turn.role, turn.text
        if key not in self._ids:
            self._ids[key] = message_id = ids.made(SOURCE, self._session_id, *key)
            extra = {"role": turn.word} if turn.word and turn.word != turn.role else {}
            parts: list[Part] = [Text(text=turn.text)]
            self._timeline.append(
                Message(
                    id=message_id,
                    made_id=True,
                    role=turn.role,
                    parent_id=parent_id,
                    parts=parts,
                    extra=extra,
                )
            )
        return self._ids[key]

    def _add_answer(self, prompt_id: str | None, completion: str, at: str | None, model: str | None) -> str:
        text = join_completion(completion)
        key = prompt_id, "assistant", text.strip()
        if key in self._ids:
            return self._ids[key]
        self._ids[key] = answer_id = ids.made(SOURCE, self._session_id, *key)
        self._timeline.append(
            Message(
                id=answer_id,
                made_id=True,
                role="assistant",
                parent_id=prompt_id,
                at=at,
                model=model,
                parts=[Text(text=text)] if text else [],
                native=None if text == completion else completion,
            )
        )
        return answer_id

    def _finish_request(self, request: Request, answer_id: str, line: Fields) -> Request:
        """Add the answer, the offered tools and the remaining fields to a request."""
        names = line.view("tools")
        offered: list[int] = []
        if names.__class__ is list and all(name.__class__ is str for name in names):
            line.drop("tools")
            offered = [self._tools.setdefault(name, len(self._tools)) for name in names]
        return replace(request, response_ids=[answer_id], tools=offered, extra=line.rest())


def join_completion(completion: str) -> str:
    """Join the pieces of an answer: a log shows each streamed piece as a separate message."""
    if not completion.startswith(_OPENING):
        return completion
    pieces = completion.removeprefix(_OPENING).removesuffix("\n\n").split(_BETWEEN)
    return "".join(pieces)


def _feedback(line: Fields, at: str | None, answer_id: str) -> Feedback:
    is_positive = line.view("feedback")
    if is_positive.__class__ is bool:
        line.drop("feedback")
    rating: Any = ("up" if is_positive else "down") if is_positive.__class__ is bool else None
    return Feedback(rating=rating, at=at, message_id=answer_id, extra=line.rest())


def _edit(line: Fields, kind: str, models: Models) -> Conversation:
    """Convert an edit in the editor: the prompt, the answer and the changes."""
    edit_id = ids.made(SOURCE, kind, line.rest())
    at = line.timestamp("timestamp")
    model = models.id_of(nonempty_str(line.view("modelTitle")) or nonempty_str(line.view("model")))
    editor, app_version = parse_agent(nonempty_str(line.view("userAgent")))
    timeline: list[Message | Event] = []
    prompt, completion, changes = line.text("prompt"), line.text("completion"), line.take("diffs")
    if prompt:
        parsed = chat_templates.parse_dialogue(prompt)
        turns = parsed.turns if parsed is not None else [chat_templates.Turn("user", "", prompt)]
        timeline += [
            Message(
                id=ids.made(SOURCE, edit_id, index),
                made_id=True,
                role=turn.role,
                parts=[Text(text=turn.text)],
            )
            for index, turn in enumerate(turns)
        ]
    parts: list[Part] = [Text(text=join_completion(completion))] if completion else []
    if changes is not None:
        parts.append(Other(data=changes, name="diffs"))
    if parts:
        answer_id = ids.made(SOURCE, edit_id, "answer")
        timeline.append(
            Message(
                id=answer_id,
                made_id=True,
                role="assistant",
                at=at,
                model=model,
                parts=parts,
                native=completion,
            )
        )
    return Conversation(
        id=edit_id,
        made_id=True,
        source=SOURCE,
        started_at=at,
        app_version=app_version,
        editor=editor,
        model=model,
        shape="list",
        timeline=timeline,
        extra=line.rest(),
    )


def _epoch_ms(at: str) -> int:
    return timestamps.epoch_ms(at) or 0
