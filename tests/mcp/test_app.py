"""The page that shows hits inside of their conversations, in a client that can show pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from playwright.sync_api import Browser, expect

from agent_journal.mcp.server import create_server
from tests.journal.conversations import conversation, message, text
from tests.mcp.kitchen import HERE, at, service
from tests.pages.browser import chromium

URI, MIME_TYPE = "ui://agent-journal/hits", "text/html;profile=mcp-app"
MARKUP = "<img src=x onerror='parent.postMessage({pwned: 1}, \"*\")'><b>stew</b>"
PATIENCE_MS = 120_000  # on a busy machine
HOST = """
window.sent = [];
window.addEventListener("message", async (event) => {
  const frame = document.querySelector("iframe").contentWindow;
  const { id, method, params, ...rest } = event.data;
  window.sent.push(method ?? JSON.stringify(rest));
  const reply = (result) => frame.postMessage({ jsonrpc: "2.0", id, result }, "*");
  if (method === "ui/initialize") reply({ protocolVersion: params.protocolVersion, hostCapabilities: {} });
  if (method === "ui/notifications/initialized") {
    const result = { content: [], structuredContent: await window.call("search", '{"query": "stew boil"}') };
    frame.postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: result }, "*");
  }
  if (method === "tools/call") {
    reply({ structuredContent: await window.call(params.name, JSON.stringify(params.arguments)) });
  }
});
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


def test_clients_learn_of_the_page(tmp_path: Path) -> None:
    async def talk() -> None:
        with service(tmp_path) as opened:
            server = create_server(opened)
            async with Client(server) as client:
                tools = {each.name: each.meta for each in (await client.list_tools()).tools}
                assert {"ui": {"resourceUri": URI}} == tools.pop("search")
                assert {None} == set(tools.values())
                (page,) = (await client.read_resource(URI)).contents
                assert isinstance(page, types.TextResourceContents)
                assert MIME_TYPE == page.mime_type
                assert "io.modelcontextprotocol/ui" in (client.server_capabilities.extensions or {})

    anyio.run(talk)


def test_a_hit_is_shown_inside_its_conversation(browser: Browser, tmp_path: Path) -> None:
    hostile = conversation(
        "hostile",
        message("h1", "user", at(41), text(f"How does the stew boil? {MARKUP}")),
        message("h2", "assistant", at(42), text(MARKUP)),
        cwd=HERE,
        title=MARKUP,
    )
    html = Path(__file__).parents[2] / "src" / "agent_journal" / "mcp" / "static" / "hits.html"
    with service(tmp_path, hostile) as opened, browser.new_page() as page:

        def call(tool: str, arguments: str) -> dict[str, Any]:
            return opened.call(tool, json.loads(arguments)).data

        page.expose_function("call", call)
        page.set_content(
            f"<script>{HOST}</script><iframe sandbox='allow-scripts' width=800 height=600></iframe>"
        )
        page.evaluate(
            "html => document.querySelector('iframe').srcdoc = html", html.read_text(encoding="utf-8")
        )
        frame = page.frame_locator("iframe")
        expect(frame.locator("button.hit")).to_have_count(3, timeout=PATIENCE_MS)
        frame.locator("button.hit", has_text="onerror").first.click()
        expect(frame.locator("article")).to_have_count(2, timeout=PATIENCE_MS)
        expect(frame.locator("article.target")).to_contain_text("How does the stew boil? <img src=x")
        frame.get_by_role("button", name="Back to the hits").click()
        expect(frame.locator("button.hit").first).to_be_visible()
        assert 0 == frame.locator("img, b").count()
        sent = page.evaluate("window.sent")
    assert [] == [each for each in sent if "pwned" in each]
    assert {"ui/initialize", "ui/notifications/initialized", "tools/call"} <= {*sent}
