"""Pages for people: all conversations in one document, or a page each in a folder with an index.

The name of a page comes from the source and id of its conversation alone, so that a link to it can be
written before it is. What was linked to and never came gets a page that says so: no link leads nowhere.
"""

from __future__ import annotations

import hashlib
import re
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from agent_journal.model import Conversation, Memory, Relation, tree
from agent_journal.text import describe
from agent_journal.writers.rendering.images import Pictures
from agent_journal.writers.rendering.utc_times import day

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item, Media, ToolCall
    from agent_journal.writers import Bundle, Kin, Run

FOLDER = "conversations"
"""Where pages lie in a folder; the index lies above it."""
INDEX = "index"
_UNUSUAL = re.compile(r"[^a-z0-9]+")
_SIMPLE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_SLUG = 60
_LONGEST_ASKED = 500


def name_of(source: str, id_: str, kind: str = "") -> str:
    """The name of a page, without suffix: any file system takes it, and no two differ in case alone.

    It begins with what is plain of the id, for people, and ends with a hash that tells ids apart.
    """
    slug = _UNUSUAL.sub("-", id_[: 2 * _LONGEST_SLUG].lower())[:_LONGEST_SLUG].strip("-")
    return f"{slug}-{_mark(kind, source, id_)}".lstrip("-")


def anchor_of(message_id: str) -> str:
    """The name of a message within its page."""
    return f"m-{message_id if _SIMPLE.fullmatch(message_id) else _mark(message_id)}"


def _mark(*words: str) -> str:
    joined = "\0".join(words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:12]


class Facts(Struct, frozen=True, kw_only=True):
    """What an index says of a conversation or memory; small, as all of them are held until it is written."""

    name: str
    """Of its page, without suffix."""
    source: str
    id: str
    title: str
    is_memory: bool = False
    project: str = ""
    """The folder it was about; else what people call its source."""
    begun_at: str | None = None
    ended_at: str | None = None
    messages: int = 0
    models: tuple[str, ...] = ()
    tokens: str = ""
    asked: str = ""
    """The beginning of what the person said."""
    parent: str | None = None
    """The name of the page that it came from."""
    relation: Relation | None = None

    @property
    def day(self) -> str:
        """The day on which it began, `2026-03-01`; empty if that is not known."""
        return day(self.begun_at or self.ended_at)


class Absent(NamedTuple):
    """A conversation that others refer to and that is not among those that were written."""

    name: str
    source: str
    id: str


class Day(NamedTuple):
    """What began on one day, the newest first."""

    date: str
    entries: list[Facts]


class Project(NamedTuple):
    """The conversations of one project, the newest day first."""

    name: str
    days: list[Day]


class Book:
    """The pages of one run: which there are, how they are reached, and what an index says of them.

    `suffix` is that of a page's file; None if all are in one document. `embeds` is whether such a document
    has images inside where nobody says where they are to be.
    """

    def __init__(self, run: Run, suffix: str | None, *, embeds: bool = True) -> None:
        self.run = run
        self.suffix = suffix
        self.facts: list[Facts] = []
        self.pictures = Pictures(run.images, is_folder=suffix is not None, embeds=embeds)
        self._names: set[str] = set()
        self._asked: dict[str, Absent] = {}

    def page(self, item: Item) -> Page:
        """The page of the next item; a second one with the same id gets a name of its own."""
        usual = name = _name(item)
        again = 1
        while name in self._names:
            again += 1
            name = f"{usual}-{again}"
        self._names.add(name)
        facts = _facts(item, name, self.run)
        self.facts.append(facts)
        return Page(self, facts)

    def address(self, source: str, id_: str, message_id: str | None = None) -> str:
        """The address of a conversation, or of a message in it, as other pages link to it."""
        name = name_of(source, id_)
        self._asked.setdefault(name, Absent(name, source, id_))
        at = anchor_of(message_id) if message_id is not None else ""
        if self.suffix is None:
            return f"#{name}-{at}" if at else f"#{name}"
        return f"{name}{self.suffix}#{at}" if at else f"{name}{self.suffix}"

    def absent(self) -> list[Absent]:
        """What was linked to and is not there."""
        return [each for name, each in self._asked.items() if name not in self._names]

    def has(self, name: str) -> bool:
        """Whether there is a page of that name."""
        return name in self._names

    def projects(self) -> list[Project]:
        """Everything by project and day, the newest first; without what stands below its parent."""
        found: dict[str, dict[str, list[Facts]]] = {}
        below = self._below()
        for facts in self.facts:
            if facts.name not in below and not facts.is_memory:
                found.setdefault(facts.project, {}).setdefault(facts.day, []).append(facts)
        projects = [
            Project(name, [Day(day, sorted(days[day], key=_when, reverse=True)) for day in _newest(days)])
            for name, days in found.items()
        ]
        return sorted(projects, key=lambda project: (project.days[0].date, project.name), reverse=True)

    def children(self) -> dict[str, list[Facts]]:
        """What came out of each conversation, by the name of its page, in order of time."""
        found: dict[str, list[Facts]] = {}
        below = self._below()
        for facts in sorted(self.facts, key=_when):
            if facts.name in below:
                found.setdefault(facts.parent or "", []).append(facts)
        return found

    def memories(self) -> list[Facts]:
        """What services keep about the person."""
        return [facts for facts in self.facts if facts.is_memory]

    def _below(self) -> set[str]:
        """The names of pages that stand below another one; those that go round stand by themselves."""
        above = {facts.name: facts.parent for facts in self.facts if facts.parent in self._names}
        ends: dict[str, bool] = {}
        for name in above:
            trail: dict[str, None] = {}
            at: str | None = name
            while at in above and at not in ends and at not in trail:
                trail[at] = None
                at = above[at]
            ends |= dict.fromkeys(trail, ends.get(at or "", at not in trail))
        return {name for name, is_below in ends.items() if is_below}


