"""The index of a folder of pages: everything by day, with a search over all words and filters."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.rendering.markup import NOTHING, Markup, data, element
from agent_journal.rendering.time_tags import clock
from agent_journal.text.humanize import count
from agent_journal.writers.html.document import HtmlOutput, frame
from agent_journal.writers.rendering.pages import INDEX, index_link

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.writers import Run
    from agent_journal.writers.html.words import WordIndex
    from agent_journal.writers.rendering.pages import Day, IndexEntry, MissingPage, PageSet

_TITLE = "Conversations"


def write(pages: PageSet, word_index: WordIndex, out: IO[bytes]) -> None:
    """Write the index."""
    output = HtmlOutput(out, frame("index.html", "index.js", _TITLE, pages.run))
    output.put(_head(pages))
    children = pages.children()
    for day in pages.days():
        output.put(_day(day, pages, children))
    for piece in _memories(pages):
        output.put(piece)
    output.end([data("words", word_index.to_json()), data("facets", _facets(pages))])


def _head(pages: PageSet) -> Markup:
    conversations = [entry for entry in pages.entries if not entry.is_memory]
    counts = [
        count(len(conversations), "conversation"),
        count(sum(entry.messages for entry in conversations), "message"),
    ]
    if memories := len(pages.entries) - len(conversations):
        counts.append(count(memories, "memory", "memories"))
    amounts = [element("li", "", item) for item in counts]
    return element("header", "about", element("h1", "", _TITLE), element("ul", "amounts", *amounts))


def _facets(pages: PageSet) -> dict[str, list[Sequence[str]]]:
    """The source, project and models of each conversation, by the name of its page."""
    return {
        entry.name: [
            [_source_title(entry, pages)],
            [_project_name(entry)] if _project_name(entry) else [],
            entry.models,
        ]
        for entry in pages.entries
    }


def _source_title(entry: IndexEntry, pages: PageSet) -> str:
    return pages.run.titles.get(entry.source, entry.source)


def _project_name(entry: IndexEntry) -> str:
    """The last folder of a project's path, by which people know it."""
    return entry.project.replace("\\", "/").rstrip("/").rpartition("/")[2] if entry.has_folder else ""


def _day(day: Day, pages: PageSet, children: dict[str, list[IndexEntry]]) -> Markup:
    items = [_entry(entry, pages, children) for entry in day.entries]
    date = element("time", {"datetime": day.date}, day.date) if day.date else "Undated"
    return element("section", "date", element("h2", "", date), element("ul", "", *items))


def _entry(entry: IndexEntry, pages: PageSet, children: dict[str, list[IndexEntry]]) -> Markup:
    """A conversation with a flat list of all its descendants below it."""
    descendants: list[IndexEntry] = []
    pending = [*reversed(children.get(entry.name, []))]
    while pending:
        child = pending.pop()
        descendants.append(child)
        pending.extend(reversed(children.get(child.name, [])))
    items = [
        element("li", {"class": "entry", "id": descendant.name}, _summary(descendant, pages))
        for descendant in descendants
    ]
    nested = element("ul", "", *items) if items else NOTHING
    return element("li", {"class": "entry", "id": entry.name}, _summary(entry, pages), nested)


def _summary(entry: IndexEntry, pages: PageSet) -> Markup:
    link = element("a", {"href": index_link(entry, pages)}, entry.title)
    details = [_source_title(entry, pages), _project_name(entry)]
    details += [count(entry.messages, "message")] if not entry.is_memory else []
    details += [", ".join(entry.models)]
    prompt = entry.prompt_excerpt if not entry.prompt_excerpt.startswith(entry.title.rstrip("…")) else ""
    return element(
        "div",
        "item",
        clock(entry.started_at) or element("span", "", ""),
        link,
        element("small", "", " · ".join(filter(None, details))),
        element("p", "prompt", prompt) if prompt else NOTHING,
    )


def _memories(pages: PageSet) -> Iterator[Markup]:
    if memories := pages.memories():
        items = [
            element("li", {"class": "entry", "id": memory.name}, _summary(memory, pages))
            for memory in memories
        ]
        yield element("section", "date", element("h2", "", "Memories"), element("ul", "", *items))


def write_missing(missing: MissingPage, run: Run, out: IO[bytes]) -> None:
    """Write a page for a conversation that other pages link to but that is not in this export."""
    output = HtmlOutput(out, frame("page.html", "page.js", "Not in this export", run, has_media_files=True))
    back = element("a", {"href": f"../{INDEX}.html"}, _TITLE)
    output.put(element("p", "back", back))
    output.put(missing_section(missing, run))
    output.end([])


def missing_section(missing: MissingPage, run: Run) -> Markup:
    """A section for a conversation that is linked to but not in this export."""
    title = run.titles.get(missing.source, missing.source)
    return element(
        "section",
        {"class": "conversation missing", "id": missing.name},
        element("h1", "", "Not in this export"),
        element("p", "", f"{title}: ", element("code", "", missing.id)),
    )
