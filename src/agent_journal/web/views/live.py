"""Notify an open page that its conversation has grown, by server-sent events."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from agent_journal.errors import AgentJournalError
from agent_journal.rendering.addresses import message_anchor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.web.site import Site

_POLL_S = 2.0
_MAX_QUIET_POLLS = 8
"""A line that says nothing shows that the connection has ended."""


def show(site: Site, request: Request) -> Response:
    """Events with the number of entries of a conversation, whenever that changes."""
    name = site.journal.open(request.path_params["name"]).name
    return StreamingResponse(_events(site, name), media_type="text/event-stream")


async def _events(site: Site, name: str) -> AsyncIterator[str]:
    known = await run_in_threadpool(site.journal.version, name)
    yield f"data: {json.dumps(await run_in_threadpool(_state, site, name))}\n\n"
    polls = 0
    while True:
        await asyncio.sleep(_POLL_S)
        polls += 1
        try:
            version = await run_in_threadpool(site.journal.version, name)
            if version != known:
                known = version
                yield f"data: {json.dumps(await run_in_threadpool(_state, site, name))}\n\n"
            elif polls % _MAX_QUIET_POLLS == 0:
                yield ":\n\n"
        except AgentJournalError:
            # The journal is being changed, or the conversation was forgotten: the next request says so.
            return


def _state(site: Site, name: str) -> dict[str, object]:
    opened = site.journal.open(name)
    return {"total": opened.total(0), "last": last_anchor(site, name)}


def last_anchor(site: Site, name: str) -> str:
    """The anchor of the last entry that the source shows; empty without entries."""
    opened = site.journal.open(name)
    total = opened.total(0) if opened.parts else 0
    entries = opened.entries(0, total - 1, 1).entries if total else []
    return message_anchor(entries[0].id) if entries else ""
