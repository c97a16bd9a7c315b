"""The kinds of the tools; a name begins with that of its extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TOOL_KINDS: dict[str, ToolKind] = {
    "developer__shell": "shell",
    "shell": "shell",
    "developer__text_editor": "edit",
    "text_editor": "edit",
    "developer__edit": "edit",
    "edit": "edit",
    "developer__write": "write",
    "write": "write",
    "developer__tree": "search",
    "tree": "search",
    "developer__analyze": "search",
    "analyze": "search",
    "developer__image_processor": "media",
    "developer__screen_capture": "media",
    "computercontroller__web_scrape": "web",
    "computercontroller__automation_script": "shell",
    "memory__remember_memory": "memory",
    "memory__retrieve_memories": "memory",
    "memory__remove_memory_category": "memory",
    "todo__todo_write": "plan",
    "todo__write": "plan",
    "subagent": "agent",
    "subagent__execute_task": "agent",
    "dynamic_task__create_task": "agent",
    "delegate": "agent",
}
