"""A rollout that its tool rewrote in place, as `codex migrate-rollouts` does, is still the same session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent_journal.model import Message, tree
from tests.archive.journals import everything, imported, journal

SESSION = "01990000-1111-7222-8333-444444444451"


def line(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-02-10T10:00:{second:02d}.000Z", "type": kind, "payload": payload}


def said(second: int, role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return line(second, "response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def item(second: int, kind: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return line(second, "event_msg", type="item_completed", item={"type": kind, "content": content})


def counted(second: int, output: int) -> dict[str, Any]:
    counts = {"input_tokens": 100, "output_tokens": output, "total_tokens": 100 + output}
    info = {"total_token_usage": counts, "last_token_usage": counts}
    return line(second, "event_msg", type="token_count", info=info)


META = {"id": SESSION, "timestamp": "2026-02-10T10:00:00.000Z", "cwd": "/home/ana"}
LEGACY = [
    line(0, "session_meta", **META),
    said(1, "user", "Bread or cake?"),
    line(1, "event_msg", type="user_message", message="Bread or cake?"),
    said(2, "assistant", "Bread."),
    counted(2, 50),
    line(3, "event_msg", type="thread_rolled_back", num_turns=1),
    said(4, "user", "Cake then."),
    line(4, "event_msg", type="user_message", message="Cake then."),
    said(5, "assistant", "Plum."),
    counted(5, 60),
]
MIGRATED = [
    line(0, "session_meta", **META, session_id=SESSION, history_mode="paginated"),
    line(4, "event_msg", type="task_started", turn_id="rollout-1"),
    said(4, "user", "Cake then."),
    item(4, "UserMessage", "Cake then."),
    item(5, "AgentMessage", "Plum."),
    said(5, "assistant", "Plum."),
    counted(5, 60),
    line(5, "event_msg", type="task_complete", turn_id="rollout-1"),
]


def test_a_migrated_rollout_is_the_same_session(tmp_path: Path) -> None:
    file = tmp_path / f"rollout-2026-02-10T10-00-00-{SESSION}.jsonl"
    with journal(tmp_path / "journal") as archive:
        for lines in (LEGACY, [each | {"ordinal": at} for at, each in enumerate(MIGRATED)]):
            file.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
            imported(archive, file)
        [conversation] = everything(archive.store)
    messages = [entry for entry in conversation.timeline if isinstance(entry, Message)]
    texts = ["Bread or cake?", "Bread.", "Cake then.", "Plum."]
    assert [tree.plain_text(message) for message in messages] == texts
    assert [message.usage.output for message in messages if message.usage] == [50, 60]
