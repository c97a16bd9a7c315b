"""A conversation as a file for others, with what was redacted and left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from msgspec.structs import replace
from playwright.sync_api import Browser

from tests.web.browsing import address, visiting
from tests.web.journals import almanac, make_journal, message, tides
from tests.web.served import Served, serving

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
SHARE, DOWNLOAD = "/share/claude-code%3Atides%2F1", "/download/claude-code%3Atides%2F1"


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    grown = [*tides().timeline, message("q3", "user", f"The token is {KEY[:40]}.", minute=20)]
    home = make_journal(
        tmp_path_factory.mktemp("secret") / "journal", [replace(tides(), timeline=grown), almanac()]
    )
    with serving(home, "--port", "0") as served:
        yield served


def test_the_page_says_what_was_redacted_before_the_download(
    browser: Browser, secret: Served, tmp_path: Path
) -> None:
    with visiting(browser, secret, address("claude-code:tides/1")) as it:
        it.page.click("text=Share…")
        it.page.wait_for_selector("h1:text('Share')")
        assert "github-token" in (it.page.text_content("main table") or "")
        it.sees("Subagents are not in the file.")
        it.page.check("input[name=subagents]")
        it.page.select_option("select[name=format]", "markdown")
        it.page.click(".share button")
        it.sees("2 conversations")
        with it.page.expect_download() as download:
            it.page.click(".download a")
        assert "The-tide-table.md" == download.value.suggested_filename
        download.value.save_as(tmp_path / "file")
        text = (tmp_path / "file").read_text(encoding="utf-8")
        assert "High water is at noon." in text
        assert KEY[:40] not in text
        assert [] == Axe().run(it.page).response["violations"]
        assert [] == it.deeds()


@pytest.mark.parametrize("name", ["html", "text", "json", "openai-messages", "parquet", "agent-record-v3"])
def test_no_format_has_the_secret(secret: Served, name: str) -> None:
    response = secret.get(f"{DOWNLOAD}?format={name}")
    assert 200 == response.status
    assert "attachment" in response.headers["content-disposition"]
    assert int(response.headers["content-length"]) == len(response.body) > 0
    assert KEY[:40].encode() not in response.body


def test_a_native_download_is_whole(secret: Served) -> None:
    conversation = json.loads(secret.get(f"{DOWNLOAD}?format=json").body)
    assert 13 == len(conversation["timeline"])


def test_the_page_says_what_a_format_leaves_out(secret: Served) -> None:
    assert "signatures and encrypted reasoning" in secret.get(f"{SHARE}?format=html").text


@pytest.mark.parametrize("name", ["pam", "x", "../etc/passwd"])
def test_a_format_that_is_no_file_is_a_page(secret: Served, name: str) -> None:
    for path in (SHARE, DOWNLOAD):
        response = secret.get(f"{path}?format={name}")
        assert 404 == response.status
        assert "aj export" in response.text
