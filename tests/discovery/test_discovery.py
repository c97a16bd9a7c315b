"""Where histories are found, and what is never looked at."""

from __future__ import annotations

import fnmatch
import glob
import os
import socket
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_journal import config, readers
from agent_journal.config import FILE_NAME, load
from agent_journal.discovery import Unit, globs, homes_of, units
from agent_journal.discovery.companions import Companions
from agent_journal.notes import Notes
from agent_journal.readers import ReaderInfo
from tests.examples import examples

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")


def info(name: str = "tea-talk", *homes: str, **more: tuple[str, ...]) -> ReaderInfo:
    return ReaderInfo(
        name=name,
        title=name.title(),
        versions=("1",),
        homes=homes,
        companions=more.get("companions", ()),
        in_projects=more.get("in_projects", ()),
    )


TEA = info("tea-talk", "~/.tea/chats/**/*.jsonl", "~/.tea/pots/*/", companions=("*/cups/*", "*/x-*.jsonl"))


class Machine:
    """A person's folder with a journal in it, and what a walk through it notes."""

    def __init__(self, top: Path) -> None:
        self.home = top / "ada"
        self.journal = self.home / ".agent-journal"
        self.here = top / "here"
        self.environ = {"HOME": str(self.home), "USERPROFILE": str(self.home)}
        self.notes = Notes()
        for folder in (self.journal, self.here):
            folder.mkdir(parents=True)

    def write(self, path: str, text: str = "x") -> Path:
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return place

    def settle(self, text: str) -> None:
        (self.journal / FILE_NAME).write_text(text, encoding="utf-8")
        (self.journal / FILE_NAME).chmod(0o600)

    def find(self, *infos: ReaderInfo, projects: Iterable[str] = ()) -> list[Unit]:
        self.notes = Notes()
        settled = load(self.journal, {}) if not infos else self.load()
        return list(
            units(settled, infos or (TEA,), self.environ, str(self.here), note=self.notes, projects=projects)
        )

    def load(self) -> config.Config:
        return load(self.journal, self.environ)

    def paths(self, *infos: ReaderInfo, projects: Iterable[str] = ()) -> list[str]:
        return [self.shown(unit.path) for unit in self.find(*infos, projects=projects)]

    def shown(self, path: str) -> str:
        return os.path.relpath(path, self.home).replace(os.sep, "/")

    def noted(self) -> list[str]:
        return [f"{note.kind}: {self.shown(note.file)}: {note.detail}" for note in self.notes.collected]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture(autouse=True)
