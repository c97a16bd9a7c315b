"""Makes a folder of many small files, of every source and of nobody, under names that say nothing.

The files are the same every time. `truth.json` next to them states the source of each.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cases import Case

TOP = Path(__file__).parent.parent
# One in so many files is nobody's.
_STRANGERS = 5
_SEED = 5

_CAST = '{"version": 2, "width": 80, "height": 24}\n[0.2, "o", "$ make\\r\\n"]\n[0.9, "o", "done\\r\\n"]\n'
_PACKAGE = {"name": "tea", "version": "1.0.0", "scripts": {"test": "make"}, "dependencies": {"pot": "^2.1.0"}}
_LOCK = {"name": "tea", "lockfileVersion": 3, "packages": {"": {"name": "tea"}, "node_modules/pot": {}}}
_NOTEBOOK = {"cells": [{"cell_type": "code", "source": ["1 + 1"]}], "nbformat": 4, "metadata": {}}
_MAP = {"type": "FeatureCollection", "features": [{"type": "Feature", "geometry": None, "properties": {}}]}
_LOG = {"level": "info", "time": 1_771_000_000, "msg": "the pot is on", "pid": 7}
_PEOPLE = [
    {"id": 1, "name": "Ana", "email": "ana@example.org"},
    {"id": 2, "name": "Bo", "email": "bo@example.org"},
]
STRANGERS: tuple[bytes, ...] = (
    b"",
    b" \n\n",
    b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01",
    b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><p>Please sign in.</p></body></html>\n",
    b"# Tea\n\nPut the pot on, wait for the water.\n\n## Milk\n\n* none\n",
    b"Date,Payee,Amount\n2026-01-01,Tea house,4.20\n2026-01-02,Baker,2.10\n",
    b"#!/bin/sh\nset -e\nmake tea\n",
    b"[tool.tea]\nname = 'green'\nminutes = 3\n",
    b"name: tea\nsteps:\n  - boil\n  - pour\n",
    b"[1, 2, 3, 5, 8]\n",
    b'"only a text"\n',
    b'{"half": [1, 2, {"of": "it',
    _CAST.encode(),
    *(json.dumps(value, indent=2).encode() for value in (_PACKAGE, _LOCK, _NOTEBOOK, _MAP, _PEOPLE)),
    b"".join(json.dumps(_LOG | {"pid": pid}).encode() + b"\n" for pid in range(20)),
)


class Sample(NamedTuple):
    """Bytes and whose they are. Those that are not alone are only part of a unit: nobody need claim them."""

    data: bytes
    owner: str | None
    is_alone: bool


def make(folder: Path, count: int) -> None:
    """Write so many files into a new folder `files`, and next to it the truth about them."""
    chance = random.Random(_SEED)
    known = list(_of_cases(folder / "built"))
    samples = list(islice(cycle(known), count - count // _STRANGERS))
    samples += [Sample(data, None, is_alone=True) for data in islice(cycle(STRANGERS), count // _STRANGERS)]
    chance.shuffle(samples)
    (folder / "files").mkdir(parents=True)
    truth = {}
    for number, sample in enumerate(samples):
        name = f"{number:05}"
        (folder / "files" / name).write_bytes(sample.data)
        truth[name] = [sample.owner, sample.is_alone]
    (folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")


def _of_cases(scratch: Path) -> Iterator[Sample]:
    """Every file of every reader's cases, databases built."""
    sys.path.insert(0, str(TOP))
    from tests import cases  # noqa: PLC0415 (found only now)

    for case in cases.all_cases():
        yield from _of_case(case, scratch / case.reader / case.name)
    shutil.rmtree(scratch, ignore_errors=True)


def _of_case(case: Case, scratch: Path) -> Iterator[Sample]:
    from tests import cases  # noqa: PLC0415

    built = case.built(scratch)
    for file in cases.input_files(built):
        yield Sample(file.read_bytes(), case.reader, is_alone=built.is_file())
