"""What is measured, each in a process of its own: `python bench/tasks.py TASK PATH` prints one JSON object.

Times are CPU seconds of the work alone, without the start of the interpreter. All tasks run with the garbage
collector set as `aj` sets it.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections import Counter, deque
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.model import Item, Part, Role
    from agent_journal.search.entry import Entry
    from agent_journal.search.lexical import Index

_BLOCK = 1 << 20
# The first pass pays for memory that the process does not have yet.
_PASSES = 3
_RECORDS = 500
_QUERIES = 31
_SAID = 100  # characters of what is taken for a sentence


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
    from agent_journal import Conversation, Message  # noqa: PLC0415 (this task only)
    from agent_journal.conversion import pipeline  # noqa: PLC0415 (this task only)

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
    """Detect the source of each file of bench/mixed.py; names those claimed wrongly or by several readers."""
    from agent_journal import readers  # noqa: PLC0415
    from agent_journal.detection.peek import Peek  # noqa: PLC0415
    from agent_journal.inputs.input import open_input  # noqa: PLC0415

    readers.discover()
    truth = json.loads((folder / "truth.json").read_bytes())
    paths = {name: str(folder / "files" / name) for name in truth}

    def tell() -> dict[str, list[str]]:
        return {
            name: [reader.INFO.name for reader, _ in readers.claims(Peek(open_input(path)))]
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


class _Nowhere:
    """A bundle that stores nothing."""

    def file(self, path: str) -> IO[bytes]:  # noqa: ARG002
        return Path("/dev/null").open("wb")


def write(path: Path, target: str) -> dict[str, Any]:
    """Write everything at the path in a format, to nowhere, each conversation as it comes, four times.

    `seconds` is the writer alone, `bytes` the size of what it was given, as the model's own JSON, and
    `half_bytes` the peak memory after half of all conversations.
    """
    import msgspec  # noqa: PLC0415

    from agent_journal import Notes, read, writers  # noqa: PLC0415
    from agent_journal.conversion.output import new_run  # noqa: PLC0415

    writer, run = writers.get(target), new_run(Notes())

    def write_all() -> dict[str, Any]:
        size, reading = 0, 0.0

        def given() -> Iterator[Item]:
            nonlocal size, reading
            began = time.process_time()
            for item in read(path):
                size += len(msgspec.json.encode(item))
                reading += time.process_time() - began
                yield item
                began = time.process_time()
            reading += time.process_time() - began

        with Path("/dev/null").open("wb") as nowhere:
            started = time.process_time()
            writer.write(given(), _Nowhere() if writer.INFO.layout == "bundle" else nowhere, run)
            seconds = time.process_time() - started - reading
        return {"seconds": seconds, "bytes": size, "half_bytes": peak_bytes()}

    _, half, *rest = (write_all() for _ in range(4))
    return {**half, "seconds": min(each["seconds"] for each in (half, *rest))}


def sign(folder: Path) -> dict[str, Any]:
    """Sign small records with a key made in the folder, and verify each signature."""
    from agent_journal.records.signing import keys, record  # noqa: PLC0415

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
    from agent_journal.conversion.output import new_run  # noqa: PLC0415

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


def index(path: Path) -> dict[str, Any]:
    """Index everything at the path, and look for some of it.

    `seconds` is all that the index costs, `held_up` what of it the caller's own thread does, and `queries` is
    what the median query of each kind takes, in milliseconds.
    """
    from agent_journal.search.lexical import Index  # noqa: PLC0415

    entries = list(_entries(path))
    before = peak_bytes()
    with tempfile.TemporaryDirectory() as folder:
        started, own = time.process_time(), time.thread_time()
        with Index.open(Path(folder) / "words") as words:
            words.add(entries)
            own = time.thread_time() - own
            words.commit(entries[-1].key)
        found = {"seconds": time.process_time() - started, "held_up": own, "held": peak_bytes() - before}
        with Index.open(Path(folder) / "words") as words:
            queries = {kind: _median(words, text) for kind, text in _queries(entries).items()}
        return {**found, **_sizes(entries, Path(folder)), "queries": queries}


def index_plain(path: Path) -> dict[str, Any]:
    """The same texts in an index with one field that knows plain words only, straight from its library."""
    import tantivy  # noqa: PLC0415

    entries = list(_entries(path))
    with tempfile.TemporaryDirectory() as folder:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text")
        plain = tantivy.Index(builder.build(), folder)
        started = time.process_time()
        writer = plain.writer(64_000_000, 1)
        for entry in entries:
            document = tantivy.Document()
            for text in entry.texts:
                document.add_text("text", text)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        return {"seconds": time.process_time() - started, **_sizes(entries, Path(folder))}


def _entries(path: Path) -> Iterator[Entry]:
    """What there is to index."""
    from agent_journal import Conversation, Message, read  # noqa: PLC0415
    from agent_journal.search.entry import Entry  # noqa: PLC0415

    keys = count(1)
    chats = (item for item in read(path) if isinstance(item, Conversation))
    for place, chat in enumerate(chats):
        fixed = (chat.source, chat.cwd or "", "", 0)
        if chat.title:
            yield Entry(next(keys), place, "", *fixed, title=chat.title)
        for message in chat.timeline:
            if isinstance(message, Message):
                yield Entry(next(keys), place, message.role, *fixed, *_texts(message.parts))


def _texts(parts: Sequence[Part]) -> tuple[str, str, str]:
    """The texts, the reasoning and the tool output."""
    from agent_journal import Reasoning, Text, ToolCall, ToolResult  # noqa: PLC0415

    said, thought, done = [], [], []
    for part in parts:
        if isinstance(part, Text):
            said.append(part.text)
        elif isinstance(part, Reasoning):
            thought.append(part.text or "")
        elif isinstance(part, ToolCall):
            done.append(f"{part.name} {part.input}")
        elif isinstance(part, ToolResult):
            output = part.output
            done.append(output if isinstance(output, str) else "\n".join(_texts(output or ())))
    return "\n".join(said), "\n".join(thought), "\n".join(done)


def _queries(entries: list[Entry]) -> dict[str, str]:
    """A query of each kind, made of the words that the texts have."""
    frequent = Counter(
        word for entry in entries[::20] for word in set((entry.tool + entry.output).lower().split())
    )
    plain = [(word, times) for word, times in frequent.most_common() if word.isalpha()]
    common = [word for word, _ in plain]
    rare = next(word for word, times in reversed(plain) if times == 1)
    said = next(entry.text for entry in entries if len(entry.text) > _SAID).split()
    three = " ".join(common[9:12])
    phrase = f'"{" ".join(said[2:5])}"'
    return {"rare": rare, "common": common[0], "three": three, "phrase": phrase, "prefix": f"{rare[:4]}*"}


def _median(words: Index, text: str) -> float:
    from agent_journal.search.query import parse  # noqa: PLC0415

    times = []
    for _ in range(_QUERIES):
        started = time.thread_time()
        words.search(parse(text), limit=20)
        times.append(time.thread_time() - started)
    return sorted(times)[_QUERIES // 2] * 1000


def _sizes(entries: list[Entry], folder: Path) -> dict[str, int]:
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {"characters": sum(len(text) for entry in entries for text in entry.texts), "size": size}


def peak_bytes() -> int:
    """The most memory this process has held."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        import resource  # noqa: PLC0415

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


_ALL = (read, decode_lines, decode_elements, copy, identify, write, sign, index, index_plain)
TASKS: dict[str, Callable[..., dict[str, Any]]] = {task.__name__: task for task in _ALL}


def main() -> None:
    """Run the task that the command line names."""
    gc.disable()
    result = TASKS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
    print(json.dumps({"peak_bytes": peak_bytes(), **result}))


if __name__ == "__main__":
    main()
