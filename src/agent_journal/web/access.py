"""Who may use the page: whoever has a link that works once, and then the cookie that it is exchanged for."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

_TOKEN_BYTES = 32


class AccessTokens:
    """The secrets of one server; they end with it."""

    def __init__(self) -> None:
        self.session = secrets.token_urlsafe(_TOKEN_BYTES)
        """The value of the cookie."""
        self._unused_links: list[bytes] = []

    def create_link(self) -> str:
        """Create a token that can be exchanged for the cookie once.

        What starts a browser is visible to all users of a machine, so its token must be worthless afterward.
        """
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._unused_links.append(_hash(token))
        return token

    def redeem(self, token: str) -> bool:
        """Whether a token opens the page; it does so once."""
        wanted = _hash(token)
        matches = [link for link in self._unused_links if hmac.compare_digest(link, wanted)]
        for link in matches:
            self._unused_links.remove(link)
        return bool(matches)

    def is_session(self, cookie: str) -> bool:
        """Whether a cookie is the one that this server handed out; the comparison takes constant time."""
        return hmac.compare_digest(_hash(cookie), _hash(self.session))


def _hash(value: str) -> bytes:
    return sha256(value.encode("utf-8", "surrogatepass")).digest()
