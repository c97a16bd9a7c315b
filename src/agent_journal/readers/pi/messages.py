"""Converts the messages of a session: their parts by role, and the tokens of an answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import (
    Code,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    roles,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.injected_text import with_typed_text
from agent_journal.readers.pi.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

# OpenClaw puts who wrote where and when before a message of a channel, and its id after it.
_ENVELOPE = re.compile(
    r"\[[^\[\]\n]{0,300}\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?"
    r"(?: ?[A-Z][A-Z0-9+:-]{0,9}| ?[+-]\d\d:?\d\d)?\] "
)
_MESSAGE_ID = re.compile(r"\[message_id: [^\]\n]{1,200}\]\s*")
_BLOB = "blob:"
_TOOL_RESULT = "toolResult"


class Content(NamedTuple):
    """What a message is made of: the role, the parts, and whether a program wrote it."""

    role: Role
    parts: list[Part]
    is_hidden: bool = False


def convert(entry: Fields, body: Fields, at: str | None) -> Message:
    """Convert the message of a line; what is not taken stays in the line's fields."""
    name = body.take("role")
    if name == "assistant":
        return _answer(entry, body, at)
    convert_role = _ROLES.get(name) if name.__class__ is str else None
    if convert_role is None:
        role = roles.role(name)
        if role is None:
            entry.note(Kind.UNKNOWN_ROLE, entry.where, f"role {str(name)[:40]!r}")
        content = Content(role or "user", _parts(body))
    else:
        content = convert_role(body)
    if name not in (content.role, _TOOL_RESULT):
        body.keep("role", name)
    return Message(
        id=entry.text("id") or "",
        role=content.role,
        parent_id=entry.text("parentId"),
        at=at,
        hidden=content.is_hidden,
        parts=content.parts,
        extra=entry.rest(),
    )


def _answer(entry: Fields, body: Fields, at: str | None) -> Message:
    model = body.text("model")
    return Message(
        id=entry.text("id") or "",
        role="assistant",
        parent_id=entry.text("parentId"),
        at=at,
        model=model,
        stop_reason=body.text("stopReason"),
        parts=_parts(body),
        usage=take_usage(body, model),
        extra=entry.rest(),
    )


def convert_custom(entry: Fields, at: str | None) -> Message:
    """Convert a message that an extension added to the model's context in the user's name."""
    return Message(
        id=entry.text("id") or "",
        role="user",
        parent_id=entry.text("parentId"),
        at=at,
        hidden=True,
        parts=_parts(entry),
        extra=entry.rest(),
    )


