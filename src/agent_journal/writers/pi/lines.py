"""A conversation of another tool as lines of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.model import Media, ids, timestamps
from agent_journal.writers.dialects.agent_sessions import is_inline_image
from agent_journal.writers.dialects.training_dialogue import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Part
    from agent_journal.writers.dialects.agent_sessions import Branch, Call, Turn

Record: TypeAlias = dict[str, Any]
_VERSION = 3
_ID_CHARS = 8
# The tool sums up the tokens of all answers, so each must state some.
_NO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_NO_USAGE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": _NO_COST}
_UNKNOWN = "unknown"


def session_lines(conversation: Conversation, session: str, branch: Branch) -> Iterator[Record]:
    """Yield the lines of a session; none if there is nothing to say."""
    turns = [turn for turn in branch.turns if turn.role != "system"]
    if not turns:
        return
    head = {"type": "session", "version": _VERSION, "id": session, "timestamp": turns[0].at}
    yield {**head, "cwd": conversation.cwd or ""}
    chain = _Chain(session)
    for turn in turns:
        yield chain.link(_line(turn), turn.at)
        for call in turn.calls:
            yield chain.link(_result(call, turn.at), call.result_at or turn.at)
    if conversation.title:
        yield chain.link({"type": "session_info", "name": conversation.title}, turns[-1].at)


class _Chain:
    """Gives each line an id of eight characters, and the line before as its parent."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._ids: set[str] = set()
        self._last: str | None = None

    def link(self, record: Record, at: str) -> Record:
        """Return a line with its id, its parent and its time."""
        number = len(self._ids)
        id_ = ids.made(self._session, number)[:_ID_CHARS]
        while id_ in self._ids:
            number += 1
            id_ = ids.made(self._session, number, id_)[:_ID_CHARS]
        self._ids.add(id_)
        linked = {"type": record["type"], "id": id_, "parentId": self._last, "timestamp": at, **record}
        self._last = id_
        return linked


def _line(turn: Turn) -> Record:
    content = [*blocks(turn.parts, has_images=turn.role == "user")]
    if turn.is_hidden:
        return {"type": "custom_message", "customType": "context", "content": content, "display": False}
    if turn.role == "user":
        return _message(turn.at, role="user", content=content)
    content += [
        {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in turn.calls
    ]
    return _message(
        turn.at,
        role="assistant",
        content=content,
        api=_UNKNOWN,
        provider=_UNKNOWN,
        model=turn.model or _UNKNOWN,
        usage=_NO_USAGE,
        stopReason="toolUse" if turn.calls else "stop",
    )


def _message(at: str, **fields: Any) -> Record:
    return {"type": "message", "message": {**fields, "timestamp": timestamps.epoch_ms(at) or 0}}


def blocks(parts: Sequence[Part], *, has_images: bool = True) -> Iterator[Record]:
    """Yield texts and images as blocks of content; answers have no images."""
    for part in parts:
        if isinstance(part, Media) and is_inline_image(part):
            if has_images:
                yield image(part)
        elif text := text_of(part):
            yield {"type": "text", "text": text}


def image(media: Media) -> Record:
    """Return an image as a block of content."""
    return {"type": "image", "data": media.data or media.ref, "mimeType": media.mime or "image/png"}


def _result(call: Call, at: str) -> Record:
    texts: list[Record] = [{"type": "text", "text": call.output}] if call.output else []
    return _message(
        call.result_at or at,
        role="toolResult",
        toolCallId=call.id,
        toolName=call.name,
        content=[*texts, *map(image, call.images)],
        isError=call.is_failed,
    )
