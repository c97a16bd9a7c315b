"""Release a version: `python -m tools.release VERSION [--date DATE] [--dry-run | --commit | --tag | --push]`.

Moves the notes in changes/ into a new section of CHANGELOG.md and sets the version of the package. Nothing is
committed, tagged or pushed unless an option asks for it. A refused release changes no file.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKOUT = Path(__file__).resolve().parents[1]
CHANGES = "changes"
CHANGELOG = "CHANGELOG.md"
VERSION_FILE = "src/agent_journal/__init__.py"
TEMPLATE = "TEMPLATE.md"
HIGHLIGHTS = "HIGHLIGHTS.md"

# The order in which the changelog shows them.
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
AREAS = (
    "Command line",
    "Archive",
    "Search",
    "Readers",
    "Writers",
    "Usage",
    "Redaction",
    "Records",
    "Validation",
    "Library",
    "Performance",
    "Installation",
)

_FILE_NAME = re.compile(r"(?P<number>\d{4})(-[a-z0-9]+)+\.md")
_FIRST_LINE = re.compile(r"(?P<kind>[^:]*): (?P<area>[^:]*): (?P<summary>\S.*)")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_VERSION_LINE = re.compile(r'^__version__ = "(?P<version>[^"]*)"$', re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)
_UNRELEASED = "## Unreleased\n"


class ReleaseError(Exception):
    """The reason, in one line, why a version cannot be released."""


class Note(NamedTuple):
    """One file of changes/: one entry of the changelog."""

    kind: str
    area: str
    summary: str
    detail: str


class Edits(NamedTuple):
    """What a release writes and deletes."""

    written: dict[Path, str]
    deleted: list[Path]
    section: str


def main(arguments: Sequence[str] | None = None, checkout: Path = CHECKOUT) -> int:
    """Make a release as the command line asks, and return the exit code."""
    options = _parse(arguments)
    try:
        edits = prepare(checkout, options.version, options.date)
        if options.dry_run:
            print(edits.section, end="")
            return 0
        _check_tree_is_clean(checkout)
        _check_tag_is_free(checkout, options.version)
        apply(edits)
        print(f"{options.version}: {len(edits.deleted)} files of {CHANGES}/ moved into {CHANGELOG}")
        _publish(checkout, options)
    except ReleaseError as error:
        print(f"cannot release {options.version}: {error}", file=sys.stderr)
        return 1
    return 0


def prepare(checkout: Path, version: str, day: date) -> Edits:
    """Check everything that can be checked without git, and return what the release would change."""
    changelog = checkout / CHANGELOG
    module = checkout / VERSION_FILE
    module_text = _read(module)
    before = _read(changelog)
    check_version(version, current_version(module_text))
    notes = read_notes(checkout / CHANGES)
    if not notes:
        raise ReleaseError(f"{CHANGES}/ has no notes, so there is nothing to release")
    highlights_file = checkout / CHANGES / HIGHLIGHTS
    highlights = read_highlights(highlights_file)
    section = format_section(version, day, highlights, list(notes.values()))
    written = {
        changelog: insert_section(before, version, section),
        module: _VERSION_LINE.sub(f'__version__ = "{version}"', module_text),
    }
    written |= _manifests(checkout, current_version(module_text), version)
    return Edits(written, [*notes, *([highlights_file] if highlights else [])], section)


def _manifests(checkout: Path, old: str, new: str) -> dict[Path, str]:
    """Return the plugins and the entry of the registry with the new version."""
    paths = [checkout / "server.json", *sorted((checkout / "plugins").rglob("*.json"))]
    texts = {path: path.read_text(encoding="utf-8") for path in paths if path.is_file()}
    named = f'"version": "{old}"'
    return {path: text.replace(named, f'"version": "{new}"') for path, text in texts.items() if named in text}


def apply(edits: Edits) -> None:
    """Write and delete the files."""
    for path, text in edits.written.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    for path in edits.deleted:
        path.unlink()


def read_notes(folder: Path) -> dict[Path, Note]:
    """Return every note of changes/, by its file, in the order of their numbers."""
    notes: dict[Path, Note] = {}
    numbers: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name in (TEMPLATE, HIGHLIGHTS):
            continue
        named = _FILE_NAME.fullmatch(path.name)
        if named is None:
            raise ReleaseError(f"{_shown(path)}: a note is called NNNN-what-it-is-about.md")
        taken = numbers.setdefault(named["number"], path)
        if taken != path:
            raise ReleaseError(f"{_shown(path)} has the same number as {taken.name}")
        notes[path] = parse_note(_read(path), _shown(path))
    return notes


def parse_note(text: str, where: str) -> Note:
    """Split a note into its kind, its area, the entry itself and its detail."""
    first, _, rest = text.partition("\n")
    found = _FIRST_LINE.fullmatch(first)
    if found is None:
        raise ReleaseError(f"{where}: the first line is not 'Kind: Area: what changed'")
    if found["kind"] not in KINDS:
        raise ReleaseError(f"{where}: the kind '{found['kind']}' is not one of {', '.join(KINDS)}")
    if found["area"] not in AREAS:
        raise ReleaseError(f"{where}: the area '{found['area']}' is not one of {', '.join(AREAS)}")
    if rest.strip() and not rest.startswith("\n"):
        raise ReleaseError(f"{where}: the second line is not empty; the entry is one line")
    if re.search(r"^#", rest, re.MULTILINE):
        raise ReleaseError(f"{where}: a note has no headings; the changelog makes them from kind and area")
    return Note(found["kind"], found["area"], found["summary"].rstrip(), rest.strip("\n").rstrip())


def read_highlights(path: Path) -> str:
    """Return the summary that a release begins with, if there is one."""
    if not path.exists():
        return ""
    text = _read(path).strip()
    if not text:
        raise ReleaseError(f"{_shown(path)} is empty; write it, or delete it")
    if re.search(r"^##? ", text, re.MULTILINE):
        raise ReleaseError(f"{_shown(path)}: headings of levels 1 and 2 belong to {CHANGELOG}; use ###")
    return text


def format_section(version: str, day: date, highlights: str, notes: Sequence[Note]) -> str:
    """Return the section of a version: its highlights, then entries by kind and area."""
    blocks = [f"## {version} - {day.isoformat()}"]
    if highlights:
        blocks.append(highlights)
    for kind in KINDS:
        of_kind = [note for note in notes if note.kind == kind]
        if of_kind:
            blocks.append(f"### {kind}")
        for area in AREAS:
            entries = [_format_entry(note) for note in of_kind if note.area == area]
            if entries:
                blocks += [f"#### {area}", "\n".join(entries).rstrip()]
    return "\n\n".join(blocks) + "\n"


def insert_section(changelog: str, version: str, section: str) -> str:
    """Return the changelog with the section above those of older versions."""
    if re.search(rf"^## \[?{re.escape(version)}\b", changelog, re.MULTILINE):
        raise ReleaseError(f"{CHANGELOG} already has a section for {version}")
    head, heading, rest = changelog.partition(_UNRELEASED)
    if not heading:
        raise ReleaseError(f"{CHANGELOG} has no line '{_UNRELEASED.strip()}' to put the section below")
    older = _SECTION.search(rest)
    if older is None:
        return f"{head}{heading}{rest.rstrip()}\n\n{section}"
    return f"{head}{heading}{rest[: older.start()].rstrip()}\n\n{section}\n{rest[older.start() :]}"


def current_version(module: str) -> str:
    """Return the version that the package states."""
    found = _VERSION_LINE.findall(module)
    if len(found) != 1:
        raise ReleaseError(f"{VERSION_FILE} has {len(found)} lines '__version__ = \"…\"' instead of one")
    return str(found[0])


def check_version(version: str, current: str) -> None:
    """Refuse a version that is not MAJOR.MINOR.PATCH, or not greater than the current one."""
    if not _VERSION.fullmatch(version):
        raise ReleaseError("a version is MAJOR.MINOR.PATCH, such as 1.2.3")
    if _as_numbers(version) <= _as_numbers(current):
        raise ReleaseError(f"the version must be greater than {current}")


def _as_numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ReleaseError(f"{VERSION_FILE} states the version '{version}', which is not MAJOR.MINOR.PATCH")
    return tuple(int(number) for number in found.groups())


def _format_entry(note: Note) -> str:
    if not note.detail:
        return f"* {note.summary}"
    detail = "\n".join(f"  {line}".rstrip() for line in note.detail.splitlines())
    return f"* {note.summary}\n\n{detail}\n"


def _check_tree_is_clean(checkout: Path) -> None:
    changed = _git(checkout, "status", "--porcelain").splitlines()
    if changed:
        raise ReleaseError(
            f"the working tree is not clean; commit or remove {changed[0][3:]}"
            + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")
        )


def _check_tag_is_free(checkout: Path, version: str) -> None:
    if _git(checkout, "tag", "--list", f"v{version}").strip():
        raise ReleaseError(f"the tag v{version} exists")


def _publish(checkout: Path, options: argparse.Namespace) -> None:
    """Commit, tag and push, as far as asked; otherwise print the commands that do."""
    version = options.version
    steps = [
        ["add", "--all", "--", CHANGES, CHANGELOG, VERSION_FILE],
        ["commit", "--quiet", "-m", f"release: {version}"],
        ["tag", "--annotate", f"v{version}", "-m", f"Agent Journal {version}"],
        ["push", "--atomic", "origin", "HEAD", f"refs/tags/v{version}"],
    ]
    done = 4 if options.push else 3 if options.tag else 2 if options.commit else 0
    for step in steps[:done]:
        _git(checkout, *step)
    if done < len(steps):
        print("Next:")
    for step in steps[done:]:
        print("  git " + " ".join(f"'{word}'" if " " in word else word for word in step))


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 (our own words)
    except FileNotFoundError as error:
        raise ReleaseError("git is not installed") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise ReleaseError(f"git {arguments[0]} failed: {lines[0]}")
    return done.stdout


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{_shown(path)} cannot be read: {error}") from error


def _shown(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.release",
        description=f"Move the notes in {CHANGES}/ into {CHANGELOG} and set the version of the package.",
    )
    parser.add_argument("version", metavar="VERSION", help="MAJOR.MINOR.PATCH, greater than the current one")
    parser.add_argument(
        "--date", type=_parse_date, default=datetime.now(UTC).date(), help="YYYY-MM-DD (default: today, UTC)"
    )
    how_far = parser.add_mutually_exclusive_group()
    how_far.add_argument("--dry-run", action="store_true", help="print the section, and change nothing")
    how_far.add_argument("--commit", action="store_true", help="also commit the release")
    how_far.add_argument("--tag", action="store_true", help="also commit and tag it")
    how_far.add_argument("--push", action="store_true", help="also commit, tag and push it")
    return parser.parse_args(arguments)


def _parse_date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a date such as 2026-11-18") from error


if __name__ == "__main__":
    sys.exit(main())