def take_usage(body: Fields, model: str | None) -> Usage | None:
    """Take the tokens of an answer; `input` is without those of the cache.

    A fork copies messages with their times, so the key, made of time and counts, counts each answer once.
    """
    raw = body.bag("usage")
    if raw is None:
        return None
    sent, output = counted(raw.get("input")), counted(raw.get("output"))
    read, written = counted(raw.get("cacheRead")), counted(raw.get("cacheWrite"))
    if read is None or written is None:
        cache = raw.get("cache")
        nested = cache if cache.__class__ is dict else {}
        read = _first(read, counted(nested.get("read")))
        written = _first(written, counted(raw.get("cacheCreation")), counted(nested.get("write")))
    cost = raw.get("cost")
    total = cost.get("total") if cost.__class__ is dict else None
    at = body.view("timestamp")
    return Usage(
        key=f"{at}:{model or ''}:{sent}:{output}:{read}:{written}" if at is not None and output else None,
        input=sent,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=_first(counted(raw.get("reasoning")), counted(raw.get("reasoningTokens"))),
        total=counted(raw.get("totalTokens")),
        cost_usd=float(total) if total.__class__ in (int, float) and total >= 0 else None,
        extra=raw,
    )


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _parts(body: Fields) -> list[Part]:
    content = body.take("content")
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content is None:
        return []
    if content.__class__ is not list:
        body.note(Kind.WRONG_TYPE, body.where, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [_part(raw, body) for raw in content]


def _part(raw: Any, body: Fields) -> Part:
    if raw.__class__ is not dict:
        return Text(text=raw) if raw.__class__ is str else Other(data=raw)
    kind = raw.get("type")
    if kind == "text" and raw.get("text").__class__ is str:
        if len(raw) == 2:  # noqa: PLR2004 (type and text)
            return Text(text=raw["text"])
        return Text(text=raw.pop("text"), extra=_without_type(raw))
    fields = Fields(raw, body.note, body.where)
    if kind == "thinking":
        return _thinking(fields)
    if kind == "toolCall":
        fields.drop("type")
        name = fields.text("name") or ""
        return ToolCall(
            name=name,
            call_id=fields.text("id"),
            input=fields.take("arguments"),
            kind=TOOL_KINDS.get(name),
            extra=fields.rest(),
        )
    if kind == "image":
        return _image(fields)
    body.note(Kind.UNKNOWN_TYPE, body.where, f"content block {str(kind)[:40]!r}")
    return Other(data=raw, name=kind if kind.__class__ is str else None)


def _without_type(raw: dict[str, Any]) -> dict[str, Any]:
    del raw["type"]
    return raw


def _thinking(fields: Fields) -> Reasoning:
    """Convert thinking; the signature of redacted thinking is its encrypted content."""
    fields.drop("type")
    text, signature = fields.text("thinking") or None, fields.text("thinkingSignature")
    if fields.view("redacted") is True:
        return Reasoning(text=text, encrypted=signature, extra=fields.rest())
    return Reasoning(text=text, signature=signature, extra=fields.rest())


def _image(fields: Fields) -> Media:
    """Convert an image; Oh My Pi stores it in a file named by its hash."""
    fields.drop("type")
    mime, data = fields.text("mimeType"), fields.text("data")
    is_reference = data is not None and data.startswith(_BLOB)
    return Media(
        kind="image",
        mime=mime,
        data=None if is_reference else data,
        ref=data if is_reference else None,
        extra=fields.rest(),
    )


def _user(body: Fields) -> Content:
    return Content("user", [_without_envelope(part) for part in _parts(body)])


def _without_envelope(part: Part) -> Part:
    envelope = _ENVELOPE.match(part.text) if isinstance(part, Text) and part.text.startswith("[") else None
    if envelope is None or not isinstance(part, Text):
        return part
    text = part.text[envelope.end() :]
    before, line_feed, last_line = text.rpartition("\n")
    typed = before if line_feed and _MESSAGE_ID.fullmatch(last_line) else text
    return with_typed_text(part, typed) if typed.strip() else part


def _tool_result(body: Fields) -> Content:
    outputs = _parts(body)
    only = outputs[0] if len(outputs) == 1 else None
    is_text = isinstance(only, Text) and not only.extra
    output: Any = only.text if is_text and isinstance(only, Text) else outputs or ""
    result = ToolResult(
        call_id=body.text("toolCallId"),
        name=body.text("toolName"),
        output=output,
        is_error=body.flag("isError"),
    )
    return Content("tool", [result])


def _custom(body: Fields) -> Content:
    return Content("user", _parts(body), is_hidden=True)


def _execution(body: Fields, source: str, language: str) -> Content:
    """Convert what the user ran without the model, with its output."""
    code, output = body.text(source), body.text("output")
    parts: list[Part] = [Code(code=code or "", language=language)]
    if output:
        parts.append(Text(text=output, injected=True))
    return Content("user", parts)


def _summary(body: Fields) -> Content:
    text = body.text("summary")
    return Content("user", [Text(text=text)] if text else [], is_hidden=True)


_ROLES: dict[str, Callable[[Fields], Content]] = {
    "user": _user,
    _TOOL_RESULT: _tool_result,
    # Named `hookMessage` in version 2.
    "custom": _custom,
    "hookMessage": _custom,
    "bashExecution": lambda body: _execution(body, "command", "bash"),
    "pythonExecution": lambda body: _execution(body, "code", "python"),
    "branchSummary": _summary,
    "compactionSummary": _summary,
}
