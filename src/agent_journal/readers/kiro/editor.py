"""The files of the editor before version 1: chats of one run each, and sessions with the logs of their runs.

A session's own answers are mostly placeholders. What the model answered and did is in the logs of its runs.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import (
    Conversation,
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
    roles,
    timestamps,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.documents import load_document
from agent_journal.readers.dialects.openai_messages import parse_content
from agent_journal.readers.dialects.session_log import SessionLog
from agent_journal.readers.kiro.names import EXECUTIONS, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_HEAD_BYTES = 4096
_PATH_DIGITS = 32
# How the editor's own instructions and its model's confirmation of them begin.
_INSTRUCTIONS = ("# System Prompt", "<identity>", "## Included Rules")
_CONFIRMATION = "I will follow these instructions"


def chat(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the conversation of a chat file; several files of one run have more and more of its messages."""
    document = load_document(source, note)
    run = document.text("executionId") or source.name.removesuffix(".chat")
    metadata = document.nested("metadata") or Fields({}, note, "")
    log = SessionLog(run, note, lambda _: False)
    started_at, ended_at = metadata.timestamp("startTime"), metadata.timestamp("endTime")
    model = metadata.text("modelId")
    is_begun = False
    for index, raw in enumerate(document.items("chat") or ()):
        if raw.__class__ is not dict:
            log.add_value(raw, f"chat[{index}]")
            continue
        message = Fields(dict(raw), note, f"chat[{index}]")
        label = message.view("role")
        role = roles.role(label)
        if role is None:
            note(Kind.UNKNOWN_ROLE, message.where, f"role {str(label)[:40]!r}")
        if role is not None and label in ("human", "bot", "tool"):
            message.drop("role")
        text = message.view("content")
        text = text if text.__class__ is str else ""
        is_hidden = not is_begun and text.lstrip().startswith((*_INSTRUCTIONS, _CONFIRMATION))
        is_begun = is_begun or not is_hidden
        parts = parse_content(message.take("content"), note, message.where)
        if role == "tool":
            parts = [ToolResult(output=text)] if text else parts
        log.add(
            Message(
                id=f"{run}:{index}",
                made_id=True,
                role=role or "user",
                model=model if role == "assistant" else None,
                hidden=is_hidden,
                parts=parts,
                extra=message.rest(),
            ),
            f"chat[{index}]",
        )
    yield Conversation(
        id=run,
        source=name,
        started_at=started_at,
        updated_at=ended_at,
        model=model,
        shape="list",
        timeline=log.entries,
        extra=document.rest(),
    )


def session(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the conversation of a session, with the logs of its runs."""
    document = load_document(source, note)
    session_id = document.text("sessionId") or source.name.removesuffix(".json")
    folder = document.text("workspaceDirectory") or document.text("workspacePath")
    document.drop("workspacePath")
    model = document.text("selectedModel")
    history = document.items("history") or []
    runs = _runs(source, folder, {item["executionId"] for item in objects(history) if _has_run(item)}, note)
    log = SessionLog(session_id, note, lambda _: False)
    for index, raw in enumerate(history):
        where = f"history[{index}]"
        if raw.__class__ is not dict or raw.get("message").__class__ is not dict:
            log.add_value(raw, where)
            continue
        item = Fields(dict(raw), note, where)
        run = runs.pop(item.view("executionId"), None) if _has_run(raw) else None
        _add_item(log, item, run, where)
    entries = log.entries
    first, last = tree.span(entries)
    yield Conversation(
        id=session_id,
        source=name,
        title=document.text("title") or None,
        started_at=document.timestamp("dateCreated") or first,
        updated_at=last,
        model=model,
        cwd=folder or None,
        shape="list",
        timeline=entries,
        extra=document.rest(),
    )


def _has_run(item: dict[str, Any]) -> bool:
    return item.get("executionId").__class__ is str


def _add_item(log: SessionLog, item: Fields, run: Fields | None, where: str) -> None:
    message = Fields(dict(item.take("message")), item.note, where)
    label = message.view("role")
    role = roles.role(label)
    if role is None:
        item.note(Kind.UNKNOWN_ROLE, where, f"role {str(label)[:40]!r}")
    elif role == label:
        message.drop("role")
    parts = parse_content(message.take("content"), item.note, where)
    own_id = message.text("id") or ""
    completions = [
        text for entry in objects(item.view("promptLogs")) if (text := nonempty_str(entry.get("completion")))
    ]
    if role == "assistant" and run is None and completions and not _has_text(parts):
        parts = [Text(text=text) for text in completions]
    at = timestamps.parse_timestamp(run.view("startTime")) if run is not None else None
    if rest := message.rest():
        item.keep("message", rest)
    log.add(Message(id=own_id, role=role or "user", at=at, parts=parts, extra=item.rest()), where)
    if run is not None and role == "assistant":
        _add_run(log, run, own_id or where)


def _has_text(parts: list[Part]) -> bool:
    return any(isinstance(part, Text) and part.text.strip() for part in parts)


def _add_run(log: SessionLog, run: Fields, base: str) -> None:
    """Add what the model answered and did in a run."""
    model = run.text("modelId")
    for index, raw in enumerate(run.items("actions") or ()):
        if raw.__class__ is not dict:
            continue
        action = Fields(dict(raw), run.note, f"action {index}")
        kind, output = action.text("actionType") or "", action.view("output")
        at = action.timestamp("emittedAt")
        action_id = action.text("actionId") or f"{base}:{index}"
        text = output.get("message") if output.__class__ is dict else None
        parts: list[Part]
        if kind in ("say", "model") and text.__class__ is str:
            parts = [Text(text=text)]
        else:
            parts = [
                ToolCall(call_id=action_id, name=kind, input=action.take("input"), kind=TOOL_KINDS.get(kind))
            ]
        if text.__class__ is str and len(output) == 1:
            action.drop("output")
        message = Message(
            id=action_id, role="assistant", at=at, model=model, parts=parts, extra=action.rest()
        )
        log.add(message, f"{base}:{index}")
        if text.__class__ is str and text and isinstance(parts[0], ToolCall):
            result = ToolResult(call_id=action_id, output=text)
            log.add(
                Message(id=f"{action_id}:result", made_id=True, role="tool", at=at, parts=[result]),
                f"{base}:{index}",
            )


def _runs(source: Input, folder: str | None, wanted: set[str], note: Notes) -> dict[Any, Fields]:
    """Return the logs of runs by id; they are in a folder named by the hash of the project's path."""
    if folder is None or not wanted:
        return {}
    project = hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()[:_PATH_DIGITS]
    runs: dict[Any, Fields] = {}
    for file in source.companions("..", "..", project, EXECUTIONS):
        try:
            with file.open() as stream:
                head = stream.read(_HEAD_BYTES)
            if not any(run.encode() in head for run in wanted):
                continue
            value = json_stream.load(file, note.about(file.label))
        except UnreadableSource as error:
            note.about(file.label)(Kind.UNREADABLE_FILE, "", error.reason)
            continue
        if value.__class__ is dict and value.get("executionId").__class__ is str:
            runs[value["executionId"]] = Fields(value, note, file.label)
    return runs
