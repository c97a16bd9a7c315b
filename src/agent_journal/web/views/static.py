"""The files of the page itself: style, scripts and icons."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request

    from agent_journal.web.site import Site

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PACKAGES = ("agent_journal.web", "agent_journal.rendering")


def show(_site: Site, request: Request) -> Response:
    """A file."""
    file = _files().get(request.path_params["name"])
    if file is None:
        raise HTTPException(404)
    return Response(file[0], media_type=file[1])


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """All files by name, with their types; nothing else can be named."""
    files: dict[str, tuple[bytes, str]] = {}
    for package in _PACKAGES:
        for file in resources.files(package).joinpath("static").iterdir():
            suffix = f".{file.name.rpartition('.')[2]}"
            if suffix in _TYPES:
                files[file.name] = file.read_bytes(), _TYPES[suffix]
    return files
