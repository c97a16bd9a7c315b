"""Antigravity, the editor and the command line: one log of steps per conversation.

The conversations themselves are encrypted; the log is what the agent may read of its own past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import Encrypted, Product, ReaderInfo
from agent_journal.readers.antigravity.detect import LOG, version_of
from agent_journal.readers.antigravity.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_TRANSCRIPT = "brain/*/.system_generated/logs/transcript.jsonl"

INFO = ReaderInfo(
    name="antigravity",
    title="Antigravity",
    category="editors",
    products=(
        Product("Antigravity", ("*/.gemini/antigravity/*", "*/.gemini/antigravity-ide/*")),
        Product("Antigravity CLI", ("*/.gemini/antigravity-cli/*",)),
    ),
    versions=(LOG,),
    names={"record": "antigravity"},
    config_key="antigravity",
    env=("AJ_ANTIGRAVITY_PATH",),
    # The same folders on Linux, macOS and Windows.
    homes=(f"~/.gemini/antigravity*/{_TRANSCRIPT}",),
    encrypted=(
        Encrypted(
            "Antigravity",
            "conversation file",
            ("~/.gemini/antigravity*/conversations/*.pb", "~/.gemini/antigravity*/implicit/*.pb"),
        ),
    ),
    tool_kinds=TOOL_KINDS,
    undercounts="the log states no tokens",
    evidence=(
        "samples of four programs that read the logs, of 2026; the vendor documents nothing; verified "
        "November 2026. Results of tools have no ids, they follow their calls in the same order"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim logs by who each step is from."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is one version)
    """Yield the conversation of a log."""
    from agent_journal.readers.antigravity.steps import conversation  # noqa: PLC0415 (only reading needs it)

    yield conversation(source, note, INFO.name)
