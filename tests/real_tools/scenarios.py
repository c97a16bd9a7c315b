"""What a person does with a tool, in each scenario."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from tests.real_tools.sandbox import Sandbox
from tests.real_tools.tool import Scenario, Tool

FIRST = "Look around, please. <<shell: echo OUT-$((6*7))>> <<read: README.md>> <<end: QUOKKA>>"
SECOND = "And now once more. <<shell: echo OUT-$((6*8))>> <<end: POTOROO>>"
DELEGATED = "Let somebody count. <<task: SUB1 | {agent}>> <<end: BILBY>>"
SIDE_BY_SIDE = (
    "Three things at once. <<par>> <<shell: sleep 2; echo SLOW-$((7*7))>> <<shell: echo FAST-$((7*8))>> "
    "<<read: README.md>> <<end: WOYLIE>>"
)
STOPPED = "Take your time. <<shell: echo OUT-$((6*9))>> <<hang>> <<end: DUNNART>>"
PICTURED = "What is in this picture? <<end: KULTARR>>"


def play(scenario: Scenario, tool: Tool, sandbox: Sandbox) -> None:
    """Use the tool as the scenario says."""
    tool.configure(sandbox)
    if scenario == "image":
        assert tool.ask_with_image
        tool.ask_with_image(sandbox, PICTURED, _picture(sandbox.work))
        return
    sandbox.is_to_be_interrupted = scenario == "interrupted"
    tool.ask(sandbox, _first_prompt(scenario, tool))
    if scenario in ("continued", "interrupted"):
        tool.resume(sandbox, SECOND)
    elif scenario == "forked":
        assert tool.fork
        tool.fork(sandbox, SECOND)
    elif scenario == "compacted":
        assert tool.compact
        tool.compact(sandbox)
        tool.resume(sandbox, SECOND)


def _first_prompt(scenario: Scenario, tool: Tool) -> str:
    delegated = DELEGATED.format(agent=tool.subagent_type)
    special = {"subagent": delegated, "parallel": SIDE_BY_SIDE, "interrupted": STOPPED}
    return special.get(scenario, FIRST)


def _picture(folder: Path) -> Path:
    """A PNG of 32 by 32 orange pixels."""
    side = 32
    rows = (b"\0" + b"\xff\x80\x00" * side) * side
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    data = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    path = folder / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + data)
    return path
