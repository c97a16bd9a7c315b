"""Turns one line of a session file into a message or an event."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.decoding.spill import ValueSpill
from agent_journal.model import Event, Message, Role, Usage, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.claude_code import attachments, prompt_text
from agent_journal.readers.claude_code.companions import response_key
from agent_journal.readers.claude_code.names import KNOWN_TYPES, METADATA_TYPES, OPAQUE_TYPES, TOOL_KINDS
from agent_journal.readers.dialects import anthropic_blocks as blocks

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.claude_code.companions import Companions
    from agent_journal.readers.claude_code.fastpath import CommonLine

Entry: TypeAlias = Message | Event

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
# Markers after a compaction; their text says nothing more.
_BOUNDARY_SUBTYPES = ("compact_boundary", "microcompact_boundary")
# Every line repeats these fields.
_COMMON_FIELDS = ("cwd", "version", "gitBranch", "sessionId")
# The app names this model in messages of its own, such as errors; they use no tokens.
_SYNTHETIC_MODEL = "<synthetic>"
_CONTENT_FIELD = "message.content"
# Git writes HEAD when no branch is checked out; outside a repository, the app writes an empty name.
_NOT_BRANCHES = ("HEAD", "")
# The app sends these to the model when a background task has ended.
_APP_ORIGINS = ("task-notification", "auto-continuation")
# A person typed the prompts of these sources, whatever tags they quote.
_TYPED_SOURCES = ("typed", "user")
# Spilling the values of shorter lines saves too little memory.
_MIN_SPILLED_LINE_BYTES = 4_096
# Versions 2.1.3x repeat the first count of a response, one to eight output tokens, on all its lines.
_MAX_FIRST_TOKENS = 8


class Lines:
    """Turns lines into entries.

    `common` has the fields that all lines repeat; a line keeps only the values that differ from them.
    """

    def __init__(self, session: str | None, companions: Companions, note: Notes) -> None:
        self.common: dict[str, str | None] = dict.fromkeys(_COMMON_FIELDS)
        self.common["sessionId"] = session
        self._last_common: list[str | None] = []
        self.undercounted: set[str | None] = set()
        self._companions = companions
        self._note = note
        self._last_usage: Usage | None = None
        self._last_id: str | None = None
        self._spill = ValueSpill()
        self._without_id: Counter[str] = Counter()
        self._unknown_types: set[str | None] = set()
        # Ids of compaction summaries, and of the files that the app attached after them.
        self._compacted: set[str] = set()

    def entry(self, record: Any, location: int | str, line: bytes) -> Entry:
        """Turn a decoded line into an entry; `line` is its bytes, from which a missing id is made."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, location, f"the line is {type(record).__name__}, not an object")
            return Event(id=self._make_id(line), made_id=True, name="unknown", data={"value": record})
        fields = Fields(record, self._note, location)
        self._move_common_fields(fields)
        kind = fields.view("type")
        body = None if _is_metadata(fields, kind) else fields.bag("message")
        if body is not None:
            message = self._message(fields, Fields(body, self._note, location), line)
            if message is not None:
                return message
            fields.keep("message", body)
            kind = fields.view("type")
        if kind == "system" and fields.view("subtype") not in _BOUNDARY_SUBTYPES:
            if _is_text_or_blocks(fields.view("content")):
                fields.drop("type")
                return self._text_message(fields, "system", fields.take("content"), line)
        elif kind == "attachment" and fields.view("attachment").__class__ is dict:
            attached_message = self._queued_prompt(fields, line) or self._attached_files(fields, line)
            if attached_message is not None:
                return attached_message
        return self._event(fields, line)

    def fast_message(self, line: CommonLine, location: int | str) -> Message | None:
        """Turn a line of the common shape into a message; None if any of its values needs the slow path."""
        body, at = line.message, line.timestamp
        if (
            [line.cwd, line.version, line.git_branch, line.session_id] != self._last_common
            or line.type != body.role
            or not line.uuid
            or not timestamps.is_timestamp(at)
            or body.model == _SYNTHETIC_MODEL
            or body.content == ""
        ):
            return None
        extra = line.extra()
        # The parent is mostly the previous line. Sharing its id saves memory in sessions of a million lines.
        parent_id = self._last_id if line.parent_uuid == self._last_id else line.parent_uuid or None
        self._last_id = line.uuid
        if body.role == "user":
            return self._fast_prompt(line, at, parent_id, location, extra) if body.is_prompt() else None
        if left := body.extra():
            extra["message"] = left
        stop_reason = body.stop_reason if body.stop_reason.__class__ is str else None
        parts, native = blocks.parse_content(body.content, self._note, location, TOOL_KINDS)
        return Message(
            id=line.uuid,
            role="assistant",
            parent_id=parent_id,
            at=at,
            model=body.model,
            stop_reason=stop_reason,
            sidechain=line.is_sidechain is True,
            response_id=body.id,
            parts=parts,
            usage=self._usage_for(body.usage, None, body.id, extra.get("requestId"), stop_reason),
            native=native,
            extra=extra,
        )

    def _fast_prompt(
        self, line: CommonLine, at: str, parent_id: str | None, location: int | str, extra: dict[str, Any]
    ) -> Message:
        content = line.message.content
        parts, native = blocks.parse_content(content, self._note, location, TOOL_KINDS)
        if content.__class__ is list and self._companions.restore(parts, location):
            native = content
        separated, is_app_text = prompt_text.separate(parts, is_typed=False)
        if separated is not parts:
            parts, native = separated, content
        return Message(
            id=line.uuid,
            role="user",
            parent_id=parent_id,
            at=at,
            hidden=is_app_text,
            sidechain=line.is_sidechain is True,
            parts=parts,
            native=native,
            extra=extra,
        )

    def _move_common_fields(self, fields: Fields) -> None:
        values = fields.take_each(_COMMON_FIELDS)
        if values == self._last_common:
            return
        for name, value in zip(_COMMON_FIELDS, values, strict=True):
            known = self.common[name]
            if value != known and value is not None:
                if known is None and value.__class__ is str and value not in _NOT_BRANCHES:
                    self.common[name] = value
                else:
                    fields.keep(name, value)
        self._last_common = [*self.common.values()]

    def _message(self, fields: Fields, body: Fields, line: bytes) -> Message | None:
        """Make the message of a line if its role is known; the line's type counts if it states no role."""
        stated, kind = body.take("role"), fields.take("type")
        role = _ROLES.get(stated) if stated.__class__ is str else None
        if role is None:
            role = self._fallback_role(fields, body, stated, kind)
        if role != kind and kind is not None:
            fields.keep("type", kind)
        if role == "assistant":
            return self._assistant_message(fields, body, line)
        if role is None:
            return None
        content = body.take("content")
        if remaining := body.rest():
            fields.keep("message", remaining)
        return self._text_message(fields, role, content, line)

    def _fallback_role(self, fields: Fields, body: Fields, stated: Any, kind: Any) -> Role | None:
        if stated is not None:
            body.keep("role", stated)
            self._note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
        elif kind.__class__ is str and kind in _ROLES:
            self._note(Kind.MISSING_FIELD, fields.where, "message.role")
        return _ROLES.get(kind) if kind.__class__ is str else None

    def _assistant_message(self, fields: Fields, body: Fields, line: bytes) -> Message:
        """Make a model's message, which is often one block of a response that several lines share."""
        content, response_id, stop_reason = body.take("content"), body.text("id"), body.view("stop_reason")
        if stop_reason.__class__ is not str:
            stop_reason = None
        if body.view("type") == "message":
            body.take("type")
        model = usage = None
        if body.view("model") != _SYNTHETIC_MODEL:
            model, usage = body.text("model"), self._usage(fields, body, response_id, stop_reason)
        if remaining := body.rest():
            fields.keep("message", remaining)
        uuid = fields.text("uuid")
        parts, native = blocks.parse_content(content, self._note, fields.where, TOOL_KINDS)
        if content == "":
            self._note(Kind.MISSING_FIELD, fields.where, _CONTENT_FIELD)
        return Message(
            id=uuid or self._make_id(line),
            made_id=not uuid,
            role="assistant",
            parent_id=fields.text("parentUuid") or _logical_parent(fields),
            at=fields.timestamp("timestamp"),
            model=model,
            stop_reason=stop_reason,
            hidden=_is_hidden(fields),
            sidechain=fields.view("isSidechain") is True,
            response_id=response_id,
            parts=parts,
            usage=usage,
            native=native,
            extra=fields.rest(),
        )

    def _usage(
        self, fields: Fields, body: Fields, response_id: str | None, stop_reason: str | None
    ) -> Usage | None:
        """Get a response's tokens: all its lines state them, the last one best; by key they count once."""
        cost, raw = fields.decimal("costUSD"), body.bag("usage")
        return self._usage_for(raw, cost, response_id, fields.view("requestId"), stop_reason)

    def _usage_for(
        self, raw: Any, cost: float | None, response_id: str | None, request: Any, stop_reason: str | None
    ) -> Usage | None:
        if raw is None and cost is None:
            return None
        key = response_key(response_id, request)
        usage = self._last_usage
        if usage is None or usage.key != key or usage.extra != raw or usage.cost_usd != cost:
            usage = blocks.parse_usage(raw or {}, key) or Usage(key=key)
            self._last_usage = usage = usage if cost is None else replace(usage, cost_usd=cost)
        if stop_reason is None and usage.output is not None and usage.output <= _MAX_FIRST_TOKENS:
            self.undercounted.add(key)
        elif self.undercounted:
            self.undercounted.discard(key)
        return usage

    def _text_message(self, fields: Fields, role: Role, content: Any, line: bytes) -> Message:
        """Make a message that no model wrote: a prompt, tool results, or a notice of the app."""
        parts, native = blocks.parse_content(content, self._note, fields.where, TOOL_KINDS)
        if content.__class__ is list and self._companions.restore(parts, fields.where):
            native = content
        if content == "":
            self._note(Kind.MISSING_FIELD, fields.where, _CONTENT_FIELD)
        hidden = _is_hidden(fields)
        if role == "user" and not hidden:
            separated, is_app_text = prompt_text.separate(parts, is_typed=_is_typed_by_person(fields))
            hidden = is_app_text or _is_written_by_app(fields)
            if separated is not parts and not hidden:
                parts, native = separated, content
        uuid = fields.text("uuid")
        if uuid and fields.view("isCompactSummary") is True:
            self._compacted.add(uuid)
        return Message(
            id=uuid or self._make_id(line),
            made_id=not uuid,
            role=role,
            parent_id=fields.text("parentUuid") or _logical_parent(fields),
            at=fields.timestamp("timestamp"),
            hidden=hidden,
            sidechain=fields.view("isSidechain") is True,
            parts=parts,
            native=native,
            extra=fields.rest(),
        )

    def _queued_prompt(self, fields: Fields, line: bytes) -> Message | None:
        """Make a message of a prompt queued while the model was working; None for other attachments."""
        attachment = Fields(fields.view("attachment"), self._note, fields.where)
        prompt = attachment.view("prompt")
        if attachment.view("type") != "queued_command" or not _is_text_or_blocks(prompt):
            return None
        message = self._text_message(fields, "user", prompt, line)
        is_app_text = (
            attachment.view("isMeta") is True or attachment.view("commandMode") == "task-notification"
        )
        return replace(message, hidden=True) if is_app_text else message

    def _attached_files(self, fields: Fields, line: bytes) -> Message | None:
        """Make a message of files attached to a prompt; the app attached those that follow a summary."""
        attachment = fields.nested("attachment")
        parts = [] if attachment is None else attachments.parts(attachment)
        if not parts:
            return None
        message = self._text_message(fields, "user", None, line)
        is_app_text = message.parent_id in self._compacted
        if is_app_text:
            self._compacted.add(message.id)
        return replace(message, hidden=is_app_text or message.hidden, parts=parts)

    def _event(self, fields: Fields, line: bytes) -> Event:
        name = fields.text("type")
        if name not in KNOWN_TYPES and name not in self._unknown_types:
            self._unknown_types.add(name)
            what = f"line type {name[:40]!r}" if name else "a line without a type"
            self._note(Kind.UNKNOWN_TYPE, fields.where, what)
        uuid = fields.text("uuid")
        return Event(
            id=uuid or self._make_id(line),
            made_id=not uuid,
            name=name or "unknown",
            parent_id=fields.text("parentUuid") or _logical_parent(fields),
            at=fields.timestamp("timestamp"),
            data=self._spilled(name, fields.rest(), line),
        )

    def _spilled(self, name: str | None, data: dict[str, Any], line: bytes) -> dict[str, Any]:
        """Return the data of an event, with its values in a file if it is large and only writers need it."""
        is_opaque = name in OPAQUE_TYPES or name not in KNOWN_TYPES
        if len(line) < _MIN_SPILLED_LINE_BYTES or not is_opaque:
            return data
        return {field: self._spill.put(value) for field, value in data.items()}

    def _make_id(self, line: bytes) -> str:
        """Make an id for a line that has none; identical lines of titles and modes are common."""
        digest = hashlib.sha256(line).hexdigest()
        self._without_id[digest] += 1
        return ids.made(self.common["sessionId"], digest, self._without_id[digest])


