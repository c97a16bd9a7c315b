"""Keys of wallets: recognized by their checksum, seed phrases also by their label.

bip39.txt lists facts about the English word list of BIP-39, a public standard: of each of the 2,048 words, in
order, the first four letters, which identify a word, and the length. The words themselves, which
trezor/python-mnemonic publishes under the MIT license, are not part of it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_journal.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {digit: value for value, digit in enumerate(_BASE58)}
_BASE58_CLASS = "[1-9A-HJ-NP-Za-km-z]"
_CHECKSUM_BYTES = 4


def _has_checksum(_match: re.Match[str], value: str) -> bool:
    """Whether the last four bytes are the checksum of the others (Base58Check)."""
    number = 0
    for digit in value:
        number = number * 58 + _DIGITS[digit]
    zeros = len(value) - len(value.lstrip("1"))
    data = b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
    payload, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:_CHECKSUM_BYTES] == checksum


def _base58(kind: str, pattern: str) -> Rule:
    return Rule(
        kind=kind,
        before=r"(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt]))",
        pattern=pattern,
        after="(?![A-Za-z0-9])",
        trigger=rf"(?:^|[^A-Za-z0-9+/]|\\[nrt])(?:{pattern})(?:[^A-Za-z0-9+/]|$)",
        check=_has_checksum,
    )


# ── Words ──

_PHRASE_WORD_COUNTS = (24, 21, 18, 15, 12)
_MAX_RUN_WORDS = 200
_LINE_BREAK_RE = re.compile(r"\n|\\n")
_MAX_WORDS = 27  # of a phrase and its label; a longer run is a list of words
_SEPARATOR = (
    r"(?:(?:[ \t]{1,4}|,[ \t]?|\r?\n[ \t]{0,8}|(?:\\{1,4}r)?\\{1,4}n[ \t]{0,8}|[ \t]?[|-][ \t]?)"
    r"(?:[0-9]{1,2}[.):][ \t]{0,2})?"
    r"|\\*[\"'],?(?:\s|\\{1,4}n){0,10}\\*[\"'])"
)
_WORD = "(?:[a-z]{3,8}|[A-Z]{3,8}|[A-Z][a-z]{2,7})"
_WORDS_RE = re.compile(r"(?:(?<![A-Za-z\\])|(?<=\\[nrt]))[A-Za-z]{3,8}")
_LABEL_BEFORE = re.compile(
    r"(?i:mnemonic|seed[ _-]?(?:phrase|words)?|(?:recovery|secret|backup|wallet)[ _-]?(?:phrase|words|seed))"
    r"[^A-Za-z\n]{0,6}(?:(?:is|was|are)[^A-Za-z\n]{1,4})?\Z"
)
_MAX_LABEL_CHARS = 48


@cache
def _index_by_word() -> dict[tuple[str, int], int]:
    """The index of each word in the list, by its first four letters and its length."""
    table = resources.files(__package__).joinpath("bip39.txt").read_text(encoding="ascii").split()
    return {(entry[:-1], int(entry[-1])): index for index, entry in enumerate(table)}


def _word_list_pattern() -> str:
    """A regular expression for the words of the list."""
    endings: dict[str, list[str]] = {}
    for letters, length in _index_by_word():
        endings.setdefault(letters[:2], []).append(f"{letters[2:]}[a-z]{{{length - len(letters)}}}")
    return "(?:" + "|".join(f"{begin}(?:{'|'.join(ends)})" for begin, ends in endings.items()) + ")"


def _word_index(word: str) -> int | None:
    return _index_by_word().get((word[:4].lower(), len(word)))


def _phrase(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """The range of a seed phrase in a run of words; an empty range to resume at if the run may continue."""
    words = list(_WORDS_RE.finditer(text, start, stop))
    for run in _listed_runs(text, words):
        for count in _PHRASE_WORD_COUNTS:
            for begin in range(len(run) - count + 1):
                phrase = run[begin : begin + count]
                if _is_phrase(text, phrase):
                    return phrase[0].start(), phrase[-1].end()
    if len(words) <= _MAX_RUN_WORDS:
        return None
    rest = words[-_MAX_WORDS].start()
    return rest, rest


def _listed_runs(text: str, words: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Yield runs of listed words that are as long as a phrase; longer runs are split by line."""
    run: list[re.Match[str]] = []
    for word in (*words, None):
        if word is not None and _word_index(word[0]) is not None:
            run.append(word)
            continue
        yield from (
            each for each in _by_lines(text, run) if _PHRASE_WORD_COUNTS[-1] <= len(each) <= _MAX_WORDS
        )
        run = []


def _by_lines(text: str, run: list[re.Match[str]]) -> list[list[re.Match[str]]]:
    if len(run) <= _MAX_WORDS:
        return [run]
    lines = [run[:1]]
    for before, word in pairwise(run):
        if _LINE_BREAK_RE.search(text, before.end(), word.start()):
            lines.append([])
        lines[-1].append(word)
    return lines


def _is_phrase(text: str, words: list[re.Match[str]]) -> bool:
    start = words[0].start()
    indexes = [index for word in words if (index := _word_index(word[0])) is not None]
    return (
        _has_bip39_checksum(indexes)
        or _has_electrum_version(words)
        or _LABEL_BEFORE.search(text, max(0, start - _MAX_LABEL_CHARS), start) is not None
    )


def _has_bip39_checksum(indexes: list[int]) -> bool:
    """Whether the checksum bits match; those of random words do once in 16 to 256 times."""
    if len(set(indexes)) < len(indexes) // 2 or indexes == sorted(indexes):  # an excerpt of the list
        return False
    bits = len(indexes) * 11
    number = 0
    for index in indexes:
        number = number << 11 | index
    check_bits = bits // 33
    data = (number >> check_bits).to_bytes((bits - check_bits) // 8, "big")
    return hashlib.sha256(data).digest()[0] >> 8 - check_bits == number & (1 << check_bits) - 1


def _has_electrum_version(words: list[re.Match[str]]) -> bool:
    phrase = " ".join(word[0].lower() for word in words)
    digest = hmac.new(b"Seed version", phrase.encode(), "sha512").hexdigest()
    return digest.startswith(("100", "101", "102"))


WALLETS = (
    _base58("wallet-key", f"[5-9KLTQc]{_BASE58_CLASS}{{50,51}}"),
    _base58("wallet-key", f"[A-Za-z]prv{_BASE58_CLASS}{{107,108}}"),
    _base58("wallet-key", f"6P{_BASE58_CLASS}{{56}}"),
)

PHRASES = (
    Rule(
        kind="seed-phrase",
        before=r"(?:(?<![A-Za-z])|(?<=\\[nrt]))",
        pattern=rf"{_WORD}(?![A-Za-z])(?:{_SEPARATOR}{_WORD}(?![A-Za-z])){{11,{_MAX_RUN_WORDS}}}+",
        # Prose seldom has three listed words in a row, or twelve capitalized words.
        trigger=rf"(?:{_word_list_pattern()}{_SEPARATOR}){{3}}[a-z]{{3,8}}(?:{_SEPARATOR}[a-z]{{3,8}}){{8}}"
        rf"|[A-Z]{{3,8}}(?:{_SEPARATOR}[A-Z]{{3,8}}){{11}}"
        rf"|[A-Z][a-z]{{2,7}}(?:{_SEPARATOR}[A-Z][a-z]{{2,7}}){{11}}",
        find_bounds=_phrase,
    ),
)
