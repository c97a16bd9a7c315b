"""The index of a folder of pages, by project and day, and pages for missing conversations."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.rendering.utc_times import clock, date_and_time
from agent_journal.text.humanize import count
from agent_journal.writers.rendering.pages import index_link
from agent_journal.writers.rendering.safe_markdown import escape_inline, inline_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.writers.rendering.pages import IndexEntry, MissingPage, PageSet


def write_index(pages: PageSet, out: IO[bytes]) -> None:
    """Write the index."""
    out.write("\n".join(_lines(pages)).encode())


def write_missing(missing: MissingPage, out: IO[bytes]) -> None:
    """Write a page for a conversation that is linked to but not in this export."""
    conversation = f"{escape_inline(missing.source)} {inline_code(missing.id)}"
    out.write(
        f'# <a id="{missing.name}"></a>Not in this export\n\nOther pages link to {conversation}.\n\n'.encode()
    )


def _lines(pages: PageSet) -> Iterator[str]:
    messages = sum(entry.messages for entry in pages.entries)
    conversations = count(sum(not entry.is_memory for entry in pages.entries), "conversation")
    yield f"# Conversations\n\n{conversations}, {count(messages, 'message')}. Times are UTC.\n"
    children = pages.children()
    for project in pages.projects():
        yield f"## {escape_inline(project.name)}\n"
        for day in project.days:
            yield f"### {day.date or 'Undated'}\n"
            for entry in day.entries:
                yield from _nested_entries(entry, children, pages)
            yield ""
    if memories := pages.memories():
        yield "## Memories\n"
        yield from (_entry_line(entry, pages) for entry in memories)
        yield ""


def _nested_entries(top: IndexEntry, children: dict[str, list[IndexEntry]], pages: PageSet) -> Iterator[str]:
    """A conversation, with its descendants nested below it."""
    pending = [(top, 0)]
    while pending:
        entry, depth = pending.pop()
        # Deeper indentation would be a code block.
        yield f"{'  ' * min(depth, _MAX_INDENT_LEVELS)}{_entry_line(entry, pages)}"
        pending.extend((child, depth + 1) for child in reversed(children.get(entry.name, ())))


_MAX_INDENT_LEVELS = 8


def _entry_line(entry: IndexEntry, pages: PageSet) -> str:
    at = date_and_time(entry.started_at) if entry.is_memory else clock(entry.started_at)
    source = pages.run.titles.get(entry.source, entry.source)
    details = [entry.relation or "", source if source != entry.project else ""]
    details += [count(entry.messages, "message")] if entry.messages else []
    suffix = " · ".join(escape_inline(word) for word in details if word)
    link = f'<a id="{entry.name}"></a>[{escape_inline(entry.title)}](<{index_link(entry, pages)}>)'
    return f"- {at + ' ' if at else ''}{link}{' · ' if suffix else ''}{suffix}"
