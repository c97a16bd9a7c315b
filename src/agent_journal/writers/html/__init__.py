"""Web pages: one file that holds everything it needs, to be read anywhere and sent to anyone."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.model import Memory
from agent_journal.writers import WriterInfo
from agent_journal.writers.html import header, index_page
from agent_journal.writers.html.conversation import Entry, Reading
from agent_journal.writers.html.document import Sheet, contents, frame
from agent_journal.writers.html.words import Words
from agent_journal.writers.rendering import pages
from agent_journal.writers.rendering.pages import Book

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import Absent, Page

INFO = WriterInfo(
    name="html",
    title="Web page",
    suffix=".html",
    layout="pages",
    loses=(
        "what a source keeps beside its messages (extra, platform, context), and content as it had it",
        "requests, except for why they failed, and the parameters of tools",
        "signatures and encrypted thinking",
        "files that are neither pictures nor text, unless pages lie in a folder",
    ),
    evidence="HTML Living Standard, Content Security Policy Level 3",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """All items in one page."""
    book = Book(run, None)
    sheet: Sheet | None = None
    entries: list[Entry] = []
    for item in items:
        page = book.page(item)
        if sheet is None:
            sheet = Sheet(out, frame("page.html", "page.js", page.facts.title, run))
        _put(item, page, sheet, entries)
        sheet.flush()
    if sheet is None:
        sheet = Sheet(out, frame("page.html", "page.js", "No conversations", run))
    for missing in book.absent():
        sheet.put(index_page.not_here(missing, run))
    sheet.end(contents(entries))


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """A page for each item, and an index of them."""
    pages.write_folder(items, bundle, run, _Form(run), INFO.suffix)


class _Form:
    """How a folder of web pages is written; the words of its pages are kept for the index."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._words = Words()

    def page(self, item: Item, page: Page, out: IO[bytes]) -> None:
        """A conversation or memory."""
        self._words.add(page.facts.name, item)
        entries: list[Entry] = []
        sheet = Sheet(out, frame("page.html", "page.js", page.facts.title, self._run, is_beside=True))
        _put(item, page, sheet, entries)
        sheet.end(contents(entries))

    def index(self, book: Book, out: IO[bytes]) -> None:
        """The index of the folder."""
        index_page.write(book, self._words, out)

    def absent(self, missing: Absent, out: IO[bytes]) -> None:
        """What stands where a link leads to something that was not written."""
        index_page.absent(missing, self._run, out)


def _put(item: Item, page: Page, sheet: Sheet, entries: list[Entry]) -> None:
    if isinstance(item, Memory):
        entries.append(Entry(page.facts.name, page.facts.title, "title"))
        sheet.put(header.memory(item, page))
        return
    for piece in Reading(item, page, entries).pieces():
        sheet.put(piece)
