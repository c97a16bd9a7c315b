"""How long `aj cook` takes for 10,000 requests, and how much of that the exact search for parents saves.

    python bench/cook.py [--requests N] [--naive N]

Three traces are made, the same every time, and cooked in a process of their own:

* dialogues: 200 at once, 50 turns each; every request repeats its dialogue so far;
* window:    one dialogue without end, of which each request sends the last 100 messages;
* fan-out:   requests that all begin with the same system prompt and 50 messages, and then differ.

Then parents are computed for a sample of each by comparing every pair, as the format defines them; the
answers must be the same, and the times show how much the bounds save.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.writers.cooked.parents import RequestNode, parents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT_SECONDS = 60
TURNS = 50
WINDOW = 100
WORDS = (
    "the",
    "pot",
    "is",
    "on",
    "so",
    "wait",
    "for",
    "water",
    "to",
    "boil",
    "then",
    "add",
    "salt",
    "and",
    "stir",
)
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": "One of ten.", "parameters": {"type": "object"}},
    }
    for name in (f"tool_{number}" for number in range(10))
]

Message: TypeAlias = dict[str, str]


class Cost(NamedTuple):
    """What a process used."""

    cpu: float
    wall: float
    rss_mb: float


def text(chance: random.Random, what: str) -> str:
    """A message of a sentence or a few, unlike any other."""
    return f"{what}: " + " ".join(chance.choices(WORDS, k=chance.randint(5, 40)))


def record(number: int, messages: list[Message], answer: Message) -> dict[str, Any]:
    """A call, a second after the one before."""
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    return {
        "id": f"r{number}",
        "timestamp": f"2026-02-{1 + hours // 24:02}T{hours % 24:02}:{minutes:02}:{seconds:02}Z",
        "duration_ms": 800,
        "request": {"model": "m", "messages": messages, "tools": TOOLS},
        "response": {"choices": [{"index": 0, "message": answer}]},
        "error": None,
    }


def dialogues(count: int) -> Iterator[dict[str, Any]]:
    """Dialogues of 50 turns that take turns with each other."""
    chance = random.Random(1)
    system = {"role": "system", "content": text(chance, "You are a cook")}
    number = 0
    for first in range(0, count, 200 * TURNS):
        many = min(200, -(-(count - first) // TURNS))
        histories = [[system] for _ in range(many)]
        for turn in range(TURNS):
            for which, history in enumerate(histories):
                history.append({"role": "user", "content": text(chance, f"Question {turn} of {which}")})
                answer = {"role": "assistant", "content": text(chance, f"Answer {turn} to {which}")}
                yield record(number, history, answer)
                history.append(answer)
                number += 1


def window(count: int) -> Iterator[dict[str, Any]]:
    """One dialogue of which only the end is sent."""
    chance = random.Random(2)
    history: list[Message] = []
    for number in range(count):
        history.append({"role": "user", "content": text(chance, f"Question {number}")})
        answer = {"role": "assistant", "content": text(chance, f"Answer {number}")}
        yield record(number, history[-WINDOW:], answer)
        history.append(answer)


def fan_out(count: int) -> Iterator[dict[str, Any]]:
    """The same beginning again and again, and between one and five messages of one's own."""
    chance = random.Random(3)
    shared = [{"role": "system", "content": text(chance, "You are a cook")}]
    for number in range(50):
        role = "assistant" if number % 2 else "user"
        shared.append({"role": role, "content": text(chance, f"Example {number}")})
    for number in range(count):
        own: list[Message] = []
        for place in range(chance.choice((1, 1, 1, 3, 5))):
            role = "assistant" if place % 2 else "user"
            own.append({"role": role, "content": text(chance, f"Case {number}")})
        answer = {"role": "assistant", "content": text(chance, f"Answer {number}")}
        yield record(number, [*shared, *own], answer)


SHAPES: dict[str, Callable[[int], Iterator[dict[str, Any]]]] = {
    "dialogues": dialogues,
    "window": window,
    "fan-out": fan_out,
}


def write_trace(records: Iterator[dict[str, Any]], path: Path) -> None:
    """The trace as JSON Lines."""
    with path.open("w", encoding="utf-8") as out:
        for one in records:
            out.write(json.dumps(one) + "\n")


def cook(trace: Path, cooked: Path) -> Cost:
    """Run `aj cook`."""
    command = [sys.executable, "-m", "agent_journal", "cook", str(trace), "-o", str(cooked)]
    started = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def exchanges(cooked: Path, count: int) -> list[RequestNode]:
    """Some requests of a cooked trace, evenly spaced, as the search for parents sees them."""
    requests = json.loads(cooked.read_bytes())["requests"]
    requests = requests[:: max(1, len(requests) // count)][:count]
    return [
        RequestNode(
            one["model"],
            [int(name[1:]) for name in one["request_messages"]],
            [int(name[1:]) for name in one["response_messages"]],
            frozenset(int(name[1:]) for name in one["tools"]),
        )
        for one in requests
    ]


def naive(requests: list[RequestNode]) -> Iterator[int | None]:
    """The definition: every earlier request of the model, newest first, a strictly better one wins."""
    for place, current in enumerate(requests):
        best, found = float("-inf"), None
        for earlier in range(place - 1, -1, -1):
            candidate = requests[earlier]
            if candidate.model != current.model:
                continue
            edits = levenshtein([*candidate.request, *candidate.response], current.request)
            score = -edits - 0.5 * len(candidate.tools ^ current.tools)
            if score > best:
                best, found = score, earlier
        yield None if best < -0.5 * len(current.request) else found


def levenshtein(one: list[int], other: Any) -> int:
    """Insertions, deletions and replacements that make one the other."""
    row = list(range(len(other) + 1))
    for place, left in enumerate(one, 1):
        diagonal, row[0] = row[0], place
        for column, right in enumerate(other, 1):
            changed = diagonal + (left != right)
            diagonal = row[column]
            row[column] = min(changed, diagonal + 1, row[column - 1] + 1)
    return row[-1]


def timed(search: Iterator[int | None]) -> tuple[float, list[int | None]]:
    """CPU seconds of a search, and what it found."""
    started = time.process_time()
    found = list(search)
    return time.process_time() - started, found


def main() -> int:
    """Print a line per shape; 1 if one takes too long or an answer differs."""
    options = argparse.ArgumentParser(description="Measures aj cook.")
    options.add_argument("--requests", type=int, default=10_000)
    options.add_argument(
        "--naive", type=int, default=100, help="for how many requests all pairs are compared"
    )
    chosen = options.parse_args()
    print(f"aj cook of {chosen.requests} requests; parents of {chosen.naive} by bounds and by all pairs")
    print(f"{'shape':10} {'input':>8} {'CPU':>7} {'wall':>7} {'RSS':>8} {'bounds':>9} {'all pairs':>10}")
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        trace, cooked = Path(scratch, "trace.jsonl"), Path(scratch, "cooked.json")
        for name, make in SHAPES.items():
            write_trace(make(chosen.requests), trace)
            cost = cook(trace, cooked)
            few = exchanges(cooked, chosen.naive)
            fast, found = timed(parents_of(few, 1 << 20))
            slow, expected = timed(naive(few))
            failed |= cost.wall > LIMIT_SECONDS or found != expected
            print(
                f"{name:10} {trace.stat().st_size / 1e6:5.0f} MB {cost.cpu:5.1f} s {cost.wall:5.1f} s "
                f"{cost.rss_mb:5.0f} MB {fast:7.3f} s {slow:8.1f} s"
                f"{'' if found == expected else '  WRONG PARENTS'}"
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
