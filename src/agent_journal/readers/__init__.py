"""Readers: one module per source, each with `INFO`, `sniff` and `read`, discovered without a registry.

`dialects` has the formats that several readers share.
Third parties add readers with the entry-point group `agent_journal.readers`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from agent_journal import plugins
from agent_journal.errors import (
    AgentJournalError,
    AmbiguousFormat,
    BadPlugin,
    NoSuchName,
    UnknownFormat,
    UnreadableSource,
)
from agent_journal.model import ToolKind
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes


class Retention(Struct, frozen=True, kw_only=True):
    """How a tool deletes its own sessions after some time, and how the user can change that.

    Keys are paths in its settings file, which is JSON, with dots between the steps.
    """

    settings: tuple[str, ...]
    """The paths of the settings file; the first one that exists applies."""
    key: str
    """The key of the maximum age of sessions: a number of days, or a text such as `30d` or `2w`."""
    days: int
    """The default number of days."""
    switch: str = ""
    """The key that disables deletion if its value is false."""
    most: str = ""
    """The key of the number of sessions that are left, regardless of their age."""
    advice: str
    """What to write into the file so that nothing is deleted."""


class Encrypted(Struct, frozen=True):
    """Files that a vendor encrypts: they can be counted, not read."""

    product: str
    """The product that writes them."""
    content: str
    """What one file contains: `conversation`."""
    homes: tuple[str, ...]
    """Globs of their locations on Linux, macOS and Windows."""


Category: TypeAlias = Literal[
    "agents", "editors", "chat apps", "API traffic", "observability", "trajectories", "datasets"
]
"""What a source is to its users."""


class Product(Struct, frozen=True):
    """A product whose conversations a reader reads."""

    name: str
    """Its name for people."""
    paths: tuple[str, ...] = ()
    """Globs of paths that only it uses: `*/.cline/*`. Without any, only the content identifies it."""


class ReaderInfo(Struct, frozen=True, kw_only=True):
    """What the rest of the program knows about a source."""

    name: str
    """Its name on the command line, in ids and in the archive."""
    title: str
    """Its name for people."""
    category: Category = "agents"
    """The group it is listed in."""
    products: tuple[Product, ...] = ()
    """The products it serves, if there are several; the last one with a matching path counts."""
    versions: tuple[str, ...]
    """The supported versions of its format, newest first; old ones stay."""
    revision: int = 1
    """The revision of our mapping; raising it causes a re-import."""
    names: dict[str, str] = {}
    """Its names in target formats: `{"unified": "claude_code"}`."""
    config_key: str = ""
    """Its key in the configuration's `[storage.sources]`, where a value replaces `homes`."""
    env: tuple[str, ...] = ()
    """Environment variables that change its location: ours and the vendor's."""
    homes: tuple[str, ...] = ()
    """Globs of its locations on Linux, macOS and Windows."""
    in_projects: tuple[str, ...] = ()
    """Names of files in project folders; projects that other conversations name are searched."""
    companions: tuple[str, ...] = ()
    """Globs of files that belong to a unit and are never units themselves."""
    encrypted: tuple[Encrypted, ...] = ()
    """Files of its products that cannot be read."""
    tool_kinds: dict[str, ToolKind] = {}
    """The kinds of its tools: `{"Bash": "shell"}`."""
    required: tuple[str, ...] = ()
    """Paths that its unified documents must have: `platform.version`, `messages[].role`; `a|b` is either."""
    allows_empty_text: bool = False
    """Whether it writes an empty text if a message has no content, so that nothing is missing."""
    raw_field: str = ""
    """The key in a message's `extra` of the text as the model got it, if the user's own text differs."""
    record: RecordForm = RecordForm()
    """How its agent records differ from others."""
    in_blocks: bool = False
    """Whether its messages are lists of blocks, even if there is only one. An empty `content` in a message's
    `extra` says that there is none."""
    text_field: str = ""
    """The key in a message's `extra` of its whole text, if that is not the lines of its texts."""
    children_field: str = ""
    """The path in a message's `extra` to the ids of its children, if they have an order of their own."""
    undercounts: str = ""
    """What its token counts leave out, as far as known."""
    sums_requests: bool = False
    """Whether its token counts cover several requests, so that the size of a prompt is unknown."""
    ids_may_repeat: bool = False
    """Whether sessions of different folders may have equal ids; a journal distinguishes them by it."""
    retention: Retention | None = None
    """When the tool itself deletes sessions, if it does."""
    resume: str = ""
    """The command that resumes a session in the tool: `claude --resume {id}`."""
    evidence: str = ""
    """The sources of our knowledge of the format, and when it was verified."""


class Reader(Protocol):
    """The interface of a reader module."""

    INFO: ReaderInfo

    def sniff(self, peek: Peek) -> str | None:
        """Return the version of the format if the input belongs to this source, else None."""

    def read(self, source: Input, version: str, note: Notes) -> Iterator[Item]:
        """Yield every conversation and memory, each as soon as it is complete."""


