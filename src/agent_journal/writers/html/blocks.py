"""Blocks of text that keep their form: code, what a program printed, values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import tree
from agent_journal.text import describe
from agent_journal.writers.html.diffs import diff, is_diff
from agent_journal.writers.html.markup import PLACE, Markup, Pattern, element, joined
from agent_journal.writers.html.terminal import screen

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLOCK = Pattern(element("pre", "", element("code", "", PLACE)))
_IN_LANGUAGE = Pattern(element("pre", {"data-lang": PLACE}, element("code", "", PLACE)))
_MARKS = re.compile(r"\*\*|`+|^#+ ")
_LINKS = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\)|\Z)")
_SUFFIX = re.compile(r"\.([A-Za-z0-9+#]{1,12})\Z")


def block(shown: str, language: str | None = None) -> Markup:
    """Text in its form; its language, if one is known, is told and coloured by the page."""
    return _IN_LANGUAGE(language, shown) if language else _BLOCK(shown)


def printed(output: str) -> Markup:
    """What a program printed on a terminal."""
    return element("pre", "terminal", screen(output))


def answered(output: str, language: str | None) -> Markup:
    """What a tool answered, in the form that it seems to have."""
    if is_diff(output):
        return diff(output)
    if "\x1b[" in output:
        return printed(output)
    if language is None and output[:1] in {"{", "["} and output.rstrip()[-1:] in {"}", "]"}:
        language = "json"
    return block(output, language)


def value(told: Any) -> Markup:
    """A value of any kind: text as it is, anything else as JSON."""
    if isinstance(told, str):
        return answered(told, None)
    try:
        made = msgspec.json.format(msgspec.json.encode(told), indent=2).decode()
    except (RecursionError, msgspec.EncodeError, msgspec.DecodeError, UnicodeError, TypeError, OverflowError):
        made = describe.compact(told)
    return block(made, "json")


def language_of(path: Any) -> str | None:
    """The language of a file, by its name."""
    found = _SUFFIX.search(path) if isinstance(path, str) else None
    return found[1].lower() if found else None


def words_of(texts: Iterable[str]) -> str:
    """The first words of texts, without the marks of Markdown; nothing if they say nothing."""
    words = tree.title_from(texts) or ""
    return _MARKS.sub("", _LINKS.sub(r"\1", words) if "](" in words else words)


def fold(name: str) -> Markup:
    """What is folded below one line: its name, what it tells and how it went, as places of a pattern."""
    line = [element("span", "name", name), element("span", "telling", PLACE), element("span", "how", PLACE)]
    return joined([element("summary", "", *line), element("div", "inside", PLACE)])


def first_line(said: str, most: int = 160) -> str:
    """The first line that says something, cut if it is long."""
    line = said.lstrip()[: 4 * most].partition("\n")[0].rstrip()
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
