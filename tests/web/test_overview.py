"""What was done when, with which tools, and what it cost."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser

from agent_journal import config
from agent_journal.archive.activity import ToolSum
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal import Journal
from agent_journal.journal.importing import import_files
from tests.web.browsing import visiting
from tests.web.journals import branches, make_journal, tides
from tests.web.served import Served, serving


def test_activity_counts_each_message_and_call_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = make_journal(tmp_path_factory.mktemp("activity") / "journal", [tides(), branches()])
    with Journal(config.load(home, {})) as journal:
        activity = journal.activity()
    assert {"2026-03-12T10": 7, "2026-03-12T11": 5} == activity.messages_by_hour
    assert ToolSum("Edit", 2, 2, 0, 0, 1) == activity.tools[0]
    assert {ToolSum("Bash", 1, 1, 1, 0, 1), ToolSum("Task", 1, 1, 0, 0, 1)} == set(activity.tools[1:])


def test_a_day_leads_to_its_conversations(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, "/overview") as it:
        it.sees("Overview")
        it.page.locator(".heat g[data-href]").first.click()
        it.page.wait_for_selector("#list >> text=The tide table")
        assert "since=2026-03-" in it.path
        it.page.go_back()
        it.page.wait_for_selector("h1:text('Overview')")
        it.page.click("table >> text=Bash")
        it.page.wait_for_selector(".hit >> text=The tide table")
        assert [] == it.deeds()


def test_the_overview_says_what_failed_and_what_is_not_known(stories: Served) -> None:
    page = stories.get("/overview").text
    assert "1, 100.0 %" in page
    assert "Names for a boat" not in page
    assert 200 == stories.get("/overview?year=2025").status
    assert 200 == stories.get("/overview?year=99999999").status
    assert 400 == stories.get("/overview?year=x").status


def test_the_overview_says_what_is_deleted_or_could_not_be_read(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    home = make_journal(tmp_path_factory.mktemp("health") / "journal", [tides()])
    with serving(home, "--port", "0") as served:
        assert "Every file was read completely" in served.get("/overview").text
    broken = home.parent / "broken.jsonl"
    broken.write_bytes(b"{no")
    import_files(config.load(home, {}), [ImportCandidate(str(broken))], lambda _: None)
    with serving(home, "--port", "0") as served:
        page = served.get("/overview").text
        assert "broken.jsonl" in page
        assert "Every file was read completely" not in page


def test_an_empty_journal_has_no_overview(tmp_path_factory: pytest.TempPathFactory) -> None:
    with serving(tmp_path_factory.mktemp("none") / "journal", "--port", "0") as served:
        assert "aj sync" in served.get("/overview").text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_reports_nothing(browser: Browser, stories: Served, dark: bool) -> None:
    with visiting(browser, stories, "/overview", dark=dark, width=390) as it:
        violations = Axe().run(it.page).response["violations"]
        assert [] == [(each["id"], each["nodes"][0]["html"]) for each in violations]
        assert 0 == it.tell("document.documentElement.scrollWidth - innerWidth")
