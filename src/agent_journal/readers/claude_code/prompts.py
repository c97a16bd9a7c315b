"""`history.jsonl`: what the person typed in all sessions. It is left when sessions are deleted.

Of a text that was pasted, the prompt shows only a mark. A long one lies in a file beside the list, and may be
deleted long before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Media, Text
from agent_journal.notes import Kind
from agent_journal.readers.claude_code.companions import text_of
from agent_journal.readers.dialects.prompt_history import PromptList, entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation, Part
    from agent_journal.notes import Notes

_MARK = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d+)(?: \+\d+ lines?)?(?:\.\.\.)?\]")
_FOLDER = "paste-cache"
_HASH = re.compile("[0-9a-f]+")


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """One conversation for each session; of lines without one, for each stretch of work in a folder."""
    asked = PromptList(name)
    for fields in entries(json_stream.lines(source, note), note):
        at, folder, session = fields.moment("timestamp"), fields.text("project"), fields.text("sessionId")
        parts = _parts(source, fields)
        asked.add(session or None, at, parts, fields.rest(), folder or None)
    yield from asked.conversations(note)


def _parts(source: Source, fields: Fields) -> list[Part]:
    """What was typed, with what was pasted in place of its mark; what has no mark is attached."""
    shown = fields.text("display") or ""
    pasted = _pasted(source, fields)
    texts = {number: part.text for number, part in pasted.items() if part.text is not None}
    placed: set[str] = set()

    def whole(mark: re.Match[str]) -> str:
        text = texts.get(mark[1])
        if text is None:
            return mark[0]
        placed.add(mark[1])
        return text

    text = _MARK.sub(whole, shown)
    if text != shown:
        fields.keep("display", shown)
    parts: list[Part] = [Text(text=text)] if text else []
    return parts + [part for number, part in pasted.items() if number not in placed]


def _pasted(source: Source, fields: Fields) -> dict[str, Media]:
    """By number, what was pasted, as far as it is there; what else is said of it stays."""
    found: dict[str, Media] = {}
    left: dict[str, Any] = {}
    for number, value in (fields.bag("pastedContents") or {}).items():
        if value.__class__ is dict:
            part = _part(source, Fields(value, fields.note, fields.where), number)
            if part is not None:
                found[number] = part
        if value:
            left[number] = value
    if left:
        fields.keep("pastedContents", left)
    return found


def _part(source: Source, each: Fields, number: str) -> Media | None:
    content, hashed = each.text("content"), each.look("contentHash")
    is_image = each.look("type") == "image"
    if content is None and isinstance(hashed, str) and not is_image:
        content = _from_beside(source, each, hashed)
    if not content:
        return None
    mime, name = each.text("mediaType"), each.text("filename")
    if is_image:
        return Media(kind="image", mime=mime, name=name, data=content)
    return Media(kind="document", mime=mime, name=name or f"Pasted text #{number}", text=content)


def _from_beside(source: Source, each: Fields, hashed: str) -> str | None:
    """A long text, which lies in a file that is called by its hash."""
    file = source.companion(_FOLDER, f"{hashed}.txt") if _HASH.fullmatch(hashed) else None
    if file is None:
        each.note(Kind.MISSING_FILE, each.where, f"{_FOLDER}/{hashed}.txt")
        return None
    return text_of(file, each.note)
