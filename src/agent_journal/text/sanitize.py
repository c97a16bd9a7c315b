"""Sanitized text: characters that move the cursor, hide text or change its order become escapes.

Everything that is printed or written for people goes through this.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `aj --help` imports neither typing nor re, which take longer than everything else
if TYPE_CHECKING:
    import re

# C0 except tab and newline, DEL, C1; invisible characters; those that change the direction of text; line and
# paragraph separators; lone surrogates, which stand for bytes of file names that are not UTF-8; tags, which
# spell invisible text.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff\ud800-\udfff"
)
# Persian and the scripts of India need joiners, and so do emoji that are sequences of several.
_JOINERS = "\u200c\u200d"
_JOINED_SCRIPTS = (
    "\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f\u08a0-\u08c9\u0900-\u0dff\u1000-\u109f"
)
_PICTURES = "\xa9\xae\u203c\u2049\u2100-\u214f\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# A selector states how the character before it is drawn: an emoji in color, an ideograph in its old form.
_SELECTORS = "\ufe00-\ufe0f"
_IDEOGRAPH_SELECTORS = "\U000e0100-\U000e01ef"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PLAIN = bytes([*b"\t\n", *range(0x20, 0x7F)])
# Patterns are strings that are compiled when they are first needed: compiling takes longer than most of a
# start.
_UNSAFE = f"[{_CONTROLS}{_INVISIBLE}]+"
_DOUBTFUL = f"[{_JOINERS}{_SELECTORS}{_IDEOGRAPH_SELECTORS}]"
_MISLEADING = f"[{_CONTROLS}{_INVISIBLE}{_JOINERS}{_SELECTORS}{_IDEOGRAPH_SELECTORS}]"
_ALONE = f"(?![{_SELECTORS}{_IDEOGRAPH_SELECTORS}])"
# Characters whose effect on their neighbors is visible.
_HARMLESS = (
    f"(?<=[{_JOINED_SCRIPTS}])[{_JOINERS}](?=[{_JOINED_SCRIPTS}])"
    f"|(?:(?<=[{_PICTURES}])|(?<=[{_PICTURES}][{_SELECTORS}]))\u200d(?=[{_PICTURES}])"
    f"|(?<=[{_PICTURES}])[{_SELECTORS}]{_ALONE}"
    "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?<=[{_IDEOGRAPHS}])[{_SELECTORS}{_IDEOGRAPH_SELECTORS}]{_ALONE}"
)


def safe(text: str) -> str:
    """The text with every character that could mislead as an escape; newlines and tabs stay."""
    return _escaped(text, _ESCAPES)


def safe_data(text: str) -> str:
    """The same with JSON escapes, so that JSON keeps its value."""
    return _escaped(text, _JSON_ESCAPES)


def _escaped(text: str, escapes: dict[str, str]) -> str:
    # Nearly all texts consist of harmless ASCII, which `translate` detects much faster than a pattern.
    rest = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if not rest:
        return text
    import re  # noqa: PLC0415

    if not re.search(_MISLEADING, rest.decode("utf-8", "surrogatepass")):
        return text

    def escape(match: re.Match[str]) -> str:
        return "".join(map(escapes.__getitem__, match[0]))

    def escape_if_misleading(match: re.Match[str]) -> str:
        is_harmless = re.compile(_HARMLESS).match(match.string, match.start())
        return match[0] if is_harmless else escapes[match[0]]

    text = re.sub(_UNSAFE, escape, text)
    return text if text.isascii() else re.sub(_DOUBTFUL, escape_if_misleading, text)


def one_line(text: str) -> str:
    """The text on one line, sanitized."""
    return safe(text).replace("\n", "\\n").replace("\t", " ")


def quoted(text: str) -> str:
    """A name in quotes, on one line."""
    return f"'{one_line(text)}'"


class _Escapes(dict[str, str]):
    """Maps a character to its escape, which is created when it is first used."""

    def __missing__(self, character: str) -> str:
        code = ord(character)
        form = "\\x{:02x}" if code < 0x100 else "\\u{:04x}" if code < 0x10000 else "\\U{:08x}"  # noqa: PLR2004
        self[character] = escape = form.format(code)
        return escape


class _JsonEscapes(dict[str, str]):
    """The same with JSON escapes, in which a character beyond U+FFFF is a pair of surrogates."""

    def __missing__(self, character: str) -> str:
        units = character.encode("utf-16-be", "surrogatepass")
        pairs = (units[at : at + 2] for at in range(0, len(units), 2))
        self[character] = escape = "".join(f"\\u{pair.hex()}" for pair in pairs)
        return escape


_ESCAPES = _Escapes({"\r": "\\r"})
_JSON_ESCAPES = _JsonEscapes({"\r": "\\r"})
