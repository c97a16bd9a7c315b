"""Marks in what the model said, in whose place the app shows something else, or nothing.

A mark is `U+E200 cite U+E202 turn0search3 U+E201`: a kind, and what it refers to. A reference of the message
tells by `matched_text` which mark it is about and by `alt` what is shown; without one, the mark itself may
have words: the name of a thing, the title of a film. U+E203 to U+E206 stand alone, around what a source is
for.
Before 2025 some marks were JSON between lenticular brackets: `【{"image_fetch": "a lamp"}】`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding.fields import objects, words
from agent_journal.model import Part, Reasoning, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

Bag = dict[str, Any]

BEGIN = "\ue200"
_NEXT = "\ue202"
_ABOUT = "\ue205"
_BRACKET = "【"
# Of a mark that was cut off, no more is taken than what cannot be prose.
_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201|\ue200[a-z_]*(?:\ue202[a-z0-9,]*)*|[\ue201-\ue206]")
_TITLED = ("video", "link", "url", "navlist")
_TO_NOWHERE = re.compile(r"\[([^\[\]\n]*)\]\(\)")


def shown(parts: list[Part], metadata: Bag) -> list[Part] | None:
    """The parts as the person saw them; None if there is no mark in them."""
    references = [*objects(metadata.get("content_references"))]
    made: list[Part] = []
    for part in parts:
        if isinstance(part, Text | Reasoning) and part.text:
            made.append(replace(part, text=_shown(part.text, references)))
        else:
            made.append(part)
    if made == parts:
        return None
    return [part for part in made if not isinstance(part, Text) or part.text or part.extra]


def _shown(text: str, references: list[Bag]) -> str:
    instead: dict[str, list[str | None]] = {}
    for mark, alternative in _stated(references):
        if not mark.startswith(_BRACKET):
            instead.setdefault(mark, []).append(alternative)
        elif alternative:
            text = text.replace(mark, alternative, 1)
    if BEGIN not in text and not any(mark in text for mark in instead):
        return text

    def in_place(found: re.Match[str]) -> str:
        left = instead.get(found[0])
        stated = None if not left else left.pop(0) if len(left) > 1 else left[0]
        return _words_of(found[1] or "") if stated is None else stated

    return _MARK.sub(in_place, text)


def _stated(references: list[Bag]) -> Iterator[tuple[str, str | None]]:
    """Marks, and what is shown in their places where that is stated."""
    for reference in references:
        mark, told = words(reference.get("matched_text")), reference.get("alt")
        if not mark or mark == told or not (mark[0] == _BRACKET or _MARK.fullmatch(mark)):
            continue
        if told.__class__ is str:
            yield mark, _TO_NOWHERE.sub(r"\1", told)  # what is for sale may have a name and no address
        else:
            yield mark, "" if reference.get("type") == "hidden" else None


def _words_of(inside: str) -> str:
    """What a mark itself says to people."""
    kind, *said = inside.split(_NEXT)
    if kind == "entity" and said:
        return _named(said[0])
    if kind == "filenavlist":
        return "\n".join(f"- {about}" for each in said if (about := each.partition(_ABOUT)[2]))
    return said[0] if kind in _TITLED and len(said) > 1 else ""


def _named(thing: str) -> str:
    """The name of a thing that is told as a list: its kind, its name, and what tells it from others."""
    try:
        found = msgspec.json.decode(thing)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""
    match found:
        case [_, str() as name, *_]:
            return name
    return ""
