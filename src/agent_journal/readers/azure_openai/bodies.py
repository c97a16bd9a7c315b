"""Parses requests and responses from texts that may be truncated: bodies, or pieces of messages."""

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
    """The request or response of a call as a value, and its text if the value is incomplete."""

    value: Any
    text: Any = None


NO_SIDE = Side(None)


def body(raw: Any, note: Notes, location: str) -> Side:
    """Parse the body of a request or a response: an object, its text, or the text of an event stream."""
    if raw.__class__ is dict:
        return Side(raw)
    if raw.__class__ is not str:
        note(Kind.WRONG_TYPE, location, f"a body is {type(raw).__name__}")
        return Side(None, raw)
    text = raw.strip()
    if text.startswith(_STREAM):
        return Side({"sse_lines": text.split("\n")})
    side = _decoded(text, note, location)
    if side.value.__class__ is dict:
        return side
    if side.text is None:
        note(Kind.UNKNOWN_TYPE, location, f"a body is {type(side.value).__name__}")
    return Side(None, raw)


def messages(pieces: list[Any], note: Notes, location: str) -> Side:
    """Parse the messages in the rows of one side: values, or pieces of a text of any size.

    The gateway splits the text of all messages every 32 KB, at any position, and truncates it after 2 MB.
    """
    if all(piece.__class__ is str for piece in pieces):
        return _from_texts(pieces, note, location)
    parsed: list[Any] = []
    incomplete: list[Any] = []
    for piece in pieces:
        side = _from_texts([piece], note, location) if piece.__class__ is str else Side(_as_list(piece))
        parsed += side.value or ()
        if side.text is not None:
            incomplete.append(side.text)
    return Side(parsed, incomplete or None)


def are_items(messages: list[Any]) -> bool:
    """Return whether messages are items of the Responses API, by their types or those of their parts."""
    for message in messages:
        content = message.get("content") if message.__class__ is dict else ""
        if content.__class__ is str:  # as in most messages of either API, which are identical then
            continue
        first = content[0] if content.__class__ is list and content else None
        if message.get("type") in _ITEMS or (first.__class__ is dict and first.get("type") in _PARTS):
            return True
    return False


def _from_texts(pieces: list[str], note: Notes, location: str) -> Side:
    joined_value = _value("".join(pieces), note, location) if len(pieces) > 1 else json_stream.BAD
    if joined_value is not json_stream.BAD:
        return _as_messages(Side(joined_value), note, location)
    values = [_value(piece, note, location) for piece in pieces] if len(pieces) > 1 else []
    if values and json_stream.BAD not in values:
        return Side([message for value in values for message in _as_list(value)])
    return _as_messages(_decoded("".join(pieces), note, location), note, location)


def _as_messages(side: Side, note: Notes, location: str) -> Side:
    if side.value.__class__ in {list, dict}:
        return Side(_as_list(side.value), side.text)
    if side.text is None:
        note(Kind.WRONG_TYPE, location, f"messages are {type(side.value).__name__}")
    return Side([], side.value if side.text is None else side.text)


def _as_list(value: Any) -> list[Any]:
    """Return messages as a list: the list itself, an object's list, or the single message."""
    if value.__class__ is list:
        return value
    inner = value.get("messages") if value.__class__ is dict else None
    return inner if inner.__class__ is list else [value]


def _value(text: str | bytes, note: Notes, location: str) -> Any:
    """Return the value of a text, with notes; BAD, without a note, if it is not JSON."""
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        if json_stream.decode(data, Notes(keep=0), location) is json_stream.BAD:
            return json_stream.BAD
        return json_stream.decode(data, note, location)


def _decoded(text: str, note: Notes, location: str) -> Side:
    """Return the value of a text; of a truncated text, the complete part of the value and the text."""
    value = _value(text, note, location)
    if value is not json_stream.BAD:
        return Side(value)
    if not text.startswith(("[", "{")):
        note(Kind.UNKNOWN_TYPE, location, "a text that is not JSON")
        return Side(None, text)
    note(Kind.TRUNCATED, location, f"the log has {len(text):,} characters of it")
    repaired = _value(json_stream.repaired(text.encode("utf-8", "replace")), note, location)
    return Side(None if repaired is json_stream.BAD else repaired, text)
