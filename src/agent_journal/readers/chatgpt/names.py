"""The names of the service's files and tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

SOURCE = "chatgpt"
CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json")
MANIFEST = "export_manifest.json"
FEEDBACK = "message_feedback.json"
SHARED = "shared_conversations.json"
# Named by the Portable AI Memory mapping of February 2026; no export that we know of has it.
TOOL_MESSAGES = "tool_messages.json"
USER = "user.json"
ASSET_NAMES = "conversation_asset_file_names.json"
LIBRARY = "library_files.json"
TASKS = "codex.json"
ITEMS = ("input_items", "output_items")
READ_FILES = (FEEDBACK, SHARED, TOOL_MESSAGES, USER, ASSET_NAMES, LIBRARY, TASKS)
# The displayed reasoning of the first reasoning models (o1-preview, September 2024) comes from this tool.
REASONING_TOOL = "a8km123"
# The service runs these tools by itself on files that the person attached; no model calls them.
UNREQUESTED_TOOLS = ("file_search", "myfiles_browser")
TOOL_KINDS: dict[str, ToolKind] = {
    "api_tool.call_tool": "mcp",
    "bio": "memory",
    "browser": "web",
    "canmore.comment_textdoc": "edit",
    "canmore.create_textdoc": "write",
    "canmore.update_textdoc": "edit",
    "container.exec": "shell",
    "dalle.text2im": "media",
    "file_search.mclick": "read",
    "file_search.msearch": "search",
    "image_gen.edit_image": "media",
    "image_gen.text2im": "media",
    "myfiles_browser": "search",
    "python": "shell",
    "t2uay3k.sj1i4kz": "media",
    "web": "web",
    "web.open_url": "web",
    "web.run": "web",
    "web.search": "web",
}


def has_turns(record: dict[str, Any]) -> bool:
    """Whether a record has turns with items, as tasks of Codex have."""
    turns = record.get("turns")
    return isinstance(turns, list) and any(
        isinstance(turn, dict) and any(name in turn for name in ITEMS) for turn in turns
    )
