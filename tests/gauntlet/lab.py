"""A machine of its own for each drill: a home, a journal, the command `aj`, and what must be true of it."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import zstandard

import agent_journal
from agent_journal import journal, readers
from agent_journal.archive import Archive, open_to_read
from agent_journal.archive.candidates import ImportCandidate, Result
from agent_journal.archive.checking import Problem, problems
from agent_journal.archive.store import Filter
from agent_journal.archive.syncing import existing_projects, locate_candidates
from agent_journal.config import Config, load
from agent_journal.journal import index_upkeep
from agent_journal.model import Message, Text
from agent_journal.notes import Notes
from agent_journal.search.lexical import Index
from agent_journal.search.query import parse

Truth = dict[str, list[str]]
"""What was said in each conversation; each message begins with a word that stands nowhere else."""

_LONGEST = 300.0
_SEARCHED = 200


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def is_clear(self) -> bool:
        """Whether it told what was wrong as a person would."""
        told = self.out + self.err
        return "Traceback" not in told and "should not have happened" not in told


class Lab:
    """A person's machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.journal = folder / "journal"
        self.tmp = folder / "tmp"
        for each in (self.home, self.tmp):
            each.mkdir(parents=True, exist_ok=True)

    @property
    def projects(self) -> Path:
        """Where sessions lie."""
        return self.home / ".claude" / "projects"

    @property
    def index(self) -> Path:
        return self.journal / "index"

    def start(self, *arguments: str, **more: Any) -> subprocess.Popen[bytes]:
        """Begin a command; `limits` is called in the new process before it begins."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "AJ_HOME": str(self.journal),
            "TMPDIR": str(self.tmp),
            "PYTHONPATH": str(Path(agent_journal.__file__).parents[1]),
            "LC_ALL": "C.UTF-8",
            "AJ_INDEX_VECTOR_BACKGROUND": "false",  # nothing works on after a command has ended
            **more.get("environ", {}),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "agent_journal", *arguments],
            env=environ,
            cwd=self.home,
            stdin=subprocess.PIPE if "given" in more else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=more.get("limits"),  # noqa: PLW1509 (no threads of ours hold locks)
        )

    def aj(self, *arguments: str, **more: Any) -> Done:
        """Run a command to its end."""
        began = time.monotonic()
        with self.start(*arguments, **more) as process:
            try:
                out, err = process.communicate(more.get("given"), timeout=more.get("timeout", _LONGEST))
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Done(
            process.returncode,
            out.decode("utf-8", "backslashreplace"),
            err.decode("utf-8", "backslashreplace"),
            time.monotonic() - began,
        )

    def killed(self, after: float, *arguments: str, how: int = signal.SIGKILL) -> bool:
        """Whether a command was still at it when it was killed so many seconds after its beginning."""
        process = self.start(*arguments)
        try:
            process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            process.send_signal(how)
            process.communicate()
            return process.returncode == -how
        return False

    def wipe(self) -> None:
        shutil.rmtree(self.journal, ignore_errors=True)

    @property
    def config(self) -> Config:
        return load(self.journal, {"HOME": str(self.home)})

    def checked(self, *more: str) -> None:
        """What `aj check` looks at must be in order; here, because a process costs more than all it does."""
        with open_to_read(self.journal) as archive, archive.store.read_snapshot():
            found = [*problems(archive, deep="--deep" in more)]
            found += [Problem(*each) for each in index_upkeep.check_index(archive, self.config).problems]
        assert not found, found[:5]

    def index_is_behind(self) -> bool:
        """Whether something is in the rows and not yet found."""
        with open_to_read(self.journal) as archive:
            return bool(index_upkeep.check_index(archive, self.config).outdated)

    def synced(self) -> list[Result]:
        """The same as `aj sync`, here; what became of each file."""
        infos = [reader.INFO for reader in readers.discover().values()]
        environ = {"HOME": str(self.home)}
        told: list[Result] = []

        def found(kept: Archive) -> Iterator[ImportCandidate]:
            projects = existing_projects(kept)
            return locate_candidates(
                self.config, infos, environ, str(self.home), projects=projects, note=Notes()
            )

        journal.sync(self.config, found, told.append)
        return told

    def good(self, *arguments: str, **more: Any) -> Done:
        """Run a command that must succeed."""
        done = self.aj(*arguments, **more)
        assert (0, True) == (done.code, done.is_clear), (arguments, done.out[-2000:], done.err[-2000:])
        return done


def holds(lab: Lab, truth: Truth) -> None:
    """0 lost, 0 doubled: each message stands in one place, word by word, and is found; nothing else does."""
    lab.checked()
    expected = Counter((id_, text) for id_, texts in truth.items() for text in texts)
    assert not _difference(expected, Counter(said(lab)))
    with open_to_read(lab.journal) as archive:
        listed = {each.id: each for each in archive.store.conversations(Filter(with_children=True))}
        counts = Counter({id_: each.messages for id_, each in listed.items()})
        assert not _difference(Counter({id_: len(texts) for id_, texts in truth.items()}), counts)
        for id_, texts in sorted(truth.items())[:2]:
            shown = archive.store.conversation(listed[id_].key).timeline
            assert texts == [_text(entry) for entry in shown if isinstance(entry, Message)]
    words = [text.split()[0] for texts in truth.values() for text in texts]
    step = max(1, len(words) // _SEARCHED)
    assert not _not_found_once(lab, words[::step])


def said(lab: Lab) -> Iterator[tuple[str, str]]:
    """Every message in the rows."""
    database = apsw.Connection(str(lab.journal / "journal.db"), flags=apsw.SQLITE_OPEN_READONLY)
    database.set_busy_timeout(10_000)
    sql = "SELECT conversation, text FROM messages WHERE NOT earlier"
    yield from list(database.execute(sql))
    database.close()


def _not_found_once(lab: Lab, words: Iterable[str]) -> list[str]:
    """Words that a search does not find, or finds in several entries."""
    with open_to_read(lab.journal) as archive:
        index = Index.open(lab.index, make=False)
        wrong = []
        for word in words:
            entries = archive.store.entry_views(
                [hit.key for hit in index.search(parse(word), limit=10).entries]
            )
            if sum(word in entry.text for entry in entries.values()) != 1:
                wrong.append(word)
        return wrong


def _text(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def _difference(expected: Counter[Any], got: Counter[Any]) -> list[tuple[str, Any]]:
    lost = [("lost", each) for each in expected - got]
    return (lost + [("doubled", each) for each in got - expected])[:5]


def left_of(lab: Lab, words: Iterable[str]) -> list[str]:
    """Files of the journal in which one of the words is left, also behind the packs' compression."""
    sought = [word.encode() for word in words]
    files = [path for path in [*lab.journal.rglob("*"), *lab.tmp.rglob("*")] if path.is_file()]
    return [
        f"{path.relative_to(lab.folder)}: {word.decode()}"
        for path in files
        for data in _readings(path)
        for word in sought
        if word in data
    ]


def _readings(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and of every zstd frame in it."""
    data = path.read_bytes()
    yield data
    start = data.find(b"\x28\xb5\x2f\xfd")
    while start >= 0:
        with suppress(zstandard.ZstdError):
            yield zstandard.ZstdDecompressor().decompressobj().decompress(data[start:])
        start = data.find(b"\x28\xb5\x2f\xfd", start + 4)


def file_limit(size: int) -> Callable[[], None]:
    """No file may become larger; whoever tries is told so."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def handle_limit(count: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    return limit


def hears_interrupts() -> None:
    """Whatever a shell starts in the background ignores Ctrl-C, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def as_anybody() -> None:
    """Let modes hold for root too: it loses what lets it read and write everywhere (CAP_DAC_*)."""
    if os.getuid() == 0:
        for capability in (1, 2):
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
