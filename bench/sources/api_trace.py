"""Recorded traffic: dialogues by each API, each request repeating what was said before it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, dumped, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}


def _dialogue(scribe: Scribe) -> Iterator[tuple[list[dict[str, str]], str]]:
    said: list[dict[str, str]] = []
    for _ in range(scribe.random.randrange(2, 16)):
        said.append({"role": "user", "content": scribe.prompt() if len(said) % 4 else scribe.output()})
        answer = scribe.answer()
        yield [*said], answer
        said.append({"role": "assistant", "content": answer})


def _chat(scribe: Scribe) -> Iterator[tuple[list[dict[str, str]], str]]:
    """A dialogue of messages of half a kilobyte."""
    said: list[dict[str, str]] = []
    for _ in range(scribe.random.randrange(2, 16)):
        said.append({"role": "user", "content": scribe.text(500)})
        answer = scribe.text(500)
        yield [*said], answer
        said.append({"role": "assistant", "content": answer})


def _openai(scribe: Scribe, dialogue: Any = _dialogue) -> Iterator[dict[str, Any]]:
    while True:
        for said, answer in dialogue(scribe):
            message = {"role": "assistant", "content": answer}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            response = {"id": scribe.id(), "object": "chat.completion", "model": "gpt-4o", "choices": choices}
            request = {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}, *said]}
            yield _record(scribe, request, response | {"usage": _USAGE})


def _small(scribe: Scribe) -> Iterator[dict[str, Any]]:
    return _openai(scribe, _chat)


def _streams(scribe: Scribe) -> Iterator[dict[str, Any]]:
    """Answers as the lines that they were streamed in, a few words in each."""
    while True:
        for said, answer in _dialogue(scribe):
            chunk: dict[str, Any] = {"id": scribe.id(), "object": "chat.completion.chunk"}
            chunk |= {"created": 1_777_885_200, "model": "gpt-4o-2024-11-20", "system_fingerprint": "fp_1"}
            deltas: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
            deltas += [{"content": answer[start : start + 6]} for start in range(0, len(answer), 6)]
            choice: dict[str, Any] = {"index": 0, "logprobs": None, "finish_reason": None}
            told = [choice | {"delta": delta} for delta in deltas]
            told.append(choice | {"delta": {}, "finish_reason": "stop"})
            chunks = [chunk | {"choices": [one]} for one in told]
            chunks.append(chunk | {"choices": [], "usage": _USAGE})
            sse_lines = [line for one in chunks for line in (f"data: {dumped(one)}", "")]
            request = {"model": "gpt-4o", "messages": [{"role": "system", "content": "Be brief."}, *said]}
            response = {"stream": True, "sse_lines": [*sse_lines, "data: [DONE]", ""]}
            yield _record(scribe, request | {"stream": True}, response)


def _responses(scribe: Scribe) -> Iterator[dict[str, Any]]:
    """Answers that are items, among them thoughts; all of them are sent again with the next request."""
    usage = {"input_tokens": 100, "output_tokens": 50, "total_tokens": 150}
    while True:
        before: list[dict[str, Any]] = []
        for said, answer in _dialogue(scribe):
            asked = {"role": "user", "content": [{"type": "input_text", "text": said[-1]["content"]}]}
            thought: dict[str, Any] = {"id": f"rs_{scribe.id()}", "type": "reasoning", "summary": []}
            thought["encrypted_content"] = scribe.text(800).replace(" ", "")
            part = {"type": "output_text", "text": answer, "annotations": [], "logprobs": []}
            message: dict[str, Any] = {"id": f"msg_{scribe.id()}", "type": "message", "status": "completed"}
            output = [thought, message | {"role": "assistant", "content": [part]}]
            before.append(asked)
            response: dict[str, Any] = {
                "id": f"resp_{scribe.id()}",
                "object": "response",
                "status": "completed",
            }
            response |= {"model": "gpt-5.4", "output": output, "usage": usage}
            request = {"model": "gpt-5.4", "instructions": "Be brief.", "input": [*before], "store": False}
            yield _record(scribe, request, response)
            before += output


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


KINDS = {
    "openai": partial(_make, _openai),
    "small": partial(_make, _small),
    "streams": partial(_make, _streams),
    "responses": partial(_make, _responses),
    "claude": partial(_make, _claude),
}
