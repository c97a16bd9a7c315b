"""Reads the files of an export: those with conversations, those about them; the others are noted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt import names, page, sidecars
from agent_journal.readers.chatgpt.assets import is_asset
from agent_journal.readers.chatgpt.conversation import is_shared_link, read_conversation
from agent_journal.readers.chatgpt.fastpath import SHAPE, CommonConversation
from agent_journal.readers.chatgpt.names import CONVERSATIONS, MANIFEST, READ_FILES
from agent_journal.readers.chatgpt.tasks import is_task, read_task, read_tasks
from agent_journal.readers.dialects.members import with_member_origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation, Item, Memory
    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.sidecars import Sidecars

# One array until 2025; since February 2026 shards of at most 100 conversations.


def read_folder(folder: Input, note: Notes) -> Iterator[Item]:
    """Yield the account, then each conversation with the memories made in it."""
    files = {_path_in_export(folder, file): file for file in files_below(folder)}
    _note_missing(folder, files, note)
    user = next(objects(sidecars.rows_of(files.get(names.USER), note)), {})
    if user:
        yield sidecars.identity(user)
    companions = sidecars.read_sidecars(files, user, note)
    shards = sorted(
        (path for path in files if CONVERSATIONS.fullmatch(path)), key=lambda path: (len(path), path)
    )
    memory_ids: set[str] = set()
    for path in shards:
        yield from with_member_origin(
            folder, files[path], read_files([files[path]], companions, note, memory_ids)
        )
    if (tasks := files.get(names.TASKS)) is not None:
        yield from with_member_origin(folder, tasks, read_tasks(tasks, companions, note))
    _note_leftovers(folder, companions, note)
    _note_ignored(folder, files, companions, note)


def read_files(
    files: Iterable[Input], companions: Sidecars, note: Notes, memory_ids: set[str] | None = None
) -> Iterator[Item]:
    """Yield the conversations of several files; each memory once: `memory_ids` has those already yielded."""
    memory_ids = set() if memory_ids is None else memory_ids
    for file in files:
        try:
            for conversation, memories in _conversations(file, companions, note.about(file.label)):
                yield conversation
                for memory in memories:
                    if memory.id not in memory_ids:
                        memory_ids.add(memory.id)
                        yield memory
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _conversations(
    file: Input, companions: Sidecars, note: Notes
) -> Iterator[tuple[Conversation, list[Memory]]]:
    is_page = page.begins_as_page(file)
    records = page.conversations(file, note) if is_page else json_stream.values(file, note, SHAPE)
    for location, record in records:
        if isinstance(record, CommonConversation):
            yield read_conversation(record.record(), location, companions, note)
        elif record.__class__ is not dict:
            note(Kind.BAD_RECORD, location, f"a conversation is {type(record).__name__}")
        elif "mapping" in record:
            yield read_conversation(record, location, companions, note)
        elif is_task(record):
            yield read_task(record, location, companions, note), []
        elif is_shared_link(record):
            note(
                Kind.UNKNOWN_TYPE, location, f"a link to the shared conversation {record['conversation_id']}"
            )
        else:
            note(Kind.BAD_RECORD, location, "a conversation without mapping")


def _path_in_export(folder: Input, file: Input) -> str:
    """Get a file's path relative to the export."""
    return file.path[len(folder.path) :].lstrip("/")


def _note_missing(folder: Input, files: dict[str, Input], note: Notes) -> None:
    """Note the files that the manifest lists and the export does not have."""
    for manifest in objects(sidecars.rows_of(files.get(MANIFEST), note)):
        for entry in objects(manifest.get("files")):
            shards = [*objects(entry.get("shards"))]
            for listed in shards or [entry]:
                name = nonempty_str(listed.get("name"))
                if name is not None and name not in files:
                    note.add(Kind.MISSING_FILE, f"{folder.label}/{name}", "", f"listed in {MANIFEST}")


def _note_leftovers(folder: Input, companions: Sidecars, note: Notes) -> None:
    for name, rows in (
        (names.FEEDBACK, companions.feedback),
        (names.SHARED, companions.shared),
        (names.TOOL_MESSAGES, companions.tool_messages),
        (names.LIBRARY, companions.library),
    ):
        if rows.remaining:
            detail = f"{rows.remaining} of {rows.total} records name no conversation of this export"
            note.add(Kind.IGNORED_FILE, f"{folder.label}/{name}", "", detail)


def _note_ignored(folder: Input, files: dict[str, Input], companions: Sidecars, note: Notes) -> None:
    """Note every other file: lists and pages one by one, the rest as a number per kind."""
    groups: dict[str, list[str]] = {}
    for path in files:
        if not CONVERSATIONS.fullmatch(path) and path not in (MANIFEST, *READ_FILES):
            groups.setdefault(_group_name(path), []).append(path)
    for kind, paths in groups.items():
        detail = "" if kind in files else f"{len(paths):,} {'file' if len(paths) == 1 else 'files'}"
        if used := len(companions.assets.used.intersection(paths)):
            detail += f", {used:,} of them named by messages"
        note.add(Kind.IGNORED_FILE, f"{folder.label}/{kind}", "", detail)


def _group_name(path: str) -> str:
    """Get the name under which notes group a file that is not read."""
    top, _, below = path.partition("/")
    if path.endswith((".json", ".html")):
        return f"{top}/*" if below else path
    return "assets" if below or is_asset(top) else f"*.{top.rpartition('.')[2]}"
