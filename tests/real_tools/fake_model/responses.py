"""The OpenAI Responses API."""

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
    PlannedCall,
    Reply,
    Tokens,
    Turn,
    halves,
    numbered_tokens,
)


def parse(body: dict[str, Any]) -> Asked:
    turns: list[Turn] = []
    system = [body.get("instructions") or ""]
    results: dict[str, str] = {}
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    for item in items:
        kind = item.get("type", "message")
        if kind == "message" and item["role"] in ("system", "developer"):
            system.append(text_of(item.get("content")))
        elif kind == "message":
            turns.append(Turn(role=item["role"], text=text_of(item.get("content"))))
        elif kind.endswith("_output"):
            results[item.get("call_id", "")] = text_of(item.get("output"))
            turns.append(Turn(role="tool", results=1))
        elif kind.endswith("_call"):
            turns.append(Turn(role="assistant"))
    wanted = (body.get("text") or {}).get("format") or {}
    schema = wanted.get("schema") if wanted.get("type") == "json_schema" else None
    tools = list(_offered(body.get("tools") or [], None))
    return Asked(turns=turns, tools=tools, system="\n".join(system), schema=schema, results=results)


def _offered(tools: list[dict[str, Any]], namespace: str | None) -> Iterator[OfferedTool]:
    for tool in tools:
        kind = tool.get("type")
        if kind == "function":
            yield OfferedTool(name=tool["name"], schema=tool.get("parameters") or {}, namespace=namespace)
        elif kind == "custom":
            yield OfferedTool(name=tool["name"], schema={}, call_shape="custom", namespace=namespace)
        elif kind == "local_shell":
            yield OfferedTool(name="local_shell", schema={}, call_shape="local_shell")
        elif kind == "namespace":
            yield from _offered(tool.get("tools") or [], tool.get("name"))


def answer(body: dict[str, Any], reply: Reply, number: int) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if body.get("reasoning"):
        summary = [{"type": "summary_text", "text": f"**Thinking** about {number}."}]
        encrypted = f"RkFLRQ{number:04d}=="
        output.append(
            {
                "type": "reasoning",
                "id": f"rs_fake{number:06d}",
                "summary": summary,
                "encrypted_content": encrypted,
            }
        )
    text = {"type": "output_text", "annotations": [], "text": reply.text}
    output.append(
        {
            "type": "message",
            "id": f"msg_fake{number:06d}",
            "status": "completed",
            "role": "assistant",
            "content": [text],
        }
    )
    output += [_call_item(call, f"{number:05d}{at}") for at, call in enumerate(reply.calls)]
    counts = numbered_tokens(number, caches_writes=False)
    prompt = counts.input + counts.cache_read
    return {
        "id": f"resp_fake{number:06d}",
        "object": "response",
        "created_at": 1_800_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": body.get("model"),
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": counts.cache_read},
            "output_tokens": counts.output,
            "output_tokens_details": {"reasoning_tokens": REASONING_TOKENS},
            "total_tokens": prompt + counts.output,
        },
    }


def _call_item(call: PlannedCall, name: str) -> dict[str, Any]:
    item: dict[str, Any] = {"call_id": f"call_fake{name}", "status": "completed"}
    if call.tool.call_shape == "custom":
        given = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        return item | {
            "type": "custom_tool_call",
            "id": f"ctc_fake{name}",
            "name": call.tool.name,
            "input": given,
        }
    if call.tool.call_shape == "local_shell":
        action = {"type": "exec", "command": ["bash", "-lc", call.arguments["command"]], "env": {}}
        return item | {"type": "local_shell_call", "id": f"lsh_fake{name}", "action": action}
    if call.tool.namespace:
        item["namespace"] = call.tool.namespace
    arguments = json.dumps(call.arguments)
    return item | {
        "type": "function_call",
        "id": f"fc_fake{name}",
        "name": call.tool.name,
        "arguments": arguments,
    }


def thinking(response: dict[str, Any]) -> str | None:
    reasoning = (item for item in response["output"] if item["type"] == "reasoning")
    return next((item["summary"][0]["text"] for item in reasoning), None)


def calls(response: dict[str, Any]) -> list[Call]:
    items = [item for item in response["output"] if item["type"].endswith("_call")]
    return [
        Call(call_id=item["call_id"], name=item.get("name", "local_shell"), arguments=_given(item))
        for item in items
    ]


def _given(item: dict[str, Any]) -> Any:
    if item["type"] == "custom_tool_call":
        return item["input"]
    return item["action"] if item["type"] == "local_shell_call" else json.loads(item["arguments"])


def tokens(response: dict[str, Any]) -> Tokens:
    usage = response["usage"]
    cached = usage["input_tokens_details"]["cached_tokens"]
    return Tokens(input=usage["input_tokens"] - cached, output=usage["output_tokens"], cache_read=cached)


def stream(response: dict[str, Any], _body: dict[str, Any]) -> Iterator[Event]:
    for number, (name, fields) in enumerate(_events(response), 1):
        yield name, {"type": name, "sequence_number": number, **fields}


def _events(response: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    started = response | {"status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": started}
    yield "response.in_progress", {"response": started}
    for index, item in enumerate(response["output"]):
        yield "response.output_item.added", {"output_index": index, "item": _unfinished(item)}
        for name, fields in _item_events(item):
            yield name, {"item_id": item["id"], "output_index": index, **fields}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield "response.completed", {"response": response}


def _unfinished(item: dict[str, Any]) -> dict[str, Any]:
    emptied: dict[str, Any] = {
        "content": [],
        "summary": [],
        "arguments": "",
        "input": "",
        "status": "in_progress",
    }
    return {key: emptied.get(key, value) for key, value in item.items()}


def _item_events(item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = item["type"]
    if kind == "reasoning":
        part = item["summary"][0]
        at = {"summary_index": 0}
        yield "response.reasoning_summary_part.added", at | {"part": part | {"text": ""}}
        yield "response.reasoning_summary_text.delta", at | {"delta": part["text"]}
        yield "response.reasoning_summary_text.done", at | {"text": part["text"]}
        yield "response.reasoning_summary_part.done", at | {"part": part}
    elif kind == "message":
        part = item["content"][0]
        at = {"content_index": 0}
        yield "response.content_part.added", at | {"part": part | {"text": ""}}
        for piece in halves(part["text"]):
            yield "response.output_text.delta", at | {"delta": piece}
        yield "response.output_text.done", at | {"text": part["text"]}
        yield "response.content_part.done", at | {"part": part}
    elif kind == "function_call":
        for piece in halves(item["arguments"]):
            yield "response.function_call_arguments.delta", {"delta": piece}
        yield "response.function_call_arguments.done", {"arguments": item["arguments"]}
    elif kind == "custom_tool_call":
        yield "response.custom_tool_call_input.delta", {"delta": item["input"]}
        yield "response.custom_tool_call_input.done", {"input": item["input"]}
