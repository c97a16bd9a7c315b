"""Pages for people: all conversations in one document, or one page each in a folder with an index.

The name of a page depends only on the source and id of its conversation, so links to it can be written
before the page itself. If a linked conversation is not in the export, a page says so: no link is broken.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from agent_journal.model import Conversation, Memory, Relation, tree
from agent_journal.rendering.addresses import message_anchor, short_hash
from agent_journal.rendering.utc_times import day
from agent_journal.text import describe
from agent_journal.writers.rendering.images import MediaFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item, Media, ToolCall
    from agent_journal.writers import Bundle, RelatedConversation, Run

FOLDER = "conversations"
"""The folder of the pages; the index is in its parent."""
INDEX = "index"
_NOT_SLUG_CHARS = re.compile(r"[^a-z0-9]+")
_MAX_SLUG_CHARS = 60
_MAX_EXCERPT_CHARS = 500


def page_name(source: str, id_: str, kind: str = "") -> str:
    """The name of a page, without suffix: valid on any file system, and unique even if case is ignored.

    It starts with a readable form of the id and ends with a hash that makes it unique.
    """
    slug = _NOT_SLUG_CHARS.sub("-", id_[: 2 * _MAX_SLUG_CHARS].lower())[:_MAX_SLUG_CHARS].strip("-")
    return f"{slug}-{short_hash(kind, source, id_)}".lstrip("-")


class IndexEntry(Struct, frozen=True, kw_only=True):
    """An index entry of a conversation or memory; small, as all are held until the index is written."""

    name: str
    """The name of its page, without suffix."""
    source: str
    id: str
    title: str
    is_memory: bool = False
    project: str = ""
    """Its working folder, or the display name of its source."""
    has_folder: bool = False
    started_at: str | None = None
    ended_at: str | None = None
    messages: int = 0
    models: tuple[str, ...] = ()
    tokens: str = ""
    prompt_excerpt: str = ""
    """The start of the user's prompts."""
    parent: str | None = None
    """The name of the page of its parent conversation."""
    relation: Relation | None = None

    @property
    def day(self) -> str:
        """The day on which it started, `2026-03-01`; empty if unknown."""
        return day(self.started_at or self.ended_at)


class MissingPage(NamedTuple):
    """A conversation that others link to but that is not in the export."""

    name: str
    source: str
    id: str


class Day(NamedTuple):
    """The entries of one day, the newest first."""

    date: str
    entries: list[IndexEntry]


class Project(NamedTuple):
    """The conversations of one project, the newest day first."""

    name: str
    days: list[Day]


