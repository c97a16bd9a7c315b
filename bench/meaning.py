"""Measures search by meaning: `python bench/meaning.py [--chunks 100000] [--graph]`.

A journal is made of conversations from the templates in tests/search until it has that many vectors. Figures
are CPU seconds, which depend less on what else the machine does, compared with the start of Python. `--graph`
measures from how many vectors on a graph is faster.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_journal import archive, config, journal
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal import embeddings
from agent_journal.search.semantic import chunks, nearest, static, vectors
from agent_journal.search.semantic.vectors import StoredVectors
from tests.search import corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

HYBRID_SECONDS = 0.6
CHUNKS_PER_SECOND = 4000
_QUERIES = ("why is the build slower than last month", "rate limiter of the checkout module", "stiff neck")
_TIMES = 5
# An installed program is compiled; where the environment forbids that, it would be compiled at each start.
_ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Cost(NamedTuple):
    """What a command cost."""

    wall: float
    cpu: float


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--graph", action="store_true")
    asked = parser.parse_args()
    if asked.graph:
        measure_graph(asked.chunks)
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settled = filled(home, asked.chunks)
        measure_embedding(home, settled)
        measure_shell(home)


def filled(home: Path, count: int) -> config.Config:
    """A journal that will have about so many vectors."""
    settled = config.load(home, {})
    talks = corpus.distractors(int(count / 1.85))
    history = home / "histories.jsonl"
    with history.open("w", encoding="utf-8") as out:
        for place, talk in enumerate(talks):
            said = [each._replace(text=f"{each.text} ({place})") for each in talk.messages]
            out.write(corpus.as_history(talk._replace(messages=said)))
    journal.import_files(settled, [ImportCandidate(str(history))], lambda _: None)
    history.unlink()
    return settled


def measure_embedding(home: Path, settled: config.Config) -> None:
    """Vectors per second, with everything that is done for them."""
    with archive.open_to_read(home) as kept:
        model = static.load()
        began, cpu = time.perf_counter(), time.process_time()
        embeddings.Embedder(kept, settled, model).run()
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        count = embeddings.read_state(kept, settled).vectors
    print(f"embedding: {count:,} vectors, {count / cpu:,.0f} per CPU second, {count / wall:,.0f} per second")
    print(f"  on two cores at most {2 * count / cpu:,.0f} per second; to reach: {CHUNKS_PER_SECOND:,}")


def measure_shell(home: Path) -> None:
    """A hybrid search as a user starts it, compared with a lexical one and the start of Python."""
    start = best([sys.executable, "-c", "import sqlite3"], home)
    print(f"python -c 'import sqlite3': {start.cpu * 1000:.0f} ms CPU, {start.wall * 1000:.0f} ms")
    for mode in ("lexical", "hybrid"):
        costs = [
            best([sys.executable, "-m", "agent_journal", "search", query], home, mode) for query in _QUERIES
        ]
        cpu, wall = max(each.cpu for each in costs), max(each.wall for each in costs)
        print(
            f"aj search, {mode}: {cpu * 1000:.0f} ms CPU, {wall * 1000:.0f} ms ({cpu / start.cpu:.1f} starts)"
        )
    print(f"  to reach: {HYBRID_SECONDS} s")


def best(command: list[str], home: Path, mode: str = "lexical") -> Cost:
    """The least that a command costs in several runs."""
    environ = {**_ENVIRON, "AJ_HOME": str(home), "AJ_SEARCH_DEFAULT_MODE": mode, "HOME": str(home)}
    costs = []
    for _ in range(_TIMES):
        before, began = children(), time.perf_counter()
        subprocess.run(command, env=environ, check=True, capture_output=True)
        costs.append(Cost(time.perf_counter() - began, children() - before))
    return Cost(min(each.wall for each in costs), min(each.cpu for each in costs))


def children() -> float:
    """The CPU seconds of all processes that ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_graph(count: int) -> None:
    """Time and recall of a graph, compared with a scan of all vectors, on Python's own sources."""
    model = static.load()
    texts = python_texts(count)
    rows = np.concatenate([model.vectors(texts[at : at + 1024]) for at in range(0, len(texts), 1024)])
    rows = rows[np.linalg.norm(rows, axis=1) > 0].astype(np.float16)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        said = vectors.start_over(place, vectors.VectorFormat("", model.name, model.dimensions, "f16", ""))
        keys = np.arange(1, len(rows) + 1)
        stored = StoredVectors(place, vectors.append(place, said, keys, rows, np.empty(0, np.int64)))
        questions = [
            model.vectors([" ".join(texts[at].split()[3:10])])[0] for at in range(0, len(texts), 2503)
        ]
        exact, slow = asked_all(stored, questions)
        nearest.GRAPH_MIN_VECTORS = 1
        made = timed(lambda: nearest.build_graph(stored))
        near, fast = asked_all(stored, questions)
    recall = np.mean([len(set(one) & set(two)) / len(one) for one, two in zip(exact, near, strict=True)])
    print(f"{len(rows):,} vectors: all {slow * 1000:.1f} ms, graph {fast * 1000:.1f} ms, recall {recall:.3f}")
    million = slow / len(rows) * 1e9
    print(f"  a graph takes {made:.0f} CPU seconds to make; all of a million take {million:.0f} ms")


def python_texts(count: int) -> list[str]:
    """Pieces of the sources of Python's own library, as many as there are up to a count."""
    texts: list[str] = []
    for path in sorted(Path(os.__file__).parent.rglob("*.py")):
        texts += chunks.split_chunks(path.read_text(encoding="utf-8", errors="replace"))
        if len(texts) >= count:
            break
    return texts[:count]


def asked_all(stored: StoredVectors, questions: list[NDArray[np.float32]]) -> tuple[list[list[int]], float]:
    """The ten nearest to each question, and the CPU seconds per question."""
    nearest.find_nearest(stored, questions[0], 10)
    began = time.process_time()
    found = [[each.key for each in nearest.find_nearest(stored, question, 10)] for question in questions]
    return found, (time.process_time() - began) / len(questions)


def timed(what: Callable[[], None]) -> float:
    """The CPU seconds that something takes."""
    began = time.process_time()
    what()
    return time.process_time() - began


if __name__ == "__main__":
    main()
