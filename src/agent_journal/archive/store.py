"""The contract of a store of rows, whatever database it uses; `tests/archive` checks each one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import msgspec

from agent_journal.archive.activity import ActivitySums
from agent_journal.archive.candidates import Stat
from agent_journal.archive.manifest import Manifest
from agent_journal.archive.vault import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.index_entry import IndexEntry
    from agent_journal.archive.rows import Row
    from agent_journal.archive.vault import BlobLocation
    from agent_journal.model import Conversation, Event, Link, Memory, Message


class Status:
    """How the last reading of a source ended."""

    IMPORTED, PARTLY, UNREADABLE = "imported", "partly", "unreadable"
    UNKNOWN, FORGOTTEN = "unknown", "forgotten"
    PENDING = "pending"
    """Only the beginning of its first record is written; it is read when that is complete."""
    UNCHANGED = "unchanged"
    """Not changed since it was read; reported for a source, and never stored."""


class SourceRow(msgspec.Struct, kw_only=True):
    """The ledger entry of a file or folder; of its bytes, imported + defects = size."""

    key: int = 0
    path: str
    home: str = ""
    """The pattern that discovered it; empty for what a user named."""
    stat: Stat = Stat()
    companion_stats: dict[str, Stat] = {}
    """The stats of everything else that its reader looked at or for."""
    reader: str = ""
    status: str = Status.IMPORTED
    size: int = 0
    defects: int = 0
    conversations: int = 0
    messages: int = 0
    notes: list[dict[str, str]] = []
    read_at: str = ""
    missing_since: str | None = None


class SourceState(NamedTuple):
    """What shows whether a source has changed since it was read, in its stored form."""

    key: int
    home: str
    stat: bytes
    companion_stats: bytes | None
    status: str
    read_at: str
    missing_since: str | None


class Snapshot(msgspec.Struct, kw_only=True):
    """A unit of a source at one time: the reader that read it, and what it consisted of."""

    source: int
    unit: str
    number: int
    reader: str
    version: str
    revision: int
    taken_at: str
    manifest: Manifest


class DamagedRows(NamedTuple):
    """The damage to a conversation in the rows."""

    entries: dict[int, tuple[str, bytes]]
    """The id and hash of entries that cannot be read, or are not what was stored, by key."""
    detail: bool
    """Whether anything apart from the entries is damaged."""

    def __bool__(self) -> bool:
        """Whether anything is damaged."""
        return bool(self.entries) or self.detail


class Outline(NamedTuple):
    """A conversation without the content of its entries."""

    conversation: Conversation
    """Its timeline has roles and times, the tools that were called, and an ellipsis for each text."""
    keys: list[int]
    """The keys of its entries."""
    sizes: list[int]
    """The size of each entry in bytes."""


class TimelineState(NamedTuple):
    """The shape and size of a timeline; while they are equal, so is what was derived from it."""

    is_tree: bool
    head_id: str | None
    entries: int
    updated_ms: int | None
    newest_key: int
    """The highest key of its entries: a changed entry gets a new one."""


class Change(NamedTuple):
    """What storing a conversation changed."""

    conversation: int
    added: int
    changed: int
    index_entries: Collection[IndexEntry]
    removed: list[int]
    misses_entries: bool = False
    """Whether the stored conversation has entries that the incoming one lacks."""


class Filter(msgspec.Struct, kw_only=True, frozen=True):
    """Which conversations to select. Times are RFC 3339; texts are compared without regard to case."""

    source: str | None = None
    project: str | None = None
    model: str | None = None
    since: str | None = None
    until: str | None = None
    title: str | None = None
    with_children: bool = False
    """Whether conversations of subagents and duplicates are listed as well."""
    only_missing: bool = False
    folder: str | None = None
    """The project must be in this folder or below it."""
    within: Filter | None = None
    """What must also select the conversation; its `with_children` counts for nothing."""


Sort: TypeAlias = Literal["updated", "started", "messages", "title", "project"]
"""What conversations are listed by."""
SORTS: tuple[Sort, ...] = get_args(Sort)


class Namesake(NamedTuple):
    """A conversation that may have the id of another one, with its folder and what contains it."""

    id: str
    folder: str | None
    units: set[tuple[int, str]]
    """The source and the unit in it, which is empty if it is unknown."""
    paths: set[str]
    """The paths of these sources."""


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
    """Whether only the user's prompts are known."""
    product: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class EntryView(NamedTuple):
    """An entry as search results show it."""

    key: int
    conversation: int
    message: str
    role: str
    at: str | None
    text: str
    """All of its text, or only the message text if no more was requested."""
    position: int
    texts: tuple[tuple[str, str], ...] = ()
    """Its text by field: `text`, `title`, `thinking`, `tool`, `output`, `attached`."""
    source: str = ""
    """The source of a memory; other entries belong to a conversation, which has a source."""


