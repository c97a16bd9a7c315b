"""Reads the HTML page of an activity log: its cards become records like those of the log in JSON.

A card has a heading (the product), a cell with the prompt, the time and the answer below each other, and
one with the details, including the URL of the conversation. Only the time marks the end of the prompt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_journal.decoding.text_encoding import utf8
from agent_journal.notes import Kind
from agent_journal.readers.gemini_takeout import dates, titles
from agent_journal.readers.gemini_takeout.detect import CARD
from agent_journal.readers.gemini_takeout.markup import to_markdown
from agent_journal.readers.gemini_takeout.tags import attributes, plain_text, split_at_matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_BLOCK_BYTES = 1 << 20
# Larger cards are not read: answers have a few kilobytes.
_MAX_CARD_BYTES = 32 << 20
_CELL = re.compile(r'<div class="(header-cell|content-cell)([^"<>]*)">')
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]*>|<img\s[^<>]*>", re.IGNORECASE)
_CONVERSATION_URL = re.compile(
    r'href="(https://(?:gemini|bard)\.google\.com/(?:u/\d+/)?(?:app|chat|gem/)[^"<>]*)"'
)
_CLOSING_DIVS = re.compile(r"(?:\s*</div>)*\s*\Z")


def records(source: Input, note: Notes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the location and record of each card."""
    for number, data in enumerate(_cards(source, note), 1):
        location = f"card {number}"
        card = data.decode("utf-8", "replace")
        if "\ufffd" in card and b"\xef\xbf\xbd" not in data:
            note(Kind.BAD_ENCODING, location, "not UTF-8")
        yield location, _record(card)


def _cards(source: Input, note: Notes) -> Iterator[bytes]:
    """Yield the bytes of each card."""
    is_first = True  # what is before the first card is not a card
    with utf8(source) as stream:
        pending = b""
        while block := stream.read(_BLOCK_BYTES):
            *complete, pending = (pending + block).split(CARD)
            if complete:
                yield from complete[is_first:]
                is_first = False
            if len(pending) > _MAX_CARD_BYTES:
                note(Kind.TOO_LARGE, "", f"a card has more than {_MAX_CARD_BYTES:,} bytes")
                pending, is_first = b"", True
    if not is_first:
        if not pending.rstrip().endswith(b">"):
            note(Kind.TRUNCATED, "", "the page ends in the middle of a card")
        yield pending


def _record(card: str) -> dict[str, Any]:
    """Convert a card to a record."""
    header, content, details = _cells(card)
    record: dict[str, Any] = {}
    if header:
        record["header"] = plain_text(header).strip()
    prompt, time, answer = _split_at_time(content)
    lines, subtitles = _split_off_files(prompt)
    record["title"] = plain_text("\n".join(lines)).strip()
    if time:
        record["time"] = plain_text(time).strip()
    if subtitles:
        record["subtitles"] = subtitles
    if urls := [*dict.fromkeys(plain_text(url) for url in _CONVERSATION_URL.findall(card))]:
        record["details"] = [{"url": url} for url in urls]
    if answer.strip():
        record["safeHtmlItem"] = [{"html": answer.strip()}]
    if caption := to_markdown(details).text:
        record["caption"] = caption
    return record


def _cells(card: str) -> tuple[str, str, str]:
    """Get the contents of the heading, of the first content cell, and of the other cells."""
    cells = [
        (cell[1], _CLOSING_DIVS.sub("", text, count=1))
        for cell, text in split_at_matches([*_CELL.finditer(card)], card)
    ]
    header = next((text for name, text in cells if name == "header-cell"), "")
    content = [text for name, text in cells if name == "content-cell"]
    return header, content[0] if content else card, "\n".join(content[1:])


def _split_at_time(content: str) -> tuple[list[str], str, str]:
    """Get the lines before the time, the time, and the answer after it."""
    lines: list[str] = []
    start = 0
    for mark in _BREAK.finditer(content):
        line = content[start : mark.start()]
        start = mark.end()
        if dates.is_time(line):
            return lines, line, content[start:]
        lines.append(line)
    last = content[start:]
    return (lines, last, "") if dates.is_time(last) else ([*lines, last], "", "")


def _split_off_files(lines: list[str]) -> tuple[list[str], list[dict[str, str]]]:
    """Get the lines of the prompt, and the lines after it that name files or the Gem in use."""
    subtitles: list[dict[str, str]] = []
    prompt_lines = [*lines]
    while prompt_lines and (
        not prompt_lines[-1].strip()
        or _LINK.search(prompt_lines[-1])
        or (subtitles and titles.counts_attachments(plain_text(prompt_lines[-1])))
    ):
        line = prompt_lines.pop()
        if line.strip():
            subtitles.insert(0, _subtitle(line))
    return prompt_lines or lines[:1], subtitles if prompt_lines else subtitles[1:]


def _subtitle(line: str) -> dict[str, str]:
    link = _LINK.search(line)
    link_attributes = attributes(link[0]) if link else {}
    url = link_attributes.get("href") or link_attributes.get("src")
    name = plain_text(line).strip() or link_attributes.get("alt", "")
    if url is None:
        return {"name": name}
    return {"name": name, "url": url if "://" in url else unquote(url).removeprefix("./")}
