"""Reads the files of a bundle: the memory store, the conversations that it lists, and all others."""

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

    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes


def read_folder(folder: Input, note: Notes) -> Iterator[Item]:
    """Yield memories and conversations: those of the index in its order, then those that it does not list."""
    files = {file.path[len(folder.path) :].lstrip("/"): file for file in files_below(folder)}
    store_file = files.pop(STORE_FILE)
    store = _readable_store(store_file, note)
    yield from store.owner_memory()
    for index, path in enumerate(store.conversation_paths):
        yield from store.memories_before(index)
        file = files.pop(path, None)
        if file is not None:
            yield from read_conversation_file(file, note)
        else:
            note.add(Kind.MISSING_FILE, f"{folder.label}/{path}", "", "listed in the index")
    yield from store.memories_before(None)
    for path, file in files.items():
        if _is_conversation(file):
            yield from read_conversation_file(file, note)
        else:
            note.add(Kind.IGNORED_FILE, f"{folder.label}/{path}")


def _is_conversation(file: Input) -> bool:
    """Whether a file that is not in the index is a conversation by its schema."""
    try:
        return any(record.get("schema") == CONVERSATION for record in Peek(file).records[:1])
    except UnreadableSource:
        return False


def _readable_store(file: Input, note: Notes) -> Store:
    try:
        return read_store(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return Store()


def read_conversation_file(file: Input, note: Notes) -> Iterator[Item]:
    """Yield the conversation in a file, if it can be read."""
    try:
        conversation = read_conversation(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return
    if conversation is not None:
        yield conversation


def read_store_file(file: Input, note: Notes) -> Iterator[Item]:
    """Yield the memories of a store whose conversations are elsewhere."""
    store = _readable_store(file, note)
    yield from store.owner_memory()
    yield from store.memories_before(None)
    if count := len(store.conversation_paths):
        detail = f"{count:,} of the index: read the folder or zip that the store is in"
        note(Kind.MISSING_FILE, "conversations", detail)


def ignore_embeddings(file: Input, note: Notes) -> Iterator[Item]:
    """Yield nothing: embeddings have no text."""
    note.add(Kind.IGNORED_FILE, file.label, "", "embeddings of memories")
    yield from ()
