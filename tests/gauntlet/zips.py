"""Zips that were made to harm."""

from __future__ import annotations

import io
import json
import resource
import struct
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.gauntlet.corpus import Sessions, export
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, holds

_LONGEST, _LARGEST_MB = 60.0, 1024
# Beyond this a zip has its sizes in other places.
_LARGEST_PLAIN = 2 << 30


def _bomb(path: Path, size: int) -> None:
    """Blanks inside of a JSON list, which deflate to a thousandth."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped,
        zipped.open("conversations.json", "w", force_zip64=size >= _LARGEST_PLAIN) as out,
    ):
        out.write(b"[")
        for _ in range(size >> 20):
            out.write(b" " * (1 << 20))
        out.write(b"]")


def _bombs_beside(path: Path, size: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for number in range(20):
            zipped.writestr(f"conversations-{number}.json", b"[" + b" " * (size // 20) + b"]")


def _lying(path: Path, size: int) -> None:
    """It says that it is 1,000 bytes."""
    _bomb(path, min(size, _LARGEST_PLAIN - (1 << 20)))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, place + 24, 1_000)
    struct.pack_into("<I", data, 22, 1_000)
    path.write_bytes(data)


def _overlapping(path: Path, size: int) -> None:
    """All members are the same bytes."""
    kernel = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = b"[" + b" " * (size // 200) + b"]"
    packed = kernel.compress(block) + kernel.flush()
    crc = zlib.crc32(block)
    local = (
        struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 33, crc, len(packed), len(block), 6, 0) + b"a.json"
    )
    out = io.BytesIO()
    out.write(local + packed)
    start = out.tell()
    for number in range(200):
        name = f"{number:04}.json".encode()
        sizes = (crc, len(packed), len(block), len(name), 0, 0, 0, 0, 0, 0)
        out.write(struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 33, *sizes) + name)
    length = out.tell() - start
    out.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 200, 200, length, start, 0))
    path.write_bytes(out.getvalue())


def _outside(path: Path, _size: int) -> None:
    with zipfile.ZipFile(path, "w") as zipped:
        for name in ("../../outside.json", "/tmp/outside.json", "..\\outside.json", "a/../../outside.json"):  # noqa: S108
            zipped.writestr(name, "[]")


def _link(path: Path, _size: int) -> None:
    with zipfile.ZipFile(path, "w") as zipped:
        info = zipfile.ZipInfo("conversations.json")
        info.external_attr = 0o120777 << 16
        zipped.writestr(info, "/etc/passwd")


def _twice(path: Path, _size: int) -> None:
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("conversations.json", "[]")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zipped.writestr("conversations.json", json.dumps([{"title": "other"}]))


def _encrypted(path: Path, _size: int) -> None:
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("conversations.json", "[]")
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)


def _nested(path: Path, size: int) -> None:
    inner = path.with_name("inner.zip")
    _bomb(inner, size)
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.write(inner, "inner.zip")
    inner.unlink()


def _many(path: Path, _size: int) -> None:
    with zipfile.ZipFile(path, "w") as zipped:
        for number in range(100_000):
            zipped.writestr(f"{number}.json", "")


_KINDS: dict[str, Callable[[Path, int], None]] = {
    "bomb": _bomb,
    "bombs beside each other": _bombs_beside,
    "lying size": _lying,
    "overlap": _overlapping,
    "paths to outside": _outside,
    "link": _link,
    "the same name twice": _twice,
    "encrypted": _encrypted,
    "nested": _nested,
    "100,000 members": _many,
}


@drill(rounds=1, few=0)
def hostile_zips(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Refused with a reason, in a minute and a gigabyte; nothing outside is written."""
    return _tried(lab, 5 << 30)


@drill(rounds=1, few=1)
def small_hostile_zips(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """The same with smaller bombs, and without the one that takes long to make."""
    return _tried(lab, 24 << 20, without=("100,000 members",))


def _tried(lab: Lab, size: int, without: tuple[str, ...] = ()) -> Figures:
    sessions = Sessions(lab.projects)
    sessions.grow(1, 5)
    lab.good("sync")
    slowest = 0.0
    worst = 0
    kinds = {kind: make for kind, make in _KINDS.items() if kind not in without}
    for kind, make in kinds.items():
        path = lab.home / f"{kind}.zip"
        make(path, size)
        before = _outside_of(lab)
        began = time.monotonic()
        done = lab.aj("import", str(path), timeout=300)
        slowest = max(slowest, time.monotonic() - began)
        assert done.is_clear, (kind, done.err)
        assert done.code in {1, 3}, (kind, done.code, done.out, done.err)
        assert str(path) in done.err, (kind, done.err)
        assert before == _outside_of(lab), kind
        path.unlink()
        worst = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        assert worst < _LARGEST_MB, (kind, worst)
    assert slowest < _LONGEST
    good = lab.home / "good.zip"
    truth = {**export(good, 3, 4), **sessions.truth}
    lab.good("import", str(good))
    holds(lab, truth)
    return {"kinds": len(kinds), "slowest": f"{slowest:.1f} s", "RSS": f"{worst} MB"}


def _outside_of(lab: Lab) -> list[str]:
    """Everything that is not the journal."""
    return sorted(
        str(path) for path in lab.folder.rglob("*") if lab.journal not in path.parents and path != lab.journal
    )
