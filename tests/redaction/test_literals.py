"""Many secrets cost no more than few: each place of a text is looked up once, however many there are."""

from __future__ import annotations

import random

import pytest

from agent_journal.model import Conversation, Event, Memory, Message, Text
from agent_journal.redaction import redact
from agent_journal.redaction.known_secrets import KnownSecrets
from agent_journal.redaction.literals import LiteralIndex, Occurrence
from tests.redaction import zoo


def secrets(count: int) -> dict[str, str]:
    return {f"ghp_{zoo.some(zoo.WORD, 36, str(number))}": "github-token" for number in range(count)}


def test_every_occurrence_of_every_literal_is_a_hit() -> None:
    seeded = random.Random(1)  # noqa: S311 (a test)
    literals = {"".join(seeded.choices("ab", k=seeded.randint(6, 40))) for _ in range(300)}
    text = "".join(seeded.choices("ab", k=4000))
    expected = {
        Occurrence(place, literal)
        for literal in literals
        for place in range(len(text) - len(literal) + 1)
        if text.startswith(literal, place)
    }

    assert expected == set(LiteralIndex(literals).occurrences(text))
    assert expected


def test_literals_that_begin_and_end_alike_are_not_compared_one_by_one() -> None:
    """What a place is compared with: slices of a few lengths, not literals."""
    alike = {f"github_pat_11AAAAAAA0{number:06}{'x' * 20}" for number in range(3000)}
    tiers = LiteralIndex(alike)._tiers
    comparisons = [len(groups) for tier in tiers for groups in tier._table.values()]

    assert comparisons
    assert 8 >= max(comparisons)


class _CountedText(str):
    """A text that counts how often something asks it for a slice or searches it."""

    __slots__ = ()
    reads = 0

    def __getitem__(self, key: object) -> str:
        _CountedText.reads += 1
        return str.__getitem__(self, key)  # type: ignore[index]

    def find(self, *arguments: object) -> int:
        _CountedText.reads += 1
        return str.find(self, *arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [100, 1600])
def test_the_work_on_a_text_does_not_grow_with_the_number_of_secrets(count: int) -> None:
    known = KnownSecrets(secrets(count))
    known.is_clean = lambda _text: False
    text = _CountedText(f"log in with {next(iter(secrets(1)))} and go on" + " words" * 100)
    _CountedText.reads = 0

    assert 1 == len(known.spans(text))
    assert 3 * len(text) > _CountedText.reads


def test_thousands_of_secrets_are_replaced_wherever_they_are() -> None:
    tokens = list(secrets(1000))
    timeline: list[Message | Event] = [
        Message(id=f"m{place}", role="user", parts=[Text(text=f"{token}, x{tokens[-place]}x")])
        for place, token in enumerate(tokens)
    ]
    redacted = redact(Conversation(id="c", source="x", timeline=timeline))
    texts = {part.text for each in redacted.item.timeline if isinstance(each, Message) for part in each.parts}  # type: ignore[union-attr]

    assert {"[REDACTED:github-token], x[REDACTED:github-token]x"} == texts
    assert 2000 == sum(finding.count for finding in redacted.findings)


def test_many_fields_that_are_named_by_secrets_are_numbered_in_one_pass() -> None:
    extra = dict.fromkeys(secrets(500), 1)
    item = redact(Memory(id="1", source="x", kind="k", text="", extra=extra)).item

    assert 501 == len(item.extra)
    assert 1 == item.extra["[REDACTED:github-token] (500)"]


def test_a_password_that_is_short_when_decoded_is_not_searched_elsewhere() -> None:
    text = "DB_PASSWORD=%21%21%21 and then !!! more"

    assert (
        "DB_PASSWORD=[REDACTED:password] and then !!! more"
        == redact(Memory(id="1", source="x", kind="k", text=text)).item.text
    )
