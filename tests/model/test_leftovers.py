"""Leftover fields are carried by the names of the model, and checked when they are read."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Struct

from agent_journal.model import Code, Message, Text, Usage
from agent_journal.model.leftovers import Leftovers, carries, leftover_fields


@carries(Message)
class OwnMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of a message, one of which is no field of the model."""

    hidden: str = ""
    indexes: list[int] = []


@carries(Text, Code)
class OwnPart(Struct, frozen=True, forbid_unknown_fields=True):
    """Own fields of several types."""


def test_only_fields_with_another_value_than_their_default_are_left() -> None:
    leftovers = Leftovers(Message, represented=("id", "role", "parts"))
    message = Message(id="1", role="user", stop_reason="end", usage=Usage(), extra={})

    assert {"stop_reason": "end", "usage": Usage()} == leftovers.of(message)
    assert leftovers.exist_in(message)
    assert not leftovers.exist_in(Message(id="2", role="tool"))
    assert {} == leftovers.of(Message(id="2", role="tool"))


def test_one_field_and_none_are_the_same_to_callers() -> None:
    one = Leftovers(Text, represented=("text", "injected", "extra"))
    nothing = Leftovers(Text, represented=Text.__struct_fields__)

    assert {"citations": []} != one.of(Text(text="a"))
    assert {} == one.of(Text(text="a")) == nothing.of(Text(text="a", injected=True))
    assert not nothing.exist_in(Text(text="a"))


def test_a_required_field_is_always_left() -> None:
    assert {"text": ""} == Leftovers(Text, represented=()).of(Text(text=""))


def test_a_field_that_is_not_in_the_model_is_refused() -> None:
    with pytest.raises(ValueError, match="Text has no field 'words'"):
        Leftovers(Text, represented=("text", "words"))


def test_own_fields_have_those_of_the_model() -> None:
    own_fields = msgspec.convert(
        {"indexes": [1], "hidden": "yes", "stop_reason": None, "at": "now"}, OwnMessage
    )

    assert "yes" == own_fields.hidden
    assert {"stop_reason": None, "at": "now"} == leftover_fields(own_fields)
    assert {} == leftover_fields(OwnMessage())


@pytest.mark.parametrize("stated", [{"at": 1}, {"unknown": 1}, {"usage": {"input": "1"}}])
def test_what_the_model_does_not_allow_is_refused(stated: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(stated, OwnMessage)


def test_fields_of_several_types_are_checked_for_the_one_that_they_are_for() -> None:
    own_fields = msgspec.convert({"first_line": 3}, OwnPart)

    assert {"first_line": 3} == leftover_fields(own_fields, Code)
    with pytest.raises(msgspec.ValidationError):
        leftover_fields(own_fields, Text)
    with pytest.raises(msgspec.ValidationError):
        leftover_fields(msgspec.convert({"first_line": "3"}, OwnPart), Code)
