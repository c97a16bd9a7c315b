"""What an activity is called: a verb in the language of the account, then all of the prompt.

Verbs are those that real exports have. Where a language's verb is not known, the title is kept whole.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Language(NamedTuple):
    """The verbs before prompts, and beginnings of titles that are no prompts."""

    prompts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    has_bare_prompts: bool = False
    """Whether a title that begins with neither is a prompt, even without an answer."""


class Title(NamedTuple):
    """A title taken apart. `prompt` is None if it is no prompt."""

    verb: str
    prompt: str | None


_SURVEY = "Answered survey question"
_ENGLISH = Language(
    prompts=(
        *("Prompted with:", "Prompted", "Asked Gemini:", "Asked Bard:", "Submitted query"),
        *("Added chat from link:", "Live Prompt", "Branched", "Answered", "Asked", "Said"),
    ),
    others=(
        *(
            "Created",
            "Used",
            "Added",
            "Gave",
            "Selected",
            "Shared",
            "Deleted",
            "Cleared",
            "Viewed",
            "Visited",
        ),
        *("Edited", "Pinned", "Renamed", "Exported", "Updated", _SURVEY),
    ),
)
_BY_PRODUCT = {
    **dict.fromkeys(("gemini apps", "gemini", "bard"), _ENGLISH),
    "gemini-apps": Language(("Eingegebener Prompt:",)),
    "gemini アプリ": Language(("送信したメッセージ:", "送信したメッセージ：")),
    "gemini-appar": Language(("Gav instruktionen",)),
    "applications gemini": Language(("Prompt :",)),
    "gemini 앱": Language(("분기된",), has_bare_prompts=True),
}
_ANY = Language(
    prompts=(
        *_ENGLISH.prompts,
        *(verb for language in _BY_PRODUCT.values() if language is not _ENGLISH for verb in language.prompts),
        *("Fez uma pergunta", "Perguntou", "Solicitou", "Hiciste la petición", "Has dicho:"),
        *("已提示", "プロンプト:", "Υποβλήθηκε το ερώτημα"),
    ),
    has_bare_prompts=True,
)
# `Attached 2 files.`, `1 file(s) attached.`, `2 Datei(en) angehängt.`, `添付ファイル 1 件`
_ATTACHED = re.compile(
    r"(?:Attached \d+ files?\.?|\d+ files?(?:\(s\))? attached\.?"
    r"|\d+ Datei(?:en|\(en\))? angehängt\.?|添付ファイル \d+ 件)"
)
_ATTACHED_LAST = re.compile(_ATTACHED.pattern + r"\s*\Z")
_LONGEST_VERB = 40
# What the model wrote into a document of its own; the document's name follows, on pages its text below that.
_CANVAS = re.compile(r"\s*(Created\s+Gemini\s+Canvas\s+titled)(?!\S)[^\S\n]*")


def language_of(product: str | None) -> Language:
    """The language that a product's name is in."""
    return _BY_PRODUCT.get(_spaced(product or "").lower(), _ANY)


def taken_apart(title: str, language: Language, *, has_answer: bool) -> Title:
    """The verb and the prompt in a title."""
    if found := _opening(language.prompts).match(title):
        return Title(found[1], title[found.end() :].rstrip())
    start = _spaced(title[: 2 * _LONGEST_VERB])
    if any(_begins(start, other) for other in language.others):
        return Title(title, None)
    return Title("", title.strip()) if has_answer or language.has_bare_prompts else Title(title, None)


def canvas(title: str) -> Title | None:
    """What a title says of a canvas that was made, taken apart; None if it says nothing of one."""
    found = _CANVAS.match(title)
    return Title(found[1], title[found.end() :].rstrip()) if found else None


def counts_attachments(line: str) -> bool:
    """Whether a line only says how many files are attached."""
    return len(line) < 2 * _LONGEST_VERB and _ATTACHED.fullmatch(_spaced(line)) is not None


def without_count(prompt: str) -> tuple[str, str]:
    """The prompt, and the words at its end that say how many files are attached."""
    start = max(0, len(prompt) - 2 * _LONGEST_VERB)
    found = _ATTACHED_LAST.search(prompt, start)
    return (prompt[: found.start()].rstrip(), found[0].strip()) if found else (prompt, "")


def _spaced(text: str) -> str:
    """The text with single spaces, where titles also have others that do not break."""
    return " ".join(text.split())


def _begins(start: str, words: str) -> bool:
    """Whether a title begins with words of its own."""
    return start.startswith(words) and start[len(words) : len(words) + 1] in ("", " ", ":")


@cache
def _opening(verbs: tuple[str, ...]) -> re.Pattern[str]:
    """Matches one of the verbs as a word of its own, its spaces whichever they are."""
    return re.compile(rf"(?!\s*{_pattern(_SURVEY)})\s*({'|'.join(map(_pattern, verbs))})\s*")


def _pattern(verb: str) -> str:
    words = r"\s+".join(map(re.escape, verb.split(" ")))
    return words if verb.endswith(":") or not verb[-1].isascii() else rf"{words}(?![^\s:])"
