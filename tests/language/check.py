"""What is wrong with the words and numbers of a Python file."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
# `HTMLPage` and `html_page` have two words each.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

_BOUND = re.compile(r"_?(?:MAX|MIN|[A-Z0-9_]+_(?:MAX|MIN))_[A-Z0-9_]*[A-Z0-9]S(?:_PER_[A-Z]+)?$")
_RATE = re.compile(r"_PER_[A-Z]+$")
_SCOPED = re.compile(r"_(?:IN|OF|FOR)_[A-Z0-9_]+$")


class Finding(NamedTuple):
    """One word or number to change, and what to write instead."""

    line: int
    name: str
    advice: str


@cache
def tables() -> dict[str, dict[str, str]]:
    """The sections of words.toml."""
    loaded: dict[str, dict[str, str]] = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))
    return loaded


@cache
def units() -> frozenset[str]:
    """What the name of a numeric constant may end with."""
    return frozenset(unit for line in tables()["units"].values() for unit in line.split())


@cache
def _advice_by_word() -> dict[str, str]:
    return tables()["words"] | tables()["spelling"]


@cache
def _published_names() -> re.Pattern[str]:
    """Matches a published or stored name, but not within a longer one."""
    names = (re.sub(r"^(?=\w)|(?<=\w)$", r"\\b", re.escape(name)) for name in tables()["published"])
    return re.compile("|".join(names))


def old_words(text: str) -> Iterator[Finding]:
    """Each old word in names, comments, docstrings and strings alike, unless a published name has it."""
    advice = _advice_by_word()
    text = _published_names().sub("", text)
    for number, line in enumerate(text.split("\n"), 1):
        for match in _WORD.finditer(line):
            word = match[0].lower()
            if word in advice:
                yield Finding(number, match[0], advice[word])


def vague_names(tree: ast.Module) -> Iterator[Finding]:
    """Variables, parameters, functions and classes that are called by a word that says nothing."""
    advice = tables()["names"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        else:
            continue
        word = name.strip("_").lower()
        if word in advice:
            yield Finding(node.lineno, name, advice[word])


def numbers_without_unit(tree: ast.Module) -> Iterator[Finding]:
    """Numeric constants of a module or class whose name does not say what they count."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for statement in chain.from_iterable(bodies):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if (
            isinstance(target, ast.Name)
            and target.id.isupper()
            and _is_number(value)
            and not has_unit(target.id)
        ):
            yield Finding(
                statement.lineno,
                target.id,
                "say what is counted and why: _EMBED_BUDGET_S, _MIN_HITS, _MAX_SNIPPET_CHARS",
            )


def has_unit(name: str) -> bool:
    """Whether the name of a numeric constant says what it counts."""
    scoped = _SCOPED.sub("", name)
    return bool(
        _RATE.search(name) or any(_BOUND.match(each) or _ends_with_unit(each) for each in (name, scoped))
    )


def _ends_with_unit(name: str) -> bool:
    return name.rpartition("_")[2] in units()


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is made of number literals only."""
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def findings(path: Path) -> list[Finding]:
    """What to change in a file, from top to bottom."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    return sorted([*old_words(text), *vague_names(tree), *numbers_without_unit(tree)])
