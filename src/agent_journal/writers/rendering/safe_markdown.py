"""Markdown in which no quoted content can pass for the page itself.

Text of users and models is in block quotes: each of its lines starts with `>`, as a line without it would
end the quote. Tool output is in fences that are longer than any run of backticks inside. Tags in prose are
shown as text, images become links, and links lead to web pages only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.text.sanitize import one_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BACKTICK_FENCE = re.compile("`{3,}")
_SYNTAX_CHARS = re.compile(r"[\\`*_\[\]<>&#|~$!^]")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,32}")
# Where HTML, an image, a link, a definition or a footnote starts; not links to web pages or relative paths.
_SAFE_TARGET = r"\([ ]*(?:(?i:https?://|mailto:)|#|[A-Za-z0-9._~/%-]*[)#?])"
_UNSAFE_START = re.compile(
    rf"[<!\]\[](?:(?<=<)(?=[A-Za-z/!?])|(?<=!)(?=\[)|(?<=\])(?=[(:])(?!{_SAFE_TARGET})|(?<=\[)(?=\^))"
)
_PAIRED_BACKTICKS = re.compile(r"[^`\n]*+(?:(?:`[^`|\n]*+`|\n)[^`\n]*+)*+")
_BACKTICK_IN_ADDRESS = re.compile(r"(?:://|www\.)[^ \t\n]*`", re.IGNORECASE)
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*")
# The width of a tab depends on its column: after `>` it is too narrow to make this an indented code block.
_AMBIGUOUS_FENCE = re.compile(r" *\t[ \t]*(?:```|~~~)")
_BACKTICK_RUNS = re.compile("`+")
_BLANK_LINES = re.compile(r"(\n(?:[ \t]*\n)+)")
_MAX_FENCE_INDENT_CHARS = 3


def escape_inline(text: str) -> str:
    """A name or title on one line, with all Markdown syntax escaped."""
    return _SYNTAX_CHARS.sub(r"\\\g<0>", one_line(text))


def escape_html(text: str) -> str:
    """A text on one line between HTML tags, escaped."""
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def inline_code(text: str) -> str:
    """A short text as inline code, on one line."""
    plain = one_line(text)
    if "`" not in plain:
        return f"`{plain}`" if plain.strip() else ""
    ticks = "`" * (max(map(len, re.findall("`+", plain))) + 1)
    return f"{ticks} {plain} {ticks}"


def fenced_block(text: str, language: str | None = None) -> str:
    """A text verbatim in a fence, with misleading characters shown as escapes."""
    plain = safe(text.replace("\r\n", "\n") if "\r" in text else text)
    ticks = "```"
    if ticks in plain:
        ticks = "`" * (max(map(len, _BACKTICK_FENCE.findall(plain))) + 1)
    info = language if language and _LANGUAGE.fullmatch(language) else ""
    end = "" if plain.endswith("\n") or not plain else "\n"
    return f"{ticks}{info}\n{plain}{end}{ticks}"


def block_quote(text: str, *, hard_breaks: bool = False) -> str:
    """Markdown of a user or model in a block quote, optionally with hard line breaks."""
    plain = safe((text.replace("\r\n", "\n") if "\r" in text else text).strip("\n"))
    # Searching for one character is much faster than for two.
    if "<" in plain or "[" in plain or "]" in plain:
        plain = _neutralized(plain)
    return "> " + plain.replace("\n", "  \n> " if hard_breaks else "\n> ")


def details_block(summary: str, blocks: Iterable[str]) -> Iterator[str]:
    """Blocks that are folded below a summary, which is one line of HTML."""
    yield f"<details><summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def _neutralized(text: str) -> str:
    """Prose in which HTML, images, and links to anything but web pages are shown as text.

    Only text that is certainly code is left unchanged; elsewhere a superfluous escape may be shown, at worst.
    """
    result = _fenced(text) if "```" in text or "~~~" in text else _prose(text, is_certain=True)
    return f"\\{result}" if result.startswith("[!") else result  # an alert such as `[!NOTE]` on some sites


def _fenced(text: str) -> str:
    """Alternating prose and fences."""
    blocks: list[str] = []
    waiting: list[str] = []
    opened: re.Match[str] | None = None
    is_certain = True
    for line in text.split("\n"):
        if opened is not None:
            is_end = _is_end_of_fence(opened, line)
            if is_end is not None:
                waiting.append(line)
                if is_end:
                    blocks += waiting
                    waiting, opened = [], None
                continue
            # It may be a top-level fence, or one in a list that ends here.
            blocks += waiting
            waiting, opened, is_certain = [], None, False
        elif is_certain and _may_be_fence(line) and (opened := _FENCE.match(line)):
            blocks.append(_prose("\n".join(waiting), is_certain=True))
            waiting = [line]
            continue
        elif is_certain and _may_be_fence(line) and _AMBIGUOUS_FENCE.match(line):
            is_certain = False
            blocks.append(_prose("\n".join(waiting), is_certain=True))
            waiting = []
        waiting.append(line)
    blocks += waiting if opened is not None else [_prose("\n".join(waiting), is_certain=is_certain)]
    return "\n".join(blocks)


def _may_be_fence(line: str) -> bool:
    return "```" in line or "~~~" in line


def _is_end_of_fence(opened: re.Match[str], line: str) -> bool | None:
    """Whether a line ends a fence; None if that depends on the fence's container."""
    indent, fence = opened.groups()
    if indent and line.strip() and not line.startswith(indent):
        return None
    closing = _CLOSING.fullmatch(line) if fence in line else None
    if closing is None or not closing[2].startswith(fence):
        return False
    if "\t" in closing[1]:
        return None
    is_near = len(closing[1]) <= _MAX_FENCE_INDENT_CHARS
    return is_near if not indent or is_near else None


