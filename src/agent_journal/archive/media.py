"""Pictures, sounds and documents that belong to conversations: which are kept, and how they come back.

Nobody reads them, so no reader asks for them. Of a folder or zip that is read as a whole all are kept; of a
single file, those beside it that its conversations name. `KeptMedia` gives them back.
"""

from __future__ import annotations

import base64
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.archive.candidates import stat_of
from agent_journal.archive.recording import stream_of
from agent_journal.errors import DamagedArchive, UnreadableSource
from agent_journal.inputs.input import File, Member, as_text, files_below, is_plain
from agent_journal.model import Media, Memory, Message, ToolResult
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.manifest import KeptFile
    from agent_journal.archive.recording import Keeping
    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation, Event, Item, Part
    from agent_journal.notes import Notes

_PICTURES = {"png", "jpg", "jpeg", "gif", "webp", "heic", "avif", "bmp", "tif", "tiff", "svg"}
_SOUNDS = {"mp3", "wav", "m4a", "aac", "ogg", "oga", "opus", "flac"}
_SUFFIXES = _PICTURES | _SOUNDS | {"mp4", "m4v", "mov", "webm", "pdf"}


def is_media(name: str) -> bool:
    """Whether a file is a picture, a sound, a film or a document, by its name."""
    return name.rpartition(".")[2].lower() in _SUFFIXES


def named(item: Item) -> Iterator[str]:
    """Paths of media that a conversation names beside the file it is in."""
    if isinstance(item, Memory):
        return
    for entry in item.timeline:
        if isinstance(entry, Message):
            for part in entry.parts:
                yield from _refs(part)


def _refs(part: Part) -> Iterator[str]:
    if isinstance(part, ToolResult) and not isinstance(part.output, str):
        inner: Iterable[Part] = part.output
    else:
        inner = (part,)
    for each in inner:
        if isinstance(each, Media) and each.ref and not each.data and _is_beside(each.ref):
            yield each.ref


def _is_beside(ref: str) -> bool:
    return is_media(ref) and all(map(is_plain, ref.split("/")))


def keep(unit: Source, refs: Iterable[str], keeping: Keeping, largest: int | None, note: Notes) -> None:
    """Put a unit's media into the vault; what is larger than that is named instead (None: nothing is)."""
    for place, source in _found(unit, refs):
        size = _size(source)
        if largest is not None and size > largest:
            detail = f"its {size:,} bytes are not kept: storage.media_max_mb is {largest // 10**6:,}"
            note.add(Kind.IGNORED_FILE, source.label, detail=detail)
            continue
        try:
            keeping.file(place, source)
        except UnreadableSource as error:
            note.add(Kind.IGNORED_FILE, source.label, detail=f"it is not kept: {error.reason}")


def _found(unit: Source, refs: Iterable[str]) -> Iterator[tuple[str, Source]]:
    if unit.is_folder:
        for file in files_below(unit):
            if is_media(file.name):
                yield as_text(posixpath.relpath(file.path, unit.path or ".")), file
        return
    for ref in dict.fromkeys(refs):
        found = unit.companion(*ref.split("/"))
        if found is not None:
            yield as_text(ref), found


def _size(source: Source) -> int:
    if isinstance(source, File):
        return stat_of(source.location).size
    return source.archive.size(source.inside) if isinstance(source, Member) else 0


# More than this in one piece is no part of a page.
_LARGEST_SHOWN = 64 << 20


class KeptMedia:
    """Gives conversations the files that the vault keeps for them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._sources: list[int] = []
        self._files: dict[str, KeptFile] = {}

    def brought_back(self, key: int, media: Media) -> bytes | None:
        """The bytes of a picture, sound or document of a conversation; None if they were not kept."""
        if media.data:
            with suppress(ValueError):
                return base64.b64decode(media.data)
        self._look_at(self._archive.store.sources_of(key))
        file = self._file(media)
        if file is None:
            return None
        with stream_of(file, self._archive.vault, file.name) as stream:
            return stream.read()

    def filled(self, key: int, conversation: Conversation) -> Conversation:
        """The conversation with the bytes of its media, as far as they are kept."""
        if not any(_is_open(part) for message in _messages(conversation) for part in message.parts):
            return conversation
        self._look_at(self._archive.store.sources_of(key))
        if not self._files:
            return conversation
        timeline: list[Message | Event] = [
            replace(entry, parts=[self._part(part) for part in entry.parts])
            if isinstance(entry, Message) and any(map(_is_open, entry.parts))
            else entry
            for entry in conversation.timeline
        ]
        return replace(conversation, timeline=timeline)

    def _look_at(self, sources: list[int]) -> None:
        """Know the files of some sources; the conversations of an export come one after the other."""
        if sources == self._sources:
            return
        store = self._archive.store
        manifests = [each.manifest for source in sources for each in store.snapshots(source)]
        self._sources = sources
        self._files = {
            place: file
            for each in manifests
            for place, file in each.files.items()
            if place and not file.broke
        }

    def _part(self, part: Part) -> Part:
        if isinstance(part, ToolResult) and not isinstance(part.output, str):
            output = [self._media(each) if isinstance(each, Media) else each for each in part.output]
            return replace(part, output=output)
        return self._media(part) if isinstance(part, Media) else part

    def _media(self, media: Media) -> Media:
        file = None if media.data else self._file(media)
        if file is None or file.size > _LARGEST_SHOWN:
            return media
        try:
            with stream_of(file, self._archive.vault, file.name) as stream:
                data = base64.b64encode(stream.read()).decode()
        except (UnreadableSource, DamagedArchive):  # 'aj check' tells what is wrong with the vault
            return media
        return replace(media, data=data, size=file.size)

    def _file(self, media: Media) -> KeptFile | None:
        """The file that is meant: by its path, or the only one of that name in any folder.

        Where an export has it under another name than the conversation says, its reader left that in `extra`.
        """
        told = (media.extra.get("file"), media.ref, media.name)
        names = [name for name in told if name and isinstance(name, str)]
        exact = next((self._files[name] for name in names if name in self._files), None)
        if exact is not None:
            return exact
        found = (
            [file for place, file in self._files.items() if place.endswith(f"/{name}")] for name in names
        )
        return next((files[0] for files in found if len({file.sha256 for file in files}) == 1), None)


def _messages(conversation: Conversation) -> Iterator[Message]:
    return (entry for entry in conversation.timeline if isinstance(entry, Message))


def _is_open(part: Part) -> bool:
    """Whether it is, or holds, a file that is named and not there."""
    if isinstance(part, ToolResult):
        return not isinstance(part.output, str) and any(map(_is_open, part.output))
    return isinstance(part, Media) and not part.data
