"""Measures search by words: `python bench/search.py (--corpus DIR | --journal HOME) [--grown DIR]`.

DIR is what `gen_corpus.py` makes: a `home` with histories and a `chatgpt-export`; HOME is a journal that is
there already. Times are CPU time, tool output included: the median of queries taken from the texts, compared
with FTS5 over the same texts in the same process. Growth compares ranking in an index of every tenth
conversation with ranking in that of all; with `--grown`, it compares all with an index of ten times as many
years, which is made there if it is missing. With `--large`, it also compares whole answers in a journal ten
times as large, for queries taken from its own texts: of each kind, and of all kinds together.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple, cast

import apsw

from agent_journal import config as configs
from agent_journal.archive import open_to_read
from agent_journal.journal import Journal
from agent_journal.journal.search import initial_window
from agent_journal.search.lexical import Index
from agent_journal.search.query import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.search.entry import Entry
    from agent_journal.search.ranking import Ranking

LIMITS = {"rare": 1, "common": 5, "three": 5, "phrase": 10, "prefix": 5, "question": 5}
GROWTH, TIMES = 2.0, 10
STARTS, MORE_MS = 3, 100
_PAGE = 20
_ALL = "all"  # kinds of queries together
_RARE = 10  # entries that have a rare word, at most
_COMMON = 100  # of the words, the most frequent
_TEXTS = 20_000  # from which queries are taken
_ROW = 20  # words of a text that queries are taken from, at least
_BEGINNING = 4_000  # characters of it
_TOO_SHORT = 0.5  # ms; below, what grows is noise
_ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Sought(NamedTuple):
    """A query as it is typed here and as FTS5 takes it."""

    text: str
    fts: str


def median_ms(times: int, run: Callable[[], object], clock: Callable[[], float] = time.thread_time) -> float:
    """The median of several runs, in milliseconds."""
    took = []
    for _ in range(times):
        began = clock()
        run()
        took.append(clock() - began)
    return sorted(took)[times // 2] * 1000


def entries_of(home: Path) -> Iterator[Entry]:
    """Everything that is indexed of a journal."""
    with open_to_read(home) as kept:
        yield from cast("Iterable[Entry]", kept.store.index_entries_since(0))


def queries(index: Index, home: Path, each: int) -> dict[str, list[Sought]]:
    """Queries of each kind, drawn from the words that the texts have; the same ones every time."""
    drawn = Random(6)
    counted = [(word, count) for word, count in index.word_counts() if word.isalpha()]
    rare = [word for word, count in counted if count <= _RARE and len(word) > len("rare")]
    common = [word for word, _ in counted[:_COMMON]]
    nth = max(1, index.count // _TEXTS)
    rows = [row for row in map(row_of, islice(entries_of(home), 0, None, nth)) if len(row) > _ROW]

    def in_a_row(count: int) -> list[str]:
        row = drawn.choice(rows)
        first = drawn.randrange(len(row) - count)
        return row[first : first + count]

    threes = [in_a_row(3) for _ in range(each)]
    phrases = [f'"{" ".join(in_a_row(drawn.choice((2, 3))))}"' for _ in range(each)]
    beginnings = [f"{max(in_a_row(3), key=len)[:4]}*" for _ in range(each)]
    return {
        "rare": [Sought(word, word) for word in drawn.sample(rare, each)],
        "common": [Sought(word, word) for word in drawn.choices(common, k=each)],
        "three": [Sought(" ".join(three), " AND ".join(three)) for three in threes],
        "phrase": [Sought(phrase, phrase) for phrase in phrases],
        "prefix": [Sought(beginning, beginning) for beginning in beginnings],
        "question": [
            Sought(f"why does the {' '.join(three)} not work", " AND ".join(three)) for three in threes
        ],
    }


def row_of(entry: Entry) -> list[str]:
    """The first words of what is longest in an entry, as they follow each other."""
    return re.findall("[a-z]{2,}", max(entry[7:11], key=len)[:_BEGINNING].lower())


def fts5(path: Path, entries: Iterable[Entry]) -> apsw.Connection:
    """The same texts in the full-text index that SQLite has."""
    table = apsw.Connection(str(path))
    table.execute("CREATE VIRTUAL TABLE words USING fts5(said, thinking, tool, output, title, content='')")
    with table:
        table.executemany(
            "INSERT INTO words (rowid, said, thinking, tool, output, title) VALUES (?, ?, ?, ?, ?, ?)",
            ((entry.key, *map(_sound, entry[7:12])) for entry in entries),
        )
    return table


def _sound(text: object) -> str:
    return str(text).encode("utf-8", "replace").decode()


def index_of(folder: Path, entries: Iterable[Entry]) -> Index:
    """A new index of entries."""
    index = Index.open(folder)
    last = 0
    for entry in entries:
        index.add([entry])
        last = max(last, entry.key)
    index.commit(last)
    index.close()
    return Index.open(folder, make=False)


def grown(folder: Path, home: Path) -> Index:
    """An index of ten times as much: as if all of it had been written ten times."""
    if not folder.exists():
        moments = [each.at for each in entries_of(home) if each.at]
        years = max(moments) - min(moments)
        with open_to_read(home) as kept:
            keys, conversations = kept.store.last_key(), 1_000_000_000
        index_of(
            folder,
            (
                each._replace(
                    key=each.key + time * keys,
                    conversation=each.conversation + time * conversations,
                    at=each.at and each.at - (TIMES - 1 - time) * years,
                )
                for time in range(TIMES)
                for each in entries_of(home)
            ),
        )
    return Index.open(folder, make=False)


def ranked_by(index: Index, text: str) -> Ranking:
    """What a search ranks to fill a page; as the first time, without the scores of the run before."""
    index._latest_scores = None  # noqa: SLF001
    query = parse(text)
    return index.rank(query, initial_window(query))


def in_process(home: Path, work: Path, times: int, ten: Path | None) -> Iterator[str]:
    """Each kind of query: ranking, a whole answer, FTS5, and an index that is smaller or larger."""
    config = configs.load(home, {})
    index = Index.open(config.storage.index_path, make=False)
    table = fts5(work / "fts5.db", entries_of(home))
    if ten is None:
        entries = (each for each in entries_of(home) if each.conversation % TIMES == 0)
        small, large = index_of(work / "tenth", entries), index
    else:
        small, large = index, grown(ten, home)
    kinds = queries(index, home, times)
    yield f"{index.count:,} entries; ms of CPU, the median of {times} queries of each kind"
    columns = f"{'query':8}{'ranked':>9}{'limit':>7}{'answer':>9}{'FTS5':>9}"
    yield f"{columns}{small.count:10,}{large.count:10,}{'growth':>8}"
    sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
    with Journal(config) as journal:
        runs: list[Callable[[Sought], object]] = [
            lambda sought: ranked_by(index, sought.text),
            lambda sought: journal.search(sought.text, _PAGE, mode="lexical"),
            lambda sought: list(table.execute(sql, (sought.fts, _PAGE))),
            lambda sought: ranked_by(small, sought.text),
            lambda sought: ranked_by(large, sought.text),
        ]
        for kind, limit in LIMITS.items():
            ranked, answer, beside, less, more = (
                median(median_ms(3, partial(run, sought)) for sought in kinds[kind]) for run in runs
            )
            told = "ok" if ranked <= limit else "OVER"
            growth = "ok" if more <= GROWTH * max(less, _TOO_SHORT) else "OVER"
            yield (
                f"{kind:8}{ranked:9.2f}{limit:7}{answer:9.2f}{beside:9.2f}{less:10.2f}{more:10.2f}"
                f"{more / less:8.1f}  {told}, growth {growth}"
            )


def whole_answers(small: Path, large: Path, times: int) -> Iterator[str]:
    """Queries from their text to a page of hits, in a journal and in a larger one, kind by kind and all."""
    less, more = (_answers(home, times) for home in (small, large))
    yield f"whole answers of {_PAGE}, in this journal and in {large}: ms of CPU"
    yield f"{'query':8}{'median':>10}{'':10}{'growth':>8}{'mean':>10}{'':10}{'growth':>8}"
    for kind in (*LIMITS, _ALL):
        middle, mean = ([of(took[kind]) for took in (less, more)] for of in (median, fmean))
        told = "ok" if middle[1] <= GROWTH * middle[0] else "OVER"
        columns = "".join(f"{one:10.2f}{other:10.2f}{other / one:8.1f}" for one, other in (middle, mean))
        yield f"{kind:8}{columns}  growth {told}"


def _answers(home: Path, times: int) -> dict[str, list[float]]:
    """What each query takes that is drawn from a journal's own texts, by kind and of all kinds."""
    config = configs.load(home, {})
    kinds = queries(Index.open(config.storage.index_path, make=False), home, times)
    with Journal(config) as journal:
        took = {
            kind: [
                median_ms(3, partial(journal.search, sought.text, _PAGE, mode="lexical")) for sought in each
            ]
            for kind, each in kinds.items()
        }
    return {**took, _ALL: [each for kind in took.values() for each in kind]}


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def from_the_shell(home: Path, times: int) -> Iterator[str]:
    """`aj search`, compared with the start of Python with SQLite."""

    def run(*command: str) -> float:
        def start() -> None:
            subprocess.run([sys.executable, *command], env=_ENVIRON, stdout=subprocess.DEVNULL, check=True)

        start()
        return median_ms(times, start, _cpu_of_children)

    start = run("-c", "import sqlite3")
    limit = STARTS * start + MORE_MS
    for words in ("error", "error function return", '"the function"'):
        took = run("-m", "agent_journal", "--home", str(home), "search", "--mode", "lexical", words)
        told = "ok" if took <= limit else "OVER"
        allowed = f"at most {limit:.0f} ({STARTS} x {start:.0f} + {MORE_MS})"
        yield f"aj search {words:24}{took:7.0f} ms, {allowed}  {told}"


def imported(corpus: Path, work: Path) -> Path:
    """A journal with a corpus in it."""
    home = work / "journal"
    environ = {**_ENVIRON, "HOME": str(corpus / "home")}
    aj = [sys.executable, "-m", "agent_journal", "--home", str(home)]
    for command in (["sync"], ["import", str(corpus / "chatgpt-export")]):
        subprocess.run([*aj, *command], env=environ, stdout=subprocess.DEVNULL, check=True)
    return home


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--corpus", type=Path)
    given.add_argument("--journal", type=Path)
    parser.add_argument("--grown", type=Path)
    parser.add_argument("--large", type=Path, help="a journal that is ten times as large")
    parser.add_argument("--times", type=int, default=41, help="how many queries of each kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        home = arguments.journal or imported(arguments.corpus, work)
        for line in in_process(home, work, arguments.times, arguments.grown):
            print(line, flush=True)
        if arguments.large is not None:
            for line in whole_answers(home, arguments.large, arguments.times):
                print(line, flush=True)
        for line in from_the_shell(home, max(5, arguments.times // 4)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
