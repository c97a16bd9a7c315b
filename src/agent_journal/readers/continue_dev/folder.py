"""A folder of sessions, or the one above it, which also has the configuration and the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.fields import words
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.model import Conversation, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import config, detect, logs, session, steps
from agent_journal.readers.continue_dev.companions import Beside, entries, id_in
from agent_journal.readers.continue_dev.names import DEV_DATA, INDEX, SESSIONS, SOURCE
from agent_journal.readers.continue_dev.values import listed_title, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Item
    from agent_journal.notes import Notes


def read_folder(folder: Source, note: Notes) -> Iterator[Item]:
    """Every session, those of which only the index or a log knows, and the names of all other files."""
    children = folder.children()
    is_home = not any(child.name == INDEX for child in children)
    inside = next((child for child in children if child.is_folder and child.name == SESSIONS), folder)
    beside = Beside(folder, () if is_home else ("..",), note)
    known: set[str] = set()
    for file in (inside if is_home else folder).children():
        if not file.is_folder and file.name != INDEX:
            for item in _session(file, beside, note.about(file.label)):
                known.add(item.id)
                yield item
    for session_id, entry in beside.index.items():
        if session_id not in known:
            _note_missing(session_id, entry, note)
            yield _listed(session_id, entry)
    if is_home:
        yield from _others(children, known | beside.index.keys(), note)


def _session(file: Source, beside: Beside, note: Notes) -> Iterator[Item]:
    try:
        document = session.load(file, note) if file.name.endswith(".json") else None
        kind = detect.kind_of(document) if document is not None else None
        if document is None or (kind is None and file.name.removesuffix(".json") not in beside.index):
            note(Kind.UNKNOWN_FILE, "", Peek(file).looks_like())
        elif kind == detect.STEPS:
            yield steps.conversation(document, file, beside, note)
        else:
            yield session.conversation(document, file, beside, note)
    except UnreadableSource as error:
        note(Kind.UNREADABLE_FILE, "", error.reason)


def _others(children: Sequence[Source], known: set[str], note: Notes) -> Iterator[Item]:
    """Sessions that only logs know; other files hold no conversation."""
    for child in children:
        files = files_below(child) if child.is_folder and child.name != SESSIONS else iter((child,))
        for file in files:
            if file.is_folder or file.name in {config.YAML, config.JSON}:
                continue
            about = note.about(file.label)
            try:
                if child.name == DEV_DATA and detect.version_of(Peek(file)) == detect.LOG:
                    yield from logs.read_log(file, about, known)
                else:
                    about(Kind.IGNORED_FILE, "", "it holds no conversation")
            except UnreadableSource as error:
                about(Kind.UNREADABLE_FILE, "", error.reason)


def read_session(source: Source, note: Notes) -> Iterator[Item]:
    """The one session of a file, with what lies beside it."""
    document = session.load(source, note)
    if document is None:
        raise UnreadableSource(source.label, "nothing in it is of a session")
    beside = Beside(source, ("..",), note, only=session.id_of(document, source))
    is_of_steps = detect.kind_of(document) == detect.STEPS
    yield (steps if is_of_steps else session).conversation(document, source, beside, note)


def read_index(source: Source, note: Notes) -> Iterator[Item]:
    """The sessions that an index lists; what was said in them lies in other files."""
    for session_id, entry in entries(source, note).items():
        if source.companion(f"{session_id}.json") is None:
            _note_missing(session_id, entry, note)
            yield _listed(session_id, entry)
    note(Kind.IGNORED_FILE, "", "what was said lies in the files beside it")


def _note_missing(session_id: str, entry: Bag, note: Notes) -> None:
    if id_in(entry) is not None:
        note(Kind.MISSING_FILE, "", f"{session_id}.json, a session that the index lists")


def _listed(session_id: str, entry: Bag) -> Conversation:
    """A session of which only the index is left."""
    place = words(entry.get("workspaceDirectory")) or words(entry.get("workspace_directory"))
    return Conversation(
        id=session_id,
        made_id=id_in(entry) is None,
        source=SOURCE,
        title=listed_title(entry),
        started_at=timestamps.moment(entry.get("dateCreated") or entry.get("date_created")),
        cwd=None if place is None else path_of(place),
        shape="list",
        extra={"index": entry},
    )
