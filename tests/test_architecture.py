"""The shape of the tree: imports go downwards, sources' names stay at home, nothing smells."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import agent_journal
from agent_journal import readers, writers
from agent_journal.cli import VERBS

ROOT = Path(agent_journal.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
PAGES = ROOT.parent.parent
MOST_AT_THE_TOP = 12
# Formats that are targets too are no products.
OURS = {
    name.lower() for writer in writers.discover().values() for name in (writer.INFO.name, writer.INFO.title)
}
# Where an unforeseen error is confined: to the command, to one file, to one item, to one plugin.
CONFINING = {
    "cli/_run.py",
    "archive/importing.py",
    "archive/reading.py",
    "archive/worker.py",
    "conversion/pipeline.py",
    "crash_reports.py",
    "mcp/service.py",
    "plugins.py",
    "readers/__init__.py",
    "web/app.py",
}


@cache
def layers() -> dict[str, int]:
    """The height of each folder and module at the top level, as docs/architecture.md lists them."""
    page = (PAGES / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("<!-- layers -->")[2].partition("<!-- end -->")[0]
    listed = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", table, re.MULTILINE)
    assert len(listed) == len(set(listed))
    return {name: height for height, name in enumerate(reversed(listed))}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All of a module's syntax; the module comes first."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def imports(path: Path) -> Iterator[str]:
    """The parts of the package that a module imports, also inside functions."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "agent_journal":
            names = [f"agent_journal.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for name in names:
            if name.startswith("agent_journal."):
                yield name.split(".", 1)[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_downwards(path: Path) -> None:
    here = part_of(path)
    for name in imports(path):
        there = name.split(".")[0]
        if here not in {there, "__main__"} and not there.startswith("__"):
            assert layers()[there] < layers()[here], f"{here} imports {name}"


CHANGING_METHODS = ("clear", "pop", "popitem", "setdefault", "update")
FRONT_ENDS = ("cli", "mcp", "web")


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if part_of(path) in FRONT_ENDS],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_front_ends_use_the_journal_alone(path: Path) -> None:
    """A front end asks `Journal`; what is stored how is no business of its own."""
    assert [] == [name for name in imports(path) if name.split(".")[0] == "archive"]
    attributes = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
    assert not attributes & {"store", "vault"}


# What they print as JSON is no result of a journal: settings, formats, documents, a verdict on a file.
ABOUT_NO_JOURNAL = {"config.py", "dev.py", "formats.py", "record.py", "validate.py"}


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if part_of(path) == "cli" and path.name not in ABOUT_NO_JOURNAL],
    ids=lambda path: path.name,
)
def test_results_of_a_journal_become_json_by_themselves(path: Path) -> None:
    """`to_dict` says which fields there are; a command adds at most what only it knows."""
    used = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
    assert not used & {"_asdict", "asdict", "to_builtins"}
    fields = [
        f"line {value.lineno}: {ast.unparse(value)}"
        for call in nodes_of(path)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "show_json"
        for node in ast.walk(call)
        if isinstance(node, ast.Dict)
        for value in node.values
        if isinstance(value, ast.Attribute)
    ]
    assert fields == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_changes_the_environment(path: Path) -> None:
    """It belongs to the whole process, in which several journals may be open."""
    changed = [
        f"line {node.lineno}"
        for node in nodes_of(path)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store | ast.Del)
            and ast.unparse(node.value) == "os.environ"
        )
        or (
            isinstance(node, ast.Call)
            and ast.unparse(node.func)
            in {"os.putenv", "os.unsetenv", *(f"os.environ.{name}" for name in CHANGING_METHODS)}
        )
    ]
    assert changed == []


def test_the_table_of_layers_lists_what_is_there() -> None:
    assert {part_of(path) for path in MODULES} - {"__main__"} == layers().keys()


def test_few_modules_are_at_the_top_level() -> None:
    assert len([path for path in MODULES if path.parent == ROOT]) <= MOST_AT_THE_TOP


def test_readers_and_writers_do_not_know_each_other() -> None:
    for path in MODULES:
        other = {"readers": "writers", "writers": "readers"}.get(part_of(path))
        assert other is None or not any(name.startswith(other) for name in imports(path)), path


def test_readers_know_each_other_only_through_dialects() -> None:
    for path in MODULES:
        here = path.relative_to(ROOT).parts
        for name in imports(path):
            steps = name.split(".")
            if steps[0] == here[0] == "readers" and len(steps) > 1 and steps[1] != "dialects":
                assert steps[1] == here[1].removesuffix(".py"), f"{path} imports {name}"


