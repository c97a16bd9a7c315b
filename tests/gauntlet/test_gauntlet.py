"""Each drill a few times: `python -m tests.gauntlet` runs them in earnest."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.gauntlet.all import DRILLS
from tests.gauntlet.lab import Lab


@pytest.mark.parametrize("name", [name for name, drill in DRILLS.items() if drill.few])
def test_drill(name: str, tmp_path: Path) -> None:
    drill = DRILLS[name]
    assert drill.run(Lab(tmp_path), drill.few, Random(1))  # noqa: S311


def test_the_page_names_every_drill() -> None:
    page = (Path(__file__).parents[2] / "docs" / "drills.md").read_text(encoding="utf-8")

    assert [] == [name for name in DRILLS if f"`{name}`" not in page]
