"""Measures and proves usage: `python bench/usage.py [--corpus DIR] [--million] [--without-peer]`.

DIR is what `gen_corpus.py` makes, with the truth in `truth.json`: the totals must be equal. They are compared
with ccusage (installed from npm into a temporary folder; the output says if that fails), also over generated
histories in which everything is recorded more than once. `--million` asks a journal of a million messages.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOP = Path(__file__).parents[1]
sys.path[:0] = [str(TOP)]
WAYS = ("day", "week", "month", "conversation", "model", "project", "source")
PEER = "ccusage@20.0.24"
# An installed program is compiled; where the environment forbids that, it would be compiled at each start.
_ENVIRON = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "AJ_INDEX_VECTOR_BACKGROUND": "false",  # nothing works on while something is measured
}
_TIMES = 5
# Why the peer counts otherwise (as of 20.0.24).
WHY = {
    "a subagent that counts from zero": "it takes the first counts of a subagent for a copy of its parent's",
    "one sum for a session": "it does not read that source",
}


class Totals(NamedTuple):
    """Tokens, and what they cost."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    cost_usd: float | None = None


def main() -> int:
    """Run what is asked for; 1 if a total is not the truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--without-peer", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        peer = None if asked.without_peer else installed(Path(folder) / "peer")
        is_true = repeated(Path(folder), peer)
        if asked.corpus:
            is_true &= over_corpus(asked.corpus, Path(folder) / "journal", peer)
        if asked.million:
            million(Path(folder) / "million")
    return not is_true


def aj(home: Path, journal: Path, *arguments: str) -> str:
    """What `aj` prints."""
    environ = {**_ENVIRON, "HOME": str(home), "AJ_HOME": str(journal), "TZ": "UTC"}
    command = [sys.executable, "-m", "agent_journal", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, check=True, text=True).stdout


def ours(home: Path, journal: Path) -> Totals:
    """What `aj usage` counts."""
    total = json.loads(aj(home, journal, "usage", "month", "--json").splitlines()[-1])
    return Totals(
        total["input"], total["output"], total["cache_read"], total["cache_write"], total["cost_usd"]
    )


def theirs(peer: Path, home: Path) -> Totals:
    """What ccusage counts."""
    environ = {**_ENVIRON, "HOME": str(home), "TZ": "UTC"}
    command = [str(peer), "monthly", "--json", "--offline"]
    done = subprocess.run(command, env=environ, capture_output=True, check=False, text=True)
    if done.returncode or not done.stdout.startswith("{"):
        return Totals(0, 0, 0, 0)
    total: dict[str, Any] = json.loads(done.stdout)["totals"]
    return Totals(
        total["inputTokens"],
        total["outputTokens"],
        total["cacheReadTokens"],
        total["cacheCreationTokens"],
        total["totalCost"],
    )


def installed(folder: Path) -> Path | None:
    """The peer's program, None if it cannot be installed here."""
    folder.mkdir(parents=True)
    command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), PEER]
    program = folder / "node_modules/.bin/ccusage"
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        subprocess.run([program, "--version"], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{PEER} cannot be installed here: {error}")
        return None
    return program


def repeated(folder: Path, peer: Path | None) -> bool:
    """Histories in which everything is recorded more than once."""
    from tests.usage import histories as made  # noqa: PLC0415 (our own, and only here)

    cases: dict[str, tuple[Callable[[Path], None], tuple[int, int, int, int]]] = {
        "split lines, partial counts, a resumed copy": (made.split_lines_and_copies, made.SPLIT),
        "forks and replays with turns": (
            lambda home: made.forks_and_replays(home, with_turns=True),
            made.FORKED,
        ),
        "forks and replays without": (
            lambda home: made.forks_and_replays(home, with_turns=False),
            made.FORKED,
        ),
        "a subagent that counts from zero": (made.a_subagent_of_its_own, made.RESTARTED),
        "sums at the end of a session": (made.sums_at_the_end, made.SHUT_DOWN),
        "one sum for a session": (made.a_session_that_counts_as_a_whole, made.CUMULATIVE),
    }
    is_true = True
    print(f"{'history':44} {'truth':26} {'aj':26} {'ccusage' if peer else ''}")
    for place, (name, (write, truth)) in enumerate(cases.items()):
        home = folder / f"home{place}"
        write(home)
        aj(home, home / "journal", "sync")
        counted = ours(home, home / "journal")[:4]
        beside = shown(theirs(peer, home)[:4]) if peer else ""
        print(f"{name:44} {shown(truth):26} {shown(counted):26} {beside}")
        if peer and beside != shown(truth):
            print(f"    ccusage: {WHY.get(name, 'not known why')}")
        is_true &= counted == truth
    return is_true


def shown(counts: tuple[int, ...]) -> str:
    """Input, output, read and written."""
    return " ".join(f"{count:,}" for count in counts)


def over_corpus(corpus: Path, journal: Path, peer: Path | None) -> bool:
    """The whole corpus: totals, and how long a report takes."""
    home = corpus / "home"
    aj(home, journal, "sync")
    counted, truth = ours(home, journal), true_totals(corpus / "truth.json")
    print(
        f"\ncorpus   truth {shown(truth[:4])}\n         aj    {shown(counted[:4])}, ${counted.cost_usd:,.2f}"
    )
    if peer:
        beside = theirs(peer, home)
        print(f"         ccusage {shown(beside[:4])}, ${beside.cost_usd or 0:,.2f}")
    timed(home, journal, peer)
    return counted[:4] == truth[:4]


def true_totals(path: Path) -> Totals:
    """The truth, in the form of the model: what a cache gave is not input."""
    truth = json.loads(path.read_text(encoding="utf-8"))
    claude, codex = truth["claude"]["usage_dedup"], truth["codex"]["usage"]
    return Totals(
        claude["input_tokens"] + codex["input_tokens"] - codex["cached_input_tokens"],
        claude["output_tokens"] + codex["output_tokens"],
        claude["cache_read_input_tokens"] + codex["cached_input_tokens"],
        claude["cache_creation_input_tokens"],
    )


def timed(home: Path, journal: Path, peer: Path | None) -> None:
    """How long reports take, compared with the start of Python and the peer."""
    start = best([sys.executable, "-c", "pass"], home, journal)
    print(
        f"{'report':14} {'CPU s':>7} {'wall s':>7}   (best of {_TIMES}; python -c pass: {start[0]:.3f} s CPU)"
    )
    for way in WAYS:
        cpu, wall = best([sys.executable, "-m", "agent_journal", "usage", way, "--json"], home, journal)
        print(f"{way:14} {cpu:7.3f} {wall:7.3f}")
    if peer:
        cpu, wall = best([str(peer), "monthly", "--json", "--offline"], home, journal)
        print(f"{'ccusage month':14} {cpu:7.3f} {wall:7.3f}")


def best(command: list[str], home: Path, journal: Path) -> tuple[float, float]:
    """CPU and wall seconds of a command, the best of several times."""
    environ = {**_ENVIRON, "HOME": str(home), "AJ_HOME": str(journal), "TZ": "UTC"}
    found = []
    for _ in range(_TIMES + 1):  # the first one warms up
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, env=environ, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found.append((cpu, time.perf_counter() - began))
    return min(cpu for cpu, _ in found[1:]), min(wall for _, wall in found[1:])


def million(journal: Path) -> None:
    """A journal of a million messages, half of them answers, and how long its reports take."""
    from agent_journal.archive import open_to_write  # noqa: PLC0415
    from agent_journal.archive.rows import row_of  # noqa: PLC0415
    from agent_journal.archive.store import SourceRow  # noqa: PLC0415

    with open_to_write(journal) as archive, archive.store.transaction():
        source = archive.store.put_source(SourceRow(path="/made"))
        for conversation in conversations():
            archive.store.put(conversation, [row_of(entry) for entry in conversation.timeline], source)
        counts = archive.store.counts()
    print(f"\n{counts.messages:,} messages in {counts.conversations:,} conversations")
    timed(journal, journal, None)


def conversations(number: int = 20_000, pairs: int = 25) -> Iterator[Any]:
    """Conversations over three years, with four models in forty projects."""
    import random  # noqa: PLC0415

    from agent_journal.model import (  # noqa: PLC0415
        Conversation,
        Message,
        Part,
        Text,
        Usage,
        timestamps,
    )

    chance = random.Random(7)
    models = ("claude-sonnet-4-5-20250929", "claude-opus-4-20250514", "gpt-5-codex", "gemini-2.5-pro")
    for place in range(number):
        at = 1_672_531_200_000 + place * 4_700_000
        timeline: list[Any] = []
        for turn in range(pairs):
            at += chance.randrange(5_000, 120_000)
            id_ = f"{place}-{turn}"
            usage = Usage(
                key=f"msg_{chance.getrandbits(96):024x}", input=chance.randrange(40),
                output=chance.randrange(2_500), cache_read=chance.randrange(250_000),
                cache_write=chance.randrange(9_000),
            )  # fmt: skip
            moment = timestamps.from_epoch(at)
            said: list[Part] = [Text(text=f"said {id_}")]
            timeline += [
                Message(id=f"u{id_}", role="user", at=moment, parts=said),
                Message(
                    id=f"a{id_}",
                    role="assistant",
                    at=moment,
                    parts=said,
                    model=models[place % 4],
                    usage=usage,
                ),
            ]
        yield Conversation(
            id=str(place), source="claude-code", shape="list", cwd=f"/work/{place % 40}", timeline=timeline
        )


if __name__ == "__main__":
    sys.exit(main())
