"""What a person may settle: every key with its type and default, and where each value came from.

A flag goes before the environment, the environment before the file, the file before the default. Little is
imported: `tomllib` only if there is a file, the readers only if a source is named.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import BadConfig
from agent_journal.pricing import Rates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agent_journal.readers import ReaderInfo

Written: TypeAlias = str | bool | int | list[str]
"""A value as it stands in the file."""
FILE_NAME = "config.toml"
_LARGEST_FILE = 1 << 20
_LONGEST_SHOWN = 200
_SOURCES = "storage.sources"
_PRICES = "prices"
# Variables of ours that are no keys, and the short name that one key has.
_NO_KEYS = frozenset({"AJ_HOME", "AJ_DEBUG"})
_SHORT = {"storage.index_path": "AJ_INDEX_PATH"}

AtLeastOne = Annotated[int, Meta(ge=1, le=1_000_000)]
NotNegative = Annotated[int, Meta(ge=0, le=1_000_000)]
Dollars = Annotated[float, Meta(ge=0, le=1_000_000)]


class Storage(Struct, frozen=True, kw_only=True):
    """Where things lie."""

    index_path: Path = Path("index")
    """The folder of the search index; a relative path is below the journal's home."""
    sources: dict[str, tuple[str, ...]] = {}
    """By source: paths and globs in place of those where it usually lies; `false` leaves it out."""
    exclude: tuple[str, ...] = ()
    """Globs of files and folders that are never looked at."""
    roots: tuple[str, ...] = ()
    """Folders of projects: histories that lie in project folders are looked for in them and below them."""
    media: Literal["none", "small", "all"] = "small"
    """Which pictures, sounds and documents are kept: all of an export, beside a history those it names."""
    media_max_mb: AtLeastOne = 10
    """With `media = "small"`: the size up to which such a file is kept, in megabytes."""
    max_inflated_mb: NotNegative = 0
    """How large a compressed file may become when it is read, in megabytes; 0: as large as is plausible."""


class Vector(Struct, frozen=True, kw_only=True):
    """Search by meaning."""

    enabled: bool = True
    """Whether texts are found by meaning too."""
    model_path: Path = Path("~/.chats/models")
    """The folder of an ONNX model (`model.onnx`, `tokenizer.json`); without one the bundled model serves."""
    model_use: Literal["all", "rerank"] = "all"
    """What that model is for: `all` finds with it; `rerank` only orders the best 20, which costs little."""
    fallback: Literal["hash", "none"] = "hash"
    """What stands in where there is no model."""
    background: bool = True
    """Whether a sync that brought much lets another process go on with its vectors."""


