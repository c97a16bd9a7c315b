"""Distinguish words of a language from typos.

The word lists are in the wheel of pyspellchecker; its code is not needed and not imported.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = "pyspellchecker"
_CODES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "portuguese": "pt",
    "italian": "it",
    "russian": "ru",
    "dutch": "nl",
}


def is_word(word: str, language: str) -> bool:
    """Whether a word, in lower case, is in the dictionary of a language; False if there is none."""
    return word in _words(_CODES.get(language, ""))


@cache
def _words(code: str) -> frozenset[str]:
    import gzip  # noqa: PLC0415 (rarely needed)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (slow to import)

    import msgspec  # noqa: PLC0415

    try:
        path = Path(str(distribution(_PACKAGE).locate_file(f"spellchecker/resources/{code}.json.gz")))
        counts = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=dict[str, int])
    except (PackageNotFoundError, OSError, EOFError, msgspec.MsgspecError):
        return frozenset()
    return frozenset(counts)
