"""Pictures, sounds and documents that belong to conversations: which are kept, and how they come back.

Nobody reads them, so no reader asks for them. Of a folder or zip that is read as a whole all are kept; of a
single file, those beside it that its conversations name.
"""

from __future__ import annotations

import posixpath
from base64 import b64decode
from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal.archive.found import stat_of
from agent_journal.archive.kept import stream_of
from agent_journal.errors import UnreadableSource
from agent_journal.model import Media, Memory, Message, ToolResult
from agent_journal.notes import Kind
from agent_journal.source import File, Member, as_text, files_below, is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.kept import Keeping
    from agent_journal.archive.manifest import KeptFile, Manifest
    from agent_journal.model import Item, Part
    from agent_journal.notes import Notes
    from agent_journal.source import Source

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


def brought_back(archive: Archive, conversation: int, media: Media) -> bytes | None:
    """The bytes of a picture, sound or document of a conversation; None if they were not kept.

    Where an export has it under another name than the conversation says, its reader left that in `extra`.
    """
    if media.data:
        with suppress(ValueError):
            return b64decode(media.data)
    names = [
        name for name in (media.extra.get("file"), media.ref, media.name) if name and isinstance(name, str)
    ]
    for source in archive.store.sources_of(conversation):
        for snapshot in reversed(archive.store.snapshots(source)):
            file = next(filter(None, (_file(snapshot.manifest, name) for name in names)), None)
            if file is not None:
                with stream_of(file, archive.vault) as stream:
                    return stream.read()
    return None


def _file(manifest: Manifest, name: str) -> KeptFile | None:
    """The file of that path, or the only one of that name in any folder."""
    if name in manifest.files:
        return manifest.files[name]
    found = [file for place, file in manifest.files.items() if place.endswith(f"/{name}")]
    return found[0] if len(found) == 1 else None
