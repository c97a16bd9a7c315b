"""Split texts into words for the index: in lower case, without accents, separated by spaces.

Words are runs of letters and digits, so `parse_http_header`, `src/http/header.py` and `http.header` are found
by their parts anyway. Four things need more:

* `parseHttpHeader` is one word: its camelCase parts are appended to the text as words of their own.
* Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese have no spaces between words: their characters are
  indexed in pairs, in place.
* Nobody searches for the words of Base64 and similar data: only the first characters of such a run are
  indexed, and of overlong words. The same is done to queries, so that a pasted key or hash is found.
* A terminal color sequence ends with a letter that touches the next word: it is replaced by spaces.

There are hundreds of megabytes of text, so a few passes in C do most of the work; Python handles the rest.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# A letter that nobody uses. It separates the parts of two names, so that no phrase matches across them.
GAP = "ꙮ"

_MIN_BLOB_CHARS = 256  # in a row that could be Base64: no word or path is as long
_MIN_WRAPPED_CHARS = 56  # per line of Base64 that is broken into lines; all lines have the same length
_BLOB_HEAD_CHARS = 64  # that are indexed
_MAX_CAMEL_PARTS = 10  # of a name; a random string has more
_MAX_WORD_CHARS = 71  # so that a SHA-256 with a short prefix is a word

_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"


def _classes(*classes: tuple[bytes, bytes]) -> bytes:
    """Return a table that maps all bytes of a class to one letter, and the others to spaces."""
    table = bytearray(b" " * 256)
    for letter, members in classes:
        for member in members:
            table[member] = letter[0]
    return bytes(table)


_BLOB_CLASS = _classes((b"x", _UPPER + _LOWER + _DIGITS + b"+/=_-"))
_CASE_CLASS = _classes((b"A", _UPPER), (b"a", _LOWER), (b"0", _DIGITS))
_ASCII = bytes(range(128))
# Lower case, and spaces between words. Characters outside ASCII take several bytes, which stay.
_WORD_CLASS = bytes(
    byte + 32 if byte in _UPPER else byte if byte in _LOWER + _DIGITS or byte not in _ASCII else 32
    for byte in range(256)
)
_LONG_LINE = b"x" * _MIN_WRAPPED_CHARS
_BLOBS = re.compile(
    rf"([A-Za-z0-9+/=_-]{{{_BLOB_HEAD_CHARS}}})[A-Za-z0-9+/=_-]{{{_MIN_BLOB_CHARS - _BLOB_HEAD_CHARS},}}"
    rf"|([A-Za-z0-9+/]{{{_MIN_WRAPPED_CHARS}}})[A-Za-z0-9+/]*+"
    rf"(?:(?:\\r|\r)?(?:\\n|\n)[A-Za-z0-9+/]{{{_MIN_WRAPPED_CHARS},}}+){{3,}}+"
    r"(?:(?:\\r|\r)?(?:\\n|\n)[A-Za-z0-9+/=]++)?"
)
_LINES = re.compile(r"(?:\\r|\r)?(?:\\n|\n)")
_TERMINAL_COLORS = re.compile("\x1b\\[[0-?]*+[ -/]*+[@-~]")
_LINE = re.compile(r"(?<=\w)(?::\d+){1,2}:?$")
_VERSION = re.compile(r"\W*(v?)([0-9]+\.[0-9].*)", re.IGNORECASE | re.DOTALL)
_TOO_LONG = re.compile(rf"([A-Za-z0-9]{{{_MAX_WORD_CHARS}}})[A-Za-z0-9]++")
_CAMEL_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
# Thai, Lao, Burmese, Khmer with their vowels and tones; Han, kana, bopomofo, hangul, and their half widths;
# marks that repeat or lengthen belong to the word.
_PAIRED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3"
    "\u17d7\u17dc\u17dd"
    "\u3005-\u3007\u3031-\u3035\u303b-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)
# All bytes but those that such a character begins with in UTF-8; few other characters begin with these.
_UNPAIRED_BYTES = bytes(set(range(256)) - {0xE0, 0xE1, *range(0xE3, 0xEE), 0xEF, 0xF0})
_INVISIBLE = "\u00ad\u2060"  # soft hyphen (visible only at the end of a line) and word joiner
# Combining accents, the points of Hebrew, the vowels and elongation of Arabic, emoji variation selectors, and
# invisible characters within a word.
_IGNORED_SIGN = re.compile(
    f"[{_INVISIBLE}\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u20d0-\u20f0\ufe00-\ufe0f]"
)
# Letters of Arabic and Persian that people and keyboards use interchangeably.
_LETTER_VARIANTS = dict(zip("أإآٱىیةک", "ااااييهك", strict=True))
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")


def prepare(text: str) -> list[str]:
    """Return the words of a text separated by spaces, and the camelCase parts of its names, if any."""
    text = blank_terminal_colors(text)
    raw = text.encode("utf-8", "replace")
    if not text.isascii():
        text = _decode_composed(raw)
        if raw.translate(None, _UNPAIRED_BYTES):
            text = _PAIRED.sub(_pairs, text)
        raw = text.encode()
    if _LONG_LINE in raw.translate(_BLOB_CLASS):
        text = _shorten_blobs(text)
        raw = text.encode()
    parts = _camel_parts_in(raw)
    if not text.isascii():
        raw = _in_ascii(text).encode()
    words = raw.translate(_WORD_CLASS).decode()
    return [words, parts] if parts else [words]


def blank_terminal_colors(text: str) -> str:
    """Replace terminal color sequences by as many spaces."""
    return _TERMINAL_COLORS.sub(lambda match: " " * len(match[0]), text) if "\x1b" in text else text


def normalize(text: str) -> str:
    """Normalize characters as the index does, without splitting words, which takes longer."""
    return _in_ascii(text if text.isascii() else _decode_composed(text.encode("utf-8", "replace"))).lower()


def split_words(text: str) -> list[str]:
    """Split a query into words as the index has them."""
    return _in_ascii(_shorten_blobs(text)).encode().translate(_WORD_CLASS).decode().split()


def _in_ascii(text: str) -> str:
    """Replace characters outside ASCII by what the index maps them to (`fold_character`)."""
    characters = non_ascii_chars(text)
    if len(characters) > MAX_REPLACED_CHARS:
        return text.translate(_FOLDED_CHARACTERS)
    for character in characters:
        text = text.replace(character, _FOLDED_CHARACTERS[ord(character)])
    return text


class _FoldedCharacters(dict[int, str]):
    """Maps code points to their folded form: in lower case and without accents."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if _IGNORED_SIGN.match(character):
            character = ""
        elif not (character.isascii() or is_paired(character) or is_mark(character)):
            # The x on both sides shows whether it belongs to a word. In lower case the dot of a Turkish İ is
            # a separate accent.
            character = _without_accents(" ".join(_analyze()(f"x{character}x"))[1:-1].replace("\u0307", ""))
        self[number] = character
        return character


