"""What is measured, each in a process of its own: `python bench/tasks.py TASK PATH` prints one JSON object.

Times are CPU seconds of the work alone, without the start of the interpreter. All tasks run with the garbage
collector set as `aj` sets it.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

_BLOCK = 1 << 20


def read(path: Path) -> dict[str, Any]:
    """Read everything at the path into the model."""
    from agent_journal import Conversation, Message, Notes, read  # noqa: PLC0415 (not part of other tasks)

    conversations = messages = 0
    notes = Notes()
    started = time.process_time()
    for item in read(path, note=notes):
        if isinstance(item, Conversation):
            conversations += 1
            messages += sum(isinstance(entry, Message) for entry in item.timeline)
    seconds = time.process_time() - started
    counts = {"conversations": conversations, "messages": messages, "notes": notes.counts.total()}
    return {"seconds": seconds, **counts}


def decode_lines(folder: Path) -> dict[str, Any]:
    """Decode each line of each file with orjson, and do nothing with it."""
    import orjson  # noqa: PLC0415

    files = sorted(folder.rglob("*.jsonl"))
    started = time.process_time()
    for file in files:
        with file.open("rb") as lines:
            for line in lines:
                orjson.loads(line)
    return {"seconds": time.process_time() - started}


def decode_elements(file: Path) -> dict[str, Any]:
    """Decode each element of an array with orjson; finding where they end is not counted."""
    import msgspec  # noqa: PLC0415
    import orjson  # noqa: PLC0415

    elements = [bytes(raw) for raw in msgspec.json.decode(file.read_bytes(), type=list[msgspec.Raw])]
    started = time.process_time()
    for element in elements:
        orjson.loads(element)
    return {"seconds": time.process_time() - started, "largest": max(map(len, elements))}


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


def peak_bytes() -> int:
    """The most memory this process has held."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        import resource  # noqa: PLC0415

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


TASKS = {task.__name__: task for task in (read, decode_lines, decode_elements, copy)}


def main() -> None:
    """Run the task that the command line names."""
    gc.set_threshold(100_000, 50, 100)
    result = TASKS[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps({**result, "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main()