class Index(Struct, frozen=True, kw_only=True):
    """What can be searched, and at which cost."""

    lucene_ram_buffer_mb: AtLeastOne = 64
    """The memory that the writer of the index may use, in megabytes."""
    vector_precision: Literal["f16", "f32"] = "f16"
    """How vectors are stored: `f16` is compact, `f32` precise."""
    thinking: bool = True
    """Whether the thoughts of models can be searched."""
    tool_output: bool = True
    """Whether the output of tools can be searched."""
    vector: Vector = Vector()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The texts of entries that are not searched, as entries call them."""
        asked = {"thinking": self.thinking, "output": self.tool_output}
        return tuple(text for text, is_searched in asked.items() if not is_searched)


class Search(Struct, frozen=True, kw_only=True):
    """How searching behaves if nothing else is asked for."""

    default_mode: Literal["lexical", "semantic", "hybrid"] = "hybrid"
    """By words, by meaning, or both."""
    default_context: NotNegative = 3
    """How many messages are shown before and after a hit."""
    max_results: AtLeastOne = 20
    """How many hits are shown."""


class Export(Struct, frozen=True, kw_only=True):
    """How exporting behaves if nothing else is asked for."""

    default_format: str = "html"
    """The format, as `-t` names it."""
    html_theme: Literal["dark", "light", "auto"] = "dark"
    """The colours of pages."""
    include_tool_calls: bool = True
    """Whether tool calls and their results are part of it."""


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model costs, in US dollars for a million tokens, as `[prices]` has it."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None
    cache_write_1h: Dollars | None = None

    def rates(self) -> Rates:
        """All prices: what has none of its own costs as input does, an hour in the cache as 5 minutes."""
        read = self.input if self.cache_read is None else self.cache_read
        written = self.input if self.cache_write is None else self.cache_write
        hour = written if self.cache_write_1h is None else self.cache_write_1h
        return Rates(self.input, self.output, read, written, hour)


class Origin(Struct, frozen=True):
    """Where a value came from."""

    kind: Literal["default", "file", "environment", "flag"] = "default"
    name: str = ""
    """The file, the variable or the flag."""
    line: int | None = None

    def __str__(self) -> str:
        """`default`, `/home/ada/.agent-journal/config.toml:3`, `AJ_INDEX_PATH`, `--max`."""
        if self.line is not None:
            return f"{self.name}:{self.line}"
        return self.name or self.kind


class Config(Struct, frozen=True, kw_only=True):
    """Every value, checked, with paths made absolute."""

    home: Path
    storage: Storage
    index: Index
    search: Search
    export: Export
    prices: dict[str, Price] = {}
    """By model, where a person settled them."""
    origins: dict[str, Origin] = {}
    """By key, where a value is not the default."""

    def value(self, key: str) -> Any:
        """The value of a key; of a source or price that nobody settled: None."""
        if is_price(key):
            return self.prices.get(_model_in(key))
        if is_source(key):
            return self.storage.sources.get(key.removeprefix(f"{_SOURCES}."))
        found: Any = self
        for step in key.split("."):
            found = getattr(found, step)
        return found

    def origin(self, key: str) -> Origin:
        """Where the value of a key came from."""
        return self.origins.get(key, Origin())


class Setting(Struct, frozen=True):
    """A value that somebody gave, before it is checked."""

    value: Any
    origin: Origin

    @property
    def is_text(self) -> bool:
        """Whether it can be nothing but text, as in a variable."""
        return self.origin.kind == "environment"


def home_of(environ: Mapping[str, str], flag: str | None = None) -> Path:
    """The folder in which everything is kept: `--home`, `AJ_HOME`, or `~/.agent-journal`."""
    return Path(os.path.abspath(expanded(flag or environ.get("AJ_HOME") or "~/.agent-journal", environ)))


def load(home: Path, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> Config:
    """The configuration of a journal; `flags` are values by key from the command line, None if not given.

    A wrong value or key raises `BadConfig`: a typo in `exclude` must not import what was to be left out.
    """
    if encodable(str(home)) != str(home):  # SQLite takes no other
        reason = "its name is no text, as that of a journal must be; name another folder with --home"
        raise BadConfig(str(home), reason)
    settings = {
        **_in_file(home / FILE_NAME),
        **_in_environment(environ),
        **_in_flags(flags or {}),
    }
    checked = _all_checked(settings, home, environ)
    return _built(home, environ, checked, {key: setting.origin for key, setting in settings.items()})


def defaults(home: Path, environ: Mapping[str, str]) -> Config:
    """The configuration of a journal for which nothing is settled."""
    return _built(home, environ, {}, {})


def parse(text: str, file: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Every value in the text of a file by its key, checked."""
    found = _in_text(text, file)
    return _all_checked(found, Path(file).parent, environ)


