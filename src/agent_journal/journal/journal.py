"""The facade of a journal: everything that a front end can ask of it."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from agent_journal import archive
from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import NoSuchMessage, NoSuchName
from agent_journal.inputs import compressed
from agent_journal.inputs.closeable import Closing
from agent_journal.journal.sessions import SessionPool

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager

    from agent_journal.archive.store import Filter, Listed, Sort
    from agent_journal.blame.answer import Blame
    from agent_journal.config import Config
    from agent_journal.journal.paging import BranchCache, ConversationOutline, MessagePage, Page
    from agent_journal.journal.search import Answer, Mode
    from agent_journal.journal.search_resources import SearchResources
    from agent_journal.journal.sessions import Damage, ReadSession
    from agent_journal.journal.shown import ShownCache, ShownConversation, ShownEntries
    from agent_journal.model import Conversation, Link, Media, Memory
    from agent_journal.search.query import Filters, Query
    from agent_journal.usage import By, Report


class Journal(Closing):
    """A journal that is open for reading, while other processes and threads may write to it.

    Any number of threads may share it. Close it, or use it in a `with` statement.
    """

    def __init__(self, config: Config, on_migrate: Callable[[], None] | None = None) -> None:
        self._config = config
        self._sessions = SessionPool(config.home, partial(archive.open_to_read, config.home, on_migrate))
        self._lock = threading.Lock()
        self._search_resources: SearchResources | None = None
        self._branch_cache: BranchCache | None = None
        self._shown_cache: ShownCache | None = None
        with self._reading():  # raises if there is no usable journal
            pass

    def list(
        self,
        filter: Filter | None = None,  # noqa: A002 (it is the filter)
        *,
        sort: Sort = "updated",
        descending: bool | None = None,
        offset: int = 0,
        limit: int | None = 50,
    ) -> Page[Listed]:
        """Return a part of the list of conversations; `limit=None` is all that follow `offset`.

        Times and numbers are sorted from the highest, and texts from A to Z, unless `descending` says it.
        """
        from agent_journal.archive.store import SORTS, Filter  # noqa: PLC0415
        from agent_journal.journal.paging import list_page  # noqa: PLC0415

        if sort not in SORTS:
            raise NoSuchName("order", sort, SORTS)
        with self._reading() as session:
            return list_page(
                session.archive.store,
                filter or Filter(),
                sort,
                descending=descending,
                offset=max(offset, 0),
                limit=limit if limit is None else max(limit, 0),
            )

    def conversations(self, wanted: Filter | None = None) -> builtins.list[Listed]:
        """Return all conversations that a filter selects, newest first."""
        return self.list(wanted, limit=None).items

    def get(
        self,
        name: str | Listed,
        *,
        exact: bool = False,
        media: bool = False,
        on_damage: Callable[[Damage], None] | None = None,
    ) -> Conversation:
        """Return a conversation by its id, or by the beginning of its id if that is unambiguous.

        With `exact`, messages have the source's own form too, for writers that promise it. With `media`, the
        conversation has the images and files that are stored for it. `on_damage` gets any damage that is met.
        """
        allowed_mb = self._config.storage.max_inflated_mb or None
        with self._reading() as session, compressed.allowing(allowed_mb):
            key = _find(session, name).key
            conversation = session.native.read(key) if exact else session.recovering.conversation(key)
            if media:
                conversation = session.media.with_data(key, conversation)
            for each in session.take_damage(key, exact=exact):
                if on_damage is not None:
                    on_damage(each)
            return conversation

    conversation = read = get  # the names until version 0.2

    def one(self, name: str) -> Listed:
        """Return the conversation with an id or the beginning of one, as lists show it."""
        with self._reading() as session:
            return session.archive.find_conversation(name)

    def find(self, name: str) -> builtins.list[Listed]:
        """Return the conversations with an id, a `source:id`, or else the beginning of one."""
        with self._reading() as session:
            return session.archive.store.find(encodable(name))

    def listed(self, keys: Collection[int]) -> dict[int, Listed]:
        """Return conversations by their keys in this journal, as lists show them."""
        with self._reading() as session:
            return session.archive.store.listed(keys)

    def messages(
        self, name: str | Listed, *, branch: str = "head", start: int = 0, limit: int = 100
    ) -> MessagePage:
        """Return messages and events of a conversation by their position, without reading the others.

        `branch` is `head`, the branch that the source shows; `all`, everything in the order of the source; or
        the id of a message, which is the end of its branch.
        """
        from agent_journal.journal.paging import read_page  # noqa: PLC0415

        with self._reading() as session:
            listed = _find(session, name)
            return read_page(session, self._branches(), listed, branch, start=start, limit=limit)

    def outline(self, name: str | Listed, *, branch: str = "head") -> ConversationOutline:
        """Return the position, the id and the first line of each prompt on a branch."""
        from agent_journal.journal.paging import read_outline  # noqa: PLC0415

        with self._reading() as session:
            return read_outline(session, self._branches(), _find(session, name), branch)

    def shown(self, name: str | Listed) -> ShownConversation:
        """Return the parts of a conversation as people read it, without reading their entries."""
        with self._reading() as session:
            return self._shown_conversations().get(session, _find(session, name))

    def shown_entries(self, name: str | Listed, part: int, start: int, limit: int) -> ShownEntries:
        """Return some consecutive entries of a part; raises NoSuchMessage if there is no such part."""
        from agent_journal.journal.shown import read_entries  # noqa: PLC0415 (a search does not need it)

        with self._reading() as session:
            listed = _find(session, name)
            parts = self._shown_conversations().get(session, listed).parts
            if not 0 <= part < len(parts):
                raise NoSuchMessage(f"branch {part}")
            return read_entries(session, listed, parts[part], start, limit)

    def children(self, name: str | Listed) -> builtins.list[Listed]:
        """Return the conversations that started from one: subagents, forks, continuations."""
        with self._reading() as session:
            return session.archive.store.children(_find(session, name).key)

    def link(self, name: str | Listed) -> Link | None:
        """Return where a conversation started from."""
        with self._reading() as session:
            return session.archive.store.link(_find(session, name).key)

    def media(self, name: str | Listed, media: Media) -> bytes | None:
        """Return the bytes of an image, sound or document in a conversation; None if they are not stored."""
        with self._reading() as session:
            return session.media.load(_find(session, name).key, media)

    def memories(self) -> builtins.list[Memory]:
        """Return what services remember about the user."""
        with self._reading() as session:
            return [*session.archive.store.memories()]

    def search(
        self,
        query: str | Query,
        limit: int = 20,
        offset: int = 0,
        context: int = 0,
        *,
        mode: Mode | None = None,
        filters: Filters | None = None,
        strict: bool = False,
        whole: bool = False,
    ) -> Answer:
        """Return the conversations that match a query, best first, each with `context` messages around a hit.

        A text is parsed as `docs/search.md` describes; no text is an error. `filters` apply in addition to
        those in the query. `mode` is `lexical` (by words), `semantic` (by meaning) or `hybrid` (both); None
        is what the configuration sets. With `strict`, no word is corrected, and all words are required. With
        `whole`, each hit has all texts of its message, also reasoning, attachments, and input and output of
        tools; that takes longer.

        If the index cannot be used, the newest rows are searched instead, and the answer says so (`problem`).
        """
        from agent_journal.journal.search import MODES, Page, SearchSession  # noqa: PLC0415
        from agent_journal.search.query import Filters, parse  # noqa: PLC0415 (a sync does not need it)

        if isinstance(query, str):
            query = parse(query, filters or Filters(), time.time())
        elif filters is not None:
            query = query._replace(filters=query.filters + filters)
        if strict or query.strict:
            query = query._replace(strict=True, min_groups=None)
        mode = mode or self._config.search.default_mode
        if mode not in MODES:
            raise NoSuchName("search mode", mode, MODES)
        page = Page(max(limit, 0), max(offset, 0), max(context, 0), whole)
        resources = self._resources()
        with self._reading() as session:
            return SearchSession(session.archive, self._config, resources).answer(query, mode, page)

    def blame(
        self,
        path: str,
        lines: tuple[int, int] | None = None,
        *,
        text: str | None = None,
        limit: int = 20,
        offset: int = 0,
        folder: str = "",
        reads_file: bool = True,
        is_allowed: Callable[[Listed], bool] | None = None,
    ) -> Blame:
        """Return which edits of which conversations changed a file, newest first.

        With `lines`, only the edits that these lines of the file on disk come from; with `text`, only those
        that added or removed it. A path that is neither absolute nor a file in `folder` means all files whose
        paths end with it. `is_allowed` restricts the conversations.
        """
        from agent_journal.blame.target import LineRange  # noqa: PLC0415 (rarely needed)
        from agent_journal.journal.blaming import BlameQuestion, blame, read_file  # noqa: PLC0415
        from agent_journal.journal.search import SearchSession  # noqa: PLC0415

        question = BlameQuestion(
            path, lines and LineRange(*lines), text, limit, offset, folder, reads_file, is_allowed
        )
        file = read_file(question)  # takes a while in a large repository, so nothing is borrowed yet
        resources = self._resources()
        with self._reading() as session:
            searching = SearchSession(session.archive, self._config, resources)
            return blame(session.archive.store, searching.messages_naming, question, file)

    def usage(
        self,
        by: By = "day",
        wanted: Filter | None = None,
        timezone: str | None = None,
        *,
        estimate: bool = False,
    ) -> Report:
        """Return the tokens that were used and their cost, each token counted once.

        Days are those of a time zone, by default the machine's. Filters apply to the time and model of each
        response. With `estimate`, there are separate rows for responses of which no usage is stated.
        """
        from agent_journal.usage.periods import current_slot, parse_zone  # noqa: PLC0415
        from agent_journal.usage.reporting import build_report  # noqa: PLC0415

        zone, now = parse_zone(timezone), current_slot()
        with self._reading() as session:
            return build_report(
                session.archive.store, self._config, by, wanted, zone=zone, now=now, estimate=estimate
            )

    def close(self) -> None:
        """Close the files. Calls in other threads finish; later ones are refused."""
        self._sessions.close()
        with self._lock:
            resources, self._search_resources = self._search_resources, None
        if resources is not None:
            resources.close()

    def _reading(self) -> AbstractContextManager[ReadSession]:
        return self._sessions.lend()

    def _branches(self) -> BranchCache:
        with self._lock:
            if self._branch_cache is None:
                from agent_journal.journal.paging import BranchCache  # noqa: PLC0415 (a search does not need it)

                self._branch_cache = BranchCache()
            return self._branch_cache

    def _shown_conversations(self) -> ShownCache:
        with self._lock:
            if self._shown_cache is None:
                from agent_journal.journal.shown import ShownCache  # noqa: PLC0415 (a search does not need it)

                self._shown_cache = ShownCache()
            return self._shown_cache

    def _resources(self) -> SearchResources:
        with self._lock:
            if self._search_resources is None:
                from agent_journal.journal.search_resources import SearchResources  # noqa: PLC0415 (only to search)

                self._search_resources = SearchResources(self._config)
            return self._search_resources


def _find(session: ReadSession, name: str | Listed) -> Listed:
    """Return the conversation as it is now; a listed one may have been forgotten meanwhile."""
    if isinstance(name, str):
        return session.archive.find_conversation(name)
    listed = session.archive.store.listed([name.key]).get(name.key)
    if listed is not None and (listed.source, listed.id) == (name.source, name.id):
        return listed
    return session.archive.find_conversation(f"{name.source}:{name.id}")
