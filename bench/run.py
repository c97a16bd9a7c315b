"""Measures what README.md states: `python bench/run.py [--corpus DIR] [--json] [NAME…]`.

Every time is CPU time of a child process (of `start`: wall time), the best of several, taken in turns with a
baseline on the same machine, so that the ratio means something elsewhere. Without `--corpus`, the histories
of `bench/corpus.py` are made once, in bench/corpus/.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import corpus
import mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
MB = 1_000_000
# What each figure may be at most (of `convert`, `writers` and `signing`: at least).
SESSIONS_LIMIT, EXPORT_LIMIT = 3.0, 2.0
CONVERT_MB_PER_SECOND = 120
HELP_LIMIT, SMALL_LIMIT = 6.0, 12.0
IDENTIFY_MS, IDENTIFY_FILES = 1.0, 1000
TARGETS = ("unified", "session", "agent-record", "agent-record-v3", "pam", "markdown", "text")
WRITE_MB_PER_SECOND, GROWTH_LIMIT = 100, 1.1
RECORDS_PER_SECOND = 2000
INDEX_LIMIT, INDEX_OWN_MB_PER_SECOND, INDEX_SHARE, INDEX_MEMORY_MB = 2.5, 30, 0.3, 200
QUERY_MS = {"rare": 1, "common": 5, "three": 5, "phrase": 10, "prefix": 5}
_ROUNDS = 2
_STARTS = 20


class Figure(NamedTuple):
    """One line of the table; `ok` is None where there is no limit."""

    name: str
    what: str
    measured: str
    baseline: str
    ratio: float | None
    limit: str
    ok: bool | None


def task(name: str, path: Path, *more: str) -> dict[str, Any]:
    """What a task of tasks.py found, in a new process."""
    done = subprocess.run(
        [sys.executable, HERE / "tasks.py", name, path, *more], check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def best_of(*tasks: tuple[str, Path]) -> list[dict[str, Any]]:
    """For each task its fastest result; the tasks take turns, so that each sees the same machine."""
    rounds = [[task(*one) for one in tasks] for _ in range(_ROUNDS)]
    return [min(results, key=_seconds) for results in zip(*rounds, strict=True)]


def _seconds(result: dict[str, Any]) -> float:
    return float(result["seconds"])


def against(name: str, what: str, ours: float, base: float, limit: float) -> Figure:
    """A time compared with that of the baseline."""
    ratio = ours / base
    return Figure(name, what, f"{ours:.2f} s", f"{base:.2f} s", ratio, f"{limit:.1f} ×", ratio <= limit)


def whole(name: str, ours: dict[str, Any], base: dict[str, Any]) -> Figure:
    """The same with all that is done around reading; there is no limit for it."""
    what, seconds = "the same with finding, telling and hashing the files", ours["whole_seconds"]
    ratio = seconds / base["seconds"]
    return Figure(name, what, f"{seconds:.2f} s", f"{base['seconds']:.2f} s", ratio, "", None)


class Corpus:
    """The histories, and what is known to be in them."""

    def __init__(self, folder: Path) -> None:
        self.sessions = folder / "home" / ".claude" / "projects"
        self.export = folder / "chatgpt-export"
        self.chats = self.export / "conversations.json"
        self.truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        claude = self.truth["claude"]
        self.session_files: int = claude["files"]
        self.session_bytes: int = claude["bytes"]
        by_kind = ("user_msgs", "assistant_lines", "tool_results")
        self.session_messages: int = claude.get("messages") or sum(claude[kind] for kind in by_kind)


def complete(name: str, found: dict[str, Any], conversations: int, messages: int) -> Figure:
    """Whether everything that is known to be there was read."""
    got = f"{found['conversations']:,} with {found['messages']:,}"
    there = f"{conversations:,} with {messages:,}"
    what = "conversations and messages, compared with the known truth"
    return Figure(name, what, got, there, None, "equal", got == there)


def sessions(there: Corpus) -> Iterator[Figure]:
    """Reading the coding agent's tree."""
    ours, base = best_of(("read", there.sessions), ("decode_lines", there.sessions))
    what = f"{there.session_bytes / MB:.0f} MB of agent sessions as the model; baseline: orjson line by line"
    yield against("sessions", what, ours["seconds"], base["seconds"], SESSIONS_LIMIT)
    yield whole("sessions", ours, base)
    yield complete("sessions", ours, there.session_files, there.session_messages)


def export(there: Corpus) -> Iterator[Figure]:
    """Reading the chat application's export."""
    ours, base = best_of(("read", there.chats), ("decode_elements", there.chats))
    size = there.chats.stat().st_size / MB
    what = f"a chat export of {size:.0f} MB into the model; baseline: orjson on each conversation"
    yield against("export", what, ours["seconds"], base["seconds"], EXPORT_LIMIT)
    yield whole("export", ours, base)
    known = there.truth["chatgpt"]
    yield complete("export", ours, known["conversations"], known["messages"])


