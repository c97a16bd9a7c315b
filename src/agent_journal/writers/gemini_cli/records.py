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


def lines(conversation: Conversation, session: str, branch: Branch, project: str) -> Iterator[Record]:
    """Yield the lines of a session; none if there is nothing to say."""
    if not any(turn.role != "system" for turn in branch.turns):
        return
    link = conversation.link
    head = {
        "sessionId": session,
        "projectHash": project,
        "startTime": branch.turns[0].at,
        "lastUpdated": branch.turns[-1].at,
        "kind": "subagent" if link is not None and link.relation == "subagent" else "main",
    }
    yield head | ({"summary": conversation.title} if conversation.title else {})
    for turn in branch.turns:
        yield _record(turn, session)


def _record(turn: Turn, session: str) -> Record:
    record: Record = {"id": entry_uuid(session, turn.id), "timestamp": turn.at}
    if turn.role == "assistant":
        # An answer has no images.
        text = "\n\n".join(texts_of(turn.parts))
        record |= {"type": "gemini", "content": text, "model": turn.model or "unknown"}
        if turn.calls:
            record["toolCalls"] = [_call(call, turn.at) for call in turn.calls]
        return record
    if turn.role == "system" or turn.is_hidden:
        text = "\n\n".join(texts_of(turn.parts))
        return record | {"type": "info", "content": text}
    return record | {"type": "user", "content": [*contents(turn.parts)]}


def contents(parts: Sequence[Part]) -> Iterator[Record]:
    """Yield texts and images as parts of content."""
    for part in parts:
        if isinstance(part, Media) and is_inline_image(part):
            yield image(part)
        elif text := text_of(part):
            yield {"text": text}


def image(media: Media) -> Record:
    """Return an image as a part of content."""
    return {"inlineData": {"mimeType": media.mime or "image/png", "data": media.data}}


def _call(call: Call, at: str) -> Record:
    key = "error" if call.is_failed else "output"
    response = {"id": call.id, "name": call.name, "response": {key: call.output}}
    return {
        "id": call.id,
        "name": call.name,
        "args": call.arguments,
        "status": "error" if call.is_failed else "success",
        "timestamp": call.result_at or at,
        "result": [{"functionResponse": response}, *map(image, call.images)],
    }
