"""Markdown in which nothing that somebody said can pass for the page itself.

What people and models say stands in block quotes: a line without `>` ends one, and every line of theirs has
it. What tools said stands in fences that are longer than any run of backticks inside. Tags in prose are
shown, not obeyed, images become links, and links lead to pages only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.text.sanitize import one_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TICKS = re.compile("`{3,}")
_MARKS = re.compile(r"[\\`*_\[\]<>&#|~$!^]")
_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,32}")
# Where HTML, an image, a link, a definition or a footnote begins; not links that lead to a page, or to
# something beside this one.
_HARMLESS = r"\([ ]*(?:(?i:https?://|mailto:)|#|[A-Za-z0-9._~/%-]*[)#?])"
_BEGINS = re.compile(
    rf"[<!\]\[](?:(?<=<)(?=[A-Za-z/!?])|(?<=!)(?=\[)|(?<=\])(?=[(:])(?!{_HARMLESS})|(?<=\[)(?=\^))"
)
_PAIRED = re.compile(r"[^`\n]*+(?:(?:`[^`|\n]*+`|\n)[^`\n]*+)*+")
_TICK_IN_ADDRESS = re.compile(r"(?:://|www\.)[^ \t\n]*`", re.IGNORECASE)
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*")
# A tab is as wide as it has to be: behind `>` it is not wide enough to make this code.
_UNCLEAR = re.compile(r" *\t[ \t]*(?:```|~~~)")
_RUNS = re.compile("`+")
_EMPTY_LINES = re.compile(r"(\n(?:[ \t]*\n)+)")
_DEEPEST = 3


def inline(text: str) -> str:
    """A name or title, on one line, in which no character means anything."""
    return _MARKS.sub(r"\\\g<0>", one_line(text))


def in_tags(text: str) -> str:
    """The same where it stands between tags."""
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """A short text as code, on one line."""
    plain = one_line(text)
    if "`" not in plain:
        return f"`{plain}`" if plain.strip() else ""
    ticks = "`" * (max(map(len, re.findall("`+", plain))) + 1)
    return f"{ticks} {plain} {ticks}"


def fence(text: str, language: str | None = None) -> str:
    """A text as it is, character by character, but for those that could mislead."""
    plain = safe(text.replace("\r\n", "\n") if "\r" in text else text)
    ticks = "```"
    if ticks in plain:
        ticks = "`" * (max(map(len, _TICKS.findall(plain))) + 1)
    info = language if language and _LANGUAGE.fullmatch(language) else ""
    end = "" if plain.endswith("\n") or not plain else "\n"
    return f"{ticks}{info}\n{plain}{end}{ticks}"


def quote(text: str, *, keep_lines: bool = False) -> str:
    """What somebody said, as Markdown of its own in a block quote; its lines may be kept where they end."""
    plain = safe((text.replace("\r\n", "\n") if "\r" in text else text).strip("\n"))
    # One character is found much faster than two.
    if "<" in plain or "[" in plain or "]" in plain:
        plain = _tamed(plain)
    return "> " + plain.replace("\n", "  \n> " if keep_lines else "\n> ")


def folded(summary: str, blocks: Iterable[str]) -> Iterator[str]:
    """Blocks that are shown when they are asked for; `summary` is one line between tags."""
    yield f"<details><summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def _tamed(text: str) -> str:
    """Prose in which HTML, images, and links to anything but pages are shown as they are written.

    Only what is code for certain is left as it is; elsewhere an escape too many is shown, at worst.
    """
    tamed = _fenced(text) if "```" in text or "~~~" in text else _prose(text, is_certain=True)
    return f"\\{tamed}" if tamed.startswith("[!") else tamed  # a notice, as some sites have them


def _fenced(text: str) -> str:
    """Prose and fences, by turns."""
    told: list[str] = []
    waiting: list[str] = []
    opened: re.Match[str] | None = None
    is_certain = True
    for line in text.split("\n"):
        if opened is not None:
            ends = _ends(opened, line)
            if ends is not None:
                waiting.append(line)
                if ends:
                    told += waiting
                    waiting, opened = [], None
                continue
            # It may be a fence of its own or one in a list, which ends here.
            told += waiting
            waiting, opened, is_certain = [], None, False
        elif is_certain and _may_be_fence(line) and (opened := _FENCE.match(line)):
            told.append(_prose("\n".join(waiting), is_certain=True))
            waiting = [line]
            continue
        elif is_certain and _may_be_fence(line) and _UNCLEAR.match(line):
            is_certain = False
            told.append(_prose("\n".join(waiting), is_certain=True))
            waiting = []
        waiting.append(line)
    told += waiting if opened is not None else [_prose("\n".join(waiting), is_certain=is_certain)]
    return "\n".join(told)


def _may_be_fence(line: str) -> bool:
    return "```" in line or "~~~" in line


def _ends(opened: re.Match[str], line: str) -> bool | None:
    """Whether a line ends a fence; None if that depends on what the fence stands in."""
    indent, fence = opened.groups()
    if indent and line.strip() and not line.startswith(indent):
        return None
    closing = _CLOSING.fullmatch(line) if fence in line else None
    if closing is None or not closing[2].startswith(fence):
        return False
    if "\t" in closing[1]:
        return None
    is_near = len(closing[1]) <= _DEEPEST
    return is_near if not indent or is_near else None


def _prose(text: str, *, is_certain: bool) -> str:
    """Text without fences; code within it ends before the next empty line, or is none."""
    if "`" not in text:
        return _BEGINS.sub(_shown, text)
    if is_certain and _has_plain_code(text):
        return _BEGINS.sub(_shown_unless_code, text)
    return "".join(_paragraph(piece, is_certain=is_certain) for piece in _EMPTY_LINES.split(text))


def _paragraph(text: str, *, is_certain: bool) -> str:
    """Lines without an empty one between them."""
    if "`" not in text:
        return _BEGINS.sub(_shown, text)
    if is_certain and _has_plain_code(text):
        return _BEGINS.sub(_shown_unless_code, text)
    return "\n".join(_tamed_lines(text.split("\n"), is_certain=is_certain))


def _has_plain_code(text: str) -> bool:
    """Whether all code is on one line each, between single backticks, and nothing else may have a part of it.

    It is so most of the time, and told much faster than line by line.
    """
    return not (
        "``" in text
        or "\\`" in text
        or _PAIRED.fullmatch(text) is None
        or (("://" in text or "www." in text.lower()) and _TICK_IN_ADDRESS.search(text))
    )


def _tamed_lines(lines: list[str], *, is_certain: bool) -> Iterator[str]:
    """Lines without an empty one between them; what is code on one of them alone is certain."""
    for line in lines:
        code = _code_in(line) if is_certain and "`" in line else []
        is_certain = is_certain and code is not None
        yield _tamed_line(line, code or [])


def _code_in(line: str) -> list[tuple[int, int]] | None:
    """Where code stands in a line; None if that cannot be told from the line alone."""
    if "\\`" in line:
        return None
    runs = [*_RUNS.finditer(line)]
    found: list[tuple[int, int]] = []
    place = done = 0
    while place < len(runs):
        begin, size = runs[place].start(), len(runs[place][0])
        last = next((at for at in range(place + 1, len(runs)) if len(runs[at][0]) == size), None)
        if last is None or _ends_with_address(line[done:begin]):
            return None  # it goes on below, or the address may
        done = runs[last].end()
        if line.find("|", begin, done) >= 0:
            return None  # a cell of a table may end in it
        found.append((begin, done))
        place = last + 1
    return found


def _ends_with_address(text: str) -> bool:
    """Whether what comes next may be a part of a bare address, as some sites make links of them."""
    word = text[max(text.rfind(" "), text.rfind("\t")) + 1 :].lower()
    return "://" in word or "www." in word


def _tamed_line(line: str, code: list[tuple[int, int]]) -> str:
    told: list[str] = []
    done = 0
    for begin, end in code:
        told += [_BEGINS.sub(_shown, line[done:begin]), line[begin:end]]
        done = end
    return "".join([*told, _BEGINS.sub(_shown, line[done:])])


def _shown_unless_code(match: re.Match[str]) -> str:
    """The same in a text with plain code: there an odd number of backticks is before it on its line."""
    text, at = match.string, match.start()
    is_code = text.count("`", text.rfind("\n", 0, at) + 1, at) % 2
    return match[0] if is_code else _shown(match)


def _shown(match: re.Match[str]) -> str:
    """What begins something, as it is shown: with a backslash before it if it has none, a tag as an entity.

    Sites that make links of addresses take a backslash for a part of one, and the tag behind it for a tag.
    """
    begin, text, at = match[0], match.string, match.start()
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    is_escaped = (at - before) % 2
    if begin == "<":
        return "\\&lt;" if is_escaped else "&lt;"
    return begin if is_escaped else f"\\{begin}"
