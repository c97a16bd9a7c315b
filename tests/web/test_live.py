"""A page that follows its conversation while that grows."""

from __future__ import annotations

import http.client
from pathlib import Path

from msgspec.structs import replace
from playwright.sync_api import Browser

from tests.web.browsing import address, visiting
from tests.web.journals import make_journal, message, tides
from tests.web.served import serving

ENDS = "document.querySelector('article.conversation').dataset.total"


def test_what_is_added_appears_below_a_line(browser: Browser, tmp_path: Path) -> None:
    home = make_journal(tmp_path / "journal", [tides()])
    with (
        serving(home, "--port", "0") as served,
        visiting(browser, served, address("claude-code:tides/1")) as it,
    ):
        it.sees("The table is right now.")
        it.page.click("details.tool >> nth=0 >> summary")
        assert 0 == it.page.locator(".new-line").count()
        grown = [*tides().timeline, message("q3", "user", "Thank you for the tide.", minute=20)]
        make_journal(home, [replace(tides(), timeline=grown, updated_at="2026-03-12T10:20:00Z")])
        it.sees("Thank you for the tide.")
        assert 1 == it.page.locator(".new-line").count()
        above, below = it.tell(
            "[document.querySelector('.new-line').previousElementSibling.id,"
            " document.querySelector('.new-line').nextElementSibling.id]"
        )
        assert ("m-a5", "m-q3") == (above, below)
        assert it.tell("document.querySelector('details.tool').open")
        assert "13" == it.tell(ENDS)
        it.page.reload()
        it.sees("Thank you for the tide.")
        assert 0 == it.page.locator(".new-line").count()
        assert [] == it.deeds()


def test_a_page_says_what_is_new_since_the_last_look(browser: Browser, tmp_path: Path) -> None:
    home = make_journal(tmp_path / "journal", [tides()])
    with (
        serving(home, "--port", "0") as served,
        visiting(browser, served, address("claude-code:tides/1")) as it,
    ):
        it.sees("The table is right now.")
        it.go("/")
        grown = [*tides().timeline, message("q3", "user", "Thank you for the tide.", minute=20)]
        make_journal(home, [replace(tides(), timeline=grown, updated_at="2026-03-12T10:20:00Z")])
        it.go(address("claude-code:tides/1"))
        it.page.wait_for_selector("#m-a5 + .new-line")


def test_the_server_ends_while_a_page_follows(tmp_path: Path) -> None:
    home = make_journal(tmp_path / "journal", [tides()])
    with serving(home, "--port", "0") as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.request("GET", "/live/claude-code%3Atides%2F1", headers={"Cookie": served.cookie})
        response = connection.getresponse()
        assert "text/event-stream" in (response.getheader("content-type") or "")
        assert b'data: {"total": 12, "last": "m-a5"}' in response.readline()
        served.process.terminate()
        assert served.process.wait(60) in {0, 143}  # it says by which signal
        connection.close()


def test_a_missing_conversation_is_followed_by_nobody(tmp_path: Path) -> None:
    home = make_journal(tmp_path / "journal", [tides()])
    with serving(home, "--port", "0") as served:
        assert 404 == served.get("/live/none%3Anone").status
        assert 401 == served.get("/live/claude-code%3Atides%2F1", cookie=False).status