class Page:
    """One page: its name and what it links to."""

    def __init__(self, book: Book, facts: Facts) -> None:
        self.facts = facts
        self.run = book.run
        self._book = book
        self._has_children = (facts.source, facts.id) in book.run.children

    @property
    def index(self) -> str | None:
        """The address of what the index says of this conversation; None in one document."""
        suffix = self._book.suffix
        return None if suffix is None else f"../{INDEX}{suffix}#{self.facts.name}"

    def anchor(self, message_id: str) -> str:
        """The name of a message of this page, as links of other pages have it."""
        at = anchor_of(message_id)
        return at if self._book.suffix is not None else f"{self.facts.name}-{at}"

    def parent(self, conversation: Conversation, *, message: bool = True) -> str | None:
        """The address of the conversation that one came from, or of the message in it."""
        link = conversation.link
        if link is None:
            return None
        return self._book.address(
            conversation.source, link.conversation_id, link.message_id if message else None
        )

    def children(self) -> tuple[tuple[Kin, str], ...]:
        """What came out of this conversation, as far as the run knows, with its address."""
        facts = self.facts
        kin = () if facts.is_memory else self.run.children.get((facts.source, facts.id), ())
        return tuple((each, self._book.address(facts.source, each.id)) for each in kin)

    def started_by(self, call: ToolCall) -> list[tuple[Kin, str]]:
        """The subagents that a call of this conversation started, with their addresses."""
        if call.call_id is None or not self._has_children:
            return []
        return [each for each in self.children() if each[0].call_id == call.call_id]

    def started_at(self, message_id: str) -> list[tuple[Kin, str]]:
        """The subagents that a message started, where it is not told by which call."""
        if not self._has_children:
            return []
        kin = self.children()
        return [each for each in kin if each[0].call_id is None and each[0].message_id == message_id]

    def picture(self, media: Media) -> str | None:
        """Where an image can be shown from: a path beside the page or a `data:` address; None if nowhere."""
        return self._book.pictures.address(media)

    def file(self, media: Media) -> str | None:
        """The path of any other kept file beside the page; None if there is none."""
        return self._book.pictures.path(media)


class Form(Protocol):
    """How a format writes pages. A module can be one."""

    def page(self, item: Item, page: Page, out: IO[bytes]) -> None:
        """Write a conversation or memory."""

    def index(self, book: Book, out: IO[bytes]) -> None:
        """Write the index of a folder."""

    def absent(self, missing: Absent, out: IO[bytes]) -> None:
        """Say that a conversation which others refer to is not here."""


def write_folder(items: Iterable[Item], bundle: Bundle, run: Run, form: Form, suffix: str) -> None:
    """Write a page for each item, then pages for what is missing, and an index."""
    book = Book(run, suffix)
    for item in items:
        page = book.page(item)
        # One file is open at a time.
        book.pictures.put(item, bundle)
        with bundle.file(f"{FOLDER}/{page.facts.name}{suffix}") as out:
            form.page(item, page, out)
    for missing in book.absent():
        with bundle.file(f"{FOLDER}/{missing.name}{suffix}") as out:
            form.absent(missing, out)
    if book.facts:
        with bundle.file(f"{INDEX}{suffix}") as out:
            form.index(book, out)


def address_in_index(facts: Facts, book: Book) -> str:
    """How the index links to a page."""
    return f"{FOLDER}/{facts.name}{book.suffix}"


def _name(item: Item) -> str:
    return name_of(item.source, item.id, "memory" if isinstance(item, Memory) else "")


def _facts(item: Item, name: str, run: Run) -> Facts:
    source_title = run.titles.get(item.source, item.source)
    if isinstance(item, Memory):
        title = tree.title_from([item.text]) or item.kind
        return Facts(
            name=name,
            source=item.source,
            id=item.id,
            title=title,
            is_memory=True,
            project=source_title,
            begun_at=item.at,
        )
    begun_at, ended_at = describe.span(item)
    link = item.link
    return Facts(
        name=name,
        source=item.source,
        id=item.id,
        title=describe.title(item),
        project=item.cwd or source_title,
        begun_at=begun_at,
        ended_at=ended_at,
        messages=sum(1 for _ in tree.messages(item)),
        models=tuple(describe.models(item)),
        tokens=describe.tokens(tree.usages(item.timeline)),
        asked=_asked(item),
        parent=name_of(item.source, link.conversation_id) if link else None,
        relation=link.relation if link else None,
    )


def _asked(conversation: Conversation) -> str:
    told = ""
    for message in tree.messages(conversation):
        if message.role == "user" and not message.hidden:
            told += f"{tree.plain_text(message)[:_LONGEST_ASKED]} "
            if len(told) > _LONGEST_ASKED:
                break
    return " ".join(told.split())[:_LONGEST_ASKED]


def _when(facts: Facts) -> tuple[str, str]:
    return facts.begun_at or facts.ended_at or "", facts.name


def _newest(days: dict[str, list[Facts]]) -> Iterator[str]:
    return iter(sorted(days, reverse=True))
