"""Bubbles: each is one text, thought or tool use of the user or the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Reasoning, Text, Usage, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor import attachments, rich_text, tool
from agent_journal.readers.cursor.values import nonempty_fields, nonempty_text, parse_json

if TYPE_CHECKING:
    from agent_journal.model import Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_ROLES: dict[Any, Role] = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}
# Clocks below the year 2000 count milliseconds since the editor was started, not since 1970.
_MIN_EPOCH_MS = 946_684_800_000
# Fields of a header that its bubble repeats.
_REPEATED_KEYS = frozenset({"bubbleId", "type", "createdAt"})
_CLOCKS = ("clientStartTime", "clientRpcSendTime", "clientSettleTime", "clientEndTime")


class Bubbles:
    """Converts the bubbles of one chat to entries, in their order."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._requested_model: str | None = None
        self.answers = self.counted_answers = 0

    def entry(self, bubble_id: str, bubble: dict[str, Any], header: dict[str, Any]) -> Entry:
        """Convert a bubble to a message, or to an event if it has no content, as many placeholders."""
        fields = Fields(nonempty_fields(bubble), self._note, f"bubble {bubble_id}")
        role = self._role(fields, header)
        fields.drop("bubbleId")
        _drop_zero_counts(fields)
        at = _sent_at(fields)
        if at is None and "createdAt" in header:
            at = timestamps.moment(header["createdAt"])
        parts = [] if role is None else self._parts(fields, role, bubble_id)
        if role is None or not parts:
            return Event(id=bubble_id, name="bubble", at=at, data=_extra(fields, header))
        return Message(
            id=bubble_id,
            role=role,
            at=at,
            model=self._model(fields, role),
            parts=parts,
            usage=self._usage(fields, role),
            extra=_extra(fields, header),
        )

    def _role(self, fields: Fields, header: dict[str, Any]) -> Role | None:
        """Return the role. Old bubbles name it, newer ones have a number for it."""
        for kind in (fields.look("type"), header.get("type")):
            if kind.__class__ is int or kind.__class__ is str:
                role = _ROLES.get(kind)
                if role is not None:
                    fields.drop("type")
                    return role
        self._note(Kind.UNKNOWN_TYPE, fields.where, f"bubble of type {str(fields.look('type'))[:40]!r}")
        return None

    def _parts(self, fields: Fields, role: Role, bubble_id: str) -> list[Part]:
        parts: list[Part] = []
        if fields.has("thinking") and (thought := _take_reasoning(fields)) is not None:
            parts.append(thought)
        text = fields.text("text") or fields.text("rawText") or rich_text.plain(fields.look("richText"))
        if text:
            parts.append(Text(text=text))
        if fields.has("codeBlocks"):
            parts += attachments.take_code_blocks(fields, text)
        if fields.has("toolFormerData") and (tool_use := fields.bag("toolFormerData")) is not None:
            tool_parts = tool.parts(tool_use, bubble_id, self._note, str(fields.where))
            parts += tool_parts
            if not tool_parts:
                fields.keep("toolFormerData", tool_use)
        if role == "user" or fields.look("images"):
            parts += attachments.take_attachments(fields)
        if fields.has("errorDetails") and (error := _error_text(fields.look("errorDetails"))):
            parts.append(Text(text=error, extra={"kind": "errorDetails"}))
        return parts

    def _model(self, fields: Fields, role: Role) -> str | None:
        """Return the model that answered. Many answers do not state it, but their prompts name a model."""
        info = fields.nested("modelInfo") if fields.has("modelInfo") else None
        stated = (info.text("modelName") if info else None) or fields.text("modelType")
        if role == "user":
            self._requested_model = stated
            if stated is not None:
                fields.keep("modelInfo", {"modelName": stated})
            return None
        return stated or self._requested_model

    def _usage(self, fields: Fields, role: Role) -> Usage | None:
        """Return the tokens, if they were counted; `inputTokens` is the full prompt, cached or not."""
        self.answers += role == "assistant"
        counts = fields.look("tokenCount")
        if not isinstance(counts, dict):
            return None
        sent, received, total = (
            _positive_int(counts.get(name)) for name in ("inputTokens", "outputTokens", "totalTokens")
        )
        if not (sent or received or total):
            return None
        self.counted_answers += 1
        return Usage(input=sent, output=received, total=total, extra=fields.take("tokenCount"))


def _drop_zero_counts(fields: Fields) -> None:
    """Drop token counts of zero, which mean "not counted": a prompt has at least one token."""
    counts = fields.look("tokenCount")
    if isinstance(counts, dict) and not any(counts.values()):
        fields.drop("tokenCount")


def _positive_int(value: Any) -> int | None:
    return value if value.__class__ is int and value > 0 else None


def _take_reasoning(fields: Fields) -> Part | None:
    thinking = fields.look("thinking")
    if isinstance(thinking, str):
        fields.drop("thinking")
        return Reasoning(text=thinking) if thinking else None
    inner = fields.nested("thinking")
    text = inner.text("text") if inner else None
    signature = (inner.text("signature") if inner else None) or None
    redacted = (inner.text("redactedThinking") if inner and inner.has("redactedThinking") else None) or None
    if not (text or signature or redacted):
        return None
    return Reasoning(text=text or None, signature=signature, encrypted=redacted)


def _error_text(details: Any) -> str | None:
    """Return the error that ended an answer, as the editor shows it."""
    error = parse_json(details) if isinstance(details, str) else details
    if not isinstance(error, dict):
        return details if isinstance(details, str) else None
    return ": ".join(filter(None, (nonempty_text(error, "title"), nonempty_text(error, "message")))) or None


def _sent_at(fields: Fields) -> str | None:
    """Return the stated time of a bubble, else the first of its clocks that counts from 1970."""
    if fields.look("createdAt") is not None:
        return fields.moment("createdAt")
    timing = fields.look("timingInfo")
    if not isinstance(timing, dict):
        return None
    for name in _CLOCKS:
        clock = timing.get(name)
        if clock.__class__ in (int, float) and clock >= _MIN_EPOCH_MS:
            return timestamps.from_epoch(round(clock))
    return None


def _extra(fields: Fields, header: dict[str, Any]) -> dict[str, Any]:
    rest = fields.rest()
    if header.keys() <= _REPEATED_KEYS:
        return rest
    new_fields = {
        name: value
        for name, value in header.items()
        if name not in _REPEATED_KEYS and rest.get(name) != value
    }
    if new_fields := nonempty_fields(new_fields):
        rest["header"] = new_fields
    return rest
