"""Secrets within base64: a file or a configuration that was carried so, in which a rule finds something."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from agent_journal.redaction.rules import EDGE, Rule

if TYPE_CHECKING:
    from agent_journal.redaction.spans import Span

# Three characters of ASCII, of which each has its first bit unset, as base64 has them: of what is random no
# more than an eighth looks so. UTF-16 of such a text looks so, too.
_THREE = "[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_LEAST = 6  # of them: the shortest line that gives a secret to a name
_ANY = "[A-Za-z0-9+/_-]"
_WIDTH = 76  # of lines, as `base64` prints them
_END = r"(?:\\r)?(?:\r?\n|\\n)"
_LINES = rf"{_ANY}{{{_WIDTH - 4 * _LEAST}}}(?:{_END}{_ANY}{{{_WIDTH}}})*+{_END}{_ANY}{{1,{_WIDTH}}}(?!{_ANY})"
_STANDARD = str.maketrans("-_", "+/")


def _text_in(encoded: str) -> str:
    """The text that base64 holds; empty if it holds something else."""
    letters = re.sub(r"\\[rn]|[\r\n=]", "", encoded).translate(_STANDARD)
    whole = len(letters) - (len(letters) % 4 == 1)
    data = base64.b64decode(letters[:whole] + "=" * (-whole % 4))
    try:
        return data.decode("utf-16-le" if b"\0" in data else "utf-8")
    except UnicodeDecodeError:
        return ""


def _secrets_in(encoded: str) -> list[Span]:
    from agent_journal.redaction.scan import scanner  # noqa: PLC0415 (which is made of these rules)

    return scanner(personal=False).spans(_text_in(encoded))


def _holds_secret(_match: re.Match[str], found: str) -> bool:
    return bool(_secrets_in(found))


def _kind_in(match: re.Match[str]) -> str:
    """The kind of the first secret."""
    return _secrets_in(match[0])[0].kind


WRAPPED = (
    Rule(
        kind="secret",
        before=EDGE,
        pattern=rf"(?:{_THREE}){{{_LEAST}}}(?:{_LINES}|{_ANY}*+)={{0,2}}",
        trigger=rf"(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-F]{{2}})(?:{_THREE}){{{_LEAST}}}",
        check=_holds_secret,
        kind_in=_kind_in,
    ),
)
