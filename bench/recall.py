"""Measures recall by an agent: `python bench/recall.py [--write]`.

The judged queries of tests/search are asked through the tools of `aj mcp`: one search, and then one read at
each hit, until the message that answers is in the text. `--write` puts the table into docs/search-quality.md.
The other figures are the size of the definitions, and CPU times: of a search in the process, and of starting
the server until it has listed its tools.
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
from statistics import mean, median
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent_journal.journal import Journal
from agent_journal.mcp import service as service_module
from agent_journal.mcp.definitions import TOOLS
from agent_journal.mcp.scope import Scope
from agent_journal.mcp.service import Service
from agent_journal.usage.estimating import load_tokenizer
from tests.search import corpus, quality

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.search.corpus import Judged

BEGIN = "<!-- measured by bench/recall.py -->"
_MAX_HITS = 5
_START_ROUNDS = 5
MAX_DEFINITION_BYTES, MAX_SEARCH_MS, MAX_START_S, MAX_TOKENS = 6000, 15, 0.8, 2500


class Outcome(NamedTuple):
    """How a query went: the place of the first conversation that answers it, and what reading it took."""

    place: int | None
    reads: int | None
    """How many hits were read until the message that answers was there; None if it never was."""
    tokens: int


def ask(service: Service, each: Judged, count_tokens: Callable[[str], int]) -> Outcome:
    """Search, and read around the hits until the answer is there."""
    best = max(each.relevant.values())
    wanted = {name for name, grade in each.relevant.items() if grade == best}
    holders = {name.partition("/")[0] for name in wanted}
    found = service.call("search", {"query": each.query})
    tokens = count_tokens(found.text)
    hits = found.data["hits"][:_MAX_HITS]
    place = next((at for at, hit in enumerate(hits, 1) if hit["conversation"] in holders), None)
    for reads, hit in enumerate(hits, 1):
        given = {"conversation": hit["conversation"]} | (
            {"message": hit["message"]} if "message" in hit else {}
        )
        answer = service.call("read", given)
        tokens += count_tokens(answer.text)
        if wanted & {message["message"] for message in answer.data["messages"]}:
            return Outcome(place, reads, tokens)
    return Outcome(place, None, tokens)


def table(judged: Sequence[Judged], outcomes: Sequence[Outcome]) -> list[str]:
    """Return the table for the page."""
    lines = [
        "| class | queries | hit@1 | hit@5 | answered by the first read | tokens per answered question |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for kind, places in quality.by_class(judged):
        chosen = [outcomes[at] for at in places]
        answered = [each.tokens for each in chosen if each.reads is not None]
        first, all_five = (each.place == 1 for each in chosen), (each.place is not None for each in chosen)
        shares = map(_share, (first, all_five, (each.reads == 1 for each in chosen)))
        tokens = f"{median(answered) if answered else 0:,.0f}"
        lines.append(f"| {' | '.join([kind, str(len(chosen)), *shares, tokens])} |")
    return lines


def _share(values: Iterator[bool]) -> str:
    return f"{100 * mean(map(float, values)):.0f} %"


def definition_bytes() -> int:
    """Return the size of the definitions of the tools."""
    definitions = [
        (each.name, each.title, each.description, each.input_schema, each.output_schema) for each in TOOLS
    ]
    return len(json.dumps(definitions).encode())


def start_seconds(home: Path) -> float:
    """Return the CPU time of a server that lists its tools, the best of several."""
    lines: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    given = "".join(f"{json.dumps({'jsonrpc': '2.0', **line})}\n" for line in lines).encode()
    command = [sys.executable, "-m", "agent_journal", "--home", str(home), "mcp"]
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = []
    for _ in range(_START_ROUNDS):
        before = _child_seconds()
        subprocess.run(command, input=given, env=environ, capture_output=True, check=True)
        times.append(_child_seconds() - before)
    return min(times)


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print or write what comes out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--half", default="report", choices=("tune", "report"))
    asked = parser.parse_args()
    judged = [each for each in corpus.judged() if each.half == asked.half]
    service_module._MAX_CALLS_PER_MINUTE = 1_000_000  # noqa: SLF001 (nobody asks like this)
    count_tokens = load_tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        config = quality.journal_of_corpus(home, corpus.talks())
        with Journal(config) as journal:
            journal.embed()
        with Service(config, Scope(folder=folder)) as service:
            service.call("search", {"query": "warm up"})
            times = []
            for each in judged:
                began = time.process_time()
                service.call("search", {"query": each.query})
                times.append(1000 * (time.process_time() - began))
            outcomes = [ask(service, each, count_tokens) for each in judged]
        start_s = start_seconds(home)
    lines = table(judged, outcomes)
    print("\n".join(lines))
    if asked.write:
        quality.write_section(BEGIN, lines)
    tokens = median([each.tokens for each in outcomes if each.reads == 1])
    figures = [
        ("definitions, bytes", definition_bytes(), MAX_DEFINITION_BYTES),
        ("search, median of CPU ms", median(times), MAX_SEARCH_MS),
        ("start, CPU s", start_s, MAX_START_S),
        ("search and one read, median of tokens", tokens, MAX_TOKENS),
    ]
    for name, measured, limit in figures:
        print(f"{name:40} {measured:>9,.2f}  at most {limit:,}  {'ok' if measured <= limit else 'TOO MUCH'}")
    sys.exit(int(any(measured > limit for _, measured, limit in figures)))


if __name__ == "__main__":
    main()
