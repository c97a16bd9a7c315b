"""The state of an editor: chats as rows of a key-value table."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from sources.writing import MB, Scribe, dumped

if TYPE_CHECKING:
    from pathlib import Path

# What the editor writes into every bubble, mostly empty.
_EMPTY = [
    "approximateLintErrors",
    "lints",
    "codebaseContextChunks",
    "commits",
    "pullRequests",
    "attachedCodeChunks",
    "gitDiffs",
    "images",
    "assistantSuggestedDiffs",
    "interpreterResults",
    "attachedFolders",
    "toolResults",
    "notepads",
    "capabilities",
    "diffHistories",
    "recentLocationsHistory",
    "recentlyViewedFiles",
    "docsReferences",
    "webReferences",
    "humanChanges",
    "consoleLogs",
    "todos",
    "cursorRules",
    "contextPieces",
    "relevantFiles",
    "supportedTools",
    "suggestedCodeBlocks",
    "deletedFiles",
    "symbolLinks",
    "fileLinks",
    "externalLinks",
]


def _bubble(scribe: Scribe, place: int) -> dict[str, Any]:
    bubble: dict[str, Any] = {"bubbleId": scribe.id(), "type": 1 if place % 8 == 0 else 2, "text": ""}
    bubble |= {name: [] for name in _EMPTY}
    bubble |= {
        "createdAt": scribe.time(),
        "tokenCount": {"inputTokens": 90, "outputTokens": 9},
        "isAgentic": True,
        "_v": 3,
    }
    if place % 8 == 0:
        return bubble | {"text": scribe.prompt()}
    if place % 2:
        arguments, result = dumped({"command": scribe.text(80)}), dumped({"output": scribe.output()})
        call = {"tool": 15, "name": "run_terminal_command_v2", "toolCallId": f"toolu_{place}_{scribe.id()}"}
        called = call | {"status": "completed", "rawArgs": arguments, "params": arguments, "result": result}
        return bubble | {"toolFormerData": called, "capabilityType": 15}
    return bubble | {"text": scribe.answer()}


def make(folder: Path, megabytes: int) -> list[Path]:
    """One database."""
    scribe, size, path = Scribe(), 0, folder / "state.vscdb"
    with sqlite3.connect(path) as database:
        for table in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        while size < megabytes * MB:
            chat = scribe.id()
            bubbles = [_bubble(scribe, place) for place in range(scribe.random.randrange(8, 120))]
            order = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
            about = {
                "_v": 16,
                "composerId": chat,
                "name": scribe.text(30),
                "createdAt": scribe.milliseconds(),
            }
            rows = [(f"composerData:{chat}", dumped(about | {"fullConversationHeadersOnly": order}))]
            rows += [(f"bubbleId:{chat}:{bubble['bubbleId']}", dumped(bubble)) for bubble in bubbles]
            database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
            size += sum(len(value) for _, value in rows)
    database.close()
    return [path]


KINDS = {"state": make}
