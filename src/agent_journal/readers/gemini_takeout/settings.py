"""What Takeout calls Gemini: Gems and scheduled actions, without a conversation.

A page has one block per Gem, each of bold labels and what they are of:
`<b>Name:</b>Chef<br><b>Instructions:</b>…`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import utf8
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.gemini_takeout.detect import SOURCE
from agent_journal.readers.gemini_takeout.markup import readable
from agent_journal.readers.gemini_takeout.tags import attributes, plain, until_next

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_LARGEST = 32 << 20
_LABEL = re.compile(r"<b>([^<>]{1,60}):\s*</b>", re.IGNORECASE)
_LINK = re.compile(r"<a\s[^<>]*>", re.IGNORECASE)
_ENDS = re.compile(r"(?:\s|<br\s*/?>|</?div>|</?p>)+\Z", re.IGNORECASE)


def memories(source: Source, note: Notes) -> Iterator[Memory]:
    """Yield each Gem, or scheduled action."""
    text = _text(source, note)
    blocks = [*_blocks(text)]
    if not blocks:
        detail = "Takeout's Gemini has no conversations; they are under My Activity, Gemini Apps"
        note(Kind.IGNORED_FILE, "", detail)
        if said := readable(text).text:
            yield Memory(
                id=ids.made(SOURCE, said), made_id=True, source=SOURCE, kind="instruction", text=said
            )
    for place, block in enumerate(blocks):
        yield _memory(block, place)


def _text(source: Source, note: Notes) -> str:
    with utf8(source) as stream:
        data = b""
        while len(data) <= _LARGEST and (block := stream.read(1 << 20)):
            data += block
    if len(data) > _LARGEST:
        note(Kind.TOO_LARGE, "", f"a page of more than {_LARGEST:,} bytes")
        return ""
    return data.decode("utf-8", "replace")


def _blocks(text: str) -> Iterator[list[tuple[str, str]]]:
    """Labels and what they are of; the label that comes first begins each block."""
    block: list[tuple[str, str]] = []
    for label, value in until_next([*_LABEL.finditer(text)], text):
        if block and label[1] == block[0][0]:
            yield block
            block = []
        block.append((label[1], _ENDS.sub("", value)))
    if block:
        yield block


def _memory(block: list[tuple[str, str]], place: int) -> Memory:
    """The name is what it is about, the longest of the others what it says."""
    (_, name), *others = block
    about = plain(name).strip()
    said = next((pair for pair in others if pair[0].lower() == "instructions"), None)
    said = said or max(others, key=lambda pair: len(pair[1]), default=("", ""))
    rest = {label: _listed(html) for label, html in others if (label, html) != said and html}
    return Memory(
        id=ids.made(SOURCE, about, plain(said[1]), place),
        made_id=True,
        source=SOURCE,
        kind="instruction",
        text=readable(said[1]).text,
        about=about or None,
        extra=rest,
    )


def _listed(html: str) -> str | list[dict[str, str]]:
    """The files of a Gem with their addresses; any other value as text."""
    links = [*_LINK.finditer(html)]
    if not links:
        return plain(html).strip()
    return [
        {"name": plain(shown).strip(), "url": attributes(link[0]).get("href", "")}
        for link, shown in until_next(links, html)
    ]
