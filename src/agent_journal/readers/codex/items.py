"""Converts the items of the model's context: messages, reasoning, tool calls and tool results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Media, MediaKind, Other, Part, Role, Text, ToolCall, ToolResult, roles
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind
from agent_journal.readers.codex.names import CONTEXTS, IMAGE_TAGS, INJECTED, REQUEST, kind_of
from agent_journal.readers.dialects.injected_text import mark_injected_parts, with_typed_text
from agent_journal.readers.dialects.openai_items import TEXT_PIECE_FIELD_COUNT, TEXTS, id_of, take_reasoning
from agent_journal.readers.dialects.openai_messages import parse_data_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.notes import Notes

# Today's tools state an exit code in their first lines; until 2025 it was at the end of a JSON text.
_EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})")
_OLD_EXIT_CODE = re.compile(r'"exit_code": ?(-?\d{1,10})')
_OLD_PREFIX = '{"output":'
_HEAD_CHARS, _TAIL_CHARS = 400, 120
_MEDIA: dict[str, tuple[MediaKind, str]] = {
    "input_image": ("image", "image_url"),
    "input_audio": ("audio", "audio_url"),
}


class ItemMessage(Struct, frozen=True, gc=False):
    """The message of an item: role, parts, original content, and whether the app wrote it for the person."""

    role: Role
    parts: list[Part]
    native: Any = None
    hidden: bool = False


class ItemConverter:
    """Converts the items of one rollout to messages."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._call_ids: set[str] = set()
        self._unlinked: list[tuple[int | str, str]] = []
        self._unknown_types: set[str] = set()

    def convert(self, item: Fields) -> ItemMessage | None:
        """Convert an item to a message; None, and the item untouched, if its kind has no message."""
        kind = item.view("type")
        if kind is None and item.has("role"):
            return self._message(item)
        convert = self._CONVERTERS.get(kind) if kind.__class__ is str else None
        message = None if convert is None else convert(self, item)
        if message is not None:
            item.take("type")
        return message

    def note_unlinked(self) -> None:
        """Note once the results whose calls are not in this rollout."""
        if self._unlinked:
            location, call = self._unlinked[0]
            more = f" ({len(self._unlinked)} such results)" if len(self._unlinked) > 1 else ""
            self._note(Kind.UNLINKED_RESULT, location, f"{call[:60]!r}{more}")

    def _message(self, item: Fields) -> ItemMessage | None:
        stated = item.view("role")
        role = roles.role(stated)
        if role is None:
            return None
        if role == stated:
            item.drop("role")
        content = item.take("content")
        parts, hidden = self._parts(content, item.where), role == "system"
        if role == "user":
            parts, hidden = _separate_injected(parts)
        return ItemMessage(role, parts, content, hidden)

    def from_agent(self, item: Fields) -> ItemMessage:
        """Convert a message from or to another agent; `author` and `recipient` stay in the item."""
        content = item.take("content")
        return ItemMessage("user", self._parts(content, item.where), content, hidden=True)

    def _reasoning(self, item: Fields) -> ItemMessage:
        return ItemMessage("assistant", [take_reasoning(item)])

    def _function_call(self, item: Fields) -> ItemMessage:
        return self._call(item, item.text("name") or "", item.take("arguments"), item.text("call_id"))

    def _custom_call(self, item: Fields) -> ItemMessage:
        return self._call(item, item.text("name") or "", item.take("input"), item.text("call_id"))

    def _local_shell(self, item: Fields) -> ItemMessage:
        return self._call(item, "local_shell", item.take("action"), item.text("call_id") or id_of(item))

    def _web_search(self, item: Fields) -> ItemMessage:
        return self._call(item, "web_search", item.take("action"), item.text("call_id") or id_of(item))

    def _tool_search(self, item: Fields) -> ItemMessage:
        return self._call(item, "tool_search", item.take("arguments"), item.text("call_id") or id_of(item))

    def _call(self, item: Fields, name: str, value: Any, call_id: str | None) -> ItemMessage:
        if not name:
            self._note(Kind.WRONG_TYPE, item.where, "a call without a name")
        if call_id is not None:
            self._call_ids.add(call_id)
        kind = kind_of(name, item.view("namespace"))
        return ItemMessage("assistant", [ToolCall(name=name, call_id=call_id, input=value, kind=kind)])

    def _output(self, item: Fields) -> ItemMessage:
        """Convert a tool's output; text stays unchanged, even if it is JSON."""
        output, succeeded = item.take("output"), None
        if output is None:
            output = ""
        native = None if output.__class__ is str else output
        if output.__class__ is dict:
            native = dict(output)
            output, succeeded = self._structured_output(output, item)
        if output.__class__ is str:
            code = exit_code(output)
            failed = code != 0 if code is not None else None if succeeded is None else not succeeded
            extra = {} if code is None else {"exit_code": code}
        else:
            output = self._parts(output, item.where)
            failed, extra = None if succeeded is None else not succeeded, {}
        call_id = self._linked_call_id(item)
        result = ToolResult(call_id=call_id, output=output, is_error=failed, native=native, extra=extra)
        return ItemMessage("tool", [result])

    def _structured_output(self, raw: dict[str, Any], item: Fields) -> tuple[Any, bool | None]:
        """Get output and success of an output object; a single content part becomes a list."""
        if "content" not in raw:
            return [raw], None
        fields = Fields(raw, self._note, item.where)
        output, succeeded = fields.take("content"), fields.flag("success")
        if remaining := fields.rest():
            item.keep("output", remaining)
        return output, succeeded

    def _tool_search_output(self, item: Fields) -> ItemMessage:
        output: list[Any] = [Other(name="tools", data=item.take("tools"))]
        return ItemMessage("tool", [ToolResult(call_id=self._linked_call_id(item), output=output)])

    def _image_generation(self, item: Fields) -> ItemMessage:
        call_id, data = id_of(item), item.text("result")
        call = ToolCall(
            name="image_generation",
            call_id=call_id,
            input=item.take("revised_prompt"),
            kind=kind_of("image_generation"),
        )
        if data is None:
            return ItemMessage("assistant", [call])
        result = ToolResult(call_id=call_id, output=[Media(kind="image", data=data)])
        return ItemMessage("assistant", [call, result])

    def _linked_call_id(self, item: Fields) -> str | None:
        call_id = item.text("call_id")
        if call_id not in self._call_ids:
            self._unlinked.append((item.where, call_id or "a result without call_id"))
        return call_id

    def _parts(self, content: Any, location: int | str) -> list[Any]:
        """Convert content, which is not changed: a text, a list, or nothing."""
        if content.__class__ is list:
            return [self._part(raw, location) for raw in content]
        if content is None or content == "":
            return []
        if content.__class__ is str:
            return [Text(text=content)]
        unwrapped = unwrapped_parts(content, lambda inner: self._parts(inner, location))
        if unwrapped is not None:
            return unwrapped
        self._note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]

    def _part(self, raw: Any, location: int | str) -> Part:
        if raw.__class__ is str:
            return Text(text=raw)
        if raw.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, location, f"a content part is {type(raw).__name__}")
            return Other(data=raw)
        kind = raw.get("type")
        if len(raw) == TEXT_PIECE_FIELD_COUNT and kind in TEXTS and raw.get("text").__class__ is str:
            return Text(text=raw["text"])
        fields = Fields(dict(raw), self._note, location)
        fields.drop("type")
        if kind in TEXTS and fields.view("text").__class__ is str:
            return Text(text=fields.take("text"), extra=fields.rest())
        if kind == "refusal" and fields.view("refusal").__class__ is str:
            return Text(text=fields.take("refusal"), extra={"type": kind, **fields.rest()})
        if kind.__class__ is str and kind in _MEDIA:
            medium, field = _MEDIA[kind]
            url = fields.text(field)
            mime, data = parse_data_url(url)
            return Media(kind=medium, mime=mime, data=data, ref=None if data else url, extra=fields.rest())
        return self._other(raw, kind, location)

    def _other(self, raw: dict[str, Any], kind: Any, location: int | str) -> Other:
        name = kind if kind.__class__ is str else None
        if name != "encrypted_content" and name not in self._unknown_types:
            self._unknown_types.add(name or "")
            self._note(Kind.UNKNOWN_TYPE, location, f"content part {str(kind)[:40]!r}")
        return Other(data=raw, name=name)

    _CONVERTERS: ClassVar[dict[str, Callable[[ItemConverter, Fields], ItemMessage | None]]] = {
        "message": _message,
        "reasoning": _reasoning,
        "function_call": _function_call,
        "custom_tool_call": _custom_call,
        "local_shell_call": _local_shell,
        "web_search_call": _web_search,
        "tool_search_call": _tool_search,
        "function_call_output": _output,
        "custom_tool_call_output": _output,
        "local_shell_call_output": _output,
        "mcp_tool_call_output": _output,
        "tool_search_output": _tool_search_output,
        "image_generation_call": _image_generation,
        "agent_message": from_agent,
    }


