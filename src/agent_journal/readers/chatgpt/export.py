"""The files of an export: which hold conversations, which speak about them, which hold nothing to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt import names, page, sidecars
from agent_journal.readers.chatgpt.assets import is_asset
from agent_journal.readers.chatgpt.conversation import is_shared_link, read_conversation
from agent_journal.readers.chatgpt.fastpath import SHAPE, UsualConversation
from agent_journal.readers.chatgpt.names import CONVERSATIONS, MANIFEST, READ
from agent_journal.readers.chatgpt.tasks import is_task, read_task, read_tasks
from agent_journal.readers.dialects.members import read_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation, Item, Memory
    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.sidecars import Sidecars

# One array until 2025; since February 2026 shards of at most 100 conversations.


def read_folder(folder: Source, note: Notes) -> Iterator[Item]:
    """Everything in an export: the account first, then each conversation with what was remembered in it."""
    files = {_inside(folder, file): file for file in files_below(folder)}
    _note_missing(folder, files, note)
    user = next(objects(sidecars.rows_of(files.get(names.USER), note)), {})
    if user:
        yield sidecars.identity(user)
    beside = sidecars.read_sidecars(files, user, note)
    shards = sorted(
        (path for path in files if CONVERSATIONS.fullmatch(path)), key=lambda path: (len(path), path)
    )
    told: set[str] = set()
    for path in shards:
        yield from read_from(folder, files[path], read_files([files[path]], beside, note, told))
    if (tasks := files.get(names.TASKS)) is not None:
        yield from read_from(folder, tasks, read_tasks(tasks, beside, note))
    _note_leftovers(folder, beside, note)
    _note_ignored(folder, files, beside, note)


def read_files(
    files: Iterable[Source], beside: Sidecars, note: Notes, told: set[str] | None = None
) -> Iterator[Item]:
    """The conversations of several files; each thing remembered is told once, which `told` remembers."""
    told = set() if told is None else told
    for file in files:
        try:
            for conversation, memories in _conversations(file, beside, note.about(file.label)):
                yield conversation
                for memory in memories:
                    if memory.id not in told:
                        told.add(memory.id)
                        yield memory
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _conversations(
    file: Source, beside: Sidecars, note: Notes
) -> Iterator[tuple[Conversation, list[Memory]]]:
    is_page = page.begins_as_page(file)
    found = page.conversations(file, note) if is_page else json_stream.values(file, note, SHAPE)
    for place, record in found:
        if isinstance(record, UsualConversation):
            yield read_conversation(record.record(), place, beside, note)
        elif record.__class__ is not dict:
            note(Kind.BAD_RECORD, place, f"a conversation is {type(record).__name__}")
        elif "mapping" in record:
            yield read_conversation(record, place, beside, note)
        elif is_task(record):
            yield read_task(record, place, beside, note), []
        elif is_shared_link(record):
            note(Kind.UNKNOWN_TYPE, place, f"a link to a shared conversation, {record['conversation_id']}")
        else:
            note(Kind.BAD_RECORD, place, "a conversation without mapping")


def _inside(folder: Source, file: Source) -> str:
    """A file's path below the export."""
    return file.path[len(folder.path) :].lstrip("/")


def _note_missing(folder: Source, files: dict[str, Source], note: Notes) -> None:
    """Name what the manifest lists and the export does not have."""
    for manifest in objects(sidecars.rows_of(files.get(MANIFEST), note)):
        for entry in objects(manifest.get("files")):
            shards = [*objects(entry.get("shards"))]
            for listed in shards or [entry]:
                name = words(listed.get("name"))
                if name is not None and name not in files:
                    note.add(Kind.MISSING_FILE, f"{folder.label}/{name}", "", f"listed in {MANIFEST}")


def _note_leftovers(folder: Source, beside: Sidecars, note: Notes) -> None:
    for name, rows in (
        (names.FEEDBACK, beside.feedback),
        (names.SHARED, beside.shared),
        (names.TOOL_MESSAGES, beside.tool_messages),
        (names.LIBRARY, beside.library),
    ):
        if rows.left:
            detail = f"{rows.left} of {rows.count} records name no conversation that is here"
            note.add(Kind.IGNORED_FILE, f"{folder.label}/{name}", "", detail)


def _note_ignored(folder: Source, files: dict[str, Source], beside: Sidecars, note: Notes) -> None:
    """Name every other file: lists and pages one by one, the rest by its kind with how many there are."""
    groups: dict[str, list[str]] = {}
    for path in files:
        if not CONVERSATIONS.fullmatch(path) and path not in (MANIFEST, *READ):
            groups.setdefault(_kind(path), []).append(path)
    for kind, paths in groups.items():
        detail = "" if kind in files else f"{len(paths):,} {'file' if len(paths) == 1 else 'files'}"
        if used := len(beside.assets.used.intersection(paths)):
            detail += f", {used:,} of them named by messages"
        note.add(Kind.IGNORED_FILE, f"{folder.label}/{kind}", "", detail)


def _kind(path: str) -> str:
    """What a file that is not read goes by in a note."""
    top, _, below = path.partition("/")
    if path.endswith((".json", ".html")):
        return f"{top}/*" if below else path
    return "assets" if below or is_asset(top) else f"*.{top.rpartition('.')[2]}"
