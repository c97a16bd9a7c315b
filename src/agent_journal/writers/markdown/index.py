"""The index of a folder of pages, by project and day; and pages for what is not there."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.text.humanize import count
from agent_journal.writers.rendering.pages import address_in_index
from agent_journal.writers.rendering.safe_markdown import code, inline
from agent_journal.writers.rendering.utc_times import clock, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.writers.rendering.pages import Absent, Book, Facts


def index(book: Book, out: IO[bytes]) -> None:
    """Write the index."""
    out.write("\n".join(_lines(book)).encode())


def absent(missing: Absent, out: IO[bytes]) -> None:
    """Say that a conversation is not here."""
    told = f"{inline(missing.source)} {code(missing.id)}"
    out.write(f'# <a id="{missing.name}"></a>Not here\n\nOther pages refer to {told}.\n\n'.encode())


def _lines(book: Book) -> Iterator[str]:
    said = sum(facts.messages for facts in book.facts)
    several = count(sum(not facts.is_memory for facts in book.facts), "conversation")
    yield f"# Conversations\n\n{several}, {count(said, 'message')}. Times are UTC.\n"
    below = book.children()
    for project in book.projects():
        yield f"## {inline(project.name)}\n"
        for day in project.days:
            yield f"### {day.date or 'Undated'}\n"
            for facts in day.entries:
                yield from _entries(facts, below, book)
            yield ""
    if memories := book.memories():
        yield "## Memories\n"
        yield from (_entry(facts, book) for facts in memories)
        yield ""


def _entries(top: Facts, below: dict[str, list[Facts]], book: Book) -> Iterator[str]:
    """A conversation, and below it what came out of it, step by step."""
    pending = [(top, 0)]
    while pending:
        facts, depth = pending.pop()
        # Deeper than this it would be code; nobody follows it so far.
        yield f"{'  ' * min(depth, _DEEPEST)}{_entry(facts, book)}"
        pending.extend((child, depth + 1) for child in reversed(below.get(facts.name, ())))


_DEEPEST = 8


def _entry(facts: Facts, book: Book) -> str:
    at = short(facts.begun_at) if facts.is_memory else clock(facts.begun_at)
    source = book.run.titles.get(facts.source, facts.source)
    told = [facts.relation or "", source if source != facts.project else ""]
    told += [count(facts.messages, "message")] if facts.messages else []
    words = " · ".join(inline(word) for word in told if word)
    link = f'<a id="{facts.name}"></a>[{inline(facts.title)}](<{address_in_index(facts, book)}>)'
    return f"- {at + ' ' if at else ''}{link}{' · ' if words else ''}{words}"
