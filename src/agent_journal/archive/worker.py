"""A second process that reads new files while the main process writes: it decodes them and makes rows.

It gets requests on its standard input, answers on its standard output, and ends when the main process does.
It has no access to the archive: bytes for the vault are sent back compressed, and the main process writes
them.
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
from agent_journal.archive.bodies import Block
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.packing import Compressor
from agent_journal.archive.reading import ReadResult, SourceReading
from agent_journal.archive.rows import Row
from agent_journal.crash_reports import CrashReports
from agent_journal.inputs import compressed
from agent_journal.model import Conversation, Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# This many bytes are read ahead of what is written, so that neither process waits for the other.
_READ_AHEAD_BYTES = 24 << 20
# The default pipe of 64 KB would block the worker until the main process, busy with rows, reads from it.
_PIPE_BYTES = 1 << 20
# The main process reads larger files, because it need not hold them in memory.
MAX_WORKER_FILE_BYTES = 32 << 20


class PreparedSource(msgspec.Struct, array_like=True):
    """A source that was read, with its items; the bodies of the rows are in the blocks after them."""

    read: ReadResult
    items: list[tuple[Conversation | Memory, list[Row], list[Block]]]
    blobs: list[tuple[bytes, bytes, int]]


class _Request(msgspec.Struct, array_like=True):
    now: str
    candidate: ImportCandidate
    largest_media: int | None = 0
    reports: str = ""
    """The folder for crash reports."""
    max_inflated_mb: int | None = None


_REQUEST = encoded.Decoder[_Request](_Request)
_ANSWER = encoded.Decoder[PreparedSource | None](PreparedSource | None)
_compressor = Compressor()


class _CollectingVault:
    """A vault that collects blobs to send to the main process, unless they were sent before.

    A unit may be read again for each of its files.
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
                self.blobs.append((blob, _compressor.compress(data), len(data)))
        return blob

    def get(self, blob: bytes) -> bytes:
        return self._data[blob]


def prepare(
    candidates: Iterable[ImportCandidate], now: str, largest_media: int | None = 0, reports: str = ""
) -> Iterator[tuple[ImportCandidate, PreparedSource | None]]:
    """Yield new sources read by a second process, in order; None for one that it could not read."""
    command = [sys.executable, "-P", "-m", __name__]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            requests = (
                (candidate, _Request(now, candidate, largest_media, reports, compressed.allowed_mb()))
                for candidate in candidates
            )
            yield from _exchange(process, requests)
        finally:
            process.kill()
            _close_quietly(process.stdin)


def _exchange(
    process: subprocess.Popen[bytes], requests: Iterable[tuple[ImportCandidate, _Request]]
) -> Iterator[tuple[ImportCandidate, PreparedSource | None]]:
    _enlarge_pipe(process.stdout)
    answers: Queue[bytes | None] = Queue()  # at most one per request
    Thread(target=_drain, args=(process.stdout, answers), daemon=True).start()
    unanswered: deque[ImportCandidate] = deque()
    size = 0
    for each, request in requests:
        _send(process.stdin, encoded.encode(request))
        unanswered.append(each)
        size += each.size
        while size > _READ_AHEAD_BYTES:
            size -= unanswered[0].size
            yield unanswered.popleft(), _next_answer(answers)
    _close_quietly(process.stdin)
    for each in unanswered:
        yield each, _next_answer(answers)


def _enlarge_pipe(stream: IO[bytes] | None) -> None:
    """Enlarge a pipe's buffer, if the system can and the user's limit allows it."""
    if sys.platform == "linux" and stream is not None:
        import fcntl  # noqa: PLC0415 (not on Windows)

        with suppress(OSError):
            fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _next_answer(answers: Queue[bytes | None]) -> PreparedSource | None:
    """Return the next answer; None if the worker has died, perhaps of a file that is too large."""
    answer = answers.get()
    if answer is None:
        answers.put(None)  # for the following requests
        return None
    return _ANSWER.decode(answer)


def _drain(stream: IO[bytes] | None, answers: Queue[bytes | None]) -> None:
    """Read answers as they come, so that a full pipe does not block the worker."""
    while (answer := _receive(stream)) is not None:
        answers.put(answer)
    answers.put(None)


def _close_quietly(stream: IO[bytes] | None) -> None:
    """Close the stream; ignore what a dead process can no longer receive."""
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
        return  # the missing answer reports it


def _receive(stream: IO[bytes] | None) -> bytes | None:
    header = b"" if stream is None else stream.read(8)
    if stream is None or len(header) < 8:  # noqa: PLR2004 (the length of a length)
        return None
    size = int.from_bytes(header, "big")
    data = stream.read(size)
    return data if len(data) == size else None


def _answer(request: _Request, sent: set[bytes]) -> bytes:
    """Answer a request; `sent` are the blobs sent so far, including those of this answer."""
    vault: Any = _CollectingVault(sent)
    compressed.allow(request.max_inflated_mb)
    reports = CrashReports(request.reports) if request.reports else None
    reading = SourceReading(
        vault, request.now, largest_media=request.largest_media, pack_from=0, reports=reports
    )
    try:
        items: list[Any] = [*reading.items(request.candidate)]
        reading.result.problems = dict(plugins.problems)
        answer = encoded.encode(PreparedSource(reading.result, items, vault.blobs))
    except Exception:  # noqa: BLE001 (invalid name, too little memory: the main process reads it)
        return encoded.encode(None)
    sent.update(blob for blob, _, _ in vault.blobs)
    return answer


def main() -> None:
    """Answer requests until the main process closes the stream."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    gc.disable()  # decoded values have no cycles
    sent: set[bytes] = set()
    # sys.stdout may be unbuffered, and then writes only a part if the process is stopped.
    with open(1, "wb", closefd=False) as answers:  # standard output
        while (request := _receive(sys.stdin.buffer)) is not None:
            _send(answers, _answer(_REQUEST.decode(request), sent))


if __name__ == "__main__":
    main()