def _prose(text: str, *, is_certain: bool) -> str:
    """Text without fences; inline code in it ends before the next blank line, or is none."""
    if "`" not in text:
        return _UNSAFE_START.sub(_escape, text)
    if is_certain and _has_plain_code(text):
        return _UNSAFE_START.sub(_escape_unless_code, text)
    return "".join(_paragraph(piece, is_certain=is_certain) for piece in _BLANK_LINES.split(text))


def _paragraph(text: str, *, is_certain: bool) -> str:
    """Lines without a blank one between them."""
    if "`" not in text:
        return _UNSAFE_START.sub(_escape, text)
    if is_certain and _has_plain_code(text):
        return _UNSAFE_START.sub(_escape_unless_code, text)
    return "\n".join(_neutralized_lines(text.split("\n"), is_certain=is_certain))


def _has_plain_code(text: str) -> bool:
    """Whether all inline code is between single backticks on one line, and cannot overlap anything else.

    That is the common case, and checking it is much faster than going line by line.
    """
    return not (
        "``" in text
        or "\\`" in text
        or _PAIRED_BACKTICKS.fullmatch(text) is None
        or (("://" in text or "www." in text.lower()) and _BACKTICK_IN_ADDRESS.search(text))
    )


def _neutralized_lines(lines: list[str], *, is_certain: bool) -> Iterator[str]:
    """Lines without a blank one between them; code that starts and ends on one line is certain."""
    for line in lines:
        code = _code_in(line) if is_certain and "`" in line else []
        is_certain = is_certain and code is not None
        yield _neutralized_line(line, code or [])


def _code_in(line: str) -> list[tuple[int, int]] | None:
    """The spans of inline code in a line; None if they depend on other lines."""
    if "\\`" in line:
        return None
    runs = [*_BACKTICK_RUNS.finditer(line)]
    spans: list[tuple[int, int]] = []
    index = end = 0
    while index < len(runs):
        begin, size = runs[index].start(), len(runs[index][0])
        last = next((other for other in range(index + 1, len(runs)) if len(runs[other][0]) == size), None)
        if last is None or _ends_with_address(line[end:begin]):
            return None  # the code or the address may continue on the next line
        end = runs[last].end()
        if line.find("|", begin, end) >= 0:
            return None  # a table cell may end in it
        spans.append((begin, end))
        index = last + 1
    return spans


def _ends_with_address(text: str) -> bool:
    """Whether a text ends with a bare address, which some sites turn into a link."""
    word = text[max(text.rfind(" "), text.rfind("\t")) + 1 :].lower()
    return "://" in word or "www." in word


def _neutralized_line(line: str, code: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    position = 0
    for begin, end in code:
        pieces += [_UNSAFE_START.sub(_escape, line[position:begin]), line[begin:end]]
        position = end
    return "".join([*pieces, _UNSAFE_START.sub(_escape, line[position:])])


def _escape_unless_code(match: re.Match[str]) -> str:
    """`_escape`, unless the match is in code: an odd number of backticks precedes it on its line."""
    text, at = match.string, match.start()
    is_code = text.count("`", text.rfind("\n", 0, at) + 1, at) % 2
    return match[0] if is_code else _escape(match)


def _escape(match: re.Match[str]) -> str:
    """The start of some syntax, escaped with a backslash unless it already is; a tag with an entity.

    Sites that turn bare addresses into links take a backslash as a part of one, and a tag after it as a tag.
    """
    start, text, at = match[0], match.string, match.start()
    backslashes_start = at
    while backslashes_start and text[backslashes_start - 1] == "\\":
        backslashes_start -= 1
    is_escaped = (at - backslashes_start) % 2
    if start == "<":
        return "\\&lt;" if is_escaped else "&lt;"
    return start if is_escaped else f"\\{start}"
