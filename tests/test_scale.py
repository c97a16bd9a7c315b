"""Memory follows the largest conversation, not the file."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.test_bad_input import chat

MEGABYTE = 1_000_000
EXPORT_BYTES = 100 * MEGABYTE

READ = """
import sys
from agent_journal.notes import Notes
from agent_journal.conversion.pipeline import read_all
count = sum(1 for _ in read_all([sys.argv[1]], Notes()))
# ru_maxrss would begin with what the parent had when it started us.
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(count, int(peak) * 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize("kind", ["file", "zip"])
def test_memory_of_reading_an_export(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "conversations.json"
    largest, expected = write_export(path)
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(path, path.name)
        path = tmp_path / "export.zip"
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    count, peak = map(int, done.stdout.split())

    assert expected == count
    assert peak <= 60 * MEGABYTE + 4 * largest


def write_export(path: Path) -> tuple[int, int]:
    """The size of the largest conversation, and how many there are."""
    texts = []
    for number in range(20):
        record = chat(number)
        # Not one letter repeated: that would look like a zip bomb.
        words = " ".join(str(number * 7919 + step * 104729) for step in range(20_000 if number == 7 else 800))
        record["mapping"]["n1"]["message"]["content"]["parts"] = [words]
        texts.append(json.dumps(record))
    written = count = 0
    with path.open("w", encoding="utf-8") as out:
        out.write("[")
        while written < EXPORT_BYTES:
            text = texts[count % len(texts)].replace("6a010000", f"{count:08x}")
            out.write(("," if count else "") + text)
            written += len(text) + 1
            count += 1
        out.write("]")
    return max(map(len, texts)), count
