"""The folder of vectors: which entries have which. Derived from rows, and disposable.

Vectors and their keys are appended to files; a small file says how many of them count. It is written last, so
that whoever is killed leaves at most what nobody counts. Files of another generation take the place of these
when something must go for good.
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

LAYOUT = 1
ABOUT = own_folder.ABOUT
_OWN = re.compile(r"about\.json(?:\.part\d+)?|\d+\.(?:keys|rows|mute|graph)(?:\.part\d+)?")
_BLOCK = 1 << 16


class Made(NamedTuple):
    """How vectors were made; those that were made otherwise cannot be compared with these."""

    journal: str
    model: str
    dimensions: int
    precision: str  # f16 or f32
    content: str  # which texts have vectors, and how they are cut


class About(NamedTuple):
    """What a folder of vectors says about itself."""

    made: Made
    generation: int = 0
    rows: int = 0
    """How many vectors count."""
    mute: int = 0
    """How many keys count that have no vector, as there is nothing in them."""
    upto: int = 0
    """Everything up to this key has its vectors."""
    reach: int = 0
    """No key is higher."""


def folder_beside(index: Path) -> Path:
    """Where the vectors lie that belong to an index of words."""
    return index.with_name(f"{index.name}.vectors")


def about(folder: Path) -> About | None:
    """What the vectors in a folder say about themselves; None if there are none."""
    try:
        said = json.loads((folder / ABOUT).read_bytes())
        if said["layout"] != LAYOUT:
            return None
        made = Made(**said["made"])
        return About(made, *(int(said[name]) for name in About._fields[1:]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(str(folder), "it does not say what it is") from error


def is_current(folder: Path, generation: int) -> bool:
    """Whether vectors have not been made again since these."""
    said = about(folder)
    return said is not None and said.generation == generation


def say(folder: Path, what: About) -> None:
    """Let a folder say something about itself; from then on it is so."""
    said = {**what._asdict(), "made": what.made._asdict(), "layout": LAYOUT}
    write_bytes(str(folder / ABOUT), json.dumps(said).encode())


class Stored:
    """The vectors of one moment, to be read: others may append meanwhile."""

    def __init__(self, folder: Path, said: About) -> None:
        import numpy as np  # noqa: PLC0415 (takes long)

        self.folder = folder
        self.about = said
        width = said.made.dimensions
        kind = np.float16 if said.made.precision == "f16" else np.float32
        self.rows: Rows = self._mapped("rows", kind, said.rows * width).reshape(said.rows, width)
        self.keys: Keys = self._mapped("keys", np.int64, said.rows)
        self.mute: Keys = self._mapped("mute", np.int64, said.mute)

    def _mapped(self, suffix: str, kind: type[np.generic], count: int) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415

        path = self.folder / f"{self.about.generation}.{suffix}"
        if not count:
            return np.empty(0, kind)
        try:
            return np.memmap(path, kind, "r", shape=(count,))
        except (OSError, ValueError, OverflowError) as error:
            raise IndexDamaged(str(path), "it is missing or too short") from error

    def known(self, beyond: int = 0) -> Keys:
        """Every key beyond one that was dealt with, in order."""
        import numpy as np  # noqa: PLC0415

        return np.unique(np.concatenate([each[each > beyond] for each in (self.keys, self.mute)]))

    @property
    def entries(self) -> int:
        """How many entries were dealt with, about: one that is gone may be among them."""
        import numpy as np  # noqa: PLC0415

        pieces = np.count_nonzero(np.diff(self.keys)) + 1 if len(self.keys) else 0  # of an entry in a row
        return int(pieces) + len(self.mute)

    def problems(self) -> list[str]:
        """What is wrong with the files: each vector has the length one."""
        import numpy as np  # noqa: PLC0415

        bad = 0
        for start in range(0, self.about.rows, _BLOCK):
            with np.errstate(all="ignore"):
                lengths = np.linalg.norm(self.rows[start : start + _BLOCK].astype(np.float32), axis=1)
            bad += int((~(np.abs(lengths - 1) < 0.01)).sum())  # noqa: PLR2004
        found = [f"{bad:,} of its vectors are damaged"] if bad else []
        if self.about.rows and int(self.keys.max()) > self.about.reach:
            found.append("its keys are damaged")
        return found


def begin(folder: Path, made: Made) -> About:
    """New vectors in place of those that are there, which go."""
    old = _generation(folder)
    said = About(made, generation=old + 1)
    make_folder(str(folder))
    with _changing(folder):
        say(folder, said)
    drop_others(folder, said.generation)
    return said


def append(folder: Path, said: About, keys: Keys, rows: Rows, mute: Keys) -> About:
    """Take vectors with their keys, and keys of what has none. Only who holds the lock may do that."""
    place = str(folder / str(said.generation))
    with _changing(folder):
        _extend(f"{place}.rows", said.rows * rows.shape[1] * rows.itemsize, rows.tobytes())
        _extend(f"{place}.keys", said.rows * keys.itemsize, keys.tobytes())
        _extend(f"{place}.mute", said.mute * mute.itemsize, mute.tobytes())
        highest = max((int(each.max()) for each in (keys, mute) if each.size), default=0)
        said = said._replace(
            rows=said.rows + len(keys), mute=said.mute + len(mute), reach=max(said.reach, highest)
        )
        say(folder, said)
    return said


def keep_only(stored: Stored, keys: Keys) -> About:
    """The vectors of these keys alone, in files of their own; the others are gone for good.

    What is whole is to be found out again: who was a copy of something that went stands for itself now.
    """
    import numpy as np  # noqa: PLC0415

    said, folder = stored.about, stored.folder
    mute = stored.mute[np.isin(stored.mute, keys)]
    stay = np.flatnonzero(np.isin(stored.keys, keys))
    new = said._replace(generation=_generation(folder) + 1, rows=0, mute=0, upto=0, reach=0)
    new = append_unsaid(folder, new, stored, stay, mute)
    with _changing(folder):
        say(folder, new)
    drop_others(folder, new.generation)
    return new


def append_unsaid(folder: Path, new: About, stored: Stored, stay: Keys, mute: Keys) -> About:
    """Write rows of other vectors into files of a generation that does not count yet."""
    place = str(folder / str(new.generation))
    with _changing(folder):
        for suffix in ("rows", "keys", "mute"):
            _extend(f"{place}.{suffix}", 0, b"")
        for start in range(0, len(stay), _BLOCK):
            block = stay[start : start + _BLOCK]
            rows, keys = stored.rows[block], stored.keys[block]
            _extend(f"{place}.rows", start * rows.shape[1] * rows.itemsize, rows.tobytes())
            _extend(f"{place}.keys", start * keys.itemsize, keys.tobytes())
        _extend(f"{place}.mute", 0, mute.tobytes())
    left = (stored.keys[stay], mute)
    reach = max((int(each.max()) for each in left if each.size), default=0)
    return new._replace(rows=len(stay), mute=len(mute), reach=reach)


def discard(folder: Path) -> None:
    """Remove vectors, whatever is left of them, and nothing else that lies there."""
    own_folder.remove(folder, _OWN)


def drop_others(folder: Path, generation: int) -> None:
    """Remove files of other generations, and what processes that were killed left."""
    with _changing(folder):
        for path in folder.iterdir():
            number = path.name.partition(".")[0]
            is_left = ".part" in path.name or (number.isdecimal() and int(number) != generation)
            if is_left and _OWN.fullmatch(path.name):
                path.unlink(missing_ok=True)


def _generation(folder: Path) -> int:
    """The highest generation that is spoken of, or of which there may be files."""
    highest = 0
    with suppress(IndexDamaged):
        said = about(folder)
        highest = said.generation if said is not None else 0
    with suppress(FileNotFoundError, NotADirectoryError):
        numbers = [path.name.partition(".")[0] for path in folder.iterdir()]
        highest = max([highest, *(int(number) for number in numbers if number.isdecimal())])
    return highest


def _extend(path: str, size: int, data: bytes) -> None:
    """Let a file go on with data behind so many bytes; whatever came behind them did not count."""
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
def _changing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWrite(str(folder), (error.strerror or str(error)).lower()) from error