_FOLDED_CHARACTERS = _FoldedCharacters()


def is_mark(character: str) -> bool:
    """Whether a character belongs to the letter before it: vowels, tones, accents, consonant joiners."""
    return not character.isascii() and (unicodedata.category(character)[0] == "M" or is_invisible(character))


def is_invisible(character: str) -> bool:
    """Whether a character is invisible within a word."""
    return character in _INVISIBLE


def fold_character(character: str) -> str:
    """Return what the index maps a character to: a letter or two, a space, or nothing."""
    return _FOLDED_CHARACTERS[ord(character)]


def _without_accents(letter: str) -> str:
    """Return a lower-case Greek, Cyrillic or Arabic letter without what people leave out when they type.

    That is accents and the final form. A short и (й) is not an и with an accent.
    """
    letter = _LETTER_VARIANTS.get(letter, letter)
    if not (_GREEK.match(letter) or letter == "ё"):
        return letter
    return unicodedata.normalize("NFD", letter)[0].replace("ς", "σ")


MAX_REPLACED_CHARS = 16  # replaced one by one; for more, all characters of a text are translated


def non_ascii_chars(text: str) -> set[str]:
    """Return the different characters of a text that are not ASCII."""
    raw = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return set(raw.decode("utf-8", "surrogatepass"))


