"""Export conversations of a journal: choose them, and prepare each before it is written."""

from __future__ import annotations

from itertools import chain
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from agent_journal import readers, writers
from agent_journal.conversion import output, transforms
from agent_journal.errors import AgentJournalError, NoSuchMessage
from agent_journal.model import Conversation, Memory, tree
from agent_journal.notes import Kind
from agent_journal.redaction import REDACTIONS_KEY, redact
from agent_journal.usage.prices import Prices
from agent_journal.writers import RelatedConversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent_journal.archive.store import Filter, Listed
    from agent_journal.config import Config
    from agent_journal.journal.journal import Journal
    from agent_journal.journal.sessions import Damage
    from agent_journal.model import Item, Message, Relation
    from agent_journal.notes import Notes
    from agent_journal.writers import Images, Run, Theme


class ExportChoice(NamedTuple):
    """Which conversations to export: by name, by a query and a filter, or everything with all memories."""

    names: Sequence[str] = ()
    query: str | None = None
    wanted: Filter | None = None
    everything: bool = False
    limit: int | None = None
    with_subagents: bool = True


class ExportTarget(NamedTuple):
    """Where and how to write."""

    format: str
    path: str | None = None
    """A file, a folder that ends with `/`, or a zip; None is `standard`."""
    standard: IO[bytes] | None = None
    theme: Theme = "auto"
    images: Images = "auto"


class ExportReport(Struct, kw_only=True):
    """What was exported."""

    format: str
    path: str | None
    conversations: list[dict[str, Any]]
    """Of each, the id, source, title and number of messages, and how many secrets were redacted by kind."""
    memories: int
    redacted: int
    """The number of secrets."""

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as JSON values; `conversations` are separate."""
        return {
            "total": True,
            "conversations": len(self.conversations),
            "memories": self.memories,
            "format": self.format,
            "output": self.path,
            "redacted": self.redacted,
        }


ExportedItem = TypeVar("ExportedItem", Conversation, Memory)
_INITIAL_MAX_HITS = 1000
_GROWTH_FACTOR = 4  # of the number of hits if there are more


class ExportOptions(Struct, frozen=True, kw_only=True):
    """How each conversation is prepared before it is written."""

    branch: str = "all"
    last: int | None = None
    without: tuple[transforms.What, ...] = ()
    secrets: bool = False
    """Whether secrets are left in."""
    personal: bool = False
    """Whether personal data is redacted as well."""
    exact: bool = False
    """Whether messages have the source's own form too."""
    media: bool = False
    """Whether stored images and files become part of it."""
    include_related: bool = False
    """Whether each names the conversations that started from it."""


class ListPrices:
    """What the APIs of vendors would have charged, by their list prices or by the user's settings."""

    def __init__(self, config: Config) -> None:
        self._prices = Prices(config)
        self._sums_requests: dict[str, bool] = {}

    def answer_cost(self, source: str, answer: Message) -> float | None:
        """Return the cost in US dollars; None if the price is not known."""
        if source not in self._sums_requests:
            info = readers.info(source)
            self._sums_requests[source] = info is not None and info.sums_requests
        return self._prices.answer_cost(answer, sums_requests=self._sums_requests[source])

    def save_cache(self) -> None:
        """Save the looked-up prices for the next time."""
        self._prices.save_cache()


