"""Measures the archive: `python bench/archive.py --corpus DIR [--without-peer] [--json] [NAME…]`.

DIR is what `gen_corpus.py` makes: a `home` with histories and a `chatgpt-export`. Each figure is measured in
a journal of its own, compared with agentsview (installed from PyPI into a temporary environment; the
output says if that fails) or with the start of Python, in one run on one machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MB = 1_000_000
COLD_MB_PER_SECOND, COLD_RSS_MB = 40, 400
NOOP_STARTS, NOOP_US_PER_FILE = 10, 10
GROWN_SECONDS = 0.3
EXPORT_CPU_SECONDS, EXPORT_RSS_MB = 12, 300
DISK_MB = 280
# A conversation of so many megabytes, and the memory that a look at it may take.
LARGE_MB, LOOK_RSS_MB = 300, 120
_SAMPLE = 0.02
# An installed program is compiled; where the environment forbids that, it would be compiled at each start.
_ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
_TIMES = 5
_COLD_TIMES = 3


class Figure(NamedTuple):
    """One line of the table."""

    name: str
    measured: str
    limit: str
    ok: bool | None
    beside: str = ""


class Run(NamedTuple):
    """What a command cost: wall and CPU seconds, and the memory of all its processes together."""

    wall: float
    cpu: float
    rss_mb: float


def run(
    command: list[str], home: Path, *, is_watched: bool = True, codes: tuple[int, ...] = (0,), **environ: str
) -> Run:
    """Run a command in a home of its own to its end; to watch how much memory it takes costs some time.

    It must end with one of the exit codes.
    """
    before = os.times()
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**_ENVIRON, "HOME": str(home), "AJ_INDEX_VECTOR_BACKGROUND": "false", **environ},
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    peak = [0.0]
    watcher = threading.Thread(target=_watch, args=(process, peak))
    if is_watched:
        watcher.start()
    _, errors = process.communicate()
    wall = time.perf_counter() - began
    if is_watched:
        watcher.join()
    after = os.times()
    if process.returncode not in codes:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}\n{errors.decode()}")
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return Run(wall, cpu, peak[0] / MB)


def _watch(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(map(_rss, _family(process.pid))))
        time.sleep(_SAMPLE)


def _family(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _rss(pid: int) -> int:
    """Anonymous and file-backed memory; pages of files that are only mapped can be taken back at any time."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


AJ = [sys.executable, "-m", "agent_journal"]


