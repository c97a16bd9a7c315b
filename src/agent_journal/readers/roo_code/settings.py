"""What a person has set for all tasks, as it is now: modes of their own, and what the model is told in each.

Modes lie in a file beside the tasks. What the model is told in all modes, and in those that the extension
brings along, the editor keeps among the states of its extensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import yaml_text
from agent_journal.decoding.fields import objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.roo_code.names import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

_SETTINGS = ("..", "..", "settings")
# JSON, which is YAML as well, until the middle of 2025.
_MODES = ("custom_modes.yaml", "custom_modes.json", "cline_custom_modes.json")
_STATES = ("..", "..", "..", "state.vscdb")
_TABLE = "ItemTable"
_STATE = f"SELECT CAST(value AS BLOB) FROM {_TABLE} WHERE key = ? COLLATE NOCASE"  # noqa: S608 (our own)


class _State(msgspec.Struct, rename="camel", gc=False):
    """What is looked for in the state of an extension, which has all else that can be set in it too."""

    custom_instructions: Any = None
    custom_mode_prompts: Any = None


_decode = msgspec.json.Decoder(_State).decode
# All tasks of an editor share its state, which is large: it is looked at once, until it changes.
_KNOWN: dict[tuple[str, float | None, str], _State] = {}


def custom_modes(task: Source, note: Notes) -> list[dict[str, Any]]:
    """The modes that the person has defined."""
    files = {file.name: file for file in task.companions(*_SETTINGS) if not file.is_folder}
    file = next((files[name] for name in _MODES if name in files), None)
    settings = None if file is None else yaml_text.load(file, note)
    return list(objects(settings.get("customModes"))) if settings.__class__ is dict else []


def instructions(task: Source, modes: list[dict[str, Any]], note: Notes) -> Bag:
    """What the person has the model told in all modes, and in each; a mode of their own tells it itself."""
    state = _state(task, note)
    told = dict(_of_modes(state.custom_mode_prompts))
    told |= {slug: text for mode in modes if (slug := words(mode.get("slug"))) and (text := _told(mode))}
    everywhere = words(state.custom_instructions)
    return ({} if everywhere is None else {"global": everywhere}) | ({"modes": told} if told else {})


def _of_modes(prompts: Any) -> Iterator[tuple[str, str]]:
    for slug, prompt in prompts.items() if prompts.__class__ is dict else ():
        if prompt.__class__ is dict and (text := _told(prompt)):
            yield slug, text


def _told(mode: dict[str, Any]) -> str | None:
    return words(mode.get("customInstructions"))


def _state(task: Source, note: Notes) -> _State:
    """The state of the extension in whose folder a task lies; an empty one if the editor's is not there."""
    steps = task.label.replace("\\", "/").rstrip("/").split("/")
    extension = "".join(steps[-3:-2] if task.is_folder else steps[-4:-3])
    states = task.companion(*_STATES) if extension.lower() in EXTENSIONS else None
    if states is None:
        return _State()
    place = (states.label, states.modified_at, extension)
    try:
        if place not in _KNOWN:
            _KNOWN.clear()
            _KNOWN[place] = _stated(states, extension)
        return _KNOWN[place]
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, states.label, "", error.reason)
        return _State()


def _stated(states: Source, extension: str) -> _State:
    with sqlite_copy.glanced(states) as editor:
        rows = list(editor.rows(_STATE, extension)) if _TABLE in editor.tables else []
    try:
        return _decode(rows[0][0]) if rows and rows[0][0] else _State()
    except msgspec.ValidationError:  # another value than an object
        return _State()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableSource(states.label, f"the state of {extension} is damaged") from error
