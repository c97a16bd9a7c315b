"""The Anthropic Messages API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.real_tools.fake_model.exchange import (
    Asked,
    Call,
    OfferedTool,
    Reply,
    Tokens,
    Turn,
    halves,
    numbered_tokens,
)

Event = tuple[str | None, Any]


def parse(body: dict[str, Any]) -> Asked:
    results: dict[str, str] = {}
    turns = [_turn(message, results) for message in body.get("messages", [])]
    system = body.get("system") or ""
    if isinstance(system, list):
        system = "\n".join(block.get("text", "") for block in system)
    tools = [
        OfferedTool(name=tool["name"], schema=tool.get("input_schema") or {})
        for tool in body.get("tools") or []
        if "name" in tool
    ]
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return Asked(turns=turns, tools=tools, system=system, schema=wanted.get("schema"), results=results)


def _turn(message: dict[str, Any], results: dict[str, str]) -> Turn:
    content = message.get("content")
    if isinstance(content, str):
        return Turn(role=message["role"], text=content)
    texts = []
    count = 0
    for block in content or []:
        if block.get("type") == "text":
            texts.append(block["text"])
        elif block.get("type") == "tool_result":
            count += 1
            results[block["tool_use_id"]] = text_of(block.get("content"))
    return Turn(role=message["role"], text="\n".join(texts), results=count)


def text_of(content: Any) -> str:
    """The text of a string, or of the text blocks in a list."""
    if isinstance(content, list):
        return "\n".join(block.get("text") or "" for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""


def answer(body: dict[str, Any], reply: Reply, number: int) -> dict[str, Any]:
    tokens = numbered_tokens(number, caches_writes=True)
    content: list[dict[str, Any]] = []
    if (body.get("thinking") or {}).get("type") in ("enabled", "adaptive"):
        content.append(
            {"type": "thinking", "thinking": f"I think about {number}.", "signature": f"RmFrZQ{number:03d}=="}
        )
    content.append({"type": "text", "text": reply.text})
    content += [
        {
            "type": "tool_use",
            "id": f"toolu_fake{number:05d}{at}",
            "name": call.tool.name,
            "input": call.arguments,
        }
        for at, call in enumerate(reply.calls)
    ]
    return {
        "id": f"msg_fake{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens.input,
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": tokens.cache_write,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": tokens.output,
            "service_tier": "standard",
        },
    }


def thinking(response: dict[str, Any]) -> str | None:
    return next((block["thinking"] for block in response["content"] if block["type"] == "thinking"), None)


def calls(response: dict[str, Any]) -> list[Call]:
    return [
        Call(call_id=block["id"], name=block["name"], arguments=block["input"])
        for block in response["content"]
        if block["type"] == "tool_use"
    ]


def tokens(response: dict[str, Any]) -> Tokens:
    usage = response["usage"]
    return Tokens(
        input=usage["input_tokens"],
        output=usage["output_tokens"],
        cache_read=usage["cache_read_input_tokens"],
        cache_write=usage["cache_creation_input_tokens"],
    )


def stream(response: dict[str, Any], _body: dict[str, Any]) -> Iterator[Event]:
    usage = response["usage"] | {"output_tokens": 1}
    yield _event("message_start", message=response | {"content": [], "stop_reason": None, "usage": usage})
    for index, block in enumerate(response["content"]):
        yield _event("content_block_start", index=index, content_block=_empty(block))
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": response["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage=response["usage"])
    yield _event("message_stop")


def _event(name: str, **fields: Any) -> Event:
    return name, {"type": name, **fields}


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    emptied = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {key: emptied.get(key, value) for key, value in block.items()}


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        yield from ({"type": "text_delta", "text": piece} for piece in halves(block["text"]))
    elif block["type"] == "thinking":
        yield {"type": "thinking_delta", "thinking": block["thinking"]}
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        pieces = halves(json.dumps(block["input"]))
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
