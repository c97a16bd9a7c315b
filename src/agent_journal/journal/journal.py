"""The facade of a journal: everything that a front end can ask of it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import NoSuchMessage, NoSuchName
from agent_journal.journal.changes import JournalChanges

if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Collection, Iterable

    from agent_journal.archive.restoring import RestoredFile
    from agent_journal.archive.store import Counts, Filter, Listed, Sort
    from agent_journal.blame.answer import Blame
    from agent_journal.discovery import EncryptedFiles
    from agent_journal.journal.answer import Answer, Mode
    from agent_journal.journal.doctor import Finding
    from agent_journal.journal.export import ExportChoice, ExportOptions, ExportReport, ExportTarget
    from agent_journal.journal.inventory import Inventory
    from agent_journal.journal.loading import ConversationLoader
    from agent_journal.journal.paging import ConversationOutline, MessagePage, Page
    from agent_journal.journal.recent import RecentConversation
    from agent_journal.journal.sessions import Damage, ReadSession
    from agent_journal.journal.shown import ShownConversation, ShownEntries
    from agent_journal.journal.status import Activity, JournalStatus, UnreadFile
    from agent_journal.journal.verification import CheckReport
    from agent_journal.model import Conversation, Link, Media, Memory
    from agent_journal.notes import Notes
    from agent_journal.search.facets import Facets
    from agent_journal.search.query import Filters, Query
    from agent_journal.usage import By, Report


class Journal(JournalChanges):
    """A journal that is open for reading, while other processes and threads may write to it.

    Any number of threads may share it. Close it, or use it in a `with` statement.
    """

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

    def recent(
        self, folder: str | None = None, wanted: Filter | None = None, *, limit: int = 10, offset: int = 0
    ) -> Page[RecentConversation]:
        """Return the last conversations with what was asked in each and how it ended, secrets redacted.

        With `folder`, only those of the project that this folder is in.
        """
        from agent_journal.archive.store import Filter  # noqa: PLC0415
        from agent_journal.journal.recent import recent_page  # noqa: PLC0415 (rarely needed)

        with self._reading() as session:
            return recent_page(
                session, self._branches(), folder, wanted or Filter(), offset=offset, limit=limit
            )

    def selected(self, wanted: Filter, keys: Collection[int] | None = None) -> set[int]:
        """Return the keys of those of some conversations, or of all, that a filter selects."""
        with self._reading() as session:
            return session.archive.store.selected(wanted, keys)

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
        with self._reading() as session, self._limits():
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

    def size_of(self, name: str | Listed) -> int:
        """Return the size of a conversation's entries in bytes."""
        with self._reading() as session:
            return session.archive.store.size_of(_find(session, name).key)

    def load(self, name: str | Listed) -> ConversationLoader:
        """Return the outline of a conversation, and what reads its entries when they are needed."""
        from agent_journal.journal.loading import ConversationLoader  # noqa: PLC0415

        with self._reading() as session:
            key = _find(session, name).key
            return ConversationLoader(self._reading, key, session.archive.store.outline(key))

    def is_gone(self, name: str | Listed) -> bool:
        """Whether all files that contain a conversation are gone from disk by now."""
        from agent_journal.archive.candidates import is_gone  # noqa: PLC0415

        with self._reading() as session:
            store = session.archive.store
            keys = {source for source, _ in store.units_of(_find(session, name).key)}
            return bool(keys) and all(is_gone(store.source_by_key(key).path) for key in keys)

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
        related_snippets: int = 0,
    ) -> Answer:
        """Return the conversations that match a query, best first, each with `context` messages around a hit.

        A text is parsed as `docs/search.md` describes; no text is an error. `filters` apply in addition to
        those in the query. `mode` is `lexical` (by words), `semantic` (by meaning) or `hybrid` (both); None
        is what the configuration sets. With `strict`, no word is corrected, and all words are required. With
        `whole`, each hit has all texts of its message, also reasoning, attachments, and input and output of
        tools; that takes longer. `related_snippets` is the number of its other hits that each
        conversation has with a snippet.

        If the index cannot be used, the newest rows are searched instead, and the answer says so (`problem`).
        """
        from agent_journal.journal.answer import MODES, Page  # noqa: PLC0415
        from agent_journal.journal.search import SearchSession  # noqa: PLC0415 (a sync does not need it)

        query = _parsed(query, filters, strict=strict)
        mode = mode or self._config.search.default_mode
        if mode not in MODES:
            raise NoSuchName("search mode", mode, MODES)
        page = Page(max(limit, 0), max(offset, 0), max(context, 0), whole, related_snippets)
        resources = self._resources()
        with self._reading() as session:
            return SearchSession(session.archive, self._config, resources).answer(query, mode, page)

    def facets(
        self, query: str | Query = "", *, filters: Filters | None = None, strict: bool = False
    ) -> Facets:
        """Count all messages that match a query, by source, project, model, role, tool, branch and month.

        A query without words counts what passes its filters. Raises IndexDamaged if the index cannot be used.
        """
        from agent_journal.journal.search import SearchSession  # noqa: PLC0415 (a sync does not need it)

        parsed, resources = _parsed(query, filters, strict=strict), self._resources()
        with self._reading() as session:
            return SearchSession(session.archive, self._config, resources).facets(parsed)

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

    def activity(self) -> Activity:
        """Return when messages were written, and how often tools were called and failed."""
        from agent_journal.journal.status import read_activity  # noqa: PLC0415

        with self._reading() as session:
            return read_activity(session.archive)

    def count(self) -> Counts:
        """Return how much is in the journal."""
        with self._reading() as session:
            return session.archive.store.counts()

    def unknown_filters(self, **values: str | None) -> builtins.list[tuple[str, str]]:
        """Return those of some filter values that nothing has; the names are kinds, such as `source`."""
        from agent_journal.search.query import match_values  # noqa: PLC0415 (only if nothing matches)

        with self._reading() as session:
            store = session.archive.store
            return [
                (kind, value)
                for kind, value in values.items()
                if value and not match_values(kind, [value], store.values(kind))
                if kind != "source" or not store.has_product(value)
            ]

    def status(self) -> JournalStatus:
        """Return what is in the journal, how large it is, and whether index and embeddings are complete."""
        from agent_journal.journal.status import read_status  # noqa: PLC0415

        with self._reading() as session:
            return read_status(session.archive, self._config)

    def unread_files(self) -> builtins.list[UnreadFile]:
        """Return the files of which not everything could be read, and why."""
        from agent_journal.journal.status import unread_files  # noqa: PLC0415

        with self._reading() as session:
            return unread_files(session.archive)

    def inventory(self) -> Inventory:
        """Look at what the known tools have stored on this machine, and what of it is not archived yet."""
        from agent_journal import discovery  # noqa: PLC0415
        from agent_journal.journal.inventory import take_inventory  # noqa: PLC0415

        here = discovery.here()
        if not self.exists:
            return take_inventory(self._config, os.environ, here, None)
        with self._reading() as session:
            return take_inventory(self._config, os.environ, here, session.archive)

    def encrypted_files(self) -> builtins.list[EncryptedFiles]:
        """Count the files on this machine that only their vendor can read."""
        from agent_journal import discovery, readers  # noqa: PLC0415

        infos = (reader.INFO for reader in readers.discover().values())
        return discovery.encrypted_files(self._config, infos, os.environ)

    def check(self, *, deep: bool = False) -> CheckReport:
        """Check rows, vault, index and embeddings, after finishing an interrupted `forget`.

        Each check reads a part of the vault; within a month, they cover all of it. A deep check reads all.
        """
        from agent_journal.journal import verification  # noqa: PLC0415

        self.require()
        finished, unfinished = verification.finish_before(self._config)
        with self._reading() as session:
            return verification.check(
                session.archive, self._config, deep=deep, finished=finished, unfinished=unfinished
            )

    def doctor(self) -> builtins.list[Finding]:
        """Return where each tool stores its conversations, when it deletes them, and any problems."""
        from agent_journal import discovery  # noqa: PLC0415
        from agent_journal.journal import doctor  # noqa: PLC0415

        return [*doctor.findings(self._config.home, os.environ, discovery.here(), time.time_ns())]

    def export(
        self,
        choice: ExportChoice,
        target: ExportTarget,
        options: ExportOptions | None = None,
        *,
        note: Notes | None = None,
        on_progress: Callable[[int, int, str], None] | None = None,
    ) -> ExportReport:
        """Write conversations in any format, with secrets redacted unless the options include them."""
        from agent_journal.journal import export  # noqa: PLC0415
        from agent_journal.notes import Notes  # noqa: PLC0415

        return export.export(
            self,
            choice,
            target,
            options or export.ExportOptions(),
            config=self._config,
            notes=note or Notes(),
            on_progress=on_progress,
        )

    def restore(
        self, names: Iterable[str], folder: str | os.PathLike[str] | None = None
    ) -> builtins.list[RestoredFile]:
        """Write the original files of conversations to where they were, or below a folder.

        Files of their subagents and companions are included. Nothing that exists is overwritten.
        """
        from agent_journal.archive.restoring import restore  # noqa: PLC0415 (rarely needed)

        with self._reading() as session:
            chosen = [session.archive.find_conversation(name) for name in names]
            return restore(session.archive, chosen, None if folder is None else os.fspath(folder))


def _parsed(query: str | Query, filters: Filters | None, *, strict: bool) -> Query:
    """Return a query with additional filters."""
    from agent_journal.search.query import Filters, parse  # noqa: PLC0415 (a sync does not need it)

    if isinstance(query, str):
        query = parse(query, filters or Filters(), time.time())
    elif filters is not None:
        query = query._replace(filters=query.filters + filters)
    return query._replace(strict=True, min_groups=None) if strict or query.strict else query


def _find(session: ReadSession, name: str | Listed) -> Listed:
    """Return the conversation as it is now; a listed one may have been forgotten meanwhile."""
    if isinstance(name, str):
        return session.archive.find_conversation(name)
    listed = session.archive.store.listed([name.key]).get(name.key)
    if listed is not None and (listed.source, listed.id) == (name.source, name.id):
        return listed
    return session.archive.find_conversation(f"{name.source}:{name.id}")
