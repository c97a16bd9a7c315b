"""Texts of conversations as agents get them: secrets redacted, nothing hidden, paths relative, and short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code, Media, Message, Reasoning, Text, ToolCall, ToolResult
from agent_journal.redaction import redact_texts
from agent_journal.search.marking import Highlighter
from agent_journal.text.describe import compact
from agent_journal.text.sanitize import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.journal import Hit
    from agent_journal.model import Event, Part
    from agent_journal.search.query import Query

_MAX_NEAR_CHARS = 4000
"""How much text on each side of a snippet may show that a part of it is a secret."""


def shorten(text: str, max_chars: int) -> str:
    """Return a text, or its beginning with an ellipsis."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}…"


def one_line(text: str | None, max_chars: int) -> str | None:
    """Return a sanitized text on one line; None if it is empty."""
    return shorten(safe(" ".join((text or "").split())), max_chars) or None


def relative(text: str, project: str | None) -> str:
    """Return a text with paths in a project relative to it."""
    if not project or project in {"/", "\\"}:
        return text
    separator = "\\" if "\\" in project else "/"
    return text.replace(project.rstrip(separator) + separator, "")


def snippet_of(hit: Hit, query: Query) -> tuple[str | None, str]:
    """Return the title of a hit's conversation and the snippet of the hit, without secrets."""
    title = hit.conversation.title if hit.conversation is not None else None
    text = next((text for field, text in hit.entry.texts if field == hit.field), hit.entry.text)
    snippet = hit.snippet.text
    at = max(text.find(snippet.strip("…")), 0)
    near = text[max(at - _MAX_NEAR_CHARS, 0) : at + len(snippet) + _MAX_NEAR_CHARS]
    redacted_title, redacted = redact_texts([title or "", near])
    if redacted != near:
        snippet = Highlighter(query).snippet([(hit.field, redacted)])[1].text
    return redacted_title or None, safe(snippet)


def text_of(entry: Message | Event, *, max_output_chars: int | None) -> str:
    """Return what a message says and does; long input and output of tools and reasoning may be cut."""
    if not isinstance(entry, Message):
        return ""
    return safe("\n".join(filter(None, _texts(entry.parts, max_output_chars))))


def _texts(parts: Iterable[Part], max_chars: int | None) -> Iterable[str]:
    for part in parts:
        if isinstance(part, Text):
            yield part.text
        elif isinstance(part, Code):
            yield f"```{part.language or ''}\n{part.code}\n```"
        elif isinstance(part, Reasoning):
            yield _labeled("reasoning", part.text or part.summary or "", max_chars)
        elif isinstance(part, ToolCall):
            yield _labeled(f"call {part.name}", _input(part.input), max_chars)
        elif isinstance(part, ToolResult):
            output = part.output if isinstance(part.output, str) else "\n".join(_texts(part.output, None))
            yield _labeled("failed result" if part.is_error else "result", output, max_chars)
        elif isinstance(part, Media):
            yield f"[{' '.join(filter(None, (part.kind, part.name)))}]"


def _labeled(label: str, text: str, max_chars: int | None) -> str:
    if not text:
        return ""
    return f"[{label}] {text if max_chars is None else shorten(text, max_chars)}"


def _input(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else compact(value)


def position_of_cut(short: str, full: str) -> int:
    """Return from which character of a full text on a shortened one lacks something."""
    return next(
        (at for at, (one, other) in enumerate(zip(short, full, strict=False)) if one != other),
        min(len(short), len(full)),
    )
