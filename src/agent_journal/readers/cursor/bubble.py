"""Bubbles: each is one thing that was said, thought or done, of a person or of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Reasoning, Text, Usage, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor import attachments, rich_text, tool
from agent_journal.readers.cursor.values import parsed, said, text_in

if TYPE_CHECKING:
    from agent_journal.model import Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_ROLES: dict[Any, Role] = {1: "user", 2: "assistant", "user": "user", "ai": "assistant"}
# Times below are milliseconds since the editor was started (the year 2000 as milliseconds since 1970).
_ABSOLUTE_FROM = 946_684_800_000
# What a header says and its bubble says too.
_TOLD = frozenset({"bubbleId", "type", "createdAt"})
_CLOCKS = ("clientStartTime", "clientRpcSendTime", "clientSettleTime", "clientEndTime")


class Bubbles:
    """Makes entries of the bubbles of one chat, in their order."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._asked: str | None = None
        self.answers = self.counted = 0

    def entry(self, bubble_id: str, bubble: dict[str, Any], header: dict[str, Any]) -> Entry:
        """A message; an event if nothing is said in it, as in the many that only hold a place."""
        fields = Fields(said(bubble), self._note, f"bubble {bubble_id}")
        role = self._role(fields, header)
        fields.drop("bubbleId")
        _drop_no_count(fields)
        at = _moment(fields)
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
        """Who speaks. Old bubbles name him, newer ones have a number for him."""
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
        if fields.has("thinking") and (thought := _thought(fields)) is not None:
            parts.append(thought)
        text = fields.text("text") or fields.text("rawText") or rich_text.plain(fields.look("richText"))
        if text:
            parts.append(Text(text=text))
        if fields.has("codeBlocks"):
            parts += attachments.code_blocks(fields, text)
        if fields.has("toolFormerData") and (used := fields.bag("toolFormerData")) is not None:
            done = tool.parts(used, bubble_id, self._note, str(fields.where))
            parts += done
            if not done:
                fields.keep("toolFormerData", used)
        if role == "user" or fields.look("images"):
            parts += attachments.sent_along(fields)
        if fields.has("errorDetails") and (told := _error(fields.look("errorDetails"))):
            parts.append(Text(text=told, extra={"kind": "errorDetails"}))
        return parts

    def _model(self, fields: Fields, role: Role) -> str | None:
        """Who answered. Many answers do not tell, but the question tells which model it was put to."""
        info = fields.nested("modelInfo") if fields.has("modelInfo") else None
        stated = (info.text("modelName") if info else None) or fields.text("modelType")
        if role == "user":
            self._asked = stated
            if stated is not None:
                fields.keep("modelInfo", {"modelName": stated})
            return None
        return stated or self._asked

    def _usage(self, fields: Fields, role: Role) -> Usage | None:
        """Tokens, if they were counted; `inputTokens` is the whole prompt, be it from a cache or not."""
        self.answers += role == "assistant"
        counts = fields.look("tokenCount")
        if not isinstance(counts, dict):
            return None
        found = [_count(counts.get(name)) for name in ("inputTokens", "outputTokens", "totalTokens")]
        if not any(found):
            return None
        self.counted += 1
        spent, answered, total = found
        return Usage(input=spent, output=answered, total=total, extra=fields.take("tokenCount"))


def _drop_no_count(fields: Fields) -> None:
    """Zero stands for "not counted": a prompt has at least one token."""
    counts = fields.look("tokenCount")
    if isinstance(counts, dict) and not any(counts.values()):
        fields.drop("tokenCount")


def _count(value: Any) -> int | None:
    return value if value.__class__ is int and value > 0 else None


def _thought(fields: Fields) -> Part | None:
    thinking = fields.look("thinking")
    if isinstance(thinking, str):
        fields.drop("thinking")
        return Reasoning(text=thinking) if thinking else None
    inner = fields.nested("thinking")
    text = inner.text("text") if inner else None
    signature = (inner.text("signature") if inner else None) or None
    withheld = (inner.text("redactedThinking") if inner and inner.has("redactedThinking") else None) or None
    if not (text or signature or withheld):
        return None
    return Reasoning(text=text or None, signature=signature, encrypted=withheld)


def _error(details: Any) -> str | None:
    """Why there is no more of an answer, as the editor shows it."""
    told = parsed(details) if isinstance(details, str) else details
    if not isinstance(told, dict):
        return details if isinstance(details, str) else None
    return ": ".join(filter(None, (text_in(told, "title"), text_in(told, "message")))) or None


def _moment(fields: Fields) -> str | None:
    """When it was said: as stated, else by the first of its clocks that counts from 1970."""
    if fields.look("createdAt") is not None:
        return fields.moment("createdAt")
    timing = fields.look("timingInfo")
    if not isinstance(timing, dict):
        return None
    for name in _CLOCKS:
        clock = timing.get(name)
        if clock.__class__ in (int, float) and clock >= _ABSOLUTE_FROM:
            return timestamps.from_epoch(round(clock))
    return None


def _extra(fields: Fields, header: dict[str, Any]) -> dict[str, Any]:
    rest = fields.rest()
    if header.keys() <= _TOLD:
        return rest
    left = {name: value for name, value in header.items() if name not in _TOLD and rest.get(name) != value}
    if left := said(left):
        rest["header"] = left
    return rest
