"""Updates as the user interface got them (Agent Client Protocol): chunks of text, calls, and ends of turns.

Chunks of one answer of the model share the time at which it began. A turn may have several answers; its
tokens are stated at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.model import Message, Other, Part, Reasoning, Text, ToolCall, ToolResult, Usage
from agent_journal.readers.dialects.openai_messages import parse_content
from agent_journal.readers.grok_build import names

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog

_TICKS_PER_USD = 1e10
_MAX_BYTE = 255


class Updates:
    """Collects the updates of a session."""

    def __init__(self, log: SessionLog, note: Notes) -> None:
        self._log = log
        self._note = note
        self._open: Message | None = None
        self._stream: Any = None
        self._where: int | str = ""
        self._model: str | None = None
        self._titles: dict[str, str] = {}

    def add(self, line: Fields) -> None:
        """Add an update."""
        params = line.nested("params")
        update = params.nested("update") if params is not None else None
        if params is None or update is None:
            self._log.add_event(None, line.rest(), line.where)
            return
        meta = params.take("_meta")
        meta = Fields(dict(meta) if meta.__class__ is dict else {}, self._note, line.where)
        stated_at = line.timestamp("timestamp")
        at = meta.timestamp("agentTimestampMs") or stated_at
        entry_id = nonempty_str(meta.take("eventId")) or ""
        kind = update.take("sessionUpdate")
        if kind in (names.USER, names.TEXT, names.THOUGHT, names.CALL):
            line.drop("method")
            params.drop("sessionId")
            self._add_chunk(kind, update, meta, Message(id=entry_id, role="assistant", at=at), line)
        elif kind == names.CALL_UPDATE:
            self._add_call_update(update, entry_id, at, line.where)
        elif kind == names.TURN_END:
            self._end_turn(update, at, line.where)
        else:
            self.close()
            line.drop("method")
            params.drop("sessionId")
            data = update.rest()
            self._log.add_event(kind, data, line.where, at=at, entry_id=entry_id)

    def _add_chunk(self, kind: str, update: Fields, meta: Fields, envelope: Message, line: Fields) -> None:
        role = "user" if kind == names.USER else "assistant"
        inner = update.take("_meta")
        inner = inner if inner.__class__ is dict else {}
        stream = inner.get("promptIndex") if role == "user" else meta.view("streamStartMs")
        if self._open is None or self._open.role != role or stream != self._stream:
            self.close()
            self._open = replace(envelope, role=role)
            self._stream, self._where = stream, line.where
            if role == "user":
                self._model = nonempty_str(inner.get("modelId")) or self._model
        meta.drop(*names.CHUNK_META)
        extra = dict(self._open.extra) | meta.rest()
        if kind == names.CALL:
            part: Part = self._call(update, inner)
        else:
            content = update.take("content")
            (part,) = parse_content([content], self._note, line.where)
            if kind == names.THOUGHT and isinstance(part, Text):
                part = Reasoning(text=part.text)
        more = update.rest()
        if more and not isinstance(part, ToolCall):
            extra |= more
        parts = _joined([*self._open.parts, part])
        model = self._model if role == "assistant" else None
        self._open = replace(self._open, parts=parts, model=model, extra=extra)

    def _call(self, update: Fields, inner: dict[str, Any]) -> ToolCall:
        tool = inner.get(names.TOOL)
        stated = nonempty_str(tool.get("name")) if tool.__class__ is dict else None
        title = nonempty_str(update.view("title"))
        name = stated or title or ""
        if title == name:
            update.drop("title")
        call_id = update.text("toolCallId")
        update.drop("status", "kind")
        if call_id:
            self._titles[call_id] = name
        call_input = update.take("rawInput")
        return ToolCall(
            call_id=call_id,
            name=name,
            input=call_input,
            kind=names.TOOL_KINDS.get(name),
            extra=update.rest(),
        )

    def _add_call_update(self, update: Fields, entry_id: str, at: str | None, where: int | str) -> None:
        """Add the result of a call; updates before it repeat the call for the user interface."""
        call_id = update.text("toolCallId")
        status = update.view("status")
        if status not in ("completed", "failed"):
            self._complete_input(call_id, update.view("rawInput"))
            return
        self.close()
        update.drop("status", "title", "kind", "rawInput", "_meta", "locations")
        raw = update.view("rawOutput")
        if raw.__class__ is dict and _are_bytes(raw.get("output")):
            # The same text as the content, as numbers.
            update.keep("rawOutput", {name: value for name, value in raw.items() if name != "output"})
        parts = [self._content(raw, where) for raw in update.items("content") or ()]
        only = parts[0] if len(parts) == 1 else None
        if not parts and raw.__class__ is str:
            parts, only = [], Text(text=raw)
            update.drop("rawOutput")
        output: Any = only.text if isinstance(only, Text) and not only.extra else parts
        result = ToolResult(
            call_id=call_id,
            name=self._titles.get(call_id or ""),
            output=output or "",
            is_error=status == "failed",
            extra=update.rest(),
        )
        self._log.add(Message(id=entry_id, role="tool", at=at, parts=[result]), where)

    def _complete_input(self, call_id: str | None, raw_input: Any) -> None:
        """Set the input of a call that was announced without one."""
        if self._open is None or not raw_input:
            return
        parts = [
            replace(part, input=raw_input)
            if isinstance(part, ToolCall) and part.call_id == call_id and not part.input
            else part
            for part in self._open.parts
        ]
        self._open = replace(self._open, parts=parts)

    def _content(self, raw: Any, where: int | str) -> Any:
        if raw.__class__ is dict and raw.get("type") == "content":
            (part,) = parse_content([raw.get("content")], self._note, where)
            return part
        return Other(data=raw, name=nonempty_str(raw.get("type")) if raw.__class__ is dict else None)

    def _end_turn(self, update: Fields, at: str | None, where: int | str) -> None:
        prompt = update.text("prompt_id")
        usage = _usage(update.view("usage"), prompt)
        stop_reason = update.text("stop_reason")
        models = update.view("usage")
        models = models.get("modelUsage") if models.__class__ is dict else None
        model = next(iter(models)) if models.__class__ is dict and len(models) == 1 else self._model
        if usage is not None:
            update.drop("usage")
        if self._open is not None and self._open.role == "assistant":
            self._open = replace(
                self._open, usage=usage, stop_reason=stop_reason, model=self._open.model or model
            )
            self.close()
            return
        self.close()
        if usage is not None:
            end_id = f"{self._log.session}:{where}"
            message = Message(
                id=end_id,
                made_id=True,
                role="assistant",
                at=at,
                model=model,
                stop_reason=stop_reason,
                hidden=True,
                usage=usage,
            )
            self._log.add(message, where)

    def close(self) -> None:
        """End the message that is open."""
        if self._open is not None:
            message, self._open = self._open, None
            self._log.add(message, self._where)


def _joined(parts: list[Part]) -> list[Part]:
    """Join the last two parts if they are chunks of one text."""
    if len(parts) > 1:
        last, more = parts[-2], parts[-1]
        if isinstance(last, Text) and isinstance(more, Text) and not more.extra:
            return [*parts[:-2], replace(last, text=last.text + more.text)]
        if isinstance(last, Reasoning) and isinstance(more, Reasoning):
            return [*parts[:-2], replace(last, text=(last.text or "") + (more.text or ""))]
    return parts


def _are_bytes(value: Any) -> bool:
    return value.__class__ is list and all(
        number.__class__ is int and 0 <= number <= _MAX_BYTE for number in value
    )


def _usage(raw: Any, key: str | None) -> Usage | None:
    """Return the tokens of a turn, whose input includes what was read from and written to a cache."""
    if raw.__class__ is not dict:
        return None
    sent, read = counted(raw.get("inputTokens")), counted(raw.get("cachedReadTokens"))
    written = counted(raw.get("cacheCreationTokens"))
    models = raw.get("modelUsage")
    ticks = [
        usage.get("costUsdTicks")
        for usage in (models.values() if models.__class__ is dict else ())
        if usage.__class__ is dict
    ]
    costs = [tick for tick in ticks if tick.__class__ in (int, float)]
    return Usage(
        key=key,
        input=None if sent is None else max(sent - (read or 0) - (written or 0), 0),
        output=counted(raw.get("outputTokens")),
        cache_read=read,
        cache_write=written,
        reasoning=counted(raw.get("reasoningTokens")),
        total=counted(raw.get("totalTokens")),
        cost_usd=sum(costs) / _TICKS_PER_USD if costs else None,
        extra=raw,
    )