class PageSet:
    """The pages of one run, with their addresses and index entries.

    `suffix` is the suffix of page files; None if all pages are in one document. `embeds` is whether such a
    document embeds images by default.
    """

    def __init__(self, run: Run, suffix: str | None, *, embeds: bool = True) -> None:
        self.run = run
        self.suffix = suffix
        self.entries: list[IndexEntry] = []
        self.media_files = MediaFiles(run.images, is_folder=suffix is not None, embeds=embeds)
        self._names: set[str] = set()
        self._linked: dict[str, MissingPage] = {}

    def add_page(self, item: Item) -> Page:
        """Add a page for an item; an item with the same id as an earlier one gets a different name."""
        base_name = name = _item_page_name(item)
        copies = 1
        while name in self._names:
            copies += 1
            name = f"{base_name}-{copies}"
        self._names.add(name)
        entry = _index_entry(item, name, self.run)
        self.entries.append(entry)
        return Page(self, entry)

    def address(self, source: str, id_: str, message_id: str | None = None) -> str:
        """The address for links from other pages to a conversation, or to a message in it."""
        name = page_name(source, id_)
        self._linked.setdefault(name, MissingPage(name, source, id_))
        anchor = message_anchor(message_id) if message_id is not None else ""
        if self.suffix is None:
            return f"#{name}-{anchor}" if anchor else f"#{name}"
        return f"{name}{self.suffix}#{anchor}" if anchor else f"{name}{self.suffix}"

    def missing_pages(self) -> list[MissingPage]:
        """The conversations that were linked to but have no page."""
        return [page for name, page in self._linked.items() if name not in self._names]

    def has_page(self, name: str) -> bool:
        """Whether there is a page of that name."""
        return name in self._names

    def projects(self) -> list[Project]:
        """All top-level entries by project and day, the newest first."""
        by_project: dict[str, dict[str, list[IndexEntry]]] = {}
        nested = self._nested_names()
        for entry in self.entries:
            if entry.name not in nested and not entry.is_memory:
                by_project.setdefault(entry.project, {}).setdefault(entry.day, []).append(entry)
        projects = [
            Project(
                name,
                [Day(day, sorted(days[day], key=_time_key, reverse=True)) for day in _newest_first(days)],
            )
            for name, days in by_project.items()
        ]
        return sorted(projects, key=lambda project: (project.days[0].date, project.name), reverse=True)

    def days(self) -> list[Day]:
        """All top-level entries by day, the newest first."""
        by_day: dict[str, list[IndexEntry]] = {}
        nested = self._nested_names()
        for entry in self.entries:
            if entry.name not in nested and not entry.is_memory:
                by_day.setdefault(entry.day, []).append(entry)
        return [Day(day, sorted(by_day[day], key=_time_key, reverse=True)) for day in _newest_first(by_day)]

    def children(self) -> dict[str, list[IndexEntry]]:
        """The children of each conversation, by the name of its page, in order of time."""
        children: dict[str, list[IndexEntry]] = {}
        nested = self._nested_names()
        for entry in sorted(self.entries, key=_time_key):
            if entry.name in nested:
                children.setdefault(entry.parent or "", []).append(entry)
        return children

    def memories(self) -> list[IndexEntry]:
        """The memories that services store about the user."""
        return [entry for entry in self.entries if entry.is_memory]

    def _nested_names(self) -> set[str]:
        """The names of pages that are nested below another one. Pages in a cycle are top-level."""
        parents = {entry.name: entry.parent for entry in self.entries if entry.parent in self._names}
        is_nested: dict[str, bool] = {}
        for name in parents:
            visited: dict[str, None] = {}
            current: str | None = name
            while current in parents and current not in is_nested and current not in visited:
                visited[current] = None
                current = parents[current]
            is_nested |= dict.fromkeys(visited, is_nested.get(current or "", current not in visited))
        return {name for name, nested in is_nested.items() if nested}


class Page:
    """One page: its index entry and the addresses it links to."""

    def __init__(self, pages: PageSet, entry: IndexEntry) -> None:
        self.entry = entry
        self.run = pages.run
        self._pages = pages
        self._has_children = (entry.source, entry.id) in pages.run.children

    @property
    def index_address(self) -> str | None:
        """The address of this page's entry in the index; None in a single document."""
        suffix = self._pages.suffix
        return None if suffix is None else f"../{INDEX}{suffix}#{self.entry.name}"

    def anchor(self, message_id: str) -> str:
        """The anchor of a message of this page, as used in links from other pages."""
        anchor = message_anchor(message_id)
        return anchor if self._pages.suffix is not None else f"{self.entry.name}-{anchor}"

    def parent_address(self, conversation: Conversation, *, message: bool = True) -> str | None:
        """The address of the parent conversation, or of the message in it; None without a parent."""
        link = conversation.link
        if link is None:
            return None
        return self._pages.address(
            conversation.source, link.conversation_id, link.message_id if message else None
        )

    def children(self) -> tuple[tuple[RelatedConversation, str], ...]:
        """The known children of this conversation, with their addresses."""
        entry = self.entry
        children = () if entry.is_memory else self.run.children.get((entry.source, entry.id), ())
        return tuple((child, self._pages.address(entry.source, child.id)) for child in children)

    def subagents_of_call(self, call: ToolCall) -> list[tuple[RelatedConversation, str]]:
        """The subagents that a tool call started, with their addresses."""
        if call.call_id is None or not self._has_children:
            return []
        return [child for child in self.children() if child[0].call_id == call.call_id]

    def subagents_of_message(self, message_id: str) -> list[tuple[RelatedConversation, str]]:
        """The subagents that a message started, if the tool call is unknown."""
        if not self._has_children:
            return []
        children = self.children()
        return [child for child in children if child[0].call_id is None and child[0].message_id == message_id]

    def image_address(self, media: Media) -> str | None:
        """The address of an image: a relative path or a `data:` address; None if it is not available."""
        return self._pages.media_files.image_address(media)

    def file_path(self, media: Media) -> str | None:
        """The relative path of any other file; None if it was not written."""
        return self._pages.media_files.file_path(media)


