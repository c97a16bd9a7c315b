"""The notes in changes/ can be assembled into the changelog at any time."""

from __future__ import annotations

from datetime import date

import pytest

from tools import release

CHANGES = release.CHECKOUT / release.CHANGES
NOTES = sorted(path for path in CHANGES.iterdir() if path.name not in (release.TEMPLATE, release.HIGHLIGHTS))


def test_files_are_numbered_once_and_named_by_what_they_are_about() -> None:
    assert sorted(release.read_notes(CHANGES)) == NOTES


def test_the_highlights_fit_into_a_section() -> None:
    release.read_highlights(CHANGES / release.HIGHLIGHTS)


def test_the_template_names_every_kind_and_area() -> None:
    template = (CHANGES / release.TEMPLATE).read_text(encoding="utf-8")

    assert [] == [
        word for word in (*release.KINDS, *release.AREAS) if word not in template.replace("\n  ", " ")
    ]


def test_the_changelog_can_take_the_next_section() -> None:
    changelog = (release.CHECKOUT / release.CHANGELOG).read_text(encoding="utf-8")
    section = release.format_section(
        "999.0.0", date(2026, 1, 2), "", list(release.read_notes(CHANGES).values())
    )

    assert section in release.insert_section(changelog, "999.0.0", section)


@pytest.mark.skipif(not NOTES, reason="nothing has changed since the last release")
def test_the_next_version_can_be_prepared() -> None:
    edits = release.prepare(release.CHECKOUT, "999.0.0", date(2026, 1, 2))

    assert set(NOTES) <= set(edits.deleted)
