"""A secret that is known, in every form that it may have elsewhere: escaped, in a URL, within base64."""

from __future__ import annotations

import base64
import html
import json
import re
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from agent_journal.redaction.literals import LiteralIndex
from agent_journal.redaction.prefilter import dismisser
from agent_journal.redaction.spans import Span, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agent_journal.redaction.literals import Hit

# A shorter one may be part of a word by chance.
_LEAST, _LEAST_WITHIN_WORDS, _LEAST_WORD, _LEAST_ENCODED = 6, 16, 12, 8
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]*")
_BASE64_BEFORE = re.compile(r"[A-Za-z0-9+/_-]*\Z")
_LONGEST_RUN = 1 << 16
_TELLING = 16
_MAX_DISMISSED_BY_EXPRESSION = 2000


class Known:
    """The secrets of one item, looked for in all of its texts."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        forms: dict[str, str] = {}
        encoded: dict[str, str] = {}
        for secret, kind in secrets.items():
            if _can_stand_alone(secret):
                for form in _written(secret):
                    forms.setdefault(form, kind)
                    # Whole messages are looked at as JSON, which escapes quotes, backslashes and line breaks.
                    forms.setdefault(json.dumps(form, ensure_ascii=False)[1:-1], kind)
                for core in _in_base64(secret):
                    encoded.setdefault(core, kind)
        self._kinds = {**encoded, **forms}
        self._encoded = encoded.keys() - forms.keys()
        self._ranks = {literal: rank for rank, literal in enumerate((*forms, *encoded))}
        self._index = LiteralIndex(self._kinds)
        self.is_clean = self._dismisser()

    def _dismisser(self) -> Callable[[str], bool] | None:
        """What says of a text that none of the secrets is in it.

        An expression reads a text faster than the index does, but takes longer to build the more there are.
        """
        if not self._kinds:
            return None
        if len(self._kinds) > _MAX_DISMISSED_BY_EXPRESSION:
            return self._index.is_clean
        beginnings = {literal[:_TELLING] for literal in self._kinds}
        return dismisser(map(_escaped, sorted(beginnings)))

    def spans(self, text: str) -> list[Span]:
        """Every place where one of the secrets stands."""
        if self.is_clean is None or self.is_clean(text):
            return []
        found: list[tuple[int, Span]] = []
        encoded: list[Hit] = []
        for hit in self._index.hits(text):
            if hit.literal in self._encoded:
                encoded.append(hit)
            elif _stands_alone(text, *hit):
                span = Span(hit.start, hit.start + len(hit.literal), self._kinds[hit.literal])
                found.append((self._ranks[hit.literal], span))
        found += self._runs(text, sorted(encoded))
        return merged(span for _, span in sorted(found))

    def _runs(self, text: str, hits: Iterable[Hit]) -> Iterator[tuple[int, Span]]:
        """The runs of base64 around hits in order: a long run may hold many secrets."""
        end = 0
        for hit in hits:
            if hit.start >= end:
                start, end = _run_around(text, *hit)
                yield self._ranks[hit.literal], Span(start, end, self._kinds[hit.literal])


def _can_stand_alone(secret: str) -> bool:
    """Whether it is nothing that people may write without meaning it."""
    is_word = secret.isalpha() and len(secret) < _LEAST_WORD
    return len(secret) >= _LEAST and not is_word


def _written(secret: str) -> Iterator[str]:
    """The secret as it is and as other languages write it."""
    plain = unquote(secret)
    for form in dict.fromkeys((secret, plain) if len(plain) >= _LEAST else (secret,)):
        yield form
        escaped = json.dumps(form)[1:-1]
        yield from (json.dumps(form, ensure_ascii=False)[1:-1], escaped, json.dumps(escaped)[1:-1])
        yield html.escape(form)
        for quoted in (quote(form, safe=""), quote(form), quote_plus(form)):
            yield quoted
            yield re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), quoted)


def _in_base64(secret: str) -> Iterator[str]:
    """What base64 of a longer text has in it if the secret is part of that text, wherever it begins there."""
    plain = unquote(secret)
    for data, before in product((plain.encode(), plain.encode("utf-16-le")), range(3)):
        encoded = base64.b64encode(b"\0" * before + data).decode()
        first = (before * 8 + 5) // 6
        last = (before + len(data)) * 8 // 6
        core = encoded[first:last]
        if len(core) >= _LEAST_ENCODED:
            yield core
            yield core.translate(_URL_SAFE)


_URL_SAFE = str.maketrans("+/", "-_")


def _escaped(literal: str) -> str:
    """The literal as a pattern: everything that could mean something is written as a code."""
    return "".join(
        character if character.isalnum() or ord(character) > 127 else f"\\x{ord(character):02x}"  # noqa: PLR2004 (ASCII)
        for character in literal
    )


def _stands_alone(text: str, place: int, form: str) -> bool:
    """Whether a short one is not part of a longer word."""
    if len(form) >= _LEAST_WITHIN_WORDS:
        return True
    before, behind = text[place - 1 : place] if place else "", text[place + len(form) :][:1]
    is_escaped = text[max(0, place - 2) : place] in ("\\n", "\\t", "\\r")
    return (is_escaped or not before.isalnum()) and not behind.isalnum()


def _run_around(text: str, place: int, core: str) -> tuple[int, int]:
    """The whole of the base64 around its telling part: a piece of it could still be decoded."""
    before = _BASE64_BEFORE.search(text, max(0, place - _LONGEST_RUN), place)
    behind = _BASE64.match(text, place + len(core))
    return (before.start() if before else place), (behind.end() if behind else place + len(core))
