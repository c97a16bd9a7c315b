"""Reads the memory store: the memories, their owner, and the index of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.pam.names import OWN_KEY, PROGRAM, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

JsonObject = dict[str, Any]
_LISTS = ("memories", "conversations_index")
_SCHEMA_FIELDS = ("schema", "schema_version")
# Fields that may change in a memory of this program without making it another one.
_EDITABLE_FIELDS = ("content", "content_hash")
# Fields of the owner that become the text of a memory.
_OWNER_FIELDS = ("id", "did", "created_at")


class Store:
    """The content of a memory store, in its order."""

    def __init__(self) -> None:
        self.conversation_paths: list[str] = []
        """The file of each conversation in the index."""
        self.rest: JsonObject = {}
        self._memories: list[tuple[int, Memory]] = []  # with the number of conversations before it
        self._next_index = 0

    def add(self, memory: Memory, after: int | None) -> None:
        """Add a memory; `after` is how many conversations come before it, if known."""
        self._memories.append((0 if after is None else after, memory))

    def memories_before(self, conversation_index: int | None) -> Iterator[Memory]:
        """Yield the next memories that come before a conversation of the index; None: all that remain."""
        while self._next_index < len(self._memories):
            after, memory = self._memories[self._next_index]
            if conversation_index is not None and after > conversation_index:
                return
            self._next_index += 1
            yield memory

    def owner_memory(self) -> Iterator[Memory]:
        """Yield a memory about the owner with all other fields; stores of this program only repeat them."""
        exported_by = nonempty_str(self.rest.get("exported_by"))
        if not self.rest or (exported_by is not None and exported_by.startswith(PROGRAM)):
            return
        owner = self.rest.get("owner")
        owner_fields: JsonObject = owner if owner.__class__ is dict else {}
        owner_id = nonempty_str(owner_fields.get("id"))
        stated = [
            f"{name}: {value}" for name in _OWNER_FIELDS if (value := nonempty_str(owner_fields.get(name)))
        ]
        yield Memory(
            id=ids.made(SOURCE, "owner", owner_id or self.rest),
            made_id=True,
            source=SOURCE,
            kind="identity",
            text=", ".join(stated) or "owner",
            about=owner_id,
            extra=self.rest,
        )


def read_store(file: Input, note: Notes) -> Store:
    """Read as much as possible of a store."""
    store = Store()
    index: list[Any] = []
    for name, position, value in json_stream.members(file, note):
        if name == "memories" and position is not None:
            _add_memory(value, f"memories[{position}]", store, note)
        elif name == "conversations_index" and position is not None:
            index.append(value)
        elif position is not None:
            items = store.rest.setdefault(name, [])
            items.append(value) if items.__class__ is list else None
        else:
            if name in _LISTS and value is not None:
                note(Kind.WRONG_TYPE, name, f"{name} is {type(value).__name__}, expected a list")
            store.rest[name] = value
    for name in _SCHEMA_FIELDS:
        store.rest.pop(name, None)
    store.conversation_paths = [_conversation_path(entry) for entry in objects(index)]
    if index:
        store.rest["conversations_index"] = index
    return store


def _conversation_path(entry: JsonObject) -> str:
    """Get the path of a conversation's file, in the bundle or elsewhere; without one, a name for notes."""
    storage = entry.get("storage")
    reference = nonempty_str(storage.get("ref")) if storage.__class__ is dict else None
    return reference or f"conversation {entry.get('id')}"


def _add_memory(value: Any, where: str, store: Store, note: Notes) -> None:
    if value.__class__ is not dict:
        note(Kind.BAD_RECORD, where, f"a memory is {type(value).__name__}")
        return
    memory, after = _restored(value, where, note)
    store.add(memory or _converted(value, where, note), after)


def _restored(record: JsonObject, where: str, note: Notes) -> tuple[Memory | None, int | None]:
    """Restore a memory that this program wrote; also return how many conversations come before it."""
    metadata = record.get("metadata")
    own_fields = metadata.get(OWN_KEY) if metadata.__class__ is dict else None
    if own_fields.__class__ is not dict:
        return None, None
    if not _is_unchanged(record, own_fields):
        note(Kind.WRONG_TYPE, where, "it is not as this program wrote it")
        return None, None
    if own_fields.get("json").__class__ is str:
        own_fields = json_stream.decode(own_fields["json"].encode(), _discarded_notes(), "")
    if own_fields.__class__ is not dict or own_fields.get("memory").__class__ is not dict:
        return None, None
    try:
        memory = msgspec.convert(
            {"text": record.get("content"), **own_fields["memory"], "type": "memory"}, Memory
        )
    except msgspec.ValidationError:
        return None, None
    after = own_fields.get("after")
    return memory, after if after.__class__ is int else None


def _is_unchanged(record: JsonObject, own_fields: JsonObject) -> bool:
    """Whether only the text may have changed since it was written; old stores have no seal."""
    if "seal" not in own_fields:
        return True
    sealed = {name: value for name, value in record.items() if name not in _EDITABLE_FIELDS}
    metadata = {name: value for name, value in sealed.pop("metadata").items() if name != OWN_KEY}
    try:
        return nonempty_str(own_fields["seal"]) == ids.made(sealed, metadata)
    except RecursionError:  # nested as deeply as can be read
        return False


def _discarded_notes() -> Notes:
    from agent_journal.notes import Notes  # noqa: PLC0415 (rarely needed)

    return Notes(keep=0)


def _converted(record: JsonObject, where: str, note: Notes) -> Memory:
    """Convert a memory that another program wrote."""
    fields = Fields(record, note, where)
    stated_id = fields.text("id") or None
    text = fields.text("content") or ""
    if stated_id is None:
        note(Kind.MISSING_ID, where, "no id")
    temporal, provenance = fields.nested("temporal"), fields.nested("provenance")
    return Memory(
        id=stated_id or ids.made(SOURCE, "memory", text, where),
        made_id=stated_id is None,
        source=SOURCE,
        kind=_kind(fields),
        text=text,
        account_id=None if provenance is None else provenance.text("platform_user_id"),
        about=None if provenance is None else provenance.text("conversation_ref"),
        at=None if temporal is None else temporal.timestamp("created_at"),
        extra=fields.rest(),
    )


def _kind(fields: Fields) -> str:
    """Get the kind of a memory; for a custom type, its name."""
    kind = fields.text("type")
    if kind == "custom" and nonempty_str(fields.view("custom_type")):
        fields.keep("type", kind)  # a custom type may have the name of one of the format's types
        kind = fields.text("custom_type")
    if kind is None:
        fields.note(Kind.UNKNOWN_TYPE, fields.where, "a memory without a type")
    return kind or "context"