def test_every_part_is_in_the_table_for_contributors() -> None:
    page = (PAGES / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = {path.relative_to(ROOT).parts[0] for path in MODULES} - {"__init__.py", "__main__.py"}
    named = {part for part in parts if f"`{part}`" in page or f"`{part}/`" in page}
    assert named == parts


def literals(path: Path) -> Iterator[str]:
    """String literals that are not docstrings."""
    nodes = nodes_of(path)
    documentation = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    # A string that stands alone documents the field before it.
    documentation |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def own_names() -> dict[str, set[str]]:
    """What each source is called, by reader module."""
    found: dict[str, set[str]] = {}
    # A target that is read back is written by a writer of that name.
    infos = [writer.INFO for writer in writers.discover().values()]
    targets = {name.lower() for info in infos for name in (info.name, info.title)}
    for reader in readers.discover().values():
        info = reader.INFO
        # What other targets call it may be a word of theirs: a vendor's or a dialect's.
        names = {info.name, info.name.replace("-", "_"), info.config_key, info.title}
        module = reader.__name__.rpartition(".")[2]  # type: ignore[attr-defined] # a module has a name
        # One source is called what a command of ours is called.
        found[module] = {name.lower() for name in names if name} - OURS - targets - VERBS.keys()
    return found


PROTOCOL_WORDS = {"cursor"}  # where the next page begins, in the Model Context Protocol


def test_no_source_is_named_outside_its_reader() -> None:
    owners = own_names()
    wrong: list[str] = []
    for path in MODULES:
        relative = path.relative_to(ROOT)
        own = relative.parts[1].removesuffix(".py") if relative.parts[0] == "readers" else ""
        foreign = {name for module, names in owners.items() if module != own for name in names}
        foreign -= PROTOCOL_WORDS if relative.parts[0] == "mcp" else set()
        wrong += [f"{relative}: {literal!r}" for literal in literals(path) if literal.lower() in foreign]

    assert [] == wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_smells(path: Path) -> None:
    nodes = nodes_of(path)
    here = part_of(path)
    calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    if here == "readers":
        forbidden = {"open", "json.load", "json.loads", "datetime.now", "uuid4", "uuid.uuid4", "time.time"}
        assert not calls & forbidden
        assert not any(call.endswith((".splitlines", ".read_text", ".read_bytes")) for call in calls)
    if here == "writers":
        assert not calls & {"datetime.now", "uuid4", "uuid.uuid4", "time.time", "time.time_ns"}
    for node in nodes:
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None, "bare except"
            is_last_resort = path.relative_to(ROOT).as_posix() in CONFINING
            is_broad = ast.unparse(node.type) in {"Exception", "BaseException"}
            assert not is_broad or is_last_resort or ends_by_raising(node)
    assert path.stem not in {"utils", "util", "common", "helpers", "base", "misc"}


PRINTING = {"print", "pprint", "input", "getpass", "warnings.warn"}
PRINTING_BY = (
    "click.echo",
    "click.secho",
    "click.style",
    "click.prompt",
    "click.confirm",
    "click.progressbar",
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_people_read_goes_through_one_sink(path: Path) -> None:
    if part_of(path) == "terminal":
        return
    nodes = nodes_of(path)
    calls = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
    if part_of(path) == "moved":  # it warns those who write a plugin, which Python shows to them alone
        calls.remove("warnings.warn")
    assert not calls & PRINTING
    assert not {name for name in calls if name.startswith((*PRINTING_BY, "logging.", "traceback.print"))}
    imported = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not imported & {"sys", "click", "click.termui", "logging"}

    # Data goes to standard output as it is: bytes.
    written = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
    streams = {name for name in written if name.startswith(("sys.stdout", "sys.stderr", "sys.__std"))}
    assert streams in (set(), {"sys.stdout", "sys.stdout.buffer"})


def ends_by_raising(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise)


def test_functions_and_files_stay_small() -> None:
    too_long: list[str] = []
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 700:
            too_long.append(f"{path}: {text.count(chr(10))} lines")
        too_long += [
            f"{path}:{node.lineno} {node.name}"
            for node in nodes_of(path)
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= 80
        ]

    assert [] == too_long


def test_asking_for_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['aj', '--help']; from agent_journal.cli import main; main(); "
        "print(sorted({'click', 'msgspec', 'rapidfuzz', 'json', 'zipfile', 'dateutil'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("[]\n")


def test_converting_imports_only_what_it_uses(tmp_path: Path) -> None:
    sample = tmp_path / "a.jsonl"
    sample.write_text('{"type":"conversation","id":"c","source":"x","timeline":[]}\n', encoding="utf-8")
    code = (
        f"import sys; sys.argv = ['aj', 'convert', {str(sample)!r}, '-t', 'json']\n"
        "from agent_journal.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "slow = {'rapidfuzz', 'zipfile', 'dateutil', 'importlib.metadata', 'tempfile'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.endswith("[]\n")


def test_names_are_found_by_their_module() -> None:
    for name, writer in writers.discover().items():
        assert writers.get(name) is writer


def steps() -> list[tuple[str, str]]:
    """The functions that docs/architecture.md sends a reader to, with the files that they are in."""
    page = (PAGES / "docs" / "architecture.md").read_text(encoding="utf-8")
    return re.findall(r"^\| [^|]+ \| `([\w/.]+\.py)` `([\w.]+)\(\)` \|", page, re.MULTILINE)


@pytest.mark.parametrize(("path", "name"), steps())
def test_every_step_of_a_message_is_a_function_to_open(path: str, name: str) -> None:
    body: list[ast.stmt] = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    for step in name.split("."):
        defined = {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert step in defined
        body = defined[step].body


def test_the_steps_go_from_the_file_to_the_page() -> None:
    folders = {path.partition("/")[0] for path, _ in steps()}
    assert folders >= {"discovery", "readers", "archive", "search", "journal", "records", "writers"}
