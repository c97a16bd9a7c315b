"""Finding and reading conversations in a real browser."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser

from tests.pages import hostile
from tests.web.browsing import address, visiting
from tests.web.journals import make_journal
from tests.web.served import Served, serving

TIDES, BRANCHES, LONG = "claude-code:tides/1", "chatgpt:branches", "codex:long"
CURRENT = "document.querySelector('.turn.current')?.id"
HIT = "[...(CSS.highlights.get('hit') || [])].map(String).join()"


def test_search_leads_to_the_message_and_back(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories) as it:
        it.page.keyboard.press("/")
        it.page.keyboard.type("haystack")
        it.page.wait_for_selector(".hit mark")
        assert it.path.startswith("/search?q=haystack")
        it.page.click(".hit a.snippet")
        it.page.wait_for_selector("h1:text('The tide table')")
        assert "message=" in it.path
        it.page.go_back()
        it.page.wait_for_selector(".hit mark")
        assert "haystack" == it.page.input_value("#q")
        assert [] == it.deeds()


def test_a_permalink_leads_to_its_message_in_a_long_conversation(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(LONG, "?message=o220#m-o220")) as it:
        it.until(CURRENT, "m-o220")
        top = it.tell("document.querySelector('.turn.current').getBoundingClientRect().top")
        assert 0 <= top < 400
        it.page.reload()
        it.until(CURRENT, "m-o220")
        assert [] == it.deeds()


def test_find_reaches_what_is_folded_and_what_is_not_loaded(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        it.page.keyboard.press("f")
        it.page.keyboard.type("haystack")
        it.until("document.getElementById('found').textContent", "1 of 1 message")
        it.sees("1 failed: haystack")
        assert "haystack" == it.tell(HIT)
        it.go(address(LONG))
        it.page.fill("#find", "buoy")
        it.page.keyboard.press("Enter")
        it.until("document.getElementById('found').textContent", "1 of 1 message")
        it.sees("Answer 220: buoy")
        assert [] == it.deeds()


def test_everything_is_reached_by_keys(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        places = []
        for key in "jjkJJK":
            it.page.keyboard.press(key)
            places.append(it.tell(CURRENT))
        assert ["m-a1", "m-a2", "m-a1", "m-q2", "m-q2", "m-q1"] == places
        it.page.keyboard.press("t")
        assert 0 == it.tell("document.querySelectorAll('details.tool:not([open])').length")
        it.page.keyboard.press("?")
        assert it.tell("document.getElementById('help').open")
        it.page.keyboard.press("Escape")
        it.page.keyboard.press("Control+k")
        it.page.keyboard.type("boat")
        it.page.wait_for_selector("#palette-options >> text=Names for a boat")
        it.page.keyboard.press("Enter")
        it.page.wait_for_selector("h1:text('Names for a boat')")
        it.page.keyboard.press("b")
        it.page.wait_for_selector("text=You are reading another branch")
        assert [] == it.deeds()


def test_the_list_leads_from_conversation_to_conversation(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        titles = it.tell("[...document.querySelectorAll('#list .row-title')].map(e => e.textContent)")
        place = titles.index("The tide table")
        it.page.keyboard.press("[")
        it.page.wait_for_selector(f"h1:text('{titles[place - 1]}')")
        it.page.keyboard.press("]")
        it.page.wait_for_selector("h1:text('The tide table')")


def test_reading_and_searching_need_no_script(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, script=False) as it:
        it.page.fill("#q", "haystack")
        it.page.keyboard.press("Enter")
        it.page.click(".hit a.snippet")
        it.sees("Go on, please.")
        it.page.click("text=Outline and changed files")
        it.page.click("#outline-content .files a")
        it.sees("2 changes")
        it.go(address(LONG))
        it.page.click("text=Later messages")
        it.sees("Question 50: plain")
        it.go(address(BRANCHES))
        it.page.click("nav.fork a >> nth=0")
        it.sees("You are reading another branch")
        assert [] == [url for url in it.asked if f":{stories.port}/" not in url]


VIEWS = {
    "home": "/",
    "search": "/search?q=table",
    "nothing": "/search?q=zzzz",
    "conversation": address(TIDES),
    "branches": address(BRANCHES),
    "edits": f"/edits/{TIDES.replace('/', '%2F')}?path=%2Fhome%2Fana%2Ftides%2Ftable.py",
    "missing": address("none:none"),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_reports_nothing(browser: Browser, stories: Served, view: str, dark: bool) -> None:
    with visiting(browser, stories, VIEWS[view], dark=dark) as it:
        it.page.wait_for_load_state("networkidle")
        violations = Axe().run(it.page).response["violations"]
        assert [] == [(each["id"], each["nodes"][0]["html"]) for each in violations]


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_a_telephone(browser: Browser, stories: Served, view: str) -> None:
    with visiting(browser, stories, VIEWS[view], width=390) as it:
        it.page.wait_for_load_state("networkidle")
        assert 0 == it.tell("document.documentElement.scrollWidth - innerWidth")


def test_what_is_hostile_does_nothing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    items = [item for payload in hostile.XSS[::4] for item in hostile.items(payload)[0]]
    home = make_journal(tmp_path_factory.mktemp("hostile") / "journal", items)
    with serving(home, "--port", "0") as served, visiting(browser, served, "/search?q=zq1qz") as it:
        it.page.wait_for_load_state("networkidle")
        it.go("/")
        links = it.tell("[...document.querySelectorAll('#list a.row')].map(a => a.getAttribute('href'))")
        assert len(links) >= 10
        for link in links:
            it.go(link)
            it.page.keyboard.press("e")
            it.page.keyboard.press("r")
            it.page.wait_for_load_state("networkidle")
        # An image that is not one is not there.
        assert [] == [each for each in it.deeds() if "404 (Not Found)" not in each]
        assert 0 == it.tell("document.querySelectorAll('main script, main iframe, main [onclick]').length")
