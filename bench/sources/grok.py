"""An export of conversations wrapped with their responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, array

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EMPTY: dict[str, Any] = {
    "manual": False,
    "partial": False,
    "shared": False,
    "query": None,
    "web_search_results": [],
    "cited_web_search_results": [],
    "xpost_ids": [],
    "generated_image_urls": [],
    "image_attachments": [],
    "file_attachments": [],
    "is_control": False,
    "agent_thinking_traces": [],
    "steps": [],
    "error": None,
    "metadata": {"request_metadata": {}},
}


def _conversations(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        key, parent, responses = scribe.id(), None, []
        for turn in range(scribe.random.randrange(4, 24)):
            response = {
                "_id": scribe.id(),
                "conversation_id": key,
                "message": scribe.answer() if turn % 2 else scribe.prompt(),
                "sender": "assistant" if turn % 2 else "human",
                "create_time": {"$date": {"$numberLong": str(scribe.milliseconds())}},
                "parent_response_id": parent,
                "model": "grok-4" if turn % 2 else "",
                "thinking_trace": scribe.some(300, 2000) if turn % 2 else "",
                **_EMPTY,
            }
            parent = response["_id"]
            responses.append({"response": response, "share_link": None})
        about = {"id": key, "user_id": "u", "create_time": scribe.time(), "modify_time": scribe.time()}
        yield {"conversation": about | {"title": scribe.text(30), "starred": False}, "responses": responses}


def make(folder: Path, megabytes: int) -> list[Path]:
    """One file with all of it."""
    around = ('{"conversations":[', '],"projects":[],"tasks":[],"media_posts":[]}')
    return array(folder / "prod-grok-backend.json", megabytes, _conversations(Scribe()), around)


KINDS = {"export": make}
