"""The page of an activity log: its cards, as records like those of the log in JSON.

A card has a heading (the product), a cell with the prompt, the moment and the answer below each other, and
one with the details, among them the address of the conversation. Only the moment tells where the prompt ends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_journal.decoding.text_encoding import utf8
from agent_journal.notes import Kind
from agent_journal.readers.gemini_takeout import dates, words
from agent_journal.readers.gemini_takeout.detect import CARD
from agent_journal.readers.gemini_takeout.markup import readable
from agent_journal.readers.gemini_takeout.tags import attributes, plain, until_next

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_BLOCK = 1 << 20
# A card larger than this is not read: answers are a few kilobytes.
_LARGEST = 32 << 20
_CELL = re.compile(r'<div class="(header-cell|content-cell)([^"<>]*)">')
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]*>|<img\s[^<>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r'href="(https://(?:gemini|bard)\.google\.com/(?:u/\d+/)?(?:app|chat|gem/)[^"<>]*)"')
_CLOSING = re.compile(r"(?:\s*</div>)*\s*\Z")


def records(source: Source, note: Notes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and record of each card."""
    for number, data in enumerate(_cards(source, note), 1):
        where = f"card {number}"
        card = data.decode("utf-8", "replace")
        if "\ufffd" in card and b"\xef\xbf\xbd" not in data:
            note(Kind.BAD_ENCODING, where, "not UTF-8")
        yield where, _record(card)


def _cards(source: Source, note: Notes) -> Iterator[bytes]:
    """The bytes of each card, one at a time."""
    is_first = True  # what is before the first card is none
    with utf8(source) as stream:
        pending = b""
        while block := stream.read(_BLOCK):
            *whole, pending = (pending + block).split(CARD)
            if whole:
                yield from whole[is_first:]
                is_first = False
            if len(pending) > _LARGEST:
                note(Kind.TOO_LARGE, "", f"a card of more than {_LARGEST:,} bytes")
                pending, is_first = b"", True
    if not is_first:
        if not pending.rstrip().endswith(b">"):
            note(Kind.TRUNCATED, "", "the page ends in the middle of a card")
        yield pending


def _record(card: str) -> dict[str, Any]:
    """The record that a card shows."""
    header, content, details = _cells(card)
    record: dict[str, Any] = {}
    if header:
        record["header"] = plain(header).strip()
    prompt, written, answer = _parted(content)
    lines, subtitles = _without_files(prompt)
    record["title"] = plain("\n".join(lines)).strip()
    if written:
        record["time"] = plain(written).strip()
    if subtitles:
        record["subtitles"] = subtitles
    if urls := [*dict.fromkeys(plain(url) for url in _ADDRESS.findall(card))]:
        record["details"] = [{"url": url} for url in urls]
    if answer.strip():
        record["safeHtmlItem"] = [{"html": answer.strip()}]
    if said := readable(details).text:
        record["caption"] = said
    return record


def _cells(card: str) -> tuple[str, str, str]:
    """What is in the heading, in the first cell of the content, and in the others."""
    inside = [
        (cell[1], _CLOSING.sub("", text, count=1)) for cell, text in until_next([*_CELL.finditer(card)], card)
    ]
    header = next((text for name, text in inside if name == "header-cell"), "")
    content = [text for name, text in inside if name == "content-cell"]
    return header, content[0] if content else card, "\n".join(content[1:])


def _parted(content: str) -> tuple[list[str], str, str]:
    """The lines before the moment, the moment, and the answer behind it."""
    lines: list[str] = []
    start = 0
    for mark in _BREAK.finditer(content):
        line = content[start : mark.start()]
        start = mark.end()
        if dates.is_dated(line):
            return lines, line, content[start:]
        lines.append(line)
    last = content[start:]
    return (lines, last, "") if dates.is_dated(last) else ([*lines, last], "", "")


def _without_files(lines: list[str]) -> tuple[list[str], list[dict[str, str]]]:
    """The lines of the prompt, and those behind it that name files or the Gem that was used."""
    subtitles: list[dict[str, str]] = []
    kept = [*lines]
    while kept and (
        not kept[-1].strip()
        or _LINK.search(kept[-1])
        or (subtitles and words.counts_attachments(plain(kept[-1])))
    ):
        line = kept.pop()
        if line.strip():
            subtitles.insert(0, _subtitle(line))
    return kept or lines[:1], subtitles if kept else subtitles[1:]


def _subtitle(line: str) -> dict[str, str]:
    found = _LINK.search(line)
    about = attributes(found[0]) if found else {}
    url = about.get("href") or about.get("src")
    name = plain(line).strip() or about.get("alt", "")
    if url is None:
        return {"name": name}
    return {"name": name, "url": url if "://" in url else unquote(url).removeprefix("./")}
