"""Self-contained web pages: one HTML file that works offline and can be sent to anyone."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.model import Memory
from agent_journal.rendering import header
from agent_journal.rendering.context import Context
from agent_journal.rendering.conversation import ConversationView, TocEntry
from agent_journal.text.humanize import count
from agent_journal.writers import WriterInfo
from agent_journal.writers.html import index_page
from agent_journal.writers.html.document import HtmlOutput, frame, table_of_contents
from agent_journal.writers.html.file_addresses import FileAddresses
from agent_journal.writers.html.words import WordIndex
from agent_journal.writers.rendering.pages import PageSet, write_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import MissingPage, Page

INFO = WriterInfo(
    name="html",
    title="Web page",
    suffix=".html",
    layout="pages",
    loses=(
        "source-specific fields (extra other than exit codes, platform, context) and native content",
        "requests, except for the reasons they failed; parameters of tools",
        "signatures and encrypted reasoning",
        "in one document: files that are neither images nor text",
        "response ids, stop reasons, shares of token counts, positions of citations",
        "times and kinds of summaries and feedback; accounts of memories; generated ids",
    ),
    evidence="HTML Living Standard, Content Security Policy Level 3",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write all items as one page."""
    pages = PageSet(run, None)
    output: HtmlOutput | None = None
    toc_entries: list[TocEntry] = []
    for item in items:
        page = pages.add_page(item)
        if output is None:
            output = HtmlOutput(out, frame("page.html", "page.js", page.entry.title, run))
        _write_item(item, page, output, toc_entries)
        output.flush()
    if output is None:
        output = HtmlOutput(out, frame("page.html", "page.js", "No conversations", run))
    for missing in pages.missing_pages():
        output.put(index_page.missing_section(missing, run))
    output.end(table_of_contents(toc_entries))


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a page for each item, and an index."""
    write_folder(items, bundle, run, _HtmlPages(run), INFO.suffix)


class _HtmlPages:
    """Writes the pages of a folder, and collects their words for the index."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._word_index = WordIndex()

    def write_page(self, item: Item, page: Page, out: IO[bytes]) -> None:
        """Write a conversation or memory."""
        self._word_index.add(page.entry.name, item)
        toc_entries: list[TocEntry] = []
        output = HtmlOutput(
            out, frame("page.html", "page.js", page.entry.title, self._run, has_media_files=True)
        )
        _write_item(item, page, output, toc_entries)
        output.end(table_of_contents(toc_entries))

    def write_index(self, pages: PageSet, out: IO[bytes]) -> None:
        """Write the index of the folder."""
        index_page.write(pages, self._word_index, out)

    def write_missing(self, missing: MissingPage, out: IO[bytes]) -> None:
        """Write the target of a link to a conversation that is not in this export."""
        index_page.write_missing(missing, self._run, out)


def _write_item(item: Item, page: Page, output: HtmlOutput, toc_entries: list[TocEntry]) -> None:
    context = Context(page.entry.title, FileAddresses(page), page.run.titles, page.run.list_price)
    if isinstance(item, Memory):
        toc_entries.append(TocEntry(page.entry.name, page.entry.title, "title"))
        output.put(header.memory(item, context))
        return
    view = ConversationView(item, context, toc_entries)
    for piece in view.render():
        output.put(piece)
    if view.omitted_files:
        page.run.note_not_preserved(item, "", f"content of {count(view.omitted_files, 'file')}")
