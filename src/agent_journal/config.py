"""The settings: every key with its type and default, and where each value comes from.

A command-line option overrides the environment, which overrides the file, which overrides the default. Little
is imported: `tomllib` only if there is a file, the readers only if a setting names a source.
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

FileValue: TypeAlias = str | bool | int | list[str]
"""A value as the file contains it."""
FILE_NAME = "config.toml"
_MAX_FILE_BYTES = 1 << 20
_MAX_SHOWN_CHARS = 200
_SOURCES = "storage.sources"
_PRICES = "prices"
# Our variables that are not settings, and the short variable of one key.
_OTHER_VARIABLES = frozenset({"AJ_HOME", "AJ_DEBUG", "AJ_MCP_TOKEN"})
_SHORT_VARIABLES = {"storage.index_path": "AJ_INDEX_PATH"}

AtLeastOne = Annotated[int, Meta(ge=1, le=1_000_000)]
NotNegative = Annotated[int, Meta(ge=0, le=1_000_000)]
Dollars = Annotated[float, Meta(ge=0, le=1_000_000)]


class Storage(Struct, frozen=True, kw_only=True):
    """Where things are stored."""

    index_path: Path = Path("index")
    """The folder of the search index; a relative path is relative to the journal's folder."""
    sources: dict[str, tuple[str, ...]] = {}
    """By source: paths and globs that replace its default locations; `false` skips the source."""
    exclude: tuple[str, ...] = ()
    """Globs of files and folders that are never read."""
    roots: tuple[str, ...] = ()
    """Folders that are searched, with their subfolders, for conversations stored in project folders."""
    media: Literal["none", "small", "all"] = "small"
    """Which images, audio files and documents of exports and conversations to store."""
    media_max_mb: AtLeastOne = 10
    """With `media = "small"`: the maximum size of such a file, in megabytes."""
    max_inflated_mb: NotNegative = 0
    """The maximum decompressed size of a file, in megabytes; 0: 128, or 20 times its compressed size."""


class Vector(Struct, frozen=True, kw_only=True):
    """Semantic search."""

    enabled: bool = True
    """Whether to compute embeddings for semantic search."""
    model_path: Path = Path("~/.chats/models")
    """The folder of your own ONNX model (`model.onnx`, `tokenizer.json`), if you have one."""
    model_use: Literal["all", "rerank"] = "all"
    """What to use that model for: `all` searches with it; `rerank` only reorders the best 20 hits, faster."""
    fallback: Literal["hash", "none"] = "hash"
    """What to use if there is no model: hashes of words, or no semantic search."""
    background: bool = True
    """Whether a large import computes its embeddings in a background process."""