def convert(there: Corpus) -> Iterator[Figure]:
    """The whole command on the coding agent's tree, with its start and its output."""
    command = [*_aj(), "convert", str(there.sessions), "-t", "json"]
    with tempfile.TemporaryDirectory() as folder:
        around = _with_bytecode(Path(folder))
        _cpu_of([*_aj(), "formats"], around)  # now it is compiled
        times = [(_cpu_of(command, around), task("copy", there.sessions)["seconds"]) for _ in range(3)]
    ours, base = min(one for one, _ in times), min(one for _, one in times)
    size = there.session_bytes / MB
    measured, baseline = f"{size / ours:.0f} MB/s", f"{size / base:.0f} MB/s"
    what = f"aj convert -t json of {size:.0f} MB of agent sessions; baseline: copying the bytes"
    limit, ok = f"{CONVERT_MB_PER_SECOND} MB/s", size / ours >= CONVERT_MB_PER_SECOND
    yield Figure("convert", what, measured, baseline, ours / base, limit, ok)


def memory(there: Corpus) -> Iterator[Figure]:
    """The peak while reading an export, which may depend on its largest conversation only."""
    large = HERE / "corpus" / "export-500" / "conversations.json"
    if not large.exists():
        corpus.make_chats(large, 500 * MB / corpus.CHAT_BYTES)
    for file in (there.chats, large):
        largest = task("decode_elements", file)["largest"]
        peak, limit = task("read", file)["peak_bytes"], 60 * MB + 4 * largest
        what = f"peak memory of reading an export of {file.stat().st_size / MB:.0f} MB"
        biggest = f"largest conversation {largest / MB:.1f} MB"
        yield Figure(
            "memory", what, f"{peak / MB:.0f} MB", biggest, None, f"{limit / MB:.0f} MB", peak <= limit
        )


def identify(_there: Corpus) -> Iterator[Figure]:
    """Detection of files that neither their names nor their folders identify."""
    with tempfile.TemporaryDirectory() as folder:
        mixed.make(Path(folder), IDENTIFY_FILES)
        (found,) = best_of(("identify", Path(folder)))
    each = found["seconds"] * 1000 / found["files"]
    what = f"telling what {found['files']:,} files of every source and of nobody are"
    limit = f"{IDENTIFY_MS:.1f} ms"
    yield Figure("identify", what, f"{each:.2f} ms", "", None, limit, each <= IDENTIFY_MS)
    told, wrong = f"{found['told']:,} recognized", found["wrong"]
    what = "files that a wrong reader claims, or several, or none although it is whole"
    yield Figure("identify", what, str(len(wrong)), told, None, "0", not wrong)
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)


def start(_there: Corpus) -> Iterator[Figure]:
    """How long a person waits for the smallest things."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.jsonl"
        text = {"type": "text", "text": "." * 850}
        message = {"type": "message", "id": "1", "role": "user", "parts": [text]}
        chat = {"type": "conversation", "id": "1", "source": "made-up", "timeline": [message]}
        small.write_text(json.dumps(chat))
        commands = [
            [sys.executable, "-c", "pass"],
            [*_aj(), "--help"],
            [*_aj(), "convert", str(small), "-t", "json"],
        ]
        around = _with_bytecode(Path(folder) / "bytecode")
        for command in commands:
            _wall_of(command, around)  # now it is compiled
        rounds = [[_wall_of(command, around) for command in commands] for _ in range(_STARTS)]
    nothing, told, converted = (min(times) * 1000 for times in zip(*rounds, strict=True))
    for what, ours, most in (
        ("aj --help", told, HELP_LIMIT),
        ("aj convert of 1 KB", converted, SMALL_LIMIT),
    ):
        ratio = ours / nothing
        yield Figure(
            "start",
            f"{what}; baseline: python -c pass",
            f"{ours:.0f} ms",
            f"{nothing:.0f} ms",
            ratio,
            f"{most:.1f} ×",
            ratio <= most,
        )


def cook(_there: Corpus) -> Iterator[Figure]:
    """Cooking long traces, which a script of its own measures; it prints its figures itself."""
    script = HERE / "cook.py"
    if script.exists():
        done = subprocess.run([sys.executable, script], check=False, stdout=sys.stderr)
        yield Figure("cook", "bench/cook.py (figures above)", "", "", None, "", done.returncode == 0)


def writers(there: Corpus) -> Iterator[Figure]:
    """Writing the coding agent's sessions, from the model on, in each format that search and records need."""
    base, *found = (task("write", there.sessions, target) for target in ("json", *TARGETS))
    baseline = base["bytes"] / base["seconds"] / MB
    for target, ours in zip(TARGETS, found, strict=True):
        speed = ours["bytes"] / ours["seconds"] / MB
        what = f"{ours['bytes'] / MB:.0f} MB of the model as {target}; baseline: json"
        limit, ok = f"{WRITE_MB_PER_SECOND} MB/s", speed >= WRITE_MB_PER_SECOND
        measured = f"{speed:.0f} MB/s"
        yield Figure("writers", what, measured, f"{baseline:.0f} MB/s", baseline / speed, limit, ok)
        half, most = ours["half_bytes"], ours["peak_bytes"]
        what = f"peak memory of writing twice as many conversations as {target}; baseline: half of them"
        limit, ratio = f"{GROWTH_LIMIT:.2f} ×", most / half
        measured = f"{most / MB:.0f} MB"
        yield Figure("writers", what, measured, f"{half / MB:.0f} MB", ratio, limit, ratio <= GROWTH_LIMIT)


