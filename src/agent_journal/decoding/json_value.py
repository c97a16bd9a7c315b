"""One JSON value from the wild: decoded fast, or else slowly and with notes about what is odd in it.

The fast way decodes with msgspec. What it refuses (NaN, half characters, bytes that are not UTF-8, huge
numbers) is decoded again slowly and noted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.notes import Notes

# A record larger than this is not read: no format in use comes near, and it takes several times the memory.
MAX_RECORD_BYTES = 128 << 20
# Longer integers than CPython converts by default.
_MAX_DIGITS = 4300
# Compiled when it is first needed: hardly any text has half characters.
_SURROGATE = (
    r"(?s)\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?P<pair>\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    r"|u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<other>.))"
)


class _Bad:
    """Stands for a value that could not be decoded."""

    def __bool__(self) -> bool:
        return False


BAD = _Bad()


class Shape:
    """What most values of an array are, as a type of msgspec: they are decoded straight into it."""

    def __init__(self, kind: Any) -> None:
        self.one = msgspec.json.Decoder(kind).decode
        self.several: Callable[[memoryview | bytes], list[Any]] = msgspec.json.Decoder(list[kind]).decode


ANY = Shape(Any)


def decode(
    data: bytes | memoryview,
    note: Notes,
    where: int | str,
    kind: Kind = Kind.BAD_RECORD,
    shape: Shape = ANY,
) -> Any:
    """The value that `data` holds, or BAD, noted as `kind`."""
    try:
        return decode_fast(data, shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_slowly(bytes(data), note, where, kind)


def decode_fast(data: bytes | memoryview, shape: Shape) -> Any:
    """The value in the shape, or as it is if it has another."""
    try:
        return shape.one(data)
    except msgspec.ValidationError:
        return ANY.one(data)


def _decode_slowly(data: bytes, note: Notes, where: int | str, kind: Kind) -> Any:
    import json  # noqa: PLC0415 (only damaged input needs it)

    if len(data) > MAX_RECORD_BYTES:
        note(Kind.TOO_LARGE, where, f"a record of {len(data):,} bytes", len(data))
        return BAD
    text = _as_text(data)
    anomalies: dict[Kind, str] = {}
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        anomalies[Kind.BAD_ENCODING] = "not UTF-8"
    text = _without_surrogates(text, anomalies)
    number = _NumberKeeper(anomalies)
    try:
        value = json.loads(
            text,
            strict=False,
            parse_constant=number.constant,
            parse_int=number.whole,
            parse_float=number.fraction,
        )
    except RecursionError:
        note(kind, where, "nested too deeply", len(data))
        return BAD
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        note(kind, where, f"{what} at character {error.pos + 1:,}", len(data))
        return BAD
    for anomaly, detail in anomalies.items():
        note(anomaly, where, detail)
    return value


def apart(line: bytes) -> Iterator[bytes]:
    """The records of a line that is no JSON: several objects if they stand in one, else the line as it is.

    Who is stopped before the line feed and goes on later writes the next record directly after the last one.
    """
    import json  # noqa: PLC0415 (only damaged input needs it)

    text = line.decode("utf-8", "surrogateescape")
    end_of = json.JSONDecoder(strict=False).raw_decode
    start = 0
    while text.startswith("{", start):
        try:
            _, end = end_of(text, start)
        except (ValueError, RecursionError):
            break
        if not text.startswith("{", end):
            break
        yield text[start:end].encode("utf-8", "surrogateescape")
        start = end
    yield text[start:].encode("utf-8", "surrogateescape") if start else line


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _without_surrogates(text: str, anomalies: dict[Kind, str]) -> str:
    if "\\u" not in text:
        return text

    def repair(match: re.Match[str]) -> str:
        if match["pair"] or match["other"]:
            return match[0]
        anomalies[Kind.LONE_SURROGATE] = match[0]
        return "\ufffd"

    return re.sub(_SURROGATE, repair, text)


class _NumberKeeper:
    """Keeps numbers that JSON or Python cannot hold as the text they were."""

    def __init__(self, anomalies: dict[Kind, str]) -> None:
        self._anomalies = anomalies

    def constant(self, text: str) -> str:
        self._anomalies[Kind.BAD_NUMBER] = text
        return text

    def whole(self, text: str) -> int | str:
        if len(text) < _MAX_DIGITS:
            return int(text)
        self._anomalies[Kind.BAD_NUMBER] = f"a number of {len(text):,} digits"
        return text

    def fraction(self, text: str) -> float | str:
        number = float(text)
        if abs(number) != float("inf"):
            return number
        return self.constant(text)
