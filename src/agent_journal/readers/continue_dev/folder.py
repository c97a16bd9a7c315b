"""A folder of sessions, or the one above it, which also has the configuration and the logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.fields import nonempty_str
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.model import Conversation, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import config, detect, logs, session, steps
from agent_journal.readers.continue_dev.companions import Companions, id_in, load_index
from agent_journal.readers.continue_dev.names import DEV_DATA, INDEX, SESSIONS, SOURCE
from agent_journal.readers.continue_dev.values import listed_title, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Item
    from agent_journal.notes import Notes


def read_folder(folder: Input, note: Notes) -> Iterator[Item]:
    """Yield every session, also those that only the index or a log has; note all other files."""
    children = folder.children()
    is_home = not any(child.name == INDEX for child in children)
    sessions = next((child for child in children if child.is_folder and child.name == SESSIONS), folder)
    companions = Companions(folder, () if is_home else ("..",), note)
    known: set[str] = set()
    for file in (sessions if is_home else folder).children():
        if not file.is_folder and file.name != INDEX:
            for item in _read_file(file, companions, note.about(file.label)):
                known.add(item.id)
                yield item
    for session_id, entry in companions.index.items():
        if session_id not in known:
            _note_missing(session_id, entry, note)
            yield _conversation_from_index(session_id, entry)
    if is_home:
        yield from _read_other_files(children, known | companions.index.keys(), note)


def _read_file(file: Input, companions: Companions, note: Notes) -> Iterator[Item]:
    try:
        document = session.load(file, note) if file.name.endswith(".json") else None
        kind = detect.detect_kind(document) if document is not None else None
        if document is None or (kind is None and file.name.removesuffix(".json") not in companions.index):
            note(Kind.UNKNOWN_FILE, "", Peek(file).looks_like())
        elif kind == detect.STEPS:
            yield steps.make_conversation(document, file, companions, note)
        else:
            yield session.make_conversation(document, file, companions, note)
    except UnreadableSource as error:
        note(Kind.UNREADABLE_FILE, "", error.reason)


def _read_other_files(children: Sequence[Input], known: set[str], note: Notes) -> Iterator[Item]:
    """Yield the sessions that only logs have; note the other files."""
    for child in children:
        files = files_below(child) if child.is_folder and child.name != SESSIONS else iter((child,))
        for file in files:
            if file.is_folder or file.name in {config.YAML, config.JSON}:
                continue
            about = note.about(file.label)
            try:
                if child.name == DEV_DATA and detect.detect_version(Peek(file)) == detect.LOG:
                    yield from logs.read_log(file, about, known)
                else:
                    about(Kind.IGNORED_FILE, "", "it contains no conversation")
            except UnreadableSource as error:
                about(Kind.UNREADABLE_FILE, "", error.reason)


def read_session(source: Input, note: Notes) -> Iterator[Item]:
    """Yield the session of a file, with its companions."""
    document = session.load(source, note)
    if document is None:
        raise UnreadableSource(source.label, "it contains nothing of a session")
    companions = Companions(source, ("..",), note, only=session.id_of(document, source))
    has_steps = detect.detect_kind(document) == detect.STEPS
    yield (steps if has_steps else session).make_conversation(document, source, companions, note)


def read_index(source: Input, note: Notes) -> Iterator[Item]:
    """Yield the sessions of an index without a file; messages are only in the sessions' files."""
    for session_id, entry in load_index(source, note).items():
        if source.companion(f"{session_id}.json") is None:
            _note_missing(session_id, entry, note)
            yield _conversation_from_index(session_id, entry)
    note(Kind.IGNORED_FILE, "", "the messages are in the files next to it")


def _note_missing(session_id: str, entry: Bag, note: Notes) -> None:
    if id_in(entry) is not None:
        note(Kind.MISSING_FILE, "", f"{session_id}.json, a session in the index")


def _conversation_from_index(session_id: str, entry: Bag) -> Conversation:
    """Make the conversation of a session that only the index has."""
    folder = nonempty_str(entry.get("workspaceDirectory")) or nonempty_str(entry.get("workspace_directory"))
    return Conversation(
        id=session_id,
        made_id=id_in(entry) is None,
        source=SOURCE,
        title=listed_title(entry),
        started_at=timestamps.parse_timestamp(entry.get("dateCreated") or entry.get("date_created")),
        cwd=None if folder is None else path_of(folder),
        shape="list",
        extra={"index": entry},
    )
