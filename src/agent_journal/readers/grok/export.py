"""Reads the files of an export: the one with the conversations, those of the account, and the assets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.notes import Kind
from agent_journal.readers.dialects.members import with_member_origin
from agent_journal.readers.grok import companions
from agent_journal.readers.grok.assets import Assets
from agent_journal.readers.grok.conversation import is_entry, read_entry
from agent_journal.readers.grok.names import ASSETS, BILLING, MAIN, PROFILE, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes


def read_folder(folder: Input, note: Notes) -> Iterator[Item]:
    """Read an export: the account first, then the main file."""
    files = {_path_in_export(folder, file): file for file in files_below(folder)}
    account: dict[str, Any] = {}
    for name in (PROFILE, BILLING):
        if name in files:
            account |= _account(files[name], name, note)
    if account:
        yield companions.identity(account)
    assets = Assets(files)
    yield from with_member_origin(folder, files[MAIN], read_file(files[MAIN], assets, note))
    _note_ignored(folder, files, assets, note)


def read_file(file: Input, assets: Assets, note: Notes) -> Iterator[Item]:
    """Read the main file in order, in one pass."""
    file_note = note.about(file.label)
    unknown: set[str] = set()
    try:
        for section, index, value in json_stream.members(file, file_note):
            if section not in SECTIONS and value is not None and section not in unknown:
                unknown.add(section)
                file_note(Kind.UNKNOWN_TYPE, section, "an unknown section")
            location = section if index is None else f"{section}[{index}]"
            yield from _items(section, location, value, assets, file_note)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _items(section: str, location: str, value: Any, assets: Assets, note: Notes) -> Iterator[Item]:
    if value is None:
        return
    if section == "conversations" and is_entry(value):
        yield read_entry(value, location, assets, note)
    elif section == "projects" and value.__class__ is dict:
        yield from companions.project(value, location, note)
    elif section == "media_posts" and value.__class__ is dict:
        yield companions.media_post(value, location, assets, note)
    else:
        if section in SECTIONS and (section != "tasks" or value.__class__ is not dict):
            note(Kind.UNKNOWN_TYPE, location, f"unexpected {type(value).__name__} in {section}")
        yield companions.generic_memory("task" if section == "tasks" else section, value, location, note)


def _account(file: Input, name: str, note: Notes) -> dict[str, Any]:
    """Read a small file; the fields of the profile keep their own names."""
    try:
        value = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return {}
    if value is json_stream.BAD:
        return {}
    return value if name == PROFILE and value.__class__ is dict else {name: value}


def _path_in_export(folder: Input, file: Input) -> str:
    """Get a file's path relative to the export."""
    return file.path[len(folder.path) :].lstrip("/")


def _note_ignored(folder: Input, files: dict[str, Input], assets: Assets, note: Notes) -> None:
    """Note every other file; of folders, only the number of files."""
    groups: dict[str, int] = {}
    for path in files:
        if path not in (MAIN, PROFILE, BILLING):
            top, _, below = path.partition("/")
            groups[f"{top}/*" if below else top] = groups.get(f"{top}/*" if below else top, 0) + 1
    for group, count in groups.items():
        detail = f"{count:,} {'file' if count == 1 else 'files'}" if group.endswith("/*") else ""
        if group.startswith(ASSETS):
            detail += f", {len(assets.used):,} of them named by messages"
        note.add(Kind.IGNORED_FILE, f"{folder.label}/{group}", "", detail)
