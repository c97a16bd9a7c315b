"""Writers: one module per target format, each with `INFO` and `write`, discovered without a registry.

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
from agent_journal.plugins import find_defect, load_plugins
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

    from agent_journal.model import Item


class WriterInfo(Struct, frozen=True, kw_only=True):
    """What a writer declares about its target format."""

    name: str
    title: str
    suffix: str
    """The suffix of one file, with its dot."""
    layout: Literal["lines", "document", "bundle", "pages"]
    """`lines`: one document per line, or per file in a folder; `document`: all in one; `bundle`: several
    related files in a folder or zip (`-o NAME/` or `-o NAME.zip`); `pages`: for people: `write` puts all into
    one document, `write_pages` writes one page per item and an index into a folder or zip."""
    reader: str = ""
    """The reader that reads it back, if its name differs."""
    is_native: bool = False
    """Whether it writes content in the source's own form: `native` of messages and results."""
    homes: tuple[str, ...] = ()
    """Where a tool that resumes sessions looks for what is written: the first that is set is used."""
    loses: tuple[str, ...] = ()
    """What the target cannot represent, as short noun phrases."""
    evidence: str = ""


_SHARED = frozenset({"dialects", "rendering"})
Theme: TypeAlias = Literal["auto", "dark", "light"]
Images: TypeAlias = Literal["auto", "embed", "beside", "none"]


class RelatedConversation(Struct, frozen=True, kw_only=True):
    """A conversation that continues, forks or was started by another one."""

    id: str
    relation: Relation
    title: str | None = None
    call_id: str | None = None
    message_id: str | None = None
    """The message that started it, if the source records it; `call_id` is the tool call in it."""


ListPrice: TypeAlias = Callable[[str, Message], float | None]
"""What the vendor's API would have charged for an answer of a source, in US dollars; None if unknown."""


def no_list_price(_source: str, _answer: Message) -> float | None:
    """The default: no list price is known."""
    return None


class Run(Struct, frozen=True, kw_only=True):
    """What a writer may know about the current run. Writers must not read the clock themselves."""

    note: Notes
    started_at: str
    started: int = 0
    """`started_at` in seconds since 1970."""
    program: str
    names: dict[str, dict[str, str]] = {}
    """The name of a source in a target: `names[source]["unified"]`."""
    raw_fields: dict[str, str] = {}
    """The field of a message's `extra` with the text that the model received, by source."""
    block_sources: frozenset[str] = frozenset()
    """Sources whose messages are lists of blocks even if there is only one block."""
    text_fields: dict[str, str] = {}
    """The field of a message's `extra` with its complete text as one string, by source."""
    children_fields: dict[str, str] = {}
    """The path in a message's `extra` to its ordered list of child messages, by source."""
    titles: dict[str, str] = {}
    """The display name of each source."""
    record_forms: dict[str, RecordForm] = {}
    """How agent records represent a source, where that differs from the default."""
    theme: Theme = "auto"
    """The color theme of pages; `auto` is what the viewer's system prefers."""
    images: Images = "auto"
    """Where images go: into pages, into files next to them, or nowhere; `auto` suits the format."""
    children: dict[tuple[str, str], tuple[RelatedConversation, ...]] = {}
    """The known children of conversations, by source and id."""

    list_price: ListPrice = no_list_price

    def name_of(self, source: str, target: str, default: str | None = None) -> str:
        """The name of a source in a target, as declared by its reader."""
        return self.names.get(source, {}).get(target, source if default is None else default)

    def note_not_preserved(self, item: Item, location: str, detail: str) -> None:
        """Note that the target cannot represent something."""
        self.note.add(Kind.NOT_EXPRESSED, f"{item.source}:{item.id}", location, detail)

    def note_redactions(self, item: Item) -> None:
        """Note what was redacted in an item, for a target that cannot represent it."""
        if redactions := redaction.describe_redactions(item):
            self.note_not_preserved(item, "", f"the fact that secrets were redacted: {redactions}")

    def note_changed(self, item: Item, location: str, detail: str) -> None:
        """Note that the target requires a different form of something."""
        self.note.add(Kind.CHANGED, f"{item.source}:{item.id}", location, detail)


class Bundle(Protocol):
    """The folder or zip for a writer of several files."""

    def file(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """Open a new file; its path is relative to the bundle, with `/`. Only one file is open at a time."""


class Writer(Protocol):
    """What a writer module must define. One for pages also has `write_pages`."""

    INFO: WriterInfo

    def write(self, items: Iterable[Item], out: Any, run: Run) -> None:
        """Write all items, consuming them one by one; `out` is a binary file, or a `Bundle` for bundles."""


class PageWriter(Writer, Protocol):
    """What a writer of pages must define."""

    def write_pages(self, items: Iterable[Item], bundle: Bundle, run: Run) -> None:
        """Write a page for each item, and an index."""


@cache
def discover() -> dict[str, Writer]:
    """Return every writer by its name."""
    writers = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name not in _SHARED
    ]
    writers += load_plugins("agent_journal.writers", lambda module: find_defect(module, WriterInfo, "write"))
    return {writer.INFO.name: writer for writer in writers}


def get(name: str) -> Writer:
    """Return a writer by its name."""
    try:
        # Import only the one module that is needed.
        module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
        if name == module.INFO.name:
            return module
    except (ModuleNotFoundError, AttributeError):  # no module has that name, or it is not a writer
        pass
    writers = discover()
    if name not in writers:
        raise NoSuchName("writer", name, sorted(writers))
    return writers[name]
