"""A conversation of another tool as lines of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import ids
from agent_journal.writers.dialects.agent_sessions import branch_of, entry_uuid, texts_of
from agent_journal.writers.dialects.anthropic_content import blocks_of, call_block, content_of, result_block

if TYPE_CHECKING:
    from agent_journal.model import Conversation
    from agent_journal.writers import Run
    from agent_journal.writers.dialects.agent_sessions import Branch, Turn

_VERSION = "2.1.0"
"""Lines need the version of the tool that wrote them; this is one that writes the same lines."""
_Record = dict[str, Any]


def session_lines(conversation: Conversation, session: str, run: Run) -> tuple[Branch, list[_Record]]:
    """Return the current branch of a conversation, and the lines of it."""
    branch = branch_of(conversation, run.started_at)
    envelope = {
        "isSidechain": False,
        "userType": "external",
        "cwd": conversation.cwd or "",
        "sessionId": session,
        "version": _VERSION,
        "gitBranch": conversation.git_branch or "",
    }
    lines = _Lines(session, envelope)
    for turn in branch.turns:
        lines.add(turn)
    if conversation.title:
        title = {"type": "custom-title", "customTitle": conversation.title, "sessionId": session}
        lines.records.append(title)
    return branch, lines.records


class _Lines:
    """The lines of a session, each the child of the one before."""

    def __init__(self, session: str, envelope: _Record) -> None:
        self.records: list[_Record] = []
        self._session = session
        self._envelope = envelope
        self._last: str | None = None

    def add(self, turn: Turn) -> None:
        """Add a turn, and the results of its calls."""
        if turn.role == "system":
            self._append(
                "system", turn.id, turn.at, subtype="informational", content="\n\n".join(texts_of(turn.parts))
            )
        elif turn.role == "assistant":
            self._add_answer(turn)
        else:
            # With the source stated, tags that a person has quoted are not taken for the app's own.
            more: _Record = {"isMeta": True} if turn.is_hidden else {"promptSource": "typed"}
            message = {"role": "user", "content": content_of(turn.parts)}
            self._append("user", turn.id, turn.at, message=message, **more)

    def _add_answer(self, turn: Turn) -> None:
        blocks = [*blocks_of(turn.parts), *map(call_block, turn.calls)]
        if not blocks:
            return
        response = ids.made(self._session, turn.id).replace("-", "")
        message = {
            "id": f"msg_{response[:24]}",
            "type": "message",
            "role": "assistant",
            "model": turn.model or "unknown",
            "content": blocks,
            "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None,
        }
        answer = self._append("assistant", turn.id, turn.at, message=message)
        for call in turn.calls:
            content = {"role": "user", "content": [result_block(call)]}
            at = call.result_at or turn.at
            place = f"{call.result_message or turn.id}-{call.id}"
            self._append("user", place, at, message=content, sourceToolAssistantUUID=answer)

    def _append(self, kind: str, name: str, at: str, **fields: Any) -> str:
        uuid = entry_uuid(self._session, name)
        record = {"parentUuid": self._last, **self._envelope, "type": kind, **fields}
        self.records.append(record | {"uuid": uuid, "timestamp": at})
        self._last = uuid
        return uuid
