"""Bundles of memories and conversations: of another program, and of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import Notes
from agent_journal.conversion import output, pipeline
from sources.claude_ai import make as make_export
from sources.writing import Scribe, dumped, up_to

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SCHEMA = {"schema": "portable-ai-memory-conversation", "schema_version": "1.0"}
# What programs write into every message, whether it has any or not.
_EMPTY = {"is_thought": False, "attachments": [], "citations": [], "tool_calls": [], "raw_metadata": {}}


def _conversations(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        messages: list[dict[str, Any]] = []
        for turn in range(scribe.random.randrange(4, 24)):
            message = {
                "id": scribe.id(),
                "role": "assistant" if turn % 2 else "user",
                "content": {"type": "text", "text": scribe.answer() if turn % 2 else scribe.prompt()},
                "created_at": scribe.time(),
                "parent_id": messages[-1]["id"] if messages else None,
                "children_ids": [],
                "model": "sonar" if turn % 2 else None,
                **_EMPTY,
            }
            if turn % 4 == 1:
                call = {"id": f"c{turn}", "name": "web_search", "input": {"query": scribe.text(40)}}
                message["tool_calls"] = [{**call, "output": scribe.output()}]
            if messages:
                messages[-1]["children_ids"] = [message["id"]]
            messages.append(message)
        about = {**_SCHEMA, "id": scribe.id(), "provider": {"name": "perplexity"}, "title": scribe.text(30)}
        yield about | {"temporal": {"created_at": scribe.time()}, "messages": messages}


def make_foreign(folder: Path, megabytes: int) -> list[Path]:
    """A bundle of another program."""
    bundle = folder / "bundle"
    (bundle / "conversations").mkdir(parents=True)
    index: list[dict[str, Any]] = []
    for conversation in up_to(megabytes, _conversations(Scribe())):
        path = f"conversations/{conversation['id']}.json"
        (bundle / path).write_text(dumped(conversation), encoding="utf-8")
        about = {name: conversation[name] for name in ("id", "temporal")}
        index.append({**about, "platform": "perplexity", "storage": {"type": "file", "ref": path}})
    store = {"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {"id": "o"}, "memories": []}
    text = dumped({**store, "conversations_index": index})
    (bundle / "memory-store.json").write_text(text, encoding="utf-8")
    return [bundle]


def make_ours(folder: Path, megabytes: int) -> list[Path]:
    """What this program makes of an export, which is about twice as large."""
    (export,) = make_export(folder / "export", megabytes // 2)
    items = pipeline.read_all([str(export)], Notes())
    output.write_items(items, "pam", str(folder / "bundle"), Notes())
    return [folder / "bundle"]


KINDS = {"foreign": make_foreign, "ours": make_ours}
