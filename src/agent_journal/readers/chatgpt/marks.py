"""Marks in the model's text that the app displays as something else, or not at all.

A mark is `U+E200 cite U+E202 turn0search3 U+E201`: a kind, and what it refers to. A reference of the message
names its mark in `matched_text` and the displayed text in `alt`; without one, the mark itself may have text:
the name of an entity, the title of a video. U+E203 to U+E206 are single marks around a cited passage.
Before 2025 some marks were JSON between lenticular brackets: `【{"image_fetch": "a lamp"}】`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.model import Part, Reasoning, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonObject = dict[str, Any]

BEGIN = "\ue200"
_SEPARATOR = "\ue202"
_FILE_SEPARATOR = "\ue205"
_BRACKET = "【"
# A mark that is cut off ends before anything that can be prose.
_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201|\ue200[a-z_]*(?:\ue202[a-z0-9,]*)*|[\ue201-\ue206]")
_TITLED_KINDS = ("video", "link", "url", "navlist")
_EMPTY_LINK = re.compile(r"\[([^\[\]\n]*)\]\(\)")


def displayed_parts(parts: list[Part], metadata: JsonObject) -> list[Part] | None:
    """Convert the parts to what the person saw; None if there is no mark in them."""
    references = [*objects(metadata.get("content_references"))]
    converted: list[Part] = []
    for part in parts:
        if isinstance(part, Text | Reasoning) and part.text:
            converted.append(replace(part, text=_displayed_text(part.text, references)))
        else:
            converted.append(part)
    if converted == parts:
        return None
    return [part for part in converted if not isinstance(part, Text) or part.text or part.extra]


def _displayed_text(text: str, references: list[JsonObject]) -> str:
    replacements: dict[str, list[str | None]] = {}
    for mark, alternative in _replacements(references):
        if not mark.startswith(_BRACKET):
            replacements.setdefault(mark, []).append(alternative)
        elif alternative:
            text = text.replace(mark, alternative, 1)
    if BEGIN not in text and not any(mark in text for mark in replacements):
        return text

    def replacement(match: re.Match[str]) -> str:
        remaining = replacements.get(match[0])
        stated = None if not remaining else remaining.pop(0) if len(remaining) > 1 else remaining[0]
        return _text_of_mark(match[1] or "") if stated is None else stated

    return _MARK.sub(replacement, text)


def _replacements(references: list[JsonObject]) -> Iterator[tuple[str, str | None]]:
    """Yield marks with the text displayed in their place, if it is stated."""
    for reference in references:
        mark, alternative = nonempty_str(reference.get("matched_text")), reference.get("alt")
        if not mark or mark == alternative or not (mark[0] == _BRACKET or _MARK.fullmatch(mark)):
            continue
        if alternative.__class__ is str:
            yield mark, _EMPTY_LINK.sub(r"\1", alternative)  # a product may have a name and no URL
        else:
            yield mark, "" if reference.get("type") == "hidden" else None


def _text_of_mark(inside: str) -> str:
    """Get the text that a mark itself has."""
    kind, *values = inside.split(_SEPARATOR)
    if kind == "entity" and values:
        return _entity_name(values[0])
    if kind == "filenavlist":
        return "\n".join(f"- {title}" for value in values if (title := value.partition(_FILE_SEPARATOR)[2]))
    return values[0] if kind in _TITLED_KINDS and len(values) > 1 else ""


def _entity_name(encoded: str) -> str:
    """Get the name of an entity, a list of its kind, its name and a disambiguation."""
    try:
        value = msgspec.json.decode(encoded)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""
    match value:
        case [_, str() as name, *_]:
            return name
    return ""