def read_file(path: Path) -> str | None:
    """The text of a configuration file, None if there is none; one that others may write is refused."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadConfig(str(path), f"it cannot be read: {(error.strerror or str(error)).lower()}") from error
    try:
        _refuse_unsafe(path, os.fstat(handle))
        data = os.read(handle, _LARGEST_FILE + 1)
    finally:
        os.close(handle)
    if len(data) > _LARGEST_FILE:
        raise BadConfig(str(path), "it is larger than 1 MB, which no configuration is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadConfig(f"{path}:{line}", "it is not UTF-8; save it in that encoding") from error


def structs() -> Iterator[tuple[str, type[Struct]]]:
    """Every table of the file, with what it holds."""
    yield from (("storage", Storage), ("index", Index), ("index.vector", Vector), ("search", Search))
    yield "export", Export


def keys() -> tuple[str, ...]:
    """Every key but those of the sources, in the order of the file."""
    return tuple(_kinds())


def source_keys() -> tuple[str, ...]:
    """The key of every source."""
    return tuple(f"{_SOURCES}.{name}" for name in sorted(_sources()))


def is_key(key: str) -> bool:
    """Whether there is such a key."""
    known = key in _kinds() or is_price(key)
    return known or (is_source(key) and key.removeprefix(f"{_SOURCES}.") in _sources())


def is_source(key: str) -> bool:
    """Whether a key is one of those below `[storage.sources]`."""
    return key.startswith(f"{_SOURCES}.")


def is_price(key: str) -> bool:
    """Whether a key is one of those below `[prices]`."""
    return key.startswith(f"{_PRICES}.")


def _model_in(key: str) -> str:
    return key.removeprefix(f"{_PRICES}.").removeprefix('"').removesuffix('"')


def source_info(key: str) -> ReaderInfo:
    """The source that a key settles."""
    return _sources()[key.removeprefix(f"{_SOURCES}.")]


def source_key(info: ReaderInfo) -> str:
    """What `[storage.sources]` calls a source."""
    return info.config_key or info.name.replace("-", "_")


def variables(key: str) -> tuple[str, ...]:
    """The variables that set a key, the first one first; a price has none."""
    if is_price(key):
        return ()
    generic = f"AJ_{key.upper().replace('.', '_')}"
    if is_source(key):
        return (*(name for name in source_info(key).env if name.startswith("AJ_")), generic)
    return (_SHORT[key], generic) if key in _SHORT else (generic,)


def written(key: str, values: Sequence[str]) -> Written:
    """What the file has to say for values of a key that are given as text."""
    origin = Origin("flag", key)
    if not is_key(key):
        raise BadConfig(key, unknown_key(key))
    if is_price(key):
        raise BadConfig(key, f"a price is several values: write [{key}] and {_PRICE} into {FILE_NAME}")
    kind = _kinds().get(key)
    many = is_source(key) or get_origin(kind) is tuple
    if len(values) > 1 and not many:
        raise BadConfig(key, f"{key} takes one value: {expected(key)}")
    if not all(map(_is_unicode, values)):
        raise BadConfig(key, f"{key} cannot be this: the file is UTF-8, and the value is not")
    value: Written = values[0] if len(values) == 1 else list(values)
    if value == "false" and is_source(key):
        value = False
    elif kind is bool or get_origin(kind) is Annotated:
        value = _checked(key, Setting(value, Origin("environment", key)), Path(), {})
    _checked(key, Setting(value, origin), Path(), {})
    return value


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def expected(key: str) -> str:
    """What a value of a key must be, in words."""
    if is_price(key):
        return f"a table with {_PRICE}"
    return _PATTERNS if is_source(key) else _in_words(_kinds()[key])


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """A path with `~` and `%VARIABLE%` replaced; a variable that is not set stays as it is."""
    if text == "~" or text.startswith(("~/", "~\\")):
        own = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or _own_folder()
        return own + text[1:]
    if text.startswith("%"):
        name, ends, rest = text[1:].partition("%")
        return environ[name] + rest if ends and environ.get(name) else text
    return text


def _own_folder() -> str:
    """The person's folder as the system knows it; Python takes an empty HOME for the root of all folders."""
    if os.environ.get("HOME") != "":
        return os.path.expanduser("~")
    try:
        import pwd  # noqa: PLC0415 (not on Windows)

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # a container may run as somebody whom its system does not know
        return os.path.expanduser("~")


def unknown_key(key: str) -> str:
    """What is said of a key that does not exist, with the nearest one that does."""
    from difflib import get_close_matches  # noqa: PLC0415 (slow to import, needed only here)

    if key in _tables():
        return f"{key} must be a table: [{key}]"
    near = get_close_matches(key, [*keys(), *_tables(), *source_keys()], 1, 0.6)
    hint = f"did you mean {near[0]!r}?" if near else "'aj config show' lists all"
    return f"there is no key {key!r}; {hint}"


# ── From the file ──


