"""A brief for an agent that takes over: what was asked, what was done, how it stands and what is open.

It is made of the record alone: what stands in it was said or done, nothing is summed up by a model. Its
size is bounded, whatever the conversation's is.
"""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, cast

from agent_journal.model import Conversation
from agent_journal.writers import WriterInfo
from agent_journal.writers.handoff.brief import brief
from agent_journal.writers.markdown.index import absent, index
from agent_journal.writers.rendering.pages import Book, write_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import Form, Page

INFO = WriterInfo(
    name="handoff",
    title="Handoff",
    suffix=".md",
    layout="pages",
    loses=(
        "memories",
        "everything but requests, plans, files, commands, errors and last words; of long ones the middle",
        "branches other than the one the person sees",
    ),
    evidence="this project's own format: Markdown for whoever goes on, person or agent",
)
__all__ = ["INFO", "absent", "index", "page", "write", "write_pages"]


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write a brief for each conversation, one below the other."""
    book = Book(run, None)
    for item in _conversations(items, run):
        page(item, book.page(item), out)


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a file for each conversation, and `index.md`."""
    write_folder(_conversations(items, run), bundle, run, cast("Form", sys.modules[__name__]), INFO.suffix)


def page(item: Item, page: Page, out: IO[bytes]) -> None:
    """Write the brief of one conversation."""
    if isinstance(item, Conversation):
        out.write("\n\n".join([*brief(item, page), ""]).encode("utf-8", "replace"))


def _conversations(items: Iterable[Item], run: Run) -> Iterator[Conversation]:
    for item in items:
        if isinstance(item, Conversation):
            yield item
        else:
            run.cannot_say(item, "", "a memory is no work that somebody could go on with")
