"""What a store of rows must do, whatever database is behind it; `tests/archive` holds each to that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import msgspec

from agent_journal.archive.candidates import Stat
from agent_journal.archive.manifest import Manifest
from agent_journal.archive.vault import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.rows import Row
    from agent_journal.archive.vault import Place
    from agent_journal.model import Conversation, Event, Link, Memory, Message


class Status:
    """How the last reading of a source ended."""

    IMPORTED, PARTLY, UNREADABLE, UNKNOWN, FORGOTTEN = (
        "imported",
        "partly",
        "unreadable",
        "unknown",
        "forgotten",
    )
    PENDING = "pending"
    """A history of which only the beginning of a first record is written; it is read when that is whole."""
    UNCHANGED = "unchanged"
    """As it was when it was read; this is told of a source, and never stored."""


class SourceRow(msgspec.Struct, kw_only=True):
    """A file or folder that was imported, and the account of its bytes: imported + defects = size."""

    key: int = 0
    path: str
    home: str = ""
    """The pattern by which it was found; empty for what a person named."""
    stat: Stat = Stat()
    beside: dict[str, Stat] = {}
    """Everything else its reader looked at or for."""
    reader: str = ""
    status: str = Status.IMPORTED
    size: int = 0
    defects: int = 0
    conversations: int = 0
    messages: int = 0
    notes: list[dict[str, str]] = []
    read_at: str = ""
    missing_since: str | None = None


class Known(NamedTuple):
    """What tells whether a source is as it was when it was read, as it is stored."""

    key: int
    home: str
    stat: bytes
    beside: bytes | None
    status: str
    read_at: str
    missing_since: str | None


class Snapshot(msgspec.Struct, kw_only=True):
    """A unit of a source as it was once: by whom it was read, and what it consisted of."""

    source: int
    unit: str
    number: int
    reader: str
    version: str
    revision: int
    taken_at: str
    manifest: Manifest


class Unsound(NamedTuple):
    """What is damaged of a conversation in the rows."""

    entries: dict[int, tuple[str, bytes]]
    """Entries that cannot be read, or are not what was stored: by key, id and hash."""
    detail: bool
    """Whether what is known of it beside its entries is damaged."""

    def __bool__(self) -> bool:
        """Whether anything is."""
        return bool(self.entries) or self.detail


class Outline(NamedTuple):
    """A conversation without what its entries say."""

    conversation: Conversation
    """Its timeline has who spoke and when, which tools were called, and an ellipsis for what was said."""
    keys: list[int]
    """Of its entries."""
    sizes: list[int]
    """How many bytes each of them is."""


class Change(NamedTuple):
    """What bringing in a conversation changed."""

    conversation: int
    added: int
    changed: int
    indexed: list[Indexed]
    removed: list[int]
    leaves: bool = False
    """Whether something that was there before did not come again."""


class Indexed(NamedTuple):
    """What the index is given of a message, a title or a memory."""

    key: int
    conversation: int
    role: str
    source: str
    project: str
    model: str
    at: int
    text: str
    thinking: str
    tool: str
    output: str
    attached: str
    title: str
    branch: str = ""
    tools: tuple[str, ...] = ()
    has_error: bool = False


class Filter(msgspec.Struct, kw_only=True, frozen=True):
    """Which conversations are meant. Times are RFC 3339; texts are compared without regard to case."""

    source: str | None = None
    project: str | None = None
    model: str | None = None
    since: str | None = None
    until: str | None = None
    title: str | None = None
    with_children: bool = False
    """Whether conversations of subagents, and twins of others, are listed beside those they belong to."""
    only_missing: bool = False


class Listed(msgspec.Struct, kw_only=True):
    """A conversation in a list."""

    key: int
    id: str
    source: str
    title: str | None
    project: str | None
    started_at: str | None
    updated_at: str | None
    messages: int
    model: str | None
    git_branch: str | None = None
    parent_id: str | None = None
    relation: str | None = None
    children: int = 0
    twin_of: str | None = None
    source_missing: bool = False
    only_prompts: bool = False
    """Whether no more of it is known than what was asked."""


class Found(NamedTuple):
    """An entry that a search found, with what is shown of it."""

    key: int
    conversation: int
    message: str
    role: str
    at: str | None
    text: str
    """All that it says, or what was said in words if no more was asked for."""
    position: int
    texts: tuple[tuple[str, str], ...] = ()
    """What it says, by where it says so: `text`, `title`, `thinking`, `tool`, `output`, `attached`."""
    source: str = ""
    """Of a memory: who remembers it. All else is in a conversation, which has a source."""


class Placed(NamedTuple):
    """Where an entry that was found stands."""

    key: int
    conversation: int
    message: str
    role: str
    at: str | None
    family: int
    """The conversation that it is shown with: that of a subagent belongs to the one it works for."""
    id: str
    """Of the conversation that it is in."""
    sameness: Any = None
    """Equal in entries that are copies of each other, as far as can be told; None if it cannot be told."""


class Spent(NamedTuple):
    """What was used within one bucket of time, of one source and model."""

    conversation: int
    """Its key; 0 where conversations are summed up."""
    project: str | None
    """Where projects are told apart."""
    bucket: int
    source: str
    model: str | None
    above: int
    """The largest of the sizes that prices depend on that the prompts were larger than."""
    estimated: int
    state: str
    """`counted`; `partly` if some of the counts that are stated are none, and the others are summed.

    `odd` if a count cannot be true, `empty` if there is none: then nothing is summed.
    """
    is_stated: int
    """Whether the source states what it cost."""
    answers: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_5m: int
    cache_write_1h: int
    reasoning: int
    other: int
    """Tokens of which the source tells only how many they are."""
    cost_usd: float | None

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cache_read + self.cache_write + self.other


class Holder(NamedTuple):
    """A conversation that used something."""

    key: int
    source: str
    id: str
    title: str | None
    project: str | None
    started_at: str | None
    parent: int | None
    """The key of the conversation it is shown with: the one it works for as a subagent's, or repeats."""