class EntryLocation(NamedTuple):
    """Where an entry is."""

    key: int
    conversation: int
    message: str
    role: str
    at: str | None
    family: int
    """The conversation that it is shown with: for a subagent, the one that started it."""
    id: str
    """The id of the conversation that contains it."""
    duplicate_key: Any = None
    """Equal in entries that are copies of each other; None if that is not known."""


class UsageSum(NamedTuple):
    """The usage of one source and model within one bucket of time."""

    conversation: int
    """Its key; 0 if the sum is over conversations."""
    project: str | None
    """Only set if the sums are per project."""
    bucket: int
    source: str
    model: str | None
    price_tier_threshold: int
    """The highest price tier that the prompts exceed, in tokens; 0 if none."""
    estimated: int
    state: str
    """`counted`; `partly` if some stated counts are not numbers, and only the others are summed.

    `odd` if a count cannot be true, `empty` if there is none: then nothing is summed.
    """
    is_stated: int
    """Whether the source states the cost."""
    answers: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_5m: int
    cache_write_1h: int
    reasoning: int
    other: int
    """Tokens of which the source states only the total."""
    cost_usd: float | None

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cache_read + self.cache_write + self.other


class UsageConversation(NamedTuple):
    """A conversation as usage reports show it."""

    key: int
    source: str
    id: str
    title: str | None
    project: str | None
    started_at: str | None
    parent: int | None
    """The key of the conversation it is shown with: the one that started it, or that it duplicates."""


class Counts(msgspec.Struct, kw_only=True):
    """How much the archive holds."""

    conversations: int = 0
    hidden_from_lists: int = 0
    """Conversations that lists leave out: of subagents, and duplicates."""
    messages: int = 0
    events: int = 0
    tool_calls: int = 0
    memories: int = 0
    sources: int = 0
    missing: int = 0
    partly: int = 0
    """Sources of which something could not be read."""
    unread: int = 0
    """Sources of which nothing could be read: unknown or unreadable."""
    bytes: int = 0
    by_source: dict[str, dict[str, Any]] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class Erasing(msgspec.Struct, kw_only=True):
    """What is forgotten but not yet erased everywhere."""

    sources: list[int] = []
    """Sources whose bytes in the vault may still contain it."""
    rows: bool = False
    """Whether the files of rows and index may still contain it."""
    names: list[str] = []
    """Hashes of the names that the user gave."""


