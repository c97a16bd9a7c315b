"""The strategies generate every field of the model, and their exceptions are fields of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, find, settings
from hypothesis.strategies import SearchStrategy
from msgspec import Struct

from tests import models

FIELDS = {f"{kind.__name__}.{name}" for kind in models.all_structs() for name in kind.__struct_fields__}
every_struct = pytest.mark.parametrize("kind", models.all_structs(), ids=lambda kind: kind.__name__)


def test_exceptions_are_fields_of_the_model() -> None:
    names = {field.partition(".")[2] for field in FIELDS}

    assert set() == models.BY_FIELD.keys() - FIELDS
    assert set() == models.BY_NAME.keys() - names


@every_struct
def test_every_field_has_values_other_than_its_default(kind: type[Struct]) -> None:
    for described, field in zip(
        msgspec.inspect.type_info(kind).fields,  # type: ignore[attr-defined] # a struct's
        msgspec.structs.fields(kind),
        strict=True,
    ):
        default = None if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        default = default if field.default is msgspec.NODEFAULT else field.default
        strategy = models.of_field(kind, described)

        assert first_of(strategy, lambda made: made != default) != default  # noqa: B023


def test_a_new_field_is_generated_at_once() -> None:
    class Rated(Struct, frozen=True, kw_only=True):
        id: str
        mood: str | None = None

    assert first_of(models.structs(Rated), lambda made: made.mood is not None).mood is not None


def first_of(strategy: SearchStrategy[Any], condition: Callable[[Any], bool]) -> Any:
    """The first generated value that meets a condition, as it is: making it smaller takes long."""
    return find(
        strategy, condition, settings=settings(phases=[Phase.generate], derandomize=True, database=None)
    )
