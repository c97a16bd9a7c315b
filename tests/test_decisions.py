"""Decision records: each is numbered, has the same four headings, and is linked from the list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "decisions"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
HEADINGS = ["Context", "Decision", "Consequences", "Alternatives"]
MAX_LINES = 70


def title_of(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0]


def test_they_are_numbered_without_gaps() -> None:
    assert [path.name[:5] for path in PAGES] == [f"{number:04}-" for number, _ in enumerate(PAGES, 1)]
    assert [title_of(path).partition(". ")[0] for path in PAGES] == [
        f"# {number}" for number, _ in enumerate(PAGES, 1)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_has_the_same_headings_and_fits_on_a_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert HEADINGS == re.findall(r"^## (.*)$", text, re.MULTILINE)
    sections = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    assert all(section.strip() for section in sections)
    assert text.count("\n") <= MAX_LINES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_each_points_to_exists(page: Path) -> None:
    paths = re.findall(r"`((?:src|tests|bench|docs)/[\w./]+)`", page.read_text(encoding="utf-8"))

    assert [] == [path for path in paths if not (FOLDER.parents[1] / path).exists()]


def test_the_list_has_each_by_its_title() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|$", text, re.MULTILINE)

    assert listed == [(*title_of(path).removeprefix("# ").split(". ", 1), path.name) for path in PAGES]


def test_the_documentation_links_to_the_list() -> None:
    assert "(decisions/README.md)" in (FOLDER.parent / "index.md").read_text(encoding="utf-8")