class Store(Catalog, ActivitySums, Protocol):
    """Rows of one journal. Only the process that holds the journal's lock may write.

    Writing methods are called inside a `transaction`, except `add_locations`, `backup` and `compact`.
    """

    journal_id: str
    substituted: dict[int, bytes]
    """The hashes, by key, of damaged entries that were rebuilt from their columns."""

    def transaction(self) -> AbstractContextManager[None]:
        """Write everything inside, or nothing."""

    def close(self) -> None:
        """Close the database."""

    def generation(self) -> str:
        """Return the mark that the last writing session left; empty if there is none."""

    def data_version(self) -> int:
        """Return a number that changes when another connection has written."""

    def writers(self) -> list[str]:
        """Return the machines that wrote to it, the latest last."""

    def set_writers(self, machines: list[str]) -> None:
        """Store the machines that wrote to it."""

    # Sources
    def sources(self) -> Iterator[SourceRow]:
        """Yield every source without its notes, ordered by path."""

    def ledger(self, path: str | None = None) -> dict[str, SourceState]:
        """Return the state of every source, or of one, by its path as text."""

    def source(self, path: str) -> SourceRow | None:
        """Return the source with this path, if there is one."""

    def source_paths_below(self, folder: str) -> list[str]:
        """Return the paths of all sources that begin with a folder, which ends with a separator."""

    def source_by_key(self, key: int) -> SourceRow:
        """Return the source with this key."""

    def put_source(self, row: SourceRow) -> int:
        """Write a source and return its key."""

    def mark_missing(self, keys: Iterable[int], since: str | None) -> None:
        """Record since when sources are missing, or that they are back."""

    def snapshots(self, source: int, unit: str = "") -> list[Snapshot]:
        """Return the snapshots of a source, or of one of its units: unit by unit, oldest first."""

    def units(self, source: int) -> list[str]:
        """Return the units of a source that have snapshots."""

    def outdated(self, revisions: dict[str, int]) -> list[SourceRow]:
        """Return the sources that were read by an older revision of their reader than these."""

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Write a snapshot."""

    def drop_snapshots(self, source: int) -> None:
        """Delete the snapshots of a source."""

    def sources_of(self, conversation: int) -> list[int]:
        """Return the sources that contain a conversation, or prompts of it."""

    def units_of(self, conversation: int) -> list[tuple[int, str]]:
        """Return the units that contain a conversation, as source and unit; the unit may be unknown.

        A list of prompts is left out if another unit contains more.
        """

    def is_empty_source(self, source: int) -> bool:
        """Whether the rows hold no conversation and no memory from a source."""

    def conversations_of(self, source: int) -> list[int]:
        """Return the conversations that a source contains, or once contained."""

    def conversations_of_unit(self, source: int, unit: str) -> list[int]:
        """Return the conversations in a unit of a source, as far as known."""

    # The catalog of the vault
    def locations(self) -> Iterator[tuple[bytes, BlobLocation]]:
        """Yield every blob with its location, pack by pack."""

    def mark_lost(self, locations: Iterable[tuple[bytes, BlobLocation]]) -> None:
        """Record that blobs are lost; their sizes stay known."""

    def needed_blobs(self) -> set[bytes]:
        """Return every blob that a snapshot needs."""

    def drop_blobs(self, blobs: list[bytes]) -> None:
        """Delete blobs from the catalog."""

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
        """Store a conversation, or merge it with what is stored.

        The bodies of the rows may already be packed in blocks; then the rows have none. With `is_past`,
        stored content is never replaced, whatever the times. A conversation of only prompts is stored until a
        source has more of it; if its id is made, its prompts are looked up in other conversations of that
        time.
        """

    def has_unresolved_duplicates(self) -> bool:
        """Whether an older version, with weaker criteria, marked the duplicates."""

    def resolve_duplicates(self) -> None:
        """Undo wrong duplicates, as if everything were imported now."""

    def begin_reimport(self, source: int) -> None:
        """From now until `end_reimport`, what is stored is everything that a source contains."""

    def end_reimport(self, source: int, *, is_complete: bool) -> Change:
        """Remove what came only from this source and was not read again, if it was read completely."""

    def namesakes(self, source: str, id_: str) -> list[Namesake]:
        """Return the conversations with this id, alone or with a folder (`ids.in_folder`)."""

    def key_of(self, source: str, id_: str) -> int | None:
        """Return the key of a conversation, if it is stored."""

    def conversation(self, key: int) -> Conversation:
        """Return a conversation with its timeline, as it was read (except `native`).

        An entry whose content is damaged is rebuilt from its columns; `damaged_rows` lists these.
        """

    def conversation_without_entries(self, key: int) -> Conversation:
        """Return a conversation without its timeline."""

    def outline(self, conversation: int) -> Outline:
        """Return a conversation without the content of its entries: roles, order and sizes."""

    def timeline_state(self, conversation: int) -> TimelineState:
        """Return the shape of a timeline and its number of entries, without reading any."""

    def entry_keys(self, conversation: int, start: int, limit: int) -> list[int]:
        """Return the keys of the current entries from a position on, in order."""

    def position_of(self, conversation: int, entry_id: str) -> int | None:
        """Return the position of a current entry; None if there is none with this id."""

    def prompts(self, conversation: int) -> dict[int, EntryView]:
        """Return the user's prompts by key, in order, each with the beginning of its text.

        Messages that a program wrote in the user's name are left out.
        """

    def size_of(self, conversation: int) -> int:
        """Return the size of a conversation's entries in bytes."""

    def entries_by_key(self, keys: Sequence[int]) -> dict[int, Message | Event]:
        """Return entries by their keys; only the blocks that contain them are read."""

    def failed_calls(self, keys: Sequence[int]) -> dict[int, set[str]]:
        """Return the ids of the tool calls in messages that failed, by the key of the message."""

    def damaged_rows(self, conversation: int) -> DamagedRows:
        """Return the damage to a conversation."""

    def repair_entries(
        self, conversation: int, item: Conversation, rows: list[Row], blocks: Sequence[Block] = ()
    ) -> int:
        """Write damaged entries again from intact rows; return how many.

        The bodies of the rows may be in blocks, as for `put`.
        """

    def link(self, key: int) -> Link | None:
        """Return the link to the conversation it came from, without reading its timeline."""

    def entries(self, conversation: int) -> Iterator[tuple[int, Message | Event]]:
        """Yield the current entries of a conversation with their keys, in order."""

    def find(self, name: str) -> list[Listed]:
        """Return conversations with this id or `source:id`, or else those whose id begins with it."""

    def listed(self, keys: Collection[int]) -> dict[int, Listed]:
        """Return conversations as lists show them, by key; missing ones are left out."""

    def conversations(
        self,
        filters: Filter,
        sort: Sort = "updated",
        limit: int | None = None,
        *,
        descending: bool | None = None,
        offset: int = 0,
    ) -> Iterator[Listed]:
        """Yield conversations in the requested order, newest first by default.

        Unless `descending` states it, times and numbers are sorted from the highest, and texts from A to Z.
        """

    def count_conversations(self, filters: Filter) -> int:
        """Count the conversations that filters select."""

    def selected(self, filters: Filter, keys: Collection[int] | None = None) -> set[int]:
        """Return those of some conversations, or of all, that filters select."""

    def children(self, key: int) -> list[Listed]:
        """Return the conversations that were started from one."""

    def subagents(self, keys: Collection[int]) -> set[int]:
        """Return the conversations of subagents that some conversations started."""

    def projects(self) -> list[str]:
        """Return every project folder that a conversation names."""

    def put_memory(self, memory: Memory, source: int) -> Change:
        """Store a memory; one with the same id and other content is replaced."""

    def accept_columns(self, conversation: int) -> None:
        """Replace damaged entries by what their columns have."""

    def all_conversations(self) -> list[int]:
        """Return the keys of all conversations."""

    def repair_links(self) -> int:
        """Remove dangling references and correct sums and counts; return how many rows changed."""

    def is_damaged(self) -> bool:
        """Whether the database file itself is damaged, regardless of its content."""

    def rebuild_damaged_indexes(self) -> bool:
        """Rebuild the indexes of tables if one is damaged; return whether one was."""

    def memories(self) -> Iterator[Memory]:
        """Yield every memory."""

    def memories_of(self, source: int) -> list[Memory]:
        """Return the memories from a source."""

    # Index
    def last_key(self) -> int:
        """Return the highest key in use; the index is complete when it has everything up to it."""

    def index_entries_since(self, key: int) -> Iterator[IndexEntry]:
        """Yield the index entries after a key, conversation by conversation."""

    def newest_first(self, key: int) -> Iterator[tuple[int, list[int]]]:
        """Yield conversations, newest first, with their index keys after one; memories are under 0."""

    def index_entries_of(self, conversation: int, keys: Collection[int]) -> Iterator[IndexEntry]:
        """Yield the index entries of a conversation, or of memories (0); missing ones are left out."""

    def preceding_prompts(self, conversation: int, keys: Collection[int]) -> dict[int, str]:
        """Return, by key, the beginning of the last user prompt before an entry."""

    def index_keys(self, candidates: Iterable[int] | None = None) -> list[int]:
        """Return every key that a complete index has, or those of the given keys."""

    def indexable(self) -> int:
        """Return how many entries a complete index has."""

    def removed(self) -> list[int]:
        """Return the keys that must be removed from the index."""

    def indexed_up_to(self) -> int:
        """Return the key up to which the index is complete."""

    def mark_indexed(self, upto: int, lost: list[int]) -> None:
        """Record that the index is complete up to a key, and that these keys are removed from it."""

    def entry_views(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """Return entries as search results show them, by key; missing ones are left out."""

    def message_texts(self, keys: Sequence[int]) -> dict[int, EntryView]:
        """Return entries with only their message texts, which is faster."""

    def entry_locations(self, keys: Sequence[int]) -> dict[int, EntryLocation]:
        """Return where entries are, without their texts; missing ones are left out."""

    def copies(self, keys: Iterable[int]) -> dict[int, list[int]]:
        """Return, by key, the other conversations that contain a copy of an entry, if any."""

    def originals_copied_into(self, conversations: Collection[int]) -> list[int]:
        """Return the originals of the copies that conversations contain."""

    def resolve_copies(
        self, keys: Sequence[int], conversations: Collection[int] = (), *, only_shown: bool = False
    ) -> dict[int, int]:
        """Return, by key, the key to show an entry under: its own, or that of a copy.

        If conversations are given, the key must be in one of them; with `only_shown`, it must be on the
        branch that users see. Entries without such a key are left out; titles and memories are returned
        unchanged.
        """

    def values(self, kind: str) -> list[str]:
        """Return the values to filter by: `source`, `project`, `branch`, or `tools` by name or kind."""

    def has_product(self, name: str) -> bool:
        """Whether a conversation is of a product with this in its name."""

    def newest_index_entries(self, key: int) -> Iterator[IndexEntry]:
        """Yield the index entries after a key, newest conversations first."""

    def surrounding_entries(self, entry: EntryView, count: int) -> tuple[list[EntryView], list[EntryView]]:
        """Return up to `count` messages before an entry and after it, in order."""

    # Usage
    def usage(
        self,
        filters: Filter,
        bucket: Callable[[int | None], int],
        *,
        sizes: Mapping[str, Sequence[int]] | None = None,
        per: Literal["conversation", "project"] | None = None,
    ) -> Iterator[UsageSum]:
        """Yield usage summed by bucket, source, model and state, and per conversation or project.

        `bucket` maps quarters of an hour since 1970 (None: unknown time) to a bucket. Filters by time are
        accurate to the quarter of an hour. `sizes` are the price tiers of models: prompts are grouped by the
        highest tier that they exceed.
        """

    def used_models(self) -> list[str]:
        """Return every model with usage."""

    def uncounted(self, filters: Filter) -> dict[str, int]:
        """Return, by source, how many conversations have answers of their own but no usage."""

    def usage_conversations(self) -> dict[int, UsageConversation]:
        """Return every conversation as reports show it, by key."""

    def copied_keys(self, conversation: int) -> set[int]:
        """Return the keys of a conversation's entries that are copies of others."""

    # Maintenance
    def counts(self) -> Counts:
        """How much the archive holds."""

    def forget(self, key: int, at: str) -> list[int]:
        """Erase a conversation for good; return the keys to remove from the index.

        Copies in other conversations stay.
        """

    def forget_memories(self, at: str) -> list[int]:
        """Erase every memory for good; return the keys to remove from the index."""

    def is_forgotten(self, source: str, id_: str) -> bool:
        """Whether the user has forgotten this conversation."""

    def was_forgotten(self, name: str) -> bool:
        """Whether the user has forgotten a conversation with this `source:id` or id."""

    def has_forgotten_prompts(self, conversation: Conversation, rows: Sequence[Row]) -> bool:
        """Whether a list of prompts contains some of a conversation that the user has forgotten."""

    def has_forgotten(self) -> bool:
        """Whether anything was ever forgotten."""

    def pending_erasure(self) -> Erasing | None:
        """Return what is still to be erased; None if nothing is."""

    def set_pending_erasure(self, erasure: Erasing | None) -> None:
        """Store what is still to be erased."""

    def commit_durably(self) -> None:
        """From now on, make every committed transaction survive a power cut."""

    def read_snapshot(self) -> AbstractContextManager[None]:
        """Read one consistent state inside, whatever other processes write."""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield every inconsistency of the rows as (where, what); damage is reported, not raised."""

    def backup(self, path: Path) -> None:
        """Copy the rows as of one moment, while others read and write."""

    def compact(self) -> None:
        """Free the space of what was erased, so that nothing of it is left in any file."""