def exit_code(output: str) -> int | None:
    """Get the exit code that the output of a command states, if any."""
    if output.startswith(_OLD_PREFIX):
        codes = _OLD_EXIT_CODE.findall(output, max(len(output) - _TAIL_CHARS, 0))
        return int(codes[-1]) if codes else None
    match = _EXIT_CODE.search(output, 0, _HEAD_CHARS)
    return int(match[1]) if match else None


def _separate_injected(parts: list[Part]) -> tuple[list[Part], bool]:
    """Mark the parts of a prompt that the app wrote; also return whether it wrote all of them."""
    separated, is_all = mark_injected_parts(parts, lambda text: text.startswith(INJECTED))
    if is_all:
        return parts, True
    return [piece for part in separated for piece in _split_context(part)], False


def _split_context(part: Part) -> list[Part]:
    """Split off what an editor put before a request."""
    if not isinstance(part, Text) or part.injected:
        return [part]
    if part.text.startswith(IMAGE_TAGS) and "\n" not in part.text.strip():
        return [replace(part, injected=True)]
    before, heading, request = part.text.partition(REQUEST)
    if not heading or not before.startswith(CONTEXTS):
        return [part]
    return [Text(text=before + heading, injected=True), with_typed_text(part, request.lstrip("\n"))]
