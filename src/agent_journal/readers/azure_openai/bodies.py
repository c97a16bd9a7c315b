"""What a call sent and got, out of texts that may be cut: bodies, and messages that lie in pieces."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind, Notes

_decode = msgspec.json.Decoder().decode
# A piece of a stream of events begins with one of these.
_STREAM = ("data:", "event:", ":")
_ITEMS = ("message", "reasoning", "function_call", "function_call_output")
_PARTS = ("input_text", "input_image", "input_file", "output_text")


class Side(NamedTuple):
    """One side of a call as a value, and the text of it where the value does not tell all of it."""

    value: Any
    left: Any = None


NOTHING = Side(None)


def body(raw: Any, note: Notes, where: str) -> Side:
    """The body of a request or a response: an object, its text, or the text of a stream of events."""
    if raw.__class__ is dict:
        return Side(raw)
    if raw.__class__ is not str:
        note(Kind.WRONG_TYPE, where, f"a body is {type(raw).__name__}")
        return Side(None, raw)
    text = raw.strip()
    if text.startswith(_STREAM):
        return Side({"sse_lines": text.split("\n")})
    side = _decoded(text, note, where)
    if side.value.__class__ is dict:
        return side
    if side.left is None:
        note(Kind.UNKNOWN_TYPE, where, f"a body is {type(side.value).__name__}")
    return Side(None, raw)


def messages(pieces: list[Any], note: Notes, where: str) -> Side:
    """The messages that lie in the rows of one side: values, or pieces of a text of any size.

    The gateway cuts the text of all messages every 32 KB, wherever that is, and ends it after 2 MB.
    """
    if all(piece.__class__ is str for piece in pieces):
        return _from_texts(pieces, note, where)
    found: list[Any] = []
    left: list[Any] = []
    for piece in pieces:
        side = _from_texts([piece], note, where) if piece.__class__ is str else Side(_listed(piece))
        found += side.value or ()
        if side.left is not None:
            left.append(side.left)
    return Side(found, left or None)


def are_items(said: list[Any]) -> bool:
    """Whether they are items of the Responses API, by their types or those of their parts."""
    for each in said:
        content = each.get("content") if each.__class__ is dict else ""
        if content.__class__ is str:  # as in most messages of either API, which say the same then
            continue
        first = content[0] if content.__class__ is list and content else None
        if each.get("type") in _ITEMS or (first.__class__ is dict and first.get("type") in _PARTS):
            return True
    return False


def _from_texts(pieces: list[str], note: Notes, where: str) -> Side:
    whole = _value("".join(pieces), note, where) if len(pieces) > 1 else json_stream.BAD
    if whole is not json_stream.BAD:
        return _as_messages(Side(whole), note, where)
    each = [_value(piece, note, where) for piece in pieces] if len(pieces) > 1 else []
    if each and json_stream.BAD not in each:
        return Side([message for value in each for message in _listed(value)])
    return _as_messages(_decoded("".join(pieces), note, where), note, where)


def _as_messages(side: Side, note: Notes, where: str) -> Side:
    if side.value.__class__ in {list, dict}:
        return Side(_listed(side.value), side.left)
    if side.left is None:
        note(Kind.WRONG_TYPE, where, f"messages are {type(side.value).__name__}")
    return Side([], side.value if side.left is None else side.left)


def _listed(value: Any) -> list[Any]:
    """Messages as a list: the list itself, those that an object holds, or the one message it is."""
    if value.__class__ is list:
        return value
    inner = value.get("messages") if value.__class__ is dict else None
    return inner if inner.__class__ is list else [value]


def _value(text: str | bytes, note: Notes, where: str) -> Any:
    """The value of a text, with what is odd in it noted; BAD, without a note, if it is not JSON."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        if json_stream.decode(data, Notes(keep=0), where) is json_stream.BAD:
            return json_stream.BAD
        return json_stream.decode(data, note, where)


def _decoded(text: str, note: Notes, where: str) -> Side:
    """The value of a text; of one that is cut, what is whole of it, beside the text."""
    value = _value(text, note, where)
    if value is not json_stream.BAD:
        return Side(value)
    if not text.startswith(("[", "{")):
        note(Kind.UNKNOWN_TYPE, where, "a text that is not JSON")
        return Side(None, text)
    note(Kind.TRUNCATED, where, f"the log has {len(text):,} characters of it")
    mended = _value(json_stream.mended(text.encode("utf-8", "replace")), note, where)
    return Side(None if mended is json_stream.BAD else mended, text)
