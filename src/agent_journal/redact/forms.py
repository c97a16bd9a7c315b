"""A secret that is known, in every form that it may have elsewhere: escaped, in a URL, within base64."""

from __future__ import annotations

import base64
import html
import json
import re
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from agent_journal.redact.prefilter import dismisser
from agent_journal.redact.spans import Span, merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A shorter one may be part of a word by chance.
_LEAST, _LEAST_WITHIN_WORDS, _LEAST_WORD, _LEAST_ENCODED = 6, 16, 12, 8
_BASE64 = re.compile(r"[A-Za-z0-9+/_=-]*")
_BASE64_BEFORE = re.compile(r"[A-Za-z0-9+/_-]*\Z")
_LONGEST_RUN = 1 << 16
_TELLING = 64


class Known:
    """The secrets of one item, looked for in all of its texts."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._forms: dict[str, str] = {}
        self._encoded: dict[str, str] = {}
        for secret, kind in secrets.items():
            if _can_stand_alone(secret):
                self._forms.update((form, kind) for form in _written(secret) if form not in self._forms)
                self._encoded.update((core, kind) for core in _in_base64(secret))
        literals = [*self._forms, *self._encoded]
        # Texts are looked at within JSON too, where quotes, backslashes and line breaks are escaped.
        literals += [json.dumps(form, ensure_ascii=False)[1:-1] for form in self._forms]
        beginnings = {literal[:_TELLING] for literal in literals}
        self.is_clean = dismisser(map(_escaped, sorted(beginnings))) if literals else None

    def spans(self, text: str) -> list[Span]:
        """Every place where one of the secrets stands."""
        if self.is_clean is None or self.is_clean(text):
            return []
        found = [
            Span(place, place + len(form), kind)
            for form, kind in self._forms.items()
            for place in _places(text, form)
            if _stands_alone(text, place, form)
        ]
        for core, kind in self._encoded.items():
            found += [Span(*_run_around(text, place, core), kind) for place in _places(text, core)]
        return merged(found)


def _can_stand_alone(secret: str) -> bool:
    """Whether it is nothing that people may write without meaning it."""
    is_word = secret.isalpha() and len(secret) < _LEAST_WORD
    return len(secret) >= _LEAST and not is_word


def _written(secret: str) -> Iterator[str]:
    """The secret as it is and as other languages write it."""
    plain = unquote(secret)
    for form in dict.fromkeys((secret, plain)):
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


def _places(text: str, form: str) -> Iterator[int]:
    place = text.find(form)
    while place >= 0:
        yield place
        place = text.find(form, place + len(form))


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
