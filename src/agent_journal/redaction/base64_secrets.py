"""Secrets within base64: encoded files and configurations that hold secrets."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from agent_journal.redaction.rules import EDGE, Rule

if TYPE_CHECKING:
    from agent_journal.redaction.spans import Span

# Base64 of three ASCII characters, whose first bits are 0: at most an eighth of random characters match, and
# ASCII text in UTF-16 also does.
_TRIPLE = "[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_MIN_TRIPLES = 6  # the shortest line that assigns a secret to a name
_ANY = "[A-Za-z0-9+/_-]"
_LINE_CHARS = 76  # as `base64` wraps lines
_END = r"(?:\\r)?(?:\r?\n|\\n)"
_LINES = (
    rf"{_ANY}{{{_LINE_CHARS - 4 * _MIN_TRIPLES}}}(?:{_END}{_ANY}{{{_LINE_CHARS}}})*+"
    rf"{_END}{_ANY}{{1,{_LINE_CHARS}}}(?!{_ANY})"
)
_STANDARD = str.maketrans("-_", "+/")


def _text_in(encoded: str) -> str:
    """Decode base64; empty if it does not hold text."""
    letters = re.sub(r"\\[rn]|[\r\n=]", "", encoded).translate(_STANDARD)
    whole = len(letters) - (len(letters) % 4 == 1)
    data = base64.b64decode(letters[:whole] + "=" * (-whole % 4))
    try:
        return data.decode("utf-16-le" if b"\0" in data else "utf-8")
    except UnicodeDecodeError:
        return ""


def _secrets_in(encoded: str) -> list[Span]:
    from agent_journal.redaction.scan import scanner  # noqa: PLC0415 (circular: the scanner uses these rules)

    return scanner(personal=False).spans(_text_in(encoded))


def _holds_secret(_match: re.Match[str], value: str) -> bool:
    return bool(_secrets_in(value))


def _kind_in(match: re.Match[str]) -> str:
    """The kind of the first secret."""
    return _secrets_in(match[0])[0].kind


BASE64_SECRETS = (
    Rule(
        kind="secret",
        before=EDGE,
        pattern=rf"(?:{_TRIPLE}){{{_MIN_TRIPLES}}}(?:{_LINES}|{_ANY}*+)={{0,2}}",
        trigger=rf"(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-F]{{2}})(?:{_TRIPLE}){{{_MIN_TRIPLES}}}",
        check=_holds_secret,
        find_kind=_kind_in,
    ),
)
