"""Every field of the model changes what a writer writes, or the writer lists it as not preserved."""

from __future__ import annotations

import pytest

from agent_journal import writers
from tests import test_writers
from tests.expressed import NOT_OF_THE_SOURCE, all_fields, reachable_structs, unexpressed_fields
from tests.not_preserved import NOT_PRESERVED

every_writer = pytest.mark.parametrize("writer", test_writers.NAMES)
FIELDS = {f"{kind.__name__}.{field.name}" for kind, field in all_fields()}
STRUCTS = {kind.__name__ for kind, _ in all_fields()}


def declared(writer: str) -> set[str]:
    return {name for names in NOT_PRESERVED.get(writer, {}).values() for name in names.split()}


def undeclared_fields(writer: str) -> list[str]:
    """The fields that a writer neither writes nor lists."""
    listed = declared(writer)
    reachable = reachable_structs(listed | NOT_OF_THE_SOURCE)
    return sorted(
        field
        for field in unexpressed_fields(writer)
        if field not in listed | NOT_OF_THE_SOURCE and field.partition(".")[0] in reachable - listed
    )


@every_writer
def test_every_field_is_written_or_listed_as_not_preserved(writer: str) -> None:
    assert [] == undeclared_fields(writer)


@every_writer
def test_what_is_listed_is_what_the_writer_declares(writer: str) -> None:
    assert writers.get(writer).INFO.loses == tuple(NOT_PRESERVED[writer])


@every_writer
def test_a_field_that_is_listed_is_not_written(writer: str) -> None:
    lost = unexpressed_fields(writer)
    names = declared(writer)

    assert set() == names - FIELDS - STRUCTS
    assert [] == sorted(name for name in names & FIELDS if name not in lost)
    assert [] == sorted(
        name for name in names & STRUCTS if not any(each.startswith(f"{name}.") for each in lost)
    )
