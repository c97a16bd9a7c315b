"""The documented form of a session: an id, a mode, custom instructions, a system prompt, messages.

No extension is known to write it; descriptions of how Roo Code maps to other formats use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Message, Text, ids, roles, tree
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code.names import PRODUCTS, ROO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Part
    from agent_journal.notes import Notes

_ID_KEYS = ("sessionId", "session_id", "taskId", "task_id", "conversation_id", "id")
_MODE_KEYS = ("active_mode", "activeMode", "mode")
_TIME_KEYS = ("timestamp", "ts", "created_at", "createdAt")
_PROMPT_KEYS = ("systemPrompt", "system_prompt", "prompt")
_GLOBAL_KEYS = ("customInstructions", "custom_instructions", "globalCustomInstructions")
_PER_MODE_KEYS = (
    "modeCustomInstructions",
    "mode_custom_instructions",
    "modeInstructions",
    "customModePrompts",
)
# The parts that a system prompt is joined from, in this order.
_PROMPT_PARTS = ("roleDefinition", "toolDescriptions", "customInstructions")


def read_sessions(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every session of a file."""
    for where, record in json_stream.values(source, note):
        if record.__class__ is dict:
            yield _Session(Fields(record, note, where), name).conversation()
        else:
            note(Kind.BAD_RECORD, where, f"it is {type(record).__name__}, not an object")


