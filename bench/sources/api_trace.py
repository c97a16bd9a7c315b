"""Recorded traffic: dialogues of both vendors, each request repeating what was said before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _dialogue(scribe: Scribe) -> Iterator[tuple[list[dict[str, str]], str]]:
    said: list[dict[str, str]] = []
    for _ in range(scribe.random.randrange(2, 16)):
        said.append({"role": "user", "content": scribe.prompt() if len(said) % 4 else scribe.output()})
        answer = scribe.answer()
        yield [*said], answer
        said.append({"role": "assistant", "content": answer})


def _openai(scribe: Scribe) -> Iterator[dict[str, Any]]:
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    while True:
        for said, answer in _dialogue(scribe):
            message = {"role": "assistant", "content": answer}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            response = {"id": scribe.id(), "object": "chat.completion", "model": "gpt-4o", "choices": choices}
            request = {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}, *said]}
            yield _record(scribe, request, response | {"usage": usage})


def _claude(scribe: Scribe) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 100, "output_tokens": 50}
    while True:
        for said, answer in _dialogue(scribe):
            content = [{"type": "text", "text": answer}]
            response = {
                "id": scribe.id(),
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
            }
            request = {
                "model": "claude-sonnet-4-5",
                "system": "Be brief.",
                "messages": said,
                "max_tokens": 999,
            }
            yield _record(
                scribe, request, response | {"content": content, "stop_reason": "end_turn", "usage": usage}
            )


def _record(scribe: Scribe, request: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": scribe.id(),
        "timestamp": scribe.time(),
        "duration_ms": 900,
        "request": request,
        "response": response,
    }


def _make(records: Any, folder: Path, megabytes: int) -> list[Path]:
    return lines(folder / "trace.jsonl", megabytes, records(Scribe()))


KINDS = {"openai": partial(_make, _openai), "claude": partial(_make, _claude)}
