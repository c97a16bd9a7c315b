"""Splits an answer: thinking in tags, texts, and calls of tools, which the model writes into its text.

A call is a line `@tool(id): {JSON}`, a block of code whose language is a tool, or a tag in `<tool-use>`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.model import Reasoning, Text, ToolCall
from agent_journal.notes import Notes
from agent_journal.readers.gptme.names import EVERY_TOOL, TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.model import Part

_TOOLS = "|".join(map(re.escape, EVERY_TOOL))
_PIECE = re.compile(
    r"<(?P<tag>think|thinking)>\n?(?P<thinking>.*?)\n?</(?P=tag)>"
    r"|^@(?P<name>[\w.-]+)\((?P<id>[^)\n]*)\):[ ]?(?P<json>\{.*?\})[ ]*(?=\n|\Z)"
    rf"|^```(?P<tool>{_TOOLS})(?P<args>[^\n`]*)\n(?P<code>.*?)^```[ ]*$"
    rf"|<tool-use>\s*<(?P<xml>{_TOOLS})(?P<attributes>[^>]*)>\n?(?P<body>.*?)\n?</(?P=xml)>\s*</tool-use>",
    re.DOTALL | re.MULTILINE,
)


def split_answer(text: str, place: str, *, has_results: bool) -> list[Part]:
    """Return the parts of an answer; blocks of code are calls only if results follow."""
    parts: list[Part] = []
    end = 0
    for match in _PIECE.finditer(text):
        part = _part(match, f"{place}.{len(parts)}", has_results=has_results)
        if part is None:
            continue
        if before := text[end : match.start()].strip("\n"):
            parts.append(Text(text=before))
        parts.append(part)
        end = match.end()
    if (rest := text[end:].strip("\n")) or not parts:
        parts.append(Text(text=rest))
    return parts


def _part(match: re.Match[str], call_id: str, *, has_results: bool) -> Part | None:
    if match["tag"]:
        return Reasoning(text=match["thinking"])
    if match["name"]:
        given = json_stream.decode(match["json"].encode("utf-8", "replace"), Notes(keep=0), "")
        value = match["json"] if given is json_stream.BAD else given
        name = match["name"]
        return ToolCall(name=name, call_id=match["id"] or call_id, input=value, kind=TOOL_KINDS.get(name))
    if not has_results:
        return None
    name = match["tool"] or match["xml"]
    args, code = (match["args"], match["code"]) if match["tool"] else (match["attributes"], match["body"])
    value = {"code": code} | ({"args": args.strip()} if args.strip() else {})
    return ToolCall(name=name, call_id=call_id, input=value, kind=TOOL_KINDS.get(name))
