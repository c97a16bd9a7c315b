"""A conversation of another tool as records of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.model import Media
from agent_journal.writers.dialects.agent_sessions import entry_uuid, is_inline_image, texts_of
from agent_journal.writers.dialects.training_dialogue import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Part
    from agent_journal.writers.dialects.agent_sessions import Branch, Call, Turn

Record: TypeAlias = dict[str, Any]
_VERSION = "0.24.4"
"""Records need the version of the tool that wrote them; this is one that writes the same records."""


def lines(conversation: Conversation, session: str, branch: Branch) -> Iterator[Record]:
    """Yield the records of a session; none if there is nothing to say."""
    turns = [turn for turn in branch.turns if turn.role != "system"]
    if not turns:
        return
    envelope: Record = {"cwd": conversation.cwd or "", "version": _VERSION}
    if conversation.git_branch:
        envelope["gitBranch"] = conversation.git_branch
    last: str | None = None
    for turn in turns:
        for name, at, record in _records(turn):
            uuid = entry_uuid(session, name)
            known = {"uuid": uuid, "parentUuid": last, "sessionId": session, "timestamp": at}
            yield {**known, "type": record["type"], **envelope, **record}
            last = uuid
    if conversation.title:
        title = {"type": "system", "subtype": "custom_title"}
        known = {"uuid": entry_uuid(session, "title"), "parentUuid": last, "sessionId": session}
        payload = {"customTitle": conversation.title, "titleSource": "manual"}
        yield {**known, "timestamp": turns[-1].at, **title, **envelope, "systemPayload": payload}


def _records(turn: Turn) -> Iterator[tuple[str, str, Record]]:
    """Yield the name, time and record of a turn, and of the result of each call."""
    if turn.role == "assistant":
        text = "\n\n".join(texts_of(turn.parts))
        parts: list[Record] = [{"text": text}] if text else []
        parts += [
            {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
            for call in turn.calls
        ]
        message = {"role": "model", "parts": parts}
        yield turn.id, turn.at, {"type": "assistant", "model": turn.model or "unknown", "message": message}
    else:
        source = "system" if turn.is_hidden else "real_user"
        message = {"role": "user", "parts": [*contents(turn.parts)]}
        yield turn.id, turn.at, {"type": "user", "provenance": source, "message": message}
    for call in turn.calls:
        yield f"{call.result_message or turn.id}-{call.id}", call.result_at or turn.at, _result(call)


def contents(parts: Sequence[Part]) -> Iterator[Record]:
    """Yield texts and images as parts of content."""
    for part in parts:
        if isinstance(part, Media) and is_inline_image(part):
            yield {"inlineData": {"mimeType": part.mime or "image/png", "data": part.data}}
        elif text := text_of(part):
            yield {"text": text}


def _result(call: Call) -> Record:
    key = "error" if call.is_failed else "output"
    response: Record = {"id": call.id, "name": call.name, "response": {key: call.output}}
    if call.images:
        response["parts"] = [*contents(call.images)]
    status = "error" if call.is_failed else "success"
    return {
        "type": "tool_result",
        "message": {"role": "user", "parts": [{"functionResponse": response}]},
        "toolCallResult": {"callId": call.id, "status": status, "resultDisplay": call.output},
    }
