"""Generate the parts of the documentation that follow from the code: `python docs/generate.py [--check]`.

A page marks a generated part with `<!-- generated: NAME -->` and `<!-- end -->`. All of model.schema.json
is generated. With `--check`, nothing is written: the stale pages are listed, and the exit code is 1 if
there are any.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import itertools
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import describe_journal
import msgspec

from agent_journal import cli, config, model
from agent_journal.cli._run import module_of
from agent_journal.cli.formats import rows
from agent_journal.decoding import toml_text
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HERE = Path(__file__).parent
_VERIFIED = HERE.parent / "tests" / "real_tools" / "verified.json"
_PART = re.compile(r"(<!-- generated: (?P<name>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)
# In reading order: the whole, its parts, then the details.
_STRUCTS = (
    *(model.Conversation, model.Message, model.Event),
    *(model.Text, model.Code, model.Reasoning, model.ToolCall, model.ToolResult, model.Media, model.Other),
    *(model.Citation, model.Usage, model.Link, model.Summary, model.Feedback, model.Tool, model.Request),
    *(model.Memory, model.Origin),
)


def readers() -> str:
    """The products that can be read, by category, in the README."""
    rows = _formats("reader")
    count = len({product for row in rows for product in row["products"]})
    grouped = itertools.groupby(rows, lambda row: row["category"])
    table = _table(
        ("category", "sources (`-f`)"), ((group, _sources(list(found))) for group, found in grouped)
    )
    return f"{count} sources in {len(rows)} formats:\n\n{table}"


def writers() -> str:
    """The table of writers in the README."""
    return _table(
        ("`-t`", "target", "not preserved"),
        ((f"`{row['name']}`", row["title"], _loses(row)) for row in _formats("writer")),
    )


def readers_in_full() -> str:
    """One section per reader, by category, with everything in its `INFO` that users need."""
    return "\n".join(_section(row, _reader_lines(row)) for row in _formats("reader"))


def verified_tools() -> str:
    """The tools whose files were compared with the model's own log."""
    tools = json.loads(_VERIFIED.read_text(encoding="utf-8"))
    return _table(
        ("tool", "verified version", "scenarios", "not available", "not recorded by the tool"),
        (
            (
                title,
                f"{about['version']} on {about['day']}",
                _list(about["scenarios"]),
                "; ".join(f"{scenario}: {reason}" for scenario, reason in about["absent"].items()) or "–",
                "; ".join(about["unrecorded"]) or "–",
            )
            for title, about in tools.items()
        ),
    )


def writers_in_full() -> str:
    """One section per writer, with everything in its `INFO` that users need."""
    return "\n".join(_section(row, _writer_lines(row)) for row in _formats("writer"))


def notes() -> str:
    """The table of note kinds."""
    return _table(
        ("kind", "meaning", "exit code 3"),
        ((f"`{kind.label}`", kind.meaning, "yes" if kind.damage else "") for kind in Kind),
    )


def fields() -> str:
    """Each struct of the model with its fields."""
    return "\n".join(_struct(struct) for struct in _STRUCTS)


def help_texts() -> str:
    """The `--help` text of the program and of each verb."""
    program = cli._help_text() + "\n"  # noqa: SLF001 (what `aj --help` prints)
    return "\n".join([_help("aj", program), *(_help(title, text) for title, text in _verbs())])


def config_keys() -> str:
    """The table of configuration keys."""
    defaults = config.load(Path("/you/.agent-journal"), {"HOME": "/you", "USERPROFILE": "/you"})
    meanings = _meanings()
    return _table(
        ("key", "meaning", "values", "default"),
        (
            (f"`{key}`", meanings[key], config.expected(key), f"`{_as_toml(defaults.value(key))}`")
            for key in config.keys()  # noqa: SIM118 (a module's)
        ),
    )


def config_sources() -> str:
    """The table of sources that have a location, with the variables that change it."""
    rows = []
    for key in config.source_keys():
        info = config.source_info(key)
        if info.homes:
            ours = [name for name in config.variables(key) if name in info.env]
            theirs = [name for name in info.env if name not in ours]
            rows.append(
                (
                    f"`{key}`",
                    info.title,
                    _list([f"`{name}`" for name in ours]),
                    _list([f"`{name}`" for name in theirs]),
                )
            )
    return _table(("key", "source", "our variable", "vendor's variables"), rows)


def verbs_of_journal() -> str:
    """The verbs of the library."""
    return describe_journal.verbs()


def types_of_journal() -> str:
    """The types of what the verbs take and return."""
    return "\n".join(
        f"### {name}\n\n{meaning}\n\n"
        + _table(
            ("field", "type", "default", "meaning"),
            (
                (
                    f"`{each.name}`",
                    f"`{each.type}`",
                    f"`{each.default}`" if each.default else "",
                    each.meaning,
                )
                for each in fields
            ),
        )
        for name, meaning, fields in describe_journal.types()
    )


