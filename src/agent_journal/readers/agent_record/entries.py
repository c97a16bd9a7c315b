"""The entries of a record as messages and events: each has an id of its own, parents come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Other, Role, ToolResult, ids, tree
from agent_journal.model.content_blocks import exactly, parts_in, same
from agent_journal.notes import Kind
from agent_journal.readers.agent_record.actions import WAYS, put_back, result_values, text, usage
from agent_journal.readers.agent_record.own_fields import OfEvent, OfMessage, put_texts_back, taken
from agent_journal.records.forms import OURS, TOKEN_COUNTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.model import Part, ToolKind
    from agent_journal.model.content_blocks import Action
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_SPEAKERS: dict[str, Role] = {"user": "user", "assistant": "assistant"}
# Who is behind an entry that stands alone and is no message.
_DOERS: dict[str, Role] = {"tool-call": "assistant", "reasoning": "assistant", "tool-result": "tool"}
# What of an entry that stands alone is the call's or the thought's, not its message's.
_OWN = {
    "tool-call": ("name", "input", "call-id"),
    "reasoning": ("content", "encrypted", "summary", "signature"),
}


class Entries:
    """Makes the timeline of one record."""

    def __init__(self, owner: str, kinds: dict[str, ToolKind], note: Notes, *, is_ours: bool) -> None:
        self._owner = owner
        self._kinds = kinds
        self._note = note
        self._is_ours = is_ours
        self._known: set[str] = set()
        self._raws: list[Any] = []

    def told(self, raws: list[Any]) -> list[Entry]:
        """Every entry; what is below a message and no part of it follows it."""
        found: list[Entry] = []
        self._raws = raws
        if self._is_ours:
            for raw in raws:
                put_texts_back(raw)
        pending: list[tuple[Any, str | None, str, list[int]]] = [
            (raws[index], None, f"entries[{index}]", parts) for index, parts in _gathered(raws)
        ]
        pending.reverse()
        while pending:
            raw, parent, where, parts = pending.pop()
            entry, below = self._entry(raw, parent, where, parts)
            found.append(entry)
            pending += [
                (child, entry.id, f"{where}.children[{index}]", []) for index, child in reversed(below)
            ]
        # In records that were written here, all is as it was.
        return found if self._is_ours else self._settled(found)

    def _entry(
        self, raw: Any, parent: str | None, where: str, parts: list[int]
    ) -> tuple[Entry, list[tuple[int, Any]]]:
        if raw.__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, f"an entry is {type(raw).__name__}")
            raw = {"type": "unknown", "value": raw}
        fields = Fields(raw, self._note, where)
        kind = fields.look("type")
        kind = kind if kind.__class__ is str else ""
        if _ours(raw, "event").__class__ is str:
            return self._event(fields, "system-event", parent), []
        if kind in _SPEAKERS or _ours(raw, "role").__class__ is str:
            return self._message(fields, kind, parent, parts)
        if kind == "tool-result":
            return self._answer(fields, parent), []
        if kind in WAYS:
            return self._deed(fields, kind, parent)
        return self._event(fields, kind, parent), []

    def _place(self, fields: Fields, parent: str | None, ours: OfMessage | OfEvent) -> dict[str, Any]:
        """Id, parent and time of an entry."""
        stated = fields.text("id") if ours.id is None else ours.id
        if stated is not None and stated in self._known and not self._is_ours:
            self._note(Kind.DUPLICATE_ID, fields.where, stated[:60])
            fields.keep("id", stated)
            stated = None
        identity = ids.made(self._owner, fields.where) if stated is None else stated
        self._known.add(identity)
        above = fields.text("parent-id")
        return {
            "id": identity,
            "made_id": ours.made_id or ours.id is not None or stated is None,
            "parent_id": parent if above is None else above,
            "at": fields.moment("timestamp"),
        }

    def _message(
        self, fields: Fields, kind: str, parent: str | None, places: list[int]
    ) -> tuple[Entry, list[tuple[int, Any]]]:
        ours = taken(fields, OfMessage)
        if ours.beside is not None:
            return self._with_parts_beside(fields, ours, parent, places), []
        content = _content(fields, kind)
        if ours.content is not UNSET:
            content = ours.content
        deeds, below = self._children(fields)
        parts = _parts(ours, deeds)
        if parts is None:
            parts = parts_in(content, deeds)
        role = ours.role or _SPEAKERS.get(kind, "assistant")
        return self._said(fields, ours, parent, role=role, parts=parts, content=content), below

    def _with_parts_beside(
        self, fields: Fields, ours: OfMessage, parent: str | None, places: list[int]
    ) -> Message:
        """The message of parts that are entries before it."""
        beside = [self._part(self._raws[place], f"entries[{place}]") for place in places]
        parts = _parts(ours, beside)
        content = fields.take("content")
        if ours.parent and fields.look("parent-id").__class__ is str:
            fields.keep(ours.parent, fields.take("parent-id"))
        return self._said(
            fields,
            replace(ours, native=True),
            parent,
            role=ours.role or _SPEAKERS.get(str(fields.look("type")), "assistant"),
            parts=beside if parts is None else parts,
            content=content,
        )

    def _part(self, raw: Any, where: str) -> Part:
        """An entry that is a part of a message."""
        if raw.__class__ is not dict:
            return Other(data=raw)
        fields = Fields(raw, self._note, where)
        kind = raw.get("type")
        way = WAYS.get(kind) if kind.__class__ is str else None
        said = text(fields) if way is None else way(fields, self._kinds)
        return Other(data=fields.rest()) if said is None else said

    def _children(self, fields: Fields) -> tuple[list[Action], list[tuple[int, Any]]]:
        """The parts of a message that are told beside its content, and what else is below it."""
        deeds: list[Action] = []
        below: list[tuple[int, Any]] = []
        for index, child in enumerate(fields.items("children") or ()):
            kind = child.get("type") if child.__class__ is dict else None
            way = WAYS.get(kind) if kind.__class__ is str else None
            if way is None:
                below.append((index, child))
            else:
                inner = Fields(child, self._note, f"{fields.where}.children[{index}]")
                deeds.append(way(inner, self._kinds))
        return deeds, below

    def _said(
        self,
        fields: Fields,
        ours: OfMessage,
        parent: str | None,
        *,
        role: Role,
        parts: list[Part],
        content: Any,
    ) -> Message:
        is_native = ours.native if ours.native is not None else not same(exactly(parts), content)
        place = self._place(fields, parent, ours)
        counted = usage(fields, ours.usage) if ours.counts is None else ours.counts
        fields.drop("type")
        return Message(
            **place,
            role=role,
            model=fields.text("model-id"),
            stop_reason=fields.text("stop-reason") if ours.stop_reason is None else ours.stop_reason,
            hidden=ours.hidden,
            sidechain=ours.sidechain,
            response_id=ours.response_id,
            parts=parts,
            usage=counted,
            native=content if is_native else None,
            extra=put_back(fields, ours.extra, ours.inside),
        )

    def _answer(self, fields: Fields, parent: str | None) -> Message:
        """The message of a tool that answers."""
        ours = taken(fields, OfMessage)
        values = result_values(fields, ours.result)
        extra = {name: fields.take(name) for name in ours.result.fields if fields.has(name)}
        if fields.has("status"):
            extra["status"] = fields.take("status")
        result = ToolResult(**values, extra=extra | ours.result.extra)
        content = None if ours.content is UNSET else ours.content
        parts = _parts(ours, [result])
        if parts is None:
            parts = parts_in(content, [result])
        return self._said(fields, ours, parent, role="tool", parts=parts, content=content)

    def _deed(self, fields: Fields, kind: str, parent: str | None) -> tuple[Entry, list[tuple[int, Any]]]:
        """The message of one call or thought, and of those below it."""
        if not self._is_ours:
            place = self._place(fields, parent, OfEvent())
            part = WAYS[kind](fields, self._kinds)
            return Message(**place, role=_DOERS[kind], parts=[part]), []
        ours = taken(fields, OfMessage)
        named = ours.part.pop("fields", None) or []
        own = fields.take_all([*_OWN[kind], *named])
        if ours.part:
            own[OURS] = ours.part
        first = WAYS[kind](Fields(own, self._note, fields.where), self._kinds)
        deeds, below = self._children(fields)
        said = self._said(fields, ours, parent, role=_DOERS[kind], parts=[first, *deeds], content=None)
        return replace(said, native=None), below

    def _event(self, fields: Fields, kind: str, parent: str | None) -> Event:
        if kind == "system-event":
            ours = taken(fields, OfEvent)
            fields.drop("type")
            name = fields.text("event-type") if ours.event is None else ours.event
        else:
            ours, name = OfEvent(), kind or None
            if not fields.has("vendor-ext"):  # 2.0.0 has entries of any type
                self._note(
                    Kind.UNKNOWN_TYPE, fields.where, f"entry of type {str(fields.look('type'))[:40]!r}"
                )
        place = self._place(fields, parent, ours)
        _put_data_back(fields, ours)
        data = fields.bag("data")
        rest = put_back(fields, ours.extra, ours.inside)
        return Event(
            **place, name="unknown" if name is None else name, data=rest if data is None else data | rest
        )

    def _settled(self, entries: list[Entry]) -> list[Entry]:
        """The entries with parents before their children, and circles cut."""
        known: set[str | None] = {None}
        is_ahead = False
        strangers: list[str] = []
        for entry in entries:
            known.add(entry.id)
            if entry.parent_id not in known:
                is_ahead = is_ahead or entry.parent_id in self._known
                if entry.parent_id not in self._known:
                    strangers.append(str(entry.parent_id))
        if strangers:
            more = f" ({len(strangers)} entries name such a parent)" if len(strangers) > 1 else ""
            self._note(Kind.DANGLING_PARENT, "", f"{strangers[0][:60]!r} is not in the record{more}")
        if not is_ahead:
            return entries
        placed, cuts = tree.in_order(entries)
        for cut in cuts:
            self._note(Kind.CYCLE, cut, "its parent is also its descendant")
        return [_without_parent(entry) if entry.id in cuts else entry for entry in placed]


def _put_data_back(fields: Fields, ours: OfEvent) -> None:
    """Give what is told in fields of the draft's its own name again."""
    if ours.content is not None:
        fields.drop("type")
        fields.keep(ours.content, fields.take("content"))
    elif ours.event is not None:
        output = fields.take("output")
        fields.drop("status")
        if ours.output is not None:
            fields.keep(ours.output, output)
    if ours.usage is not None:
        stated = fields.bag("token-usage") or {}
        own = {name: value for name, value in stated.items() if name not in TOKEN_COUNTS}
        fields.keep(ours.usage, own | ours.usage_extra)