class PageFormat(Protocol):
    """How a format writes its pages. A module can implement it."""

    def write_page(self, item: Item, page: Page, out: IO[bytes]) -> None:
        """Write a conversation or memory."""

    def write_index(self, pages: PageSet, out: IO[bytes]) -> None:
        """Write the index of a folder."""

    def write_missing(self, missing: MissingPage, out: IO[bytes]) -> None:
        """Write a page for a conversation that is linked to but not in this export."""


def write_folder(
    items: Iterable[Item], bundle: Bundle, run: Run, page_format: PageFormat, suffix: str
) -> None:
    """Write a page for each item, then pages for missing conversations, and the index."""
    pages = PageSet(run, suffix)
    for item in items:
        page = pages.add_page(item)
        # One file is open at a time.
        pages.media_files.write_files(item, bundle)
        with bundle.file(f"{FOLDER}/{page.entry.name}{suffix}") as out:
            page_format.write_page(item, page, out)
    for missing in pages.missing_pages():
        with bundle.file(f"{FOLDER}/{missing.name}{suffix}") as out:
            page_format.write_missing(missing, out)
    if pages.entries:
        with bundle.file(f"{INDEX}{suffix}") as out:
            page_format.write_index(pages, out)


def index_link(entry: IndexEntry, pages: PageSet) -> str:
    """The address of a page in links of the index."""
    return f"{FOLDER}/{entry.name}{pages.suffix}"


def _item_page_name(item: Item) -> str:
    return page_name(item.source, item.id, "memory" if isinstance(item, Memory) else "")


def _index_entry(item: Item, name: str, run: Run) -> IndexEntry:
    source_title = run.titles.get(item.source, item.source)
    if isinstance(item, Memory):
        title = tree.title_from([item.text]) or item.kind
        return IndexEntry(
            name=name,
            source=item.source,
            id=item.id,
            title=title,
            is_memory=True,
            project=source_title,
            started_at=item.at,
        )
    begun_at, ended_at = describe.span(item)
    link = item.link
    return IndexEntry(
        name=name,
        source=item.source,
        id=item.id,
        title=describe.title(item),
        project=item.cwd or source_title,
        has_folder=bool(item.cwd),
        started_at=begun_at,
        ended_at=ended_at,
        messages=sum(1 for _ in tree.messages(item)),
        models=tuple(describe.models(item)),
        tokens=describe.tokens(tree.usages(item.timeline)),
        prompt_excerpt=_prompt_excerpt(item),
        parent=page_name(item.source, link.conversation_id) if link else None,
        relation=link.relation if link else None,
    )


def _prompt_excerpt(conversation: Conversation) -> str:
    text = ""
    for message in tree.messages(conversation):
        if message.role == "user" and not message.hidden:
            text += f"{tree.plain_text(message)[:_MAX_EXCERPT_CHARS]} "
            if len(text) > _MAX_EXCERPT_CHARS:
                break
    return " ".join(text.split())[:_MAX_EXCERPT_CHARS]


def _time_key(entry: IndexEntry) -> tuple[str, str]:
    return entry.started_at or entry.ended_at or "", entry.name


def _newest_first(days: dict[str, list[IndexEntry]]) -> Iterator[str]:
    return iter(sorted(days, reverse=True))