def tea(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration knows the sources of these tests."""
    known = {config.source_key(source): source for source in (TEA, info("plain"), info("ink", ".ink.md"))}
    monkeypatch.setattr(config, "_sources", lambda: known)


# ── What is found ──


def test_files_and_folders_with_what_shows_whether_they_changed(machine: Machine) -> None:
    file = machine.write(".tea/chats/a/1.jsonl", "four")
    machine.write(".tea/chats/a/1.txt")
    machine.write(".tea/pots/p/one", "12")
    newest = machine.write(".tea/pots/p/in/two", "345")
    os.utime(newest, ns=(1, 9_000_000_000_000_000_001))
    pot = machine.home / ".tea/pots/p"
    (machine.home / ".tea/pots/empty").mkdir()
    machine.write(".tea/pots/not-a-folder")

    found = machine.find(TEA)

    status = file.stat()
    assert found == [
        Unit("tea-talk", str(file), TEA.homes[0], 4, status.st_mtime_ns, status.st_ino, is_folder=False),
        Unit(
            "tea-talk",
            str(pot),
            TEA.homes[1],
            5,
            9_000_000_000_000_000_001,
            pot.stat().st_ino,
            is_folder=True,
        ),
    ]
    assert machine.noted() == []


def test_deep_is_any_number_of_folders(machine: Machine) -> None:
    for path in ("1", "a/2", "a/b/c/d/3"):
        machine.write(f".tea/chats/{path}.jsonl")

    assert machine.paths(TEA) == [f".tea/chats/{path}.jsonl" for path in ("1", "a/2", "a/b/c/d/3")]


def test_a_star_is_one_name(machine: Machine) -> None:
    for path in ("a/log", "a/b/log", "log", "a/log2"):
        machine.write(path)

    assert machine.paths(info("plain", "~/*/log")) == ["a/log"]


def test_nothing_where_there_is_nothing(machine: Machine) -> None:
    assert machine.paths(TEA) == []
    assert machine.noted() == []


def test_companions_are_no_units(machine: Machine) -> None:
    for path in ("a/1", "a/x-1", "a/cups/2", "a/cups/deep/3"):
        machine.write(f".tea/chats/{path}.jsonl")

    assert machine.paths(TEA) == [".tea/chats/a/1.jsonl"]


def test_companions_are_as_the_readers_say() -> None:
    """What is a companion below an input is one in a home, too."""
    for name, reader in readers.discover().items():
        for pattern in reader.INFO.companions:
            path = "/h" + pattern.removeprefix("*").replace("*", "x").replace("?", "0")
            assert readers.is_companion(path), (name, pattern)
            folder, _, last = path.rpartition("/")
            assert Companions(folder).has(reader.INFO, last), (name, pattern)


def test_a_place_where_several_sources_look_belongs_to_none(machine: Machine) -> None:
    machine.write(".both/1.jsonl")
    machine.write(".both/1.json")

    found = machine.find(info("a", "~/.both/*.jsonl"), info("b", "~/.both/*"))

    assert [(unit.reader, machine.shown(unit.path)) for unit in found] == [
        ("b", ".both/1.json"),
        ("", ".both/1.jsonl"),
    ]


def test_several_patterns_of_one_source_find_a_file_once(machine: Machine) -> None:
    machine.write(".tea/1.jsonl")

    found = machine.find(info("a", "~/.tea/*.jsonl", "~/.tea/**/*", "~/.tea/1.jsonl"))

    assert [(unit.reader, unit.home) for unit in found] == [("a", "~/.tea/*.jsonl")]


def test_the_order_is_that_of_names(machine: Machine) -> None:
    for name in ("b/2", "a", "c", "b/1"):
        machine.write(f".tea/{name}")

    assert machine.paths(info("a", "~/.tea/**/*")) == [".tea/a", ".tea/c", ".tea/b/1", ".tea/b/2"]


def test_litter_is_not_looked_at(machine: Machine) -> None:
    for name in (".DS_Store", "._1", ".git/x", "__MACOSX/x", "__pycache__/x", "1"):
        machine.write(f".tea/{name}")

    assert machine.paths(info("a", "~/.tea/**/*")) == [".tea/1"]


# ── What is in the way ──


@posix_only
def test_a_file_with_two_names_is_one(machine: Machine) -> None:
    file = machine.write(".tea/chats/b.jsonl")
    os.link(file, machine.home / ".tea/chats/a.jsonl")
    (machine.home / ".other").mkdir()
    os.link(file, machine.home / ".other/c.jsonl")

    assert machine.paths(TEA, info("other", "~/.other/*.jsonl")) == [".other/c.jsonl"]


@posix_only
def test_links_that_run_in_circles(machine: Machine) -> None:
    machine.write(".tea/chats/a/1.jsonl")
    (machine.home / ".tea/chats/a/up").symlink_to(machine.home / ".tea")
    (machine.home / ".tea/chats/self.jsonl").symlink_to("self.jsonl")
    (machine.home / ".tea/pots").symlink_to("pots")

    assert machine.paths(TEA) == [".tea/chats/a/1.jsonl"]
    assert machine.noted() == [
        "ignored-file: .tea/chats/self.jsonl: it is a link, which is not followed",
        "ignored-file: .tea/chats/a/up: it is a link, which is not followed",
        "unreadable-file: .tea/pots: too many levels of symbolic links",
    ] or machine.noted()[0].startswith("unreadable-file: .tea/pots")


@posix_only
@pytest.mark.parametrize("globs_around", [(), ("~/.*/nothing/*",)])
def test_a_link_that_a_pattern_names_is_followed(machine: Machine, globs_around: tuple[str, ...]) -> None:
    machine.write("elsewhere/chats/1.jsonl")
    (machine.home / ".tea").symlink_to(machine.home / "elsewhere")

    assert machine.paths(info("a", *TEA.homes, *globs_around)) == [".tea/chats/1.jsonl"]
    assert machine.noted() == []


@posix_only
def test_a_link_to_nothing_is_not_reported(machine: Machine) -> None:
    machine.write("elsewhere/chats/1.jsonl")
    machine.write("dotfiles/vim/vimrc")
    (machine.home / ".tea").symlink_to(machine.home / "elsewhere")
    (machine.home / ".vim").symlink_to(machine.home / "dotfiles/vim")

    assert machine.paths(info("a", "~/.*/chats/*.jsonl")) == []
    assert machine.noted() == ["ignored-file: .tea: it is a link, which is not followed"]


@posix_only
def test_two_ways_to_one_folder_find_it_once(machine: Machine) -> None:
    machine.write(".tea/chats/1.jsonl")
    (machine.home / ".tee").symlink_to(machine.home / ".tea")

    assert machine.paths(info("a", "~/.tea/chats/*", "~/.tee/chats/*")) == [".tea/chats/1.jsonl"]


@posix_only
def test_pipes_and_sockets_are_named_and_not_opened(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write(".tea/chats/1.jsonl")
    os.mkfifo(machine.home / ".tea/chats/pipe.jsonl")
    os.mkfifo(machine.home / ".tea/chats/pipe.txt")
    monkeypatch.chdir(machine.home / ".tea/chats")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.jsonl")

        assert machine.paths(TEA) == [".tea/chats/1.jsonl"]
    assert machine.noted() == [
        f"ignored-file: .tea/chats/{name}.jsonl: it is not a regular file" for name in ("pipe", "socket")
    ]


def test_a_folder_that_cannot_be_listed_is_noted(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write(".tea/chats/closed/1.jsonl")
    machine.write(".tea/chats/open/1.jsonl")
    real = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)

    assert machine.paths(TEA) == [".tea/chats/open/1.jsonl"]
    assert machine.noted() == ["unreadable-file: .tea/chats/closed: permission denied"]


@posix_only
def test_names_of_any_bytes(machine: Machine) -> None:
    folder = machine.write(".tea/chats/1.jsonl").parent
    names = [b"\xff\xfe.jsonl", b"a\nb.jsonl", b"\x1b[31m.jsonl", b" .jsonl", b"[x]*?.jsonl"]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder / "_")[:-1] + name)).touch()

    assert {os.fsencode(Path(unit.path).name) for unit in machine.find(TEA)} == {b"1.jsonl", *names}


def test_files_that_vanish_are_nothing_to_speak_of(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write(".tea/chats/1.jsonl")
    machine.write(".tea/chats/2.jsonl")
    real = os.scandir

    class Listing(list[os.DirEntry[str]]):
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

    def late(path: str) -> Listing:
        with real(path) as listing:
            entries = Listing(listing)
        (machine.home / ".tea/chats/1.jsonl").unlink(missing_ok=True)
        return entries

    monkeypatch.setattr(os, "scandir", late)

    assert machine.paths(TEA) == [".tea/chats/2.jsonl"]
    assert machine.noted() == []


# ── What is never looked at ──


def test_the_journal_does_not_find_itself(machine: Machine) -> None:
    machine.write(".agent-journal/vault/1.jsonl")
    machine.write(".agent-journal/2.jsonl")
    machine.write("idx/3.jsonl")
    machine.write("4.jsonl")
    machine.settle(f'[storage]\nindex_path = "{(machine.home / "idx").as_posix()}"\n')

    inside = ("~/.agent-journal/*.jsonl", "~/.agent-journal/vault/1.jsonl", "~/.agent-journal/vault/**/*")
    assert machine.paths(info("a", "~/**/*.jsonl", *inside)) == ["4.jsonl"]
    assert machine.paths(info("a", *inside)) == []


@posix_only
def test_the_journal_does_not_find_itself_through_links(machine: Machine) -> None:
    machine.write(".agent-journal/vault/1.jsonl")
    (machine.home / ".tea").symlink_to(".agent-journal/vault")
    (machine.home / ".pot").symlink_to(".agent-journal/vault/1.jsonl")

    assert machine.paths(info("a", "~/.tea/*.jsonl", "~/.tea/1.jsonl", "~/.pot", "~/.tea/**/*")) == []


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        ("~/.tea/chats/secret", ["a/1", "a/secret2"]),
        ("~/.tea/chats/secret/", ["a/1", "a/secret2"]),
        ("~/.tea/chats/s*/**", ["a/1", "a/secret2"]),
        ("secret", ["a/1", "a/secret2"]),
        ("secret*", ["a/1"]),
        ("**/secret*", ["a/1"]),
        ("a/*.jsonl", ["secret/1", "secret/b/2"]),
        ("~/.tea", []),
        ("~/.tea/chats/*/1.jsonl", ["a/secret2", "secret/b/2"]),
        ("~/.tea/*.jsonl", ["a/1", "a/secret2", "secret/1", "secret/b/2"]),
        ("[!a]/1.jsonl", ["a/1", "a/secret2", "secret/1", "secret/b/2"]),
        ("[a-b]", ["secret/1"]),
        ("%NOWHERE%/x", ["a/1", "a/secret2", "secret/1", "secret/b/2"]),
    ],
)
def test_excluded_paths(machine: Machine, exclude: str, left: list[str]) -> None:
    for path in ("a/1", "secret/1", "secret/b/2", "a/secret2"):
        machine.write(f".tea/chats/{path}.jsonl")
    machine.settle(f"[storage]\nexclude = ['{exclude}']\n")

    assert machine.paths(TEA) == [f".tea/chats/{path}.jsonl" for path in left]


@posix_only
def test_what_is_excluded_is_excluded_by_any_name(machine: Machine) -> None:
    machine.write("secret/chats/1.jsonl")
    (machine.home / ".tea").symlink_to("secret")
    machine.settle('[storage]\nexclude = "~/secret"\n')

    assert machine.paths(TEA) == []


def test_folders_that_are_units_are_excluded_too(machine: Machine) -> None:
    machine.write(".tea/pots/a/1", "12")
    machine.write(".tea/pots/b/1", "345")
    machine.settle('[storage]\nexclude = ["~/.tea/pots/a"]\n')

    assert [(machine.shown(unit.path), unit.size) for unit in machine.find(TEA)] == [(".tea/pots/b", 3)]
    assert machine.noted() == []


def test_a_folder_is_not_read_as_a_whole_if_something_in_it_is_excluded(machine: Machine) -> None:
    machine.write(".tea/pots/a/in/secret")
    machine.write(".tea/pots/b/1")
    machine.settle('[storage]\nexclude = "secret"\n')

    assert machine.paths(TEA) == [".tea/pots/b"]
    (said,) = machine.noted()
    assert said.startswith("unreadable-file: .tea/pots/a: it would be read as a whole, but ")
    assert said.endswith("secret is not to be looked at")


def test_a_folder_with_the_journal_in_it_is_not_read_as_a_whole(machine: Machine) -> None:
    machine.write("1.txt")
    machine.settle('[storage.sources]\nplain = "~"\n')

    assert machine.paths(info("plain")) == []
    assert "it would be read as a whole, but " in machine.noted()[0]


# ── What a person settled ──


def test_a_source_can_be_left_out(machine: Machine) -> None:
    machine.write(".tea/chats/1.jsonl")
    machine.settle("[storage.sources]\ntea_talk = false\n")

    assert machine.paths(TEA) == []


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        # Laid out as at home, from whichever folder on.
        ("chats/a/1.jsonl", "~/b/chats", "b/chats/a/1.jsonl"),
        ("chats/a/1.jsonl", "~/b/chats/", "b/chats/a/1.jsonl"),
        (".tea/chats/a/1.jsonl", "~/b/.tea", "b/.tea/chats/a/1.jsonl"),
        ("pots/p/1", "~/b/pots", "b/pots/p"),
        (".tea/pots/p/1", "~/b/.tea", "b/.tea/pots/p"),
        # Under another name, with files as they are called at home.
        ("old/1.jsonl", "~/b/old", "b/old/1.jsonl"),
        ("old/x/y/1.jsonl", "~/b", "b/old/x/y/1.jsonl"),
        ("old/pots/p/1", "~/b", "b/old/pots/p"),
        # None of these: the folder itself is a unit.
        ("old/1.txt", "~/b/old", "b/old"),
        # A file, and globs.
        ("any.txt", "~/b/any.txt", "b/any.txt"),
        ("any.txt", "~/b/*.txt", "b/any.txt"),
        ("x/y/any.txt", "~/b/**/any.txt", "b/x/y/any.txt"),
        ("x/y/any.txt", "~/b/**", "b/x/y/any.txt"),
        ("disk1/chats/1.jsonl", "~/b/disk*/chats", "b/disk1/chats/1.jsonl"),
        ("disk1/whole/1.txt", "~/b/*/whole/", "b/disk1/whole"),
        # A name with brackets is a name if there is such a file.
        ("a[b]/chats/1.jsonl", "~/b/a[b]/chats", "b/a[b]/chats/1.jsonl"),
        ("a[b].txt", "~/b/a[b].txt", "b/a[b].txt"),
    ],
)
def test_a_source_can_be_moved(machine: Machine, written: str, value: str, expected: str) -> None:
    machine.write(".tea/chats/left-behind.jsonl")
    machine.write(f"b/{written}")
    machine.settle(f'[storage.sources]\ntea_talk = "{value}"\n')

    assert machine.paths(TEA) == [expected]
    assert [unit.home for unit in machine.find(TEA)] == [value]
    assert machine.noted() == []


def test_a_source_can_have_several_homes(machine: Machine) -> None:
    machine.write("a/1.jsonl")
    machine.write("b/2.jsonl")
    machine.settle('[storage.sources]\ntea_talk = ["~/a", "~/b/*"]\n')

    assert machine.paths(TEA) == ["a/1.jsonl", "b/2.jsonl"]


def test_a_source_without_a_home_can_have_one(machine: Machine) -> None:
    machine.write("exports/a.zip")
    machine.write("whole/a.json")
    machine.settle('[storage.sources]\nplain = ["~/exports/*.zip", "~/whole"]\n')

    assert sorted(machine.paths(info("plain"))) == ["exports/a.zip", "whole"]


def test_a_home_that_is_named_and_not_there_is_noted(machine: Machine) -> None:
    machine.settle('[storage.sources]\ntea_talk = ["~/gone", "~/gone*/x", "%NOWHERE%/x"]\n')

    assert machine.paths(TEA) == []
    assert machine.noted() == ["absent-folder: gone: the configuration names it for tea_talk"]


def test_an_empty_folder_that_is_named_is_no_trouble(machine: Machine) -> None:
    (machine.home / "b").mkdir()
    machine.settle('[storage.sources]\ntea_talk = "~/b"\n')

    assert machine.paths(TEA) == []
    assert machine.noted() == []


def test_a_moved_source_whose_files_another_one_found_is_not_a_unit_as_a_whole(machine: Machine) -> None:
    machine.write("b/1.jsonl")
    machine.settle('[storage.sources]\ntea_talk = ["~/b/*.jsonl", "~/b"]\n')

    assert machine.paths(TEA) == ["b/1.jsonl"]


def test_variables_of_vendors_are_homes_too(machine: Machine) -> None:
    machine.write(".tea/1")
    machine.write("else[where]/1")
    machine.environ["TEA_HOME"] = str(machine.home / "else[where]")
    source = info("a", "~/.tea/*", "%TEA_HOME%/*", "%NO_TEA%/*")

    assert machine.paths(source) == [".tea/1", "else[where]/1"]
    machine.environ["TEA_HOME"] = ""
    assert machine.paths(source) == [".tea/1"]


def test_a_variable_after_a_folder_is_a_name_in_it_or_a_path(machine: Machine) -> None:
    machine.write(".tea/mine.db")
    machine.write("b/mine.db")
    source = info("a", "~/.tea/%TEA_DB%")

    machine.environ["TEA_DB"] = "mine.db"
    assert machine.paths(source) == [".tea/mine.db"]
    machine.environ["TEA_DB"] = str(machine.home / "b" / "mine.db")
    assert machine.paths(source) == ["b/mine.db"]


@pytest.mark.parametrize(
    ("usual", "variable"),
    [
        ("~/.config/", "XDG_CONFIG_HOME"),
        ("~/.local/share/", "XDG_DATA_HOME"),
        ("~/.local/state/", "XDG_STATE_HOME"),
    ],
)
def test_folders_that_were_moved_on_linux(machine: Machine, usual: str, variable: str) -> None:
    machine.write(f"{usual[2:]}tea/1")
    machine.write("moved/tea/2")
    machine.environ[variable] = str(machine.home / "moved")

    assert machine.paths(info("a", f"{usual}tea/*")) == [f"{usual[2:]}tea/1", "moved/tea/2"]


# ── Histories in the folders of projects ──

INK = info("ink", "./.ink.md", in_projects=(".ink.md",))


def test_projects_are_looked_at_and_nothing_else(machine: Machine) -> None:
    for folder in ("../here", "known", "src/a", "src/a/deep", "other", ".", "../here/below"):
        machine.write(f"{folder}/.ink.md")
    for folder in ("src/.hidden", "src/a/node_modules/b"):
        machine.write(f"{folder}/.ink.md")
    known = [str(machine.home / "known"), str(machine.home / "gone")]

    assert machine.paths(INK, projects=known) == ["known/.ink.md", "../here/.ink.md"]
    machine.settle('[storage]\nroots = "~/src"\n')
    assert machine.paths(INK, projects=known) == [
        "known/.ink.md",
        "src/a/.ink.md",
        "src/a/deep/.ink.md",
        "../here/.ink.md",
    ]


@pytest.mark.parametrize("value", ["**/.ink.md", ".ink.md", "./.ink.md"])
def test_a_glob_without_a_root_is_looked_for_in_projects(machine: Machine, value: str) -> None:
    for folder in ("../here", "../here/below", "src/a", "other"):
        machine.write(f"{folder}/.ink.md")
    machine.settle(f'[storage]\nroots = ["~/src"]\n[storage.sources]\nink = "{value}"\n')

    assert machine.paths(INK, projects=[str(machine.home / "gone")]) == ["src/a/.ink.md", "../here/.ink.md"]
    assert machine.noted() == []


def test_a_root_that_is_no_folder_is_noted(machine: Machine) -> None:
    machine.settle('[storage]\nroots = ["~/gone", "~/gone*", "relative"]\n')

    assert machine.paths(INK) == []
    assert [(note.kind, note.file, note.detail) for note in machine.notes.collected] == [
        ("absent-folder", "~/gone", "storage.roots names it"),
        ("missing-file", "relative", "storage.roots names it, and it is no folder"),
    ]


def test_roots_may_be_globs(machine: Machine) -> None:
    for folder in ("src1/a", "src2", "other"):
        machine.write(f"{folder}/.ink.md")
    machine.settle('[storage]\nroots = ["~/src*", "relative", "~/gone"]\n')

    assert machine.paths(INK) == ["src1/a/.ink.md", "src2/.ink.md"]


@pytest.mark.parametrize(
    "project", ["", "relative", "a\0b", "//server/share", "\\\\server\\share", "/proc/self/fd/../x" * 99]
)
def test_histories_may_name_anything_as_their_project(machine: Machine, project: str) -> None:
    machine.write("../here/.ink.md")

    assert machine.paths(INK, projects=[project]) == ["../here/.ink.md"]


def test_the_journal_is_no_project(machine: Machine) -> None:
    machine.write(".agent-journal/.ink.md")

    assert machine.paths(INK, projects=[str(machine.journal)]) == []


# ── The readers ──


@pytest.mark.parametrize("name", sorted(readers.discover()))
def test_what_readers_say_of_their_homes_can_be_found(machine: Machine, name: str) -> None:
    """A file or folder made after each pattern is a unit of that reader, or of none if several look there."""
    source = readers.discover()[name].INFO
    machine.environ |= {variable: str(machine.home / variable) for variable in variables_of(source)}
    for home in homes_of(machine.load(), source):
        pattern = globs.parsed(home.text, machine.environ)
        assert pattern is not None
        assert pattern.parts
        steps = [part.text.replace("**", "deep").replace("*", "x") for part in pattern.parts]
        path = Path(pattern.anchor or machine.here, *steps)
        path = path / "file" if pattern.is_folder else path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
        made = str(path.parent if pattern.is_folder else path)

        assert made in [unit.path for unit in machine.find(source)], home.text


def variables_of(source: ReaderInfo) -> set[str]:
    steps = {step for home in homes_of(load(Path("/none"), {}), source) for step in home.text.split("/")}
    return {step.strip("%") for step in steps if step.startswith("%")}


@pytest.mark.parametrize("name", sorted(readers.discover()))
def test_every_variable_of_a_vendor_leads_to_a_home(name: str) -> None:
    source = readers.discover()[name].INFO

    assert [variable for variable in source.env if not variable.startswith("AJ_")] == [
        variable for variable in source.env if variable in variables_of(source)
    ]


@pytest.mark.parametrize("name", sorted(readers.discover()))
def test_homes_begin_where_they_can_be_found(name: str) -> None:
    for home in readers.discover()[name].INFO.homes:
        assert home.startswith(("~/", "./", "%")), home
        assert "\\" not in home


# ── Globs, beside those of the standard library ──

NAMES = st.sampled_from(["a", "b", ".c", "ab", "a.x", "b.x"])
TREES = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=8)
PARTS = st.sampled_from(["a", "b", ".c", "*", "**", "a*", "?", "[ab]", "[!a]*", "*.x", "a*b", ".*", "??"])


@given(TREES, st.lists(st.lists(PARTS, min_size=1, max_size=4).map("/".join), min_size=1, max_size=3))
@example({"a/a/a"}, ["a/a/a/**"])
@settings(max_examples=examples(150), deadline=None)
def test_globs_find_what_those_of_the_standard_library_find(tree: set[str], patterns: list[str]) -> None:
    with tempfile.TemporaryDirectory() as top:
        machine = Machine(Path(top))
        for path in tree:
            with suppress(OSError):  # a file stands where a folder would be
                machine.write(f"t/{path}")
        expected = {
            os.path.relpath(path, machine.home)
            for pattern in patterns
            for path in glob.glob(f"{top}/ada/t/{pattern}", recursive=True, include_hidden=True)  # noqa: PTH207 (hidden ones)
            if Path(path).is_file() and not path.endswith("/")  # `file/**` gives `file/`, which is no file
        }

        found = machine.paths(info("a", *(f"~/t/{pattern}" for pattern in patterns)))

        assert sorted(found) == sorted(expected)
        assert machine.noted() == []


@given(st.text("ab[]!-*?^.\\\n&~|", max_size=8), st.text("ab[]!-^.\\\n&~|", max_size=6))
@example("[]", "[]")
@example("[!]", "[!]")
@example("[]-a]", "]")
def test_names_match_as_in_the_standard_library(pattern: str, name: str) -> None:
    assert bool(globs.matcher(pattern)(name)) == fnmatch.fnmatchcase(name, pattern)
