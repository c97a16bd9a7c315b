"""`list`: the last conversations of a project, with what was asked and how each ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.mcp.answers import fitting, without_empty
from agent_journal.mcp.arguments import offsets
from agent_journal.mcp.excerpts import one_line, relative
from agent_journal.mcp.tools.filters import conversation_filter

if TYPE_CHECKING:
    from agent_journal.journal import RecentConversation
    from agent_journal.mcp.answers import Call

_MAX_PAGE_ITEMS = 20
_MAX_LINE_CHARS = 200


def list_recent(call: Call) -> dict[str, Any]:
    """Return the last conversations, newest first."""
    (offset,) = offsets(call.tool, call.arguments, 1)
    is_here = "project" not in call.arguments
    folder = call.scope.folder if is_here else None
    page = call.journal.recent(folder, conversation_filter(call), limit=_MAX_PAGE_ITEMS, offset=offset)
    if is_here and not page.total:
        is_here = False
        page = call.journal.recent(None, conversation_filter(call), limit=_MAX_PAGE_ITEMS, offset=offset)
    data: dict[str, Any] = {"of": "this project" if is_here else "all projects", "total": page.total}
    if "project" in call.arguments:
        del data["of"]
    count = fitting(call, data, "conversations", (_item(call, each) for each in page.items))
    if offset + count < page.total and count:
        data["next_cursor"] = str(offset + count)
    return data


def _item(call: Call, each: RecentConversation) -> dict[str, Any]:
    listed = each.conversation
    title = one_line(listed.title, _MAX_LINE_CHARS)
    asked = one_line(each.asked, _MAX_LINE_CHARS)
    answered = one_line(relative(each.answered or "", listed.project), _MAX_LINE_CHARS)
    return without_empty(
        {
            "conversation": listed.id,
            "source": listed.source,
            "at": listed.updated_at,
            "project": shown_project(call, listed.project),
            "title": title,
            "asked": None if asked == title else asked,
            "ended": answered,
            "ending": None if each.ending == "answer" else each.ending,
            "messages": listed.messages,
        }
    )


def shown_project(call: Call, project: str | None) -> str | None:
    """Return how a project is named: by its path from the agent's project, if it is there."""
    if project == call.scope.folder:
        return "."
    return one_line(relative(project or "", call.scope.folder), _MAX_LINE_CHARS)
