"""The configuration: every key, where values come from, and what is said of wrong ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal import config, readers
from agent_journal.config import Config, load
from agent_journal.decoding import toml_text
from agent_journal.errors import BadConfig
from agent_journal.pricing import Rates


class Row(NamedTuple):
    """A key: a value in the file, one in a variable, what both become, and something that it cannot be."""

    key: str
    in_file: str
    in_variable: str
    value: Any
    wrong: str


KEYS = [
    Row("storage.index_path", '"/i"', "/i", Path("/i"), "3"),
    Row("storage.exclude", '["**/a", "b"]', f"**/a{os.pathsep}b", ("**/a", "b"), "[1]"),
    Row("storage.roots", '"~/src"', "~/src", ("~/src",), '[""]'),
    Row("storage.media", '"all"', "all", "all", '"some"'),
    Row("storage.media_max_mb", "3", "3", 3, "0"),
    Row("storage.max_inflated_mb", "3", "3", 3, "-1"),
    Row("index.lucene_ram_buffer_mb", "128", "128", 128, '"128"'),
    Row("index.vector_precision", '"f32"', "f32", "f32", '"f64"'),
    Row("index.thinking", "false", "false", value=False, wrong="0"),
    Row("index.tool_output", "false", "0", value=False, wrong='"no"'),
    Row("index.vector.enabled", "false", "False", value=False, wrong="[]"),
    Row("index.vector.model_path", '"/m"', "/m", Path("/m"), '""'),
    Row("index.vector.model_use", '"rerank"', "rerank", "rerank", "false"),
    Row("index.vector.fallback", '"none"', "none", "none", "false"),
    Row("index.vector.background", "false", "false", value=False, wrong='"maybe"'),
    Row("search.default_mode", '"lexical"', "lexical", "lexical", '"fuzzy"'),
    Row("search.default_context", "0", "0", 0, "-1"),
    Row("search.max_results", "5", "5", 5, "5.0"),
    Row("export.default_format", '"json"', "json", "json", '"jsno"'),
    Row("export.html_theme", '"light"', "light", "light", '"blue"'),
    Row("export.include_tool_calls", "false", "false", value=False, wrong="2026-01-01"),
]
DEFAULTS = {
    "storage.index_path": Path("/home/ada/.agent-journal/index"),
    "storage.exclude": (),
    "storage.roots": (),
    "storage.media": "small",
    "storage.media_max_mb": 10,
    "storage.max_inflated_mb": 0,
    "index.lucene_ram_buffer_mb": 64,
    "index.vector_precision": "f16",
    "index.thinking": True,
    "index.tool_output": True,
    "index.vector.enabled": True,
    "index.vector.model_path": Path("/home/ada/.chats/models"),
    "index.vector.model_use": "all",
    "index.vector.fallback": "hash",
    "index.vector.background": True,
    "search.default_mode": "hybrid",
    "search.default_context": 3,
    "search.max_results": 20,
    "export.default_format": "html",
    "export.html_theme": "auto",
    "export.include_tool_calls": True,
}
SOURCES = sorted(config.source_key(reader.INFO) for reader in readers.discover().values())

every_key = pytest.mark.parametrize("row", KEYS, ids=lambda row: row.key)


def saved(home: Path, text: str) -> Path:
    path = home / config.FILE_NAME
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return path


def line(key: str, value: str) -> str:
    table, _, name = key.rpartition(".")
    return f"[{table}]\n{name} = {value}\n"


def loaded(home: Path, text: str, **environ: str) -> Config:
    saved(home, text)
    return load(home, {"HOME": "/home/ada", **environ})


def refusal(home: Path, text: str, **environ: str) -> str:
    with pytest.raises(BadConfig) as caught:
        loaded(home, text, **environ)
    return str(caught.value).replace(str(home), "HOME")


def test_defaults() -> None:
    found = load(config.home_of({"HOME": "/home/ada"}), {"HOME": "/home/ada"})

    assert {key: found.value(key) for key in DEFAULTS} == DEFAULTS
    assert {str(found.origin(key)) for key in DEFAULTS} == {"default"}
    assert found.storage.sources == {}


def test_every_key_has_a_row_above() -> None:
    assert [row[0] for row in KEYS] == list(config.keys()) == list(DEFAULTS)


@every_key
def test_a_value_in_the_file(tmp_path: Path, row: Row) -> None:
    found = loaded(tmp_path, line(row.key, row.in_file))
    plain = loaded(tmp_path, "")
    others = [key for key in DEFAULTS if key != row.key]

    assert found.value(row.key) == row.value != DEFAULTS[row.key]
    assert str(found.origin(row.key)) == f"{tmp_path}/config.toml:2"
    assert list(map(found.value, others)) == list(map(plain.value, others))


@every_key
def test_a_variable_goes_before_the_file_and_a_flag_before_both(tmp_path: Path, row: Row) -> None:
    name = f"AJ_{row.key.upper().replace('.', '_')}"
    default = DEFAULTS[row.key]
    saved(tmp_path, line(row.key, row.in_file))
    environ = {"HOME": "/home/ada"}
    over_file = load(tmp_path, environ | {name: shown(default)})
    over_both = load(tmp_path, environ | {name: shown(default)}, {row.key: plain(row.value)})

    assert load(tmp_path / "none", environ | {name: row.in_variable}).value(row.key) == row.value
    assert over_file.value(row.key) == (("none",) if default == () else default)
    assert str(over_file.origin(row.key)) == name
    assert over_both.value(row.key) == row.value
    assert str(over_both.origin(row.key)) == "the command line"


def shown(value: Any) -> str:
    """A value as a variable; an empty one would be none."""
    return "none" if value == () else str(value)


def plain(value: Any) -> Any:
    """A value as the command line has it."""
    return str(value) if isinstance(value, Path) else value


@every_key
def test_a_wrong_value_is_named(tmp_path: Path, row: Row) -> None:
    said = refusal(tmp_path, line(row.key, row.wrong))

    assert said.startswith(f"HOME/config.toml:2: {row.key} is ")
    assert said.endswith(f", but must be {config.expected(row.key)}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[search]\nmax_result = 1",
            "2: Unknown key 'search.max_result'; did you mean 'search.max_results'?",
        ),
        ("\n[serch]\nmax_results = 1", "2: Unknown key 'serch'; did you mean 'search'?"),
        (
            '"search.max_results" = 1',
            " Unknown key '\"search.max_results\"'; did you mean 'search.max_results'?",
        ),
        ("search = 1", "1: search must be a table: [search]"),
        ("[[search]]\nmax_results = 1", "1: search must be a table: [search]"),
        ("[serch]", "1: Unknown key 'serch'; did you mean 'search'?"),
        ('[storage]\nindex_path = "a\\u0000"', "2: storage.index_path is 'a\\x00', but must be a path"),
        ("qqq = 1", "1: Unknown key 'qqq'; 'aj config show' lists all keys"),
        (
            "[search]\nmax_results = 'a'",
            "2: search.max_results is 'a', but must be a whole number from 1 to 1,000,000",
        ),
        (
            "[search]\nmax_results = true",
            "2: search.max_results is true, but must be a whole number from 1 to 1,000,000",
        ),
        (
            "[search]\ndefault_mode = 1",
            "2: search.default_mode is 1, but must be lexical, semantic or hybrid",
        ),
        ("[search\n", "1: it is no TOML: expected ']' at the end of a table declaration"),
        ("a = 1\na = 2\n", "2: it is no TOML: cannot overwrite a value"),
        ("[index]\nvector = {enabled = 1}", "2: index.vector.enabled is 1, but must be true or false"),
    ],
)
def test_what_is_reported_of_a_wrong_file(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(tmp_path, text) == f"HOME/config.toml:{said}"


def test_values_that_are_nested_for_ever_are_no_crash(tmp_path: Path) -> None:
    assert "config.toml: it is no TOML" in refusal(tmp_path, f"a = {'[' * 100_000}")
    assert "config.toml: it is no TOML" in refusal(tmp_path, f"a = {'9' * 10_000}")


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    saved(tmp_path, "").write_bytes(b"# a\n# \xff\n")
    with pytest.raises(BadConfig, match=r"config\.toml:2: the file is not UTF-8"):
        load(tmp_path, {})


def test_a_mark_at_the_beginning_is_no_error(tmp_path: Path) -> None:
    saved(tmp_path, "").write_bytes(b"\xef\xbb\xbf[search]\r\nmax_results = 5\r\n")

    assert load(tmp_path, {}).search.max_results == 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = saved(tmp_path, "[search]\nmax_results = 5\n")
    path.chmod(mode)
    with pytest.raises(
        BadConfig, match=r"other users can write to it, so it is not trusted; run: chmod 600 "
    ) as caught:
        load(tmp_path, {})
    assert str(path) in str(caught.value)

    path.chmod(0o644)
    assert load(tmp_path, {}).search.max_results == 5


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_what_is_no_file_is_refused_and_nobody_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / config.FILE_NAME, 0o600)
    with pytest.raises(BadConfig, match="not a regular file"):
        load(tmp_path, {})


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / config.FILE_NAME).mkdir(mode=0o700)
    with pytest.raises(BadConfig, match="not a regular file"):
        load(tmp_path, {})


def test_no_configuration_is_that_large(tmp_path: Path) -> None:
    assert "larger than 1 MB" in refusal(tmp_path, "#" * 1_100_000)


# ── Sources ──


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_can_be_moved_and_left_out(tmp_path: Path, name: str) -> None:
    moved = loaded(tmp_path, f'[storage.sources]\n{name} = "~/elsewhere"\n')
    several = loaded(tmp_path, f'[storage.sources]\n{name} = ["/a", "b/**/*.json"]\n')
    without = loaded(tmp_path, f"[storage.sources]\n{name} = false\n")

    assert moved.storage.sources == {name: ("~/elsewhere",)}
    assert several.storage.sources == {name: ("/a", "b/**/*.json")}
    assert without.storage.sources == {name: ()}
    assert str(moved.origin(f"storage.sources.{name}")) == f"{tmp_path}/config.toml:2"


@pytest.mark.parametrize("name", SOURCES)
def test_variables_of_every_source(tmp_path: Path, name: str) -> None:
    text = f'[storage.sources]\n{name} = "/file"\n'
    names = config.variables(f"storage.sources.{name}")

    assert names[-1] == f"AJ_STORAGE_SOURCES_{name.upper()}"
    for variable in names:
        moved = loaded(tmp_path, text, **{variable: f"/a{os.pathsep}~/b"})
        assert moved.storage.sources == {name: ("/a", "~/b")}
        assert str(moved.origin(f"storage.sources.{name}")) == variable
        assert loaded(tmp_path, text, **{variable: "false"}).storage.sources == {name: ()}
        assert loaded(tmp_path, text, **{variable: ""}).storage.sources == {name: ("/file",)}
    both = loaded(tmp_path, text, **{variable: f"/{place}" for place, variable in enumerate(names)})
    assert both.storage.sources == {name: ("/0",)}


def test_keys_of_sources_are_different() -> None:
    assert len(set(SOURCES)) == len(SOURCES)


@pytest.mark.parametrize("value", ["3", "true", '""', "[3]", '["a", ""]', "{a = 1}", '"a\\u0000b"'])
def test_a_wrong_source_is_named(tmp_path: Path, value: str) -> None:
    said = refusal(tmp_path, f"[storage.sources]\n{SOURCES[0]} = {value}\n")

    assert said.startswith(f"HOME/config.toml:2: storage.sources.{SOURCES[0]} is ")
    assert said.endswith(", but must be a path, a glob, a list of them, or false")


def test_an_unknown_source_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    said = refusal(tmp_path, f'[storage.sources]\n{SOURCES[0]}x = "a"\n')

    key = f"storage.sources.{SOURCES[0]}"
    assert f"Unknown key '{key}x'; did you mean '{key}'?" in said


# ── The environment, and paths ──


def test_short_names_go_before_generic_ones(tmp_path: Path) -> None:
    found = loaded(tmp_path, "", AJ_INDEX_PATH="/short", AJ_STORAGE_INDEX_PATH="/generic")

    assert found.storage.index_path == Path("/short")
    assert str(found.origin("storage.index_path")) == "AJ_INDEX_PATH"


def test_a_variable_that_means_nothing_is_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, "", AJ_SEARCH_MAX_RESULT="3")

    assert said == (
        "AJ_SEARCH_MAX_RESULT: this environment variable belongs to no key; "
        "did you mean AJ_SEARCH_MAX_RESULTS?"
    )
    assert loaded(tmp_path, "", AJ_OF_SOMEBODY_ELSE="3", AJ_DEBUG="1", AJ_HOME="/x").origins == {}


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, "", AJ_SEARCH_MAX_RESULTS="many")

    assert said.startswith("AJ_SEARCH_MAX_RESULTS: search.max_results is 'many', but must be a whole number ")


def test_an_empty_variable_is_none(tmp_path: Path) -> None:
    assert loaded(tmp_path, "", AJ_SEARCH_MAX_RESULTS="").search.max_results == 20


def test_an_unknown_flag_is_a_mistake_that_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="the command line: Unknown key"):
        load(tmp_path, {}, {"search.max": 3})


def test_a_flag_that_was_not_given_is_none(tmp_path: Path) -> None:
    assert load(tmp_path, {}, {"search.max_results": None}).search.max_results == 20


NUMBERS = ["0", "-1", str(2**70), "1e400", "nan", "-0.0", "0x10", "true", "2026-01-01", "12:00:00"]
OTHERS = ['""', '"\\u0000"', "'\u202e'", "[]", "[[[]]]", "{}", "{a.b = 1}", '[1, "a"]', '"' + "x" * 999 + '"']
ODD = st.sampled_from([*NUMBERS, *OTHERS, "1979-05-27T07:32:00Z"])
ANY_KEY = st.sampled_from(
    [
        *(row.key for row in KEYS),
        *config.source_keys(),
        "a",
        "search",
        "storage.sources",
        "index.vector",
        '"a.b"',
    ]
)


@given(st.lists(st.tuples(ANY_KEY, ODD), max_size=3))
def test_whatever_the_file_says_is_taken_or_named(rows: list[tuple[str, str]]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in rows)
    said = ""
    try:
        config.parse(text, "/journal/config.toml", {"HOME": "/home/ada"})
    except BadConfig as error:
        said = str(error)

    assert said == "" or said.startswith("/journal/config.toml:")
    assert "\n" not in said


@given(ANY_KEY, st.lists(st.text(max_size=20), min_size=1, max_size=2))
def test_whatever_is_to_be_written_is_taken_or_named(key: str, values: list[str]) -> None:
    try:
        value = config.file_value(key, values)
    except BadConfig:
        return
    text = toml_text.changed("", key, value)
    assert text is not None
    assert list(config.parse(text, "/journal/config.toml", {"HOME": "/home/ada"})) == [key]


def test_paths_in_the_file_are_below_the_journal_and_others_below_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "journal"
    home.mkdir()
    in_file = loaded(home, '[storage]\nindex_path = "a/../b"\n')
    in_variable = loaded(home, "", AJ_INDEX_PATH="b")

    assert in_file.storage.index_path == home / "b"
    assert in_variable.storage.index_path == tmp_path / "b"


def test_the_home_of_a_journal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert config.home_of({"HOME": "/home/ada"}) == Path("/home/ada/.agent-journal")
    assert config.home_of({"HOME": "/home/ada", "AJ_HOME": "~/j"}) == Path("/home/ada/j")
    assert config.home_of({"HOME": "/home/ada", "AJ_HOME": "~/j"}, "k") == tmp_path / "k"


@pytest.mark.skipif(os.name == "nt", reason="there it is another variable")
def test_an_empty_home_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    without = config.home_of({})
    monkeypatch.setenv("HOME", "")

    assert without == config.home_of({"HOME": ""})


def test_paths_are_expanded_from_the_given_environment() -> None:
    environ = {"HOME": "/home/ada", "USERPROFILE": "/home/ada", "APPDATA": "/roaming"}

    assert config.expanded("~", environ) == "/home/ada"
    assert config.expanded("~/a", environ) == "/home/ada/a"
    assert config.expanded("a/~", environ) == "a/~"
    assert config.expanded("~b/a", environ) == "~b/a"
    assert config.expanded("%APPDATA%/a", environ) == "/roaming/a"
    assert config.expanded("%NOWHERE%/a", environ) == "%NOWHERE%/a"
    assert config.expanded("%a", environ) == "%a"
    assert config.expanded("~/a", {}) == str(Path("~/a").expanduser())


# Prices


def test_prices_are_settled_by_model(tmp_path: Path) -> None:
    one = '[prices."gpt-4.1"]\ninput = 2\noutput = 8.5\n'
    settled = loaded(tmp_path, f"{one}[prices]\nm = {{ input = 1, output = 0, cache_read = 0 }}\n")

    assert {"gpt-4.1", "m"} == set(settled.prices)
    assert Rates(2, 8.5, 2, 2, 2) == settled.prices["gpt-4.1"].rates()
    assert Rates(1, 0, 0, 1, 1) == settled.prices["m"].rates()
    assert settled.prices["m"] == settled.value("prices.m")
    assert settled.value("prices.other") is None
    assert settled.origin('prices."gpt-4.1"').kind == "file"


@pytest.mark.parametrize(("read", "written"), [("cache_read", "cache_write"), ("cacheRead", "cacheWrite")])
def test_a_price_of_nothing_is_nothing(tmp_path: Path, read: str, written: str) -> None:
    table = f'[prices."gpt-4"]\ninput = 30.00\noutput = 60.00\n{read} = 0\n{written} = 0\n'

    assert Rates(30, 60, 0, 0, 0) == loaded(tmp_path, table).prices["gpt-4"].rates()


@pytest.mark.parametrize(
    "price",
    ["3", "{}", "{ input = 1 }", '{ input = "1", output = 1 }', "{ input = -1, output = 1 }",
     "{ input = 1, output = 1, cacheread = 1 }", "{ input = 1, output = 1, cacheRead = 1, cache_read = 1 }",
     "{ input = nan, output = 1 }",
     "{ input = inf, output = 1 }"],
)  # fmt: skip
def test_a_wrong_price_is_named(price: str, tmp_path: Path) -> None:
    said = refusal(tmp_path, f"[prices]\nm = {price}\n")

    assert said.startswith("HOME/config.toml:2: prices.m must be a table with input, output")


def test_a_price_is_written_into_the_file_by_hand() -> None:
    with pytest.raises(BadConfig, match="several values"):
        config.file_value("prices.m", ["3"])


def test_no_variable_settles_a_price(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="AJ_PRICES_M"):
        load(tmp_path, {"AJ_PRICES_M": "3"})


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_home_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="its name is not valid text"):
        load(tmp_path / os.fsdecode(b"home\xff"), {})
