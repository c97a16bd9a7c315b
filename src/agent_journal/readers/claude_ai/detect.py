"""Detects the files of an export by their fields; their names do not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

JsonObject = dict[str, Any]

SOURCE = "claude-ai"
USERS, MEMORIES, PROJECTS, CONVERSATIONS, DESIGN = "users", "memories", "projects", "conversations", "design"
_MEMORY_FIELDS = frozenset({"conversations_memory", "project_memories", "memory_files"})
_USER_FIELDS = frozenset({"uuid", "full_name", "email_address"})
_PROJECT_FIELDS = frozenset({"uuid", "name", "prompt_template", "docs"})
# Fields in the `content` of a Claude Design message.
_DESIGN_FIELDS = frozenset({"contentBlocks", "authorName", "authorAccountUuid", "turnChanges"})


def kind_of(file: Peek) -> str | None:
    """Get the kind of an export's file; None for other files."""
    if file.is_folder or not ({"uuid", "account_uuid", "chat_messages"} & file.keys):
        return None
    return next((kind for record in file.records if (kind := _kind(record)) is not None), None)


def _kind(record: JsonObject) -> str | None:
    if "mapping" in record:
        return None
    if _is_conversation(record):
        return CONVERSATIONS
    if "account_uuid" in record and not _MEMORY_FIELDS.isdisjoint(record):
        return MEMORIES
    if record.keys() >= _USER_FIELDS:
        return USERS
    if record.keys() >= _PROJECT_FIELDS:
        return PROJECTS
    return DESIGN if is_design(record) else None


def _is_conversation(record: JsonObject) -> bool:
    """Whether a record has messages, and an id or a sender; the id may be missing."""
    messages = record.get("chat_messages")
    if not isinstance(messages, list):
        return False
    return "uuid" in record or any(isinstance(message, dict) and "sender" in message for message in messages)


def is_design(record: JsonObject) -> bool:
    """Whether a record is a chat of Claude Design: `messages` of a project, with objects as content."""
    messages = record.get("messages")
    if not {"uuid", "project"} <= record.keys() or not isinstance(messages, list):
        return False
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    return any(isinstance(content, dict) and not _DESIGN_FIELDS.isdisjoint(content) for content in contents)


def has_parents(file: Peek) -> bool:
    """Whether messages name their parents, as they do in exports since March 2026."""
    return any(
        isinstance(message, dict) and "parent_message_uuid" in message
        for record in file.records
        if isinstance(messages := record.get("chat_messages"), list)
        for message in messages
    )


def is_manifest_name(name: str) -> bool:
    """Whether a file may be a manifest: `manifest-….json`, or `member-manifest-….json` and the like."""
    return "manifest" in name and name.endswith(".json")


def parts_listed(manifest: Any) -> list[str]:
    """List the names of an export's parts in a manifest, which exports have since August 2026."""
    files = manifest.get("data_files") if isinstance(manifest, dict) else None
    return [
        file["filename"]
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and "category" in file and isinstance(file.get("filename"), str)
    ]