@cache
def _analyze() -> Callable[[str], list[str]]:
    """Return Tantivy's analyzer, which splits and folds text. It is slow, so it sees each character once."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # noqa: PLC0415 (slow to import)

    builder = TextAnalyzerBuilder(Tokenizer.simple())
    return builder.filter(Filter.lowercase()).filter(Filter.ascii_fold()).build().analyze


def _decode_composed(raw: bytes) -> str:
    """Decode a text, with accents composed so that the index can fold them."""
    return compose(raw.decode())


def compose(text: str) -> str:
    """Compose letters with their accents; in names of files on a Mac they are two characters."""
    is_composed = text.isascii() or unicodedata.is_normalized("NFC", text)
    return text if is_composed else unicodedata.normalize("NFC", text)


def _pairs(run: re.Match[str]) -> str:
    """Return pairs of characters, then the last one: `abc` is `ab bc c`, so that each begins a word."""
    characters = run[0]
    return f" {' '.join(map(operator.add, characters, characters[1:]))} {characters[-1]} "


def pair_query_characters(text: str) -> str:
    """Pair characters of a query: the last one does not stand alone, as others may follow it in texts."""
    return _PAIRED.sub(_query_pairs, _decode_composed(text.encode("utf-8", "replace")))


def _query_pairs(run: re.Match[str]) -> str:
    if len(run[0]) > 1 and not any(map(str.isalnum, run.string[run.end() :])):
        return f" {' '.join(map(operator.add, run[0], run[0][1:]))} "
    return _pairs(run)


def is_lone_character(word: str) -> bool:
    """Whether a word is a single paired character: it is found as the beginning of pairs."""
    return len(word) == 1 and is_paired(word)


def is_paired(character: str) -> bool:
    """Whether a character is indexed in pairs."""
    return character > "\u0e00" and _PAIRED.match(character) is not None


def _shorten_blobs(text: str) -> str:
    """Shorten what looks like Base64, and overlong words."""
    return _TOO_LONG.sub(r"\1", _BLOBS.sub(_shorten_blob, text))


def _shorten_blob(blob: re.Match[str]) -> str:
    return f"{blob[1] or blob[2]} " if _is_blob(blob) else blob[0]


def _is_blob(match: re.Match[str]) -> bool:
    """Whether it really is Base64: its lines have the same width, unlike a list of folders."""
    if match[2] is None:
        return True
    first, *others, last = map(len, _LINES.split(match[0]))
    # The first line may begin with the n of an escaped line break.
    return len(set(others)) == 1 and max(first - 1, last) <= others[0]


def _camel_parts_in(raw: bytes) -> str:
    """Return the camelCase parts of all different names in a text, separated by `GAP`."""
    classes = raw.translate(_CASE_CLASS)
    names: dict[bytes, None] = {}  # in the order of the text
    # dropTable, HTTPServer, base64Encoder; but no times such as 2001T07. The first two letters are found
    # faster, and most texts have none.
    for beginning, case_change in ((b"aA", b"aA"), (b"AA", b"AAa"), (b"0A", b"0Aa")):
        at = classes.find(beginning)
        if at >= 0:
            at = classes.find(case_change, at)
        while at >= 0:
            end = classes.find(b" ", at)
            if end < 0:
                end = len(raw)
            names[raw[classes.rfind(b" ", 0, at) + 1 : end]] = None
            at = classes.find(case_change, end)
    return GAP.join(map(_cached_camel_parts, names)) if names else ""


class _CamelPartsCache(dict[bytes, str]):
    """The camelCase parts of known names; the same few thousand occur again and again."""

    _MAX_NAMES = 50_000

    def __missing__(self, name: bytes) -> str:
        if len(self) >= self._MAX_NAMES:
            self.clear()
        parts = camel_parts(name.decode("ascii")) if len(name) < _BLOB_HEAD_CHARS else []
        joined = self[name] = f" {' '.join(parts)} ".lower() if len(parts) <= _MAX_CAMEL_PARTS else " "
        return joined


_cached_camel_parts = _CamelPartsCache().__getitem__


def strip_line_number(path: str) -> str:
    """Strip line and column: `src/a.py` from `src/a.py:12:5`."""
    return _LINE.sub("", path)


def toggle_version_prefix(text: str) -> str:
    """Add the v in front of a version or remove it: `v2.0.1` for `2.0.1`; `""` if it is no version."""
    match = _VERSION.fullmatch(text)
    return "" if match is None else match[2] if match[1] else f"v{match[2]}"


def camel_parts(name: str) -> list[str]:
    """Return the parts of a camelCase name: `parseHTTPHeader2` is `parse`, `HTTP`, `Header2`."""
    return _CAMEL_PARTS.findall(name)


def strip_blobs(text: str) -> str:
    """Remove what looks like Base64 from a text, which must be valid Unicode."""
    if _LONG_LINE in text.encode().translate(_BLOB_CLASS):
        return _BLOBS.sub(lambda match: " " if _is_blob(match) else match[0], text)
    return text