class Counts(msgspec.Struct, kw_only=True):
    """How much there is."""

    conversations: int = 0
    aside: int = 0
    """Those of the conversations that lists leave out: of subagents, and twins of others."""
    messages: int = 0
    events: int = 0
    tool_calls: int = 0
    memories: int = 0
    sources: int = 0
    missing: int = 0
    partly: int = 0
    """Those of the sources of which something did not come through."""
    unread: int = 0
    """Those of which nothing did: nobody knows what they are, or they cannot be read."""
    bytes: int = 0
    by_source: dict[str, dict[str, Any]] = {}


class Erasing(msgspec.Struct, kw_only=True):
    """What is forgotten and not yet erased everywhere."""

    sources: list[int] = []
    """Sources of which the vault may still hold it."""
    rows: bool = False
    """Whether files of rows and index may hold it too."""
    names: list[str] = []
    """Hashes of the names by which a person asked for it."""


class Store(Catalog, Protocol):
    """Rows of one journal. Only the process that holds the journal's lock may call what writes.

    What writes is called inside a `transaction`, but for `add_places`, `backup` and `compact`.
    """

    journal_id: str
    stood_in: dict[int, bytes]
    """The hashes of entries, by key, that are damaged and for which what columns have was given."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing of what is written inside."""

    def close(self) -> None:
        """Let go of the database."""

    def generation(self) -> str:
        """The mark that the last session of writing left; empty if none did."""

    def writers(self) -> list[str]:
        """The machines that wrote to it, the last one last."""

    def set_writers(self, machines: list[str]) -> None:
        """Remember which machines wrote to it."""

    # Sources
    def sources(self) -> Iterator[SourceRow]:
        """Every source, without its notes, in order of their paths."""

    def ledger(self, path: str | None = None) -> dict[str, Known]:
        """What is known of every source, or of one, by its path as text."""

    def source(self, path: str) -> SourceRow | None:
        """One source."""

    def source_by_key(self, key: int) -> SourceRow:
        """The source with that key."""

    def put_source(self, row: SourceRow) -> int:
        """Write a source; its key."""

    def mark_missing(self, keys: Iterable[int], since: str | None) -> None:
        """Say since when sources are gone, or that they are there again."""

    def snapshots(self, source: int, unit: str = "") -> list[Snapshot]:
        """What is kept of a source, or of one unit of it: unit by unit, oldest first."""

    def units(self, source: int) -> list[str]:
        """The units of which something is kept of a source."""

    def outdated(self, revisions: dict[str, int]) -> list[SourceRow]:
        """Sources of which something was read by an older revision of its reader than these."""

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Write a snapshot."""

    def drop_snapshots(self, source: int) -> None:
        """Forget what a source consisted of."""

    def sources_of(self, conversation: int) -> list[int]:
        """The sources that hold a conversation, or prompts of it."""

    def units_of(self, conversation: int) -> list[tuple[int, str]]:
        """The units that tell a conversation, each with its source; of some, only that is known.

        A list of prompts is left out where something tells more.
        """

    def holds_nothing(self, source: int) -> bool:
        """Whether no conversation and no memory is there that a source gave."""

    def conversations_of(self, source: int) -> list[int]:
        """The conversations that a source holds, or once held."""

    def told_by(self, source: int, unit: str) -> list[int]:
        """The conversations that a unit of a source tells, as far as that is known."""

    # The vault's catalog
    def places(self) -> Iterator[tuple[bytes, Place]]:
        """Every blob with its place, pack by pack."""

    def lose_places(self, places: Iterable[tuple[bytes, Place]]) -> None:
        """Remember that blobs are lost; their sizes stay known."""

    def needed_blobs(self) -> set[bytes]:
        """Every blob that a snapshot consists of."""

    def drop_blobs(self, blobs: list[bytes]) -> None:
        """Forget where blobs lie."""

    # Conversations
    def put(
        self,
        conversation: Conversation,
        rows: list[Row],
        source: int,
        blocks: Sequence[Block] = (),
        *,
        is_past: bool = False,
    ) -> Change:
        """Bring in a conversation, or merge it with what is there.

        Bodies of the rows may be in blocks already; the rows have none then. What is of the past does not
        stand above what is there, whatever its time. A conversation of only prompts is there as long as
        nothing tells more of it; if its id is made, its prompts are looked for in others of that time.
        """

    def has_unresolved_duplicates(self) -> bool:
        """Whether duplicates are as a version left them that knew less of what tells conversations apart."""

    def resolve_duplicates(self) -> None:
        """Take apart what is no duplicate, so that all is as if it were imported now."""

    def begin_again(self, source: int) -> None:
        """What is put from now on is all that a source gives, until `end_again`."""

    def end_again(self, source: int, *, is_whole: bool) -> Change:
        """Take away what only this source gave and did not give again, if it was read whole."""

    def key_of(self, source: str, id_: str) -> int | None:
        """The key of a conversation."""

    def conversation(self, key: int) -> Conversation:
        """A conversation with its timeline, as it was read (but for `native`).

        In place of an entry whose content is damaged stands what the columns have of it; `unsound` tells.
        """

    def conversation_without_entries(self, key: int) -> Conversation:
        """All that is known of a conversation but its timeline."""

    def outline(self, conversation: int) -> Outline:
        """A conversation without what its entries say: who spoke, in which order, and how much that is."""

    def size_of(self, conversation: int) -> int:
        """How many bytes the entries of a conversation are."""

    def entries_by_key(self, keys: Sequence[int]) -> dict[int, Message | Event]:
        """Entries by their keys; only the blocks in which these lie are read."""

    def unsound(self, conversation: int) -> Unsound:
        """What is damaged of a conversation."""

    def mend(self, conversation: int, item: Conversation, rows: Sequence[Row]) -> int:
        """Write again what is damaged of a conversation and sound in these rows; how many entries."""

    def link(self, key: int) -> Link | None:
        """Where a conversation came from; its timeline is not read."""

    def entries(self, conversation: int) -> Iterator[tuple[int, Message | Event]]:
        """The current entries of a conversation with their keys, in order."""

    def find(self, name: str) -> list[Listed]:
        """Conversations whose id, or `source:id`, is this, else those where it begins so."""

    def listed(self, keys: Collection[int]) -> dict[int, Listed]:
        """Conversations as lists show them; those that are no longer there are left out."""

    def conversations(
        self, wanted: Filter, sort: str = "updated", limit: int | None = None
    ) -> Iterator[Listed]:
        """Conversations in the order asked for, newest first by default."""

    def children(self, key: int) -> list[Listed]:
        """Conversations that came out of one."""

    def projects(self) -> list[str]:
        """Every project folder that a conversation names."""

    def put_memory(self, memory: Memory, source: int) -> Change:
        """Bring in a memory; another with the same id is replaced if it says something else."""

    def settle_for_columns(self, conversation: int) -> None:
        """Let what the columns have of damaged entries be all that there is of them."""

    def all_conversations(self) -> list[int]:
        """The keys of all conversations."""

    def mend_links(self) -> int:
        """Let nothing point to what is not there, and sums and counts be those of the rows; how many were."""

    def is_damaged(self) -> bool:
        """Whether the database itself does not fit together, whatever is in it."""

    def mend_indexes(self) -> bool:
        """Make the indexes of tables again if one does not fit its table; whether one did not."""

    def memories(self) -> Iterator[Memory]:
        """Every memory."""

    def memories_of(self, source: int) -> list[Memory]:
        """The memories that a source gave."""

    # Index
    def last_key(self) -> int:
        """The highest key given so far; the index is whole when it knows all up to it."""

    def indexed_since(self, key: int) -> Iterator[Indexed]:
        """What the index must be given beyond a key, conversation by conversation."""

    def newest_first(self, key: int) -> Iterator[tuple[int, list[int]]]:
        """Conversations, newest first, with keys beyond one that the index is given; 0 holds memories."""

    def indexed_of(self, conversation: int, keys: Collection[int]) -> Iterator[Indexed]:
        """What the index is given of entries of a conversation, or of memories (0); what is gone is not."""

    def asked_before(self, conversation: int, keys: Collection[int]) -> dict[int, str]:
        """By key, the beginning of what a person had said last before an entry that is not theirs."""

    def index_keys(self, among: Iterable[int] | None = None) -> list[int]:
        """Every key that a whole index has; only of these, if some are given."""

    def indexable(self) -> int:
        """How many entries a whole index has."""

    def removed(self) -> list[int]:
        """Keys that the index must lose."""

    def index_upto(self) -> int:
        """Up to which key the index was said to know everything."""

    def index_is_at(self, upto: int, lost: list[int]) -> None:
        """The index knows everything up to a key, and has lost these."""

    def found(self, keys: Sequence[int]) -> dict[int, Found]:
        """The entries that a search found; those that are no longer there are left out."""

    def said(self, keys: Sequence[int]) -> dict[int, Found]:
        """The same with no more than what was said in words, which takes less time."""

    def placed(self, keys: Sequence[int]) -> dict[int, Placed]:
        """Where entries that were found stand, without what they say; those that are gone are left out."""

    def copies(self, keys: Iterable[int]) -> dict[int, list[int]]:
        """The other conversations that hold the same as entries, where there are any."""

    def copied_into(self, conversations: Collection[int]) -> list[int]:
        """The entries of others of which conversations hold copies."""

    def standing(
        self, keys: Sequence[int], within: Collection[int] = (), *, shown: bool = False
    ) -> dict[int, int]:
        """For each entry the key under which its message is wanted: its own, else that of a copy of it.

        Wanted is what is within some conversations, if any are given, and, if asked for, what is on the
        branch that people see. What is there under no key is left out; titles and memories stay as they are.
        """

    def values(self, kind: str) -> list[str]:
        """What entries are filtered by: `source`, `project`, `branch`, or `tools` by name or kind."""

    def indexed_newest(self, key: int) -> Iterator[Indexed]:
        """What the index is given of entries beyond a key, the newest conversations first."""

    def around(self, found: Found, count: int) -> tuple[list[Found], list[Found]]:
        """So many messages before an entry that was found, and behind it, in their order."""

    # Usage
    def usage(
        self,
        wanted: Filter,
        bucket: Callable[[int | None], int],
        *,
        sizes: Mapping[str, Sequence[int]] | None = None,
        per: Literal["conversation", "project"] | None = None,
    ) -> Iterator[Spent]:
        """What was used, summed up by bucket, source, model and state, and per conversation or project.

        `bucket` is given quarters of an hour since 1970, None where the time is not known. What is wanted by
        its time is so to the quarter of an hour. Of the `sizes` of a model, its prompts are told by the
        largest they are above.
        """

    def used_models(self) -> list[str]:
        """Every model that something was used of."""

    def uncounted(self, wanted: Filter) -> dict[str, int]:
        """By source: how many conversations hold answers of their own, none of which is counted."""

    def holders(self) -> dict[int, Holder]:
        """Every conversation by its key, as far as reports name it."""

    def copied(self, conversation: int) -> set[int]:
        """Keys of those entries of a conversation that repeat another's."""

    # Care
    def counts(self) -> Counts:
        """How much there is."""

    def forget(self, key: int, at: str) -> list[int]:
        """Erase a conversation and remember that it must not come back; keys the index must lose.

        What other conversations copied from it stays theirs.
        """

    def forget_memories(self, at: str) -> list[int]:
        """Erase every memory and remember that they must not come back; keys the index must lose."""

    def is_forgotten(self, source: str, id_: str) -> bool:
        """Whether a person asked that this conversation be erased."""

    def was_forgotten(self, name: str) -> bool:
        """Whether a person asked that a conversation of this `source:id`, or id, be erased."""

    def forgets_some(self, conversation: Conversation, rows: Sequence[Row]) -> bool:
        """Whether prompts of a list were asked in a conversation that a person asked to be erased."""

    def has_forgotten(self) -> bool:
        """Whether anything was ever forgotten."""

    def erasing(self) -> Erasing | None:
        """What is left to be erased; None if nothing is."""

    def set_erasing(self, what: Erasing | None) -> None:
        """Remember what is left to be erased."""

    def commit_durably(self) -> None:
        """From now on, what was written when a transaction ends outlasts a power cut."""

    def one_moment(self) -> AbstractContextManager[None]:
        """What is read inside is as of one moment, whatever others write."""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Everything in the rows that does not fit together: where, and what. Damage is told, not raised."""

    def backup(self, path: Path) -> None:
        """A copy of the rows of one moment, while others read and write."""

    def compact(self) -> None:
        """Give back what was erased, so that nothing of it is left in any file."""