def _refuse_unsafe(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise BadConfig(str(path), "it is not a regular file")
    if os.name == "nt":
        return
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadConfig(str(path), f"others may write to it, so it is not trusted; chmod 600 {path}")
    if found.st_uid not in {os.geteuid(), 0}:
        raise BadConfig(str(path), "it belongs to somebody else, so it is not trusted")


def _in_file(path: Path) -> dict[str, Setting]:
    text = read_file(path)
    return _in_text(text, str(path)) if text is not None else {}


def _in_text(text: str, file: str) -> dict[str, Setting]:
    from agent_journal.decoding import toml_text  # noqa: PLC0415 (only if there is a file)

    found: dict[str, Setting] = {}
    table = toml_text.load(text, file)
    lines = toml_text.lines(text)
    for key, value in _flat(table):
        origin = Origin("file", file, _line_of(key, lines))
        if not is_key(key):
            raise BadConfig(str(origin), unknown_key(key))
        found[key] = Setting(value, origin)
    return found


def _flat(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its key; tables that hold keys of ours are gone into (they are at most three deep)."""
    for name, value in table.items():
        key = above + (name if "." not in name else f'"{name}"')
        if isinstance(value, dict) and key in _tables():
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """The line of a key, or of the table within a line that it stands in."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


# ── From the environment ──


def _in_environment(environ: Mapping[str, str]) -> dict[str, Setting]:
    ours = [name for name in environ if name.startswith("AJ_") and environ[name] and name not in _NO_KEYS]
    if not ours:
        return {}
    known = {name: key for key in keys() for name in variables(key)}
    if not known.keys() >= set(ours):
        known |= {name: key for key in source_keys() for name in variables(key)}
    found: dict[str, Setting] = {}
    for name in ours:
        if name not in known and name.startswith(_prefixes()):
            raise BadConfig(name, _unknown_variable(name, known))
    for key in dict.fromkeys(known[name] for name in ours if name in known):
        name = next(name for name in variables(key) if environ.get(name))
        found[key] = Setting(environ[name], Origin("environment", name))
    return found


def _prefixes() -> tuple[str, ...]:
    """How variables begin that can only be meant for us."""
    return tuple(f"AJ_{table.upper().replace('.', '_')}_" for table in _tables())


def _unknown_variable(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (slow to import, needed only here)

    near = get_close_matches(name, known, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else "unset it"
    return f"no key has this environment variable; {hint}"


def _in_flags(flags: Mapping[str, Any]) -> dict[str, Setting]:
    origin = Origin("flag", "the command line")
    return {key: Setting(value, origin) for key, value in flags.items() if value is not None}


# ── Keys and their values ──


def _tables() -> frozenset[str]:
    return frozenset({_SOURCES, _PRICES, *(name for name, _ in structs())})


@cache
def _kinds() -> dict[str, Any]:
    """The type of every key but those of the sources."""
    return {
        f"{table}.{field.name}": field.type
        for table, struct in structs()
        for field in msgspec.structs.fields(struct)
        if f"{table}.{field.name}" not in _tables()
    }


@cache
def _sources() -> dict[str, ReaderInfo]:
    from agent_journal.readers import discover  # noqa: PLC0415 (imports every reader)

    return {source_key(reader.INFO): reader.INFO for reader in discover().values()}


_PATTERNS = "a path, a glob, a list of them, or false"
_LIST = "a glob or a list of them"
_PRICE_NAMES = {"cacheRead": "cache_read", "cacheWrite": "cache_write"}
_PRICE = "input, output and perhaps cache_read, cache_write, cache_write_1h in dollars per million tokens"


def _in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        *most, last = get_args(kind)
        return f"{', '.join(most)} or {last}"
    if get_origin(kind) is Annotated:
        limits = get_args(kind)[1]
        return f"a whole number from {limits.ge} to {limits.le:,}"
    if get_origin(kind) is tuple:
        return _LIST
    return {bool: "true or false", Path: "a path", str: "a format that 'aj formats' lists"}[kind]


def _all_checked(settings: Mapping[str, Setting], home: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """The values of all keys. What lies in the folder of the index is never looked at as a history."""
    checked = {key: _checked(key, setting, home, environ) for key, setting in settings.items()}
    index = checked.get("storage.index_path")
    if index is not None and Path(os.path.abspath(home)).is_relative_to(index):
        said = f"storage.index_path is {index}, and the journal lies in it; name a folder for the index alone"
        raise BadConfig(str(settings["storage.index_path"].origin), said)
    return checked


def _checked(key: str, setting: Setting, home: Path, environ: Mapping[str, str]) -> Any:
    """The value of a key as the structs have it."""
    if not is_key(key):
        raise BadConfig(str(setting.origin), unknown_key(key))
    try:
        if is_source(key):
            return () if _is_no(setting) else _patterns(setting)
        if is_price(key):
            return msgspec.convert(_with_our_names(setting.value), Price)
        return _converted(_kinds()[key], setting, home, environ)
    except (ValueError, msgspec.ValidationError) as error:
        said = f"{key} is {_shown(setting.value)}, but must be {expected(key)}"
        if is_price(key):
            said = f"{key} must be {expected(key)}: {str(error).lower()}"
        raise BadConfig(str(setting.origin), said) from error


def _with_our_names(price: Any) -> Any:
    """A table of prices whose names may be those of the document that asks for such a table."""
    if not isinstance(price, dict):
        return price
    # A price under both names is refused, as it would be one of two.
    return {
        ours if (ours := _PRICE_NAMES.get(name, name)) == name or ours not in price else name: dollars
        for name, dollars in price.items()
    }


def _converted(kind: Any, setting: Setting, home: Path, environ: Mapping[str, str]) -> Any:
    if get_origin(kind) is tuple:
        return _patterns(setting)
    if kind is Path:
        text = msgspec.convert(setting.value, Annotated[str, Meta(pattern=r"\A[^\0]+\Z")])
        # In the file, `index` is a folder of the journal; on a command line, one of the current folder.
        base = str(home) if setting.origin.kind in {"file", "default"} else ""
        return Path(os.path.abspath(os.path.join(base, expanded(text, environ))))
    if kind is str:
        return _writer(msgspec.convert(setting.value, str))
    return msgspec.convert(setting.value, kind, strict=not setting.is_text)


def _patterns(setting: Setting) -> tuple[str, ...]:
    value = setting.value
    if isinstance(value, str):
        value = value.split(os.pathsep) if setting.is_text else [value]
    found = msgspec.convert(value, tuple[str, ...])
    if not all(found) or any("\0" in pattern for pattern in found):
        raise ValueError
    return found


def _is_no(setting: Setting) -> bool:
    return setting.value is False or (setting.is_text and setting.value.lower() == "false")


def _writer(name: str) -> str:
    """The name of a writer; the default is taken as it is, as looking for writers imports them."""
    if name != Export().default_format:
        from agent_journal.errors import NoSuchName  # noqa: PLC0415
        from agent_journal.writers import get  # noqa: PLC0415

        try:
            get(name)
        except NoSuchName as error:
            raise ValueError from error
    return name


def _shown(value: Any) -> str:
    """A value in a few words; of one that is no text, number or list of such, only what it is."""
    if isinstance(value, bool):
        return str(value).lower()
    shown = repr(value) if isinstance(value, str | int | float | list) else f"a {type(value).__name__}"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"


def _built(
    home: Path, environ: Mapping[str, str], values: dict[str, Any], origins: dict[str, Origin]
) -> Config:
    """The structs with these values, and with the defaults for the rest."""
    for key in ("storage.index_path", "index.vector.model_path"):
        if key not in values:
            default = {"storage": Storage, "index.vector": Vector}[key.rpartition(".")[0]]()
            text = str(getattr(default, key.rpartition(".")[2]))
            values[key] = Path(os.path.join(home, expanded(text, environ)))
    tables: dict[str, dict[str, Any]] = {name: {} for name in _tables()}
    prices = {key: values.pop(key) for key in list(values) if is_price(key)}
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        tables[table][name] = value
    return Config(
        home=home,
        storage=Storage(**tables["storage"], sources=tables[_SOURCES]),
        index=Index(**tables["index"], vector=Vector(**tables["index.vector"])),
        search=Search(**tables["search"]),
        export=Export(**tables["export"]),
        prices={_model_in(key): price for key, price in prices.items()},
        origins=origins,
    )
