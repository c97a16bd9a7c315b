"""The tools: each is a function from a checked call to the data of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.mcp.tools.blame import blame
from agent_journal.mcp.tools.list import list_recent
from agent_journal.mcp.tools.read import read
from agent_journal.mcp.tools.search import search
from agent_journal.mcp.tools.usage import usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_journal.mcp.answers import Call

ANSWERS: dict[str, Callable[[Call], dict[str, Any]]] = {
    "search": search,
    "read": read,
    "list": list_recent,
    "usage": usage,
    "blame": blame,
}
"""By the name of the tool."""
