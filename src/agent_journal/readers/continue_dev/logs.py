"""Logs that stand for themselves: the answers of sessions whose files are gone, and edits.

Each line of a chat repeats, as one text, all that was said before. Told once, the lines of a session are a
tree: where the person asked something else in the same place, it forks.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, words
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
from agent_journal.readers.continue_dev.companions import Beside
from agent_journal.readers.continue_dev.names import (
    ALONE,
    CHAT,
    EVENTS,
    FEEDBACK,
    LOG_FOLDERS,
    SESSIONS,
    SOURCE,
)
from agent_journal.readers.continue_dev.session import agent_of
from agent_journal.readers.dialects import chat_templates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Item, Part
    from agent_journal.notes import Notes
    from agent_journal.readers.continue_dev.config import Models
    from agent_journal.readers.dialects.chat_templates import Turn

_OPENING, _BETWEEN = "<assistant>\n", "\n\n<assistant>\n"
_NO_TURN = (None, "")
_FOLDERS = frozenset(folder[0] for folder in LOG_FOLDERS if folder)


def read_log(source: Source, note: Notes, known: set[str] | None = None) -> Iterator[Item]:
    """The conversations that only a log tells: not those in `known`, or with a file of their own."""
    log = _Log(source, note, known)
    if log.kind == FEEDBACK and source.companion(f"{CHAT}.jsonl") is not None:
        note(Kind.IGNORED_FILE, "", "what was thought of answers is told with them")
        return
    yield from log.edits()
    yield from log.sessions()
    log.note_ignored()


class _Log:
    """One log: its lines of sessions are regrouped, those that are whole by themselves told at once."""

    def __init__(self, source: Source, note: Notes, known: set[str] | None) -> None:
        self._source = source
        self._note = note
        self._known = known
        self._up = ("..", "..") if _folder_of(source) in _FOLDERS else ("..",)
        self._models = Beside(source, self._up, note).models
        self._grouped = Grouped(is_owner=True)
        self._elsewhere: dict[str, bool] = {}
        self._ignored: Counter[str] = Counter()
        name = source.name.partition(".")[0]
        self.kind = name if name in EVENTS else None

    def edits(self) -> Iterator[Conversation]:
        """Take all lines; each edit is a small conversation."""
        for number, line, written in _lines(self._source, self._note):
            kind = _kind_of(line)
            if line.__class__ is not dict or kind is None:
                self._note(Kind.UNKNOWN_TYPE, number, "a line that is no event")
                self._grouped.add("", number, {"value": line})
            elif kind in ALONE:
                yield _edit(Fields(line, self._note, number), kind, self._models)
            elif kind in (CHAT, FEEDBACK):
                self._group(line, number, written)
            else:
                self._ignored[kind] += 1
        if self.kind == CHAT and (file := self._source.companion(f"{FEEDBACK}.jsonl")) is not None:
            for number, line in json_stream.lines(file, self._note.about(file.label)):
                if line.__class__ is dict:
                    self._group({**line, "eventName": FEEDBACK}, number, None)

    def _group(self, line: Bag, number: int, written: bytes | None) -> None:
        session_id = words(line.get("sessionId"))
        if session_id is None:
            self._note(Kind.MISSING_ID, number, "an answer of no session")
        if not self._is_told(session_id):
            self._grouped.add(session_id or "", None, line, written)

    def _is_told(self, session_id: str | None) -> bool:
        """Whether the session has a file, in which the answers are told better."""
        if session_id is None:
            return False
        if self._known is not None:
            return session_id in self._known
        if session_id not in self._elsewhere:
            file = self._source.companion(*self._up, SESSIONS, f"{session_id}.json")
            self._elsewhere[session_id] = file is not None
        return self._elsewhere[session_id]

    def sessions(self) -> Iterator[Conversation]:
        """The conversations that the lines of chats make."""
        for session_id, lines in self._grouped.groups():
            yield _Dialogue(session_id, self._models, self._note).conversation(lines)

    def note_ignored(self) -> None:
        """Name the events that are no part of a conversation."""
        for kind, count in self._ignored.items():
            self._note(Kind.IGNORED_FILE, "", f"{count:,} × {kind}, no conversation by themselves")


def _lines(source: Source, note: Notes) -> Iterator[tuple[int, Any, bytes | None]]:
    """Number and value of each line, and its bytes if they need no care to be decoded again."""
    written: bytes | None
    for number, line, is_whole in json_stream.raw_lines(source, note):
        try:
            value, written = json_stream.ANY.one(line), line
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            kind = Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL
            value, written = json_stream.decode(line, note, number, kind), None
        if value is not json_stream.BAD:
            yield number, value, written


def _folder_of(source: Source) -> str:
    steps = source.label.replace("\\", "/").split("/")
    return steps[-2] if len(steps) > 1 else ""


def _kind_of(line: Any) -> str | None:
    """What a line is: it says so, or until schema 0.2.0 its fields do."""
    if line.__class__ is not dict:
        return None
    name = line.get("eventName")
    if name is not None:
        return name if name.__class__ is str and name in EVENTS else None
    for kind, sign in ((FEEDBACK, "sessionId"), ("autocomplete", "completionId"), ("quickEdit", "label")):
        if sign in line:
            return kind
    return "tokensGenerated" if "generatedTokens" in line else None


class _Dialogue:
    """The messages that the lines of one session tell, each once."""

    def __init__(self, session_id: str, models: Models, note: Notes) -> None:
        self._session_id = session_id
        self._models = models
        self._note = note
        self._timeline: list[Message | Event] = []
        self._ids: dict[tuple[str | None, str, str], str] = {}
        self._prompts = chat_templates.Growing()
        self._last_path: list[tuple[Turn, str]] = []
        self._requests: list[Request] = []
        self._tools: dict[str, int] = {}
        self._feedback: list[Feedback] = []
        self._agent: str | None = None

    def conversation(self, lines: list[Bag]) -> Conversation:
        """What all lines together are."""
        for place, line in enumerate(lines):
            self._add(Fields(line, self._note, f"{self._session_id} [{place}]"))
        known = [entry.at for entry in self._timeline if entry.at is not None]
        editor, app_version = agent_of(self._agent)
        answers = [entry for entry in self._timeline if isinstance(entry, Message) and entry.model]
        made = not self._session_id
        return Conversation(
            id=ids.made(SOURCE, [entry.id for entry in self._timeline]) if made else self._session_id,
            made_id=made,
            source=SOURCE,
            started_at=min(known, key=_moment, default=None),
            updated_at=max(known, key=_moment, default=None),
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
        event = line.look("eventName")
        if words(line.look("sessionId")) == self._session_id:
            line.drop("sessionId")
        prompt, completion = line.look("prompt"), line.look("completion")
        at = line.moment("timestamp")
        self._agent = self._agent or words(line.look("userAgent"))
        if prompt.__class__ is not str or completion.__class__ is not str:
            self._event(line, at)
            return
        line.drop("prompt", "completion")
        title = words(line.look("modelTitle")) or words(line.look("modelName"))
        model = self._models.id_of(title)
        system, last, template = self._asked(prompt)
        answer = self._answered(last, completion, at, model)
        request = Request(index=len(self._requests), at=at, model=model, system=system, prompt_id=last)
        if template is not None:
            line.keep("template", template)
        if event == FEEDBACK or "feedback" in line.rest():
            self._feedback.append(_opinion(line, at, answer))
        else:
            self._requests.append(self._with_offered(request, answer, line))

    def _event(self, line: Fields, at: str | None) -> None:
        """A line without the text: some keep none."""
        name = words(line.look("eventName")) or "event"
        made = ids.made(SOURCE, self._session_id, len(self._timeline), line.rest())
        self._timeline.append(Event(id=made, made_id=True, name=name, at=at, data=line.rest()))

    def _asked(self, prompt: str) -> tuple[list[str], str | None, str | None]:
        """The messages of a prompt: those of the system, the last one, and the template they were in."""
        found = self._prompts.parsed(prompt)
        turns = found.turns if found is not None else [chat_templates.Turn("user", "", prompt)]
        system: list[str] = []
        last: str | None = None
        path: list[tuple[Turn, str]] = []
        known = iter(self._last_path)
        is_known = True
        for turn in turns:
            before, message = next(known, _NO_TURN) if is_known else _NO_TURN
            is_system = turn.role == "system" and last is None
            if before is not turn:
                is_known, message = False, self._message(None if is_system else last, turn)
            path.append((turn, message))
            if is_system:
                system.append(message)
            else:
                last = message
        self._last_path = path
        return system, last, None if found is None else found.template

    def _message(self, parent: str | None, turn: Turn) -> str:
        """The id of the message that a turn is; it is made where it was not told before."""
        key = parent, turn.role, turn.text
        if key not in self._ids:
            self._ids[key] = made = ids.made(SOURCE, self._session_id, *key)
            extra = {"role": turn.word} if turn.word and turn.word != turn.role else {}
            parts: list[Part] = [Text(text=turn.text)]
            self._timeline.append(
                Message(id=made, made_id=True, role=turn.role, parent_id=parent, parts=parts, extra=extra)
            )
        return self._ids[key]

    def _answered(self, asked: str | None, completion: str, at: str | None, model: str | None) -> str:
        text = joined(completion)
        key = asked, "assistant", text.strip()
        if key in self._ids:
            return self._ids[key]
        self._ids[key] = made = ids.made(SOURCE, self._session_id, *key)
        self._timeline.append(
            Message(
                id=made,
                made_id=True,
                role="assistant",
                parent_id=asked,
                at=at,
                model=model,
                parts=[Text(text=text)] if text else [],
                native=None if text == completion else completion,
            )
        )
        return made

    def _with_offered(self, request: Request, answer: str, line: Fields) -> Request:
        """The request with its answer, the tools that were offered, and all else that the line says."""
        names = line.look("tools")
        offered: list[int] = []
        if names.__class__ is list and all(name.__class__ is str for name in names):
            line.drop("tools")
            offered = [self._tools.setdefault(name, len(self._tools)) for name in names]
        return replace(request, response_ids=[answer], tools=offered, extra=line.rest())


def joined(completion: str) -> str:
    """An answer as it was said: a log shows each piece that came as a message of its own."""
    if not completion.startswith(_OPENING):
        return completion
    pieces = completion.removeprefix(_OPENING).removesuffix("\n\n").split(_BETWEEN)
    return "".join(pieces)


def _opinion(line: Fields, at: str | None, answer: str) -> Feedback:
    liked = line.look("feedback")
    if liked.__class__ is bool:
        line.drop("feedback")
    rating: Any = ("up" if liked else "down") if liked.__class__ is bool else None
    return Feedback(rating=rating, at=at, message_id=answer, extra=line.rest())


def _edit(line: Fields, kind: str, models: Models) -> Conversation:
    """A change that was asked for in the editor: the prompt, and what came."""
    made = ids.made(SOURCE, kind, line.rest())
    at = line.moment("timestamp")
    model = models.id_of(words(line.look("modelTitle")) or words(line.look("model")))
    editor, app_version = agent_of(words(line.look("userAgent")))
    timeline: list[Message | Event] = []
    prompt, completion, changes = line.text("prompt"), line.text("completion"), line.take("diffs")
    if prompt:
        found = chat_templates.parsed(prompt)
        turns = found.turns if found is not None else [chat_templates.Turn("user", "", prompt)]
        timeline += [
            Message(
                id=ids.made(SOURCE, made, place), made_id=True, role=turn.role, parts=[Text(text=turn.text)]
            )
            for place, turn in enumerate(turns)
        ]
    parts: list[Part] = [Text(text=joined(completion))] if completion else []
    if changes is not None:
        parts.append(Other(data=changes, name="diffs"))
    if parts:
        answer = ids.made(SOURCE, made, "answer")
        timeline.append(
            Message(
                id=answer, made_id=True, role="assistant", at=at, model=model, parts=parts, native=completion
            )
        )
    return Conversation(
        id=made,
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


def _moment(at: str) -> int:
    return timestamps.epoch_ms(at) or 0
