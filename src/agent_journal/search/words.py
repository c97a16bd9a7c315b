"""What of a text goes into the index: its words, in lower case and without accents, between blanks.

Words are what letters and digits make between anything else, so `parse_http_header`, `src/http/header.py` and
`http.header` are found by their parts already. Four things are not, and are prepared here:

* `parseHttpHeader` is one word: its humps are told as words of their own, behind the text.
* Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese have no gaps between words: their characters are
  told in pairs, in place.
* Base64 and the like have words that nobody looks for: only the head of such a run is kept, and of words
  that are longer than any. Of what is looked for, too, so that a key or a hash is found as it is pasted.
* What colours a terminal ends with a letter that touches the next word: it is taken for blanks.

Texts come by the hundred megabytes: all is done by a few passes of C over a text, Python sees what is odd.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Between the humps of two names, so that they are no neighbours to a phrase: a letter that nobody writes.
GAP = "ꙮ"

_BLOB = 256  # characters in a row that could be base64: no word or path is as long
_WRAPPED = (
    56  # characters of a line of it at least, where it is broken into lines; they are all of one length
)
_HEAD = 64  # characters of it that are kept
_MOST_HUMPS = 10  # of a name; what has more is a random string
_LONGEST_WORD = 71  # letters, so that a SHA-256 is a word

_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"


def _classes(*classes: tuple[bytes, bytes]) -> bytes:
    """A table that makes one letter of all bytes of a class, and blanks of the others."""
    table = bytearray(b" " * 256)
    for letter, members in classes:
        for member in members:
            table[member] = letter[0]
    return bytes(table)


_BLOB_CLASS = _classes((b"x", _UPPER + _LOWER + _DIGITS + b"+/=_-"))
_HUMP_CLASS = _classes((b"A", _UPPER), (b"a", _LOWER), (b"0", _DIGITS))
_ASCII = bytes(range(128))
# Lower case, and blanks between words. What is not ASCII is in more than one byte, and stays.
_WORD_CLASS = bytes(
    byte + 32 if byte in _UPPER else byte if byte in _LOWER + _DIGITS or byte not in _ASCII else 32
    for byte in range(256)
)
_LONG_LINE = b"x" * _WRAPPED
_BLOBS = re.compile(
    rf"([A-Za-z0-9+/=_-]{{{_HEAD}}})[A-Za-z0-9+/=_-]{{{_BLOB - _HEAD},}}"
    rf"|([A-Za-z0-9+/]{{{_WRAPPED}}})[A-Za-z0-9+/]*+"
    rf"(?:(?:\\r|\r)?(?:\\n|\n)[A-Za-z0-9+/]{{{_WRAPPED},}}+){{3,}}+"
    r"(?:(?:\\r|\r)?(?:\\n|\n)[A-Za-z0-9+/=]++)?"
)
_LINES = re.compile(r"(?:\\r|\r)?(?:\\n|\n)")
_COLOURS = re.compile("\x1b\\[[0-?]*+[ -/]*+[@-~]")
_LINE = re.compile(r"(?<=\w)(?::\d+){1,2}:?$")
_VERSION = re.compile(r"\W*(v?)([0-9]+\.[0-9].*)", re.IGNORECASE | re.DOTALL)
_TOO_LONG = re.compile(rf"([A-Za-z0-9]{{{_LONGEST_WORD}}})[A-Za-z0-9]++")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
# Thai, Lao, Burmese, Khmer with their vowels and tones; Han, kana, bopomofo, hangul, and their half widths;
# marks that repeat or lengthen belong to the word.
_PAIRED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3"
    "\u17d7\u17dc\u17dd"
    "\u3005-\u3007\u3031-\u3035\u303b-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)
# What one of them begins with in UTF-8; not many other characters begin so.
_NEVER_PAIRED = bytes(set(range(256)) - {0xE0, 0xE1, *range(0xE3, 0xEE), 0xEF, 0xF0})
_UNSEEN = "\u00ad\u2060"  # soft hyphens, seen only where a line ends, and what keeps a line from ending
# Accents that no letter comes with, the points of Hebrew, the vowels of Arabic and what lengthens its lines,
# what makes pictures of signs, and what nobody sees within a word.
_SIGN = re.compile(
    f"[{_UNSEEN}\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u20d0-\u20f0\ufe00-\ufe0f]"
)
# Letters of Arabic and Persian that people, and keyboards, write for each other.
_ALIKE = dict(zip("أإآٱىیةک", "ااااييهك", strict=True))
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")


def prepared(text: str) -> list[str]:
    """The words of a text with blanks between them, and behind it the humps of names in it, if any."""
    text = without_colours(text)
    raw = text.encode("utf-8", "replace")
    if not text.isascii():
        text = _folded(raw)
        if raw.translate(None, _NEVER_PAIRED):
            text = _PAIRED.sub(_pairs, text)
        raw = text.encode()
    if _LONG_LINE in raw.translate(_BLOB_CLASS):
        text = _with_heads(text)
        raw = text.encode()
    humps = _humps_within(raw)
    if not text.isascii():
        raw = _in_ascii(text).encode()
    words = raw.translate(_WORD_CLASS).decode()
    return [words, humps] if humps else [words]


def without_colours(text: str) -> str:
    """A text with as many blanks instead of what colours a terminal."""
    return _COLOURS.sub(lambda found: " " * len(found[0]), text) if "\x1b" in text else text


def flat(text: str) -> str:
    """A text in which each of its words stands as the index has it, but not by itself: that takes longer."""
    return _in_ascii(text if text.isascii() else _folded(text.encode("utf-8", "replace"))).lower()


def cut(text: str) -> list[str]:
    """The words of what is looked for, which the index has as they are."""
    return _in_ascii(_with_heads(text)).encode().translate(_WORD_CLASS).decode().split()


def _in_ascii(text: str) -> str:
    """A text whose other characters are what the index takes them for (`in_index`)."""
    odd = odd_letters(text)
    if len(odd) > FEW:
        return text.translate(_KNOWN_CHARACTERS)
    for character in odd:
        text = text.replace(character, _KNOWN_CHARACTERS[ord(character)])
    return text


class _Characters(dict[int, str]):
    """What the index takes characters for, each by itself: in lower case, and without accents."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if _SIGN.match(character):
            character = ""
        elif not (character.isascii() or is_paired(character) or is_mark(character)):
            # Between two letters it shows whether it belongs to a word. In lower case the dot of a Turkish İ
            # is an accent of its own.
            character = _bare(" ".join(_analyze()(f"x{character}x"))[1:-1].replace("\u0307", ""))
        self[number] = character
        return character


