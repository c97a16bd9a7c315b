"""ShareGPT, as LLaMA-Factory reads it: a line per branch, `{"conversations": [{"from", "value"}]}`."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Media, Memory, Other
from agent_journal.writers import WriterInfo
from agent_journal.writers._dialogue import (
    arguments_of,
    counted,
    dialogues,
    note_untold,
    output_of,
    said,
    thought,
)
from agent_journal.writers._encode import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Conversation, Item, Tool
    from agent_journal.writers import Run
    from agent_journal.writers._dialogue import Called, Dialogue, Turn

INFO = WriterInfo(
    name="sharegpt",
    title="ShareGPT",
    suffix=".jsonl",
    layout="lines",
    loses=(
        "memories",
        "events",
        "ids of messages and calls, times, models, tokens and cost",
        "titles and everything else about the conversation as a whole but its id and its tools",
        "media",
        "that a tool failed",
        "calls that nothing answered, but for the last, and results that answer no call",
        "citations, and what only the source has a field for",
    ),
    evidence="LLaMA-Factory's description of its data and published data sets, as of November 2026",
)
_FROM = {"user": "human", "system": "system"}


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each branch of each conversation as one line."""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
            continue
        lines = dialogues(item)
        for place, line in enumerate(lines):
            out.write(encode(_line(item, line, f"{item.id}/{place}" if len(lines) > 1 else item.id)))
            out.write(b"\n")
        note_untold(item, lines, run, counted(item, Media, Other))


def _line(conversation: Conversation, dialogue: Dialogue, line_id: str) -> dict[str, Any]:
    """A line; what the system said first stands beside the turns, where trainers look for it."""
    turns = dialogue.turns
    line: dict[str, Any] = {"id": line_id}
    if turns and turns[0].role == "system":
        line["system"] = said(turns[0].said)
        turns = turns[1:]
    if conversation.tools:
        line["tools"] = encode([_tool(tool) for tool in conversation.tools]).decode()
    line["conversations"] = [
        {"from": speaker, "value": value} for turn in turns for speaker, value in _values(turn)
    ]
    return line


def _values(turn: Turn) -> Iterator[tuple[str, str]]:
    text = said(turn.said)
    if turn.role != "assistant":
        if text:
            yield _FROM[turn.role], text
        return
    if thoughts := thought(turn.said):
        text = f"<think>\n{thoughts}\n</think>\n\n{text}"
    if text:
        yield "gpt", text
    if turn.calls:
        calls = [_call(one) for one in turn.calls]
        yield "function_call", encode(calls[0] if len(calls) == 1 else calls).decode()
    outputs = [output_of(one.result) for one in turn.calls if one.result is not None]
    if outputs:
        yield "observation", outputs[0] if len(outputs) == 1 else encode(outputs).decode()


def _call(one: Called) -> dict[str, Any]:
    return {"name": one.call.name, "arguments": msgspec.Raw(arguments_of(one.call).encode())}


def _tool(tool: Tool) -> dict[str, Any]:
    told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {name: value for name, value in told.items() if value is not None}
