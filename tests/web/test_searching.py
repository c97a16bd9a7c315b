"""Snippets, filters and saved searches in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.web.browsing import visiting
from tests.web.served import Served


def test_a_conversation_has_three_snippets(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, "/search?q=plain") as it:
        hit = it.page.locator(".hit").first
        assert 3 == hit.locator("a.snippet").count()
        assert 3 == hit.locator("a.snippet mark").count()
        assert hit.locator("text=more hits in this conversation").is_visible()
        hit.locator("a.snippet").nth(2).click()
        it.page.wait_for_selector("h1:text('A long one')")
        assert "message=p" in it.path
        assert [] == it.deeds()


def test_filters_have_the_numbers_of_all_messages(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, "/search?q=question OR table") as it:
        codex = it.page.locator("#facets a:has-text('Codex') small")
        codex.wait_for()
        assert "225" == codex.text_content()
        it.page.click("#facets a:has-text('Claude Code')")
        it.page.wait_for_selector("#list [aria-current]:has-text('Claude Code')")
        assert "source=claude-code" in it.path
        it.page.wait_for_selector(".hit >> text=The tide table")
        assert 0 == it.page.locator(".hit >> text=A long one").count()
        assert [] == it.deeds()


def test_a_tool_and_a_month_narrow_a_search(stories: Served) -> None:
    facets = stories.get("/facets?q=haystack").text
    assert "Failed calls" in facets
    assert "The tide table" in stories.get("/search?q=haystack&tool=Bash").text
    assert "The tide table" not in stories.get("/search?q=haystack&tool=Edit").text
    assert "The tide table" in stories.get("/search?q=haystack&month=2026-03").text
    assert "The tide table" not in stories.get("/search?q=haystack&month=2026-04").text


@pytest.mark.parametrize("month", ["2026-13", "0000-01", "9999-12", "x", "2026-03-01"])
def test_a_month_that_is_none_is_no_error(stories: Served, month: str) -> None:
    assert 200 == stories.get(f"/search?q=haystack&month={month}").status
    assert 200 == stories.get(f"/facets?q=haystack&month={month}").status


def test_a_search_is_saved_and_removed(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, "/search?q=haystack&source=claude-code") as it:
        it.page.click("text=Save this search")
        it.go("/search")
        it.page.click("#saved-searches a:text('haystack · claude-code')")
        it.page.wait_for_selector(".hit >> text=The tide table")
        assert it.path.startswith("/search?q=haystack&source=claude-code")
        it.page.click("text=Remove from saved searches")
        assert 0 == it.page.locator("#saved-searches a").count()
        assert [] == it.deeds()
