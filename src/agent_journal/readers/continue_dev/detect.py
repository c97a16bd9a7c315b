"""How sessions, their index, the logs and documents of conversations are told from other files."""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Notes
from agent_journal.readers.continue_dev.names import EVENTS, INDEX, SESSIONS

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

# Sessions since December 2023, those of the Python server before, logs, the index, and conversations as
# descriptions of the format have them.
SESSION, STEPS, LOG, LIST, DOCUMENT = "session", "steps", "dev-data", "index", "document"

# Of a folder with a damaged index, so many other files are looked at.
_FEW = 3
# What an editor that grew out of this one has in its sessions.
_RELATED = frozenset({"workspacePath", "selectedModel"})
_TEMPLATED = ("prompt", "template", "text")
# What the context of a conversation has, the first of them also where there is no context around it.
_CONTEXT = ("workspaceDir", "codebaseContext", "providers")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is of this source, else None."""
    if peek.is_folder:
        return SESSION if _is_home(peek) else None
    keys = peek.keys
    if "history" in keys or "session_state" in keys:
        return _of_session(peek)
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
    index = folder.member(INDEX)
    if index is not None and _is_index(index):
        return True
    others = [name for name in folder.members if name.endswith(".json") and name != INDEX]
    looks = (folder.member(name) for name in others[:_FEW])
    return any(look is not None and version_of(look) == SESSION for look in looks)


def _is_index(peek: Peek) -> bool:
    return peek.opening == "[" and any(
        record.keys() >= {"sessionId", "dateCreated"} or record.keys() >= {"session_id", "date_created"}
        for record in peek.records
    )


def _of_session(peek: Peek) -> str | None:
    return next((seen for record in peek.records if (seen := kind_of(record)) is not None), None)


def kind_of(document: dict[str, Any]) -> str | None:
    """Which kind of session an object is, if it is one."""
    if _is_session(document):
        return SESSION
    return STEPS if _is_of_steps(document) else None


def _is_damaged_session(peek: Peek) -> bool:
    """Whether a file that is not JSON as a whole has an item of a session that is."""
    if peek.opening != "{" or b'"history"' not in peek.head:
        return False
    items = json_stream.elements_in(io.BytesIO(peek.head), Notes(keep=0), "history")
    return any(_is_item(item, named=False) for _, item in islice(items, _FEW))


def _is_session(record: dict[str, Any]) -> bool:
    history = record.get("history")
    if not isinstance(history, list) or not _RELATED.isdisjoint(record):
        return False
    if not history:
        return "sessionId" in record and "workspaceDirectory" in record
    # What is behind a long history, as the folder is in older files, may lie beyond what can be seen.
    return any(_is_item(item, named="workspaceDirectory" in record) for item in history)


def _is_item(item: Any, *, named: bool) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("message"), dict):
        return False
    return "role" in item["message"] and (named or "contextItems" in item)


def _is_of_steps(record: dict[str, Any]) -> bool:
    state, history = record.get("session_state"), record.get("history")
    if isinstance(state, dict):
        return isinstance(state.get("history"), list) and ("title" in record or "session_id" in record)
    return isinstance(history, dict) and isinstance(history.get("timeline"), list) and "active" in record


def _is_event(record: dict[str, Any]) -> bool:
    name = record.get("eventName")
    if name is not None:
        return isinstance(name, str) and name in EVENTS and isinstance(record.get("schema"), str)
    keys = record.keys()
    # Until schema 0.2.0 lines did not say what they are.
    return (
        keys >= {"prompt", "completion", "sessionId"}
        or keys == {"model", "provider", "promptTokens", "generatedTokens"}
        or keys >= {"prefix", "suffix", "completionId", "uniqueId"}
        or keys >= {"prompt", "label", "diffs"}
    )


def _is_document(record: dict[str, Any]) -> bool:
    """A conversation with its context or configuration beside its messages, or beside a prompt."""
    if record.keys().isdisjoint(("sessionId", "session_id", "threadId", "thread_id")):
        return False
    context, config = record.get("context"), record.get("config")
    has_context = not record.keys().isdisjoint(_CONTEXT[:2]) or (
        isinstance(context, dict) and not context.keys().isdisjoint(_CONTEXT)
    )
    has_config = isinstance(config, dict) and isinstance(config.get("models"), list)
    if not (has_context or has_config or _has_models(record)):
        return False
    return isinstance(record.get("messages"), list | str) or any(
        isinstance(record.get(name), str) for name in _TEMPLATED
    )


def _has_models(record: dict[str, Any]) -> bool:
    models = record.get("models")
    return isinstance(models, list) and any(
        isinstance(model, dict) and isinstance(model.get("model"), str) for model in models
    )
