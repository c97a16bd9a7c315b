"""JSON from the wild, one value at a time: lines of JSONL, elements of an array of any size.

The fast way decodes with msgspec. What it refuses (NaN, half characters, bytes that are not UTF-8,
huge numbers) is decoded again slowly and noted; what cannot be decoded at all costs one record.
Nothing here recurses, and memory is bounded by the largest record.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.encoding import fillable, utf8, utf8_lines
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.notes import Notes
    from agent_journal.source import Source, Stream

# A record larger than this is not read: no format in use comes near it.
MAX_RECORD_BYTES = 256 << 20
_BLOCK = 1 << 20
# How much of an array is decoded at once, and after how many failures nobody tries any longer.
_TOGETHER = 256 << 10
_PATIENCE = 8
_SPACE = b" \t\r\n"
_LINE_FEED = 10
# Longer integers than CPython converts by default.
_MAX_DIGITS = 4300


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

_skip = msgspec.json.Decoder(msgspec.Raw)
_SURROGATE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?P<pair>\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    r"|u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<other>.))",
    re.DOTALL,
)
# A string, which may be cut by the end of the text, or a bracket or comma outside of strings.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|(?P<cut>\\?\Z))|[\[{\]},]', re.DOTALL)
_PLACE = re.compile(r"\(byte (\d+)\)")
_LONGEST_TOKEN = 32
# The first member of an object that begins here, if its value is a scalar, and the name of the second.
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SCALAR = rb"\s*(?:" + _STRING + rb'|[^"\[\]{},]+)'
_TWO_NAMES = re.compile(
    rb"(?P<first>\{\s*" + _STRING + rb"\s*:)" + _SCALAR + rb"(?P<second>\s*,\s*" + _STRING + rb"\s*:)",
    re.DOTALL,
)
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")


def decode(
    data: bytes | memoryview,
    note: Notes,
    where: int | str,
    kind: Kind = Kind.BAD_RECORD,
    shape: Shape = ANY,
) -> Any:
    """The value that `data` holds, or BAD, noted as `kind`."""
    try:
        return _decode_fast(data, shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_slowly(bytes(data), note, where, kind)


def _decode_fast(data: bytes | memoryview, shape: Shape) -> Any:
    """The value in the shape, or as it is if it has another."""
    try:
        return shape.one(data)
    except msgspec.ValidationError:
        return ANY.one(data)


def _decode_slowly(data: bytes, note: Notes, where: int | str, kind: Kind) -> Any:
    import json  # noqa: PLC0415 (only damaged input needs it)

    if len(data) > MAX_RECORD_BYTES:
        note(Kind.TOO_LARGE, where, f"a record of {len(data):,} bytes")
        return BAD
    text = _as_text(data)
    oddities: dict[Kind, str] = {}
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        oddities[Kind.BAD_ENCODING] = "not UTF-8"
    text = _without_surrogates(text, oddities)
    number = _NumberKeeper(oddities)
    try:
        value = json.loads(
            text,
            strict=False,
            parse_constant=number.constant,
            parse_int=number.whole,
            parse_float=number.fraction,
        )
    except RecursionError:
        note(kind, where, "nested too deeply")
        return BAD
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        note(kind, where, f"{what} at character {error.pos + 1:,}")
        return BAD
    for odd, detail in oddities.items():
        note(odd, where, detail)
    return value


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _without_surrogates(text: str, oddities: dict[Kind, str]) -> str:
    if "\\u" not in text:
        return text

    def mend(match: re.Match[str]) -> str:
        if match["pair"] or match["other"]:
            return match[0]
        oddities[Kind.LONE_SURROGATE] = match[0]
        return "\ufffd"

    return _SURROGATE.sub(mend, text)


class _NumberKeeper:
    """Keeps numbers that JSON or Python cannot hold as the text they were."""

    def __init__(self, oddities: dict[Kind, str]) -> None:
        self._oddities = oddities

    def constant(self, text: str) -> str:
        self._oddities[Kind.BAD_NUMBER] = text
        return text

    def whole(self, text: str) -> int | str:
        if len(text) < _MAX_DIGITS:
            return int(text)
        self._oddities[Kind.BAD_NUMBER] = f"a number of {len(text):,} digits"
        return text

    def fraction(self, text: str) -> float | str:
        number = float(text)
        if abs(number) != float("inf"):
            return number
        return self.constant(text)


def lines(source: Source, note: Notes) -> Iterator[tuple[int, Any]]:
    """Number and value of each line of JSONL. Only a line feed ends a line; empty ones do not count."""
    for number, line, is_whole in raw_lines(source, note):
        value = decode(line, note, number, Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL)
        if value is not BAD:
            yield number, value


def raw_lines(source: Source, note: Notes) -> Iterator[tuple[int, bytes, bool]]:
    """Number and bytes of each line that is not blank, and whether it was ended."""
    number = 0
    with utf8_lines(source, _BLOCK) as stream:
        try:
            # Splitting blocks would look at each byte; this looks for line feeds as fast as memory allows.
            while line := stream.readline(MAX_RECORD_BYTES):
                number += 1
                if line[-1] == _LINE_FEED:
                    if len(line) > 1 and not line.isspace():
                        yield number, line[:-1], True
                elif len(line) < MAX_RECORD_BYTES:
                    if not line.isspace():
                        yield number, line, False
                else:
                    note(Kind.TOO_LARGE, number, f"a line of more than {MAX_RECORD_BYTES:,} bytes")
                    while (line := stream.readline(_BLOCK)) and line[-1] != _LINE_FEED:
                        pass
        except UnreadableSource as error:  # something compressed that breaks off
            if not number:
                raise
            note(Kind.TRUNCATED, number + 1, error.reason)


def values(source: Source, note: Notes, shape: Shape = ANY) -> Iterator[tuple[str, Any]]:
    """Place and value of each element of an array, line of JSONL, or concatenated value.

    A value is decoded into the shape if it has it, else as it is.
    """
    with utf8(source) as stream:
        window = _Window(stream)
        first = window.peek()
        is_lines = first != b"[" and window.first_line_is_whole()
    if is_lines:
        for number, line, is_whole in raw_lines(source, note):
            value = decode(line, note, number, Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL, shape)
            if value is not BAD:
                yield f"line {number}", value
    elif first == b"[":
        for index, value in elements(source, note, shape=shape):
            yield f"[{index}]", value
    else:
        yield from _concatenated(source, note, shape)


def _concatenated(source: Source, note: Notes, shape: Shape) -> Iterator[tuple[str, Any]]:
    with utf8(source) as stream:
        window = _Window(stream, shape)
        index = 0
        while window.peek():
            value = window.value(note, f"value {index}")
            if value is not BAD:
                yield f"value {index}", value
            index += 1


def elements(
    source: Source, note: Notes, key: str | None = None, shape: Shape = ANY
) -> Iterator[tuple[int, Any]]:
    """Position and value of each element of the array that a file is, or that it holds under `key`.

    A file that is one object counts as an array of it, unless a key is asked for.
    """
    at_once = None if key is not None else _at_once(source, shape)
    if at_once is not None:
        yield from enumerate(at_once)
        return
    with utf8(source) as stream:
        yield from elements_in(stream, note, key, shape)


def _at_once(source: Source, shape: Shape) -> list[Any] | None:
    """The elements of the array that a small file is; None if it is no such file, or not without a flaw."""
    with source.open() as stream:
        data = stream.read(_BLOCK + 1)
        if len(data) > _BLOCK or data[:1] != b"[" or stream.read(1):
            return None
    try:
        try:
            return shape.several(data)
        except msgspec.ValidationError:
            return ANY.several(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def elements_in(
    stream: Stream, note: Notes, key: str | None = None, shape: Shape = ANY
) -> Iterator[tuple[int, Any]]:
    """The same for a stream of UTF-8."""
    window = _Window(stream, shape)
    if key is not None and not window.enter(key, note):
        return
    if window.peek() != b"[":
        if window.peek():
            value = window.value(note, "[0]")
            if value is not BAD:
                yield 0, value
            if window.peek():
                note(Kind.BAD_RECORD, "[1]", "the file goes on behind its one value")
        return
    window.advance(1)
    yield from _array(window, note, key)


def members(source: Source, note: Notes) -> Iterator[tuple[str, int | None, Any]]:
    """Everything in the object that a file is, in one pass: key, position and value of each array's elements.

    A value that is no array comes whole, without a position.
    """
    with utf8(source) as stream:
        window = _Window(stream)
        if window.peek() == b"{":
            window.advance(1)
            yield from _members(window, note)
        else:
            note(Kind.BAD_RECORD, "", "the file is not an object")


def _members(window: _Window, note: Notes) -> Iterator[tuple[str, int | None, Any]]:
    cuts = note.counts[Kind.TRUNCATED]
    while (byte := window.peek()) and byte != b"}":
        if byte == b",":
            window.advance(1)
            continue
        key = window.value(note, "a key")
        if key.__class__ is not str or window.peek() != b":":
            note(Kind.BAD_RECORD, "", "a key and a value were expected; what follows was skipped")
            return
        window.advance(1)
        window.forget()
        if window.peek() == b"[":
            window.advance(1)
            for index, value in _array(window, note, key):
                yield key, index, value
        elif window.peek() and (value := window.value(note, key)) is not BAD:
            yield key, None, value
    if not byte and note.counts[Kind.TRUNCATED] == cuts:
        note(Kind.TRUNCATED, "", "the file ends before its object does")


def _array(window: _Window, note: Notes, key: str | None = None) -> Iterator[tuple[int, Any]]:
    """The elements of the array that was entered; under a key, more may follow it."""
    index = 0
    while True:
        byte = window.peek()
        if byte == b",":
            window.advance(1)
        elif byte == b"]":
            window.advance(1)
            if key is None and window.peek():
                note(Kind.BAD_RECORD, f"[{index}]", "the file goes on behind the end of its array")
            return
        elif not byte:
            note(Kind.TRUNCATED, f"{key or ''}[{index}]", "the file ends before its array does")
            return
        elif together := window.several():
            yield from enumerate(together, index)
            index += len(together)
        else:
            value = window.value(note, f"{key or ''}[{index}]")
            if value is not BAD:
                yield index, value
            elif not window.peek():
                return  # the end was noted with the value it cut
            index += 1


def load(source: Source, note: Notes) -> Any:
    """The one value of a small file, or BAD."""
    with utf8(source) as stream:
        data = stream.read(MAX_RECORD_BYTES + 1)
        while len(data) <= MAX_RECORD_BYTES and (more := stream.read(_BLOCK)):
            data += more
    return decode(data, note, "")


class _Window:
    """A stretch of a stream in which the next value lies; it grows until the value is whole."""

    def __init__(self, stream: Stream, shape: Shape = ANY) -> None:
        self._stream = fillable(stream)
        self._shape = shape
        # One buffer for all: the stretch is from `_at` to `_end` in it. There is always a byte before it.
        self._data = bytearray(1 + _BLOCK)
        self._at = 1
        self._end = 1
        self._ended = False
        # How the first value opens, and what lies between it and the second: `}, {"title":`.
        self._opening = b""
        self._boundary = b""
        self._sibling: re.Pattern[bytes] | None = None
        self._last_end = 0
        self._unusual = 0
        self._broken = 0

    def peek(self) -> bytes:
        """The next byte that is not white space; empty at the end."""
        while True:
            data, at, end = self._data, self._at, self._end
            while at < end and data[at] in _SPACE:
                at += 1
            self._at = at
            if at < end:
                return bytes(data[at : at + 1])
            if not self._grow():
                return b""

    def advance(self, count: int) -> None:
        """Step over bytes that were seen."""
        self._at += count

    def forget(self) -> None:
        """Expect values that open otherwise than those so far."""
        self._opening = self._boundary = b""
        self._sibling = None
        self._last_end = self._broken = 0

    def first_line_is_whole(self) -> bool:
        """Whether the text up to the next line break is a value by itself."""
        while (end := self._data.find(b"\n", self._at, self._end)) < 0:
            if not self._grow():
                end = self._end
                break
        line = self._data[self._at : end].strip()
        try:
            _skip.decode(line)
        except msgspec.DecodeError as error:
            # A bad first line of JSONL still ends like a record; a line of indented JSON does not.
            return len(line) > 1 and line.endswith(b"}") and not _TRAILING.search(str(error))
        except RecursionError:
            return True
        return True

    def enter(self, key: str, note: Notes) -> bool:
        """Go to the value of a key of the object that begins here."""
        if self.peek() != b"{":
            return False
        self.advance(1)
        while (byte := self.peek()) and byte != b"}":
            if byte == b",":
                self.advance(1)
                continue
            name = self.value(note, "a key")
            if self.peek() != b":":
                return False
            self.advance(1)
            if name == key:
                return True
            self.peek()
            self._pass_value()
        return False

    def value(self, note: Notes, where: str) -> Any:
        """Decode the value that begins here and go behind it."""
        if self._boundary and (value := self._up_to_boundary()) is not BAD:
            return value
        end = self._end_of_value()
        if end is None:
            return self._recover(note, where)
        start, self._at = self._at, end
        self._learn(start, end)
        return decode(memoryview(self._data)[start:end], note, where, shape=self._shape)

    def _learn(self, start: int, end: int) -> None:
        data = self._data
        if not self._opening:
            self._opening = bytes(data[start : data.find(b":", start, end) + 1])
            if data.find(self._opening, start + 1, end) >= 0:
                # Objects inside open like that too; mostly the second name tells them apart.
                names = _TWO_NAMES.match(bytes(data[start:end]))
                if names is not None:
                    pattern = re.escape(names["first"]) + _SCALAR + re.escape(names["second"])
                    self._sibling = re.compile(pattern, re.DOTALL)
        elif self._last_end and not self._boundary and data.startswith(self._opening, start, end):
            self._boundary = bytes(data[self._last_end - 1 : start]) + self._opening
        self._last_end = end

    def _up_to_boundary(self) -> Any:
        """The value, if it ends where one that opens like the first begins; BAD if that is not so.

        Values of an array usually open alike. Looking for that place is much faster than skipping
        the value to find its end; where an object inside opens like that too, decoding fails here.
        """
        searched = 0
        while (found := self._data.find(self._boundary, self._at + searched, self._end)) < 0:
            searched = max(0, self._end - self._at - len(self._boundary))
            if searched > MAX_RECORD_BYTES or not self._grow():
                return BAD
        try:
            value = _decode_fast(memoryview(self._data)[self._at : found + 1], self._shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return BAD
        self._at = found + 1
        return value

    def several(self) -> list[Any]:
        """Decode the values that begin here and go behind them; none where that is not so simple.

        As many as lie in a stretch are decoded as one array: only the last one's end has to be found.
        """
        if not self._boundary or self._broken == _PATIENCE:
            return []
        data, start = self._data, self._at - 1
        end = data.rfind(self._boundary, self._at, min(self._end, self._at + _TOGETHER)) + 1
        if not end:
            return []
        before, behind = data[start], data[end]
        data[start], data[end] = b"[]"
        try:
            values = self._in_shape(memoryview(data)[start : end + 1])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._broken += 1
            return []
        finally:
            data[start], data[end] = before, behind
        self._at = end
        return values

    def _in_shape(self, data: memoryview) -> list[Any]:
        """The values of an array in the shape, or all as they are if one has another."""
        try:
            return self._shape.several(data)
        except msgspec.ValidationError:
            self._unusual += 1
            if self._unusual == _PATIENCE:
                self._shape = ANY
            return ANY.several(data)

    def _pass_value(self) -> None:
        end = self._end_of_value()
        self._at = self._end if end is None else end

    def _end_of_value(self) -> int | None:
        """Where the value ends, or None if that cannot be told without repair."""
        while True:
            try:
                _skip.decode(memoryview(self._data)[self._at : self._end])
            except msgspec.DecodeError as error:
                # msgspec says where a text goes on after the value: that is where the value ends.
                if found := _TRAILING.search(str(error)):
                    return self._at + int(found[1]) - 1
                if not self._is_cut(str(error)) or not self._grow():
                    return None
            except RecursionError:
                return None
            else:
                if not self._grow():
                    return self._end

    def _is_cut(self, complaint: str) -> bool:
        """Whether msgspec may complain only because the window ends too early."""
        if "truncated" in complaint:
            return True
        # A number or a word such as `true` that is cut is called invalid, at its last byte.
        found = _PLACE.search(complaint)
        return found is not None and self._at + int(found[1]) + _LONGEST_TOKEN >= self._end

    def _recover(self, note: Notes, where: str) -> Any:
        """Decode a value that msgspec refuses, and find where the next one begins."""
        end = self._matching_end()
        if end is not None:
            quiet = _Remembered()
            value = decode(bytes(self._data[self._at : end]), quiet, where)  # type: ignore[arg-type] # a Notes in all it does here
            sibling = None if value is not BAD else self._next_sibling(end)
            if sibling is None:
                quiet.replay(note)
                self._at = end
                return value
            end = sibling
        else:
            end = self._next_sibling(None)
        if end is None:
            size = self._end - self._at
            note(Kind.TRUNCATED, where, f"the last {size:,} bytes are not a whole value")
            self._at = self._end
            return BAD
        note(Kind.BAD_RECORD, where, f"{end - self._at:,} bytes are not JSON")
        self._at = end
        return BAD

    def _matching_end(self) -> int | None:
        """The end of the value that begins here, found by brackets and commas without parsing it."""
        seen = depth = 0
        while True:
            end, seen, depth = self._scanned(seen, depth)
            if end is not None:
                return max(end, self._at + 1)
            if self._end - self._at > MAX_RECORD_BYTES or not self._grow():
                return None

    def _scanned(self, seen: int, depth: int) -> tuple[int | None, int, int]:
        """The end if it is in the window; how much was seen, and how deep it is there."""
        for token in _TOKEN.finditer(self._data, self._at + seen, self._end):
            if token["cut"] is not None:
                break  # it is looked at again when the window has grown
            seen = token.end() - self._at
            if token[0] in (b"[", b"{"):
                depth += 1
            elif depth == 0 and token[0] in (b",", b"]", b"}"):
                return token.start(), seen, depth  # a bare word ends where what is around it goes on
            elif token[0] in (b"]", b"}"):
                depth -= 1
                if depth == 0:
                    return token.end(), seen, depth
        return None, seen, depth

    def _next_sibling(self, before: int | None) -> int | None:
        """Where the next value opens that begins like the first one did.

        A quote inside a string is escaped, so `{"title":` is never text, always structure.
        """
        if not self._opening.startswith(b"{"):
            return None
        while True:
            found = self._like_the_first(self._at + 1, before or self._end)
            if found >= 0:
                return found
            if before is not None or not self._grow():
                return None

    def _like_the_first(self, start: int, end: int) -> int:
        """Where in a stretch a value opens like the first one, or -1."""
        if self._sibling is None:
            return self._data.find(self._opening, start, end)
        match = self._sibling.search(self._data, start, end)
        return -1 if match is None else match.start()

    def _grow(self) -> bool:
        """Read more behind what is left; whether there was more."""
        if self._ended:
            return False
        data, kept = self._data, self._end - self._at
        if self._at > 1:
            data[1 : kept + 1] = data[self._at : self._end]
            self._at, self._end, self._last_end = 1, kept + 1, 0
        if self._end > len(data) // 2:
            data.extend(bytes(len(data)))  # doubling keeps the work linear when one value is very large
        with memoryview(data) as view:
            count = self._stream.readinto(view[self._end :])
        self._ended = not count
        self._end += count
        return bool(count)


class _Remembered:
    """Notes of an attempt, told only if the attempt counts."""

    def __init__(self) -> None:
        self._calls: list[tuple[Any, ...]] = []

    def __call__(self, *call: Any) -> None:
        self._calls.append(call)

    def replay(self, note: Notes) -> None:
        for call in self._calls:
            note(*call)


def mended(head: bytes) -> bytes:
    """A JSON text that was cut somewhere, closed: up to its last whole member, then the brackets.

    Only for looking at the beginning of a large file.
    """
    stack: list[bytes] = []
    end = 0
    for token in _TOKEN.finditer(head):
        byte = token[0]
        if byte == b",":
            end = token.start()
        elif byte in (b"[", b"{"):
            stack.append(b"]" if byte == b"[" else b"}")
            end = token.end()
        elif byte in (b"]", b"}"):
            del stack[-1:]
            end = token.end()
            if not stack:
                break
    return head[:end] + b"".join(reversed(stack))
