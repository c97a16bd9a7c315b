"""The user's current settings for all tasks: custom modes and custom instructions.

Custom modes are in a file next to the tasks. Instructions for all modes and for the built-in ones are in the
editor's database of extension states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import yaml_text
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.roo_code.names import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

_SETTINGS_FOLDER = ("..", "..", "settings")
# JSON (which is also YAML) until mid-2025.
_MODE_FILES = ("custom_modes.yaml", "custom_modes.json", "cline_custom_modes.json")
_STATE_DATABASE = ("..", "..", "..", "state.vscdb")
_TABLE = "ItemTable"
_STATE_QUERY = f"SELECT CAST(value AS BLOB) FROM {_TABLE} WHERE key = ? COLLATE NOCASE"  # noqa: S608 (our own)


class _State(msgspec.Struct, rename="camel", gc=False):
    """The instructions in the state of an extension, which also holds all its other settings."""

    custom_instructions: Any = None
    custom_mode_prompts: Any = None


_decode = msgspec.json.Decoder(_State).decode
# All tasks of an editor share its state, which is large: it is loaded once, until it changes.
_state_cache: dict[tuple[str, float | None, str], _State] = {}


def custom_modes(task: Input, note: Notes) -> list[dict[str, Any]]:
    """Return the modes that the user has defined."""
    files = {file.name: file for file in task.companions(*_SETTINGS_FOLDER) if not file.is_folder}
    file = next((files[name] for name in _MODE_FILES if name in files), None)
    settings = None if file is None else yaml_text.load(file, note)
    return list(objects(settings.get("customModes"))) if settings.__class__ is dict else []


def instructions(task: Input, modes: list[dict[str, Any]], note: Notes) -> Bag:
    """Return the user's instructions for all modes and for each mode; custom modes contain their own."""
    state = _load_state(task, note)
    by_mode = dict(_built_in_mode_instructions(state.custom_mode_prompts))
    by_mode |= {
        slug: text
        for mode in modes
        if (slug := nonempty_str(mode.get("slug"))) and (text := _instructions_of(mode))
    }
    everywhere = nonempty_str(state.custom_instructions)
    return ({} if everywhere is None else {"global": everywhere}) | ({"modes": by_mode} if by_mode else {})


def _built_in_mode_instructions(prompts: Any) -> Iterator[tuple[str, str]]:
    for slug, prompt in prompts.items() if prompts.__class__ is dict else ():
        if prompt.__class__ is dict and (text := _instructions_of(prompt)):
            yield slug, text


def _instructions_of(mode: dict[str, Any]) -> str | None:
    return nonempty_str(mode.get("customInstructions"))


def _load_state(task: Input, note: Notes) -> _State:
    """Load the state of the extension that a task belongs to; empty if the editor's database is missing."""
    path = task.label.replace("\\", "/").rstrip("/").split("/")
    extension = "".join(path[-3:-2] if task.is_folder else path[-4:-3])
    states = task.companion(*_STATE_DATABASE) if extension.lower() in EXTENSIONS else None
    if states is None:
        return _State()
    cache_key = (states.label, states.modified_at, extension)
    try:
        if cache_key not in _state_cache:
            _state_cache.clear()
            _state_cache[cache_key] = _query_state(states, extension)
        return _state_cache[cache_key]
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, states.label, "", error.reason)
        return _State()


def _query_state(states: Input, extension: str) -> _State:
    with sqlite_copy.glanced(states) as editor:
        rows = list(editor.rows(_STATE_QUERY, extension)) if _TABLE in editor.tables else []
    try:
        return _decode(rows[0][0]) if rows and rows[0][0] else _State()
    except msgspec.ValidationError:  # not an object
        return _State()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableSource(states.label, f"the state of {extension} is damaged") from error
