"""Detection of sessions, their index, the logs, and conversations in the documented form."""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Notes
from agent_journal.readers.continue_dev.names import EVENTS, INDEX, SESSIONS

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

# Sessions since December 2023, those of the Python server before, logs, the index, and conversations in the
# documented form.
SESSION, STEPS, LOG, LIST, DOCUMENT = "session", "steps", "dev-data", "index", "document"

# How many other files are read in a folder with a damaged index, and items in a damaged session.
_MAX_PROBES = 3
# Keys in the sessions of a fork of this tool.
_FORK_KEYS = frozenset({"workspacePath", "selectedModel"})
_PROMPT_KEYS = ("prompt", "template", "text")
# Keys of the context of a conversation; the first two may also be at the top level.
_CONTEXT_KEYS = ("workspaceDir", "codebaseContext", "providers")


def detect_version(peek: Peek) -> str | None:
    """Return the version of the format if the input is of this source, else None."""
    if peek.is_folder:
        return SESSION if _is_home(peek) else None
    keys = peek.keys
    if "history" in keys or "session_state" in keys:
        return _session_kind(peek)
    if not keys:
        return SESSION if _is_damaged_session(peek) else None
    if _is_index(peek):
        return LIST
    if peek.opening == "{" and any(_is_event(record) for record in peek.records):
        return LOG
    return DOCUMENT if any(_is_document(record) for record in peek.records) else None


def _is_home(folder: Peek) -> bool:
    """Whether a folder is the one with the sessions, or the one above it."""
    if INDEX not in folder.members:
        index = folder.member(SESSIONS, INDEX)
        return index is not None and _is_index(index)
    others = [name for name in folder.members if name.endswith(".json") and name != INDEX]
    peeks = [peek for name in others[:_MAX_PROBES] if (peek := folder.member(name)) is not None]
    index = folder.member(INDEX)
    if index is not None and _is_index(index):
        return all(peek.keys.isdisjoint(_FORK_KEYS) for peek in peeks)
    return any(detect_version(peek) == SESSION for peek in peeks)


def _is_index(peek: Peek) -> bool:
    return peek.opening == "[" and any(
        record.keys() >= {"sessionId", "dateCreated"} or record.keys() >= {"session_id", "date_created"}
        for record in peek.records
    )


def _session_kind(peek: Peek) -> str | None:
    return next((kind for record in peek.records if (kind := detect_kind(record)) is not None), None)


def detect_kind(document: dict[str, Any]) -> str | None:
    """Return the kind of a session; None if the object is not a session."""
    if _is_session(document):
        return SESSION
    return STEPS if _is_steps_session(document) else None


def _is_damaged_session(peek: Peek) -> bool:
    """Whether a file that is not valid JSON has a valid item of a session."""
    if peek.opening != "{" or b'"history"' not in peek.head:
        return False
    items = json_stream.elements_in(io.BytesIO(peek.head), Notes(keep=0), "history")
    return any(_is_item(item, has_folder=False) for _, item in islice(items, _MAX_PROBES))


def _is_session(record: dict[str, Any]) -> bool:
    history = record.get("history")
    if not isinstance(history, list) or not _FORK_KEYS.isdisjoint(record):
        return False
    if not history:
        return "sessionId" in record and "workspaceDirectory" in record
    # Fields after a long history, such as the folder in older files, may be beyond the peeked bytes.
    return any(_is_item(item, has_folder="workspaceDirectory" in record) for item in history)


def _is_item(item: Any, *, has_folder: bool) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("message"), dict):
        return False
    if "executionId" in item and "contextItems" not in item:  # an item of the fork
        return False
    return "role" in item["message"] and (has_folder or "contextItems" in item)


def _is_steps_session(record: dict[str, Any]) -> bool:
    state, history = record.get("session_state"), record.get("history")
    if isinstance(state, dict):
        return isinstance(state.get("history"), list) and ("title" in record or "session_id" in record)
    return isinstance(history, dict) and isinstance(history.get("timeline"), list) and "active" in record


def _is_event(record: dict[str, Any]) -> bool:
    name = record.get("eventName")
    if name is not None:
        return isinstance(name, str) and name in EVENTS and isinstance(record.get("schema"), str)
    keys = record.keys()
    # Until schema 0.2.0 lines had no event name.
    return (
        keys >= {"prompt", "completion", "sessionId"}
        or keys == {"model", "provider", "promptTokens", "generatedTokens"}
        or keys >= {"prefix", "suffix", "completionId", "uniqueId"}
        or keys >= {"prompt", "label", "diffs"}
    )


def _is_document(record: dict[str, Any]) -> bool:
    """Whether a record has messages or a prompt, and also context or configuration."""
    if record.keys().isdisjoint(("sessionId", "session_id", "threadId", "thread_id")):
        return False
    context, config = record.get("context"), record.get("config")
    has_context = not record.keys().isdisjoint(_CONTEXT_KEYS[:2]) or (
        isinstance(context, dict) and not context.keys().isdisjoint(_CONTEXT_KEYS)
    )
    has_config = isinstance(config, dict) and isinstance(config.get("models"), list)
    if not (has_context or has_config or _has_models(record)):
        return False
    return isinstance(record.get("messages"), list | str) or any(
        isinstance(record.get(name), str) for name in _PROMPT_KEYS
    )


def _has_models(record: dict[str, Any]) -> bool:
    models = record.get("models")
    return isinstance(models, list) and any(
        isinstance(model, dict) and isinstance(model.get("model"), str) for model in models
    )
