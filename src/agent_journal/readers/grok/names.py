"""The names of the service's files and tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

SOURCE = "grok"
MAIN = "prod-grok-backend.json"
PROFILE = "prod-mc-auth-mgmt-api.json"
BILLING = "prod-mc-billing.json"
ASSETS = "prod-mc-asset-server"
# The chats in an archive of X.
CHATS = re.compile(r"grok-chat-item(-part\d+)?\.js")
SCRIPT = re.compile(rb"\s*window\.YTD\.grok_chat_item\.part\d+\s*=")
SECTIONS = frozenset({"conversations", "projects", "tasks", "media_posts"})
TOOL_KINDS: dict[str, ToolKind] = {
    "web_search": "web",
    "web_search_with_snippets": "web",
    "browse_page": "web",
    "open_page": "web",
    "search_images": "web",
    "x_search": "web",
    "x_keyword_search": "web",
    "x_semantic_search": "web",
    "x_user_search": "web",
    "x_thread_fetch": "web",
    "conversation_search": "memory",
    "code_execution": "shell",
    "chatroom_send": "agent",
    "view_image": "media",
    "view_x_video": "media",
    "image_generation": "media",
}
