"""The folder of vectors and their entries' keys. It is derived from rows, and disposable.

Vectors and their keys are appended to files; a small file with metadata states how many of them are valid. It
is written last, so a killed process leaves at most uncounted data. To erase vectors for good, the remaining
ones are written to files of a new generation.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.errors import CannotWrite, IndexDamaged
from agent_journal.files import make_folder, write_bytes
from agent_journal.search import folder as own_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Keys = NDArray[np.int64]
    Rows = NDArray[np.floating]

LAYOUT_VERSION = 1
INFO_FILE = own_folder.INFO_FILE
_OWN_FILES = re.compile(r"about\.json(?:\.part\d+)?|\d+\.(?:keys|rows|mute|graph)(?:\.part\d+)?")
_MAX_READ_ROWS = 1 << 16


class VectorFormat(NamedTuple):
    """How vectors were made; vectors of different formats cannot be compared."""

    journal: str
    model: str
    dimensions: int
    precision: str  # f16 or f32
    content: str  # which texts have vectors, and how they are split


class VectorsInfo(NamedTuple):
    """Metadata of a folder of vectors."""

    made: VectorFormat
    generation: int = 0
    rows: int = 0
    """The number of valid vectors."""
    mute: int = 0
    """The number of valid keys of entries without a vector, as they have no text."""
    upto: int = 0
    """Every entry up to this key has its vectors."""
    reach: int = 0
    """The highest key."""


def vectors_folder(index: Path) -> Path:
    """Return the folder of the vectors that belong to a word index."""
    return index.with_name(f"{index.name}.vectors")


def read_info(folder: Path) -> VectorsInfo | None:
    """Read the metadata of the vectors in a folder; None if there are none."""
    try:
        content = json.loads((folder / INFO_FILE).read_bytes())
        if content["layout"] != LAYOUT_VERSION:
            return None
        made = VectorFormat(**content["made"])
        return VectorsInfo(made, *(int(content[name]) for name in VectorsInfo._fields[1:]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(str(folder), "its description is damaged") from error


def is_current(folder: Path, generation: int) -> bool:
    """Whether the vectors are still of this generation."""
    info = read_info(folder)
    return info is not None and info.generation == generation


def write_info(folder: Path, info: VectorsInfo) -> None:
    """Write the metadata of a folder; this commits the vectors."""
    content = {**info._asdict(), "made": info.made._asdict(), "layout": LAYOUT_VERSION}
    write_bytes(str(folder / INFO_FILE), json.dumps(content).encode())


class StoredVectors:
    """A snapshot of the vectors for reading: other processes may append meanwhile."""

    def __init__(self, folder: Path, info: VectorsInfo) -> None:
        import numpy as np  # noqa: PLC0415 (slow to import)

        self.folder = folder
        self.info = info
        width = info.made.dimensions
        dtype = np.float16 if info.made.precision == "f16" else np.float32
        self.rows: Rows = self._mapped("rows", dtype, info.rows * width).reshape(info.rows, width)
        self.keys: Keys = self._mapped("keys", np.int64, info.rows)
        self.mute: Keys = self._mapped("mute", np.int64, info.mute)
        self._state = self._file_state()

    def is_unchanged(self) -> bool:
        """Whether the files are the ones that were mapped: reading from one that was cut ends the process."""
        return self._state == self._file_state() is not None

    def _file_state(self) -> tuple[tuple[int, bool], ...] | None:
        """Return the identity of each file, and whether it is long enough; None if one is missing."""
        sizes = {"rows": self.rows.nbytes, "keys": self.keys.nbytes, "mute": self.mute.nbytes}
        try:
            statuses = [
                (os.stat(self.folder / f"{self.info.generation}.{suffix}"), size)  # noqa: PTH116
                for suffix, size in sizes.items()
                if size
            ]
        except OSError:
            return None
        return tuple((status.st_ino, status.st_size >= size) for status, size in statuses)

    def _mapped(self, suffix: str, dtype: type[np.generic], count: int) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415

        path = self.folder / f"{self.info.generation}.{suffix}"
        if not count:
            return np.empty(0, dtype)
        try:
            return np.memmap(path, dtype, "r", shape=(count,))
        except (OSError, ValueError, OverflowError) as error:
            raise IndexDamaged(str(path), "it is missing or too short") from error

    def known_keys(self, beyond: int = 0) -> Keys:
        """Return every processed key beyond one, in order."""
        import numpy as np  # noqa: PLC0415

        return np.unique(np.concatenate([each[each > beyond] for each in (self.keys, self.mute)]))

    @property
    def entries(self) -> int:
        """About how many entries were processed: deleted ones may be among them."""
        import numpy as np  # noqa: PLC0415

        runs = (
            np.count_nonzero(np.diff(self.keys)) + 1 if len(self.keys) else 0
        )  # the chunks of an entry are consecutive
        return int(runs) + len(self.mute)

    def problems(self) -> list[str]:
        """Return what is wrong with the files; each vector must have the length one."""
        import numpy as np  # noqa: PLC0415

        damaged = 0
        for start in range(0, self.info.rows, _MAX_READ_ROWS):
            with np.errstate(all="ignore"):
                lengths = np.linalg.norm(self.rows[start : start + _MAX_READ_ROWS].astype(np.float32), axis=1)
            damaged += int((~(np.abs(lengths - 1) < 0.01)).sum())  # noqa: PLR2004
        problems = [f"{damaged:,} of its vectors are damaged"] if damaged else []
        if self.info.rows and int(self.keys.max()) > self.info.reach:
            problems.append("its keys are damaged")
        return problems


def start_over(folder: Path, vector_format: VectorFormat) -> VectorsInfo:
    """Start a new, empty generation and remove the existing vectors."""
    generation = _highest_generation(folder)
    info = VectorsInfo(vector_format, generation=generation + 1)
    make_folder(str(folder))
    with _write_errors_as_cannot_write(folder):
        write_info(folder, info)
    remove_other_generations(folder, info.generation)
    return info


def append(folder: Path, info: VectorsInfo, keys: Keys, rows: Rows, mute: Keys) -> VectorsInfo:
    """Append vectors with their keys, and keys of entries without any. The caller must hold the lock."""
    prefix = str(folder / str(info.generation))
    with _write_errors_as_cannot_write(folder):
        _write_at(f"{prefix}.rows", info.rows * rows.shape[1] * rows.itemsize, rows.tobytes())
        _write_at(f"{prefix}.keys", info.rows * keys.itemsize, keys.tobytes())
        _write_at(f"{prefix}.mute", info.mute * mute.itemsize, mute.tobytes())
        highest = max((int(each.max()) for each in (keys, mute) if each.size), default=0)
        info = info._replace(
            rows=info.rows + len(keys), mute=info.mute + len(mute), reach=max(info.reach, highest)
        )
        write_info(folder, info)
    return info


def rewrite_with(stored: StoredVectors, keys: Keys) -> VectorsInfo:
    """Rewrite the vectors with these keys into new files; the others are erased.

    `upto` starts at 0 again: a copy of an erased entry needs vectors of its own now.
    """
    import numpy as np  # noqa: PLC0415

    info, folder = stored.info, stored.folder
    mute = stored.mute[np.isin(stored.mute, keys)]
    positions = np.flatnonzero(np.isin(stored.keys, keys))
    new = info._replace(generation=_highest_generation(folder) + 1, rows=0, mute=0, upto=0, reach=0)
    new = write_uncommitted(folder, new, stored, positions, mute)
    with _write_errors_as_cannot_write(folder):
        write_info(folder, new)
    remove_other_generations(folder, new.generation)
    return new


def write_uncommitted(
    folder: Path, new: VectorsInfo, stored: StoredVectors, positions: Keys, mute: Keys
) -> VectorsInfo:
    """Write rows of stored vectors into files of a generation that is not yet committed."""
    prefix = str(folder / str(new.generation))
    with _write_errors_as_cannot_write(folder):
        for suffix in ("rows", "keys", "mute"):
            _write_at(f"{prefix}.{suffix}", 0, b"")
        for start in range(0, len(positions), _MAX_READ_ROWS):
            block = positions[start : start + _MAX_READ_ROWS]
            rows, keys = stored.rows[block], stored.keys[block]
            _write_at(f"{prefix}.rows", start * rows.shape[1] * rows.itemsize, rows.tobytes())
            _write_at(f"{prefix}.keys", start * keys.itemsize, keys.tobytes())
        _write_at(f"{prefix}.mute", 0, mute.tobytes())
    remaining_keys = (stored.keys[positions], mute)
    reach = max((int(each.max()) for each in remaining_keys if each.size), default=0)
    return new._replace(rows=len(positions), mute=len(mute), reach=reach)


def discard(folder: Path) -> None:
    """Remove vectors or their remains, and no other files."""
    own_folder.remove_own_files(folder, _OWN_FILES)


def remove_other_generations(folder: Path, generation: int) -> None:
    """Remove files of other generations, and what killed processes left."""
    with _write_errors_as_cannot_write(folder):
        for path in folder.iterdir():
            number = path.name.partition(".")[0]
            is_obsolete = ".part" in path.name or (number.isdecimal() and int(number) != generation)
            if is_obsolete and _OWN_FILES.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _highest_generation(folder: Path) -> int:
    """Return the highest generation in the metadata or in names of files."""
    highest = 0
    with suppress(IndexDamaged):
        info = read_info(folder)
        highest = info.generation if info is not None else 0
    with suppress(FileNotFoundError, NotADirectoryError):
        numbers = [path.name.partition(".")[0] for path in folder.iterdir()]
        highest = max([highest, *(int(number) for number in numbers if number.isdecimal())])
    return highest


def _write_at(path: str, size: int, data: bytes) -> None:
    """Write data to a file after `size` bytes, replacing uncommitted data there."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.ftruncate(handle, size)
        os.lseek(handle, size, os.SEEK_SET)
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _write_errors_as_cannot_write(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(str(folder), (error.strerror or str(error)).lower()) from error
