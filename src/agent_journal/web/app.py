"""Which address leads to which view, and what becomes of errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route

from agent_journal.crash_reports import FOLDER, CrashReports
from agent_journal.errors import AgentJournalError
from agent_journal.web.site import Site
from agent_journal.web.views import (
    branches,
    conversation,
    errors,
    home,
    live,
    media,
    overview,
    search,
    share,
    static,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.config import Config
    from agent_journal.web.journal_access import JournalAccess

    View = Callable[[Site, Request], Response]

_VIEWS: dict[str, View] = {
    "/": home.show,
    "/overview": overview.show,
    "/list": home.show_list,
    "/search": search.show,
    "/facets": search.show_facets,
    "/c/{name:path}": conversation.show,
    "/messages/{name:path}": conversation.show_messages,
    "/outline/{name:path}": conversation.show_outline,
    "/find/{name:path}": conversation.find,
    "/edits/{name:path}": conversation.show_edits,
    "/compare": branches.show_comparison,
    "/branches/{name:path}": branches.show_difference,
    "/share/{name:path}": share.show,
    "/download/{name:path}": share.download,
    "/live/{name:path}": live.show,
    "/raw/{name:path}": conversation.show_raw,
    "/media/{name:path}": media.show,
    "/static/{name}": static.show,
}


def create_app(journal: JournalAccess, config: Config, prefix: str) -> Starlette:
    """The application, whose addresses all begin with a prefix."""
    site = Site(journal, config, prefix)
    reports = CrashReports(str(config.home / FOLDER))
    routes = [
        Route(path, partial(_answer, site, reports, view), methods=["GET"]) for path, view in _VIEWS.items()
    ]
    return Starlette(
        routes=[Mount(prefix, routes=routes)] if prefix else routes,
        exception_handlers={HTTPException: partial(errors.show_http_error, site)},
    )


def _answer(site: Site, reports: CrashReports, view: View, request: Request) -> Response:
    """The answer of a view; whatever goes wrong becomes a page that says what happened and what to do."""
    try:
        return view(site, request)
    except HTTPException as error:
        return errors.http_error_page(site, error)
    except AgentJournalError as error:
        return errors.journal_error_page(site, error)
    except Exception as error:  # noqa: BLE001 (the last resort: a bug must not end the server)
        return errors.crash_page(site, error, reports.write(error, "web"))
