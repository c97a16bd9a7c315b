"""How fast secrets are replaced: `python bench/redact.py [--scale 0.1]`.

Agent sessions and a chat export (`bench/corpus.py`, at the scale that is given) are read into the model.
Every twentieth conversation gets three credentials and three decoys. Times are CPU seconds, the best of
several in turns with two baselines: encoding the same items as JSON, and Python's `re` over the same text
with the same rules. Then whatever could make an expression try again and again, 1 MB of each, and a
conversation with more and more distinct secrets, of which each is looked for in every message.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

import corpus
from agent_journal import read
from agent_journal.model import Conversation, Event, Memory, Message, Text
from agent_journal.redaction import redact
from agent_journal.redaction.scan import scanner

sys.path.append(str(Path(__file__).parent.parent))
from tests.redaction import zoo
from tests.redaction.test_properties import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.model import Item

MB = 1_000_000
LEAST_MB_PER_SECOND = 100
_ROUNDS = 3
_EVERY = 20
_SAMPLE = 20
_DISTINCT = (100, 800, 3_200, 12_800)


def planted(items: Iterator[Item]) -> Iterator[Item]:
    """The items, of which some hold what is to be found, and what is not."""
    credentials, decoys = cycle(zoo.STANDING_ALONE), cycle(zoo.DECOYS)
    for place, item in enumerate(items):
        if place % _EVERY or not isinstance(item, Conversation):
            yield item
            continue
        texts = [text for _ in range(3) for text in (next(credentials).text, next(decoys))]
        messages = [
            Message(id=f"planted-{number}", role="user", parts=[Text(text=text)])
            for number, text in enumerate(texts)
        ]
        yield replace(item, timeline=[*item.timeline, *messages])


def timed(work: Callable[[], object]) -> float:
    """CPU seconds."""
    started = time.process_time()
    work()
    return time.process_time() - started


def by_re_alone(texts: list[str]) -> int:
    """How many texts a rule matches somewhere in."""
    unions = [group.union for group in scanner(personal=False).groups]
    return sum(any(union.search(text) for union in unions) for text in texts)


def slowest(personal: bool) -> tuple[float, str]:  # noqa: FBT001 (one of two)
    """CPU seconds of the slowest text of 1 MB, and what it repeats."""
    found = []
    for unit in ENDLESS:
        text = (unit * MB)[:MB]
        memory = Memory(id="1", source="x", kind="k", text=text)
        found.append((timed(partial(redact, memory, personal=personal)), unit))
    return max(found)


def with_secrets(count: int) -> Conversation:
    """A conversation of as many messages as distinct secrets."""
    timeline: list[Message | Event] = [
        Message(
            id=f"m{number}",
            role="user",
            parts=[Text(text=f"log in with ghp_{zoo.some(zoo.WORD, 36, str(number))} and go on")],
        )
        for number in range(count)
    ]
    return Conversation(id="c", source="x", timeline=timeline)


def main() -> int:
    """Print the figures; 1 if redaction is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.1, help="1.0 is 374 MB")
    scale = parser.parse_args().scale
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        corpus.make(Path(folder), scale)
        items = list(planted(read(folder)))
    encode = msgspec.json.Encoder().encode
    sizes = [len(encode(item)) for item in items]
    size, some = sum(sizes), items[::_SAMPLE]
    texts = [encode(item).decode() for item in some]
    redact(items[0])
    redact(items[0], personal=True)
    rounds = [
        (
            timed(lambda: [redact(item) for item in items]),
            timed(lambda: [redact(item, personal=True) for item in items]),
            timed(lambda: [encode(item) for item in items]),
        )
        for _ in range(_ROUNDS)
    ]
    ours, personal, base = (min(times) for times in zip(*rounds, strict=True))
    alone = timed(lambda: by_re_alone(texts)) * size / sum(map(len, texts))
    count = sum(finding.count for item in items for finding in redact(item).findings)
    print(f"{size / MB:.0f} MB of {len(items)} conversations, {count} secrets replaced")
    rows = (
        ("secrets", ours),
        ("secrets and personal data", personal),
        ("baseline: encoding as JSON", base),
        (f"baseline: the rules by re alone (every {_SAMPLE}th)", alone),
    )
    for name, seconds in rows:
        print(f"{name:48} {seconds:7.2f} s {size / MB / seconds:7.0f} MB/s {seconds / base:7.1f} ×")
    for personally in (False, True):
        seconds, unit = slowest(personally)
        print(
            f"slowest MB of hostile text{' (personal)' if personally else '':11} {seconds:18.2f} s  {unit!r}"
        )
    for count in _DISTINCT:
        item = with_secrets(count)
        seconds = min(timed(partial(redact, item)) for _ in range(2))
        print(f"{count:6} distinct secrets {seconds:43.2f} s {seconds / count * 1000:7.2f} ms each")
    return 0 if size / MB / max(ours, personal) >= LEAST_MB_PER_SECOND else 1


if __name__ == "__main__":
    sys.exit(main())
