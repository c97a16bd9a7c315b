"""The lines of a file as a conversation, with what the settings of its folder state."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.errors import BadConfig, UnreadableSource
from agent_journal.model import (
    Conversation,
    Event,
    Link,
    Media,
    Message,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    roles,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers.dialects.injected_text import Tags
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of
from agent_journal.readers.gptme.answers import split_answer

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Part

_MAIN, _BRANCHES = "conversation.jsonl", "branches"
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-")
_TAGS = Tags(("system",))
_COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    lines = [*json_stream.lines(source, note)]
    if not any(line.__class__ is dict for _, line in lines):
        raise UnreadableSource(source.label, "no line in it is a message")
    folder, branch = _place(source)
    own_id = None if folder is None else folder if branch is None else f"{folder}:{branch}"
    if own_id is None:
        note(Kind.MISSING_ID, "", "only the folder of a conversation states its id")
    session = own_id or ids.made(name, str(lines[0][1]))
    log = _Log(session, folder or session, note)
    for index, (number, line) in enumerate(lines):
        following = lines[index + 1][1] if index + 1 < len(lines) else None
        log.add(line, number, has_results=_is_system(following))
    settings = _settings(source, note, branch is not None)
    entries = log.entries
    first, last = tree.span(entries)
    title = nonempty_str(settings.get("name"))
    return Conversation(
        id=session,
        made_id=own_id is None,
        source=name,
        title=title or (None if folder is None else _DATED.sub("", folder, count=1).replace("-", " ")),
        started_at=first,
        updated_at=last,
        model=first_model(entries) or nonempty_str(settings.get("model")),
        cwd=nonempty_str(settings.get("workspace")),
        shape="list",
        link=None if branch is None or folder is None else Link(conversation_id=folder, relation="fork"),
        timeline=entries,
        extra={"chat": settings} if settings else {},
    )


def _place(source: Input) -> tuple[str | None, str | None]:
    """Return the folder of a conversation, and the name of the branch that a file is."""
    steps = steps_of(source.label)
    if source.name == _MAIN and len(steps) > 1:
        return steps[-2], None
    if len(steps) > 2 and steps[-2] == _BRANCHES:  # noqa: PLR2004 (folder, branches, file)
        return steps[-3], source.name.removesuffix(".jsonl")
    return None, None


def _is_system(line: Any) -> bool:
    return line.__class__ is dict and line.get("role") == "system"


def _settings(source: Input, note: Notes, in_branch: bool) -> dict[str, Any]:  # noqa: FBT001
    """Return the table `chat` of the settings."""
    from agent_journal.decoding import toml_text  # noqa: PLC0415 (few sources need it)

    file = source.companion(*([".."] if in_branch else []), "config.toml")
    if file is None:
        return {}
    about = note.about(file.label)
    try:
        with file.open() as stream:
            value = toml_text.load(stream.read().decode("utf-8", "replace"), file.label)
    except (UnreadableSource, BadConfig) as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
        return {}
    return next(objects([value.get("chat")]), {})


class _Log:
    """Collects the messages; results of tools are messages of the system."""

    def __init__(self, session: str, folder: str, note: Notes) -> None:
        self._note = note
        # A branch is a copy with the same times; its answers count once.
        self._folder = folder
        self._log = SessionLog(session, note, lambda _: True)
        self._pending: deque[str] = deque()

    @property
    def entries(self) -> list[Message | Event]:
        return self._log.entries

    def add(self, line: Any, number: int, *, has_results: bool) -> None:
        if line.__class__ is not dict:
            self._log.add_value(line, number)
            return
        fields = Fields(line, self._note, number)
        label = fields.view("role")
        role = roles.role(label)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, number, f"role {str(label)[:40]!r}")
        elif role == label:
            fields.drop("role")
        stated_at = fields.view("timestamp")
        text, at, call_id = fields.text("content"), fields.timestamp("timestamp"), fields.view("call_id")
        metadata = fields.view("metadata")
        values: dict[str, Any] = metadata if metadata.__class__ is dict else {}
        parts: list[Part] = [] if text is None else [Text(text=text)]
        is_answer = role == "assistant"
        if is_answer and text is not None:
            parts = split_answer(text, str(number), has_results=has_results)
            self._pending = deque(each.call_id or "" for each in parts if isinstance(each, ToolCall))
        elif role == "system" and (call_id is not None or self._pending):
            role, parts = "tool", [self._result(fields, text or "")]
        elif role == "user":
            self._pending.clear()
        parts += [Media(kind="file", ref=str(file)) for file in fields.items("files") or ()]
        is_injected = role == "user" and text is not None and _TAGS.is_all(text)
        self._log.add(
            Message(
                id="",
                role=role or "user",
                at=at,
                model=_model(values) if is_answer else None,
                hidden=is_injected or fields.view("hide") is True,
                parts=parts,
                usage=_usage(values, f"{self._folder}:{stated_at}") if is_answer else None,
                extra=fields.rest(),
            ),
            number,
        )

    def _result(self, fields: Fields, text: str) -> Part:
        stated = nonempty_str(fields.take("call_id"))
        if stated is not None and stated in self._pending:
            self._pending.remove(stated)
        elif stated is None:
            stated = self._pending.popleft()
        return ToolResult(call_id=stated, output=text)


def _model(metadata: dict[str, Any]) -> str | None:
    names = (nonempty_str(metadata.get(name)) for name in ("resolved_model", "model"))
    return next(filter(None, names), None)


def _usage(metadata: dict[str, Any], key: str) -> Usage | None:
    """Convert the tokens of an answer, which earlier versions wrote one level higher."""
    stated = metadata.get("usage")
    raw: dict[str, Any] = stated if stated.__class__ is dict else metadata
    counts = [counted(raw.get(name)) for name in _COUNTS]
    cost = metadata.get("cost")
    if counts[0] is None and counts[1] is None:
        return None
    return Usage(
        key=key,
        input=counts[0],
        output=counts[1],
        cache_read=counts[2],
        cache_write=counts[3],
        reasoning=counted(raw.get("reasoning_tokens")),
        cost_usd=float(cost) if cost.__class__ in (int, float) and cost >= 0 else None,
    )
