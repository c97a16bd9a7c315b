"""Branches, subagents, boundaries and figures of a conversation in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from agent_journal.model import Event, Message, Usage
from agent_journal.rendering.figures import ConversationFigures
from tests.web.browsing import address, visiting
from tests.web.journals import message
from tests.web.served import Served

TIDES, BRANCHES = "claude-code:tides/1", "chatgpt:branches"


def test_a_switch_leads_from_branch_to_branch(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(BRANCHES)) as it:
        assert "3/3" == it.page.text_content(".fork .switch b")
        it.page.click("[aria-label='Previous branch']")
        it.page.wait_for_selector(".fork b:text('2/3')")
        it.sees("Barnacle")
        it.page.click("[aria-label='Previous branch']")
        it.page.wait_for_selector(".fork b:text('1/3')")
        assert 0 == it.page.locator("[aria-label='Previous branch']").count()
        it.page.go_back()
        it.page.wait_for_selector(".fork b:text('2/3')")
        it.page.click("[aria-label='Next branch']")
        it.page.wait_for_selector(".fork b:text('3/3')")
        assert [] == it.deeds()


def test_two_branches_are_compared(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(BRANCHES)) as it:
        it.page.click("li:has-text('Albatross') .compare")
        it.page.wait_for_selector("h1:text('Two branches')")
        diff = it.page.text_content("pre.diff") or ""
        assert "+Albatross" in diff
        assert "-Cormorant" in diff
        assert "-I take that one." in diff


def test_two_conversations_are_compared_by_keys(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        it.page.keyboard.press("x")
        it.until("document.getElementById('status').textContent.startsWith('Press x')", expected=True)
        it.page.click("#list >> text=Names for a boat")
        it.page.wait_for_selector("h1:text('Names for a boat')")
        it.page.keyboard.press("x")
        it.page.wait_for_selector("h1:text('Two conversations')")
        diff = it.page.text_content("pre.diff") or ""
        assert "-Go on, please." in diff
        assert "+Name my boat." in diff
        assert [] == it.deeds()


@pytest.mark.parametrize("query", ["", "?a=none", "?a=none%3Anone&b=codex%3Along"])
def test_a_comparison_of_nothing_is_a_page(stories: Served, query: str) -> None:
    response = stories.get(f"/compare{query}")
    assert response.status in {400, 404}
    assert "Traceback" not in response.text


@pytest.mark.parametrize("places", ["a=0&b=9", "a=0&b=1&other=99", "a=x&b=1"])
def test_a_branch_that_is_not_there_is_a_page(stories: Served, places: str) -> None:
    response = stories.get(f"/branches/chatgpt%3Abranches?{places}")
    assert response.status in {400, 404}
    assert "Traceback" not in response.text


def test_a_compaction_is_a_visible_boundary(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        assert it.page.locator(".compaction").is_visible()
        assert not it.page.locator("details.events").is_visible()


def test_a_subagent_opens_below_its_call(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        it.page.click("button.open-in-place")
        it.page.wait_for_selector(".in-place >> text=High water is at noon.")
        assert 0 == it.tell("document.querySelectorAll('.in-place [id]').length")
        it.page.click("button.open-in-place")
        assert 0 == it.page.locator(".in-place").count()
        it.page.click("#outline .subagents a")
        it.page.wait_for_selector("h1:text('Read the almanac')")
        it.page.click("text=tides/1")
        it.page.wait_for_selector("h1:text('The tide table')")
        assert [] == it.deeds()


def test_the_outline_says_what_subagents_took(stories: Served) -> None:
    outline = stories.get("/outline/claude-code%3Atides%2F1").text
    assert "2 messages · 2 min 0 s · 800 in, 40 out, 4,000 from cache" in outline


def test_a_bar_of_the_context_leads_to_its_answer(browser: Browser, stories: Served) -> None:
    with visiting(browser, stories, address(TIDES)) as it:
        it.page.wait_for_selector(".chart.context g")
        assert 5 == it.page.locator(".chart.context g").count()
        it.tell(
            "document.querySelectorAll('.chart.context g')[4].dispatchEvent("
            "new MouseEvent('click', {bubbles: true, cancelable: true}))"
        )
        it.until("document.querySelector('.turn.current')?.id", "m-a5")
        assert [] == it.deeds()


def figures(*entries: Message | Event) -> ConversationFigures:
    collected = ConversationFigures()
    for entry in entries:
        collected.add(entry)
    return collected


def test_time_belongs_to_who_was_waited_for() -> None:
    collected = figures(
        message("1", "user", "a", minute=0),
        message("2", "assistant", "b", minute=1),
        message("3", "tool", "c", minute=3),
        message("4", "assistant", "d", minute=4),
        message("5", "user", "e", minute=7),
        message("6", "user", "f", minute=67),
    )
    assert {"model": 120_000, "tool": 120_000, "person": 180_000} == collected.totals_ms
    assert 3_600_000 == collected.paused_ms
    lanes = collected.lanes()
    assert 100 == round(sum(each.share for each in lanes))
    assert {0, 99} <= {each.slot for each in lanes}


def test_what_is_not_stated_is_not_drawn() -> None:
    undated = Message(id="1", role="user", parts=[])
    assert [] == figures(undated, undated).lanes()
    assert [] == figures(undated).context
    assert {} == figures(undated).totals_ms


def test_of_many_answers_the_largest_of_each_slice_is_drawn() -> None:
    answers = [
        Message(id=str(n), role="assistant", usage=Usage(input=n, cache_read=1))
        for n in range(1000)
        for n in range(1000)
    ]
    context = figures(*answers).context
    assert len(context) <= 100
    assert ("999", 1000) == context[-1]
