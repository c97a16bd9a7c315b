"""Reads the files of an export: in a folder, a zip, or the zips that a manifest lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below, opened
from agent_journal.notes import Kind, Notes
from agent_journal.readers.claude_ai import detect
from agent_journal.readers.claude_ai.companions import read_memories, read_project, read_user
from agent_journal.readers.claude_ai.conversation import read_conversation
from agent_journal.readers.claude_ai.design import read_design
from agent_journal.readers.dialects.members import with_member_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Item

JsonObject = dict[str, Any]

_CONVERSATIONS = "conversations.json"
_READERS: dict[str, Callable[[JsonObject, str, Notes], Iterator[Item]]] = {
    detect.USERS: read_user,
    detect.MEMORIES: read_memories,
    detect.PROJECTS: read_project,
    detect.DESIGN: read_design,
}
# The account comes before the conversations.
_ORDER = (detect.USERS, detect.MEMORIES, detect.PROJECTS, detect.CONVERSATIONS, detect.DESIGN)


class _CopyRank(NamedTuple):
    """The rank of one copy of a conversation; the copy with the greatest is read."""

    has_messages: bool
    updated_at: str
    # Of two equal copies, the first counts.
    negative_order: int


def read_file(file: Input, note: Notes) -> Iterator[Item]:
    """Read one file of an export."""
    kind = detect.kind_of(Peek(file)) or detect.CONVERSATIONS
    if kind == detect.CONVERSATIONS:
        return _conversations([file], None, note)
    return _records(file, kind, note)


def read_folder(folder: Input, note: Notes) -> Iterator[Item]:
    """Read an export: the account, memories and projects, then each conversation once."""
    files = [*_all_files(folder, note)]
    by_kind: dict[str | None, list[Input]] = {}
    for file in files:
        by_kind.setdefault(_kind(file, note), []).append(file)
    _note_missing(folder, files, by_kind.get("manifest", ()), note)
    account_id = _account(by_kind.get(detect.USERS, ()))
    for kind in _ORDER:
        kind_files = by_kind.get(kind, [])
        if kind == detect.CONVERSATIONS:
            yield from _conversations(kind_files, account_id, note, folder)
            continue
        for file in kind_files:
            yield from with_member_origin(folder, file, _records(file, kind, note))
    _note_ignored(folder, by_kind.get(None, ()), note)


def _all_files(folder: Input, note: Notes) -> Iterator[Input]:
    """List the files of a folder and of the zips in it."""
    for file in files_below(folder):
        if not file.name.endswith(".zip"):
            yield file
            continue
        try:
            part = opened(file)
            if part.is_folder:
                yield from files_below(part)
            else:
                note.add(
                    Kind.UNREADABLE_FILE,
                    file.label,
                    "",
                    "not a zip, or a zip inside a zip: unpack the outer one",
                )
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _kind(file: Input, note: Notes) -> str | None:
    if not file.name.endswith(".json"):
        return None
    peek = Peek(file)
    try:
        kind = detect.kind_of(peek)
        if kind is None and detect.is_manifest_name(file.name) and detect.parts_listed(peek.value):
            return "manifest"
        if file.name == _CONVERSATIONS and "mapping" not in peek.keys:
            return detect.CONVERSATIONS  # also an index, or an empty list
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return "unreadable"
    return kind


def _account(files: Iterable[Input]) -> str | None:
    """Get the person's id, if the export names exactly one."""
    values = [record.get("uuid") for file in files for record in Peek(file).records]
    account_ids = {account_id for account_id in values if isinstance(account_id, str)}
    return account_ids.pop() if len(account_ids) == 1 else None


def _records(file: Input, kind: str, note: Notes) -> Iterator[Item]:
    """Read the records of a small file, as far as it can be read."""
    about = note.about(file.label)
    try:
        for location, record in json_stream.values(file, about):
            if isinstance(record, dict):
                yield from _READERS[kind](record, location, about)
            elif record is not None:
                about(Kind.BAD_RECORD, location, f"a record is {type(record).__name__}")
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _conversations(
    files: list[Input], account_id: str | None, note: Notes, folder: Input | None = None
) -> Iterator[Item]:
    """Read the conversations of several files; of several copies, the one changed last."""
    copies = _Copies(_newest(files) if len(files) > 1 else {})
    noted: set[str] = set()
    for file in files:
        conversations = _conversations_of_file(file, account_id, copies, noted, note.about(file.label))
        yield from conversations if folder is None else with_member_origin(folder, file, conversations)


def _conversations_of_file(
    file: Input, account_id: str | None, copies: _Copies, noted: set[str], note: Notes
) -> Iterator[Item]:
    for location, record in _rows(file, note):
        conversation_id = record.get("uuid")
        if copies.is_chosen(conversation_id):
            yield read_conversation(record, location, account_id, noted, note)
        else:
            note(Kind.REPEATED_RECORD, location, str(conversation_id))


class _Copies:
    """Decides which copy of each conversation to read, while the copies of all files pass by in order."""

    def __init__(self, newest: dict[str, _CopyRank]) -> None:
        self._newest = newest
        self._count = 0

    def is_chosen(self, conversation_id: Any) -> bool:
        """Whether the next copy is the one to read."""
        self._count += 1
        best = self._newest.get(conversation_id) if isinstance(conversation_id, str) else None
        return best is None or -best.negative_order == self._count


def _newest(files: list[Input]) -> dict[str, _CopyRank]:
    """Choose the copy of each conversation to read; an index has copies without messages."""
    newest: dict[str, _CopyRank] = {}
    count = 0
    for file in files:
        for _, record in _rows(file, Notes(keep=0)):
            count += 1
            conversation_id = record.get("uuid")
            if isinstance(conversation_id, str) and conversation_id:
                version = _CopyRank("chat_messages" in record, str(record.get("updated_at") or ""), -count)
                newest[conversation_id] = max(newest.get(conversation_id, version), version)
    return newest


def _rows(file: Input, note: Notes) -> Iterator[tuple[str, JsonObject]]:
    try:
        for location, record in json_stream.values(file, note):
            if record.__class__ is dict:
                if "chat_messages" in record or "name" in record:
                    yield location, record
                else:
                    note(Kind.BAD_RECORD, location, "not a conversation")
            elif record is not None:
                note(Kind.BAD_RECORD, location, f"a conversation is {type(record).__name__}")
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _note_missing(folder: Input, files: list[Input], manifests: Iterable[Input], note: Notes) -> None:
    """Note the parts that a manifest lists and that are missing, zipped or not.

    The manifest's URLs open the parts for anyone who has them, so notes never contain them.
    """
    present = {file.name for file in files_below(folder)}
    present |= {step for file in files for step in file.path.split("/")}
    for manifest in manifests:
        for name in detect.parts_listed(Peek(manifest).value):
            if not {name, name.removesuffix(".zip")} & present:
                note.add(Kind.MISSING_FILE, f"{folder.label}/{name}", "", f"listed in {manifest.name}")


def _note_ignored(folder: Input, files: Iterable[Input], note: Notes) -> None:
    """Note every file without conversations and memories, grouped by folder."""
    groups: dict[str, int] = {}
    for file in files:
        path = file.path[len(folder.path) :].lstrip("/")
        top, _, below = path.partition("/")
        name = f"{top}/*" if below else path
        groups[name] = groups.get(name, 0) + 1
    for name, count in groups.items():
        detail = f"{count:,} {'file' if count == 1 else 'files'}" if name.endswith("/*") else ""
        note.add(Kind.IGNORED_FILE, f"{folder.label}/{name}", "", detail)