class Index(Struct, frozen=True, kw_only=True):
    """What can be searched, and at what cost."""

    lucene_ram_buffer_mb: AtLeastOne = 64
    """The memory for writing the index, in megabytes."""
    vector_precision: Literal["f16", "f32"] = "f16"
    """How embeddings are stored: `f16` is compact, `f32` precise."""
    thinking: bool = True
    """Whether reasoning can be searched."""
    tool_output: bool = True
    """Whether the output of tools can be searched."""
    vector: Vector = Vector()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The kinds of text that are not indexed, as entries name them."""
        indexed = {"thinking": self.thinking, "output": self.tool_output}
        return tuple(kind for kind, is_indexed in indexed.items() if not is_indexed)


class Search(Struct, frozen=True, kw_only=True):
    """Defaults of searching."""

    default_mode: Literal["lexical", "semantic", "hybrid"] = "hybrid"
    """Search by words, by meaning, or both."""
    default_context: NotNegative = 3
    """How many messages before and after a hit `--json` prints."""
    max_results: AtLeastOne = 20
    """The maximum number of hits."""


class Export(Struct, frozen=True, kw_only=True):
    """Defaults of exporting."""

    default_format: str = "html"
    """The format, as in `-t`."""
    html_theme: Literal["dark", "light", "auto"] = "auto"
    """The color theme of web pages."""
    include_tool_calls: bool = True
    """Whether to include tool calls and their results."""


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a model in US dollars per million tokens, as in `[prices]`."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None
    cache_write_1h: Dollars | None = None

    def rates(self) -> Rates:
        """All prices: cache prices default to the input price, that of one hour to that of 5 minutes."""
        cache_read = self.input if self.cache_read is None else self.cache_read
        cache_write = self.input if self.cache_write is None else self.cache_write
        cache_write_1h = cache_write if self.cache_write_1h is None else self.cache_write_1h
        return Rates(self.input, self.output, cache_read, cache_write, cache_write_1h)


class Origin(Struct, frozen=True):
    """Where a value comes from."""

    kind: Literal["default", "file", "environment", "flag"] = "default"
    name: str = ""
    """The file, the variable or the option."""
    line: int | None = None

    def __str__(self) -> str:
        """`default`, `/home/ada/.agent-journal/config.toml:3`, `AJ_INDEX_PATH`, `--max`."""
        if self.line is not None:
            return f"{self.name}:{self.line}"
        return self.name or self.kind


class Config(Struct, frozen=True, kw_only=True):
    """All settings, validated, with absolute paths."""

    home: Path
    storage: Storage
    index: Index
    search: Search
    export: Export
    prices: dict[str, Price] = {}
    """By model, only those that are set."""
    origins: dict[str, Origin] = {}
    """By key, only where a value is not the default."""

    def value(self, key: str) -> Any:
        """The value of a key; None for a source or price that is not set."""
        if is_price(key):
            return self.prices.get(_model_in(key))
        if is_source(key):
            return self.storage.sources.get(key.removeprefix(f"{_SOURCES}."))
        value: Any = self
        for name in key.split("."):
            value = getattr(value, name)
        return value

    def origin(self, key: str) -> Origin:
        """Where the value of a key comes from."""
        return self.origins.get(key, Origin())


class Setting(Struct, frozen=True):
    """A value before it is validated."""

    value: Any
    origin: Origin

    @property
    def is_text(self) -> bool:
        """Whether it can only be text, as in a variable."""
        return self.origin.kind == "environment"


def home_of(environ: Mapping[str, str], flag: str | None = None) -> Path:
    """The journal's folder: `--home`, `AJ_HOME`, or `~/.agent-journal`."""
    return Path(os.path.abspath(expanded(flag or environ.get("AJ_HOME") or "~/.agent-journal", environ)))


def load(home: Path, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None) -> Config:
    """Load the configuration of a journal; `flags` are values by key from the command line, or None.

    An invalid value or key raises `BadConfig`: a typo in `exclude` must not import what should be excluded.
    """
    if encodable(str(home)) != str(home):  # SQLite accepts only text
        raise BadConfig(str(home), "its name is not valid text; choose another folder with --home")
    settings = {
        **_settings_in_file(home / FILE_NAME),
        **_settings_in_environment(environ),
        **_settings_in_flags(flags or {}),
    }
    values = _validate_all(settings, home, environ)
    return _build(home, environ, values, {key: setting.origin for key, setting in settings.items()})


def defaults(home: Path, environ: Mapping[str, str]) -> Config:
    """The configuration of a journal without any settings."""
    return _build(home, environ, {}, {})


