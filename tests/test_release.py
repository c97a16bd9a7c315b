"""Releasing a version: what is assembled, what is refused, and that git is only used as asked."""

from __future__ import annotations

import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from tools import release

VERSION_FILE = '"""A package."""\n\n__version__ = "0.1.0"\n\n__all__ = ["__version__"]\n'
CHANGELOG = """\
# Changelog

## Unreleased

One file per change.
"""
NOTES = {
    "0001-codex.md": "Added: Readers: **Codex** can be read.\n\nAlso compressed.\n\n* Forks\n* Subagents\n",
    "0002-typo.md": "Fixed: Search: A typo.\n",
    "0003-aider.md": "Added: Readers: **Aider** can be read.\n",
    "0004-sync.md": "Added: Archive: `aj sync`: archives everything.\n",
}
SECTION = """\
## 0.2.0 - 2026-11-18

### Added

#### Archive

* `aj sync`: archives everything.

#### Readers

* **Codex** can be read.

  Also compressed.

  * Forks
  * Subagents

* **Aider** can be read.

### Fixed

#### Search

* A typo.
"""


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a release works on, without git."""
    top = tmp_path / "checkout"
    (top / "changes").mkdir(parents=True)
    (top / "src" / "agent_journal").mkdir(parents=True)
    (top / release.VERSION_FILE).write_text(VERSION_FILE, encoding="utf-8")
    (top / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    (top / "changes" / "TEMPLATE.md").write_text("Kind: Area: what\n", encoding="utf-8")
    for name, text in NOTES.items():
        (top / "changes" / name).write_text(text, encoding="utf-8")
    return top


@pytest.fixture
def checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as a repository that git can commit to, whatever is configured on this machine."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name, value in {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ana",
        "GIT_AUTHOR_EMAIL": "ana@example.org",
        "GIT_COMMITTER_NAME": "Ana",
        "GIT_COMMITTER_EMAIL": "ana@example.org",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set where a hook runs the tests
        monkeypatch.delenv(name, raising=False)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    return folder


def commit(checkout: Path) -> None:
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "change")


def run(checkout: Path, *arguments: str) -> int:
    return release.main(["0.2.0", "--date", "2026-11-18", *arguments], checkout)


def refusal(checkout: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what a release that fails prints: one line. It leaves everything as it was."""
    before = git(checkout, "rev-parse", "HEAD")

    assert run(checkout, *arguments) == 1

    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("cannot release 0.2.0: ")
    assert printed.err.count("\n") == 1
    assert before == git(checkout, "rev-parse", "HEAD")
    assert "## 0.2.0" not in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (checkout / release.VERSION_FILE).read_text(encoding="utf-8") == VERSION_FILE
    return printed.err.partition(": ")[2].strip()


