"""A second process that reads new files while the first one writes: it keeps, decodes and makes rows.

It is asked on its standard input, answers on its standard output, and ends when the first one does. It knows
nothing of the archive: bytes for the vault come back compressed, and are written by the one that may write.
"""

from __future__ import annotations

import gc
import hashlib
import signal
import subprocess
import sys
from collections import deque
from contextlib import suppress
from queue import Queue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

import msgspec

from agent_journal import plugins
from agent_journal.archive import encoded
from agent_journal.archive.bodies import Block, Blocks
from agent_journal.archive.candidates import Found
from agent_journal.archive.packing import Packing
from agent_journal.archive.reading import Read, Reading
from agent_journal.archive.rows import Row
from agent_journal.crash_reports import CrashReports
from agent_journal.inputs import compressed
from agent_journal.model import Conversation, Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item

# Files of so many bytes are read ahead of what is written, so that neither process waits for the other.
_AHEAD_BYTES = 24 << 20
# A pipe holds 64 KB: then the other process would wait until this one, busy with rows, comes to take them.
_PIPE_BYTES = 1 << 20
# A larger one is read by the first process, which need not hold all of it.
LARGEST = 32 << 20
_ANSWERS_TO = 1  # standard output


class Prepared(msgspec.Struct, array_like=True):
    """A source that was read, with all that came of it: rows have their bodies in the blocks behind them."""

    read: Read
    items: list[tuple[Conversation | Memory, list[Row], list[Block]]]
    blobs: list[tuple[bytes, bytes, int]]


class _Request(msgspec.Struct, array_like=True):
    now: str
    found: Found
    largest_media: int | None = 0
    reports: str = ""
    """The folder of crash reports."""
    max_inflated_mb: int | None = None


_REQUEST = encoded.Decoder[_Request](_Request)
_ANSWER = encoded.Decoder[Prepared | None](Prepared | None)
_packed = Blocks().packed
_packing = Packing()


class _Held:
    """A vault that only remembers: what is put is sent to the one who writes, unless that was done before.

    A history may be read again for each of the files that belong to it.
    """

    def __init__(self, sent: set[bytes]) -> None:
        self.blobs: list[tuple[bytes, bytes, int]] = []
        self._sent = sent
        self._data: dict[bytes, bytes] = {}

    def put(self, data: bytes) -> bytes:
        blob = hashlib.sha256(data).digest()
        if blob not in self._data:
            self._data[blob] = data
            if blob not in self._sent:
                self.blobs.append((blob, _packing.packed(data), len(data)))
        return blob

    def get(self, blob: bytes) -> bytes:
        return self._data[blob]


def prepared(
    found: Iterable[Found], now: str, largest_media: int | None = 0, reports: str = ""
) -> Iterator[tuple[Found, Prepared | None]]:
    """New sources, read by a second process, in their order; None for one that it cannot tell of."""
    command = [sys.executable, "-P", "-m", __name__]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            requests = (
                (each, _Request(now, each, largest_media, reports, compressed.allowed_mb())) for each in found
            )
            yield from _conversed(process, requests)
        finally:
            process.kill()
            _end(process.stdin)


def _conversed(
    process: subprocess.Popen[bytes], requests: Iterable[tuple[Found, _Request]]
) -> Iterator[tuple[Found, Prepared | None]]:
    _widen(process.stdout)
    answers: Queue[bytes | None] = Queue()  # as many as were asked for at most
    Thread(target=_drain, args=(process.stdout, answers), daemon=True).start()
    ahead: deque[Found] = deque()
    size = 0
    for each, request in requests:
        _send(process.stdin, encoded.encode(request))
        ahead.append(each)
        size += each.size
        while size > _AHEAD_BYTES:
            size -= ahead[0].size
            yield ahead.popleft(), _next(answers)
    _end(process.stdin)
    for each in ahead:
        yield each, _next(answers)


def _widen(stream: IO[bytes] | None) -> None:
    """Let a pipe hold more, where that can be set and nobody has too many of such already."""
    if sys.platform == "linux" and stream is not None:
        import fcntl  # noqa: PLC0415 (not on Windows)

        with suppress(OSError):
            fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _next(answers: Queue[bytes | None]) -> Prepared | None:
    """An answer; none if the other process has died, perhaps over a file that is too much."""
    answer = answers.get()
    if answer is None:
        answers.put(None)  # for those behind it
        return None
    return _ANSWER.decode(answer)


def _drain(stream: IO[bytes] | None, answers: Queue[bytes | None]) -> None:
    """Take answers as they come, so that the other process is not held up by a full pipe."""
    while (answer := _received(stream)) is not None:
        answers.put(answer)
    answers.put(None)


def _end(stream: IO[bytes] | None) -> None:
    """Ask nothing more; what could not be sent to a process that has died is not sent now either."""
    if stream is not None:
        with suppress(BrokenPipeError):
            stream.close()


def _send(stream: IO[bytes] | None, data: bytes) -> None:
    if stream is None:
        return
    try:
        stream.write(len(data).to_bytes(8, "big") + data)
        stream.flush()
    except BrokenPipeError:
        return  # the answer that does not come tells it


def _received(stream: IO[bytes] | None) -> bytes | None:
    header = b"" if stream is None else stream.read(8)
    if stream is None or len(header) < 8:  # noqa: PLR2004 (the length of a length)
        return None
    size = int.from_bytes(header, "big")
    data = stream.read(size)
    return data if len(data) == size else None


def _answer(request: _Request, sent: set[bytes]) -> bytes:
    """The answer to a request; `sent` are the blobs that earlier ones had, and this one has."""
    held: Any = _Held(sent)
    compressed.allow(request.max_inflated_mb)
    reports = CrashReports(request.reports) if request.reports else None
    reading = Reading(held, request.now, largest_media=request.largest_media, reports=reports)
    try:
        items = [_small(item, rows) for item, rows in reading.items(request.found)]
        reading.read.problems = dict(plugins.problems)
        answer = encoded.encode(Prepared(reading.read, items, held.blobs))
    except Exception:  # noqa: BLE001 (a name that is no text, too little memory: the first process reads it)
        return encoded.encode(None)
    sent.update(blob for blob, _, _ in held.blobs)
    return answer


def _small(item: Item, rows: list[Row]) -> tuple[Item, list[Row], list[Block]]:
    """Entries are in the rows, and their bodies in blocks."""
    if isinstance(item, Memory):
        return item, [], []
    blocks = list(_packed(row.stored for row in rows))
    return msgspec.structs.replace(item, timeline=[]), [row._replace(body=b"") for row in rows], blocks


def main() -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides when it is over
    gc.disable()  # what is decoded has no cycles
    sent: set[bytes] = set()
    # Python's own stream may be without a buffer, and then writes only a part if the process is stopped.
    with open(_ANSWERS_TO, "wb", closefd=False) as answers:
        while (request := _received(sys.stdin.buffer)) is not None:
            _send(answers, _answer(_REQUEST.decode(request), sent))


if __name__ == "__main__":
    main()
