"""A conversation of another tool as lines of a rollout: items for the model, and events that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.model import Media
from agent_journal.writers.dialects.agent_sessions import data_url, is_inline_image
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.dialects.training_dialogue import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Part
    from agent_journal.writers.dialects.agent_sessions import Branch, Call, Turn

Record: TypeAlias = dict[str, Any]
_VERSION = "0.98.0"
"""The first line names the version of the tool that wrote it; this is one that writes the same lines."""
_ITEM, _EVENT = "response_item", "event_msg"


def rollout_lines(conversation: Conversation, session: str, branch: Branch) -> Iterator[Record]:
    """Yield the lines of a rollout; none if there is nothing to say."""
    if not any(turn.role != "system" for turn in branch.turns):
        return
    started_at = branch.turns[0].at
    yield line(started_at, "session_meta", _meta(conversation, session, started_at))
    for turn in branch.turns:
        for kind, payload, at in _turn(turn):
            yield line(at, kind, payload)
    if conversation.title:
        name = {"type": "thread_name_updated", "thread_id": session, "thread_name": conversation.title}
        yield line(branch.turns[-1].at, _EVENT, name)


def line(at: str | None, kind: str, payload: Record) -> Record:
    """Return a line."""
    return {"timestamp": at, "type": kind, "payload": payload}


def _meta(conversation: Conversation, session: str, started_at: str) -> Record:
    git = {"branch": conversation.git_branch, "commit_hash": conversation.git_commit}
    stated = {name: value for name, value in git.items() if value is not None}
    meta: Record = {
        "id": session,
        "timestamp": started_at,
        "cwd": conversation.cwd or "",
        "originator": "codex_cli_rs",
        "cli_version": _VERSION,
        "source": "cli",
    }
    link = conversation.link
    if link is not None and link.relation == "subagent":
        meta["source"] = {
            "subagent": {"thread_spawn": {"parent_thread_id": link.conversation_id, "depth": 1}}
        }
    return meta | {"git": stated} if stated else meta


def _turn(turn: Turn) -> Iterator[tuple[str, Record, str]]:
    """Yield the kind, payload and time of each line of a turn."""
    if turn.role == "system":
        return
    is_answer = turn.role == "assistant"
    content = [*_joined(turn.parts, is_output=is_answer)]
    if content:
        role = "developer" if turn.is_hidden else turn.role
        yield _ITEM, {"type": "message", "role": role, "content": content}, turn.at
    if content and not turn.is_hidden:
        # The tool shows what an event says; it must be the same text.
        text = "".join(piece.get("text", "") for piece in content)
        name = "agent_message" if is_answer else "user_message"
        yield _EVENT, {"type": name, "message": text}, turn.at
    for call in turn.calls:
        arguments = encode(call.arguments).decode()
        called = {"type": "function_call", "name": call.name, "arguments": arguments, "call_id": call.id}
        yield _ITEM, called, turn.at
    for call in turn.calls:
        yield _ITEM, _result(call), call.result_at or turn.at


def _joined(parts: Sequence[Part], *, is_output: bool) -> Iterator[Record]:
    """Yield pieces of content, with texts that follow each other as one; an answer has no images."""
    texts: list[str] = []
    kind = "output_text" if is_output else "input_text"
    for part in parts:
        if isinstance(part, Media) and is_inline_image(part):
            if texts and not is_output:
                yield {"type": kind, "text": "\n\n".join(texts)}
                texts = []
            if not is_output:
                yield {"type": "input_image", "image_url": data_url(part)}
        elif text := text_of(part):
            texts.append(text)
    if texts:
        yield {"type": kind, "text": "\n\n".join(texts)}


def content_of(parts: Sequence[Part], *, is_output: bool) -> Iterator[Record]:
    """Yield texts and images as pieces of content."""
    for part in parts:
        if isinstance(part, Media) and is_inline_image(part) and not is_output:
            yield {"type": "input_image", "image_url": data_url(part)}
        elif text := text_of(part):
            yield {"type": "output_text" if is_output else "input_text", "text": text}


def _result(call: Call) -> Record:
    output: Any = call.output
    if call.images:
        texts = [{"type": "input_text", "text": call.output}] if call.output else []
        output = [*texts, *({"type": "input_image", "image_url": data_url(each)} for each in call.images)]
    return {"type": "function_call_output", "call_id": call.id, "output": output}
