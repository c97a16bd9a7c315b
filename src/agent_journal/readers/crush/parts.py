"""The parts of a message: objects with a type and data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Media, MediaKind, Other, Part, Reasoning, Text, ToolCall, ToolResult
from agent_journal.notes import Kind
from agent_journal.readers.crush.names import TOOL_KINDS
from agent_journal.readers.dialects.openai_messages import parse_data_url

if TYPE_CHECKING:
    from agent_journal.model import Bag

_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video", "text": "document"}


class Parts:
    """Collects the parts of one message."""

    def __init__(self, row: Fields) -> None:
        self.parts: list[Part] = []
        self.stop_reason: str | None = None
        self.rest: Bag = {}
        self._row = row

    def add_all(self, raw: Any) -> None:
        """Add the parts in a column."""
        if raw.__class__ is list:
            for part in raw:
                self._add(part)
        elif raw is not None:
            self._row.note(Kind.WRONG_TYPE, self._row.where, f"parts is {type(raw).__name__}")
            self.parts.append(Other(data=raw))

    def _add(self, raw: Any) -> None:
        kind = raw.get("type") if raw.__class__ is dict else None
        data = raw.get("data") if raw.__class__ is dict else None
        fields = Fields(dict(data) if data.__class__ is dict else {}, self._row.note, self._row.where)
        match kind:
            case "text" if fields.view("text").__class__ is str:
                self._append_text(fields)
            case "reasoning":
                self._append_reasoning(fields)
            case "image_url" if fields.view("url").__class__ is str:
                mime, content = parse_data_url(fields.view("url"))
                url = fields.text("url")
                self.parts.append(
                    Media(
                        kind="image",
                        mime=mime,
                        data=content,
                        ref=None if content else url,
                        extra=fields.rest(),
                    )
                )
            case "binary":
                self._append_file(fields)
            case "tool_call":
                self._append_call(fields)
            case "tool_result":
                self._append_result(fields)
            case "shell_command" if nonempty_str(fields.view("command")):
                self._append_command(fields)
            case "finish":
                self.stop_reason = fields.text("reason")
                rest = {name: value for name, value in fields.rest().items() if value != ""}
                self.rest = {"finish": rest} if rest else {}
            case _:
                self._row.note(Kind.UNKNOWN_TYPE, self._row.where, f"part {str(kind)[:40]!r}")
                self.parts.append(Other(data=raw, name=nonempty_str(kind)))

    def _append_text(self, fields: Fields) -> None:
        text = fields.take("text")
        if text or fields.rest():
            self.parts.append(Text(text=text, extra=fields.rest()))

    def _append_reasoning(self, fields: Fields) -> None:
        _drop_empty(fields, "thought_signature", "tool_id", "responses_data")
        text, signature = fields.text("thinking"), fields.text("signature")
        if text or signature or fields.view("thought_signature") or fields.view("responses_data"):
            self.parts.append(Reasoning(text=text or None, signature=signature or None, extra=fields.rest()))

    def _append_file(self, fields: Fields) -> None:
        path = fields.text("Path") or fields.text("path")
        mime = fields.text("MIMEType") or fields.text("mime_type")
        data = fields.text("Data") or fields.text("data")
        kind = _MEDIA.get((mime or "").partition("/")[0], "file")
        name = path.replace("\\", "/").rsplit("/", 1)[-1] if path else None
        self.parts.append(
            Media(kind=kind, mime=mime or None, name=name, ref=path or None, data=data, extra=fields.rest())
        )

    def _append_call(self, fields: Fields) -> None:
        name = fields.text("name") or ""
        if fields.view("finished") is True:
            fields.drop("finished")
        if fields.view("provider_executed") is False:
            fields.drop("provider_executed")
        self.parts.append(
            ToolCall(
                call_id=fields.text("id"),
                name=name,
                input=fields.take("input"),
                kind=TOOL_KINDS.get(name),
                extra=fields.rest(),
            )
        )

    def _append_result(self, fields: Fields) -> None:
        _drop_empty(fields, "data", "mime_type", "metadata")
        text = fields.text("content") or ""
        output: Any = text
        if (data := fields.view("data")).__class__ is str:
            mime = fields.text("mime_type")
            kind = _MEDIA.get((mime or "").partition("/")[0], "file")
            fields.drop("data")
            output = [*([Text(text=text)] if text else []), Media(kind=kind, mime=mime, data=data)]
        self.parts.append(
            ToolResult(
                call_id=fields.text("tool_call_id"),
                name=fields.text("name") or None,
                output=output,
                is_error=fields.flag("is_error"),
                extra=fields.rest(),
            )
        )

    def _append_command(self, fields: Fields) -> None:
        """Add a command that the user typed, and what it printed."""
        call_id = f"{self._row.view('id')}:{len(self.parts)}"
        command = {"command": fields.take("command")}
        self.parts.append(ToolCall(call_id=call_id, name="shell_command", input=command, kind="shell"))
        output = fields.text("output") or ""
        self.parts.append(ToolResult(call_id=call_id, output=output, extra=fields.rest()))


def _drop_empty(fields: Fields, *optional: str) -> None:
    for name in optional:
        if not fields.view(name):
            fields.drop(name)
