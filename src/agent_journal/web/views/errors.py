"""Pages about what went wrong: what happened, and what to do."""

from __future__ import annotations

import base64
import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING

from agent_journal.errors import NoArchive, NoSuchConversation, NoSuchMessage
from agent_journal.rendering.markup import asset
from agent_journal.web.guard import POLICY

if TYPE_CHECKING:
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.errors import AgentJournalError
    from agent_journal.web.site import Site

_HEADINGS = {
    HTTPStatus.NOT_FOUND: "Not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "Not possible here",
    HTTPStatus.REQUEST_URI_TOO_LONG: "Too long",
    HTTPStatus.BAD_REQUEST: "Not understood",
}


def show_http_error(site: Site, _request: Request, error: Exception) -> Response:
    """A page for an address that leads nowhere."""
    return http_error_page(site, error)  # type: ignore[arg-type] # it is registered for these


def http_error_page(site: Site, error: HTTPException) -> Response:
    """A page for a request that cannot be answered."""
    status = HTTPStatus(error.status_code)
    is_standard = error.detail == status.phrase
    what = "There is no page at this address." if is_standard else error.detail
    return _page(site, status, _HEADINGS.get(status, status.phrase), what)


def journal_error_page(site: Site, error: AgentJournalError) -> Response:
    """A page for an error whose message says what happened and what to do."""
    if isinstance(error, NoArchive):
        return site.page("empty.html", {"home": site.config.home}, title="Welcome")
    if isinstance(error, NoSuchConversation | NoSuchMessage):
        return _page(site, HTTPStatus.NOT_FOUND, "Not found", str(error))
    return _page(site, HTTPStatus.SERVICE_UNAVAILABLE, "The journal cannot answer", str(error))


def crash_page(site: Site, error: Exception, report: str | None) -> Response:
    """A page for an error that should not be possible."""
    what = f"This is a bug in Agent Journal: {type(error).__name__}. The page goes on working."
    advice = f"Please report it and attach {report}" if report else "Please report it."
    return _page(site, HTTPStatus.INTERNAL_SERVER_ERROR, "Unexpected error", what, advice)


def _page(site: Site, status: HTTPStatus, heading: str, what: str, advice: str = "") -> Response:
    values = {"heading": heading, "what": what, "advice": advice}
    return site.page("error.html", values, title=heading, status=status)


def locked_page() -> tuple[bytes, str]:
    """The page for whoever has no cookie, and its policy. Its style is inline, as it may load nothing."""
    style = asset("agent_journal.web", "static/locked.css").strip()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    page = asset("agent_journal.web", "templates/locked.html").replace("{{ style }}", style)
    return page.encode(), f"{POLICY}; style-src 'self' 'sha256-{digest}'"
