"""A browser, and a server of conversations that have whatever a page shows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.pages.browser import chromium
from tests.web.journals import everything, make_journal
from tests.web.served import Served, serving


# Only one can be driven at a time, and other modules have their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that tests only read from."""
    home = make_journal(tmp_path_factory.mktemp("stories") / "journal", everything())
    with serving(home, "--port", "0") as served:
        yield served
