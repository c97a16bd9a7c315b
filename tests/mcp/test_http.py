"""The server by HTTP: only this machine, and only who knows the token."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from agent_journal.mcp.http import TOKEN_FILE, TokenGuard, token_of
from tests.journal.conversations import import_into
from tests.mcp.kitchen import conversations

HOST, TOKEN = "127.0.0.1:1", "a-token-of-many-letters"

PATIENCE_S = 120  # of a client on a busy machine


@contextmanager
def server(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "agent_journal", "--home", str(home), "mcp", "--http", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_with_the_token(mode: Any, tmp_path: Path) -> None:
    home = tmp_path / "journal"
    import_into(home, *conversations())

    async def talk(url: str) -> None:
        token = (home / TOKEN_FILE).read_text().strip()
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_S) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            answer = await client.call_tool("search", {"query": "stew boil"})
            assert 2 == len(answer.structured_content["hits"])

    with server(home) as url:
        anyio.run(talk, url)
        assert httpx2.post(url, json={}, timeout=PATIENCE_S).status_code == 401
        assert httpx2.get(url.replace("/mcp", "/other"), timeout=PATIENCE_S).status_code == 401
    assert (home / TOKEN_FILE).stat().st_mode & 0o077 == 0


def status_of(*headers: tuple[str, str], query: str = "") -> int:
    """Ask a guard in front of an application that answers everything."""
    sent: list[dict[str, Any]] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        guard = TokenGuard(app, TOKEN, [HOST], [f"http://{HOST}"])
        raw = [(name.encode(), value.encode()) for name, value in headers]
        await guard({"type": "http", "headers": raw, "query_string": query.encode()}, receive, send)

    anyio.run(ask)
    return int(sent[0]["status"])


OWN_HOST, BEARER = ("host", HOST), ("authorization", f"Bearer {TOKEN}")


def test_who_is_let_in() -> None:
    assert 200 == status_of(OWN_HOST, BEARER)
    assert 200 == status_of(OWN_HOST, query=f"token={TOKEN}")
    assert 200 == status_of(OWN_HOST, BEARER, ("origin", f"http://{HOST}"))
    assert 401 == status_of(OWN_HOST)
    assert 401 == status_of(OWN_HOST, ("authorization", "Bearer other"))
    assert 401 == status_of(OWN_HOST, query="token=")
    assert 403 == status_of(OWN_HOST, BEARER, ("origin", "http://evil.example"))
    assert 421 == status_of(("host", "evil.example"), BEARER)
    assert 421 == status_of(BEARER)
    assert 421 == status_of(OWN_HOST, OWN_HOST, BEARER)


def test_the_token_stays_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AJ_MCP_TOKEN", raising=False)
    first = token_of(tmp_path)
    assert first == token_of(tmp_path)
    (tmp_path / TOKEN_FILE).write_text("short")
    assert first.value != token_of(tmp_path).value
    monkeypatch.setenv("AJ_MCP_TOKEN", TOKEN)
    assert (TOKEN, None) == token_of(tmp_path)
