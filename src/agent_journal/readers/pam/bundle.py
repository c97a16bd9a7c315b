"""The files of a bundle: the memory store, the conversations that it lists, and what else lies there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.notes import Kind
from agent_journal.readers.pam.conversation import read_conversation
from agent_journal.readers.pam.names import CONVERSATION, STORE_FILE
from agent_journal.readers.pam.store import Store, read_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes


def read_folder(folder: Source, note: Notes) -> Iterator[Item]:
    """Memories and conversations: those of the index in its order, then those that it does not list."""
    files = {file.path[len(folder.path) :].lstrip("/"): file for file in files_below(folder)}
    store_file = files.pop(STORE_FILE)
    store = _stored(store_file, note)
    yield from store.of_owner()
    for place, reference in enumerate(store.references):
        yield from store.memories_after(place)
        file = files.pop(reference, None)
        if file is not None:
            yield from read_alone(file, note)
        else:
            note.add(Kind.MISSING_FILE, f"{folder.label}/{reference}", "", "listed in the index")
    yield from store.memories_after(None)
    for path, file in files.items():
        if _is_conversation(file):
            yield from read_alone(file, note)
        else:
            note.add(Kind.IGNORED_FILE, f"{folder.label}/{path}")


def _is_conversation(file: Source) -> bool:
    """Whether a file that nothing lists says that it is a conversation."""
    try:
        return any(record.get("schema") == CONVERSATION for record in Peek(file).records[:1])
    except UnreadableSource:
        return False


def _stored(file: Source, note: Notes) -> Store:
    try:
        return read_store(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return Store()


def read_alone(file: Source, note: Notes) -> Iterator[Item]:
    """The conversation that a file is; none if it cannot be read."""
    try:
        found = read_conversation(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return
    if found is not None:
        yield found


def read_store_alone(file: Source, note: Notes) -> Iterator[Item]:
    """The memories of a store whose conversations are elsewhere."""
    store = _stored(file, note)
    yield from store.of_owner()
    yield from store.memories_after(None)
    if count := len(store.references):
        detail = f"{count:,} of the index: read the folder or zip that the store is in"
        note(Kind.MISSING_FILE, "conversations", detail)


def read_nothing(file: Source, note: Notes) -> Iterator[Item]:
    """Nothing: embeddings hold no text."""
    note.add(Kind.IGNORED_FILE, file.label, "", "embeddings of memories")
    yield from ()
