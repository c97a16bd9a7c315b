"""The items of the model's context: messages, thoughts, calls of tools and what they answered."""

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
from agent_journal.readers.dialects.injected_text import marked, typed_in
from agent_journal.readers.dialects.openai_items import ONLY_TEXT, TEXTS, id_of, reasoning
from agent_journal.readers.dialects.openai_messages import inline

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.notes import Notes

# How an exit code is told: by today's tools in their first lines, until 2025 at the end of a JSON text.
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})")
_OLD_EXIT = re.compile(r'"exit_code": ?(-?\d{1,10})')
_OLD_BEGINNING = '{"output":'
_HEAD, _TAIL = 400, 120
_MEDIA: dict[str, tuple[MediaKind, str]] = {
    "input_image": ("image", "image_url"),
    "input_audio": ("audio", "audio_url"),
}


class Said(Struct, frozen=True, gc=False):
    """What an item says: who, what, the content as it was, and whether the app said it for the person."""

    role: Role
    parts: list[Part]
    native: Any = None
    hidden: bool = False


class Items:
    """Tells what the items of one rollout say."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._calls: set[str] = set()
        self._unlinked: list[tuple[int | str, str]] = []
        self._unknown: set[str] = set()

    def said(self, item: Fields) -> Said | None:
        """What an item says; None, and the item untouched, if it is of no kind that says anything."""
        kind = item.look("type")
        if kind is None and item.has("role"):
            return self._message(item)
        way = self._WAYS.get(kind) if kind.__class__ is str else None
        said = None if way is None else way(self, item)
        if said is not None:
            item.take("type")
        return said

    def note_unlinked(self) -> None:
        """Note once the results that answer no call of this rollout."""
        if self._unlinked:
            where, call = self._unlinked[0]
            more = f" ({len(self._unlinked)} such results)" if len(self._unlinked) > 1 else ""
            self._note(Kind.UNLINKED_RESULT, where, f"{call[:60]!r}{more}")

    def _message(self, item: Fields) -> Said | None:
        stated = item.look("role")
        role = roles.role(stated)
        if role is None:
            return None
        if role == stated:
            item.drop("role")
        content = item.take("content")
        parts, hidden = self._parts(content, item.where), role == "system"
        if role == "user":
            parts, hidden = _separated(parts)
        return Said(role, parts, content, hidden)

    def from_agent(self, item: Fields) -> Said:
        """What another agent said to this one, or this one to another; `author` and `recipient` stay."""
        content = item.take("content")
        return Said("user", self._parts(content, item.where), content, hidden=True)

    def _reasoning(self, item: Fields) -> Said:
        return Said("assistant", [reasoning(item)])

    def _function_call(self, item: Fields) -> Said:
        return self._call(item, item.text("name") or "", item.take("arguments"), item.text("call_id"))

    def _custom_call(self, item: Fields) -> Said:
        return self._call(item, item.text("name") or "", item.take("input"), item.text("call_id"))

    def _local_shell(self, item: Fields) -> Said:
        return self._call(item, "local_shell", item.take("action"), item.text("call_id") or id_of(item))

    def _web_search(self, item: Fields) -> Said:
        return self._call(item, "web_search", item.take("action"), item.text("call_id") or id_of(item))

    def _tool_search(self, item: Fields) -> Said:
        return self._call(item, "tool_search", item.take("arguments"), item.text("call_id") or id_of(item))

    def _call(self, item: Fields, name: str, value: Any, call_id: str | None) -> Said:
        if not name:
            self._note(Kind.WRONG_TYPE, item.where, "a call without a name")
        if call_id is not None:
            self._calls.add(call_id)
        kind = kind_of(name, item.look("namespace"))
        return Said("assistant", [ToolCall(name=name, call_id=call_id, input=value, kind=kind)])

    def _output(self, item: Fields) -> Said:
        """What a tool answered; a text stays as it is, also where it is JSON."""
        output, succeeded = item.take("output"), None
        if output is None:
            output = ""
        native = None if output.__class__ is str else output
        if output.__class__ is dict:
            native = dict(output)
            output, succeeded = self._told_output(output, item)
        if output.__class__ is str:
            code = exit_code(output)
            failed = code != 0 if code is not None else None if succeeded is None else not succeeded
            extra = {} if code is None else {"exit_code": code}
        else:
            output = self._parts(output, item.where)
            failed, extra = None if succeeded is None else not succeeded, {}
        call_id = self._answered(item)
        result = ToolResult(call_id=call_id, output=output, is_error=failed, native=native, extra=extra)
        return Said("tool", [result])

    def _told_output(self, raw: dict[str, Any], item: Fields) -> tuple[Any, bool | None]:
        """Output and success of an answer that is an object; one content part counts as a list of it."""
        if "content" not in raw:
            return [raw], None
        told = Fields(raw, self._note, item.where)
        output, succeeded = told.take("content"), told.flag("success")
        if left := told.rest():
            item.keep("output", left)
        return output, succeeded

    def _found_tools(self, item: Fields) -> Said:
        output: list[Any] = [Other(name="tools", data=item.take("tools"))]
        return Said("tool", [ToolResult(call_id=self._answered(item), output=output)])

    def _picture(self, item: Fields) -> Said:
        call_id, data = id_of(item), item.text("result")
        asked = ToolCall(
            name="image_generation",
            call_id=call_id,
            input=item.take("revised_prompt"),
            kind=kind_of("image_generation"),
        )
        if data is None:
            return Said("assistant", [asked])
        made = ToolResult(call_id=call_id, output=[Media(kind="image", data=data)])
        return Said("assistant", [asked, made])

    def _answered(self, item: Fields) -> str | None:
        call_id = item.text("call_id")
        if call_id not in self._calls:
            self._unlinked.append((item.where, call_id or "a result without call_id"))
        return call_id

    def _parts(self, content: Any, where: int | str) -> list[Any]:
        """The parts of content, which stays as it is: a text, a list, or nothing."""
        if content.__class__ is list:
            return [self._part(raw, where) for raw in content]
        if content is None or content == "":
            return []
        if content.__class__ is str:
            return [Text(text=content)]
        found = unwrapped_parts(content, lambda inner: self._parts(inner, where))
        if found is not None:
            return found
        self._note(Kind.WRONG_TYPE, where, f"content is {type(content).__name__}")
        return [Other(data=content)]

    def _part(self, raw: Any, where: int | str) -> Part:
        if raw.__class__ is str:
            return Text(text=raw)
        if raw.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, f"a content part is {type(raw).__name__}")
            return Other(data=raw)
        kind = raw.get("type")
        if len(raw) == ONLY_TEXT and kind in TEXTS and raw.get("text").__class__ is str:
            return Text(text=raw["text"])
        fields = Fields(dict(raw), self._note, where)
        fields.drop("type")
        if kind in TEXTS and fields.look("text").__class__ is str:
            return Text(text=fields.take("text"), extra=fields.rest())
        if kind == "refusal" and fields.look("refusal").__class__ is str:
            return Text(text=fields.take("refusal"), extra={"type": kind, **fields.rest()})
        if kind.__class__ is str and kind in _MEDIA:
            medium, field = _MEDIA[kind]
            url = fields.text(field)
            mime, data = inline(url)
            return Media(kind=medium, mime=mime, data=data, ref=None if data else url, extra=fields.rest())
        return self._other(raw, kind, where)

    def _other(self, raw: dict[str, Any], kind: Any, where: int | str) -> Other:
        name = kind if kind.__class__ is str else None
        if name != "encrypted_content" and name not in self._unknown:
            self._unknown.add(name or "")
            self._note(Kind.UNKNOWN_TYPE, where, f"content part {str(kind)[:40]!r}")
        return Other(data=raw, name=name)

    _WAYS: ClassVar[dict[str, Callable[[Items, Fields], Said | None]]] = {
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
        "tool_search_output": _found_tools,
        "image_generation_call": _picture,
        "agent_message": from_agent,
    }


def exit_code(output: str) -> int | None:
    """The exit code that the output of a command tells, if it tells one."""
    if output.startswith(_OLD_BEGINNING):
        found = _OLD_EXIT.findall(output, max(len(output) - _TAIL, 0))
        return int(found[-1]) if found else None
    told = _EXIT.search(output, 0, _HEAD)
    return int(told[1]) if told else None


def _separated(parts: list[Part]) -> tuple[list[Part], bool]:
    """The parts of a prompt with those marked that the app wrote; and whether it wrote all of them."""
    found, is_all = marked(parts, lambda text: text.startswith(INJECTED))
    if is_all:
        return parts, True
    return [each for part in found for each in _behind_context(part)], False


def _behind_context(part: Part) -> list[Part]:
    """A part; what an editor puts before a request becomes a part of its own."""
    if not isinstance(part, Text) or part.injected:
        return [part]
    if part.text.startswith(IMAGE_TAGS) and "\n" not in part.text.strip():
        return [replace(part, injected=True)]
    before, heading, request = part.text.partition(REQUEST)
    if not heading or not before.startswith(CONTEXTS):
        return [part]
    return [Text(text=before + heading, injected=True), typed_in(part, request.lstrip("\n"))]
