"""Everything that the views ask of the journal, in one place."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.errors import IndexDamaged, NoArchive, NoSuchMessage
from agent_journal.inputs.closeable import Closing
from agent_journal.journal import Journal
from agent_journal.journal.export import ListPrices
from agent_journal.rendering.outline import ConversationOutline
from agent_journal.web import sharing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.config import Config
    from agent_journal.journal import Filter, Listed
    from agent_journal.journal.answer import Answer, Mode
    from agent_journal.journal.shown import ShownConversation, ShownEntries
    from agent_journal.journal.status import Activity, UnreadFile
    from agent_journal.model import Conversation, Event, Media, Message, Relation
    from agent_journal.search.facets import Facets
    from agent_journal.search.query import Filters
    from agent_journal.usage import By, Report
    from agent_journal.web.sharing import Shared, ShareRequest

_MAX_OPEN_CONVERSATIONS = 16
_MAX_READ_ENTRIES = 500
_OVERVIEW_AGE_S = 10.0
_MAX_RELATED_SNIPPETS = 3


class Related(NamedTuple):
    """A conversation that came from another one."""

    source: str
    id: str
    title: str | None
    relation: Relation
    call_id: str | None = None
    message_id: str | None = None


class Group(NamedTuple):
    """The conversations of a source or of a project."""

    name: str
    conversations: int
    messages: int
    updated_at: str | None
    deleted: int = 0
    """Conversations whose files are no longer there; the journal still has them."""


class Overview(NamedTuple):
    """How much is in the journal, without subagents and duplicates; groups with the newest first."""

    conversations: int
    messages: int
    sources: list[Group]
    projects: list[Group]


class OpenConversation:
    """A conversation that is being read, without its entries."""

    def __init__(
        self, journal: Journal, listed: Listed, shown: ShownConversation, related: list[Related]
    ) -> None:
        self.listed = listed
        self.conversation = shown.conversation
        """Without its timeline."""
        self.parts = shown.parts
        """First what the source shows, then other branches and the work of subagents."""
        self.related = related
        self.locate = shown.locate
        self._journal = journal
        self._lock = threading.Lock()
        self._outlines: dict[int, ConversationOutline] = {}

    @property
    def name(self) -> str:
        """`source:id`, which identifies it in a URL."""
        return f"{self.listed.source}:{self.listed.id}"

    def total(self, part: int) -> int:
        """The number of entries of a part; raises NoSuchMessage if there is none."""
        if not 0 <= part < len(self.parts):
            raise NoSuchMessage(f"branch {part}")
        return self.parts[part].total

    def entries(self, part: int, start: int, limit: int) -> ShownEntries:
        """Some entries of a part."""
        return self._journal.shown_entries(self.listed, part, start, limit)

    def iter_entries(self, part: int) -> Iterator[tuple[int, Message | Event]]:
        """All entries of a part with their positions, read some at a time."""
        for start in range(0, self.total(part), _MAX_READ_ENTRIES):
            yield from enumerate(self.entries(part, start, _MAX_READ_ENTRIES).entries, start)

    def outline(self, part: int) -> ConversationOutline:
        """What happens where in a part; all of it is read for that, once."""
        with self._lock:
            if part not in self._outlines:
                outline = ConversationOutline()
                for position, entry in self.iter_entries(part):
                    outline.add(position, entry)
                self._outlines[part] = outline
            return self._outlines[part]


class JournalAccess(Closing):
    """A journal that several threads read; it is opened when it is first needed."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._open: OrderedDict[tuple[int, str | None, int], OpenConversation] = OrderedDict()
        self._prices: ListPrices | None = None
        self._overview: tuple[float, Overview] | None = None

    def overview(self) -> Overview | None:
        """What the journal contains; None if there is none yet."""
        now = time.monotonic()
        if self._overview is not None and now - self._overview[0] < _OVERVIEW_AGE_S:
            return self._overview[1]
        try:
            journal = self._opened()
        except NoArchive:
            return None
        overview = _overview_of(journal)
        self._overview = now, overview
        return overview

    def conversations(self, wanted: Filter, offset: int, limit: int) -> tuple[list[Listed], bool]:
        """Conversations, newest first, and whether there are more."""
        page = self._opened().list(wanted, offset=offset, limit=limit)
        return page.items, page.total > offset + len(page.items)

    def search(self, text: str, limit: int, offset: int, *, mode: Mode, filters: Filters) -> Answer:
        """The conversations that match a query, best first."""
        return self._opened().search(
            text, limit, offset, mode=mode, filters=filters, related_snippets=_MAX_RELATED_SNIPPETS
        )

    def facets(self, text: str, filters: Filters) -> Facets | None:
        """How many messages match a query, by their values; None if the index cannot be used."""
        try:
            return self._opened().facets(text, filters=filters)
        except IndexDamaged:
            return None

    def open(self, name: str) -> OpenConversation:
        """A conversation by its name."""
        journal = self._opened()
        listed = journal.one(name)
        key = listed.key, listed.updated_at, listed.messages
        with self._lock:
            opened = self._open.pop(key, None)
        if opened is None:
            opened = _open_conversation(journal, listed)
        with self._lock:
            self._open[key] = opened
            while len(self._open) > _MAX_OPEN_CONVERSATIONS:
                self._open.popitem(last=False)
        return opened

    def activity(self) -> Activity:
        """When messages were written, and how often tools were called and failed."""
        return self._opened().activity()

    def usage(self, by: By) -> Report:
        """The tokens that were used, and what they cost."""
        return self._opened().usage(by)

    def unread_files(self) -> list[UnreadFile]:
        """Files of which not everything could be read."""
        return self._opened().unread_files()

    def share(self, request: ShareRequest) -> Shared:
        """Write a conversation as a file for others; the caller closes it."""
        return sharing.write(self._opened(), request)

    def version(self, name: str) -> tuple[int, str | None, int]:
        """What changes whenever a conversation does."""
        listed = self._opened().one(name)
        return listed.key, listed.updated_at, listed.messages

    def list_price(self, source: str, message: Message) -> float | None:
        """What the API would have charged for an answer, in US dollars; None if unknown."""
        with self._lock:
            if self._prices is None:
                self._prices = ListPrices(self._config)
            return self._prices.answer_cost(source, message)

    def subagents(self, listed: Listed) -> list[Listed]:
        """The subagents that a conversation started."""
        children = self._opened().children(listed) if listed.children else []
        return [child for child in children if child.relation == "subagent"]

    def media(self, name: str, media: Media) -> bytes | None:
        """The bytes of an image or file; None if they are not stored."""
        return self._opened().media(name, media)

    def exact(self, name: str) -> Conversation:
        """A conversation with the source's own form of its messages."""
        return self._opened().get(name, exact=True)

    def close(self) -> None:
        """Close the journal."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()

    def _opened(self) -> Journal:
        with self._lock:
            if self._journal is None:
                self._journal = Journal(self._config)
            return self._journal


def _open_conversation(journal: Journal, listed: Listed) -> OpenConversation:
    related = []
    for child in journal.children(listed):
        link = journal.link(child)
        if link is not None:
            related.append(
                Related(child.source, child.id, child.title, link.relation, link.call_id, link.message_id)
            )
    return OpenConversation(journal, listed, journal.shown(listed), related)


def _overview_of(journal: Journal) -> Overview:
    sources: dict[str, Group] = {}
    projects: dict[str, Group] = {}
    conversations = messages = 0
    for listed in journal.conversations():
        conversations += 1
        messages += listed.messages
        for groups, name in ((sources, listed.source), (projects, listed.project)):
            if name:
                group = groups.get(name, Group(name, 0, 0, listed.updated_at))
                groups[name] = group._replace(
                    conversations=group.conversations + 1,
                    messages=group.messages + listed.messages,
                    deleted=group.deleted + listed.source_missing,
                )
    return Overview(conversations, messages, [*sources.values()], [*projects.values()])
