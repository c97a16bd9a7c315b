"""The messages of a task."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import (
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Summary,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.readers.warp.schema import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog

_PAYLOADS = (
    *("user_query", "agent_output", "tool_call", "tool_call_result", "agent_reasoning", "invoke_skill"),
    *(
        "system_query",
        "summarization",
        "web_search",
        "web_fetch",
        "model_used",
        "server_event",
        "update_todos",
    ),
)
_ERRORS = ("error", "permission_denied", "cancel")
_NANOS_PER_MICRO = 1000


class Messages:
    """Collects the messages of one task."""

    def __init__(self, log: SessionLog, note: Notes, model: str | None) -> None:
        self.folder: str | None = None
        self.os: str | None = None
        self.shell: str | None = None
        self.summaries: list[Summary] = []
        self._log = log
        self._note = note
        self._model = model
        self._names: dict[str, str] = {}

    def add(self, raw: dict[str, Any], where: str) -> None:
        """Add a message."""
        fields = Fields(raw, self._note, where)
        own_id, at = nonempty_str(fields.take("id")) or "", _time(fields.take("timestamp"))
        fields.drop("task_id")
        kind = next((name for name in _PAYLOADS if fields.view(name).__class__ is dict), None)
        payload = fields.take(kind) if kind is not None else {}
        role: Role = "assistant"
        parts: list[Part] = []
        match kind:
            case "user_query":
                role, parts = "user", self._query(payload)
            case "invoke_skill":
                query = payload.get("user_query")
                role, parts = "user", self._query(query if query.__class__ is dict else {})
                fields.keep("skill", payload.get("skill"))
            case "agent_output":
                parts = [Text(text=payload.pop("text", ""))]
            case "agent_reasoning":
                parts = [Reasoning(text=payload.pop("reasoning", None), extra=payload)]
            case "tool_call":
                parts = [self._call(payload)]
            case "tool_call_result":
                role, parts = "tool", [self._result(payload)]
            case _:
                self._add_event(kind, payload, fields, Message(id=own_id, role="user", at=at))
                return
        request = fields.text("request_id")
        message = Message(
            id=own_id,
            role=role,
            at=at,
            model=self._model if role == "assistant" else None,
            response_id=request if role == "assistant" else None,
            parts=parts,
            extra=fields.rest() | ({"request_id": request} if request and role != "assistant" else {}),
        )
        self._log.add(message, where)

    def _add_event(
        self, kind: str | None, payload: dict[str, Any], fields: Fields, envelope: Message
    ) -> None:
        if kind == "model_used":
            self._model = nonempty_str(payload.get("model_id")) or self._model
        summary = payload.get("conversation_summary")
        if kind == "summarization" and summary.__class__ is dict and nonempty_str(summary.get("summary")):
            entries = self._log.entries
            covered = self._log.find_message(entries[-1].id) if entries else None
            self.summaries.append(
                Summary(
                    text=summary["summary"],
                    at=envelope.at,
                    message_id=None if covered is None else covered.id,
                )
            )
        data = payload | fields.rest()
        self._log.add_event(kind or "unknown", data, fields.where, at=envelope.at, entry_id=envelope.id)

    def _query(self, payload: dict[str, Any]) -> list[Part]:
        """Return the parts of a prompt; what the terminal added to it is marked."""
        context = payload.get("context")
        context = context if context.__class__ is dict else {}
        self._take_place(context)
        parts: list[Part] = [
            Text(text=text, injected=True)
            for item in objects(context.get("selected_text"))
            if (text := nonempty_str(item.get("text")))
        ]
        for item in objects(context.get("project_rules")):
            path, text = nonempty_str(item.get("file_path")), nonempty_str(item.get("content"))
            parts.append(Media(kind="document", ref=path, text=text))
        for item in objects(context.get("files")):
            content = item.get("content")
            content = content if content.__class__ is dict else {}
            parts.append(
                Media(
                    kind="file",
                    ref=nonempty_str(content.get("file_path")),
                    text=nonempty_str(content.get("content")),
                )
            )
        parts += [
            Media(kind="image", mime=nonempty_str(item.get("mime_type")), data=nonempty_str(item.get("data")))
            for item in objects(context.get("images"))
        ]
        query = nonempty_str(payload.get("query"))
        return [*parts, Text(text=query)] if query else parts

    def _take_place(self, context: dict[str, Any]) -> None:
        places = (context.get("directory"), context.get("operating_system"), context.get("shell"))
        folder, system, shell = (place if place.__class__ is dict else {} for place in places)
        self.folder = self.folder or nonempty_str(folder.get("pwd"))
        self.os = self.os or nonempty_str(system.get("platform"))
        self.shell = self.shell or nonempty_str(shell.get("name"))

    def _call(self, payload: dict[str, Any]) -> Part:
        call_id = nonempty_str(payload.pop("tool_call_id", None))
        name, call_input = next(iter(payload.items()), ("", None))
        kind = TOOL_KINDS.get(name)
        if name == "call_mcp_tool" and call_input.__class__ is dict:
            name = nonempty_str(call_input.get("name")) or name
            call_input = call_input.get("args", {})
        if call_id:
            self._names[call_id] = name
        return ToolCall(call_id=call_id, name=name, input=call_input, kind=kind)

    def _result(self, payload: dict[str, Any]) -> Part:
        call_id = nonempty_str(payload.pop("tool_call_id", None))
        context = payload.pop("context", None)
        self._take_place(context if context.__class__ is dict else {})
        name, value = next(iter(payload.items()), ("", None))
        is_error = name in _ERRORS or (value.__class__ is dict and any(field in value for field in _ERRORS))
        return ToolResult(
            call_id=call_id,
            name=self._names.get(call_id or "") or name or None,
            output=_output(value, name),
            is_error=is_error,
        )


def _output(value: Any, name: str) -> Any:
    """Return the output of a result: its text if it has only one, else all of it."""
    texts: list[str] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if item.__class__ is str and item:
            texts.append(item)
        elif item.__class__ is dict:
            # A command repeats its call.
            pending.extend(inner for field, inner in item.items() if field not in ("command", "command_id"))
        elif item.__class__ is list:
            pending.extend(item)
    if not texts:
        return [Other(data=value, name=name)] if value else ""
    return texts[0] if len(texts) == 1 else [Other(data=value, name=name or None)]


def _time(value: Any) -> str | None:
    seconds = value.get("seconds") if value.__class__ is dict else None
    if seconds.__class__ is not int:
        return None
    nanos = value.get("nanos", 0)
    try:
        at = datetime.fromtimestamp(seconds, UTC)
        at = at.replace(microsecond=nanos // _NANOS_PER_MICRO)
    except (OverflowError, ValueError, OSError, TypeError):
        return None
    return at.isoformat().replace("+00:00", "Z")
