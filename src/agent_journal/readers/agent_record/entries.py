"""Converts the entries of a record to messages and events, with unique ids and parents first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Other, Role, ToolResult, ids, tree
from agent_journal.model.content_blocks import exactly, parts_in, same
from agent_journal.model.leftovers import leftover_fields
from agent_journal.notes import Kind
from agent_journal.readers.agent_record.actions import (
    CONVERTERS,
    restored_extra,
    result_values,
    text_part,
    usage,
)
from agent_journal.readers.agent_record.own_fields import (
    EventOwnFields,
    MessageOwnFields,
    restore_shared_texts,
    take_own_fields,
)
from agent_journal.records.forms import OWN_FIELDS, TOKEN_COUNTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.model import Part, ToolKind
    from agent_journal.model.content_blocks import Action
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_MESSAGE_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
# The roles of messages that are made from separate entries.
_ACTION_ROLES: dict[str, Role] = {"tool-call": "assistant", "reasoning": "assistant", "tool-result": "tool"}
# Fields of a separate entry that belong to the call or reasoning, not to its message.
_ACTION_FIELDS = {
    "tool-call": ("name", "input", "call-id"),
    "reasoning": ("content", "encrypted", "summary", "signature"),
}


class EntryConverter:
    """Converts the entries of one record to a timeline."""

    def __init__(
        self, conversation_id: str, kinds: dict[str, ToolKind], note: Notes, *, is_own_record: bool
    ) -> None:
        self._conversation_id = conversation_id
        self._kinds = kinds
        self._note = note
        self._is_own_record = is_own_record
        self._seen_ids: set[str] = set()
        self._raws: list[Any] = []

    def timeline(self, raws: list[Any]) -> list[Entry]:
        """Convert all entries; children of a message that are not its parts follow it."""
        timeline: list[Entry] = []
        self._raws = raws
        if self._is_own_record:
            for raw in raws:
                restore_shared_texts(raw)
        pending: list[tuple[Any, str | None, str, list[int]]] = [
            (raws[index], None, f"entries[{index}]", parts) for index, parts in _grouped(raws)
        ]
        pending.reverse()
        while pending:
            raw, parent, where, parts = pending.pop()
            entry, children = self._entry(raw, parent, where, parts)
            timeline.append(entry)
            pending += [
                (child, entry.id, f"{where}.children[{index}]", []) for index, child in reversed(children)
            ]
        # Records that this program wrote need no repair.
        return timeline if self._is_own_record else self._parents_first(timeline)

    def _entry(
        self, raw: Any, parent: str | None, where: str, parts: list[int]
    ) -> tuple[Entry, list[tuple[int, Any]]]:
        if raw.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, f"an entry is {type(raw).__name__}")
            raw = {"type": "unknown", "value": raw}
        fields = Fields(raw, self._note, where)
        kind = fields.view("type")
        kind = kind if kind.__class__ is str else ""
        if _own_field(raw, "event").__class__ is str:
            return self._event(fields, "system-event", parent), []
        if kind in _MESSAGE_ROLES or _own_field(raw, "role").__class__ is str:
            return self._message(fields, kind, parent, parts)
        if kind == "tool-result":
            return self._result_message(fields, parent), []
        if kind in CONVERTERS:
            return self._action_message(fields, kind, parent)
        return self._event(fields, kind, parent), []

    def _position(
        self, fields: Fields, parent: str | None, own_fields: MessageOwnFields | EventOwnFields
    ) -> dict[str, Any]:
        """Get id, parent and time of an entry."""
        stated = fields.text("id") if own_fields.id is None else own_fields.id
        if stated is not None and stated in self._seen_ids and not self._is_own_record:
            self._note(Kind.DUPLICATE_ID, fields.where, stated[:60])
            fields.keep("id", stated)
            stated = None
        entry_id = ids.made(self._conversation_id, fields.where) if stated is None else stated
        self._seen_ids.add(entry_id)
        stated_parent = fields.text("parent-id")
        return {
            "id": entry_id,
            "made_id": own_fields.made_id or own_fields.id is not None or stated is None,
            "parent_id": parent if stated_parent is None else stated_parent,
            "at": fields.timestamp("timestamp"),
        }

    def _message(
        self, fields: Fields, kind: str, parent: str | None, part_indexes: list[int]
    ) -> tuple[Entry, list[tuple[int, Any]]]:
        own_fields = take_own_fields(fields, MessageOwnFields)
        if own_fields.preceding is not None:
            return self._with_preceding_parts(fields, own_fields, parent, part_indexes), []
        content = _content(fields, kind)
        if own_fields.content is not UNSET:
            content = own_fields.content
        actions, others = self._children(fields)
        parts = _stated_parts(own_fields, actions)
        if parts is None:
            parts = parts_in(content, actions)
        role = own_fields.role or _MESSAGE_ROLES.get(kind, "assistant")
        return self._build(fields, own_fields, parent, role=role, parts=parts, content=content), others

    def _with_preceding_parts(
        self, fields: Fields, own_fields: MessageOwnFields, parent: str | None, part_indexes: list[int]
    ) -> Message:
        """Convert a message whose parts are the entries before it."""
        preceding = [self._part(self._raws[index], f"entries[{index}]") for index in part_indexes]
        parts = _stated_parts(own_fields, preceding)
        content = fields.take("content")
        if own_fields.parent and fields.view("parent-id").__class__ is str:
            fields.keep(own_fields.parent, fields.take("parent-id"))
        return self._build(
            fields,
            replace(own_fields, native=True),
            parent,
            role=own_fields.role or _MESSAGE_ROLES.get(str(fields.view("type")), "assistant"),
            parts=preceding if parts is None else parts,
            content=content,
        )

    def _part(self, raw: Any, where: str) -> Part:
        """Convert an entry that is a part of a message."""
        if raw.__class__ is not dict:
            return Other(data=raw)
        fields = Fields(raw, self._note, where)
        kind = raw.get("type")
        convert = CONVERTERS.get(kind) if kind.__class__ is str else None
        part = text_part(fields) if convert is None else convert(fields, self._kinds)
        return Other(data=fields.rest()) if part is None else part

    def _children(self, fields: Fields) -> tuple[list[Action], list[tuple[int, Any]]]:
        """Split the children of a message into its actions and other entries."""
        actions: list[Action] = []
        others: list[tuple[int, Any]] = []
        for index, child in enumerate(fields.items("children") or ()):
            kind = child.get("type") if child.__class__ is dict else None
            convert = CONVERTERS.get(kind) if kind.__class__ is str else None
            if convert is None:
                others.append((index, child))
            else:
                inner = Fields(child, self._note, f"{fields.where}.children[{index}]")
                actions.append(convert(inner, self._kinds))
        return actions, others

    def _build(
        self,
        fields: Fields,
        own_fields: MessageOwnFields,
        parent: str | None,
        *,
        role: Role,
        parts: list[Part],
        content: Any,
    ) -> Message:
        is_native = own_fields.native if own_fields.native is not None else not same(exactly(parts), content)
        position = self._position(fields, parent, own_fields)
        token_usage = usage(fields, own_fields.usage) if own_fields.counts is None else own_fields.counts
        fields.drop("type")
        values: dict[str, Any] = {
            **position,
            "role": role,
            "model": fields.text("model-id"),
            "stop_reason": fields.text("stop-reason"),
            "parts": parts,
            "usage": token_usage,
            "native": content if is_native else None,
            "extra": restored_extra(fields, own_fields.extra, own_fields.inside),
        }
        return Message(**values | leftover_fields(own_fields))

    def _result_message(self, fields: Fields, parent: str | None) -> Message:
        """Convert a separate tool result to a message."""
        own_fields = take_own_fields(fields, MessageOwnFields)
        values = result_values(fields, own_fields.result)
        extra = {name: fields.take(name) for name in own_fields.result.fields if fields.has(name)}
        if fields.has("status"):
            extra["status"] = fields.take("status")
        result = ToolResult(**values, extra=extra | own_fields.result.extra)
        content = None if own_fields.content is UNSET else own_fields.content
        parts = _stated_parts(own_fields, [result])
        if parts is None:
            parts = parts_in(content, [result])
        return self._build(fields, own_fields, parent, role="tool", parts=parts, content=content)

    def _action_message(
        self, fields: Fields, kind: str, parent: str | None
    ) -> tuple[Entry, list[tuple[int, Any]]]:
        """Convert a separate call or reasoning, with its children, to a message."""
        if not self._is_own_record:
            position = self._position(fields, parent, EventOwnFields())
            part = CONVERTERS[kind](fields, self._kinds)
            return Message(**position, role=_ACTION_ROLES[kind], parts=[part]), []
        own_fields = take_own_fields(fields, MessageOwnFields)
        further_names = own_fields.part.pop("fields", None) or []
        action_fields = fields.take_all([*_ACTION_FIELDS[kind], *further_names])
        if own_fields.part:
            action_fields[OWN_FIELDS] = own_fields.part
        first = CONVERTERS[kind](Fields(action_fields, self._note, fields.where), self._kinds)
        actions, others = self._children(fields)
        message = self._build(
            fields, own_fields, parent, role=_ACTION_ROLES[kind], parts=[first, *actions], content=None
        )
        return replace(message, native=None), others

    def _event(self, fields: Fields, kind: str, parent: str | None) -> Event:
        if kind == "system-event":
            own_fields = take_own_fields(fields, EventOwnFields)
            fields.drop("type")
            name = fields.text("event-type") if own_fields.event is None else own_fields.event
        else:
            own_fields, name = EventOwnFields(), kind or None
            if not fields.has("vendor-ext"):  # 2.0.0 has entries of any type
                self._note(
                    Kind.UNKNOWN_TYPE, fields.where, f"entry of type {str(fields.view('type'))[:40]!r}"
                )
        position = self._position(fields, parent, own_fields)
        _restore_data(fields, own_fields)
        data = fields.bag("data")
        rest = restored_extra(fields, own_fields.extra, own_fields.inside)
        values: dict[str, Any] = {
            **position,
            "name": "unknown" if name is None else name,
            "data": rest if data is None else data | rest,
        }
        return Event(**values | leftover_fields(own_fields))

    def _parents_first(self, entries: list[Entry]) -> list[Entry]:
        """Order entries so that parents come first; cycles are cut."""
        known: set[str | None] = {None}
        is_out_of_order = False
        missing_parents: list[str] = []
        for entry in entries:
            known.add(entry.id)
            if entry.parent_id not in known:
                is_out_of_order = is_out_of_order or entry.parent_id in self._seen_ids
                if entry.parent_id not in self._seen_ids:
                    missing_parents.append(str(entry.parent_id))
        if missing_parents:
            more = f" ({len(missing_parents)} entries name such a parent)" if len(missing_parents) > 1 else ""
            self._note(Kind.DANGLING_PARENT, "", f"{missing_parents[0][:60]!r} is not in the record{more}")
        if not is_out_of_order:
            return entries
        ordered, cut_ids = tree.in_order(entries)
        for cut_id in cut_ids:
            self._note(Kind.CYCLE, cut_id, "its parent is also its descendant")
        return [_without_parent(entry) if entry.id in cut_ids else entry for entry in ordered]


def _restore_data(fields: Fields, own_fields: EventOwnFields) -> None:
    """Give data that is stored in fields of the draft its original names."""
    if own_fields.content is not None:
        fields.drop("type")
        fields.keep(own_fields.content, fields.take("content"))
    elif own_fields.event is not None:
        output = fields.take("output")
        fields.drop("status")
        if own_fields.output is not None:
            fields.keep(own_fields.output, output)
    if own_fields.usage is not None:
        stated = fields.bag("token-usage") or {}
        source_counts = {name: value for name, value in stated.items() if name not in TOKEN_COUNTS}
        fields.keep(own_fields.usage, source_counts | own_fields.usage_extra)


def _own_field(raw: Any, name: str) -> Any:
    """Get one of our own fields of an entry."""
    own_fields = raw.get(OWN_FIELDS) if raw.__class__ is dict else None
    return own_fields.get(name) if own_fields.__class__ is dict else None


def _grouped(raws: list[Any]) -> list[tuple[int, list[int]]]:
    """Group the indexes of entries with those of their part entries; a message replaces its first part.

    A message with part entries comes after them and after the events that followed them.
    """
    groups: list[tuple[int, list[int]]] = []
    for index, raw in enumerate(raws):
        match _own_field(raw, "beside"):
            case [int(parts), int(events)] if parts >= 0 and events >= 0 and parts + events <= len(groups):
                first = len(groups) - parts - events
                following = groups[first + parts :]
                part_indexes = [part_index for part_index, _ in groups[first : first + parts]]
                if not any(inner for _, inner in groups[first:]):
                    groups[first:] = [(index, part_indexes), *following]
                    continue
        groups.append((index, []))
    return groups


def _content(fields: Fields, kind: str) -> Any:
    match kind:
        case "tool-result":
            output = fields.take("output")
            return None if output == "" else output
        case "system-event":
            fields.drop("event-type")
            data = fields.nested("data")
            return None if data is None else data.take("content")
    return fields.take("content")


def _stated_parts(own_fields: MessageOwnFields, actions: Sequence[Part]) -> list[Part] | None:
    """Get the stated parts; None if they follow from the content."""
    if own_fields.parts is None:
        return None
    parts = [
        actions[part] if part.__class__ is int and 0 <= part < len(actions) else part
        for part in own_fields.parts
    ]
    return None if any(part.__class__ is int for part in parts) else parts  # type: ignore[return-value] # all numbers are replaced


def _without_parent(entry: Entry) -> Entry:
    """Make an entry a root; the parent that it named stays in its data."""
    stated = {"parent-id": entry.parent_id}
    if isinstance(entry, Message):
        return replace(entry, parent_id=None, extra=stated | entry.extra)
    return replace(entry, parent_id=None, data=stated | entry.data)
