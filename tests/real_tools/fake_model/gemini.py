"""The Gemini API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.real_tools.fake_model.anthropic import Event
from tests.real_tools.fake_model.exchange import (
    REASONING_TOKENS,
    Asked,
    Call,
    OfferedTool,
    Reply,
    Tokens,
    Turn,
    numbered_tokens,
)


def parse(body: dict[str, Any]) -> Asked:
    results: dict[str, str] = {}
    turns = [_turn(content, results) for content in body.get("contents", [])]
    system = body.get("systemInstruction") or {}
    if isinstance(system, dict):
        system = "\n".join(part.get("text", "") for part in system.get("parts") or [])
    tools = [
        OfferedTool(
            name=each["name"], schema=each.get("parametersJsonSchema") or each.get("parameters") or {}
        )
        for tool in body.get("tools") or []
        for each in tool.get("functionDeclarations") or []
    ]
    wanted = body.get("generationConfig") or {}
    schema = wanted.get("responseJsonSchema") or wanted.get("responseSchema")
    return Asked(turns=turns, tools=tools, system=system, schema=schema, results=results)


def _turn(content: dict[str, Any], results: dict[str, str]) -> Turn:
    texts, count = [], 0
    for part in content.get("parts") or []:
        if "functionResponse" in part:
            count += 1
            response = part["functionResponse"]
            results[response.get("id", "")] = _result_text(response.get("response"))
        elif "text" in part and not part.get("thought"):
            texts.append(part["text"])
    role = "assistant" if content.get("role") == "model" else "user"
    return Turn(role=role, text="\n".join(texts), results=count)


def _result_text(response: Any) -> str:
    if isinstance(response, dict) and len(response) == 1:
        response = next(iter(response.values()))
    return response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)


def answer(body: dict[str, Any], reply: Reply, number: int) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    config = body.get("generationConfig") or {}
    if (config.get("thinkingConfig") or {}).get("includeThoughts"):
        parts.append({"text": f"**Thinking** I think about {number}.", "thought": True})
    parts.append({"text": reply.text})
    parts += [
        {
            "functionCall": {
                "name": call.tool.name,
                "args": call.arguments,
                "id": f"fc_fake{number:05d}{at}",
            },
            "thoughtSignature": "RkFLRVNJRw==",
        }
        for at, call in enumerate(reply.calls)
    ]
    counts = numbered_tokens(number, caches_writes=False)
    prompt = counts.input + counts.cache_read
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": counts.output - REASONING_TOKENS,
            "thoughtsTokenCount": REASONING_TOKENS,
            "cachedContentTokenCount": counts.cache_read,
            "totalTokenCount": prompt + counts.output,
        },
        "modelVersion": body["model"],
        "responseId": f"fakeresp{number:06d}",
    }


def _parts(response: dict[str, Any]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = response["candidates"][0]["content"]["parts"]
    return parts


def thinking(response: dict[str, Any]) -> str | None:
    return next((part["text"] for part in _parts(response) if part.get("thought")), None)


def calls(response: dict[str, Any]) -> list[Call]:
    made = [part["functionCall"] for part in _parts(response) if "functionCall" in part]
    return [Call(call_id=call["id"], name=call["name"], arguments=call["args"]) for call in made]


def tokens(response: dict[str, Any]) -> Tokens:
    usage = response["usageMetadata"]
    return Tokens(
        input=usage["promptTokenCount"] - usage["cachedContentTokenCount"],
        output=usage["candidatesTokenCount"] + usage["thoughtsTokenCount"],
        cache_read=usage["cachedContentTokenCount"],
    )


def stream(response: dict[str, Any], _body: dict[str, Any]) -> Iterator[Event]:
    parts = _parts(response)
    usage = response["usageMetadata"]
    early = {"promptTokenCount": usage["promptTokenCount"], "totalTokenCount": usage["promptTokenCount"]}
    for at, part in enumerate(parts, 1):
        is_last = at == len(parts)
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if is_last:
            candidate["finishReason"] = "STOP"
        base = {key: response[key] for key in ("modelVersion", "responseId")}
        yield None, base | {"candidates": [candidate], "usageMetadata": usage if is_last else early}
