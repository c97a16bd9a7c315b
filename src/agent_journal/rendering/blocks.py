"""Preformatted blocks: code, terminal output and values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import tree
from agent_journal.model.spilled import encode_spilled
from agent_journal.rendering.diffs import diff, is_diff
from agent_journal.rendering.markup import SLOT, Markup, Template, element, joined
from agent_journal.rendering.terminal_output import TerminalScreen, with_line_ends
from agent_journal.text import describe
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Iterable

_CODE_BLOCK = Template(element("pre", "", element("code", "", SLOT)))
_HIGHLIGHTED_BLOCK = Template(element("pre", {"data-lang": SLOT}, element("code", "", SLOT)))
_MARKDOWN_SYNTAX = re.compile(r"\*\*|`+|^#+ ")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\)|\Z)")
_MAX_SCREEN_LINES, _MIN_REST_LINES = 40, 5
_FILE_SUFFIX = re.compile(r"\.([A-Za-z0-9+#]{1,12})\Z")


def block(code: str, language: str | None = None) -> Markup:
    """Preformatted text. The page highlights it if its language is known."""
    return _HIGHLIGHTED_BLOCK(language, code) if language else _CODE_BLOCK(code)


def terminal_block(output: str) -> Markup:
    """Output of a program on a terminal; what is longer than a screen is folded."""
    screen = TerminalScreen()
    shown, rest = split_lines(with_line_ends(output), _MAX_SCREEN_LINES)
    first = element("pre", "terminal", screen.markup(shown))
    if not rest:
        return first
    return joined([first, _rest(rest, element("pre", "terminal", screen.markup(rest)))])


def split_lines(output: str, max_lines: int) -> tuple[str, str]:
    """A text up to a number of lines, and the rest; a rest of a few lines is not worth splitting off."""
    end = -1
    for _ in range(max_lines):
        end = output.find("\n", end + 1)
        if end < 0:
            return output, ""
    rest = output[end + 1 :]
    return (output[:end], rest) if rest.count("\n") >= _MIN_REST_LINES else (output, "")


def _rest(rest: str, content: Markup) -> Markup:
    line = element("summary", "", count(describe.lines_in(rest), "more line"))
    return element("details", "rest", line, content)


def tool_output(output: str, language: str | None) -> Markup:
    """Output of a tool as a diff, terminal output or code, whichever it looks like."""
    if is_diff(output):
        return diff(output)
    if "\x1b[" in output:
        return terminal_block(output)
    if language is None and output[:1] in {"{", "["} and output.rstrip()[-1:] in {"}", "]"}:
        language = "json"
    shown, rest = split_lines(output, _MAX_SCREEN_LINES)
    first = block(shown, language)
    return joined([first, _rest(rest, block(rest, language))]) if rest else first


def value_block(value: Any) -> Markup:
    """A value of any type: a string as text, anything else as JSON."""
    if isinstance(value, str):
        return tool_output(value, None)
    try:
        text = msgspec.json.format(msgspec.json.encode(value, enc_hook=encode_spilled), indent=2).decode()
    except (RecursionError, msgspec.EncodeError, msgspec.DecodeError, UnicodeError, TypeError, OverflowError):
        text = describe.compact(value)
    return block(text, "json")


def language_of(path: Any) -> str | None:
    """The language of a file, by the suffix of its name."""
    suffix = _FILE_SUFFIX.search(path) if isinstance(path, str) else None
    return suffix[1].lower() if suffix else None


def excerpt(texts: Iterable[str]) -> str:
    """The first words of texts, without Markdown syntax; empty if there are none."""
    words = tree.title_from(texts) or ""
    return _MARKDOWN_SYNTAX.sub("", _MARKDOWN_LINK.sub(r"\1", words) if "](" in words else words)


def folded(name: str) -> Markup:
    """The inside of a `details` element: a name, with slots for its summary, its status and its content."""
    line = [element("span", "name", name), element("span", "preview", SLOT), element("span", "status", SLOT)]
    return joined([element("summary", "", *line), element("div", "inside", SLOT)])


def first_line(text: str, max_chars: int = 160) -> str:
    """The first line that isn't blank, shortened if it is long."""
    line = text.lstrip()[: 4 * max_chars].partition("\n")[0].rstrip()
    return line if len(line) <= max_chars else f"{line[: max_chars - 1].rstrip()}…"
