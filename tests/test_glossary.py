"""The glossary defines each term once, and has all of the model."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec

import agent_journal

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"
ROWS = re.findall(
    r"^\| (?!term |---)(.+?) \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


def test_each_term_is_defined_once() -> None:
    terms = Counter(term.strip() for names, _, _ in ROWS for term in names.split(","))

    assert len(terms) > 100
    assert [] == [term for term, count in terms.items() if count > 1]


def test_every_struct_of_the_model_has_a_term() -> None:
    public = [getattr(agent_journal, name) for name in agent_journal.__all__]
    structs = {
        thing.__name__
        for thing in public
        if isinstance(thing, type) and issubclass(thing, msgspec.Struct) and hasattr(thing, "extra")
    }
    named = {word for _, _, place in ROWS for word in re.findall(r"`(\w+)", place)}

    assert {"Conversation", "Message", "Memory", "Text"} <= structs
    assert structs <= named


def test_fields_that_the_glossary_names_exist() -> None:
    fields = {found for _, _, place in ROWS for found in re.findall(r"`([A-Z]\w+)\.(\w+)`", place)}
    known = {(name, field) for name, field in fields if hasattr(agent_journal, name)}

    assert ("Message", "role") in known
    assert [] == [
        f"{name}.{field}"
        for name, field in known
        if field not in getattr(agent_journal, name).__struct_fields__
    ]


def test_folders_and_files_that_the_glossary_names_exist() -> None:
    top = PAGE.parents[1]
    named = {found for _, _, place in ROWS for found in re.findall(r"`([a-z_/]+(?:/|\.py))`", place)}

    assert "records/signing/" in named
    assert [] == [
        path
        for path in named
        if not (top / path).exists() and not (top / "src" / "agent_journal" / path).exists()
    ]


def test_the_documentation_links_to_it() -> None:
    assert "(glossary.md)" in (PAGE.parent / "index.md").read_text(encoding="utf-8")
