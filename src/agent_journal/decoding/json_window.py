"""A window on a stream of JSON: where the values in it end, found without parsing what is not wanted.

Nothing here recurses, and memory is bounded by the largest value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.json_value import ANY, BAD, MAX_RECORD_BYTES, Shape, decode, decode_fast
from agent_journal.decoding.text_encoding import fillable
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Stream
    from agent_journal.notes import Notes

BLOCK_BYTES = 1 << 20
# How much of an array is decoded at once, and after how many failures nobody tries any longer.
_BATCH_BYTES = 256 << 10
_MAX_FAILURES = 8
_SPACE = b" \t\r\n"
_skip = msgspec.json.Decoder(msgspec.Raw)
# A string, which may be cut by the end of the text, or a bracket or comma outside of strings.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(?:"|(?P<cut>\\?\Z))|[\[{\]},]', re.DOTALL)
_IN_STRING, _OUTSIDE = re.compile(rb'["\\]'), re.compile(rb'["\[\]{},]')
_PLACE = re.compile(r"\(byte (\d+)\)")
_MAX_TOKEN_BYTES = 32
# The first member of an object that begins here, if its value is a scalar, and the name of the second.
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SCALAR = rb"\s*(?:" + _STRING + rb'|[^"\[\]{},]+)'
_TWO_NAMES = re.compile(
    rb"(?P<first>\{\s*" + _STRING + rb"\s*:)" + _SCALAR + rb"(?P<second>\s*,\s*" + _STRING + rb"\s*:)",
    re.DOTALL,
)
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")


class Window:
    """A stretch of a stream in which the next value lies; it grows until the value is whole."""

    def __init__(self, stream: Stream, shape: Shape = ANY) -> None:
        self._stream = fillable(stream)
        self._shape = shape
        # One buffer for all: the stretch is from `_at` to `_end` in it. There is always a byte before it.
        self._data = bytearray(1 + BLOCK_BYTES)
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
        """Decode the value that begins here and go to its end."""
        if self._boundary and (value := self._up_to_boundary()) is not BAD:
            return value
        end = self._end_of_value()
        if self._is_too_large and (end is None or end - self._at > MAX_RECORD_BYTES):
            size = self._pass_large()
            detail = f"a value of {size:,} bytes; more than {MAX_RECORD_BYTES:,} are not read"
            note(Kind.TOO_LARGE, where, detail, size)
            return BAD
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
                # Objects inside open like that too; mostly the second name distinguishes them.
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
        while (end := self._data.find(self._boundary, self._at + searched, self._end)) < 0:
            searched = max(0, self._end - self._at - len(self._boundary))
            if searched > MAX_RECORD_BYTES or not self._grow():
                return BAD
        if end - self._at > MAX_RECORD_BYTES:
            return BAD  # which is noted where its end is searched for
        try:
            value = decode_fast(memoryview(self._data)[self._at : end + 1], self._shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return BAD
        self._at = end + 1
        return value

    def several(self) -> list[Any]:
        """Decode the values that begin here and go to their end; none where that is not so simple.

        As many as lie in a stretch are decoded as one array: only the last one's end has to be found.
        """
        if not self._boundary or self._broken == _MAX_FAILURES:
            return []
        data, start = self._data, self._at - 1
        end = data.rfind(self._boundary, self._at, min(self._end, self._at + _BATCH_BYTES)) + 1
        if not end:
            return []
        first_byte, last_byte = data[start], data[end]
        data[start], data[end] = b"[]"
        try:
            values = self._in_shape(memoryview(data)[start : end + 1])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._broken += 1
            return []
        finally:
            data[start], data[end] = first_byte, last_byte
        self._at = end
        return values

    def _in_shape(self, data: memoryview) -> list[Any]:
        """The values of an array in the shape, or all as they are if one has another."""
        try:
            return self._shape.several(data)
        except msgspec.ValidationError:
            self._unusual += 1
            if self._unusual == _MAX_FAILURES:
                self._shape = ANY
            return ANY.several(data)

    def _pass_value(self) -> None:
        end = self._end_of_value()
        if end is None and self._is_too_large:
            self._pass_large()
        else:
            self._at = self._end if end is None else end

    @property
    def _is_too_large(self) -> bool:
        return self._end - self._at > MAX_RECORD_BYTES

    def _pass_large(self) -> int:
        """Skip a value without holding it; return its number of bytes."""
        size = depth = 0
        is_string = False
        self._last_end = 0
        while True:
            data, at, end = self._data, self._at, self._end
            while (match := (_IN_STRING if is_string else _OUTSIDE).search(data, at, end)) is not None:
                byte = match[0]
                if byte == b"\\":
                    if match.end() == end:
                        break  # what it stands before comes next
                    at = match.end() + 1
                    continue
                if not is_string and not depth and byte in (b",", b"]", b"}"):
                    size += match.start() - self._at  # a bare word ends where what is around it goes on
                    self._at = match.start()
                    return size
                at = match.end()
                is_string = (byte == b'"') != is_string
                depth += (byte in (b"[", b"{")) - (byte in (b"]", b"}"))
                if not depth and not is_string and byte != b",":
                    size += at - self._at
                    self._at = at
                    return size
            at = end if match is None else match.start()
            size += at - self._at
            self._at = at
            if not self._grow():
                size += self._end - self._at
                self._at = self._end
                return size

    def _end_of_value(self) -> int | None:
        """Where the value ends, or None if that is unknown without repair."""
        while True:
            try:
                _skip.decode(memoryview(self._data)[self._at : self._end])
            except msgspec.DecodeError as error:
                # msgspec says where a text goes on after the value: that is where the value ends.
                if match := _TRAILING.search(str(error)):
                    return self._at + int(match[1]) - 1
                if self._is_too_large or not self._is_cut(str(error)) or not self._grow():
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
        match = _PLACE.search(complaint)
        return match is not None and self._at + int(match[1]) + _MAX_TOKEN_BYTES >= self._end

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
            note(Kind.TRUNCATED, where, f"the last {size:,} bytes are not a whole value", size)
            self._at = self._end
            return BAD
        note(Kind.BAD_RECORD, where, f"{end - self._at:,} bytes are not JSON", end - self._at)
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
            start = self._like_the_first(self._at + 1, before or self._end)
            if start >= 0:
                return start
            if before is not None or not self._grow():
                return None

    def _like_the_first(self, start: int, end: int) -> int:
        """Where in a stretch a value opens like the first one, or -1."""
        if self._sibling is None:
            return self._data.find(self._opening, start, end)
        match = self._sibling.search(self._data, start, end)
        return -1 if match is None else match.start()

    def _grow(self) -> bool:
        """Read more after what is left; whether there was more."""
        if self._ended:
            return False
        data, unread = self._data, self._end - self._at
        if self._at > 1:
            data[1 : unread + 1] = data[self._at : self._end]
            self._at, self._end, self._last_end = 1, unread + 1, 0
        if self._end > len(data) // 2:
            data.extend(bytes(len(data)))  # doubling keeps the work linear when one value is very large
        with memoryview(data) as view:
            count = self._stream.readinto(view[self._end :])
        self._ended = not count
        self._end += count
        return bool(count)


class _Remembered:
    """Notes of an attempt, passed on only if the attempt counts."""

    def __init__(self) -> None:
        self._calls: list[tuple[Any, ...]] = []

    def __call__(self, *call: Any) -> None:
        self._calls.append(call)

    def replay(self, note: Notes) -> None:
        for call in self._calls:
            note(*call)


def is_unfinished(text: bytes) -> bool:
    """Whether a text is the beginning of one JSON value, which ends before its end, or nothing at all."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        # A number that is cut is called invalid, after its last byte.
        match = _PLACE.search(str(error))
        return "truncated" in str(error) or (match is not None and int(match[1]) >= len(text))
    except RecursionError:
        return False
    return False


def repaired(head: bytes) -> bytes:
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
