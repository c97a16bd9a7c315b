"""An export of conversations with content blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, array

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ROOT = "00000000-0000-4000-8000-000000000000"


def _block(scribe: Scribe, **more: Any) -> dict[str, Any]:
    at = scribe.time()
    return {"start_timestamp": at, "stop_timestamp": at, "flags": None, **more}


def _blocks(scribe: Scribe, text: str) -> list[dict[str, Any]]:
    call = f"toolu_{scribe.random.getrandbits(60)}"
    return [
        _block(scribe, type="thinking", thinking=scribe.some(300, 3000), summaries=[], cut_off=False),
        _block(
            scribe,
            type="tool_use",
            id=call,
            name="web_search",
            input={"query": scribe.text(40)},
            message=None,
        ),
        _block(
            scribe,
            type="tool_result",
            tool_use_id=call,
            name="web_search",
            content=[{"type": "text", "text": scribe.output()}],
            is_error=False,
        ),
        _block(scribe, type="text", text=text, citations=[]),
    ]


def _conversations(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        messages: list[dict[str, Any]] = []
        for turn in range(scribe.random.randrange(4, 24)):
            text = scribe.answer() if turn % 2 else scribe.prompt()
            plain = [_block(scribe, type="text", text=text, citations=[])]
            messages.append(
                {
                    "uuid": scribe.id(),
                    "text": text,
                    "content": _blocks(scribe, text) if turn % 4 == 1 else plain,
                    "sender": "assistant" if turn % 2 else "human",
                    "created_at": scribe.time(),
                    "updated_at": scribe.time(0),
                    "attachments": [],
                    "files": [],
                    "parent_message_uuid": messages[-1]["uuid"] if messages else _ROOT,
                }
            )
        about = {"uuid": scribe.id(), "name": scribe.text(30), "summary": "", "account": {"uuid": _ROOT}}
        yield about | {"created_at": scribe.time(), "updated_at": scribe.time(), "chat_messages": messages}


def make(folder: Path, megabytes: int) -> list[Path]:
    """One file with all conversations."""
    return array(folder / "conversations.json", megabytes, _conversations(Scribe()))


KINDS = {"export": make}