PARTS: dict[str, Callable[[], str]] = {
    part.__name__.replace("_", "-"): part
    for part in (
        readers,
        writers,
        readers_in_full,
        verified_tools,
        writers_in_full,
        notes,
        fields,
        help_texts,
        config_keys,
        config_sources,
        verbs_of_journal,
        types_of_journal,
    )
}


def _formats(kind: str) -> list[dict[str, Any]]:
    return [row for row in rows() if row["kind"] == kind]


def _table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *body]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _list(names: list[str]) -> str:
    return ", ".join(names)


def _sources(rows: list[dict[str, Any]]) -> str:
    return "; ".join(f"{_list(row['products'])} (`{row['name']}`)" for row in rows)


def _loses(row: dict[str, Any]) -> str:
    return "; ".join(row["loses"]) or "nothing; it holds the whole model"


def _section(row: dict[str, Any], lines: Iterator[str]) -> str:
    return f"### {row['title']} (`{row['name']}`)\n\n" + "".join(f"* {line}\n" for line in lines)


def _reader_lines(row: dict[str, Any]) -> Iterator[str]:
    if len(row["products"]) > 1:
        yield f"Products: {_list(row['products'])}"
    yield f"Versions: {_list(row['versions'])}"
    if row["homes"]:
        yield "Locations: " + _list([f"`{home}`" for home in row["homes"]])
    yield f"Based on: {row['evidence']}"


def _writer_lines(row: dict[str, Any]) -> Iterator[str]:
    layout = "one document for all conversations"
    if row["layout"] == "lines":
        layout = "one document per line, or one per file in a folder"
    yield f"Files: `{row['suffix']}`; {layout}"
    yield f"Not preserved: {_loses(row)}"
    yield f"Based on: {row['evidence']}"


def _struct(struct: type[msgspec.Struct]) -> str:
    body = []
    for field in msgspec.structs.fields(struct):
        kind = str(struct.__annotations__[field.name])
        default = "required" if field.required else _default(field)
        body.append((f"`{field.name}`", f"`{kind}`", default))
    about = inspect.cleandoc(struct.__doc__ or "")
    return f"### {struct.__name__}\n\n{about}\n\n" + _table(("field", "type", "default"), body)


def _default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default
    if value is msgspec.NODEFAULT:
        value = field.default_factory()
    return f"`{json.dumps(value)}`"


def _meanings() -> dict[str, str]:
    """The docstring of each configuration field, by key."""
    meanings: dict[str, str] = {}
    structs = {struct.__name__: table for table, struct in config.structs()}
    for struct in ast.parse(inspect.getsource(config)).body:
        if isinstance(struct, ast.ClassDef) and struct.name in structs:
            for field, text in itertools.pairwise(struct.body):
                if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                    meanings[f"{structs[struct.name]}.{ast.unparse(field.target)}"] = ast.literal_eval(
                        text.value
                    )
    return meanings


def _as_toml(value: Any) -> str:
    return toml_text.shown(value.as_posix().replace("/you/", "~/") if isinstance(value, Path) else value)


def _verbs() -> Iterator[tuple[str, str]]:
    for verb in cli.VERBS:
        command: click.Command = importlib.import_module(f"agent_journal.cli.{module_of(verb)}").command
        yield from _command(f"aj {verb}", command)


def _command(title: str, command: click.Command) -> Iterator[tuple[str, str]]:
    with click.Context(command, info_name=title, terminal_width=80, max_content_width=80) as context:
        yield title, command.get_help(context) + "\n"
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _command(f"{title} {name}", inner)


def _help(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}```\n"


def schema() -> str:
    """The JSON Schema of one line of Agent Journal JSON."""
    document: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent Journal JSON",
        "description": "One conversation or memory, as `aj convert -t json` writes it on each line.",
        **msgspec.json.schema(model.Item),
    }
    for struct in document["$defs"].values():
        # From Python 3.13 on, docstrings have no indentation; the schema is the same for all versions.
        struct["description"] = inspect.cleandoc(struct["description"])
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def pages() -> Iterator[tuple[Path, str]]:
    """Each generated file with its up-to-date text."""
    for path in (HERE.parent / "README.md", *sorted(HERE.glob("*.md"))):
        yield path, _PART.sub(_filled, path.read_text(encoding="utf-8"))
    yield HERE / "model.schema.json", schema()


def _filled(part: re.Match[str]) -> str:
    return part[1] + "\n" + PARTS[part["name"]]() + "\n" + part[3]


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; list what is out of date")
    check = parser.parse_args().check
    stale = [(path, text) for path, text in pages() if not _is(path, text)]
    for path, text in stale:
        print(f"{path.relative_to(HERE.parent)} {'is out of date' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    if check and stale:
        print("to update: python docs/generate.py")
    return 1 if check and stale else 0


def _is(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
