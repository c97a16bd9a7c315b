"""Writers: one module per target, each with `INFO` and `write`, found without a registry.

`dialects` and `rendering` have what several writers share.
Third parties add writers with the entry-point group `agent_journal.writers`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from agent_journal import redaction
from agent_journal.errors import NoSuchName
from agent_journal.model import Message, Relation
from agent_journal.notes import Kind, Notes
from agent_journal.plugins import plugged_in, what_is_wrong
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from agent_journal.model import Item


class WriterInfo(Struct, frozen=True, kw_only=True):
    """What the rest of the program may know about a target."""

    name: str
    title: str
    suffix: str
    """Of one file, with its dot."""
    layout: Literal["lines", "document", "bundle", "pages"]
    """`lines`: one document per line, or per file in a folder; `document`: all in one; `bundle`: several
    files that belong together, in a folder or zip (`-o NAME/` or `-o NAME.zip`); `pages`: for people, all in
    one document by `write`, or by `write_pages` a page each with an index, in a folder or zip."""
    reader: str = ""
    """The reader that reads it back, if that is called otherwise."""
    is_native: bool = False
    """Whether it writes content as the source had it: `native` of messages and results."""
    loses: tuple[str, ...] = ()
    """What of the model the target has no place for."""
    evidence: str = ""


_SHARED = frozenset({"dialects", "rendering"})
Theme: TypeAlias = Literal["auto", "dark", "light"]
Images: TypeAlias = Literal["auto", "embed", "beside", "none"]


class Kin(Struct, frozen=True, kw_only=True):
    """A conversation that came out of another one."""

    id: str
    relation: Relation
    title: str | None = None
    call_id: str | None = None
    message_id: str | None = None
    """The call that started it and the message that this is in, as far as the source says so."""


ListPrice: TypeAlias = Callable[[str, Message], float | None]
"""What the API of its vendor would have asked for an answer of a source, in US dollars; None if unknown."""


def no_list_price(_source: str, _answer: Message) -> float | None:
    """Where nobody looked for prices, none is known."""
    return None


class Run(Struct, frozen=True, kw_only=True):
    """What a writer may know about the run it is part of. A writer has no clock of its own."""

    note: Notes
    started_at: str
    started: int = 0
    """The same in seconds."""
    program: str
    names: dict[str, dict[str, str]] = {}
    """What a source is called by a target: `names[source]["unified"]`."""
    raw_fields: dict[str, str] = {}
    """Where a source's messages keep their text as the model was given it: a field of their `extra`."""
    in_blocks: frozenset[str] = frozenset()
    """Sources whose messages are lists of blocks, also where there is only one."""
    text_fields: dict[str, str] = {}
    """Where a source's messages keep all that they say as one text: a field of their `extra`."""
    children_fields: dict[str, str] = {}
    """Where a source's messages list what is below them in an order of its own: a path in their `extra`."""
    titles: dict[str, str] = {}
    """What people call a source."""
    record_forms: dict[str, RecordForm] = {}
    """How agent records tell of a source, where that is not the usual way."""
    theme: Theme = "auto"
    """The colours of pages; `auto` is what the reader's system prefers."""
    images: Images = "auto"
    """Where pages have images: inside, in files beside them, or nowhere; `auto` is what suits the format."""
    children: dict[tuple[str, str], tuple[Kin, ...]] = {}
    """What came out of a conversation, by its source and id, as far as that is known before it is written."""

    list_price: ListPrice = no_list_price

    def name_of(self, source: str, target: str, default: str | None = None) -> str:
        """What a target calls a source, as its reader says."""
        return self.names.get(source, {}).get(target, source if default is None else default)

    def cannot_say(self, item: Item, where: str, detail: str) -> None:
        """Note that the target has no place for something."""
        self.note.add(Kind.NOT_EXPRESSED, f"{item.source}:{item.id}", where, detail)

    def cannot_say_what_was_redacted(self, item: Item) -> None:
        """Note what was replaced in an item, where the target has no place for that."""
        if replaced := redaction.told(item):
            self.cannot_say(item, "", f"that secrets were replaced: {replaced}")

    def changed(self, item: Item, where: str, detail: str) -> None:
        """Note that the target demands another form of something."""
        self.note.add(Kind.CHANGED, f"{item.source}:{item.id}", where, detail)


class Bundle(Protocol):
    """Where a writer of several files puts them."""

    def file(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """A new file; its path is relative to the bundle, with `/`. One file is open at a time."""


class Writer(Protocol):
    """What a writer module has. One of pages has `write_pages` too."""

    INFO: WriterInfo

    def write(self, items: Iterable[Item], out: Any, run: Run) -> None:
        """Write all items, pulling them one by one; `out` is a binary file, or for a bundle a `Bundle`."""


class PageWriter(Writer, Protocol):
    """What a writer of pages has."""

    def write_pages(self, items: Iterable[Item], bundle: Bundle, run: Run) -> None:
        """Write a page for each item, and an index."""


@cache
def discover() -> dict[str, Writer]:
    """Every writer by its name."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name not in _SHARED
    ]
    found += plugged_in("agent_journal.writers", lambda module: what_is_wrong(module, WriterInfo, "write"))
    return {writer.INFO.name: writer for writer in found}


def get(name: str) -> Writer:
    """The writer of that name."""
    try:
        # The usual case needs one module, not all of them.
        module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
        if name == module.INFO.name:
            return module
    except (ModuleNotFoundError, AttributeError):  # no module has such a name, or it is no writer's
        pass
    writers = discover()
    if name not in writers:
        raise NoSuchName("writer", name, sorted(writers))
    return writers[name]
