"""What depends on the language of a query: its stop words, and the stems of its words.

The lists and the stemmers are those of Snowball, which are part of Tantivy, whose English list is too short.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

ENGLISH = "english"
_STOP_WORD_LANGUAGES = ("german", "french", "spanish", "portuguese", "italian", "russian", "dutch", "swedish")
_RUSSIAN = "russian"
_LETTERS = {"german": "äöüß", "spanish": "ñ¿¡", "portuguese": "ãõ", "french": "çœèê", "swedish": "å"}


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


# What Snowball's lists lack.
_QUESTION_WORDS = {
    "german": _words("warum wieso weshalb wozu wann wer wen wem"),
    "french": _words("comment pourquoi combien quand quel quelle quels quelles est où"),
    "spanish": _words("cómo cuándo dónde quién quiénes cuál cuáles cuánto"),
    "portuguese": _words("porque onde quem quando qual quais quanto"),
    "italian": _words("perché quando quanto quale quali"),
    "russian": _words("почему зачем где когда кто как какой какая какие"),
}
# Also what is left of contractions: "didn't" is two words.
_ENGLISH_STOP_WORDS = _words(
    """
    a about again all also am an and any are aren as at be because been being both but by can could
    couldn d did didn do does doesn doing don done each else ever few for from had hadn has hasn have
    haven having he her here hers herself him himself his how i if in into is isn it its itself just let
    ll m many may me might more most much must my myself no nor not now of on once only or other our
    ours ourselves out over own please re s same shall she should shouldn so some still such t than that
    the their theirs them themselves then there these they this those though through to too until up us
    ve very was wasn we were weren what when where whether which while who whom whose why will with
    without won would wouldn yes yet you your yours yourself
    """
)


def detect_language(words: Sequence[str]) -> str | None:
    """Return the language that most stop words belong to; None if there are none and no telling letters.

    The words must be in lower case, with their accents.
    """
    words = list(filter(_is_valid, words))
    counts = {ENGLISH: sum(word in _ENGLISH_STOP_WORDS for word in words)}
    for language in _STOP_WORD_LANGUAGES:
        counts[language] = sum(word in words for word in stop_words(words, language))
    best = max(counts, key=lambda language: counts[language])
    if counts[best]:
        return best
    letters = set("".join(words))
    if any("\u0400" <= letter <= "\u04ff" for letter in letters):
        return _RUSSIAN
    return next((language for language, special in _LETTERS.items() if letters & set(special)), None)


def stop_words(words: Sequence[str], language: str | None) -> Collection[str]:
    """Return the words that carry no meaning of their own in a language."""
    if language is None:
        return frozenset()
    if language == ENGLISH:
        return _ENGLISH_STOP_WORDS.intersection(words)
    words = list(filter(_is_valid, words))
    questions = _QUESTION_WORDS.get(language, frozenset())
    return set(words).difference(set(_content_words(language)(" ".join(words))) - questions)


def _is_valid(word: str) -> bool:
    """Whether a word is valid Unicode without spaces; half of a character pair is not."""
    return encodable(word) == word and len(word.split()) == 1


def stems(words: Sequence[str], language: str) -> list[str]:
    """Return the stems of words, which must contain no spaces."""
    return _stemmer(language)(" ".join(words))


@cache
def _content_words(language: str) -> Callable[[str], list[str]]:
    """Return a function that splits a text and leaves out the stop words of a language."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # noqa: PLC0415 (slow to import)

    return TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.stopword(language)).build().analyze


@cache
def _stemmer(language: str) -> Callable[[str], list[str]]:
    """Return a function that splits a text and returns the stems of its words."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # noqa: PLC0415 (slow to import)

    return TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.stemmer(language)).build().analyze
