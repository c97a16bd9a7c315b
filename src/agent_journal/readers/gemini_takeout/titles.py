"""Titles of activities: a verb in the language of the account, then the whole prompt.

The verbs are those of real exports. If a language's verb is unknown, the title stays complete.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Language(NamedTuple):
    """The verbs before prompts, and the beginnings of titles that are not prompts."""

    prompts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    has_bare_prompts: bool = False
    """Whether a title that begins with neither is a prompt, even without an answer."""


class Title(NamedTuple):
    """A title in two parts; `prompt` is None if the activity is not a prompt."""

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
_UNKNOWN_LANGUAGE = Language(
    prompts=(
        *_ENGLISH.prompts,
        *(verb for language in _BY_PRODUCT.values() if language is not _ENGLISH for verb in language.prompts),
        *("Fez uma pergunta", "Perguntou", "Solicitou", "Hiciste la petición", "Has dicho:"),
        *("已提示", "プロンプト:", "Υποβλήθηκε το ερώτημα"),
    ),
    has_bare_prompts=True,
)
# `Attached 2 files.`, `1 file(s) attached.`, `2 Datei(en) angehängt.`, `添付ファイル 1 件`
_ATTACHMENT_COUNT = re.compile(
    r"(?:Attached \d+ files?\.?|\d+ files?(?:\(s\))? attached\.?"
    r"|\d+ Datei(?:en|\(en\))? angehängt\.?|添付ファイル \d+ 件)"
)
_ATTACHMENT_COUNT_AT_END = re.compile(_ATTACHMENT_COUNT.pattern + r"\s*\Z")
_MAX_VERB_CHARS = 40
# A document that the model wrote; its name follows, and on pages its text is below the name.
_CANVAS = re.compile(r"\s*(Created\s+Gemini\s+Canvas\s+titled)(?!\S)[^\S\n]*")


def language_of(product: str | None) -> Language:
    """Get the language of a product's name."""
    return _BY_PRODUCT.get(_with_single_spaces(product or "").lower(), _UNKNOWN_LANGUAGE)


def split_title(title: str, language: Language, *, has_answer: bool) -> Title:
    """Split a title into verb and prompt."""
    if match := _verb_pattern(language.prompts).match(title):
        return Title(match[1], title[match.end() :].rstrip())
    start = _with_single_spaces(title[: 2 * _MAX_VERB_CHARS])
    if any(_begins_with(start, other) for other in language.others):
        return Title(title, None)
    return Title("", title.strip()) if has_answer or language.has_bare_prompts else Title(title, None)


def canvas(title: str) -> Title | None:
    """Split the title of a new canvas; None if the title is not one."""
    match = _CANVAS.match(title)
    return Title(match[1], title[match.end() :].rstrip()) if match else None


def counts_attachments(line: str) -> bool:
    """Whether a line only states how many files are attached."""
    return (
        len(line) < 2 * _MAX_VERB_CHARS and _ATTACHMENT_COUNT.fullmatch(_with_single_spaces(line)) is not None
    )


def without_count(prompt: str) -> tuple[str, str]:
    """Split the number of attached files off the end of a prompt."""
    start = max(0, len(prompt) - 2 * _MAX_VERB_CHARS)
    match = _ATTACHMENT_COUNT_AT_END.search(prompt, start)
    return (prompt[: match.start()].rstrip(), match[0].strip()) if match else (prompt, "")


def _with_single_spaces(text: str) -> str:
    """Replace all white space by single spaces; titles also have non-breaking ones."""
    return " ".join(text.split())


def _begins_with(start: str, phrase: str) -> bool:
    """Whether a title begins with a phrase, followed by the end, a space or a colon."""
    return start.startswith(phrase) and start[len(phrase) : len(phrase) + 1] in ("", " ", ":")


@cache
def _verb_pattern(verbs: tuple[str, ...]) -> re.Pattern[str]:
    """Make a pattern that matches one of the verbs as a separate word, with any white space."""
    return re.compile(rf"(?!\s*{_pattern(_SURVEY)})\s*({'|'.join(map(_pattern, verbs))})\s*")


def _pattern(verb: str) -> str:
    escaped = r"\s+".join(map(re.escape, verb.split(" ")))
    return escaped if verb.endswith(":") or not verb[-1].isascii() else rf"{escaped}(?![^\s:])"