def export(
    journal: Journal,
    choice: ExportChoice,
    target: ExportTarget,
    options: ExportOptions,
    *,
    config: Config,
    notes: Notes,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> ExportReport:
    """Write conversations in a format; nothing is written if there are none.

    `on_progress` gets the number of conversations, their total, and the title of the current one. What cannot
    be read is noted, and the rest is written.
    """
    chosen = choose(journal, choice)
    writer = writers.get(target.format)
    prices = ListPrices(config)
    run = output.new_run(notes, theme=target.theme, images=target.images, list_price=prices.answer_cost)
    report = ExportReport(format=writer.INFO.name, path=target.path, conversations=[], memories=0, redacted=0)

    def items() -> Iterator[Item]:
        for listed, item in export_items(journal, chosen, options, run):
            if on_progress is not None:
                on_progress(len(report.conversations) + 1, len(chosen), listed.title or listed.id)
            report.conversations.append(_describe(listed, item))
            yield item
        if choice.everything:
            yield from (redact_item(memory, options, run) for memory in journal.memories())

    pending = items()
    first = next(pending, None)  # nothing is written if there are no items
    if first is not None:
        written = output.write_while_read(chain([first], pending), writer, target.path, run, target.standard)
        report.memories = written - len(report.conversations)
    prices.save_cache()
    report.redacted = notes.counts.get(Kind.REDACTED, 0)
    return report


def choose(journal: Journal, choice: ExportChoice) -> list[Listed]:
    """Return the conversations to export."""
    if choice.names:
        chosen = [*{each.key: each for each in map(journal.one, choice.names)}.values()][: choice.limit]
    elif choice.query is not None:
        chosen = find_conversations(journal, choice.query, choice.wanted, choice.limit)
    else:
        chosen = journal.list(choice.wanted, limit=choice.limit).items
    return with_subagents(journal, chosen) if choice.with_subagents and not choice.everything else chosen


def _describe(listed: Listed, item: Conversation) -> dict[str, Any]:
    redacted = item.extra.get(REDACTIONS_KEY)
    messages = sum(1 for _ in tree.messages(item))
    described: dict[str, Any] = {
        "id": listed.id,
        "source": listed.source,
        "title": listed.title,
        "messages": messages,
    }
    return {**described, REDACTIONS_KEY: redacted} if redacted else described


def find_conversations(journal: Journal, query: str, wanted: Filter | None, most: int | None) -> list[Listed]:
    """Return the conversations that contain the words of a query, best first; `wanted` filters them."""
    allowed = None if wanted is None else {each.key for each in journal.conversations(wanted)}
    limit = _INITIAL_MAX_HITS
    while True:
        # Semantic search ranks everything, so that no page would be the last.
        answer = journal.search(query, limit, mode="lexical", strict=True)
        hits = answer.hits
        keys = [key for hit in hits for key in (hit.entry.conversation, *(other.key for other in hit.others))]
        wanted_keys = [key for key in dict.fromkeys(keys) if allowed is None or key in allowed]
        listed = journal.listed(wanted_keys)
        chosen = {key: listed[key] for key in wanted_keys if key in listed}
        if not answer.has_more or (most is not None and len(chosen) >= most):
            return [*chosen.values()][:most]
        limit *= _GROWTH_FACTOR


def with_subagents(journal: Journal, chosen: Iterable[Listed]) -> list[Listed]:
    """Return the conversations, each followed by those of its subagents."""
    by_key: dict[int, Listed] = {}
    for each in chosen:
        pending = [each]
        while pending:
            listed = pending.pop()
            if listed.key not in by_key:
                by_key[listed.key] = listed
                below = journal.children(listed) if listed.children else ()
                pending.extend(child for child in reversed(below) if child.relation == "subagent")
    return [*by_key.values()]


def export_items(
    journal: Journal, chosen: list[Listed], shape: ExportOptions, run: Run
) -> Iterator[tuple[Listed, Conversation]]:
    """Yield the conversations as they are written, listed with redacted titles.

    The run gets the related conversations of each one before it is written.
    """
    family = _Family(journal, chosen, shape, run)
    matches_branch = shape.branch in {"all", "head"} or not chosen
    for listed in chosen:
        damage: list[Damage] = []
        try:
            conversation = journal.get(listed, exact=shape.exact, media=shape.media, on_damage=damage.append)
            item = apply_options(conversation, shape, run)
        except NoSuchMessage:
            continue  # a message is in one conversation; the others do not match
        except AgentJournalError as error:  # 'aj check' reports more; the others can be read
            run.note.add(Kind.BAD_RECORD, f"{listed.source}:{listed.id}", "", str(error))
            continue
        for each in damage:
            kind = Kind.DAMAGED if each.is_missing else Kind.RECOVERED
            run.note.add(kind, f"{listed.source}:{listed.id}", "", each.description)
        matches_branch = True
        family.add(listed, conversation, item)
        family.add_children_to_run(listed)
        yield replace(listed, title=family.title(listed)), item
    if not matches_branch:
        raise NoSuchMessage(shape.branch)


def apply_options(conversation: Conversation, shape: ExportOptions, run: Run) -> Conversation:
    """Return a conversation as it is written."""
    changed = transforms.branch(conversation, shape.branch)
    if shape.last is not None:
        changed = transforms.last(changed, shape.last)
    return redact_item(transforms.without(changed, shape.without), shape, run)


def redact_item(item: ExportedItem, shape: ExportOptions, run: Run) -> ExportedItem:
    """Return an item without its secrets, unless they are to be included."""
    return item if shape.secrets else transforms.redacted(item, run.note, personal=shape.personal)


class _Family:
    """The relations between the conversations that are written, with redacted titles."""

    def __init__(self, journal: Journal, chosen: list[Listed], shape: ExportOptions, run: Run) -> None:
        self._journal = journal
        self._keys = {each.key for each in chosen}
        self._shape = shape
        self._run = run
        self._titles: dict[int, str | None] = {}

    def add(self, listed: Listed, conversation: Conversation, item: Conversation) -> None:
        """Take the title of a conversation that was read and redacted, so that it is not read again."""
        is_its_own = conversation.title == listed.title
        self._titles[listed.key] = item.title if is_its_own else self._redacted(listed.title, conversation)

    def add_children_to_run(self, listed: Listed) -> None:
        """Give the run the conversations that started from one, before that is written.

        Also subagents that are not exported: a page says that they are not.
        """
        if not self._shape.include_related:
            return
        related = tuple(
            self._related(child, cast("Relation", child.relation))
            for child in (self._journal.children(listed) if listed.children else ())
            if child.relation == "subagent" or (child.key in self._keys and child.relation is not None)
        )
        if related:
            self._run.children[listed.source, listed.id] = related

    def _related(self, child: Listed, relation: Relation) -> RelatedConversation:
        link = self._journal.link(child) if relation == "subagent" else None
        return RelatedConversation(
            id=child.id,
            relation=relation,
            title=self.title(child),
            call_id=link.call_id if link else None,
            message_id=link.message_id if link else None,
        )

    def title(self, listed: Listed) -> str | None:
        """Return the redacted title; only the rest of a conversation may show what in its title is secret."""
        if listed.title is None or self._shape.secrets:
            return listed.title
        if listed.key not in self._titles:
            self._titles[listed.key] = self._redacted(listed.title, self._read(listed))
        return self._titles[listed.key]

    def _redacted(self, title: str | None, conversation: Conversation) -> str | None:
        if title is None or self._shape.secrets:
            return title
        return redact(replace(conversation, title=title), personal=self._shape.personal).item.title

    def _read(self, listed: Listed) -> Conversation:
        try:
            return self._journal.get(listed)
        except AgentJournalError:  # noted when it is written itself
            return Conversation(id=listed.id, source=listed.source)
