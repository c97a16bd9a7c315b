"""The system's Chromium, and pages in it that tell what they tried to do."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# What is hostile calls this; what a policy forbids is told by an event.
WATCH = """
window.deeds = [];
window.pwned = () => window.deeds.push("pwned");
document.addEventListener("securitypolicyviolation", (event) =>
  window.deeds.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; without one the test is skipped, and fails where changes are checked."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        why = "no Chromium is installed: apt-get install chromium"
        pytest.fail(why) if os.environ.get("CI") == "true" else pytest.skip(why)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        told = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        yield browser
        # On a busy machine it takes its time to close; nothing of it is worth waiting for.
        for process in told:
            if process["type"] == "browser":
                os.kill(process["id"], signal.SIGKILL)


class Opened:
    """A page that is open, and what it asked of the world."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(dialog.message))

    def deeds(self) -> list[str]:
        """What was done that no page of ours does."""
        far = [url for url in self.asked if not url.startswith(("file:", "data:"))]
        return [*far, *self.said, *self.tell("window.deeds || []")]

    def until(self, expression: str, expected: object) -> None:
        """Wait for what a script finds to be what is expected. The policy lets no page evaluate text."""
        for _ in range(200):
            if self.tell(expression) == expected:
                return
            self.page.wait_for_timeout(25)
        assert expected == self.tell(expression)

    def tell(self, expression: str) -> Any:
        """What a script of the test finds."""
        return self.page.evaluate(expression)


@contextmanager
def opened(
    browser: Browser, path: Path, *, script: bool = True, width: int = 1280, dark: bool = False
) -> Iterator[Opened]:
    """A file in a window of its own."""
    context = browser.new_context(
        java_script_enabled=script,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
    )
    context.set_default_timeout(20_000)
    context.add_init_script(WATCH)
    try:
        found = Opened(context.new_page())
        found.page.goto(path.as_uri())
        yield found
    finally:
        context.close()
