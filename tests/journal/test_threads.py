"""One journal, many threads: each gets what it would get alone, while another one writes."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agent_journal import config as configs
from agent_journal import journal as journals
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.config import Config
from agent_journal.errors import AgentJournalError, UnusableArchive
from agent_journal.inputs import compressed
from agent_journal.journal import Journal, embed
from agent_journal.journal.sessions import Damage

THREADS = 8
CALLS = 10_000
CONVERSATIONS = 60
WORDS = ("kettle", "harbour", "lantern", "tide", "bicycle", "soup", "anchor", "compass")


def message(name: str, place: int) -> dict[str, Any]:
    """A message whose text says where it belongs, so that a mix-up shows."""
    word = WORDS[place % len(WORDS)]
    role = "assistant" if place % 2 else "user"
    usage = {"input": 10, "output": 1, "key": f"{name}-{place}"}
    return {
        "type": "message",
        "id": f"{name}-{place}",
        "role": role,
        "at": f"2026-03-{1 + place % 28:02}T10:00:00Z",
        "parts": [{"type": "text", "text": f"{name}-{place}: the {word} " + f"of {name} " * 30}],
        **({"model": "gull-4", "usage": usage} if role == "assistant" else {}),
    }


def chat(name: str, messages: int) -> str:
    conversation = {
        "type": "conversation",
        "id": name,
        "source": "tea",
        "shape": "list",
        "title": f"About {name}",
        "timeline": [message(name, place) for place in range(messages)],
    }
    return json.dumps(conversation) + "\n"


def take(config: Config, path: Path, *chats: str) -> None:
    path.write_text("".join(chats), encoding="utf-8")
    journals.import_files(config, [ImportCandidate(str(path))], lambda _: None)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    config = configs.load(tmp_path / "home", {})
    take(config, tmp_path / "first.jsonl", *(chat(f"c{number:03}", 20) for number in range(CONVERSATIONS)))
    embed(config)
    return config


def search(journal: Journal, chance: random.Random) -> None:
    word = chance.choice(WORDS)
    answer = journal.search(word, 5, mode=chance.choice(["lexical", "lexical", "hybrid"]))
    assert answer.hits
    assert not answer.problem
    for hit in answer.hits:
        assert hit.conversation is not None
        assert hit.entry.text.startswith(hit.entry.message or f"About {hit.conversation.id}")
        assert hit.entry.message.startswith(hit.conversation.id) or not hit.entry.message


def refuse(damage: Damage) -> None:
    """There is none."""
    raise AssertionError(damage.description)


def read(journal: Journal, chance: random.Random) -> None:
    name = f"c{chance.randrange(CONVERSATIONS):03}"
    conversation = journal.get(name, on_damage=refuse)
    assert [entry.id for entry in conversation.timeline] == [
        f"{name}-{place}" for place in range(len(conversation.timeline))
    ]
    assert len(conversation.timeline) >= 20


def read_exactly(journal: Journal, chance: random.Random) -> None:
    name = f"c{chance.randrange(CONVERSATIONS):03}"
    conversation = journal.get(name, exact=True, on_damage=refuse)
    assert name == conversation.id


def page(journal: Journal, chance: random.Random) -> None:
    name = f"c{chance.randrange(CONVERSATIONS):03}"
    start = chance.randrange(20)
    page = journal.messages(name, start=start, limit=5)
    assert not page.damage
    assert [entry.id for entry in page.items] == [
        f"{name}-{place}" for place in range(start, min(start + 5, page.total))
    ]


def list_all(journal: Journal, _: random.Random) -> None:
    assert CONVERSATIONS <= len(journal.conversations())


def report_usage(journal: Journal, _: random.Random) -> None:
    assert journal.usage("model").total.output >= CONVERSATIONS * 10


MIX: list[Callable[[Journal, random.Random], None]] = [
    *[search] * 8,
    *[read] * 4,
    *[page] * 4,
    *[read_exactly] * 1,
    *[list_all] * 2,
    *[report_usage] * 1,
]


def test_eight_threads_share_a_journal_while_another_writes(config: Config, tmp_path: Path) -> None:
    is_over = threading.Event()
    written = count()

    def write() -> None:
        """Extend old conversations and add new ones, until the others are done."""
        for number in written:
            if is_over.is_set() and number > 2:
                return
            chats = [chat(f"c{(number * 7 + place) % CONVERSATIONS:03}", 21 + number) for place in range(3)]
            take(config, tmp_path / "more.jsonl", *chats, chat(f"n{number:03}", 5))

    with Journal(config) as journal, ThreadPoolExecutor(THREADS + 1) as pool:

        def call(seed: int) -> int:
            chance = random.Random(seed)  # noqa: S311
            for _ in range(CALLS // THREADS):
                chance.choice(MIX)(journal, chance)
            return CALLS // THREADS

        writer = pool.submit(write)
        done = [pool.submit(call, seed) for seed in range(THREADS)]
        try:
            assert CALLS == sum(each.result() for each in done)
        finally:
            is_over.set()
        writer.result()
        assert len(journal.conversations()) == CONVERSATIONS + next(written) - 1 >= CONVERSATIONS + 2


def test_a_thread_sees_what_was_written_before_its_call(config: Config, tmp_path: Path) -> None:
    with Journal(config) as journal:
        assert not journal.search("marzipan", mode="lexical").hits
        take(config, tmp_path / "late.jsonl", chat("late marzipan", 3))

        (hit,) = journal.search("marzipan", mode="lexical").hits
        assert hit.conversation is not None
        assert journal.conversation(hit.conversation.id, exact=True).timeline


def test_what_is_appended_to_a_pack_is_no_damage(config: Config, tmp_path: Path) -> None:
    with Journal(config) as journal:
        listed = journal.one("c000")
        journal.get(listed, exact=True, on_damage=refuse)
        take(config, tmp_path / "more.jsonl", chat("c000", 40))

        conversation = journal.get(listed, exact=True, on_damage=refuse)

    assert len(conversation.timeline) == 40


def test_an_index_that_was_rebuilt_meanwhile_is_used(config: Config) -> None:
    with Journal(config) as journal:
        before = journal.search("kettle", 50, mode="lexical")
        journals.reindex(config, on_result=lambda _: None)

        after = journal.search("kettle", 50, mode="lexical")

    assert "" == after.problem
    assert [hit.entry for hit in before.hits] == [hit.entry for hit in after.hits]


def test_a_closed_journal_says_so(config: Config) -> None:
    journal = Journal(config)
    journal.search("kettle", mode="lexical")
    journal.close()
    journal.close()

    with pytest.raises(UnusableArchive, match="closed"):
        journal.conversations()


def test_a_call_ends_although_the_journal_is_closed_meanwhile(config: Config) -> None:
    journal = Journal(config)
    with journal._sessions.lend() as session:
        journal.close()
        assert session.archive.find_conversation("c000").id == "c000"


def test_a_failed_call_harms_no_other(config: Config) -> None:
    with Journal(config) as journal:
        for name in ("c00", "unknown"):
            with pytest.raises(AgentJournalError):
                journal.conversation(name)

        assert journal.conversation("c000").timeline


def test_limits_of_compressed_files_are_those_of_the_thread() -> None:
    def allowed_in_threads() -> Iterator[int | None]:
        barrier = threading.Barrier(2)

        def allowed(megabytes: int | None) -> int | None:
            with compressed.allowing(megabytes):
                barrier.wait()
                return compressed.allowed_mb()

        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(allowed, (3, None))

    assert [3, None] == list(allowed_in_threads())
    assert compressed.allowed_mb() is None
