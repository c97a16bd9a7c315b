"""Rollouts: what went to and from the model, and what the interface was told."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, dumped, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _lines(scribe: Scribe) -> Iterator[dict[str, Any]]:
    for kind, payload in _payloads(scribe):
        yield {"timestamp": scribe.time(), "type": kind, "payload": payload}


def _payloads(scribe: Scribe) -> Iterator[tuple[str, dict[str, Any]]]:
    meta = {
        "id": scribe.id(),
        "timestamp": scribe.time(),
        "cwd": "/home/ana/app",
        "originator": "codex_cli_rs",
    }
    yield "session_meta", meta | {"cli_version": "0.98.0", "source": "cli", "model_provider": "openai"}
    yield "turn_context", {"cwd": "/home/ana/app", "model": "gpt-5.2-codex", "effort": "medium"}
    spent = 0
    for turn in count():
        text = scribe.prompt()
        yield "response_item", _message("user", "input_text", text)
        yield "event_msg", {"type": "user_message", "message": text, "images": []}
        for step in range(4):
            thought = scribe.some(120, 800)
            summary = [{"type": "summary_text", "text": thought}]
            yield "event_msg", {"type": "agent_reasoning", "text": thought}
            yield (
                "response_item",
                {"type": "reasoning", "summary": summary, "encrypted_content": scribe.text(600)},
            )
            call = {"call_id": f"call_{turn}_{step}"}
            asked = {
                "type": "function_call",
                "name": "exec_command",
                "arguments": dumped({"cmd": scribe.text(60)}),
            }
            yield "response_item", asked | call
            yield "response_item", {"type": "function_call_output", "output": scribe.output()} | call
            spent += 9000
            total = {"input_tokens": spent, "cached_input_tokens": spent // 2, "output_tokens": spent // 90}
            usage = {
                "total_token_usage": total,
                "last_token_usage": {"input_tokens": 9000, "output_tokens": 100},
            }
            yield "event_msg", {"type": "token_count", "info": usage}
        text = scribe.answer()
        yield "response_item", _message("assistant", "output_text", text)
        yield "event_msg", {"type": "agent_message", "message": text}


def _message(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def make(folder: Path, megabytes: int) -> list[Path]:
    """One long rollout."""
    name = "rollout-2026-03-01T09-00-00-01990000-1111-7222-8333-444444444401.jsonl"
    return lines(folder / name, megabytes, _lines(Scribe()))


KINDS = {"rollout": make}