def signing(_there: Corpus) -> Iterator[Figure]:
    """Signing small records, and verifying them."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        found = min((task("sign", Path(folder)) for folder in (first, second)), key=_seconds)
    for word, seconds in (("signing", found["seconds"]), ("verifying", found["verify_seconds"])):
        rate = found["records"] / seconds
        what = f"{word} records of {found['size']:,} bytes"
        limit = f"{RECORDS_PER_SECOND:,}/s"
        yield Figure("signing", what, f"{rate:,.0f}/s", "", None, limit, rate >= RECORDS_PER_SECOND)


def index(there: Corpus) -> Iterator[Figure]:
    """The index of words, compared with its library with plain words and one field."""
    ours, base = best_of(("index", there.sessions), ("index_plain", there.sessions))
    size = ours["characters"] / MB
    what = f"{size:.0f} MB of text indexed with all its fields, names and filters; baseline: plain words"
    yield against("index", what, ours["seconds"], base["seconds"], INDEX_LIMIT)
    own = size / ours["held_up"]
    limit, ok = f"{INDEX_OWN_MB_PER_SECOND} MB/s", own >= INDEX_OWN_MB_PER_SECOND
    yield Figure("index", "what the caller waits for of it", f"{own:.0f} MB/s", "", None, limit, ok)
    share = ours["size"] / there.session_bytes
    limit, ok = f"{INDEX_SHARE:.0%}", share <= INDEX_SHARE
    what = f"size of the index; baseline: {there.session_bytes / MB:.0f} MB of files"
    yield Figure("index", what, f"{ours['size'] / MB:.0f} MB", "", share, limit, ok)
    held = ours["held"] / MB
    limit, ok = f"{INDEX_MEMORY_MB} MB", held <= INDEX_MEMORY_MB
    yield Figure("index", "memory that indexing takes", f"{held:.0f} MB", "", None, limit, ok)
    for kind, most in QUERY_MS.items():
        took = ours["queries"][kind]
        what = f"a query of the kind: {kind}"
        yield Figure("index", what, f"{took:.2f} ms", "", None, f"{most} ms", took <= most)


def _aj() -> list[str]:
    script = Path(sys.executable).with_name("aj")
    return [str(script)] if script.exists() else [sys.executable, "-m", "agent_journal"]


def _cpu_of(command: list[str], environment: dict[str, str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _with_bytecode(folder: Path) -> dict[str, str]:
    """The environment of a program that is installed: its modules are compiled."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder)}


def _wall_of(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - started


MEASUREMENTS: dict[str, Callable[[Corpus], Iterator[Figure]]] = {
    measurement.__name__: measurement
    for measurement in (sessions, export, convert, memory, writers, signing, identify, start, cook, index)
}


def show(figure: Figure, *, as_json: bool) -> None:
    """One line for people, or one JSON object."""
    if as_json:
        print(json.dumps(figure._asdict()), flush=True)
        return
    verdict = {True: "ok", False: "OVER", None: ""}[figure.ok]
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f} ×"
    print(f"{figure.name:9} {figure.what}", flush=True)
    print(f"{'':9} {figure.measured:>24}  {figure.baseline:>30}  {ratio:>8}  {figure.limit:>8}  {verdict}")


def main() -> int:
    """Measure what the command line names; 1 if a figure is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*MEASUREMENTS, []])
    parser.add_argument("--corpus", type=Path, default=HERE / "corpus")
    parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object per figure")
    arguments = parser.parse_args()
    if not (arguments.corpus / "truth.json").exists():
        corpus.make(arguments.corpus)
    there = Corpus(arguments.corpus)
    within = True
    for name in arguments.names or MEASUREMENTS:
        for figure in MEASUREMENTS[name](there):
            show(figure, as_json=arguments.as_json)
            within = within and figure.ok is not False
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
