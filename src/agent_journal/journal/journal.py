"""The facade of a journal: everything that a front end can ask of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agent_journal import archive
from agent_journal.errors import NoSuchName
from agent_journal.inputs.closeable import Closing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from agent_journal.archive.media import StoredMedia
    from agent_journal.archive.native_content import NativeContentReader
    from agent_journal.archive.salvage import RecoveringReader
    from agent_journal.archive.store import Filter, Listed
    from agent_journal.config import Config
    from agent_journal.journal.search import Answer, Mode, SearchSession
    from agent_journal.model import Conversation, Link, Media, Memory
    from agent_journal.search.query import Filters, Query
    from agent_journal.usage import By, Report


class Journal(Closing):
    """A journal that is open for reading, while other processes may write to it.

    Close it, or use it in a `with` statement.
    """

    def __init__(self, config: Config, on_migrate: Callable[[], None] | None = None) -> None:
        self._config = config
        self._archive = archive.open_to_read(config.home, on_migrate)
        self._search_session: SearchSession | None = None
        self._native_reader: NativeContentReader | None = None
        self._recovering_reader: RecoveringReader | None = None
        self._stored_media: StoredMedia | None = None

    def conversations(self, wanted: Filter | None = None) -> Iterator[Listed]:
        """Yield the conversations, newest first."""
        from agent_journal.archive.store import Filter  # noqa: PLC0415

        return self._archive.store.conversations(wanted or Filter())

    def conversation(self, name: str, *, exact: bool = False) -> Conversation:
        """Return a conversation by its id, or by the beginning of its id if that is unambiguous.

        With `exact`, messages have the source's own form too, for writers that promise it.
        """
        return self.read(self._archive.find_conversation(name), exact=exact)

    def one(self, name: str) -> Listed:
        """Return the conversation with an id or the beginning of one, as lists show it."""
        return self._archive.find_conversation(name)

    def listed(self, keys: Collection[int]) -> dict[int, Listed]:
        """Return conversations by their keys in this journal, as lists show them."""
        return self._archive.store.listed(keys)

    def children(self, listed: Listed) -> list[Listed]:
        """Return the conversations that started from one: subagents, forks, continuations."""
        return self._archive.store.children(listed.key)

    def link(self, listed: Listed) -> Link | None:
        """Return where a conversation started from."""
        return self._archive.store.link(listed.key)

    def read(self, listed: Listed, *, exact: bool = False, media: bool = False) -> Conversation:
        """Read a listed conversation; with `media`, it has the images and files that are stored for it."""
        key = listed.key
        conversation = self._native().read(key) if exact else self._recovering().conversation(key)
        return self._media().with_data(key, conversation) if media else conversation

    def damage(self, listed: Listed, *, exact: bool = False) -> list[tuple[str, bool]]:
        """Return the damage that the last `read` with the same arguments met.

        Each with a description, and whether something is missing because of it.
        """
        damage = [(str(each), each.missing > 0) for each in self._recovering().take_reports()]
        for error in self._native().damage(listed.key) if exact else ():
            why = f"{error.where}: {error.reason}; its original form was replaced by the content of the rows"
            damage.append((why, True))
        return damage

    def media(self, name: str, media: Media) -> bytes | None:
        """Return the bytes of an image, sound or document in a conversation; None if they are not stored."""
        return self._media().load(self._archive.find_conversation(name).key, media)

    def memories(self) -> Iterator[Memory]:
        """Yield what services remember about the user."""
        return self._archive.store.memories()

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
        if self._search_session is None:
            self._search_session = SearchSession(self._archive, self._config)
        page = Page(max(limit, 0), max(offset, 0), max(context, 0), whole)
        return self._search_session.answer(query, mode, page)

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
        return build_report(
            self._archive.store, self._config, by, wanted, zone=zone, now=now, estimate=estimate
        )

    def close(self) -> None:
        """Close the files."""
        if self._search_session is not None:
            self._search_session.close()
        self._archive.close()

    def _native(self) -> NativeContentReader:
        if self._native_reader is None:
            from agent_journal.archive.native_content import NativeContentReader  # noqa: PLC0415 (rarely needed)

            self._native_reader = NativeContentReader(self._archive, self._recovering())
        return self._native_reader

    def _recovering(self) -> RecoveringReader:
        if self._recovering_reader is None:
            from agent_journal.archive.salvage import RecoveringReader  # noqa: PLC0415 (a search does not need it)

            self._recovering_reader = RecoveringReader(self._archive)
        return self._recovering_reader

    def _media(self) -> StoredMedia:
        if self._stored_media is None:
            from agent_journal.archive.media import StoredMedia  # noqa: PLC0415 (rarely needed)

            self._stored_media = StoredMedia(self._archive)
        return self._stored_media
