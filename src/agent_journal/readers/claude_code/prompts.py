"""`history.jsonl`: what the person typed in all sessions. It remains when sessions are deleted.

For pasted text, the prompt has only a placeholder. A long text is in a file of its own, which may be deleted
long before the prompt.
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

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation, Part
    from agent_journal.notes import Notes

_PLACEHOLDER = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d+)(?: \+\d+ lines?)?(?:\.\.\.)?\]")
_FOLDER = "paste-cache"
_HASH = re.compile("[0-9a-f]+")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield one conversation per session; without sessions, one per stretch of work in a folder."""
    prompts = PromptList(name)
    for fields in entries(json_stream.lines(source, note), note):
        at, folder, session = fields.timestamp("timestamp"), fields.text("project"), fields.text("sessionId")
        parts = _parts(source, fields)
        prompts.add(session or None, at, parts, fields.rest(), folder or None)
    yield from prompts.conversations(note)


def _parts(source: Input, fields: Fields) -> list[Part]:
    """Put pasted text in the place of its placeholder; what has no placeholder is attached."""
    shown = fields.text("display") or ""
    pasted = _pasted(source, fields)
    texts = {number: part.text for number, part in pasted.items() if part.text is not None}
    inserted: set[str] = set()

    def paste_text(placeholder: re.Match[str]) -> str:
        text = texts.get(placeholder[1])
        if text is None:
            return placeholder[0]
        inserted.add(placeholder[1])
        return text

    text = _PLACEHOLDER.sub(paste_text, shown)
    if text != shown:
        fields.keep("display", shown)
    parts: list[Part] = [Text(text=text)] if text else []
    return parts + [part for number, part in pasted.items() if number not in inserted]


def _pasted(source: Input, fields: Fields) -> dict[str, Media]:
    """Take what was pasted, by number, if it is still there; the other fields remain."""
    media: dict[str, Media] = {}
    remaining: dict[str, Any] = {}
    for number, value in (fields.bag("pastedContents") or {}).items():
        if value.__class__ is dict:
            part = _part(source, Fields(value, fields.note, fields.where), number)
            if part is not None:
                media[number] = part
        if value:
            remaining[number] = value
    if remaining:
        fields.keep("pastedContents", remaining)
    return media


def _part(source: Input, pasted: Fields, number: str) -> Media | None:
    content, content_hash = pasted.text("content"), pasted.view("contentHash")
    is_image = pasted.view("type") == "image"
    if content is None and isinstance(content_hash, str) and not is_image:
        content = _read_pasted_file(source, pasted, content_hash)
    if not content:
        return None
    mime, name = pasted.text("mediaType"), pasted.text("filename")
    if is_image:
        return Media(kind="image", mime=mime, name=name, data=content)
    return Media(kind="document", mime=mime, name=name or f"Pasted text #{number}", text=content)


def _read_pasted_file(source: Input, pasted: Fields, content_hash: str) -> str | None:
    """Read a long text from the file that is named by its hash."""
    file = source.companion(_FOLDER, f"{content_hash}.txt") if _HASH.fullmatch(content_hash) else None
    if file is None:
        pasted.note(Kind.MISSING_FILE, pasted.where, f"{_FOLDER}/{content_hash}.txt")
        return None
    return text_of(file, pasted.note)
