"""The OpenAI Chat Completions API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.real_tools.fake_model.anthropic import Event, text_of
from tests.real_tools.fake_model.exchange import (
    REASONING_TOKENS,
    Asked,
    Call,
    OfferedTool,
    Reply,
    Tokens,
    Turn,
    halves,
    numbered_tokens,
)


def parse(body: dict[str, Any]) -> Asked:
    turns, system, results = [], [], {}
    for message in body.get("messages", []):
        text = text_of(message.get("content"))
        if message["role"] in ("system", "developer"):
            system.append(text)
        elif message["role"] in ("tool", "function"):
            results[message.get("tool_call_id", "")] = text
            turns.append(Turn(role="tool", results=1))
        else:
            turns.append(Turn(role=message["role"], text=text))
    tools = [
        OfferedTool(name=tool["function"]["name"], schema=tool["function"].get("parameters") or {})
        for tool in body.get("tools") or []
        if tool.get("type") == "function"
    ]
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    return Asked(turns=turns, tools=tools, system="\n".join(system), schema=schema, results=results)


def answer(body: dict[str, Any], reply: Reply, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text,
        "reasoning_content": f"I think about {number}.",
    }
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_fake{number:05d}{at}",
                "type": "function",
                "function": {"name": call.tool.name, "arguments": json.dumps(call.arguments)},
            }
            for at, call in enumerate(reply.calls)
        ]
    counts = numbered_tokens(number, caches_writes=False)
    prompt = counts.input + counts.cache_read
    return {
        "id": f"chatcmpl-fake{number:06d}",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": body.get("model"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": counts.output,
            "total_tokens": prompt + counts.output,
            "prompt_tokens_details": {"cached_tokens": counts.cache_read},
            "completion_tokens_details": {"reasoning_tokens": REASONING_TOKENS},
        },
    }


def _message(response: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = response["choices"][0]["message"]
    return message


def thinking(response: dict[str, Any]) -> str | None:
    text: str = _message(response)["reasoning_content"]
    return text


def calls(response: dict[str, Any]) -> list[Call]:
    return [
        Call(
            call_id=call["id"],
            name=call["function"]["name"],
            arguments=json.loads(call["function"]["arguments"]),
        )
        for call in _message(response).get("tool_calls") or []
    ]


def tokens(response: dict[str, Any]) -> Tokens:
    usage = response["usage"]
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return Tokens(input=usage["prompt_tokens"] - cached, output=usage["completion_tokens"], cache_read=cached)


def stream(response: dict[str, Any], _body: dict[str, Any]) -> Iterator[Event]:
    base = {key: response[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    message = _message(response)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas.append({"reasoning_content": message["reasoning_content"]})
    deltas += [{"content": piece} for piece in halves(message["content"])]
    for index, call in enumerate(message.get("tool_calls") or []):
        start = call | {"index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
        deltas.append({"tool_calls": [start]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in halves(call["function"]["arguments"])
        ]
    for delta in deltas:
        yield None, base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    ending = {"index": 0, "delta": {}, "finish_reason": response["choices"][0]["finish_reason"]}
    yield None, base | {"choices": [ending]}
    yield None, base | {"choices": [], "usage": response["usage"]}
    yield None, "[DONE]"
