"""What is measured, each in a process of its own: `python bench/tasks.py TASK PATH` prints one JSON object.

Times are CPU seconds of the work alone, without the start of the interpreter. All tasks run with the garbage
collector set as `aj` sets it.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import deque
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Role

_BLOCK = 1 << 20
# The first pass pays for memory that the process does not have yet.
_PASSES = 3
_RECORDS = 500


def read(path: Path) -> dict[str, Any]:
    """Read everything at the path into the model: what its readers do, and all of it.

    `seconds` is the readers alone. `whole_seconds` has also finding, telling and hashing every file.
    """
    from agent_journal import Notes, read, readers  # noqa: PLC0415 (this task only)

    readers.discover()  # importing them is part of the start, which is measured by itself
    notes = Notes()
    passes = [_read_units(path, notes) for _ in range(_PASSES)]
    peak = peak_bytes()
    whole = min(_timed(lambda: deque(read(path), 0)) for _ in range(_PASSES))
    return {**min(passes, key=itemgetter("seconds")), "whole_seconds": whole, "peak_bytes": peak}


def _read_units(path: Path, notes: Any) -> dict[str, Any]:
    from agent_journal import Conversation, Message, pipeline  # noqa: PLC0415 (this task only)

    conversations = messages = 0
    seconds = 0.0
    for unit in pipeline.units(str(path), notes):
        started = time.process_time()
        for item in unit.reader.read(unit.source, unit.version, notes):
            if item.__class__ is Conversation:
                conversations += 1
                messages += [entry.__class__ for entry in item.timeline].count(Message)
        seconds += time.process_time() - started
    counts = {"conversations": conversations, "messages": messages, "notes": notes.counts.total()}
    return {"seconds": seconds, **counts}


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def decode_lines(folder: Path) -> dict[str, Any]:
    """Decode each line of each file with orjson, and do nothing with it."""
    import orjson  # noqa: PLC0415

    files = sorted(folder.rglob("*.jsonl"))

    def decode() -> None:
        for file in files:
            with file.open("rb") as lines:
                for line in lines:
                    orjson.loads(line)

    return {"seconds": min(_timed(decode) for _ in range(_PASSES))}


def decode_elements(file: Path) -> dict[str, Any]:
    """Read a file and decode each element of its array with orjson; finding where they end is not counted."""
    import msgspec  # noqa: PLC0415
    import orjson  # noqa: PLC0415

    sizes = [len(raw) for raw in msgspec.json.decode(file.read_bytes(), type=list[msgspec.Raw])]
    places = _places(file, sizes)

    def decode() -> None:
        whole = memoryview(file.read_bytes())
        for start, size in places:
            orjson.loads(whole[start : start + size])

    seconds = min(_timed(decode) for _ in range(_PASSES))
    return {"seconds": seconds, "largest": max(sizes)}


def _places(file: Path, sizes: list[int]) -> list[tuple[int, int]]:
    """Start and size of each element, between which there are a comma and white space."""
    data, start, found = file.read_bytes(), 0, []
    for size in sizes:
        start = data.index(b"{", start)
        found.append((start, size))
        start += size
    return found


def copy(folder: Path) -> dict[str, Any]:
    """Read every byte of each file and write it to nowhere."""
    started = time.process_time()
    with Path("/dev/null").open("wb") as nowhere:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                with file.open("rb", buffering=0) as stream:
                    while block := stream.read(_BLOCK):
                        nowhere.write(block)
    return {"seconds": time.process_time() - started}


def identify(folder: Path) -> dict[str, Any]:
    """Tell what each file of bench/mixed.py is; what is claimed wrongly, or by several, is named."""
    from agent_journal import readers  # noqa: PLC0415
    from agent_journal.peek import Peek  # noqa: PLC0415
    from agent_journal.source import open_source  # noqa: PLC0415

    readers.discover()
    truth = json.loads((folder / "truth.json").read_bytes())
    paths = {name: str(folder / "files" / name) for name in truth}

    def tell() -> dict[str, list[str]]:
        return {
            name: [reader.INFO.name for reader, _ in readers.claims(Peek(open_source(path)))]
            for name, path in paths.items()
        }

    claims = tell()
    seconds = min(_timed(tell) for _ in range(_PASSES))
    wrong = [
        f"{name}: {' and '.join(claims[name]) or 'nobody'} instead of {owner or 'nobody'}"
        for name, (owner, is_alone) in truth.items()
        if claims[name] != ([owner] if owner else []) and (claims[name] or is_alone)
    ]
    told = sum(map(bool, claims.values()))
    return {"seconds": seconds, "files": len(truth), "told": told, "wrong": wrong}


def write(path: Path, target: str) -> dict[str, Any]:
    """Write everything at the path in a format, to nowhere, each conversation as it comes, four times.

    `seconds` is the writer alone, `bytes` the size of what it was given, as the model's own JSON, and
    `half_bytes` the peak memory after half of all conversations.
    """
    import msgspec  # noqa: PLC0415

    from agent_journal import Notes, read, writers  # noqa: PLC0415
    from agent_journal.output import new_run  # noqa: PLC0415

    writer, run = writers.get(target), new_run(Notes())

    def write_all() -> dict[str, Any]:
        size, seconds = 0, 0.0
        with Path("/dev/null").open("wb") as nowhere:
            for item in read(path):
                size += len(msgspec.json.encode(item))
                started = time.process_time()
                writer.write([item], nowhere, run)
                seconds += time.process_time() - started
        return {"seconds": seconds, "bytes": size, "half_bytes": peak_bytes()}

    _, half, *rest = (write_all() for _ in range(4))
    return {**half, "seconds": min(each["seconds"] for each in (half, *rest))}


def sign(folder: Path) -> dict[str, Any]:
    """Sign small records with a key made in the folder, and verify each signature."""
    from agent_journal.signing import keys, record  # noqa: PLC0415

    private, public = keys.generate(folder)
    key, their = keys.private_key(private), keys.public_key(public)
    payloads = _small_records(_RECORDS)
    signatures: list[bytes] = []

    def sign_all() -> None:
        signatures[:] = [record.sign(each, key, issuer="bench", signed_at=1_770_000_000) for each in payloads]

    def verify_all() -> None:
        for signature, payload in zip(signatures, payloads, strict=True):
            verdict = record.verify(signature, payload, their)
            if not verdict.valid:
                raise SystemExit(verdict.reason)

    signing, verifying = (min(_timed(work) for _ in range(_PASSES)) for work in (sign_all, verify_all))
    size = sum(map(len, payloads)) // len(payloads)
    return {"seconds": signing, "verify_seconds": verifying, "records": len(payloads), "size": size}


def _small_records(count: int) -> list[bytes]:
    import io  # noqa: PLC0415

    from agent_journal import Conversation, Message, Notes, Text, writers  # noqa: PLC0415
    from agent_journal.output import new_run  # noqa: PLC0415

    words = "Whether the kettle boils depends on the pressure of the air around it. " * 3
    roles: tuple[Role, ...] = ("user", "assistant", "user", "assistant")
    chats = (
        Conversation(
            id=f"record-{number}",
            source="made-up",
            started_at="2026-03-01T10:00:00Z",
            timeline=[
                Message(id=str(place), role=role, at="2026-03-01T10:00:00Z", parts=[Text(text=words)])
                for place, role in enumerate(roles)
            ],
        )
        for number in range(count)
    )
    out = io.BytesIO()
    writers.get("agent-record").write(chats, out, new_run(Notes()))
    return out.getvalue().splitlines()


def peak_bytes() -> int:
    """The most memory this process has held."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        import resource  # noqa: PLC0415

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    task.__name__: task for task in (read, decode_lines, decode_elements, copy, identify, write, sign)
}


def main() -> None:
    """Run the task that the command line names."""
    gc.disable()
    result = TASKS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
    print(json.dumps({"peak_bytes": peak_bytes(), **result}))


if __name__ == "__main__":
    main()
