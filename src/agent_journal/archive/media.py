"""Store the pictures, sounds and documents of conversations, and load them again.

No reader requests them, because none decodes them. Of a folder or zip that is one unit, all are stored; of a
single file, those next to it that its conversations name. `StoredMedia` loads them.
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
    from agent_journal.archive.manifest import StoredFile
    from agent_journal.archive.recording import CaptureSession
    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation, Event, Item, Part
    from agent_journal.notes import Notes

_PICTURES = {"png", "jpg", "jpeg", "gif", "webp", "heic", "avif", "bmp", "tif", "tiff", "svg"}
_SOUNDS = {"mp3", "wav", "m4a", "aac", "ogg", "oga", "opus", "flac"}
_SUFFIXES = _PICTURES | _SOUNDS | {"mp4", "m4v", "mov", "webm", "pdf"}


def is_media(name: str) -> bool:
    """Whether a file is a picture, a sound, a film or a document, by its name."""
    return name.rpartition(".")[2].lower() in _SUFFIXES


def media_refs(item: Item) -> Iterator[str]:
    """Yield the paths of media files that a conversation names next to its own file."""
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
        if isinstance(each, Media) and each.ref and not each.data and _is_relative_media(each.ref):
            yield each.ref


def _is_relative_media(ref: str) -> bool:
    return is_media(ref) and all(map(is_plain, ref.split("/")))


def store_media(
    unit: Input, refs: Iterable[str], capture: CaptureSession, largest: int | None, note: Notes
) -> None:
    """Store a unit's media in the vault; files larger than `largest` are noted instead (None: no limit)."""
    for place, source in _media_files(unit, refs):
        size = _size(source)
        if largest is not None and size > largest:
            detail = f"its {size:,} bytes were not stored: storage.media_max_mb is {largest // 10**6:,}"
            note.add(Kind.IGNORED_FILE, source.label, detail=detail)
            continue
        try:
            capture.file(place, source)
        except UnreadableSource as error:
            note.add(Kind.IGNORED_FILE, source.label, detail=f"it was not stored: {error.reason}")


def _media_files(unit: Input, refs: Iterable[str]) -> Iterator[tuple[str, Input]]:
    if unit.is_folder:
        for file in files_below(unit):
            if is_media(file.name):
                yield as_text(posixpath.relpath(file.path, unit.path or ".")), file
        return
    for ref in dict.fromkeys(refs):
        companion = unit.companion(*ref.split("/"))
        if companion is not None:
            yield as_text(ref), companion


def _size(source: Input) -> int:
    if isinstance(source, File):
        return stat_of(source.location).size
    return source.archive.size(source.inside) if isinstance(source, Member) else 0


# Larger files are not embedded in pages.
_MAX_EMBEDDED_BYTES = 64 << 20


class StoredMedia:
    """Loads the media files of conversations from the vault."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._sources: list[int] = []
        self._files: dict[str, StoredFile] = {}

    def load(self, key: int, media: Media) -> bytes | None:
        """Return the bytes of a picture, sound or document; None if they are not stored."""
        if media.data:
            with suppress(ValueError):
                return base64.b64decode(media.data)
        self._load_files_of(self._archive.store.sources_of(key))
        file = self._file(media)
        if file is None:
            return None
        with stream_of(file, self._archive.vault, file.name) as stream:
            return stream.read()

    def with_data(self, key: int, conversation: Conversation) -> Conversation:
        """Return the conversation with the bytes of its media, as far as they are stored."""
        if not any(_lacks_data(part) for message in _messages(conversation) for part in message.parts):
            return conversation
        self._load_files_of(self._archive.store.sources_of(key))
        if not self._files:
            return conversation
        timeline: list[Message | Event] = [
            replace(entry, parts=[self._part(part) for part in entry.parts])
            if isinstance(entry, Message) and any(map(_lacks_data, entry.parts))
            else entry
            for entry in conversation.timeline
        ]
        return replace(conversation, timeline=timeline)

    def _load_files_of(self, sources: list[int]) -> None:
        """Load the file list of some sources, cached for the next conversation of the same export."""
        if sources == self._sources:
            return
        store = self._archive.store
        manifests = [each.manifest for source in sources for each in store.snapshots(source)]
        self._sources = sources
        self._files = {
            place: file
            for each in manifests
            for place, file in each.files.items()
            if place and not file.read_error
        }

    def _part(self, part: Part) -> Part:
        if isinstance(part, ToolResult) and not isinstance(part.output, str):
            output = [self._media(each) if isinstance(each, Media) else each for each in part.output]
            return replace(part, output=output)
        return self._media(part) if isinstance(part, Media) else part

    def _media(self, media: Media) -> Media:
        file = None if media.data else self._file(media)
        if file is None or file.size > _MAX_EMBEDDED_BYTES:
            return media
        try:
            with stream_of(file, self._archive.vault, file.name) as stream:
                data = base64.b64encode(stream.read()).decode()
        except (UnreadableSource, DamagedArchive):  # 'aj check' reports what is wrong with the vault
            return media
        return replace(media, data=data, size=file.size)

    def _file(self, media: Media) -> StoredFile | None:
        """Find the file by its path, or the only file of that name in any folder.

        If an export has it under another name than the conversation, its reader has left that in `extra`.
        """
        stated = (media.extra.get("file"), media.ref, media.name)
        names = [name for name in stated if name and isinstance(name, str)]
        exact = next((self._files[name] for name in names if name in self._files), None)
        if exact is not None:
            return exact
        by_name = (
            [file for place, file in self._files.items() if place.endswith(f"/{name}")] for name in names
        )
        return next((files[0] for files in by_name if len({file.sha256 for file in files}) == 1), None)


def _messages(conversation: Conversation) -> Iterator[Message]:
    return (entry for entry in conversation.timeline if isinstance(entry, Message))


def _lacks_data(part: Part) -> bool:
    """Whether it is, or contains, a file that is named but not included."""
    if isinstance(part, ToolResult):
        return not isinstance(part.output, str) and any(map(_lacks_data, part.output))
    return isinstance(part, Media) and not part.data