_KNOWN_CHARACTERS = _Characters()


def is_mark(character: str) -> bool:
    """Whether a character belongs to the letter before it: vowels, tones, accents, what joins consonants."""
    return not character.isascii() and (unicodedata.category(character)[0] == "M" or is_unseen(character))


def is_unseen(character: str) -> bool:
    """Whether a character may stand within a word where nobody sees it."""
    return character in _UNSEEN


def in_index(character: str) -> str:
    """What the index takes a character for: a letter or two, a blank, or nothing."""
    return _KNOWN_CHARACTERS[ord(character)]


def _bare(letter: str) -> str:
    """A lower-case letter of Greek, Cyrillic or Arabic without what people leave out.

    That is accents, and the form at an end. A short и is no и with an accent.
    """
    letter = _ALIKE.get(letter, letter)
    if not (_GREEK.match(letter) or letter == "ё"):
        return letter
    return unicodedata.normalize("NFD", letter)[0].replace("ς", "σ")


FEW = 16  # characters that are sought one by one; for more of them a text is gone through letter by letter


def odd_letters(text: str) -> set[str]:
    """The characters of a text that are not ASCII."""
    raw = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return set(raw.decode("utf-8", "surrogatepass"))


@cache
def _analyze() -> Callable[[str], list[str]]:
    """Cuts a text into runs of letters and digits, folded. It takes long for each of them."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # noqa: PLC0415 (slow to import)

    builder = TextAnalyzerBuilder(Tokenizer.simple())
    return builder.filter(Filter.lowercase()).filter(Filter.ascii_fold()).build().analyze


def _folded(raw: bytes) -> str:
    """A text with accents where the index can fold them."""
    return composed(raw.decode())


def composed(text: str) -> str:
    """A text in which a letter and its accent are one character; in names of files on a Mac they are two."""
    is_so = text.isascii() or unicodedata.is_normalized("NFC", text)
    return text if is_so else unicodedata.normalize("NFC", text)


def _pairs(run: re.Match[str]) -> str:
    """Each character with the next, then the last one: `abc` is `ab bc c`, so that each begins a word."""
    characters = run[0]
    return f" {' '.join(map(operator.add, characters, characters[1:]))} {characters[-1]} "


def sought(text: str) -> str:
    """The same for what is looked for: the last character does not stand alone, as more may follow it."""
    return _PAIRED.sub(_pairs_sought, _folded(text.encode("utf-8", "replace")))


def _pairs_sought(run: re.Match[str]) -> str:
    if len(run[0]) > 1 and not any(map(str.isalnum, run.string[run.end() :])):
        return f" {' '.join(map(operator.add, run[0], run[0][1:]))} "
    return _pairs(run)


def is_single(word: str) -> bool:
    """Whether a word is one of the characters told in pairs: it is found by the pairs that it begins."""
    return len(word) == 1 and is_paired(word)


def is_paired(character: str) -> bool:
    """Whether a character is told in pairs."""
    return character > "\u0e00" and _PAIRED.match(character) is not None


def _with_heads(text: str) -> str:
    """A text with the heads alone of what looks like base64, and of words that are too long."""
    return _TOO_LONG.sub(r"\1", _BLOBS.sub(_head, text))


def _head(blob: re.Match[str]) -> str:
    return f"{blob[1] or blob[2]} " if _is_blob(blob) else blob[0]


def _is_blob(found: re.Match[str]) -> bool:
    """Whether what looks like base64 is some: in lines it is of one width, which a list of folders is not."""
    if found[2] is None:
        return True
    first, *others, last = map(len, _LINES.split(found[0]))
    # Before the first line may stand the n of a line break that was escaped.
    return len(set(others)) == 1 and max(first - 1, last) <= others[0]


def _humps_within(raw: bytes) -> str:
    """The humps of all different names in a text, each name's apart from the others'."""
    classes = raw.translate(_HUMP_CLASS)
    names: dict[bytes, None] = {}  # in the order of the text
    # dropTable, HTTPServer, base64Encoder; no times as 2001T07. What a hump begins with is found faster, and
    # most texts have none such.
    for beginning, hump in ((b"aA", b"aA"), (b"AA", b"AAa"), (b"0A", b"0Aa")):
        at = classes.find(beginning)
        if at >= 0:
            at = classes.find(hump, at)
        while at >= 0:
            end = classes.find(b" ", at)
            if end < 0:
                end = len(raw)
            names[raw[classes.rfind(b" ", 0, at) + 1 : end]] = None
            at = classes.find(hump, end)
    return GAP.join(map(_known_humps, names)) if names else ""


class _Humps(dict[bytes, str]):
    """The humps of names that were met; the same few thousand come again and again."""

    _MOST = 50_000

    def __missing__(self, name: bytes) -> str:
        if len(self) >= self._MOST:
            self.clear()
        humps = humps_of(name.decode("ascii")) if len(name) < _HEAD else []
        known = self[name] = f" {' '.join(humps)} ".lower() if len(humps) <= _MOST_HUMPS else " "
        return known


_known_humps = _Humps().__getitem__


def without_line(place: str) -> str:
    """A place in a file without line and column: `src/a.py` of `src/a.py:12:5`."""
    return _LINE.sub("", place)


def other_version(text: str) -> str:
    """A version with the v that may stand before it, or without it: `v2.0.1` of `2.0.1`; else nothing."""
    found = _VERSION.fullmatch(text)
    return "" if found is None else found[2] if found[1] else f"v{found[2]}"


def humps_of(name: str) -> list[str]:
    """The parts of a name in camel case: `parseHTTPHeader2` is `parse`, `HTTP`, `Header2`."""
    return _HUMPS.findall(name)


def without_blobs(text: str) -> str:
    """A text without what looks like base64; it must be valid Unicode."""
    if _LONG_LINE in text.encode().translate(_BLOB_CLASS):
        return _BLOBS.sub(lambda found: " " if _is_blob(found) else found[0], text)
    return text
