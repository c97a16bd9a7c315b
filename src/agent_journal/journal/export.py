"""What is given away of a journal: which conversations, and what is done to each before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from agent_journal import readers
from agent_journal.conversion import transforms
from agent_journal.errors import AgentJournalError, NoSuchMessage
from agent_journal.model import Conversation, Memory
from agent_journal.notes import Kind
from agent_journal.redaction import redact
from agent_journal.usage.prices import Prices
from agent_journal.writers import RelatedConversation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.archive.store import Filter, Listed
    from agent_journal.config import Config
    from agent_journal.journal.facade import Journal
    from agent_journal.model import Message, Relation
    from agent_journal.writers import Run

Kept = TypeVar("Kept", Conversation, Memory)
# So many hits of a search are looked at first, and so many times more if those were not all.
_HITS, _MORE = 1000, 4


class ExportOptions(Struct, frozen=True, kw_only=True):
    """What is done to each conversation before it is written."""

    branch: str = "all"
    last: int | None = None
    without: tuple[transforms.What, ...] = ()
    secrets: bool = False
    """Whether secrets are left in."""
    personal: bool = False
    """Whether personal data is taken for secret."""
    exact: bool = False
    """Whether messages have the source's own form too."""
    media: bool = False
    """Whether images and files that are kept become part of it."""
    include_related: bool = False
    """Whether what came out of each is named in it."""


class ListPrices:
    """What the APIs of vendors would have asked, by the prices that they publish or that a person settled."""

    def __init__(self, config: Config) -> None:
        self._prices = Prices(config)
        self._sums_requests: dict[str, bool] = {}

    def answer_cost(self, source: str, answer: Message) -> float | None:
        """In US dollars; None if that is not known."""
        if source not in self._sums_requests:
            info = readers.info(source)
            self._sums_requests[source] = info is not None and info.sums_requests
        return self._prices.answer_cost(answer, sums_requests=self._sums_requests[source])

    def save_cache(self) -> None:
        """Keep what was looked up for the next time."""
        self._prices.save_cache()


def find_conversations(journal: Journal, query: str, wanted: Filter | None, most: int | None) -> list[Listed]:
    """The conversations in which the words of a query are, the best first; `wanted` may leave some out."""
    allowed = None if wanted is None else {each.key for each in journal.conversations(wanted)}
    limit = _HITS
    while True:
        # By meaning everything is found sooner or later, only further down.
        answer = journal.search(query, limit, mode="lexical", strict=True)
        hits = answer.hits
        keys = [key for hit in hits for key in (hit.entry.conversation, *(other.key for other in hit.others))]
        wanted_keys = [key for key in dict.fromkeys(keys) if allowed is None or key in allowed]
        listed = journal.listed(wanted_keys)
        chosen = {key: listed[key] for key in wanted_keys if key in listed}
        if not answer.has_more or (most is not None and len(chosen) >= most):
            return [*chosen.values()][:most]
        limit *= _MORE


def with_subagents(journal: Journal, chosen: Iterable[Listed]) -> list[Listed]:
    """The conversations, each followed by what its subagents did."""
    found: dict[int, Listed] = {}
    for each in chosen:
        pending = [each]
        while pending:
            listed = pending.pop()
            if listed.key not in found:
                found[listed.key] = listed
                below = journal.children(listed) if listed.children else ()
                pending.extend(child for child in reversed(below) if child.relation == "subagent")
    return [*found.values()]


def export_items(
    journal: Journal, chosen: list[Listed], shape: ExportOptions, run: Run
) -> Iterator[tuple[Listed, Conversation]]:
    """The conversations as they are written, listed by titles without secrets.

    The run learns what came out of each before it is.
    """
    family = _Family(journal, chosen, shape, run)
    is_found = shape.branch in {"all", "head"} or not chosen
    for listed in chosen:
        try:
            conversation = journal.read(listed, exact=shape.exact, media=shape.media)
            item = apply_options(conversation, shape, run)
        except NoSuchMessage:
            continue  # a message is in one conversation; the others were not asked for
        except AgentJournalError as error:  # 'aj check' tells more; the others can be read
            run.note.add(Kind.BAD_RECORD, f"{listed.source}:{listed.id}", "", str(error))
            continue
        for why, is_missing in journal.damage(listed, exact=shape.exact):
            kind = Kind.DAMAGED if is_missing else Kind.RECOVERED
            run.note.add(kind, f"{listed.source}:{listed.id}", "", why)
        is_found = True
        family.meet(listed, conversation, item)
        family.tell_children(listed)
        yield replace(listed, title=family.title(listed)), item
    if not is_found:
        raise NoSuchMessage(shape.branch)


def apply_options(conversation: Conversation, shape: ExportOptions, run: Run) -> Conversation:
    """A conversation as it is given away."""
    changed = transforms.branch(conversation, shape.branch)
    if shape.last is not None:
        changed = transforms.last(changed, shape.last)
    return redact_item(transforms.without(changed, shape.without), shape, run)


def redact_item(item: Kept, shape: ExportOptions, run: Run) -> Kept:
    """An item without its secrets, unless they are wanted."""
    return item if shape.secrets else transforms.redacted(item, run.note, personal=shape.personal)


class _Family:
    """What came out of each conversation that is written, by names that are as guarded as the rest."""

    def __init__(self, journal: Journal, chosen: list[Listed], shape: ExportOptions, run: Run) -> None:
        self._journal = journal
        self._keys = {each.key for each in chosen}
        self._shape = shape
        self._run = run
        self._titles: dict[int, str | None] = {}

    def meet(self, listed: Listed, conversation: Conversation, item: Conversation) -> None:
        """Take the title of one that was read and guarded; it need not be read again for that."""
        is_its_own = conversation.title == listed.title
        self._titles[listed.key] = item.title if is_its_own else self._guarded(listed.title, conversation)

    def tell_children(self, listed: Listed) -> None:
        """Let the run know what came out of a conversation, before that is written."""
        if not self._shape.include_related:
            return
        kin = tuple(
            self._kin(child, cast("Relation", child.relation))
            for child in (self._journal.children(listed) if listed.children else ())
            if child.key in self._keys and child.relation is not None
        )
        if kin:
            self._run.children[listed.source, listed.id] = kin

    def _kin(self, child: Listed, relation: Relation) -> RelatedConversation:
        link = self._journal.link(child) if relation == "subagent" else None
        return RelatedConversation(
            id=child.id,
            relation=relation,
            title=self.title(child),
            call_id=link.call_id if link else None,
            message_id=link.message_id if link else None,
        )

    def title(self, listed: Listed) -> str | None:
        """What it is called, without secrets; what is one there may be told by nothing but the rest of it."""
        if listed.title is None or self._shape.secrets:
            return listed.title
        if listed.key not in self._titles:
            self._titles[listed.key] = self._guarded(listed.title, self._read(listed))
        return self._titles[listed.key]

    def _guarded(self, title: str | None, conversation: Conversation) -> str | None:
        if title is None or self._shape.secrets:
            return title
        return redact(replace(conversation, title=title), personal=self._shape.personal).item.title

    def _read(self, listed: Listed) -> Conversation:
        try:
            return self._journal.read(listed)
        except AgentJournalError:  # noted when it is its turn
            return Conversation(id=listed.id, source=listed.source)
