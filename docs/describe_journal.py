"""Describe the verbs of `Journal` and the types of their results, for `docs/generate.py`."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import agent_journal
from agent_journal import journal as journals
from agent_journal.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FunctionType

_MAX_SIGNATURE_CHARS = 90
_OLD_NAMES = {"conversation", "read"}


class Field(NamedTuple):
    """A field of a type, as its source describes it."""

    name: str
    type: str
    default: str
    meaning: str


def verbs() -> str:
    """Return a section for each verb, in the order of the source."""
    functions = {
        name: each
        for cls in Journal.__mro__[:-1]  # first what reads
        for name, each in vars(cls).items()
        if inspect.isfunction(each) and not name.startswith("_") and name not in _OLD_NAMES
    }
    return "\n".join(
        f"### {name}\n\n```py\n{_signature(name, each)}\n```\n\n{inspect.getdoc(each)}\n"
        for name, each in functions.items()
    )


def types() -> Iterator[tuple[str, str, list[Field]]]:
    """Yield the name, the description and the fields of each public type that has fields."""
    for name in journals.__all__:
        value = getattr(journals, name)
        if inspect.isclass(value) and not hasattr(agent_journal, name):
            fields = fields_of(value)
            if fields:
                yield name, inspect.cleandoc(value.__doc__ or ""), fields


def fields_of(cls: type) -> list[Field]:
    """Return the public fields of a type with what their docstrings or comments say."""
    source = inspect.getsource(cls)
    lines = source.splitlines()
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101 (it is the source of a class)
    fields = []
    for node, following in pairwise([*body.body, ast.Pass()]):
        if isinstance(node, ast.AnnAssign) and not ast.unparse(node.target).startswith("_"):
            comment = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
            meaning = _docstring(following) or comment.removeprefix("noqa").strip()
            default = "" if node.value is None else ast.unparse(node.value)
            fields.append(Field(ast.unparse(node.target), ast.unparse(node.annotation), default, meaning))
    return fields


def _docstring(node: ast.AST) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _signature(name: str, function: FunctionType) -> str:
    """Return the call of a verb with the types of its parameters, on several lines if it is long."""
    found = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(found, ast.FunctionDef)  # noqa: S101 (it is the source of a function)
    found.args.args = found.args.args[1:]
    returns = ast.unparse(found.returns) if found.returns else "None"
    parameters = _parameters(found.args)
    line = f"journal.{name}({', '.join(parameters)}) -> {returns}"
    if len(line) > _MAX_SIGNATURE_CHARS:
        line = f"journal.{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f") -> {returns}"
    return re.sub(r"\bbuiltins\.", "", line)


def _parameters(arguments: ast.arguments) -> list[str]:
    """Return each parameter as source, with the star that begins those that need a name."""
    defaults: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    parts = [_parameter(*each) for each in zip(arguments.args, [*defaults, *arguments.defaults], strict=True)]
    if arguments.kwonlyargs:
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        parts += ["*", *(_parameter(*each) for each in named)]
    return parts


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg + (f": {ast.unparse(argument.annotation)}" if argument.annotation else "")
    return text if default is None else f"{text} = {ast.unparse(default)}"
