"""Serves agents by HTTP: on this machine only, and only who knows the token."""

from __future__ import annotations

import hmac
import os
import secrets
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs

from mcp.server.transport_security import TransportSecuritySettings

from agent_journal import files
from agent_journal.mcp.server import create_server
from agent_journal.web.local_server import ADDRESS, IdleClock, listen, serve_app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from agent_journal.mcp.service import Service

DEFAULT_PORT = 8378
PATH = "/mcp"
TOKEN_FILE = "mcp-token"  # noqa: S105 (the name of a file)
TOKEN_VARIABLE = "AJ_MCP_TOKEN"  # noqa: S105 (the name of a variable)
_TOKEN = "token"  # noqa: S105 (the name of a parameter)
_TOKEN_BYTES = 32
_MIN_TOKEN_CHARS = 16
_MAX_BODY_BYTES = 4_000_000
_UNAUTHORIZED, _FORBIDDEN, _MISDIRECTED = 401, 403, 421


class Address(NamedTuple):
    """Where the server is, and the file with the token; None if the environment sets it."""

    url: str
    token_file: str | None


class Token(NamedTuple):
    """What a client must know."""

    value: str
    file: str | None


def token_of(home: Path) -> Token:
    """Return the token of the environment, or else that of a journal, which is made once."""
    value = os.environ.get(TOKEN_VARIABLE, "")
    if len(value) >= _MIN_TOKEN_CHARS:
        return Token(value, None)
    path = str(home / TOKEN_FILE)
    try:
        with files.open_regular(path) as file:
            value = file.read(1024).decode("ascii", "replace").strip()
    except FileNotFoundError:
        value = ""
    if len(value) < _MIN_TOKEN_CHARS:
        value = secrets.token_urlsafe(_TOKEN_BYTES)
        files.write_bytes(path, f"{value}\n".encode())
    return Token(value, path)


def serve_http(service: Service, token: Token, port: int | None, on_ready: Callable[[Address], None]) -> None:
    """Serve until a signal ends it."""
    listening = listen(port, DEFAULT_PORT)
    port = listening.getsockname()[1]
    hosts = [f"{name}:{port}" for name in (ADDRESS, "localhost")]
    origins = [f"http://{host}" for host in hosts]
    app = create_server(service).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=_MAX_BODY_BYTES,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins
        ),
    )
    serve_app(
        TokenGuard(app, token.value, hosts, origins),
        listening,
        IdleClock(None),
        lambda: on_ready(Address(f"http://{ADDRESS}:{port}{PATH}", token.file)),
        lifespan="on",
    )


class TokenGuard:
    """An application that passes on requests with the token, for this host and from no other page."""

    def __init__(self, app: ASGIApp, token: str, hosts: list[str], origins: list[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {host.encode() for host in hosts}
        self._origins = {origin.encode() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and (status := self._refusal(scope)):
            headers = [(b"content-length", b"0")]
            if status == _UNAUTHORIZED:
                headers.append((b"www-authenticate", b"Bearer"))
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> int | None:
        """Return the status of a refused request; None if it is allowed."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts = [value.lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _MISDIRECTED
        if any(name == b"origin" and value not in self._origins for name, value in headers):
            return _FORBIDDEN
        given = [value.removeprefix(b"Bearer ") for name, value in headers if name == b"authorization"]
        given += [each.encode() for each in parse_qs(scope["query_string"].decode("latin-1")).get(_TOKEN, [])]
        if not any(hmac.compare_digest(each, self._token) for each in given):
            return _UNAUTHORIZED
        return None
