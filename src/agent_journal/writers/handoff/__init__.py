"""A brief for an agent that takes over: the requests, the work done, the current state and open issues.

It is derived from the record alone: it quotes messages and lists tool calls, and no model writes summaries.
Its
size is bounded, however long the conversation is.
"""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING, cast

from agent_journal.model import Conversation
from agent_journal.writers import WriterInfo
from agent_journal.writers.handoff.brief import brief
from agent_journal.writers.markdown.index import write_index, write_missing
from agent_journal.writers.rendering.pages import PageSet, write_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.rendering.pages import Page, PageFormat

INFO = WriterInfo(
    name="handoff",
    title="Handoff",
    suffix=".md",
    layout="pages",
    loses=(
        "memories",
        "all but requests, plans, files, commands, errors and the last message; the middle of long texts",
        "branches other than the current one",
    ),
    evidence="this project's own format: Markdown for the person or agent that continues the work",
)
__all__ = ["INFO", "write", "write_index", "write_missing", "write_page", "write_pages"]


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write a brief for each conversation into one document."""
    pages = PageSet(run, None)
    for item in _conversations(items, run):
        write_page(item, pages.add_page(item), out)


def write_pages(items: Iterable[Item], bundle: Bundle, run: Run) -> None:
    """Write a file for each conversation, and `index.md`."""
    write_folder(
        _conversations(items, run), bundle, run, cast("PageFormat", sys.modules[__name__]), INFO.suffix
    )


def write_page(item: Item, page: Page, out: IO[bytes]) -> None:
    """Write the brief of one conversation."""
    if isinstance(item, Conversation):
        out.write("\n\n".join([*brief(item, page), ""]).encode("utf-8", "replace"))


def _conversations(items: Iterable[Item], run: Run) -> Iterator[Conversation]:
    for item in items:
        if isinstance(item, Conversation):
            yield item
        else:
            run.note_not_preserved(item, "", "a memory, as it has no work to continue")
