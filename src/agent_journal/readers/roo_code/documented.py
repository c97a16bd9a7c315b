"""The documented form of a session: an id, a mode, custom instructions, a system prompt of parts, messages.

No extension is known to write it; it is what a mapping of Roo Code to other formats is described by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Message, Text, ids, roles, tree
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code.names import ROO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Part
    from agent_journal.notes import Notes

_IDS = ("sessionId", "session_id", "taskId", "task_id", "conversation_id", "id")
_MODES = ("active_mode", "activeMode", "mode")
_TIMES = ("timestamp", "ts", "created_at", "createdAt")
_PROMPTS = ("systemPrompt", "system_prompt", "prompt")
_GLOBAL = ("customInstructions", "custom_instructions", "globalCustomInstructions")
_PER_MODE = ("modeCustomInstructions", "mode_custom_instructions", "modeInstructions", "customModePrompts")
# What a system prompt is joined of, in this order.
_PROMPT_PARTS = ("roleDefinition", "toolDescriptions", "customInstructions")


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """Every session of a file."""
    for where, record in json_stream.values(source, note):
        if record.__class__ is dict:
            yield _Session(Fields(record, note, where), name).conversation()
        else:
            note(Kind.BAD_RECORD, where, f"it is {type(record).__name__}, not an object")


class _Session:
    """One session."""

    def __init__(self, fields: Fields, name: str) -> None:
        self._fields = fields
        self._name = name
        self._id = _first_text(fields, _IDS)
        self._made = 0
        self._ids: set[str] = set()

    def conversation(self) -> Conversation:
        fields = self._fields
        messages = [*self._system(), *self._messages()]
        if self._id is None:
            fields.note(Kind.MISSING_ID, fields.where, "no session id")
        started_at, updated_at = tree.span(messages)
        first = next((message for message in messages if message.role == "user"), None)
        return Conversation(
            id=self._session_id(messages),
            made_id=self._id is None,
            source=self._name,
            title=fields.text("title") or tree.title_from(() if first is None else [tree.plain_text(first)]),
            started_at=_first_moment(fields, _TIMES) or started_at,
            updated_at=updated_at,
            app_version=fields.text("version"),
            model=fields.text("model"),
            cwd=fields.text("workspace") or fields.text("cwd"),
            shape="list",
            timeline=list(messages),
            platform={"extension": ROO, **self._modes()},
            context=self._instructions(),
            extra=fields.rest(),
        )

    def _session_id(self, messages: list[Message]) -> str:
        if self._id is not None:
            return self._id
        return ids.made(
            self._name, [[message.role, message.at, tree.plain_text(message)] for message in messages[:2]]
        )

    def _modes(self) -> Bag:
        fields = self._fields
        stated = {name: fields.text(name) for name in _MODES}
        active = stated["active_mode"] or stated["activeMode"] or stated["mode"]
        mode = stated["mode"] or active
        modes = fields.items("available_modes") or fields.items("availableModes")
        lasts = fields.flag("mode_persistence")
        lasts = fields.flag("modePersistence") if lasts is None else lasts
        bag = {"mode": mode, "active_mode": active, "available_modes": modes, "mode_persistence": lasts}
        return {name: value for name, value in bag.items() if value is not None}

    def _instructions(self) -> Bag:
        """Custom instructions: those for all modes and those for each, as they are stated."""
        everywhere, per_mode = (_first_value(self._fields, names) for names in (_GLOBAL, _PER_MODE))
        if everywhere is None and per_mode is None:
            return {}
        if per_mode is None:
            return {"custom_instructions": everywhere}
        return {"custom_instructions": {"global": everywhere, "modes": per_mode}}

    def _system(self) -> list[Message]:
        """The system prompt, if it stands beside the messages."""
        fields = self._fields
        if fields.look("roleDefinition").__class__ is str:
            parts = {name: fields.take(name) for name in (*_PROMPT_PARTS[:2], "capabilities", "systemInfo")}
            return [self._prompt({name: value for name, value in parts.items() if value is not None})]
        for name in _PROMPTS:
            value = fields.look(name)
            if value.__class__ is dict:
                fields.drop(name)
                return [self._prompt(value)]
            if value.__class__ is str and value:
                fields.drop(name)
                return [self._prompt({_PROMPT_PARTS[0]: value})]
        return []

    def _messages(self) -> Iterator[Message]:
        for index, raw in enumerate(self._fields.items("messages") or ()):
            if raw.__class__ is not dict:
                self._fields.note(Kind.BAD_RECORD, f"messages[{index}]", f"it is {type(raw).__name__}")
            elif "roleDefinition" in raw and "content" not in raw:
                yield self._prompt(raw)
            else:
                yield self._message(Fields(raw, self._fields.note, f"messages[{index}]"))

    def _prompt(self, raw: dict[str, Any]) -> Message:
        """A system prompt: its parts are one text, what else is said of it stays beside that."""
        fields = Fields(raw, self._fields.note, "system prompt")
        texts = [text for name in _PROMPT_PARTS if (text := _joined(fields, name))]
        at = _first_moment(fields, _TIMES)
        if roles.role(fields.look("role") or fields.look("type")) == "system":
            fields.drop("role", "type")
        parts: list[Part] = [Text(text="\n\n".join(texts))] if texts else []
        message_id, made_id = self._message_id(fields)
        return Message(id=message_id, made_id=made_id, role="system", at=at, parts=parts, extra=fields.rest())

    def _message(self, fields: Fields) -> Message:
        stated = "role" if fields.has("role") else "type"
        role = roles.role(fields.look(stated))
        if role is None:
            fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(fields.look(stated))[:40]!r}")
        elif role == str(fields.look(stated)).lower():
            fields.drop(stated)
        content = _first_value(fields, ("content", "text"))
        parts = [contents.part_of(block, fields.note, fields.where) for block in contents.blocks_of(content)]
        if content.__class__ is dict and (beside := unwrap(content)[1]):
            fields.keep("content", beside)
        message_id, made_id = self._message_id(fields)
        return Message(
            id=message_id,
            made_id=made_id,
            role=role or "user",
            at=_first_moment(fields, _TIMES),
            model=fields.text("model"),
            parts=parts,
            native=None if content is None else contents.native(content, parts),
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
        self._made += 1
        return ids.made(self._name, self._id, self._made), True


def _joined(fields: Fields, name: str) -> str | None:
    """A part of a prompt that is a text, or several."""
    value = fields.look(name)
    if value.__class__ is list and all(text.__class__ is str for text in value):
        fields.drop(name)
        return "\n\n".join(value)
    return fields.take(name) if value.__class__ is str else None


def _first_value(fields: Fields, names: tuple[str, ...]) -> Any:
    return next((fields.take(name) for name in names if fields.look(name) is not None), None)


def _first_text(fields: Fields, names: tuple[str, ...]) -> str | None:
    return next((fields.take(name) for name in names if fields.look(name).__class__ is str), None) or None


def _first_moment(fields: Fields, names: tuple[str, ...]) -> str | None:
    return next((fields.moment(name) for name in names if fields.look(name) is not None), None)
