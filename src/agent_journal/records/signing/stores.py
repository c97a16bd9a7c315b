"""The memory store of a bundle, in a folder, a zip or by itself: its bytes, and others in their place."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from agent_journal import files
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import File, open_input

if TYPE_CHECKING:
    from pathlib import Path

    from agent_journal.inputs.input import Input

STORE = "memory-store.json"
_MAX_STORE_BYTES = 1 << 30


def read(place: Path) -> bytes:
    """The bytes of the memory store."""
    file = _store_in(place)
    with file.open() as stream:
        data = bytearray()
        while len(data) <= _MAX_STORE_BYTES and (block := stream.read(1 << 20)):
            data += block
    if len(data) > _MAX_STORE_BYTES:
        raise UnreadableSource(file.label, f"it is larger than {_MAX_STORE_BYTES >> 30} GiB")
    return bytes(data)


def write(place: Path, data: bytes) -> None:
    """Put other bytes in the place of the memory store; all else stays as it is."""
    store = _store_in(place)
    if place.is_dir():
        files.write_bytes(str(place / STORE), data)
    elif store.label == str(place):
        files.write_bytes(str(place), data)
    else:
        _write_zip(place, data)


def _store_in(place: Path) -> Input:
    source = open_input(str(place))
    if not source.is_folder and isinstance(source, File):
        return source
    file = source.companion(STORE)
    if file is None:
        raise UnreadableSource(str(place), f"it is no bundle: there is no {STORE} in it")
    return file


def _write_zip(place: Path, data: bytes) -> None:
    from shutil import copyfileobj  # noqa: PLC0415 (slow to import)
    from zipfile import ZipFile  # noqa: PLC0415

    with files.whole_file(str(place)) as out, ZipFile(place) as old, closing(files.ZipBundle(out)) as new:
        for info in old.infolist():
            if info.is_dir():
                continue
            with new.file(info.filename) as target:
                if info.filename == STORE:
                    target.write(data)
                    continue
                with old.open(info) as member:
                    copyfileobj(member, target)