class _Session:
    """Converts one session."""

    def __init__(self, fields: Fields, name: str) -> None:
        self._fields = fields
        self._name = name
        self._id = _first_text(fields, _ID_KEYS)
        self._made_ids = 0
        self._ids: set[str] = set()

    def conversation(self) -> Conversation:
        fields = self._fields
        messages = [*self._system_messages(), *self._convert_messages()]
        if self._id is None:
            fields.note(Kind.MISSING_ID, fields.where, "no session id")
        started_at, updated_at = tree.span(messages)
        first = next((message for message in messages if message.role == "user"), None)
        return Conversation(
            id=self._session_id(messages),
            made_id=self._id is None,
            source=self._name,
            product=PRODUCTS[ROO],
            title=fields.text("title") or tree.title_from(() if first is None else [tree.plain_text(first)]),
            started_at=_first_time(fields, _TIME_KEYS) or started_at,
            updated_at=updated_at,
            app_version=fields.text("version"),
            model=fields.text("model"),
            cwd=fields.text("workspace") or fields.text("cwd"),
            shape="list",
            timeline=list(messages),
            platform={"extension": ROO, **self._mode_facts()},
            context=self._instructions(),
            extra=fields.rest(),
        )

    def _session_id(self, messages: list[Message]) -> str:
        if self._id is not None:
            return self._id
        return ids.made(
            self._name, [[message.role, message.at, tree.plain_text(message)] for message in messages[:2]]
        )

    def _mode_facts(self) -> Bag:
        fields = self._fields
        stated = {name: fields.text(name) for name in _MODE_KEYS}
        active = stated["active_mode"] or stated["activeMode"] or stated["mode"]
        mode = stated["mode"] or active
        modes = fields.items("available_modes") or fields.items("availableModes")
        persistence = fields.flag("mode_persistence")
        persistence = fields.flag("modePersistence") if persistence is None else persistence
        bag = {"mode": mode, "active_mode": active, "available_modes": modes, "mode_persistence": persistence}
        return {name: value for name, value in bag.items() if value is not None}

    def _instructions(self) -> Bag:
        """Return the custom instructions for all modes and for each mode."""
        everywhere, per_mode = (_first_value(self._fields, names) for names in (_GLOBAL_KEYS, _PER_MODE_KEYS))
        if everywhere is None and per_mode is None:
            return {}
        if per_mode is None:
            return {"custom_instructions": everywhere}
        return {"custom_instructions": {"global": everywhere, "modes": per_mode}}

    def _system_messages(self) -> list[Message]:
        """Return the system prompt, if it is separate from the messages."""
        fields = self._fields
        if fields.view("roleDefinition").__class__ is str:
            parts = {name: fields.take(name) for name in (*_PROMPT_PARTS[:2], "capabilities", "systemInfo")}
            return [self._system_message({name: value for name, value in parts.items() if value is not None})]
        for name in _PROMPT_KEYS:
            value = fields.view(name)
            if value.__class__ is dict:
                fields.drop(name)
                return [self._system_message(value)]
            if value.__class__ is str and value:
                fields.drop(name)
                return [self._system_message({_PROMPT_PARTS[0]: value})]
        return []

    def _convert_messages(self) -> Iterator[Message]:
        for index, raw in enumerate(self._fields.items("messages") or ()):
            if raw.__class__ is not dict:
                self._fields.note(Kind.BAD_RECORD, f"messages[{index}]", f"it is {type(raw).__name__}")
            elif "roleDefinition" in raw and "content" not in raw:
                yield self._system_message(raw)
            else:
                yield self._convert_message(Fields(raw, self._fields.note, f"messages[{index}]"))

    def _system_message(self, raw: dict[str, Any]) -> Message:
        """Join the parts of a system prompt to one text; its other fields go to `extra`."""
        fields = Fields(raw, self._fields.note, "system prompt")
        texts = [text for name in _PROMPT_PARTS if (text := _joined(fields, name))]
        at = _first_time(fields, _TIME_KEYS)
        if roles.role(fields.view("role") or fields.view("type")) == "system":
            fields.drop("role", "type")
        parts: list[Part] = [Text(text="\n\n".join(texts))] if texts else []
        message_id, made_id = self._message_id(fields)
        return Message(id=message_id, made_id=made_id, role="system", at=at, parts=parts, extra=fields.rest())

    def _convert_message(self, fields: Fields) -> Message:
        stated = "role" if fields.has("role") else "type"
        role = roles.role(fields.view(stated))
        if role is None:
            fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(fields.view(stated))[:40]!r}")
        elif role == str(fields.view(stated)).lower():
            fields.drop(stated)
        content = _first_value(fields, ("content", "text"))
        parts = [contents.part_of(block, fields.note, fields.where) for block in contents.blocks_of(content)]
        if content.__class__ is dict and (wrapper := unwrap(content)[1]):
            fields.keep("content", wrapper)
        message_id, made_id = self._message_id(fields)
        return Message(
            id=message_id,
            made_id=made_id,
            role=role or "user",
            at=_first_time(fields, _TIME_KEYS),
            model=fields.text("model"),
            parts=parts,
            native=None if content is None else contents.native_content(content, parts),
            extra=fields.rest(),
        )

    def _message_id(self, fields: Fields) -> tuple[str, bool]:
        stated = fields.text("id") or fields.text("message_id")
        if stated and stated not in self._ids:
            self._ids.add(stated)
            return stated, False
        if stated:
            fields.note(Kind.DUPLICATE_ID, fields.where, stated)
            fields.keep("id", stated)
        self._made_ids += 1
        return ids.made(self._name, self._id, self._made_ids), True


def _joined(fields: Fields, name: str) -> str | None:
    """Take a part of a prompt: a text, or several joined to one."""
    value = fields.view(name)
    if value.__class__ is list and all(text.__class__ is str for text in value):
        fields.drop(name)
        return "\n\n".join(value)
    return fields.take(name) if value.__class__ is str else None


def _first_value(fields: Fields, names: tuple[str, ...]) -> Any:
    return next((fields.take(name) for name in names if fields.view(name) is not None), None)


def _first_text(fields: Fields, names: tuple[str, ...]) -> str | None:
    return next((fields.take(name) for name in names if fields.view(name).__class__ is str), None) or None


def _first_time(fields: Fields, names: tuple[str, ...]) -> str | None:
    return next((fields.timestamp(name) for name in names if fields.view(name) is not None), None)
