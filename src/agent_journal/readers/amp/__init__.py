"""Amp: one JSON file per thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.amp.detect import THREAD, version_of
from agent_journal.readers.amp.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="amp",
    title="Amp",
    versions=(THREAD,),
    names={"record": "amp"},
    config_key="amp",
    env=("AJ_AMP_PATH",),
    # The same folder in the home directory on Linux, macOS and Windows.
    homes=("~/.local/share/amp/threads/T-*.json",),
    companions=("*/amp/history.jsonl", "*/amp/session.json"),
    tool_kinds=TOOL_KINDS,
    resume="amp threads continue {id}",
    undercounts="the vendor's servers have all of a thread, the file may lack a part",
    evidence=(
        "two programs that read threads, one of them checked with 172 counts of tokens of four threads, and "
        "two samples; the vendor documents nothing; verified November 2026. The folder on Windows is not "
        "verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim documents with the id of a thread and numbered messages."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is one version)
    """Yield the conversation of a thread."""
    from agent_journal.readers.amp.thread import conversation  # noqa: PLC0415 (only reading needs it)

    yield conversation(source, note, INFO.name)