class Bench:
    """The figures; each may need what an earlier one left."""

    def __init__(self, corpus: Path, work: Path, peer: list[str] | None) -> None:
        self.home = work / "home"
        shutil.copytree(corpus / "home", self.home)
        self.export = corpus / "chatgpt-export"
        self.work = work
        self.peer = peer
        self.files = [file for file in self.home.rglob("*") if file.is_file()]
        self.bytes = sum(file.stat().st_size for file in self.files)
        self.journal = work / "journal"
        self.peer_data = work / "peer"

    def _aj(self, *arguments: str, journal: Path | None = None) -> Run:
        return run([*AJ, *arguments], self.home, AJ_HOME=str(journal or self.journal))

    def _beside(self) -> Run | None:
        if self.peer is None:
            return None
        return run([*self.peer, "sync"], self.home, AGENTSVIEW_DATA_DIR=str(self.peer_data))

    def _anew(self) -> Run:
        journal = self.work / "anew"
        took = run([*AJ, "sync"], self.home, is_watched=False, AJ_HOME=str(journal))
        shutil.rmtree(journal)
        return took

    def cold(self) -> Iterator[Figure]:
        """Everything from nothing, searchable at the end; memory once, then time, the middle of some."""
        memory = self._aj("sync").rss_mb
        peer = self._beside()
        ours = sorted(self._anew() for _ in range(_COLD_TIMES))[_COLD_TIMES // 2]
        rate = self.bytes / MB / ours.wall
        beside = f"agentsview {self.bytes / MB / peer.wall:.1f} MB/s, {peer.rss_mb:.0f} MB" if peer else ""
        yield Figure(
            "cold sync",
            f"{rate:.1f} MB/s ({ours.wall:.1f} s wall, {ours.cpu:.1f} s CPU)",
            f"≥ {COLD_MB_PER_SECOND} MB/s",
            rate >= COLD_MB_PER_SECOND,
            beside,
        )
        limit = f"≤ {COLD_RSS_MB} MB"
        yield Figure("memory of it", f"{memory:.0f} MB", limit, memory <= COLD_RSS_MB)
        disk = size_of(self.journal) / MB
        beside = f"agentsview {size_of(self.peer_data) / MB:.0f} MB without the originals" if peer else ""
        yield Figure(
            "disk", f"{disk:.0f} MB for {self.bytes / MB:.0f}", f"≤ {DISK_MB} MB", disk <= DISK_MB, beside
        )

    def noop(self) -> Iterator[Figure]:
        """Nothing has changed."""
        start = min(run([sys.executable, "-c", "pass"], self.home).wall for _ in range(_TIMES))
        ours = min(self._aj("sync").wall for _ in range(_TIMES))
        peer = self._beside()
        limit = start * NOOP_STARTS + len(self.files) * NOOP_US_PER_FILE / 1e6
        yield Figure(
            "no-op sync",
            f"{ours:.2f} s for {len(self.files):,} files",
            f"≤ {limit:.2f} s ({NOOP_STARTS} × the start of Python + {NOOP_US_PER_FILE} µs a file)",
            ours <= limit,
            f"agentsview {peer.wall:.2f} s" if peer else "",
        )

    def grown(self) -> Iterator[Figure]:
        """One history grew by one message."""
        history = max(self.home.rglob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
        walls, peers = [], []
        for _ in range(_TIMES):
            last = history.read_bytes().splitlines()[-1]
            record = json.loads(last)
            for name in ("uuid", "id"):
                if name in record:
                    record[name] = f"{time.time_ns():x}"
            with history.open("ab") as file:
                file.write(json.dumps(record).encode() + b"\n")
            walls.append(self._aj("sync").wall)
            peer = self._beside()
            peers += [peer.wall] if peer else []
        beside = f"agentsview {min(peers):.2f} s" if peers else ""
        ours = min(walls)
        yield Figure("one grew", f"{ours:.2f} s", f"≤ {GROWN_SECONDS} s", ours <= GROWN_SECONDS, beside)

    def imported(self) -> Iterator[Figure]:
        """An export of 150 MB with every branch."""
        ours = self._aj("import", str(self.export), journal=self.work / "export")
        limit = f"≤ {EXPORT_CPU_SECONDS} CPU-s"
        yield Figure("export", f"{ours.cpu:.1f} CPU-s", limit, ours.cpu <= EXPORT_CPU_SECONDS)
        limit = f"≤ {EXPORT_RSS_MB} MB"
        yield Figure("memory of it", f"{ours.rss_mb:.0f} MB", limit, ours.rss_mb <= EXPORT_RSS_MB)

    def large(self) -> Iterator[Figure]:
        """A look at one large conversation: a hit, a message, the end of it, all of it."""
        home = self.work / "large-home"
        folder = home / ".claude" / "projects" / "-work"
        folder.mkdir(parents=True)
        id_ = "a0000000-0000-4000-8000-000000000001"
        with (folder / f"{id_}.jsonl").open("wb") as out:
            for number in range(LARGE_MB):
                out.write(_session_line(id_, number))
        journal = str(self.work / "large")
        run([*AJ, "sync"], home, AJ_HOME=journal, AJ_INDEX_VECTOR_BACKGROUND="false")
        middle = LARGE_MB // 2
        looks = {
            "a search hit in it": ["search", "--mode", "lexical", f"needle{middle}"],
            "a message of it": ["show", f"{id_}@{id_}-{middle}", "--no-pager"],
            "the end of it": ["show", id_, "--last", "3", "--no-pager"],
            "all of it shown": ["show", id_, "--no-pager"],
        }
        for name, look in looks.items():
            took = run([*AJ, *look], home, AJ_HOME=journal)
            limit = f"≤ {LOOK_RSS_MB} MB of {LARGE_MB}"
            yield Figure(name, f"{took.rss_mb:.0f} MB", limit, took.rss_mb <= LOOK_RSS_MB)


def _session_line(id_: str, number: int) -> bytes:
    """A message of a session with a megabyte of what a tool gave."""
    output = os.urandom(500_000).hex()
    content = [
        {"type": "text", "text": f"needle{number} and more"},
        {"type": "tool_result", "tool_use_id": f"call{number}", "content": output},
    ]
    record = {
        "type": "user",
        "uuid": f"{id_}-{number}",
        "parentUuid": f"{id_}-{number - 1}" if number else None,
        "sessionId": id_,
        "timestamp": f"2026-03-01T{number // 60 % 24:02}:{number % 60:02}:00.000Z",
        "cwd": "/work",
        "version": "2.1.90",
        "message": {"role": "user", "content": content},
    }
    return json.dumps(record).encode() + b"\n"


def installed_peer(work: Path) -> list[str] | None:
    """The peer in an environment of its own, or None."""
    folder = work / "agentsview"
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "agentsview"]
        subprocess.run(pip, check=True, capture_output=True)
    except subprocess.CalledProcessError:
        print("agentsview cannot be installed here: no figures to compare with")
        return None
    return [str(folder / "bin" / "agentsview")]


def end_all_from(folder: Path) -> None:
    """End programs of a folder that still run: the peer leaves a server running, which keeps reading."""
    for _ in range(100):
        running = list(_running_from(folder))
        for process in running:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if not running:
            return
        time.sleep(_SAMPLE)


def _running_from(folder: Path) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "exe").readlink().is_relative_to(folder):
                yield int(process.name)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--without-peer", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "names", nargs="*", default=[], help="cold, noop, grown, imported, large; the first goes first"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        peer = None if arguments.without_peer else installed_peer(work)
        bench = Bench(arguments.corpus, work, peer)
        all_names: dict[str, Callable[[], Iterator[Figure]]] = {
            "cold": bench.cold,
            "noop": bench.noop,
            "grown": bench.grown,
            "imported": bench.imported,
            "large": bench.large,
        }
        try:
            for name in arguments.names or all_names:
                for figure in all_names[name]():
                    show(figure, as_json=arguments.json)
        finally:
            end_all_from(work)


def show(figure: Figure, *, as_json: bool) -> None:
    """One line for people, or one JSON object."""
    if as_json:
        told: dict[str, Any] = figure._asdict()
        print(json.dumps(told), flush=True)
        return
    verdict = {True: "ok", False: "OVER", None: ""}[figure.ok]
    beside = f"   {figure.beside}" if figure.beside else ""
    print(f"{figure.name:20} {figure.measured:44} {figure.limit:20} {verdict:5}{beside}", flush=True)


if __name__ == "__main__":
    main()
