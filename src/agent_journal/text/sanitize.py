"""Text as people may read it: no character in it moves a cursor, hides something or changes the order.

Whatever prints or writes for people shows such characters as escapes.
"""

from __future__ import annotations

TYPE_CHECKING = False  # asking for help imports neither typing nor re: they take longer than the rest
if TYPE_CHECKING:
    import re

# C0 without tab and newline, DEL, C1; what is invisible; what reorders; what separates lines and paragraphs;
# halves of characters, as names of files that are no UTF-8 have them; tags, which spell text that none sees.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_INVISIBLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff\ud800-\udfff"
)
# Persian and the scripts of India are not written without joiners, and families of emoji are joined by one.
_JOINERS = "\u200c\u200d"
_JOINED_SCRIPTS = (
    "\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f\u08a0-\u08c9\u0900-\u0dff\u1000-\u109f"
)
_PICTURES = "\xa9\xae\u203c\u2049\u2100-\u214f\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# One selector says how the character before it is drawn: an emoji in colour, an ideograph in its old form.
_SELECTORS = "\ufe00-\ufe0f"
_OF_IDEOGRAPHS = "\U000e0100-\U000e01ef"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PLAIN = bytes([*b"\t\n", *range(0x20, 0x7F)])
# Patterns as text: each is compiled when it is first needed, as that takes longer than most of a start.
_UNSAFE = f"[{_CONTROLS}{_INVISIBLE}]+"
_DOUBTFUL = f"[{_JOINERS}{_SELECTORS}{_OF_IDEOGRAPHS}]"
_MISLEADING = f"[{_CONTROLS}{_INVISIBLE}{_JOINERS}{_SELECTORS}{_OF_IDEOGRAPHS}]"
_ALONE = f"(?![{_SELECTORS}{_OF_IDEOGRAPHS}])"
# Characters that are seen by what they do to those around them.
_HARMLESS = (
    f"(?<=[{_JOINED_SCRIPTS}])[{_JOINERS}](?=[{_JOINED_SCRIPTS}])"
    f"|(?:(?<=[{_PICTURES}])|(?<=[{_PICTURES}][{_SELECTORS}]))\u200d(?=[{_PICTURES}])"
    f"|(?<=[{_PICTURES}])[{_SELECTORS}]{_ALONE}"
    "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?<=[{_IDEOGRAPHS}])[{_SELECTORS}{_OF_IDEOGRAPHS}]{_ALONE}"
)


def safe(text: str) -> str:
    """The text with every character that could mislead shown as an escape; lines and tabs stay."""
    return _escaped(text, _ESCAPES)


def safe_data(text: str) -> str:
    """The same with escapes as JSON has them: what was JSON stays the same JSON."""
    return _escaped(text, _JSON_ESCAPES)


def _escaped(text: str, escapes: dict[str, str]) -> str:
    # Looking at each character takes longer than all else: most are the same few.
    rest = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if not rest:
        return text
    import re  # noqa: PLC0415

    if not re.search(_MISLEADING, rest.decode("utf-8", "surrogatepass")):
        return text

    def shown(match: re.Match[str]) -> str:
        return "".join(map(escapes.__getitem__, match[0]))

    def shown_if_doubtful(match: re.Match[str]) -> str:
        harmless = re.compile(_HARMLESS).match(match.string, match.start())
        return match[0] if harmless else escapes[match[0]]

    text = re.sub(_UNSAFE, shown, text)
    return text if text.isascii() else re.sub(_DOUBTFUL, shown_if_doubtful, text)


def one_line(text: str) -> str:
    """The text on one line, safe."""
    return safe(text).replace("\n", "\\n").replace("\t", " ")


def quoted(text: str) -> str:
    """A name in quotes, on one line."""
    return f"'{one_line(text)}'"


class _Escapes(dict[str, str]):
    """Each character as an escape, made when it is first met."""

    def __missing__(self, character: str) -> str:
        code = ord(character)
        form = "\\x{:02x}" if code < 0x100 else "\\u{:04x}" if code < 0x10000 else "\\U{:08x}"  # noqa: PLR2004
        self[character] = escape = form.format(code)
        return escape


class _JsonEscapes(dict[str, str]):
    """The same as JSON has it: a character beyond the first 65,536 is two."""

    def __missing__(self, character: str) -> str:
        units = character.encode("utf-16-be", "surrogatepass")
        pairs = (units[at : at + 2] for at in range(0, len(units), 2))
        self[character] = escape = "".join(f"\\u{pair.hex()}" for pair in pairs)
        return escape


_ESCAPES = _Escapes({"\r": "\\r"})
_JSON_ESCAPES = _JsonEscapes({"\r": "\\r"})
