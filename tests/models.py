"""Models of every shape, for Hypothesis: whatever the types allow and the model promises.

It promises valid Unicode, finite numbers of 64 bits, and timestamps in RFC 3339. It does not promise that
parents exist, that ids differ, or that counts make sense.

The strategies are made from the fields of the model: a new field has values as soon as it is there.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import Struct, inspect

from agent_journal.model import Conversation, Event, Item, Memory, Message

WORDS = ["", "a", "id-1", "id-2", "userType", "user_type", "exit_code", "metadata", "content", "timestamp"]
# Names that targets have for something of their own.
WORDS += [
    "type",
    "media",
    "name",
    "title",
    "hidden",
    "usage",
    "raw",
    "citations",
    "line_range",
    "summary",
    "ref",
]
WORDS += [
    "requestId",
    "response_id",
    "model_override",
    "service_tier",
    "agent_journal",
    "total_tokens",
    "link",
]
text = st.one_of(st.sampled_from(WORDS), st.text(max_size=12))
# Few ids, so that parents, calls and usages meet.
an_id = st.sampled_from(["", "1", "2", "3", "4", "ünïcode", "11111111-2222-4333-8444-555555555555"])
whole = st.integers(-(2**63), 2**63 - 1)
line = st.integers(-1, 5)
decimal = st.floats(allow_nan=False, allow_infinity=False)
scalar = st.one_of(st.none(), st.booleans(), whole, decimal, text)
value: SearchStrategy[Any] = st.recursive(
    scalar,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=5,
)
bag = st.dictionaries(text, value, max_size=3)
moment = st.one_of(
    st.datetimes().map(lambda at: at.isoformat(timespec="milliseconds") + "Z"),
    st.sampled_from(
        [
            "2026-03-01T10:00:00Z",
            "2026-02-30T10:00:00Z",
            "2026-12-31T23:59:60Z",
            "0001-01-01T00:00:00+14:00",
            "2026-03-01T10:00:00.123456789-08:00",
        ]
    ),
)


def maybe(of: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(st.none(), of)


def few(of: SearchStrategy[Any], most: int = 3) -> SearchStrategy[list[Any]]:
    return st.lists(of, max_size=most)


# Names of fields whose values must meet in other fields, or have a form that the type does not state.
BY_NAME: dict[str, SearchStrategy[Any]] = {
    "id": an_id,
    "parent_id": an_id,
    "response_id": an_id,
    "response_ids": few(an_id),
    "call_id": an_id,
    "head_id": an_id,
    "message_id": an_id,
    "conversation_id": an_id,
    "since_id": an_id,
    "prompt_id": an_id,
    "at": moment,
    "started_at": moment,
    "updated_at": moment,
}
BY_FIELD: dict[str, SearchStrategy[Any]] = {
    "Code.first_line": line,
    "Code.last_line": line,
    "Conversation.timeline": st.deferred(lambda: timelines()),  # noqa: PLW0108 (defined below)
    "Event.name": st.one_of(text, st.just("queue-operation")),
    "Memory.about": st.one_of(an_id, text),
    "Request.api": st.sampled_from(["openai", "claude", ""]),
    "Request.index": st.integers(0, 5),
    "Request.system": few(an_id),
    "Request.tools": few(st.integers(0, 3)),
    "ToolCall.input": st.one_of(
        value, st.sampled_from(["{}", '{"a": [1]}', '{"a":"ü"}', '{"raw":1}', "[1]", "{", "null"])
    ),
    "Usage.extra": st.one_of(
        bag, st.fixed_dictionaries({"service_tier": value, "input_tokens": value, "cache_creation": value})
    ),
    "Usage.key": an_id,
}
BY_TYPE: dict[type, SearchStrategy[Any]] = {
    inspect.AnyType: value,
    inspect.BoolType: st.booleans(),
    inspect.DictType: bag,
    inspect.FloatType: decimal,
    inspect.IntType: whole,
    inspect.NoneType: st.none(),
    inspect.StrType: text,
}


@cache
def structs(kind: type[Struct]) -> SearchStrategy[Any]:
    """Values of a struct of the model, with a value for each of its fields."""
    fields = inspect.type_info(kind).fields  # type: ignore[attr-defined] # a struct's
    return st.builds(kind, **{field.name: of_field(kind, field) for field in fields})


def of_field(kind: type[Struct], field: inspect.Field) -> SearchStrategy[Any]:
    special = BY_FIELD.get(f"{kind.__name__}.{field.name}", BY_NAME.get(field.name))
    if special is None:
        return of_type(field.type)
    return maybe(special) if is_optional(field.type) else special


def is_optional(stated: inspect.Type) -> bool:
    return isinstance(stated, inspect.UnionType) and stated.includes_none


def of_type(stated: inspect.Type) -> SearchStrategy[Any]:
    match stated:
        case inspect.UnionType():
            return st.one_of(*map(of_type, stated.types))
        case inspect.LiteralType():
            return st.sampled_from(stated.values)
        case inspect.ListType():
            return few(of_type(stated.item_type))
        case inspect.StructType():
            return structs(stated.cls)
    return BY_TYPE[type(stated)]


def timelines() -> SearchStrategy[Any]:
    return st.lists(st.one_of(messages, messages, events), max_size=6)


messages = structs(Message)
events = structs(Event)
conversations = structs(Conversation)
memories = structs(Memory)
items: SearchStrategy[Item] = st.one_of(conversations, conversations, memories)


def all_structs() -> list[type[Struct]]:
    """Every struct of the model, from the items down."""
    found: dict[type[Struct], None] = {}
    pending: list[inspect.Type] = [inspect.type_info(kind) for kind in (Conversation, Memory)]
    while pending:
        match pending.pop():
            case inspect.UnionType(types=types):
                pending.extend(types)
            case inspect.ListType(item_type=item):
                pending.append(item)
            case inspect.StructType(cls=kind, fields=fields) if kind not in found:
                found[kind] = None
                pending.extend(field.type for field in fields)
    return sorted(found, key=lambda kind: kind.__name__)
