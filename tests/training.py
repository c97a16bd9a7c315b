"""What the formats of those who train models demand, as their validators check it."""

from __future__ import annotations

import importlib
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from agent_journal.model import Message


def openai_errors(data: bytes) -> list[str]:
    """What OpenAI's fine-tuning refuses."""
    return [
        f"line {number}: {error}"
        for number, line in enumerate(data.split(b"\n")[:-1], 1)
        for error in _openai_line(json.loads(line))
    ]


def _openai_line(line: dict[str, Any]) -> Iterator[str]:
    if not set(line) <= {"messages", "tools"}:
        yield "unknown key"
    if all(message["role"] != "assistant" for message in line["messages"]):
        yield "nothing to be learned"
    waiting: set[str] = set()
    for message in line["messages"]:
        yield from _openai_message(message)
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield "a tool answers what nobody called"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            yield "a call is not answered before the next message"
        waiting = {call["id"] for call in message.get("tool_calls", ())}
    for tool in line.get("tools", ()):
        if tool["type"] != "function" or not isinstance(tool["function"]["name"], str):
            yield "a tool has no name"


def _openai_message(message: dict[str, Any]) -> Iterator[str]:
    content = message["content"]
    match message["role"]:
        case "system" | "tool":
            good = isinstance(content, str)
        case "user":
            good = bool(content) and (isinstance(content, str) or all(map(_is_content, content)))
        case "assistant":
            good = (
                bool(content) if "tool_calls" not in message else content is None or isinstance(content, str)
            )
        case _:
            good = False
    if not good:
        yield f"content of {message['role']}"
    calls = message.get("tool_calls", [])
    for call in calls:
        if call["type"] != "function" or not isinstance(json.loads(call["function"]["arguments"]), object):
            yield "a call without arguments"
    if len({call["id"] for call in calls}) < len(calls):
        yield "two calls of one id"


def _is_content(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) or isinstance(part.get("image_url", {}).get("url"), str)


def sharegpt_errors(data: bytes) -> list[str]:
    """What LLaMA-Factory refuses."""
    return [
        f"line {number}: {error}"
        for number, line in enumerate(data.split(b"\n")[:-1], 1)
        for error in _sharegpt_line(json.loads(line))
    ]


def _sharegpt_line(line: dict[str, Any]) -> Iterator[str]:
    if not {"id", "conversations"} <= set(line) <= {"id", "conversations", "system", "tools"}:
        yield "keys"
    json.loads(line.get("tools", "[]"))
    turns = line["conversations"]
    if not turns:
        yield "nothing to be learned"
    speakers = [turn["from"] for turn in turns]
    if len(turns) % 2:
        yield "nobody answers at the end"
    for place, speaker in enumerate(speakers):
        if speaker not in (("human", "observation"), ("gpt", "function_call"))[place % 2]:
            yield f"it is not the turn of {speaker}"
        if speaker == "observation" and (not place or speakers[place - 1] != "function_call"):
            yield "an observation of nothing"
    for turn in turns:
        if not isinstance(turn["value"], str):
            yield "no text"
        if turn["from"] == "function_call":
            calls = sharegpt_calls(turn["value"])
            if not all({"name", "arguments"} == set(one) for one in calls):
                yield "no call"


def sharegpt_calls(value: str) -> list[Any]:
    """The calls of a turn as LLaMA-Factory finds them: between marks, or behind what was thought."""
    marked = re.search("<tool_call>(.*?)</tool_call>", value, re.DOTALL)
    calls = json.loads(
        marked[1] if marked else re.sub("<think>.*?</think>", "", value, count=1, flags=re.DOTALL)
    )
    return calls if isinstance(calls, list) else [calls]


def parquet_rows(data: bytes) -> bytes:
    """The columns and rows of a table as lines: its bytes differ between versions of the library."""
    table = _parquet().read_table(io.BytesIO(data), use_threads=False)
    columns = {field.name: str(field.type) for field in table.schema}
    lines = [columns, *table.to_pylist()]
    return b"".join(json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n" for line in lines)


def parquet_errors(data: bytes) -> list[str]:
    """Whether the library reads back a row for each message, as it was."""
    rows = _parquet().read_table(io.BytesIO(data), use_threads=False).to_pylist()
    messages = [msgspec.json.decode(row["json"], type=Message) for row in rows]
    return [
        f"row {number} is not its message"
        for number, (row, message) in enumerate(zip(rows, messages, strict=True))
        if (row["message_id"], row["role"], row["model"]) != (message.id, message.role, message.model)
    ]


def _parquet() -> Any:
    return importlib.import_module("pyarrow.parquet")