def _ours(raw: Any, name: str) -> Any:
    """What was written here beside an entry: for a message of the system or of a tool, who speaks."""
    ours = raw.get(OURS) if raw.__class__ is dict else None
    return ours.get(name) if ours.__class__ is dict else None


def _gathered(raws: list[Any]) -> list[tuple[int, list[int]]]:
    """The places of entries, each with those of its parts; a message is where the first of its parts is.

    Where parts stand beside their message it comes last, behind the events that followed it.
    """
    found: list[tuple[int, list[int]]] = []
    for index, raw in enumerate(raws):
        match _ours(raw, "beside"):
            case [int(parts), int(events)] if parts >= 0 and events >= 0 and parts + events <= len(found):
                first = len(found) - parts - events
                behind = found[first + parts :]
                places = [place for place, _ in found[first : first + parts]]
                if not any(inner for _, inner in found[first:]):
                    found[first:] = [(index, places), *behind]
                    continue
        found.append((index, []))
    return found


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


def _parts(ours: OfMessage, deeds: Sequence[Part]) -> list[Part] | None:
    """The parts that are stated; None if they follow from the content."""
    if ours.parts is None:
        return None
    parts = [deeds[part] if part.__class__ is int and 0 <= part < len(deeds) else part for part in ours.parts]
    return None if any(part.__class__ is int for part in parts) else parts  # type: ignore[return-value] # no number is left


def _without_parent(entry: Entry) -> Entry:
    """The entry as a root; what the record called its parent stays beside it."""
    said = {"parent-id": entry.parent_id}
    if isinstance(entry, Message):
        return replace(entry, parent_id=None, extra=said | entry.extra)
    return replace(entry, parent_id=None, data=said | entry.data)
