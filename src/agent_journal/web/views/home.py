"""The start page and the list of conversations."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.journal import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.journal import Listed
    from agent_journal.web.site import Site

_MAX_CONVERSATIONS = 60
_MAX_PROJECTS = 12
_FILTERS = ("source", "project", "model", "title", "since", "until")


class Days(NamedTuple):
    """Conversations below one heading."""

    heading: str
    conversations: list[Listed]


def show(site: Site, request: Request) -> Response:
    """The start page."""
    overview = site.journal.overview()
    if overview is None or not overview.conversations:
        return site.page("empty.html", {"home": site.config.home}, title="Welcome")
    values = {
        "overview": overview,
        "projects": overview.projects[:_MAX_PROJECTS],
        "hidden_projects": max(len(overview.projects) - _MAX_PROJECTS, 0),
        "list_values": list_values(site, request.query_params),
    }
    return site.page("home.html", values, title="Conversations")


def show_list(site: Site, request: Request) -> Response:
    """The next part of the list."""
    return site.page(
        "list.html", {"list_values": list_values(site, request.query_params)}, title="Conversations"
    )


def list_values(
    site: Site, parameters: Mapping[str, str], current: Listed | None = None
) -> dict[str, object]:
    """What the list of conversations needs: rows by day, the filters, and where it goes on.

    The conversation that is open comes first if it is not in this part of the list.
    """
    offset = _offset(parameters)
    filters = {name: parameters[name] for name in _FILTERS if parameters.get(name)}
    listed, has_more = site.journal.conversations(filter_of(filters), offset, _MAX_CONVERSATIONS)
    days = [
        Days(heading, [*group])
        for heading, group in groupby(listed, lambda each: site.clock.day(each.updated_at or each.started_at))
    ]
    return {
        "days": days,
        "filters": filters,
        "key": f"list:{sorted(filters.items())}",
        "current": f"{current.source}:{current.id}" if current is not None else "",
        "missing": current
        if current is not None and all(each.key != current.key for each in listed)
        else None,
        "offset": offset,
        "next": site.urls.of("list", parameters={**filters, "offset": offset + len(listed)})
        if has_more
        else None,
    }


def filter_of(values: Mapping[str, str]) -> Filter:
    """Which conversations to list."""
    return Filter(
        source=values.get("source"),
        project=values.get("project"),
        model=values.get("model"),
        title=values.get("title"),
        since=values.get("since"),
        until=values.get("until"),
    )


def _offset(parameters: Mapping[str, str]) -> int:
    value = parameters.get("offset", "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 9 else 0  # noqa: PLR2004
