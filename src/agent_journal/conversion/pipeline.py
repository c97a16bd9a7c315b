"""From inputs to items: find the units, ask each one's reader, say where every value came from.

No archive is involved: this is all that `aj convert` needs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from agent_journal import plugins, readers
from agent_journal.detection.peek import Peek
from agent_journal.errors import (
    AgentJournalError,
    AmbiguousFormat,
    NoSuchName,
    UnknownFormat,
    UnreadableSource,
)
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.input import NotFollowed, as_text, open_input, opened, sha256
from agent_journal.model import Conversation, Item, Memory, Origin, timestamps
from agent_journal.model.token_sanity import implausible_counts
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes
    from agent_journal.readers import Reader


FILE_TIME = "the time of the file stands in"


class Unit(NamedTuple):
    """A file or folder that one reader reads."""

    source: Input
    reader: Reader
    version: str


def parse_format(text: str) -> tuple[Reader, str | None]:
    """Reader and version that `-f NAME` or `-f NAME@VERSION` names."""
    name, at, version = text.partition("@")
    reader = readers.get(name)
    if at and version not in reader.INFO.versions:
        raise NoSuchName(f"{name} version", version, reader.INFO.versions)
    return reader, version or None


def units(location: str, note: Notes, from_format: str | None = None) -> Iterator[Unit]:
    """The units of an input, in the order of their paths.

    A single file that nobody claims is an error. In a folder such a file is noted, and it is an error
    only if nothing else was found.
    """
    yield from units_of(open_input(location), note, from_format)


def units_of(source: Input, note: Notes, from_format: str | None = None) -> Iterator[Unit]:
    """The same for a source that is open."""
    forced = parse_format(from_format) if from_format else None
    if not source.is_folder:
        yield _unit(source, forced, note)
        return
    has_units = False
    for unit in _walk(source, forced, note):
        has_units = True
        yield unit
    if not has_units and forced:
        why = f"no file in it is of the format {forced[0].INFO.name}; without -f every format is tried"
        raise UnreadableSource(source.label, why)
    if not has_units:
        raise UnknownFormat(source.label, "no file in it has a known layout", len(readers.discover()))


def is_claimed(source: Input, note: Notes, from_format: str | None = None) -> bool:
    """Whether a reader (or the one that is asked for) takes a file or folder as it is, for one unit."""
    forced = parse_format(from_format) if from_format else None
    return _claimed(opened(source), forced, None, note) is not None


def _unit(source: Input, forced: tuple[Reader, str | None] | None, note: Notes) -> Unit:
    peek = Peek(source)
    if forced is None:
        try:
            reader, version = readers.identify(peek)
        except (UnknownFormat, AmbiguousFormat):
            note_failures(peek, note, is_claimed=False)
            raise
        note_failures(peek, note, is_claimed=True)
        return Unit(source, reader, version)
    reader, wanted = forced
    version = wanted or readers.detect(reader, peek) or reader.INFO.versions[0]
    note_failures(peek, note, is_claimed=False)
    return Unit(source, reader, version)


def note_failures(peek: Peek, note: Notes, *, is_claimed: bool) -> None:
    """Report which readers failed while they looked at an input.

    If nobody else claims the input, it is one that could not be read. If another reader does, it is read, and
    the reader that failed is named once.
    """
    for name, error in peek.failures:
        is_ours = plugins.package_of(readers.get(name)) is None
        if is_ours and not is_claimed:
            note.failed(error, peek.label, name)
            continue
        if is_ours:
            problem = f"the {name} reader failed with {type(error).__name__} while it looked at {peek.label}"
            plugins.add_problem(name, problem)
        path = None if note.reports is None else note.reports.write(error, name)
        if path is not None:
            plugins.attach_report(name, path)
    peek.failures.clear()


def _walk(folder: Input, forced: tuple[Reader, str | None] | None, note: Notes) -> Iterator[Unit]:
    pending = [folder]
    above = _name_above(folder)
    sibling: tuple[str, Reader] | None = None
    while pending:
        source = pending.pop()
        if not source.is_folder and _is_companion(source.path, above):
            continue  # it is read, and reported, with what it belongs to
        if isinstance(source, NotFollowed):
            note_not_followed(source, note)
            continue
        try:
            source = opened(source)
            unit = _claimed(source, forced, sibling, note)
            if unit is not None:
                sibling = (_folder(source), unit.reader)
                yield unit
            elif source.is_folder:
                pending.extend(reversed(source.children()))
            else:
                note.add(Kind.UNKNOWN_FILE, source.label, "", Peek(source).looks_like())
        except AmbiguousFormat as error:
            note.add(Kind.UNKNOWN_FILE, source.label, "", str(error))
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, source.label, "", error.reason)


def note_not_followed(source: NotFollowed, note: Notes) -> None:
    """Name a link, pipe, socket or device; of those, only a link out of the folder may hide something."""
    kind = Kind.UNREADABLE_FILE if source.leads_out else Kind.IGNORED_FILE
    note.add(kind, source.label, "", source.reason)


def _name_above(folder: Input) -> str:
    """The name of a folder, unless all that is in a folder of that name belongs to others."""
    name = os.path.basename(os.path.abspath(folder.label))  # noqa: PTH100, PTH119 (a label, also of a member)
    return "" if readers.is_companion(f"{name}/0") else name


def _is_companion(path: str, above: str) -> bool:
    """Whether a file belongs to some unit, also by the name of the folder that was asked for."""
    return readers.is_companion(path) or (above != "" and readers.is_companion(f"{above}/{path}"))


def _folder(source: Input) -> str:
    return source.label.rpartition("/")[0]


def _claimed(
    source: Input,
    forced: tuple[Reader, str | None] | None,
    sibling: tuple[str, Reader] | None,
    note: Notes,
) -> Unit | None:
    """The unit a source is, or None if nobody (or not the reader asked for) claims it.

    A folder of sessions holds a thousand of one kind: whoever claims the first is asked first for the next.
    """
    peek = Peek(source)
    if forced is not None:
        reader, wanted = forced
        version = readers.detect(reader, peek)
        note_failures(peek, note, is_claimed=False)
        return None if version is None else Unit(source, reader, wanted or version)
    if sibling is not None and not source.is_folder and sibling[0] == _folder(source):
        version = readers.detect(sibling[1], peek)
        if version is not None:
            return Unit(source, sibling[1], version)
        peek.failures.clear()  # it is asked again with the others
    claims = readers.claims(peek)
    note_failures(peek, note, is_claimed=bool(claims))
    if len(claims) > 1:
        raise AmbiguousFormat(source.label, [reader.INFO.name for reader, _ in claims])
    return Unit(source, *claims[0]) if claims else None


def read_unit(unit: Unit, note: Notes, *, is_confined: bool = True) -> Iterator[Item]:
    """Everything in a unit, each item with its origin. A unit that breaks off is noted, not raised.

    An unforeseen error costs the rest of the unit and is noted, too; it is raised if it is not confined.
    """
    source, info = unit.source, unit.reader.INFO
    try:
        origin = Origin(
            reader=info.name,
            version=unit.version,
            revision=info.revision,
            file=as_text(source.path or source.name),
            sha256=sha256(source),
        )
        about = note.about(source.label)
        # No variable refers to an item that was yielded: the caller decides how long it stays in memory.
        yield from map(_Completion(unit, origin, about).item, unit.reader.read(source, unit.version, about))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
    except AgentJournalError:
        raise  # of the journal, not of the file
    except Exception as error:
        if not is_confined:
            raise
        note.failed(error, source.label, info.name, unit.version)
    finally:
        for file, place, detail in sqlite_copy.take_omitted_values():
            note.add(Kind.TOO_LARGE, file, place, detail)


class _Completion:
    """Adds to each item of a unit what its reader leaves out, and notes what is odd."""

    def __init__(self, unit: Unit, origin: Origin, note: Notes) -> None:
        self._source = unit.source
        self._name = unit.reader.INFO.name
        self._is_foreign = plugins.package_of(unit.reader) is not None
        self._origin = origin
        self._note = note
        self._product = readers.product_of(unit.reader.INFO, unit.source.label.replace("\\", "/"))
        self._modified_at: str | None = None

    def item(self, item: Item) -> Item:
        """Return an item of the reader with its origin and, if it states no time, that of its file."""
        _insist_on_an_item(item, is_foreign=self._is_foreign)
        for message, odd in implausible_counts(item) if isinstance(item, Conversation) else ():
            self._note(Kind.ODD_COUNT, message, odd)
        # What another reader made, and a writer of ours wrote down, is given back as it was.
        is_first = item.source == self._name and (item.origin is None or item.origin.member is not None)
        if is_first and isinstance(item, Conversation) and not _has_time(item):
            self._modified_at = self._modified_at or _modified_at(self._source)
            item = _with_file_time(item, self._modified_at, self._note)
        if is_first and self._product is not None and isinstance(item, Conversation) and not item.product:
            item = replace(item, product=self._product)
        return _with_origin(item, self._origin)


def _insist_on_an_item(item: Any, *, is_foreign: bool) -> None:
    """Refuse what is no item; one from a reader of another package is checked in every field."""
    if not isinstance(item, Conversation | Memory):
        raise TypeError(f"the reader gave a {type(item).__name__}, which is neither conversation nor memory")
    if is_foreign:
        msgspec.json.decode(msgspec.json.encode(item), type=type(item))


def _has_time(conversation: Conversation) -> bool:
    """Whether anything in a conversation has a time."""
    if conversation.updated_at or conversation.started_at:
        return True
    return any(entry.at for entry in conversation.timeline)


def _with_file_time(conversation: Conversation, modified_at: str | None, note: Notes) -> Conversation:
    """A conversation that states no time, with that of its file: by then it was written."""
    if modified_at is None:
        return conversation
    note(Kind.MISSING_TIME, conversation.id, FILE_TIME)
    return replace(conversation, updated_at=modified_at)


def _modified_at(source: Input) -> str | None:
    """When a file, or the newest file in a folder, was written."""
    newest: float | None = None
    pending = [source]
    while pending:
        current = pending.pop()
        at = current.modified_at
        if at is not None and (newest is None or at > newest):
            newest = at
        pending.extend(current.children() if current.is_folder else ())
    return None if newest is None else timestamps.from_epoch(int(newest))


def _with_origin(item: Item, origin: Origin) -> Item:
    """The item with its origin; one that says only in which file of a folder it is gets the rest."""
    stated = item.origin
    if stated is None:
        return replace(item, origin=origin)
    if stated.reader:
        return item
    return replace(item, origin=replace(origin, member=stated.member, member_sha256=stated.member_sha256))


def read_all(locations: list[str], note: Notes, from_format: str | None = None) -> Iterator[Item]:
    """Everything in several inputs. With more than one, an input that cannot be read is noted."""
    for location in locations:
        try:
            for unit in units(location, note, from_format):
                yield from read_unit(unit, note)
        except NoSuchName:
            raise
        except AgentJournalError as error:
            if len(locations) == 1:
                raise
            note.add(Kind.UNREADABLE_FILE, location, "", str(error))
