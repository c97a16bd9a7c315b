"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from playwright.sync_api import Browser

from tests.pages.browser import WATCH, Opened
from tests.web.served import Served


class Visited(Opened):
    """A page of the server that is open."""

    served: Served

    def deeds(self) -> list[str]:
        """What was done that no page of ours does: requests to others, messages, violations."""
        here = f"http://127.0.0.1:{self.served.port}/"
        far = [url for url in self.asked if not url.startswith((here, "data:"))]
        return [*far, *self.said, *self.tell("window.deeds || []")]

    def go(self, path: str) -> None:
        """Open an address of the server."""
        self.page.goto(f"http://127.0.0.1:{self.served.port}{path}")

    def sees(self, text: str) -> None:
        """Wait until a text is visible."""
        self.page.get_by_text(text).first.wait_for(state="visible")

    @property
    def path(self) -> str:
        """What the address bar shows after the host."""
        return self.page.url.partition(f":{self.served.port}")[2]


@contextmanager
def visiting(
    browser: Browser,
    served: Served,
    path: str = "/",
    *,
    script: bool = True,
    width: int = 1440,
    dark: bool = False,
) -> Iterator[Visited]:
    """The page in a window of its own, with the cookie."""
    context = browser.new_context(
        java_script_enabled=script,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
    )
    name, _, value = served.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}])
    context.set_default_timeout(20_000)
    context.add_init_script(WATCH)
    try:
        visited = Visited(context.new_page())
        visited.served = served
        visited.go(path)
        yield visited
    finally:
        context.close()


def address(name: str, query: str = "") -> str:
    """The address of a conversation."""
    return f"/c/{quote(name, safe='')}{query}"
