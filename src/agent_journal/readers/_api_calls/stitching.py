"""Requests put together to dialogues: each call repeats what was said before it, here it is kept once.

A request goes on with a dialogue if its messages begin with all the messages of an earlier request of it.
Every distinct beginning of a dialogue has a place, found step by step from one message to the next: the work
grows with the number of messages, not with the number of pairs of requests.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import ids
from agent_journal.notes import Kind
from agent_journal.readers._api_calls.dialogue import Dialogue, Step, Way

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers._api_calls.exchange import Exchange

_START = 0


class Stitching:
    """Takes exchanges in the order of the file and sorts them into dialogues."""

    def __init__(self, source: str, note: Notes) -> None:
        self._source = source
        self._note = note
        self._meanings = Meanings()
        self._places: dict[tuple[int, int], int] = {}
        self._ended: dict[int, Dialogue] = {}
        self._dialogues: list[Dialogue] = []
        self._names: set[str] = set()
        self._offers: dict[int, list[int]] = {}

    def add(self, exchange: Exchange) -> None:
        """Take in the next exchange."""
        place, dialogue = _START, None
        steps: list[Step] = []
        for sent in exchange.prompt:
            meaning, form = self._meanings.of(sent.raw, sent.dialect.name, sent.dialect.meaning)
            place = self._place_after(place, meaning)
            # A later hit is a longer beginning.
            dialogue = self._ended.get(place, dialogue)
            steps.append(Step(place, sent, form))
        name, is_made = self._name(exchange, steps)
        if dialogue is None:
            dialogue = Dialogue(name, self._source, self._note, is_made=is_made)
            self._dialogues.append(dialogue)
            if exchange.id is None:
                self._note(Kind.MISSING_ID, exchange.where, "the first call of a dialogue has no id")
        if steps:
            self._ended[place] = dialogue
        replies = self._replies(exchange, place)
        dialogue.add(exchange, Way(name, self._system(exchange), steps, replies, self._tools(exchange)))

    def _place_after(self, place: int, meaning: int) -> int:
        return self._places.setdefault((place, meaning), len(self._places) + 1)

    def _system(self, exchange: Exchange) -> list[Step]:
        """System prompts stand outside of the dialogue: their place is what they mean."""
        found: list[Step] = []
        for sent in exchange.system:
            meaning, form = self._meanings.of(sent.raw, sent.dialect.name, sent.dialect.meaning)
            found.append(Step(meaning, sent, form))
        return found

    def _replies(self, exchange: Exchange, place: int) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        for reply in exchange.answer.replies:
            meaning, form = self._meanings.of(reply.raw, reply.dialect.name, reply.dialect.meaning)
            found.append((self._place_after(place, meaning), form))
        return found

    def _tools(self, exchange: Exchange) -> list[int]:
        """Numbers of the tools offered; requests mostly offer the same list, which is looked up whole."""
        if not exchange.tools:
            return []
        offer, _ = self._meanings.of(exchange.tools, "tools", _itself)
        if offer not in self._offers:
            self._offers[offer] = [self._meanings.of(tool, "tool", _itself)[0] for tool in exchange.tools]
        return self._offers[offer]

    def _name(self, exchange: Exchange, steps: list[Step]) -> tuple[str, bool]:
        """What the ids of its messages begin with: its own id, unless it has none or another has it."""
        if exchange.id is not None and exchange.id not in self._names:
            self._names.add(exchange.id)
            return exchange.id, False
        if exchange.id is not None:
            self._note(Kind.DUPLICATE_ID, exchange.where, exchange.id[:80])
        forms = [step.form.hex() for step in steps]
        made = ids.made(exchange.id, exchange.index, exchange.at, exchange.model, forms)
        self._names.add(made)
        return made, True

    def conversations(self) -> Iterator[Conversation]:
        """The dialogues in the order of their first requests."""
        for dialogue in self._dialogues:
            yield dialogue.conversation()


class Meanings:
    """Numbers for what messages mean: the same number for two that say the same in another form."""

    def __init__(self) -> None:
        self._by_form: dict[tuple[str, bytes], int] = {}
        self._by_meaning: dict[bytes, int] = {}
        self._encode = msgspec.json.Encoder().encode
        self._encode_sorted = msgspec.json.Encoder(order="sorted").encode

    def of(self, raw: Any, language: str, meaning: Callable[[Any], Any]) -> tuple[int, bytes]:
        """The number of what a value means, and a hash of its form. Each form is thought about once."""
        try:
            form = _hash(self._encode(raw))
            number = self._by_form.get((language, form))
            if number is None:
                meant = _hash(self._encode_sorted(meaning(raw)))
                number = self._by_meaning.setdefault(meant, len(self._by_meaning))
                self._by_form[language, form] = number
        except RecursionError:
            # Nested too deeply to be compared: it is like no other.
            form = len(self._by_meaning).to_bytes(16, "big")
            number = self._by_meaning.setdefault(form, len(self._by_meaning))
        return number, form


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _itself(value: Any) -> Any:
    return value
