"""The index of a folder of pages: everything by project and day, and a search over what was said."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.text.humanize import count
from agent_journal.writers.html.document import Sheet, frame
from agent_journal.writers.html.markup import NOTHING, Markup, closing, data, element, opening
from agent_journal.writers.html.time_tags import clock
from agent_journal.writers.rendering import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.writers import Run
    from agent_journal.writers.html.words import Words
    from agent_journal.writers.rendering.pages import Absent, Book, Facts, Project

_TITLE = "Conversations"


def write(book: Book, words: Words, out: IO[bytes]) -> None:
    """The index."""
    sheet = Sheet(out, frame("index.html", "index.js", _TITLE, book.run))
    sheet.put(_head(book))
    below = book.children()
    for project in book.projects():
        for piece in _project(project, book, below):
            sheet.put(piece)
    for piece in _memories(book):
        sheet.put(piece)
    sheet.end([data("words", words.told())])


def _head(book: Book) -> Markup:
    said = [facts for facts in book.facts if not facts.is_memory]
    told = [count(len(said), "conversation"), count(sum(facts.messages for facts in said), "message")]
    if kept := len(book.facts) - len(said):
        told.append(count(kept, "memory", "memories"))
    amounts = [element("li", "", each) for each in told]
    return element("header", "about", element("h1", "", _TITLE), element("ul", "amounts", *amounts))


def _project(project: Project, book: Book, below: dict[str, list[Facts]]) -> Iterator[Markup]:
    yield opening("section", "project")
    yield element("h2", "", project.name)
    for day in project.days:
        entries = [_entry(facts, book, below) for facts in day.entries]
        date = element("time", {"datetime": day.date}, day.date) if day.date else "Without a date"
        yield element("div", "date", element("h3", "", date), element("ul", "", *entries))
    yield closing("section")


def _entry(facts: Facts, book: Book, below: dict[str, list[Facts]]) -> Markup:
    """A conversation, and below it what came out of it; what that brought forth stands beside it."""
    listed: list[Facts] = []
    pending = [*reversed(below.get(facts.name, []))]
    while pending:
        child = pending.pop()
        listed.append(child)
        pending.extend(reversed(below.get(child.name, [])))
    inner = [element("li", {"class": "entry", "id": each.name}, _item(each, book)) for each in listed]
    nested = element("ul", "", *inner) if inner else NOTHING
    return element("li", {"class": "entry", "id": facts.name}, _item(facts, book), nested)


def _item(facts: Facts, book: Book) -> Markup:
    link = element("a", {"href": pages.address_in_index(facts, book)}, facts.title)
    told = [count(facts.messages, "message")] if not facts.is_memory else []
    told += [", ".join(facts.models)] if facts.models else []
    asked = facts.asked if not facts.asked.startswith(facts.title.rstrip("…")) else ""
    return element(
        "div",
        "item",
        clock(facts.begun_at) or element("span", "", ""),
        link,
        element("small", "", " · ".join(told)),
        element("p", "asked", asked) if asked else NOTHING,
    )


def _memories(book: Book) -> Iterator[Markup]:
    if memories := book.memories():
        entries = [element("li", {"class": "entry", "id": each.name}, _item(each, book)) for each in memories]
        yield element("section", "project", element("h2", "", "Memories"), element("ul", "", *entries))


def absent(missing: Absent, run: Run, out: IO[bytes]) -> None:
    """A page for a conversation which others refer to."""
    sheet = Sheet(out, frame("page.html", "page.js", "Not in this export", run, is_beside=True))
    back = element("a", {"href": f"../{pages.INDEX}.html"}, _TITLE)
    sheet.put(element("p", "back", back))
    sheet.put(not_here(missing, run))
    sheet.end([])


def not_here(missing: Absent, run: Run) -> Markup:
    """That a conversation which others refer to is not here."""
    title = run.titles.get(missing.source, missing.source)
    return element(
        "section",
        {"class": "conversation missing", "id": missing.name},
        element("h1", "", "Not in this export"),
        element("p", "", f"{title}: ", element("code", "", missing.id)),
    )
