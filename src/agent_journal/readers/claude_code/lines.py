"""One line of a session file: a message if somebody said it, else an event."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Role, Usage, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.claude_code import attachments, prompt_text
from agent_journal.readers.claude_code.companions import response_key
from agent_journal.readers.claude_code.names import KNOWN_TYPES, METADATA_TYPES, TOOL_KINDS
from agent_journal.readers.dialects import anthropic_blocks as blocks

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.claude_code.companions import Beside
    from agent_journal.readers.claude_code.fastpath import UsualLine

Entry: TypeAlias = Message | Event

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
# Marks between what was compacted and what follows; their text says no more than that.
_BOUNDARIES = ("compact_boundary", "microcompact_boundary")
# What every line repeats.
_COMMON = ("cwd", "version", "gitBranch", "sessionId")
# The model that the app names where it speaks itself, of errors for instance; no tokens were spent.
_NO_MODEL = "<synthetic>"
_CONTENT = "message.content"
# Outside of a branch git says HEAD, outside of a repository the app says nothing.
_NO_BRANCH = ("HEAD", "")
# What the app tells the model when something ended that ran in the background.
_OWN_ORIGINS = ("task-notification", "auto-continuation")
# A prompt of these sources is what a person typed, whatever tags it quotes.
_TYPED_SOURCES = ("typed", "user")
# Versions 2.1.3x repeat the count of a response's first moment, one to eight tokens, on all its lines.
_FIRST_MOMENT = 8


class Lines:
    """Makes an entry of each line.

    What all lines repeat is said once, in `common`; a line that says something else keeps its own.
    """

    def __init__(self, session: str | None, beside: Beside, note: Notes) -> None:
        self.common: dict[str, str | None] = dict.fromkeys(_COMMON)
        self.common["sessionId"] = session
        self._known: list[str | None] = []
        self.undercounted: set[str | None] = set()
        self._beside = beside
        self._note = note
        self._last_usage: Usage | None = None
        self._without_id: Counter[str] = Counter()
        self._unknown_types: set[str | None] = set()
        # Summaries of compactions, and the files that the app put behind them.
        self._compacted: set[str] = set()

    def entry(self, record: Any, where: int | str, line: bytes) -> Entry:
        """The message or event that a line is; `line` is its bytes, of which a missing id is made."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, where, f"the line is {type(record).__name__}, not an object")
            return Event(id=self._made_id(line), made_id=True, name="unknown", data={"value": record})
        fields = Fields(record, self._note, where)
        self._say_once(fields)
        kind = fields.look("type")
        body = None if _is_metadata(fields, kind) else fields.bag("message")
        if body is not None:
            message = self._message(fields, Fields(body, self._note, where), line)
            if message is not None:
                return message
            fields.keep("message", body)
            kind = fields.look("type")
        if kind == "system" and fields.look("subtype") not in _BOUNDARIES:
            if _is_text_or_blocks(fields.look("content")):
                fields.drop("type")
                return self._said(fields, "system", fields.take("content"), line)
        elif kind == "attachment" and fields.look("attachment").__class__ is dict:
            given = self._queued(fields, line) or self._attached(fields, line)
            if given is not None:
                return given
        return self._event(fields, line)

    def usual(self, line: UsualLine, where: int | str) -> Message | None:
        """The message that a usual line is; None if it says anything that must be looked at closely."""
        body, at = line.message, line.timestamp
        if (
            [line.cwd, line.version, line.git_branch, line.session_id] != self._known
            or line.type != body.role
            or not line.uuid
            or not timestamps.is_moment(at)
            or body.model == _NO_MODEL
            or body.content == ""
        ):
            return None
        extra = line.left()
        if body.role == "user":
            return self._usual_prompt(line, at, where, extra) if body.is_prompt() else None
        if left := body.left():
            extra["message"] = left
        stop_reason = body.stop_reason if body.stop_reason.__class__ is str else None
        parts, native = blocks.parts_and_native(body.content, self._note, where, TOOL_KINDS)
        return Message(
            id=line.uuid,
            role="assistant",
            parent_id=line.parent_uuid or None,
            at=at,
            model=body.model,
            stop_reason=stop_reason,
            sidechain=line.is_sidechain is True,
            response_id=body.id,
            parts=parts,
            usage=self._counted(body.usage, None, body.id, extra.get("requestId"), stop_reason),
            native=native,
            extra=extra,
        )

    def _usual_prompt(self, line: UsualLine, at: str, where: int | str, extra: dict[str, Any]) -> Message:
        content = line.message.content
        parts, native = blocks.parts_and_native(content, self._note, where, TOOL_KINDS)
        if content.__class__ is list and self._beside.restore(parts, where):
            native = content
        separated, is_the_apps = prompt_text.separate(parts, is_typed=False)
        if separated is not parts:
            parts, native = separated, content
        return Message(
            id=line.uuid,
            role="user",
            parent_id=line.parent_uuid or None,
            at=at,
            hidden=is_the_apps,
            sidechain=line.is_sidechain is True,
            parts=parts,
            native=native,
            extra=extra,
        )

    def _say_once(self, fields: Fields) -> None:
        values = fields.take_each(_COMMON)
        if values == self._known:
            return
        for name, value in zip(_COMMON, values, strict=True):
            known = self.common[name]
            if value != known and value is not None:
                if known is None and value.__class__ is str and value not in _NO_BRANCH:
                    self.common[name] = value
                else:
                    fields.keep(name, value)
        self._known = [*self.common.values()]

    def _message(self, fields: Fields, body: Fields, line: bytes) -> Message | None:
        """The message a line holds, if its role is known; the line's type counts where it states none."""
        stated, kind = body.take("role"), fields.take("type")
        role = _ROLES.get(stated) if stated.__class__ is str else None
        if role is None:
            role = self._guessed_role(fields, body, stated, kind)
        if role != kind and kind is not None:
            fields.keep("type", kind)
        if role == "assistant":
            return self._answer(fields, body, line)
        if role is None:
            return None
        content = body.take("content")
        if left := body.rest():
            fields.keep("message", left)
        return self._said(fields, role, content, line)

    def _guessed_role(self, fields: Fields, body: Fields, stated: Any, kind: Any) -> Role | None:
        if stated is not None:
            body.keep("role", stated)
            self._note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
        elif kind.__class__ is str and kind in _ROLES:
            self._note(Kind.MISSING_FIELD, fields.where, "message.role")
        return _ROLES.get(kind) if kind.__class__ is str else None

    def _answer(self, fields: Fields, body: Fields, line: bytes) -> Message:
        """What a model said, thought or asked for: often one block of a response that several lines share."""
        content, response_id, stop_reason = body.take("content"), body.text("id"), body.look("stop_reason")
        if stop_reason.__class__ is not str:
            stop_reason = None
        if body.look("type") == "message":
            body.take("type")
        model = usage = None
        if body.look("model") != _NO_MODEL:
            model, usage = body.text("model"), self._usage(fields, body, response_id, stop_reason)
        if left := body.rest():
            fields.keep("message", left)
        uuid = fields.text("uuid")
        parts, native = blocks.parts_and_native(content, self._note, fields.where, TOOL_KINDS)
        if content == "":
            self._note(Kind.MISSING_FIELD, fields.where, _CONTENT)
        return Message(
            id=uuid or self._made_id(line),
            made_id=not uuid,
            role="assistant",
            parent_id=fields.text("parentUuid") or _logical_parent(fields),
            at=fields.moment("timestamp"),
            model=model,
            stop_reason=stop_reason,
            hidden=_is_hidden(fields),
            sidechain=fields.look("isSidechain") is True,
            response_id=response_id,
            parts=parts,
            usage=usage,
            native=native,
            extra=fields.rest(),
        )

    def _usage(
        self, fields: Fields, body: Fields, response_id: str | None, stop_reason: str | None
    ) -> Usage | None:
        """The tokens of a response: all its lines state them, the last one best; by key they count once."""
        cost, raw = fields.decimal("costUSD"), body.bag("usage")
        return self._counted(raw, cost, response_id, fields.look("requestId"), stop_reason)

    def _counted(
        self, raw: Any, cost: float | None, response_id: str | None, request: Any, stop_reason: str | None
    ) -> Usage | None:
        if raw is None and cost is None:
            return None
        key = response_key(response_id, request)
        usage = self._last_usage
        if usage is None or usage.key != key or usage.extra != raw or usage.cost_usd != cost:
            usage = blocks.usage(raw or {}, key) or Usage(key=key)
            self._last_usage = usage = usage if cost is None else replace(usage, cost_usd=cost)
        if stop_reason is None and usage.output is not None and usage.output <= _FIRST_MOMENT:
            self.undercounted.add(key)
        elif self.undercounted:
            self.undercounted.discard(key)
        return usage

    def _said(self, fields: Fields, role: Role, content: Any, line: bytes) -> Message:
        """What no model said: a prompt, what tools answered, what the app told the person."""
        parts, native = blocks.parts_and_native(content, self._note, fields.where, TOOL_KINDS)
        if content.__class__ is list and self._beside.restore(parts, fields.where):
            native = content
        if content == "":
            self._note(Kind.MISSING_FIELD, fields.where, _CONTENT)
        hidden = _is_hidden(fields)
        if role == "user" and not hidden:
            separated, is_the_apps = prompt_text.separate(parts, is_typed=_is_typed(fields))
            hidden = is_the_apps or _is_the_apps(fields)
            if separated is not parts and not hidden:
                parts, native = separated, content
        uuid = fields.text("uuid")
        if uuid and fields.look("isCompactSummary") is True:
            self._compacted.add(uuid)
        return Message(
            id=uuid or self._made_id(line),
            made_id=not uuid,
            role=role,
            parent_id=fields.text("parentUuid") or _logical_parent(fields),
            at=fields.moment("timestamp"),
            hidden=hidden,
            sidechain=fields.look("isSidechain") is True,
            parts=parts,
            native=native,
            extra=fields.rest(),
        )

    def _queued(self, fields: Fields, line: bytes) -> Message | None:
        """What the person, or the app for them, said while the model was at work; no other attachment."""
        queued = Fields(fields.look("attachment"), self._note, fields.where)
        prompt = queued.look("prompt")
        if queued.look("type") != "queued_command" or not _is_text_or_blocks(prompt):
            return None
        message = self._said(fields, "user", prompt, line)
        is_the_apps = queued.look("isMeta") is True or queued.look("commandMode") == "task-notification"
        return replace(message, hidden=True) if is_the_apps else message

    def _attached(self, fields: Fields, line: bytes) -> Message | None:
        """Files that the person put beside a prompt; those that follow a summary the app put there again."""
        inside = fields.nested("attachment")
        parts = [] if inside is None else attachments.parts(inside)
        if not parts:
            return None
        message = self._said(fields, "user", None, line)
        is_the_apps = message.parent_id in self._compacted
        if is_the_apps:
            self._compacted.add(message.id)
        return replace(message, hidden=is_the_apps or message.hidden, parts=parts)

    def _event(self, fields: Fields, line: bytes) -> Event:
        name = fields.text("type")
        if name not in KNOWN_TYPES and name not in self._unknown_types:
            self._unknown_types.add(name)
            what = f"line type {name[:40]!r}" if name else "a line without a type"
            self._note(Kind.UNKNOWN_TYPE, fields.where, what)
        uuid = fields.text("uuid")
        return Event(
            id=uuid or self._made_id(line),
            made_id=not uuid,
            name=name or "unknown",
            parent_id=fields.text("parentUuid") or _logical_parent(fields),
            at=fields.moment("timestamp"),
            data=fields.rest(),
        )

    def _made_id(self, line: bytes) -> str:
        """An id for a line that has none; titles and modes are often repeated to the letter."""
        digest = hashlib.sha256(line).hexdigest()
        self._without_id[digest] += 1
        return ids.made(self.common["sessionId"], digest, self._without_id[digest])