def parse(text: str, file: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """All values in the text of a file by their keys, validated."""
    return _validate_all(_settings_in_text(text, file), Path(file).parent, environ)


def read_file(path: Path) -> str | None:
    """The text of a configuration file, None if there is none; a file that others can write is refused."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadConfig(
            str(path), f"cannot read the file: {(error.strerror or str(error)).lower()}"
        ) from error
    try:
        _refuse_unsafe(path, os.fstat(handle))
        data = os.read(handle, _MAX_FILE_BYTES + 1)
    finally:
        os.close(handle)
    if len(data) > _MAX_FILE_BYTES:
        raise BadConfig(str(path), "the file is larger than 1 MB, which is too large for settings")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadConfig(f"{path}:{line}", "the file is not UTF-8; save it in that encoding") from error


def structs() -> Iterator[tuple[str, type[Struct]]]:
    """Every table of the file, with its struct."""
    yield from (("storage", Storage), ("index", Index), ("index.vector", Vector), ("search", Search))
    yield "export", Export


def keys() -> tuple[str, ...]:
    """All keys except those of sources and prices, in the order of the file."""
    return tuple(_types())


def source_keys() -> tuple[str, ...]:
    """The keys of all sources."""
    return tuple(f"{_SOURCES}.{name}" for name in sorted(_sources()))


def is_key(key: str) -> bool:
    """Whether a key exists."""
    if key in _types() or is_price(key):
        return True
    return is_source(key) and key.removeprefix(f"{_SOURCES}.") in _sources()


def is_source(key: str) -> bool:
    """Whether a key is in `[storage.sources]`."""
    return key.startswith(f"{_SOURCES}.")


def is_price(key: str) -> bool:
    """Whether a key is in `[prices]`."""
    return key.startswith(f"{_PRICES}.")


def _model_in(key: str) -> str:
    return key.removeprefix(f"{_PRICES}.").removeprefix('"').removesuffix('"')


def source_info(key: str) -> ReaderInfo:
    """The source of a key in `[storage.sources]`."""
    return _sources()[key.removeprefix(f"{_SOURCES}.")]


def source_key(info: ReaderInfo) -> str:
    """The name of a source in `[storage.sources]`."""
    return info.config_key or info.name.replace("-", "_")


def variables(key: str) -> tuple[str, ...]:
    """The variables that set a key, in order of precedence; a price has none."""
    if is_price(key):
        return ()
    generic = f"AJ_{key.upper().replace('.', '_')}"
    if is_source(key):
        return (*(name for name in source_info(key).env if name.startswith("AJ_")), generic)
    return (_SHORT_VARIABLES[key], generic) if key in _SHORT_VARIABLES else (generic,)


def file_value(key: str, values: Sequence[str]) -> FileValue:
    """The value to write to the file, from arguments of a command."""
    origin = Origin("flag", key)
    if not is_key(key):
        raise BadConfig(key, unknown_key(key))
    if is_price(key):
        raise BadConfig(
            key, f"A price has several values; write [{key}] with {_PRICE_FIELDS} to {FILE_NAME}."
        )
    kind = _types().get(key)
    takes_several = is_source(key) or get_origin(kind) is tuple
    if len(values) > 1 and not takes_several:
        raise BadConfig(key, f"{key} takes only one value: {expected(key)}")
    if not all(map(_is_unicode, values)):
        raise BadConfig(key, f"The value of {key} is not valid UTF-8.")
    value: FileValue = values[0] if len(values) == 1 else list(values)
    if value == "false" and is_source(key):
        value = False
    elif kind is bool or get_origin(kind) is Annotated:
        value = _validate(key, Setting(value, Origin("environment", key)), Path(), {})
    _validate(key, Setting(value, origin), Path(), {})
    return value


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def expected(key: str) -> str:
    """What a value of a key must be, in words."""
    if is_price(key):
        return f"a table with {_PRICE_FIELDS}"
    return _PATTERNS if is_source(key) else _type_in_words(_types()[key])


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """A path with `~` and `%VARIABLE%` replaced; a variable that is not set stays unchanged."""
    if text == "~" or text.startswith(("~/", "~\\")):
        home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or _user_home()
        return home + text[1:]
    if text.startswith("%"):
        name, end, rest = text[1:].partition("%")
        return environ[name] + rest if end and environ.get(name) else text
    return text


def _user_home() -> str:
    """The user's home folder as the system knows it; Python takes an empty HOME for the root folder."""
    if os.environ.get("HOME") != "":
        return os.path.expanduser("~")
    try:
        import pwd  # noqa: PLC0415 (not on Windows)

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # a container may run as a user id without an account
        return os.path.expanduser("~")


def unknown_key(key: str) -> str:
    """The message for a key that does not exist, with the most similar one."""
    from difflib import get_close_matches  # noqa: PLC0415 (slow to import, needed only here)

    if key in _tables():
        return f"{key} must be a table: [{key}]"
    matches = get_close_matches(key, [*keys(), *_tables(), *source_keys()], 1, 0.6)
    hint = f"did you mean {matches[0]!r}?" if matches else "'aj config show' lists all keys"
    return f"Unknown key {key!r}; {hint}"


# ── From the file ──


def _refuse_unsafe(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise BadConfig(str(path), "it is not a regular file")
    if os.name == "nt":
        return
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise BadConfig(
            str(path), f"other users can write to it, so it is not trusted; run: chmod 600 {path}"
        )
    if status.st_uid not in {os.geteuid(), 0}:
        raise BadConfig(str(path), "it belongs to another user, so it is not trusted")


def _settings_in_file(path: Path) -> dict[str, Setting]:
    text = read_file(path)
    return _settings_in_text(text, str(path)) if text is not None else {}


def _settings_in_text(text: str, file: str) -> dict[str, Setting]:
    from agent_journal.decoding import toml_text  # noqa: PLC0415 (only if there is a file)

    settings: dict[str, Setting] = {}
    table = toml_text.load(text, file)
    lines = toml_text.lines(text)
    for key, value in _flatten(table):
        origin = Origin("file", file, _line_of(key, lines))
        if not is_key(key):
            raise BadConfig(str(origin), unknown_key(key))
        settings[key] = Setting(value, origin)
    return settings


def _flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its full key; recursion ends with our tables, which are nested at most three deep."""
    for name, value in table.items():
        key = prefix + (name if "." not in name else f'"{name}"')
        if isinstance(value, dict) and key in _tables():
            yield from _flatten(value, f"{key}.")
        else:
            yield key, value


def _line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """The line of a key, or of the inline table that contains it."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


# ── From the environment ──


def _settings_in_environment(environ: Mapping[str, str]) -> dict[str, Setting]:
    names = [
        name for name in environ if name.startswith("AJ_") and environ[name] and name not in _OTHER_VARIABLES
    ]
    if not names:
        return {}
    known = {name: key for key in keys() for name in variables(key)}
    if not known.keys() >= set(names):
        known |= {name: key for key in source_keys() for name in variables(key)}
    for name in names:
        if name not in known and name.startswith(_variable_prefixes()):
            raise BadConfig(name, _unknown_variable(name, known))
    settings: dict[str, Setting] = {}
    for key in dict.fromkeys(known[name] for name in names if name in known):
        name = next(name for name in variables(key) if environ.get(name))
        settings[key] = Setting(environ[name], Origin("environment", name))
    return settings


def _variable_prefixes() -> tuple[str, ...]:
    """The prefixes of variables that cannot be anything but settings."""
    return tuple(f"AJ_{table.upper().replace('.', '_')}_" for table in _tables())


def _unknown_variable(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (slow to import, needed only here)

    matches = get_close_matches(name, known, 1, 0.6)
    hint = f"did you mean {matches[0]}?" if matches else "unset it"
    return f"this environment variable belongs to no key; {hint}"


def _settings_in_flags(flags: Mapping[str, Any]) -> dict[str, Setting]:
    origin = Origin("flag", "the command line")
    return {key: Setting(value, origin) for key, value in flags.items() if value is not None}


# ── Keys and their values ──


def _tables() -> frozenset[str]:
    return frozenset({_SOURCES, _PRICES, *(name for name, _ in structs())})


@cache
def _types() -> dict[str, Any]:
    """The type of each key except those of sources and prices."""
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
_ALTERNATIVE_PRICE_NAMES = {"cacheRead": "cache_read", "cacheWrite": "cache_write"}
_PRICE_FIELDS = (
    "input, output and optionally cache_read, cache_write, cache_write_1h in dollars per million tokens"
)


def _type_in_words(kind: Any) -> str:
    if get_origin(kind) is Literal:
        *most, last = get_args(kind)
        return f"{', '.join(most)} or {last}"
    if get_origin(kind) is Annotated:
        limits = get_args(kind)[1]
        return f"a whole number from {limits.ge} to {limits.le:,}"
    if get_origin(kind) is tuple:
        return _LIST
    return {bool: "true or false", Path: "a path", str: "a format that 'aj formats' lists"}[kind]


def _validate_all(settings: Mapping[str, Setting], home: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """The values of all keys. The index folder must not contain the journal: it is never read as a source."""
    values = {key: _validate(key, setting, home, environ) for key, setting in settings.items()}
    index = values.get("storage.index_path")
    if index is not None and Path(os.path.abspath(home)).is_relative_to(index):
        message = (
            f"storage.index_path is {index}, which contains the journal; choose a folder only for the index"
        )
        raise BadConfig(str(settings["storage.index_path"].origin), message)
    return values


def _validate(key: str, setting: Setting, home: Path, environ: Mapping[str, str]) -> Any:
    """The value of a key, with the type of its field."""
    if not is_key(key):
        raise BadConfig(str(setting.origin), unknown_key(key))
    try:
        if is_source(key):
            return () if _is_false(setting) else _patterns(setting)
        if is_price(key):
            return msgspec.convert(_with_field_names(setting.value), Price)
        return _convert(_types()[key], setting, home, environ)
    except (ValueError, msgspec.ValidationError) as error:
        message = f"{key} is {_format_value(setting.value)}, but must be {expected(key)}"
        if is_price(key):
            message = f"{key} must be {expected(key)}: {str(error).lower()}"
        raise BadConfig(str(setting.origin), message) from error


def _with_field_names(price: Any) -> Any:
    """A price whose fields may have alternative names."""
    if not isinstance(price, dict):
        return price
    # A price with both names of a field keeps the alternative name, and is refused.
    return {
        field
        if (field := _ALTERNATIVE_PRICE_NAMES.get(name, name)) == name or field not in price
        else name: value
        for name, value in price.items()
    }


def _convert(kind: Any, setting: Setting, home: Path, environ: Mapping[str, str]) -> Any:
    if get_origin(kind) is tuple:
        return _patterns(setting)
    if kind is Path:
        text = msgspec.convert(setting.value, Annotated[str, Meta(pattern=r"\A[^\0]+\Z")])
        # A relative path in the file is relative to the journal's folder; elsewhere, to the current folder.
        base = str(home) if setting.origin.kind in {"file", "default"} else ""
        return Path(os.path.abspath(os.path.join(base, expanded(text, environ))))
    if kind is str:
        return _writer_name(msgspec.convert(setting.value, str))
    return msgspec.convert(setting.value, kind, strict=not setting.is_text)


def _patterns(setting: Setting) -> tuple[str, ...]:
    value = setting.value
    if isinstance(value, str):
        value = value.split(os.pathsep) if setting.is_text else [value]
    patterns = msgspec.convert(value, tuple[str, ...])
    if not all(patterns) or any("\0" in pattern for pattern in patterns):
        raise ValueError
    return patterns


def _is_false(setting: Setting) -> bool:
    return setting.value is False or (setting.is_text and setting.value.lower() == "false")


def _writer_name(name: str) -> str:
    """The name of a writer; the default is not looked up, because that imports all writers."""
    if name != Export().default_format:
        from agent_journal.errors import NoSuchName  # noqa: PLC0415
        from agent_journal.writers import get  # noqa: PLC0415

        try:
            get(name)
        except NoSuchName as error:
            raise ValueError from error
    return name


def _format_value(value: Any) -> str:
    """A value for a message; of anything but a text, a number or a list, only its type."""
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, str | int | float | list) else f"a {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"


def _build(
    home: Path, environ: Mapping[str, str], values: dict[str, Any], origins: dict[str, Origin]
) -> Config:
    """The configuration with these values, and with defaults for the rest."""
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
