"""The memory store: what is remembered, whose it is, and which conversations there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.pam.names import OURS, PROGRAM, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

Bag = dict[str, Any]
_LISTS = ("memories", "conversations_index")
_FORM = ("schema", "schema_version")
# What may be changed in a memory of this program that is still the same.
_TEXT = ("content", "content_hash")
# Of an account: what makes a sentence of who the memories are of.
_OWNER = ("id", "did", "created_at")


class Store:
    """What a memory store says, in its order."""

    def __init__(self) -> None:
        self.references: list[str] = []
        """Where each conversation of the index lies."""
        self.rest: Bag = {}
        self._memories: list[tuple[int, Memory]] = []
        self._next = 0

    def add(self, memory: Memory, after: int | None) -> None:
        """Keep a memory, which may say how many conversations come before it."""
        self._memories.append((0 if after is None else after, memory))

    def memories_after(self, place: int | None) -> Iterator[Memory]:
        """The next memories, up to those that come after so many conversations; None: all that are left."""
        while self._next < len(self._memories):
            after, memory = self._memories[self._next]
            if place is not None and after > place:
                return
            self._next += 1
            yield memory

    def of_owner(self) -> Iterator[Memory]:
        """Whose the memories are and what else the store says. Stores of this program only repeat it."""
        exported_by = words(self.rest.get("exported_by"))
        if not self.rest or (exported_by is not None and exported_by.startswith(PROGRAM)):
            return
        owner = self.rest.get("owner")
        known: Bag = owner if owner.__class__ is dict else {}
        owner_id = words(known.get("id"))
        told = [f"{name}: {value}" for name in _OWNER if (value := words(known.get(name)))]
        yield Memory(
            id=ids.made(SOURCE, "owner", owner_id or self.rest),
            made_id=True,
            source=SOURCE,
            kind="identity",
            text=", ".join(told) or "owner",
            about=owner_id,
            extra=self.rest,
        )


def read_store(file: Source, note: Notes) -> Store:
    """All of a store, as far as it can be read."""
    store = Store()
    index: list[Any] = []
    for name, place, value in json_stream.members(file, note):
        if name == "memories" and place is not None:
            _remember(value, f"memories[{place}]", store, note)
        elif name == "conversations_index" and place is not None:
            index.append(value)
        elif place is not None:
            listed = store.rest.setdefault(name, [])
            listed.append(value) if listed.__class__ is list else None
        else:
            if name in _LISTS and value is not None:
                note(Kind.WRONG_TYPE, name, f"{name} is {type(value).__name__}, expected a list")
            store.rest[name] = value
    for name in _FORM:
        store.rest.pop(name, None)
    store.references = [_reference(entry) for entry in objects(index)]
    if index:
        store.rest["conversations_index"] = index
    return store


def _reference(entry: Bag) -> str:
    """The path of a file in the bundle, the place elsewhere, or at least what is missing."""
    storage = entry.get("storage")
    reference = words(storage.get("ref")) if storage.__class__ is dict else None
    return reference or f"conversation {entry.get('id')}"


def _remember(value: Any, where: str, store: Store, note: Notes) -> None:
    if value.__class__ is not dict:
        note(Kind.BAD_RECORD, where, f"a memory is {type(value).__name__}")
        return
    memory, after = _restored(value, where, note)
    store.add(memory or _foreign(value, where, note), after)


def _restored(record: Bag, where: str, note: Notes) -> tuple[Memory | None, int | None]:
    """A memory of this program as it was, and how many conversations come before it."""
    metadata = record.get("metadata")
    ours = metadata.get(OURS) if metadata.__class__ is dict else None
    if ours.__class__ is not dict:
        return None, None
    if not _is_sealed(record, ours):
        note(Kind.WRONG_TYPE, where, "it is not as this program wrote it")
        return None, None
    if ours.get("json").__class__ is str:
        ours = json_stream.decode(ours["json"].encode(), _quiet(), "")
    if ours.__class__ is not dict or ours.get("memory").__class__ is not dict:
        return None, None
    try:
        memory = msgspec.convert({"text": record.get("content"), **ours["memory"], "type": "memory"}, Memory)
    except msgspec.ValidationError:
        return None, None
    after = ours.get("after")
    return memory, after if after.__class__ is int else None


def _is_sealed(record: Bag, ours: Bag) -> bool:
    """Whether nothing beside the text was changed since it was written; a store of old does not tell."""
    if "seal" not in ours:
        return True
    beside = {name: value for name, value in record.items() if name not in _TEXT}
    metadata = {name: value for name, value in beside.pop("metadata").items() if name != OURS}
    try:
        return words(ours["seal"]) == ids.made(beside, metadata)
    except RecursionError:  # it is nested as deeply as can be read
        return False


def _quiet() -> Notes:
    from agent_journal.notes import Notes  # noqa: PLC0415 (rarely needed)

    return Notes(keep=0)


def _foreign(record: Bag, where: str, note: Notes) -> Memory:
    """A memory that another program wrote down."""
    fields = Fields(record, note, where)
    stated = fields.text("id") or None
    text = fields.text("content") or ""
    if stated is None:
        note(Kind.MISSING_ID, where, "no id")
    temporal, provenance = fields.nested("temporal"), fields.nested("provenance")
    return Memory(
        id=stated or ids.made(SOURCE, "memory", text, where),
        made_id=stated is None,
        source=SOURCE,
        kind=_kind(fields),
        text=text,
        account_id=None if provenance is None else provenance.text("platform_user_id"),
        about=None if provenance is None else provenance.text("conversation_ref"),
        at=None if temporal is None else temporal.moment("created_at"),
        extra=fields.rest(),
    )


def _kind(fields: Fields) -> str:
    """What kind of memory it is; of a kind of its own, the word it has for it."""
    kind = fields.text("type")
    if kind == "custom" and words(fields.look("custom_type")):
        fields.keep("type", kind)  # its own word may be one of the format's
        kind = fields.text("custom_type")
    if kind is None:
        fields.note(Kind.UNKNOWN_TYPE, fields.where, "a memory without a type")
    return kind or "context"
