"""Known secrets in every spelling that may occur elsewhere: escaped, in a URL, within base64."""

from __future__ import annotations

import base64
import html
import json
import re
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from agent_journal.redaction.literals import LiteralIndex
from agent_journal.redaction.prefilter import compile_prefilter
from agent_journal.redaction.spans import Span, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agent_journal.redaction.literals import Occurrence

# Shorter literals occur by chance, alone or as part of a word.
_MIN_CHARS, _MIN_CHARS_WITHIN_WORDS, _MIN_LETTERS, _MIN_BASE64_CHARS = 6, 16, 12, 8
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]*")
_BASE64_SUFFIX = re.compile(r"[A-Za-z0-9+/_-]*\Z")
_MAX_BASE64_RUN_CHARS = 1 << 16
_PREFILTER_CHARS = 16
_MAX_PREFILTER_LITERALS = 2000


class KnownSecrets:
    """The secrets of one item, to search for in all of its texts."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        forms: dict[str, str] = {}
        encoded: dict[str, str] = {}
        for secret, kind in secrets.items():
            if _can_stand_alone(secret):
                for form in _spellings(secret):
                    forms.setdefault(form, kind)
                    # The prefilter sees messages as JSON, which escapes quotes, backslashes and line breaks.
                    forms.setdefault(json.dumps(form, ensure_ascii=False)[1:-1], kind)
                for core in _base64_cores(secret):
                    encoded.setdefault(core, kind)
        self._kinds = {**encoded, **forms}
        self._base64_literals = encoded.keys() - forms.keys()
        self._ranks = {literal: rank for rank, literal in enumerate((*forms, *encoded))}
        self._index = LiteralIndex(self._kinds)
        self.is_clean = self._prefilter()

    def _prefilter(self) -> Callable[[str], bool] | None:
        """A function that returns whether a text has none of the secrets; None if there are none.

        A regular expression reads a text faster than the index, but its build time grows with their number.
        """
        if not self._kinds:
            return None
        if len(self._kinds) > _MAX_PREFILTER_LITERALS:
            return self._index.is_clean
        beginnings = {literal[:_PREFILTER_CHARS] for literal in self._kinds}
        return compile_prefilter(map(_as_pattern, sorted(beginnings)))

    def spans(self, text: str) -> list[Span]:
        """Return every occurrence of a secret."""
        if self.is_clean is None or self.is_clean(text):
            return []
        ranked: list[tuple[int, Span]] = []
        encoded: list[Occurrence] = []
        for occurrence in self._index.occurrences(text):
            if occurrence.literal in self._base64_literals:
                encoded.append(occurrence)
            elif _stands_alone(text, *occurrence):
                span = Span(
                    occurrence.start,
                    occurrence.start + len(occurrence.literal),
                    self._kinds[occurrence.literal],
                )
                ranked.append((self._ranks[occurrence.literal], span))
        ranked += self._base64_runs(text, sorted(encoded))
        return merge(span for _, span in sorted(ranked))

    def _base64_runs(self, text: str, occurrences: Iterable[Occurrence]) -> Iterator[tuple[int, Span]]:
        """Yield the base64 runs around sorted occurrences: a long run may hold many secrets."""
        end = 0
        for occurrence in occurrences:
            if occurrence.start >= end:
                start, end = _run_around(text, *occurrence)
                yield self._ranks[occurrence.literal], Span(start, end, self._kinds[occurrence.literal])


def _can_stand_alone(secret: str) -> bool:
    """Whether the secret is too long to occur by chance, and not an ordinary word."""
    is_word = secret.isalpha() and len(secret) < _MIN_LETTERS
    return len(secret) >= _MIN_CHARS and not is_word


def _spellings(secret: str) -> Iterator[str]:
    """Yield the secret as it is and as JSON, HTML and URLs spell it."""
    plain = unquote(secret)
    for form in dict.fromkeys((secret, plain) if len(plain) >= _MIN_CHARS else (secret,)):
        yield form
        escaped = json.dumps(form)[1:-1]
        yield from (json.dumps(form, ensure_ascii=False)[1:-1], escaped, json.dumps(escaped)[1:-1])
        yield html.escape(form)
        for quoted in (quote(form, safe=""), quote(form), quote_plus(form)):
            yield quoted
            yield re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), quoted)


def _base64_cores(secret: str) -> Iterator[str]:
    """Yield the base64 of the secret within a longer text, for each alignment and encoding."""
    plain = unquote(secret)
    for data, before in product((plain.encode(), plain.encode("utf-16-le")), range(3)):
        encoded = base64.b64encode(b"\0" * before + data).decode()
        first = (before * 8 + 5) // 6
        last = (before + len(data)) * 8 // 6
        core = encoded[first:last]
        if len(core) >= _MIN_BASE64_CHARS:
            yield core
            yield core.translate(_URL_SAFE)


_URL_SAFE = str.maketrans("+/", "-_")


def _as_pattern(literal: str) -> str:
    """Escape a literal for the prefilter: all ASCII but letters and digits as codes."""
    return "".join(
        character if character.isalnum() or ord(character) > 127 else f"\\x{ord(character):02x}"  # noqa: PLR2004 (ASCII)
        for character in literal
    )


def _stands_alone(text: str, position: int, form: str) -> bool:
    """Whether an occurrence is not part of a longer word; long ones need not be."""
    if len(form) >= _MIN_CHARS_WITHIN_WORDS:
        return True
    before, after = text[position - 1 : position] if position else "", text[position + len(form) :][:1]
    is_escaped = text[max(0, position - 2) : position] in ("\\n", "\\t", "\\r")
    return (is_escaped or not before.isalnum()) and not after.isalnum()


def _run_around(text: str, position: int, core: str) -> tuple[int, int]:
    """The whole base64 run around a core: what is left of a run could still be decoded."""
    before = _BASE64_SUFFIX.search(text, max(0, position - _MAX_BASE64_RUN_CHARS), position)
    after = _BASE64.match(text, position + len(core))
    return (before.start() if before else position), (after.end() if after else position + len(core))
