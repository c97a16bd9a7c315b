"""Images and files of conversations, by the message that has them; never by a path."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from agent_journal.model import Message
from agent_journal.rendering.media_types import detect_media_type
from agent_journal.web.addresses import iter_media
from agent_journal.web.views.parameters import integer

if TYPE_CHECKING:
    from starlette.requests import Request

    from agent_journal.model import Media
    from agent_journal.web.site import Site

_HEAD_BYTES = 64
_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"


def show(site: Site, request: Request) -> Response:
    """An image to display, or any other file to download."""
    name = request.path_params["name"]
    opened = site.journal.open(name)
    branch, position = opened.locate(request.query_params.get("message", ""))
    media = _nth_media(opened.entries(branch, position, 1).entries[0], integer(request, "number", 0))
    content = site.journal.media(opened.name, media)
    if content is None:
        raise HTTPException(
            404, "This file is not in the journal; its source did not have it, or it was too large."
        )
    suffix, mime = detect_media_type(base64.b64encode(content[:_HEAD_BYTES]).decode())
    headers = {"content-security-policy": _POLICY}
    if not mime.startswith("image/"):
        mime = "application/octet-stream"
        headers["content-disposition"] = f'attachment; filename="attachment.{suffix}"'
    return Response(content, media_type=mime, headers=headers)


def _nth_media(entry: object, number: int) -> Media:
    media = [*iter_media(entry.parts)] if isinstance(entry, Message) else []
    if not 0 <= number < len(media):
        raise HTTPException(404, "This message has no such file.")
    return media[number]
