"""The files that tell what changed: each has a number of its own and says what kind of change it is."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

_CHANGES = sorted(
    path for path in (Path(__file__).parent.parent / "changes").iterdir() if path.name != "TEMPLATE.md"
)


def test_each_is_named_by_a_number_and_what_it_is_about() -> None:
    assert not [path.name for path in _CHANGES if not re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", path.name)]


def test_no_number_is_used_twice() -> None:
    numbers = Counter(path.name[:4] for path in _CHANGES)
    assert not [path.name for path in _CHANGES if numbers[path.name[:4]] > 1]


def test_each_begins_with_its_kind() -> None:
    kind = re.compile(r"(Added|Changed|Fixed|Removed|Security): \S")
    assert not [path.name for path in _CHANGES if not kind.match(path.read_text())]