def _is_metadata(fields: Fields, kind: Any) -> bool:
    """Whether a line of this type only quotes a message; a line of the conversation itself has a uuid."""
    if kind.__class__ is not str or kind in _ROLES:
        return False
    return kind in METADATA_TYPES or not fields.has("uuid")


def _logical_parent(fields: Fields) -> str | None:
    """Get the parent of a line without `parentUuid`: the only link to what came before a compaction."""
    parent = fields.view("logicalParentUuid")
    return parent if parent.__class__ is str and parent else None


def _is_hidden(fields: Fields) -> bool:
    """Whether the app hides a message, or shows it only in the full transcript."""
    return (
        fields.view("isMeta") is True
        or fields.view("isCompactSummary") is True
        or fields.view("isVisibleInTranscriptOnly") is True
        or fields.view("isSynthetic") is True
    )


def _is_written_by_app(fields: Fields) -> bool:
    """Whether the app wrote a prompt; since 2.1.3xx `origin` and `promptSource` state its source."""
    if fields.view("promptSource") == "system":
        return True
    stated = fields.view("origin")
    if stated.__class__ is not dict:
        return False
    origin = Fields(stated, fields.note, fields.where)
    # What people scheduled or wrote elsewhere arrives as a notification with a `subkind`.
    return origin.view("kind") in _APP_ORIGINS and not origin.has("subkind")


def _is_typed_by_person(fields: Fields) -> bool:
    """Whether the app states that a person typed a prompt, so that tags in it are the person's own text."""
    origin = fields.view("origin")
    is_human = origin.__class__ is dict and origin.get("kind") == "human"
    return is_human or fields.view("promptSource") in _TYPED_SOURCES


def _is_text_or_blocks(content: Any) -> bool:
    return bool(content) and content.__class__ in (str, list)