def _is_metadata(fields: Fields, kind: Any) -> bool:
    """Whether a message in a line of this type is only quoted; one of the conversation's own has a uuid."""
    if kind.__class__ is not str or kind in _ROLES:
        return False
    return kind in METADATA_TYPES or not fields.has("uuid")


def _logical_parent(fields: Fields) -> str | None:
    """What a line follows that has no parent: behind a compaction this alone says it."""
    parent = fields.look("logicalParentUuid")
    return parent if parent.__class__ is str and parent else None


def _is_hidden(fields: Fields) -> bool:
    """Whether the app does not show a message, or only in its full transcript."""
    return (
        fields.look("isMeta") is True
        or fields.look("isCompactSummary") is True
        or fields.look("isVisibleInTranscriptOnly") is True
        or fields.look("isSynthetic") is True
    )


def _is_the_apps(fields: Fields) -> bool:
    """Whether the app wrote a prompt; since 2.1.3xx `origin` and `promptSource` tell where one came from."""
    if fields.look("promptSource") == "system":
        return True
    stated = fields.look("origin")
    if stated.__class__ is not dict:
        return False
    origin = Fields(stated, fields.note, fields.where)
    # What people scheduled, or wrote elsewhere, comes as a notification with a `subkind`.
    return origin.look("kind") in _OWN_ORIGINS and not origin.has("subkind")


def _is_typed(fields: Fields) -> bool:
    """Whether the app says that a person typed a prompt, so that tags in it are what the person wrote."""
    origin = fields.look("origin")
    is_human = origin.__class__ is dict and origin.get("kind") == "human"
    return is_human or fields.look("promptSource") in _TYPED_SOURCES


def _is_text_or_blocks(content: Any) -> bool:
    return bool(content) and content.__class__ in (str, list)