@cache
def discover() -> dict[str, Reader]:
    """Get all readers by name."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name != "dialects"
    ]
    modules += plugins.load_plugins("agent_journal.readers", _find_defect)
    return {reader.INFO.name: reader for reader in modules}


def _find_defect(module: Any) -> str | None:
    """Explain why a reader of another package cannot be used; None if it can."""
    defect = plugins.find_defect(module, ReaderInfo, "sniff", "read")
    if defect is not None:
        return defect
    info: ReaderInfo = module.INFO
    if not info.name or not info.versions:
        return "INFO has no name or no versions"
    patterns = [*info.homes, *info.in_projects, *info.companions]
    return "INFO has a path that can be none" if not all(patterns) or "\0" in "".join(patterns) else None


def info(name: str) -> ReaderInfo | None:
    """Get the information about a source, None if there is no reader; imports only that one if possible."""
    module = name.replace("-", "_")
    try:
        reader_info: ReaderInfo = importlib.import_module(f"{__name__}.{module}").INFO
    except (ImportError, AttributeError, ValueError):  # there is no such module, or it is not a reader
        reader = discover().get(name)
        return None if reader is None else reader.INFO
    return reader_info if reader_info.name == name else None


def product_of(info: ReaderInfo, path: str) -> str | None:
    """Return the product that uses a path, None if it is not clear from the path."""
    products = zip(info.products, _product_paths(info.products), strict=True)
    return next((each.name for each, pattern in reversed([*products]) if pattern.match(f"/{path}")), None)


@cache
def _product_paths(products: tuple[Product, ...]) -> tuple[re.Pattern[str], ...]:
    from fnmatch import translate  # noqa: PLC0415 (only a unit of a reader with products needs it)

    patterns = ("|".join(map(translate, product.paths)) or "(?!)" for product in products)
    return tuple(re.compile(pattern) for pattern in patterns)


def named(name: str) -> Reader:
    """Get a reader by its name or that of a product, with or without spaces, hyphens and capitals."""
    readers, folded = discover(), fold_product(name)
    serving = (each for each in readers.values() if folded in map(fold_product, product_names(each.INFO)))
    return readers.get(name) or next(serving, None) or get(name)


def product_names(info: ReaderInfo) -> list[str]:
    """Return the names of the products that a reader serves; its title if it serves one."""
    return [product.name for product in info.products] or [info.title]


def fold_product(name: str) -> str:
    """Return the name of a product as names are compared."""
    return name.casefold().replace(" ", "").replace("-", "")


def get(name: str) -> Reader:
    """Get a reader by name."""
    readers = discover()
    if name not in readers:
        raise NoSuchName("reader", name, sorted(readers))
    return readers[name]


def detect(reader: Reader, peek: Peek) -> str | None:
    """Ask a reader for the version of an input; None if it is not its own.

    A failure is added to the `failures` of the peek. A plugin that failed once is not asked again.
    """
    if reader.INFO.name in _failed:
        return None
    try:
        version: Any = reader.sniff(peek)
        if version is not None and not isinstance(version, str):
            raise TypeError(f"sniff gave a {type(version).__name__}")  # noqa: TRY301 (handled like a failure)
    except AgentJournalError:
        raise  # no reader can read the file
    except Exception as error:  # a faulty reader must not stop the others
        package = plugins.package_of(reader)
        if package is None and isinstance(error, OSError):
            raise UnreadableSource(peek.label, (error.strerror or str(error)).lower()) from error
        peek.failures.append((reader.INFO.name, error))
        if package is not None:
            _failed.add(reader.INFO.name)
            reason = f"{type(error).__name__} while it looked at {peek.label}"
            plugins.problems[reader.INFO.name] = str(BadPlugin(package, reader.INFO.name, reason))
        return None
    return version


_failed: set[str] = set()


def claims(peek: Peek) -> list[tuple[Reader, str]]:
    """Get every reader that claims the input, with the version."""
    versions = [(reader, detect(reader, peek)) for reader in discover().values()]
    claimants = [(reader, version) for reader, version in versions if version is not None]
    further = None if claimants else peek.further()
    return claimants if further is None else claims(further)


def identify(peek: Peek) -> tuple[Reader, str]:
    """Get the one reader that claims the input, with the version; none or several are an error."""
    claimants = claims(peek)
    if not claimants:
        raise UnknownFormat(peek.label, peek.looks_like(), len(discover()))
    if len(claimants) > 1:
        raise AmbiguousFormat(peek.label, [reader.INFO.name for reader, _ in claimants])
    return claimants[0]


def is_companion(path: str) -> bool:
    """Whether a file is a companion of a unit and not a unit itself."""
    return _companions().match(f"/{path}") is not None


@cache
def _companions() -> re.Pattern[str]:
    from fnmatch import translate  # noqa: PLC0415 (only folders need it)

    patterns = [pattern for reader in discover().values() for pattern in reader.INFO.companions]
    # Nearly all patterns begin with `*/`; one regular expression tries them together at each slash.
    inside = [translate(pattern[2:]) for pattern in patterns if pattern.startswith("*/")]
    others = [translate(pattern) for pattern in patterns if not pattern.startswith("*/")]
    alternatives = [f"(?s:.*/)(?:{'|'.join(inside)})"] if inside else []
    return re.compile("|".join(alternatives + others) or "(?!)")
