"""Reads what Takeout exports under "Gemini": Gems and scheduled actions, without conversations.

A page has one block per Gem, each with bold labels and their values:
`<b>Name:</b>Chef<br><b>Instructions:</b>…`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import utf8
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.gemini_takeout.detect import SOURCE
from agent_journal.readers.gemini_takeout.markup import to_markdown
from agent_journal.readers.gemini_takeout.tags import attributes, plain_text, split_at_matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_MAX_PAGE_BYTES = 32 << 20
_LABEL = re.compile(r"<b>([^<>]{1,60}):\s*</b>", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]*>", re.IGNORECASE)
_TRAILING_TAGS = re.compile(r"(?:\s|<br\s*/?>|</?div>|</?p>)+\Z", re.IGNORECASE)


def memories(source: Input, note: Notes) -> Iterator[Memory]:
    """Yield each Gem or scheduled action."""
    text = _text(source, note)
    blocks = [*_blocks(text)]
    if not blocks:
        detail = 'Takeout\'s "Gemini" has no conversations; they are under My Activity, Gemini Apps'
        note(Kind.IGNORED_FILE, "", detail)
        if instruction := to_markdown(text).text:
            yield Memory(
                id=ids.made(SOURCE, instruction),
                made_id=True,
                source=SOURCE,
                kind="instruction",
                text=instruction,
            )
    for index, block in enumerate(blocks):
        yield _memory(block, index)


def _text(source: Input, note: Notes) -> str:
    with utf8(source) as stream:
        data = b""
        while len(data) <= _MAX_PAGE_BYTES and (block := stream.read(1 << 20)):
            data += block
    if len(data) > _MAX_PAGE_BYTES:
        note(Kind.TOO_LARGE, "", f"the page has more than {_MAX_PAGE_BYTES:,} bytes")
        return ""
    return data.decode("utf-8", "replace")


def _blocks(text: str) -> Iterator[list[tuple[str, str]]]:
    """Group labels and values into blocks; the first label begins each block."""
    block: list[tuple[str, str]] = []
    for label, value in split_at_matches([*_LABEL.finditer(text)], text):
        if block and label[1] == block[0][0]:
            yield block
            block = []
        block.append((label[1], _TRAILING_TAGS.sub("", value)))
    if block:
        yield block


def _memory(block: list[tuple[str, str]], index: int) -> Memory:
    """Make a memory about the name; its text is the instructions, or else the longest value."""
    (_, name), *others = block
    name_text = plain_text(name).strip()
    instruction = next((pair for pair in others if pair[0].lower() == "instructions"), None)
    instruction = instruction or max(others, key=lambda pair: len(pair[1]), default=("", ""))
    rest = {label: _value(html) for label, html in others if (label, html) != instruction and html}
    return Memory(
        id=ids.made(SOURCE, name_text, plain_text(instruction[1]), index),
        made_id=True,
        source=SOURCE,
        kind="instruction",
        text=to_markdown(instruction[1]).text,
        about=name_text or None,
        extra=rest,
    )


def _value(html: str) -> str | list[dict[str, str]]:
    """Convert the files of a Gem with their URLs; any other value as text."""
    links = [*_LINK.finditer(html)]
    if not links:
        return plain_text(html).strip()
    return [
        {"name": plain_text(label).strip(), "url": attributes(link[0]).get("href", "")}
        for link, label in split_at_matches(links, html)
    ]
