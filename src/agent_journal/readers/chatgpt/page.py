"""`chat.html`, the page of an export: a script in it has every conversation, all on one line.

Strings in it are escaped as in HTML. The next line maps pointers to files of the export.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.inputs.input import Reading
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input, Stream
    from agent_journal.notes import Notes

_TITLE = b"<title>ChatGPT Data Export</title>"
_DATA = b"var jsonData ="
_ASSETS = b"var assetsJson = {"
_LOOKAHEAD_BYTES = 256
_PREAMBLE_BYTES = 16_384
# All escapes in use; `&amp;` must come last.
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&"))


def is_page(head: bytes) -> bool:
    """Whether the beginning of a file is that of an export's page."""
    return _TITLE in head and _DATA in head


def begins_as_page(file: Input) -> bool:
    """Whether a file is the page of an export."""
    with file.open() as stream:
        return is_page(stream.read(_PREAMBLE_BYTES))


def conversations(file: Input, note: Notes) -> Iterator[tuple[str, Any]]:
    """Yield each conversation of a page with its location."""
    with _DataLine(file.open()) as stream:
        for index, value in json_stream.elements_in(stream, note):
            try:
                yield f"[{index}]", _unescaped(value)
            except RecursionError:
                note(Kind.BAD_RECORD, f"[{index}]", "nested too deeply")
        if stream.after.startswith(_ASSETS):
            note(Kind.IGNORED_FILE, "assetsJson", "names of files next to the page")


def _unescaped(value: Any) -> Any:
    match value:
        case str():
            for escape, character in _ESCAPES if "&" in value else ():
                value = value.replace(escape, character)
        case list():
            return [_unescaped(each) for each in value]
        case dict():
            return {_unescaped(name): _unescaped(each) for name, each in value.items()}
    return value


class _DataLine(Reading):
    """The value of a page's data: from after the `=` to the end of the line."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._head = stream.read(_PREAMBLE_BYTES).partition(_DATA)[2]
        self._is_at_end = False
        self.after = b""
        """The beginning of the next line, after the end of this one."""

    def read(self, size: int = -1, /) -> bytes:
        if self._is_at_end:
            return b""
        head, self._head = self._head, b""
        line, end, after = (head or self._stream.read(size)).partition(b"\n")
        if end:
            self._is_at_end = True
            self.after = (
                after if len(after) > _LOOKAHEAD_BYTES else after + self._stream.read(_LOOKAHEAD_BYTES)
            ).lstrip()
        return line