def reason_not_to_prepare(folder: Path) -> str:
    with pytest.raises(release.ReleaseError) as error:
        release.prepare(folder, "0.2.0", date(2026, 11, 18))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_release_moves_the_notes_into_the_changelog(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(checkout) == 0

    assert (checkout / "CHANGELOG.md").read_text(encoding="utf-8") == f"{CHANGELOG}\n{SECTION}"
    assert '__version__ = "0.2.0"\n' in (checkout / release.VERSION_FILE).read_text(encoding="utf-8")
    assert ["TEMPLATE.md"] == [path.name for path in (checkout / "changes").iterdir()]
    printed = capsys.readouterr().out
    assert printed.startswith("0.2.0: 4 files of changes/ moved into CHANGELOG.md\nNext:\n  git add ")
    assert "git commit" in printed
    assert "git tag" in printed
    assert "git push" in printed


def test_nothing_is_committed_or_tagged_unless_asked(checkout: Path) -> None:
    before = git(checkout, "rev-parse", "HEAD")

    assert run(checkout) == 0

    assert before == git(checkout, "rev-parse", "HEAD")
    assert git(checkout, "tag", "--list") == ""


def test_a_dry_run_prints_the_section_and_changes_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(checkout, "--dry-run") == 0

    assert capsys.readouterr().out == SECTION
    assert git(checkout, "status", "--porcelain") == ""


def test_commit_commits(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(checkout, "--commit") == 0

    assert git(checkout, "log", "-1", "--format=%s") == "release: 0.2.0"
    assert git(checkout, "status", "--porcelain") == ""
    assert git(checkout, "tag", "--list") == ""
    assert "git commit" not in capsys.readouterr().out


def test_tag_also_tags(checkout: Path) -> None:
    assert run(checkout, "--tag") == 0

    assert git(checkout, "tag", "--list", "--format=%(refname:short) %(objecttype)") == "v0.2.0 tag"
    assert git(checkout, "rev-parse", "v0.2.0^{commit}") == git(checkout, "rev-parse", "HEAD")


def test_push_also_pushes(checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    remote = tmp_path / "remote.git"
    git(checkout, "init", "--quiet", "--bare", str(remote))
    git(checkout, "remote", "add", "origin", str(remote))

    assert run(checkout, "--push") == 0

    assert git(remote, "rev-parse", "main") == git(checkout, "rev-parse", "HEAD")
    assert git(remote, "tag", "--list") == "v0.2.0"
    assert "Next" not in capsys.readouterr().out


def test_a_failed_push_says_so(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(checkout, "--push") == 1

    assert capsys.readouterr().err.startswith("cannot release 0.2.0: git push failed: ")


def test_highlights_begin_the_section(folder: Path) -> None:
    (folder / "changes" / "HIGHLIGHTS.md").write_text("Faster.\n\n### Upgrading\n\nRun it.\n", "utf-8")

    release.apply(release.prepare(folder, "0.2.0", date(2026, 11, 18)))

    begin = "## 0.2.0 - 2026-11-18\n\nFaster.\n\n### Upgrading\n\nRun it.\n\n### Added\n"
    assert begin in (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not (folder / "changes" / "HIGHLIGHTS.md").exists()


def test_a_section_stands_above_older_ones(folder: Path) -> None:
    release.apply(release.prepare(folder, "0.2.0", date(2026, 11, 18)))
    (folder / "changes" / "0005-next.md").write_text("Removed: Library: Nothing.\n", encoding="utf-8")

    release.apply(release.prepare(folder, "0.2.1", date(2026, 11, 18)))

    text = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    newer = "## 0.2.1 - 2026-11-18\n\n### Removed\n\n#### Library\n\n* Nothing.\n"
    assert text == f"{CHANGELOG}\n{newer}\n{SECTION}"


@pytest.mark.parametrize("name", ["stray.txt", "changes/0005-new.md", "CHANGELOG.md"])
def test_a_dirty_tree_is_refused(name: str, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (checkout / name).open("a", encoding="utf-8") as file:
        file.write("Fixed: Search: More.\n")

    assert f"not clean; commit or remove {name}" in refusal(checkout, capsys)


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9"])
def test_a_version_that_is_not_greater_is_refused(
    version: str,
) -> None:
    with pytest.raises(release.ReleaseError, match=r"must be greater than 0\.1\.0"):
        release.check_version(version, "0.1.0")


@pytest.mark.parametrize("version", ["1", "0.2", "v0.2.0", "0.2.0rc1", "0.2.0.1", "00.2.0", "0.2.0\n", "two"])
def test_a_version_of_another_form_is_refused(version: str) -> None:
    with pytest.raises(release.ReleaseError, match=r"MAJOR\.MINOR\.PATCH"):
        release.check_version(version, "0.1.0")


def test_versions_are_compared_as_numbers() -> None:
    release.check_version("0.10.0", "0.9.1")


def test_an_existing_tag_is_refused(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(checkout, "tag", "v0.2.0")

    assert refusal(checkout, capsys) == "the tag v0.2.0 exists"


def test_an_existing_section_is_refused() -> None:
    with pytest.raises(release.ReleaseError, match="already has a section"):
        release.insert_section(f"{CHANGELOG}\n{SECTION}", "0.2.0", SECTION)


def test_a_changelog_without_a_place_is_refused(folder: Path) -> None:
    (folder / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")

    assert "no line '## Unreleased'" in reason_not_to_prepare(folder)


def test_a_release_without_changes_is_refused(folder: Path) -> None:
    for name in NOTES:
        (folder / "changes" / name).unlink()

    assert "nothing to release" in reason_not_to_prepare(folder)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("0005-x.md", "", "the first line is not 'Kind: Area: what changed'"),
        ("0005-x.md", "Something changed\n", "the first line is not"),
        ("0005-x.md", "Fixed: it works now\n", "the first line is not"),
        ("0005-x.md", "Fixed: Search: \n", "the first line is not"),
        ("0005-x.md", "Improved: Search: faster\n", "the kind 'Improved' is not one of Added, "),
        ("0005-x.md", "fixed: Search: faster\n", "the kind 'fixed' is not one of"),
        ("0005-x.md", "Fixed: Serach: faster\n", "the area 'Serach' is not one of Command line, "),
        ("0005-x.md", "Fixed: Search: one\ntwo\n", "the second line is not empty"),
        ("0005-x.md", "Fixed: Search: one\n\n# Heading\n", "a note has no headings"),
        ("x.md", "Fixed: Search: one\n", "a note is called NNNN-what-it-is-about.md"),
        ("0005_x.txt", "Fixed: Search: one\n", "a note is called NNNN-what-it-is-about.md"),
        ("0002-again.md", "Fixed: Search: one\n", "has the same number as 0002-"),
        ("HIGHLIGHTS.md", "", "is empty"),
        ("HIGHLIGHTS.md", "## 0.2.0\n", "headings of levels 1 and 2"),
    ],
)
def test_a_malformed_note_is_refused(name: str, text: str, reason: str, folder: Path) -> None:
    (folder / "changes" / name).write_text(text, encoding="utf-8")

    assert reason in reason_not_to_prepare(folder)


def test_a_note_that_is_not_text_is_refused(folder: Path) -> None:
    (folder / "changes" / "0005-x.md").write_bytes(b"Fixed: Search: \xff\n")

    assert "0005-x.md cannot be read" in reason_not_to_prepare(folder)


def test_a_malformed_note_is_one_line_on_standard_error(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "changes" / "0005-x.md").write_text("Fixed: it works now\n", encoding="utf-8")
    commit(checkout)

    assert refusal(checkout, capsys).startswith("changes/0005-x.md: the first line is not")


def test_a_package_without_a_version_is_refused() -> None:
    with pytest.raises(release.ReleaseError, match="0 lines"):
        release.current_version("version = '1'\n")


def test_a_date_of_another_form_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        release.main(["0.2.0", "--date", "18.11.2026"], folder)

    assert "'18.11.2026' is not a date such as 2026-11-18" in capsys.readouterr().err
