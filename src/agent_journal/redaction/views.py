"""Other readings of a text: without colors, without insertions in words, and decoded."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from functools import cache, cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from agent_journal.redaction.prefilter import compile_prefilter
from agent_journal.redaction.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The escape character: itself, as JSON, C, shells and terminals write it, and its symbol. JSON may have
# escaped a backslash several times.
_ESC = r"(?:\x1b|\x9b|\u241b|\^\[|\\{1,8}(?:u001[bB]|u009[bB]|x1[bB]|033|e))"
_BEL = r"(?:\x07|\x9c|\\{1,8}(?:u0007|x07|a|007))"
_CONTROLS = (
    rf"(?:\x1b|{_ESC}\[|\x9b|\\{{1,8}}u009[bB])[0-9;:?]{{0,24}}[A-Za-z]"
    rf"|{_ESC}\][0-9]{{1,4}};[^\x1b\x07\n\\\"]{{0,200}}(?:{_BEL}|{_ESC}\\{{1,8}})"
    rf"|{_ESC}[()][A-Z0-9]"
    r"|\[[0-9;]{1,16}m"  # a color that lost its escape character
)
# What markup, terminals and programs insert into a word, also escaped as in JSON. Every alternative begins
# with one character, so that the engine searches for those characters first, which is far faster.
_INSERTION = (
    r"</?[A-Za-z][^<>]{0,200}>"
    r"|\x1b\[[0-9;:?]{0,24}[A-Za-z]|\x1b\][0-9]{1,4};[^\x1b\x07\n]{0,200}(?:\x07|\x1b\\)"
    r"|\\u001[bB]\[[0-9;:?]{0,24}[A-Za-z]|\\u001[bB]\][0-9]{1,4};[^\\\n\"]{0,200}(?:\\u0007|\\u001[bB]\\\\)"
    r"|\\{1,3}(?:x1[bB]|033|e)\[[0-9;:?]{0,24}[A-Za-z]"
    "|\u00ad|\u200b|\u200c|\u200d|\u2060|\ufeff"
    r"|\\\\{0,3}(?:\r?\n|\\n)[ \t]*"
    r"|=(?:\r?\n|(?:\\r)?\\n)"  # a soft line break of quoted-printable
    r"|\*\*"
    r"""|\\\\{0,8}"[ \t]{0,8}[+.][ \t]{0,8}\\{0,8}"|"[ \t]*[+.][ \t]*"|'[ \t]*[+.][ \t]*'"""
)
# An insertion hides a secret only within a word, or around the sign between a name and a value.
INSERTION_TRIGGER = rf"[A-Za-z0-9_=:'\"-](?:{_INSERTION})+[A-Za-z0-9_=:'\"-]"

# ASCII characters as JSON, C, URLs, quoted-printable and HTML encode them.
_CODES = (
    r"\\{1,8}u00[2-7][0-9a-fA-F]|\\{1,8}x[2-7][0-9a-fA-F]|\\{1,8}0?(?:4[0-7]|5[0-7]|6[0-7]|7[0-7]|1[0-7]{2})(?![0-9])"
    r"|%(?:25)*[2-7][0-9A-Fa-f]|\+(?=%2[27])|=[2-7][0-9A-F]|=(?:3[ad]|2[027d]|40|5f)"
    r"|&(?:amp;)*(?:#[0-9]{2,3}|#[xX][2-7][0-9a-fA-F]|quot|apos|equals|colon|lowbar|commat|sol|nbsp|amp|lt|gt);"
)
_NAMES = r"(?i:pass(?:w(?:or)?d|phrase|code)?|pwd|secret|token|key|auth|authorization|cookie|pat|bearer|psk)"
# The sign after a name, a separator in a token, credentials of a URL, or a text that is encoded as a whole.
_SIGNS = r"(?:3[ADad]|2[0127]|25(?:3[ADad]|22))"
CODE_TRIGGER = (
    rf"{_NAMES}[A-Za-z0-9_]{{0,8}}[ \t]{{0,2}}"
    rf"(?:\\+u00{_SIGNS}|\\+x{_SIGNS}|\\+0?(?:75|72|42|47)|%{_SIGNS}|={_SIGNS}"
    r"|&(?:amp;)*(?:#(?:61|58|34|39)|#[xX](?:3[adAD]|2[27])|quot|apos|equals|colon);)"
    r"|[A-Za-z0-9](?:\\+u00(?:5[fF]|2[dD])|%(?:5[fF]|2[dD])|=(?:5F|2D)|&(?:#95|#45|lowbar);)[A-Za-z0-9]{8}"
    r"|%3[Aa]%2[Ff]%2[Ff][^\s%\"]{0,64}%3[Aa][^\s%\"]{3,128}%40"
    r"|(?:\\+u00[2-7][0-9a-fA-F]){6}|(?:\\+x[2-7][0-9a-fA-F]){6}|(?:%[2-7][0-9A-Fa-f]){6}|(?:&#[0-9]{2,3};){6}"
)

# Options and names whose value is the next argument, in a JSON list.
_TAKES_NEXT = (
    r"-{1,2}[A-Za-z-]{0,24}(?:pass|password|passwd|passphrase|token|secret|key|cookie|pat|user)|-[pubaPUw]"
    r"|(?i:bearer|authorization:)|[A-Z0-9_]{0,40}(?:KEY|TOKEN|SECRET|PASSWORD)|=|(?:add-)?authtoken"
)
_COMMA = r"""\\{0,4}["'],[ \t\n]{0,4}\\{0,4}["']"""
LIST_TRIGGER = rf"""["'](?:{_TAKES_NEXT}){_COMMA}"""

# JSON within JSON: an escaped backslash, or a character written as a code.
_NESTED = r"\\\\|\\u[0-9a-fA-F]{4}"
# The same in a message that is encoded as JSON.
NESTED_TRIGGER = r"\\{4}|\\\\u[0-9a-fA-F]{4}"
_ESCAPES = r"\\(?:[\\\"/nrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})"
_UNESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

_COMMA_RE = re.compile(_COMMA)
_TAKES_NEXT_RE = re.compile(LIST_TRIGGER)
_CONTROLS_RE = re.compile(_CONTROLS)
_INSERTIONS_RE = re.compile(_INSERTION)
# With all backslashes before it: half of an escape would be another one, or none at all.
_WHOLE_INSERTIONS_RE = re.compile(rf"\\*(?:{_INSERTION})")
_CODES_RE = re.compile(_CODES)
_LOOK_AHEAD_RE = re.compile(r"\(\?[=!](?:\[[^\]]*\]|[^()\[])*\)")  # which the prefilter does not support
_NESTED_RE = re.compile(_NESTED)
_ESCAPES_RE = re.compile(_ESCAPES)
_MAX_DECODINGS, _MAX_NESTED = 3, 4
_PRINTABLE_ASCII = range(0x20, 0x7F)


class View:
    """A text with replacements, which maps spans back to the original."""

    def __init__(self, original: str, changed: re.Pattern[str], replace: Callable[[str], str]) -> None:
        self._original = original
        self._changed = changed
        self._replace = replace
        self.text = changed.sub(lambda match: replace(match[0]), original)

    @cached_property
    def _changes(self) -> list[tuple[int, int, int, int]]:
        """Of each replacement, start and end in this text, and in the original."""
        changes = []
        shift = 0
        for match in self._changed.finditer(self._original):
            start = match.start() - shift
            end = start + len(self._replace(match[0]))
            shift = match.end() - end
            changes.append((start, end, match.start(), match.end()))
        return changes

    def in_original(self, span: Span) -> Span:
        """Map a span to the original text, without what was removed just before it."""
        start, _ = self._position(span.start)
        _, end = self._position(span.end - 1)
        return Span(start, end, span.kind, span.secret or self.text[span.start : span.end])

    def _position(self, position: int) -> tuple[int, int]:
        """Start and end of a character in the original."""
        index = bisect_right(self._changes, position, key=itemgetter(0)) - 1
        if index < 0:
            return position, position + 1
        _, end, original_start, original_end = self._changes[index]
        if position < end:
            return original_start, original_end
        start = original_end + position - end
        return start, start + 1


class _ChainedView:
    """A view of a view."""

    def __init__(self, first: View | _ChainedView, second: View | _ChainedView) -> None:
        self.text: str = second.text
        self._first, self._second = first, second

    def in_original(self, span: Span) -> Span:
        return self._first.in_original(self._second.in_original(span))


@cache
def _has_one_reading() -> Callable[[str], bool]:
    """A function that returns whether a text has no other reading, in one pass that is faster than `re`."""
    return compile_prefilter(
        [_CONTROLS, INSERTION_TRIGGER, LIST_TRIGGER, _NESTED, _LOOK_AHEAD_RE.sub("", _CODES)]
    )


@cache
def _has_no_insertions() -> Callable[[str], bool]:
    """A function that returns whether a text has no insertions in its words."""
    return compile_prefilter([INSERTION_TRIGGER])


def views(text: str) -> Iterator[View | _ChainedView]:
    """Yield every other reading of a text; most texts have none."""
    if _has_one_reading()(text):
        return
    yield from _flat_views(text)
    for unescaped in _unescaped_views(text):
        yield unescaped
        if not _has_one_reading()(unescaped.text):
            yield from (_ChainedView(unescaped, view) for view in _flat_views(unescaped.text))


def _unescaped_views(text: str) -> Iterator[View | _ChainedView]:
    """Yield a text that holds JSON within JSON, with one more level decoded each time."""
    view: View | _ChainedView | None = None
    for _ in range(_MAX_NESTED):
        if _NESTED_RE.search(text) is None:
            return
        decoded = View(text, _ESCAPES_RE, _unescaped)
        view = decoded if view is None else _ChainedView(view, decoded)
        text = view.text
        yield view


def _flat_views(text: str) -> Iterator[View | _ChainedView]:
    """Yield the other readings of a text without decoding JSON."""
    if _CONTROLS_RE.search(text) is not None:
        yield View(text, _CONTROLS_RE, _spaces)
    if not _has_no_insertions()(text):
        yield View(text, _INSERTIONS_RE, _empty)
    if _TAKES_NEXT_RE.search(text) is not None:
        yield View(text, _COMMA_RE, _space)
    if _CODES_RE.search(text) is None:
        return
    # A soft line break may be within an encoded character.
    view: View | _ChainedView = View(text, _INSERTIONS_RE, _empty)
    for _ in range(_MAX_DECODINGS):
        decoded = View(view.text, _CODES_RE, _decoded)
        if decoded.text == view.text:
            return
        view = _ChainedView(view, decoded)
        yield view


def without_insertions(text: str) -> str:
    """Remove the insertions from a text."""
    return _INSERTIONS_RE.sub("", text)


def inserted_text(text: str) -> str:
    """Return the insertions of a text, which stay when it is replaced: a tag may be closed after it."""
    return "".join(insertion[0] for insertion in _WHOLE_INSERTIONS_RE.finditer(text))


def _spaces(match: str) -> str:
    return " " * len(match)


def _space(_match: str) -> str:
    return " "


def _empty(_match: str) -> str:
    return ""


def _unescaped(escape: str) -> str:
    letter, digits = escape[1], escape[2:]
    return chr(int(digits, 16)) if letter == "u" else _UNESCAPED.get(letter, letter)


def _decoded(code: str) -> str:
    if code.startswith("&"):
        return html.unescape(code)
    if code == "+":  # a space in a query
        return " "
    digits = code.lstrip("\\ux%=")
    if code.startswith("%25"):
        return "%" + code[3:]
    is_octal = code.startswith("\\") and code.lstrip("\\")[0] not in "ux"
    number = int(digits, 8 if is_octal else 16)
    return chr(number) if number in _PRINTABLE_ASCII else code
