"""How the files of an export look: each kind is told by its fields, whatever the file is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

Bag = dict[str, Any]

SOURCE = "claude-ai"
USERS, MEMORIES, PROJECTS, CONVERSATIONS, DESIGN = "users", "memories", "projects", "conversations", "design"
_MEMORY = frozenset({"conversations_memory", "project_memories", "memory_files"})
_USER = frozenset({"uuid", "full_name", "email_address"})
_PROJECT = frozenset({"uuid", "name", "prompt_template", "docs"})
# What the message of a Claude Design chat has inside its `content`.
_DESIGNED = frozenset({"contentBlocks", "authorName", "authorAccountUuid", "turnChanges"})


def kind_of(file: Peek) -> str | None:
    """Which kind of file of an export this is, or None if it is none."""
    if file.is_folder or not ({"uuid", "account_uuid", "chat_messages"} & file.keys):
        return None
    return next((kind for record in file.records if (kind := _kind(record)) is not None), None)


def _kind(record: Bag) -> str | None:
    if "mapping" in record:
        return None
    if _is_conversation(record):
        return CONVERSATIONS
    if "account_uuid" in record and not _MEMORY.isdisjoint(record):
        return MEMORIES
    if record.keys() >= _USER:
        return USERS
    if record.keys() >= _PROJECT:
        return PROJECTS
    return DESIGN if is_design(record) else None


def _is_conversation(record: Bag) -> bool:
    """Whether a record has messages, and its id or a sender tells whose: an id may have been lost."""
    messages = record.get("chat_messages")
    if not isinstance(messages, list):
        return False
    return "uuid" in record or any(isinstance(each, dict) and "sender" in each for each in messages)


def is_design(record: Bag) -> bool:
    """Whether a record is a chat of Claude Design: `messages` of a project, with objects as content."""
    messages = record.get("messages")
    if not {"uuid", "project"} <= record.keys() or not isinstance(messages, list):
        return False
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    return any(isinstance(content, dict) and not _DESIGNED.isdisjoint(content) for content in contents)


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
    """The names of the parts of an export that a manifest lists, as one comes since August 2026."""
    files = manifest.get("data_files") if isinstance(manifest, dict) else None
    return [
        file["filename"]
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and "category" in file and isinstance(file.get("filename"), str)
    ]
