"""Share a conversation: choose a format, see what was redacted and left out, then download."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from agent_journal.text import describe
from agent_journal.web.sharing import ShareRequest, formats, iter_blocks
from agent_journal.web.views.home import list_values

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.web.site import Site

_DEFAULT_FORMAT = "html"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME_CHARS = 60


def show(site: Site, request: Request) -> Response:
    """What a file for others will contain."""
    opened = site.journal.open(request.path_params["name"])
    wanted = _parse(opened.name, request)
    shared = site.journal.share(wanted)
    shared.content.close()
    parameters = {
        "format": wanted.format,
        "subagents": "1" if wanted.with_subagents else "",
        "personal": "1" if wanted.redacts_personal else "",
    }
    values = {
        "opened": opened,
        "formats": formats(),
        "wanted": wanted,
        "shared": shared,
        "loses": next(info.loses for info in formats() if info.name == wanted.format),
        "file_name": _file_name(opened.listed.title, wanted.format),
        "download": site.urls.of("download", opened.name, parameters),
        "list_values": list_values(site, {}, opened.listed),
    }
    return site.page("share.html", values, title=f"Share · {opened.listed.title or describe.UNTITLED}")


def download(site: Site, request: Request) -> Response:
    """The file."""
    opened = site.journal.open(request.path_params["name"])
    wanted = _parse(opened.name, request)
    shared = site.journal.share(wanted)
    headers = {
        "content-disposition": f'attachment; filename="{_file_name(opened.listed.title, wanted.format)}"',
        "content-length": str(shared.size),
    }
    return StreamingResponse(
        iter_blocks(shared.content), media_type="application/octet-stream", headers=headers
    )


def _parse(name: str, request: Request) -> ShareRequest:
    parameters = request.query_params
    chosen = parameters.get("format", _DEFAULT_FORMAT)
    if chosen not in {info.name for info in formats()}:
        raise HTTPException(404, "There is no such format, or it is more than one file: use aj export.")
    return ShareRequest(name, chosen, parameters.get("subagents") == "1", parameters.get("personal") == "1")


def _file_name(title: str | None, chosen: str) -> str:
    """A name that is safe on all systems."""
    words = _UNSAFE.sub("-", title or "conversation").strip("-.")[:_MAX_NAME_CHARS].rstrip("-.")
    suffix = next(info.suffix for info in formats() if info.name == chosen)
    return f"{words or 'conversation'}{suffix}"
