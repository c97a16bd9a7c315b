"""What stands before every view: only this machine's browser, with the cookie, gets an answer.

The server is on the loopback interface, but every web page that the user visits can send requests to it, and
so can every user of the machine. See threats W1 and W2 in `SECURITY.md`.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from agent_journal.web.access import AccessTokens

TOKEN = "token"  # noqa: S105 (the name of a parameter)
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    b"cache-control": b"no-store",
    b"content-security-policy": POLICY.encode(),
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
}
_SAFE_METHODS = frozenset({"GET", "HEAD"})
_BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN, _SEE_OTHER = 400, 401, 403, 303
_MAX_REPORTED_HOSTS = 20


class Guard:
    """An application that passes on what its user's browser asks, and refuses everything else."""

    def __init__(
        self,
        app: ASGIApp,
        tokens: AccessTokens,
        hosts: Collection[str],
        prefix: str,
        *,
        locked_page: tuple[bytes, str],
        on_request: Callable[[], None],
        on_refused_host: Callable[[str], None],
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"{scheme}://{host}" for host in hosts for scheme in ("http", "https"))
        self._prefix = prefix
        self._locked_page, self._locked_policy = locked_page
        self._on_request = on_request
        self._on_refused_host = on_refused_host
        self._reported_hosts: set[str] = set()
        port = next(iter(hosts)).rpartition(":")[2]
        # Cookies are shared by all ports of a host.
        self.cookie_name = f"aj-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        self._on_request()
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        send = _with_headers(send)
        if not self._has_own_host(headers):
            await _respond(send, _BAD_REQUEST)
        elif scope["method"] not in _SAFE_METHODS and not self._is_from_own_page(headers):
            await _respond(send, _FORBIDDEN)
        elif self._has_cookie(headers):
            await self._app(scope, receive, send)
        elif self._is_link(scope) and self._tokens.redeem(_token_in(scope)):
            await self._hand_over(send)
        else:
            policy = (b"content-security-policy", self._locked_policy.encode())
            await _respond(send, _UNAUTHORIZED, self._locked_page, [_HTML, policy])

    def _has_own_host(self, headers: list[tuple[bytes, bytes]]) -> bool:
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        if len(hosts) == 1 and hosts[0] in self._hosts:
            return True
        host = hosts[0] if hosts else ""
        if host not in self._reported_hosts and len(self._reported_hosts) < _MAX_REPORTED_HOSTS:
            self._reported_hosts.add(host)
            self._on_refused_host(host)
        return False

    def _is_from_own_page(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether a request that may change something comes from a page of this server."""
        origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
        sites = [value for name, value in headers if name == b"sec-fetch-site"]
        if origins and not all(origin in self._origins for origin in origins):
            return False
        return all(site == b"same-origin" for site in sites) and bool(origins or sites)

    def _has_cookie(self, headers: list[tuple[bytes, bytes]]) -> bool:
        cookies = (value.decode("latin-1") for name, value in headers if name == b"cookie")
        return any(self._tokens.is_session(value) for value in map(self._session_in, cookies) if value)

    def _session_in(self, cookie: str) -> str:
        try:
            morsel = SimpleCookie(cookie).get(self.cookie_name)
        except CookieError:
            return ""
        return morsel.value if morsel is not None else ""

    def _is_link(self, scope: Scope) -> bool:
        path: str = scope["path"]
        return scope["method"] == "GET" and path.rstrip("/") == self._prefix

    async def _hand_over(self, send: Send) -> None:
        """Exchange the token for the cookie, and remove it from the address bar."""
        path = f"{self._prefix}/"
        cookie = f"{self.cookie_name}={self._tokens.session}; Path={path}; HttpOnly; SameSite=Strict"
        headers = [(b"location", path.encode()), (b"set-cookie", cookie.encode())]
        await _respond(send, _SEE_OTHER, b"", headers)


_HTML = (b"content-type", b"text/html; charset=utf-8")


def _token_in(scope: Scope) -> str:
    query: bytes = scope["query_string"]
    return parse_qs(query.decode("latin-1")).get(TOKEN, [""])[0]


def _with_headers(send: Send) -> Send:
    """A `send` that adds the headers of every response, unless the response has its own policy."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", [])
            own = {name for name, _ in headers}
            message["headers"] = [*headers, *(item for item in _HEADERS.items() if item[0] not in own)]
        await send(message)

    return send_with_headers


async def _respond(
    send: Send, status: int, body: bytes = b"", headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*(headers or ()), length]})
    await send({"type": "http.response.body", "body": body})
