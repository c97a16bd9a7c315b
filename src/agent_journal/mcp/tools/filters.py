"""The filters that several tools take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import encodable
from agent_journal.journal import Filter
from agent_journal.mcp.arguments import seconds
from agent_journal.mcp.definitions import ALL_PROJECTS
from agent_journal.model import timestamps

if TYPE_CHECKING:
    from agent_journal.mcp.answers import Call


def project_text(call: Call) -> str | None:
    """Return the part of a path that a project must have; None if none is asked for, or all are."""
    project = call.arguments.get("project")
    return None if project is None or project == ALL_PROJECTS else encodable(project)


def conversation_filter(call: Call) -> Filter:
    """Return the filter of conversations that a call asks for, within the scope."""
    source = call.arguments.get("source")
    return call.scope.within(
        Filter(
            project=project_text(call),
            source=None if source is None else encodable(source),
            since=_timestamp(call, "since"),
            until=_timestamp(call, "until"),
        )
    )


def _timestamp(call: Call, name: str) -> str | None:
    at = seconds(call.tool, call.arguments, name)
    return None if at is None else timestamps.from_seconds(at)
