"""Bubbles: each is one text, thought or tool use of the user or the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Reasoning, Text, ToolCall, ToolResult, Usage, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor import attachments
from agent_journal.readers.cursor.names import tool_kind
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
# Nodes of rich text that start a new line.
_BREAK_TYPES = ("paragraph", "linebreak", "code")
# Results are objects; these fields hold the output of a command and the contents of a file.
_OUTPUT_KEYS = ("output", "contents")
_FAILED_STATUSES = ("error", "cancelled")
_ERROR_KEYS = ("clientVisibleErrorMessage", "modelVisibleErrorMessage")


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
            at = timestamps.parse_timestamp(header["createdAt"])
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
        for kind in (fields.view("type"), header.get("type")):
            if kind.__class__ is int or kind.__class__ is str:
                role = _ROLES.get(kind)
                if role is not None:
                    fields.drop("type")
                    return role
        self._note(Kind.UNKNOWN_TYPE, fields.where, f"bubble of type {str(fields.view('type'))[:40]!r}")
        return None

    def _parts(self, fields: Fields, role: Role, bubble_id: str) -> list[Part]:
        parts: list[Part] = []
        if fields.has("thinking") and (thought := _take_reasoning(fields)) is not None:
            parts.append(thought)
        text = fields.text("text") or fields.text("rawText") or _rich_text(fields.view("richText"))
        if text:
            parts.append(Text(text=text))
        if fields.has("codeBlocks"):
            parts += attachments.take_code_blocks(fields, text)
        if fields.has("toolFormerData") and (tool_use := fields.bag("toolFormerData")) is not None:
            tool_parts = _tool_parts(tool_use, bubble_id, self._note, str(fields.where))
            parts += tool_parts
            if not tool_parts:
                fields.keep("toolFormerData", tool_use)
        if role == "user" or fields.view("images"):
            parts += attachments.take_attachments(fields)
        if fields.has("errorDetails") and (error := _error_text(fields.view("errorDetails"))):
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
        counts = fields.view("tokenCount")
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
    counts = fields.view("tokenCount")
    if isinstance(counts, dict) and not any(counts.values()):
        fields.drop("tokenCount")


def _positive_int(value: Any) -> int | None:
    return value if value.__class__ is int and value > 0 else None


def _take_reasoning(fields: Fields) -> Part | None:
    thinking = fields.view("thinking")
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
    if fields.view("createdAt") is not None:
        return fields.timestamp("createdAt")
    timing = fields.view("timingInfo")
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


def _rich_text(document: Any) -> str:
    """Return the text of the input field's document (JSON or plain), some old messages' only text."""
    if not isinstance(document, str) or not document:
        return ""
    tree = parse_json(document)
    if not isinstance(tree, dict):
        return document.strip()
    texts: list[str] = []
    pending: list[Any] = [tree.get("root", tree)]
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        if texts and node.get("type") in _BREAK_TYPES:
            texts.append("\n")
        if isinstance(text := node.get("text"), str):
            texts.append(text)
        children = node.get("children")
        pending += reversed(children) if isinstance(children, list) else ()
    return "".join(texts).strip()


def _tool_parts(data: dict[str, Any], bubble_id: str, note: Notes, where: str) -> list[Part]:
    """Return the call and its result (the editor stores both in one record); empty if it names no tool.

    A call without an id gets the id of its bubble: a bubble never contains two calls.
    """
    if not data.get("name") and not data.get("tool"):
        return []
    fields = Fields(data, note, where)
    name = fields.text("name") or str(fields.view("tool"))
    call_id = fields.text("toolCallId") or bubble_id
    arguments = _tool_arguments(fields)
    result = _tool_result(fields, call_id)
    extra = nonempty_fields(fields.rest())
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=tool_kind(name), extra=extra)
    return [call] if result is None else [call, result]


def _tool_arguments(fields: Fields) -> Any:
    """Take the model's arguments, or the editor's version if they are empty or cut, as in some versions."""
    raw = fields.view("rawArgs")
    is_complete = raw[:1] + raw[-1:] == "{}" if isinstance(raw, str) else isinstance(raw, dict)
    return fields.take("rawArgs" if is_complete or not fields.view("params") else "params")


def _tool_result(fields: Fields, call_id: str) -> ToolResult | None:
    status, error = fields.view("status"), fields.view("error")
    raw = fields.take("result")
    failed = status in _FAILED_STATUSES or bool(error)
    if raw in (None, "") and not failed:
        if status != "completed":
            return None
        return ToolResult(call_id=call_id, is_error=False)
    output, extra = _tool_output(raw)
    return ToolResult(
        call_id=call_id,
        output=output or _tool_error(error),
        is_error=failed if failed or status == "completed" else None,
        extra=extra,
    )


def _tool_output(raw: Any) -> tuple[str, dict[str, Any]]:
    """Return the text of a result, and its other fields."""
    value = parse_json(raw) if isinstance(raw, str) else raw
    if isinstance(value, dict):
        for name in _OUTPUT_KEYS:
            if isinstance(text := value.get(name), str):
                del value[name]
                return text, {"result": value} if value else {}
    if isinstance(raw, str):
        return raw, {}
    return "", {} if raw is None else {"result": raw}


def _tool_error(error: Any) -> str:
    details = parse_json(error) if isinstance(error, str) else error
    if isinstance(details, dict):
        texts = (text for name in _ERROR_KEYS if isinstance(text := details.get(name), str))
        return next(filter(None, texts), "")
    return error if isinstance(error, str) else ""
