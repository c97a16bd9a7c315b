"""Which fields of the model change what a writer writes: whatever does not is not preserved."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import NODEFAULT, Struct, inspect, structs

from agent_journal import writers
from agent_journal.model import Item
from tests import models
from tests.test_writers import kitchen_sink, pages, written

# The reader's own account of where it read, renewed by whoever reads.
NOT_OF_THE_SOURCE = frozenset({"Conversation.origin", "Memory.origin"})
_AT = "2026-07-07T07:07:07Z"


def all_fields() -> list[tuple[type[Struct], inspect.Field]]:
    """Every field of the model."""
    return [
        (kind, field)
        for kind in models.all_structs()
        for field in inspect.type_info(kind).fields  # type: ignore[attr-defined] # a struct's
    ]


@cache
def unexpressed_fields(writer: str) -> set[str]:
    """The fields of which no value changes what is written of the kitchen sink."""
    unchanged = _everything_written(writer, kitchen_sink())
    return {
        f"{kind.__name__}.{field.name}"
        for kind, field in all_fields()
        if all(_everything_written(writer, items) == unchanged for items in _variants(kind, field))
    }


def _everything_written(writer: str, items: list[Item]) -> Any:
    data, _ = written(writer, items)
    return (data, pages(writer, items)) if writers.get(writer).INFO.layout == "pages" else data


def _variants(kind: type[Struct], field: inspect.Field) -> Iterator[list[Item]]:
    """The kitchen sink with other values of one field, wherever it occurs."""
    yield [
        _with_field(item, kind, field.name, lambda value: other_value(value, field))
        for item in kitchen_sink()
    ]
    default = _default(kind, field.name)
    if default is not NODEFAULT:
        yield [_with_field(item, kind, field.name, lambda _: default) for item in kitchen_sink()]


def _default(kind: type[Struct], name: str) -> Any:
    (field,) = (field for field in structs.fields(kind) if field.name == name)
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def _with_field(value: Any, kind: type[Struct], name: str, change: Any) -> Any:
    """A value in which every struct of a kind has a changed field."""
    if isinstance(value, list):
        return [_with_field(element, kind, name, change) for element in value]
    if not isinstance(value, Struct):
        return value
    fields = {each: _with_field(getattr(value, each), kind, name, change) for each in value.__struct_fields__}
    if type(value) is kind:
        fields[name] = change(fields[name])
    return type(value)(**fields)


def other_value(value: Any, field: inspect.Field) -> Any:
    """A value of the field's type that differs from this one."""
    if field.name == "at" or field.name.endswith("_at"):
        return _AT if value != _AT else None
    return _other(value, field.type)


def _other(value: Any, stated: inspect.Type) -> Any:
    match stated:
        case inspect.UnionType():
            of_lists = isinstance(value, list)
            choices = [each for each in stated.types if isinstance(each, inspect.ListType) or not of_lists]
            return _other(value, next(each for each in choices if not isinstance(each, inspect.NoneType)))
        case inspect.BoolType():
            return not value
        case inspect.StrType():
            return f"{value or ''}other"
        case inspect.IntType() | inspect.FloatType():
            return (value or 0) + 7
        case inspect.LiteralType():
            return next(each for each in stated.values if each != value)
        case inspect.DictType():
            return {**(value or {}), "other": "other"}
        case inspect.ListType():
            return [] if value else [_other(None, stated.item_type)]
        case inspect.StructType() if value is None:
            required = {each.name: _other(None, each.type) for each in stated.fields if each.required}
            return stated.cls(**required)
        case inspect.AnyType() if value is None:
            return {"other": "other"}
    return None


def reachable_structs(lost: set[str]) -> set[str]:
    """The structs that are part of an item by fields that are not lost."""
    reached: set[str] = set()
    pending = [each for each in ("Conversation", "Memory") if each not in lost]
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += [
                inner
                for kind, field in all_fields()
                if kind.__name__ == name and f"{name}.{field.name}" not in lost
                for inner in _structs_in(field.type)
            ]
    return reached


def _structs_in(stated: inspect.Type) -> list[str]:
    match stated:
        case inspect.UnionType():
            return [name for each in stated.types for name in _structs_in(each)]
        case inspect.ListType():
            return _structs_in(stated.item_type)
        case inspect.StructType():
            return [stated.cls.__name__]
    return []
