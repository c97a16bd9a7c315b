"""The protocol, with the client of the official SDK and with raw bytes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from agent_journal.mcp.definitions import TOOLS
from agent_journal.mcp.log import QueryLog
from agent_journal.mcp.server import create_server
from agent_journal.mcp.service import Service
from tests.journal.conversations import import_into
from tests.mcp.kitchen import conversations, service

VERSIONS = ["2025-06-18", "2025-11-25"]
COMMAND = [sys.executable, "-m", "agent_journal"]


def text_of(content: object) -> str:
    assert isinstance(content, types.TextContent | types.TextResourceContents)
    return content.text


def converse(opened: Service, talk: Callable[[Client], Awaitable[None]], **options: Any) -> None:
    async def run() -> None:
        async with Client(create_server(opened), **options) as client:
            await talk(client)

    anyio.run(run)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_of_the_sdk(mode: Any, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [each.name for each in TOOLS] == [each.name for each in tools]
        assert all(each.annotations is not None and each.annotations.read_only_hint for each in tools)
        for tool, arguments in (
            ("search", {"query": "stew"}),
            ("read", {"conversation": "stew"}),
            ("list", {}),
            ("usage", {}),
            ("blame", {"path": "cake.py"}),
        ):
            answer = await client.call_tool(tool, arguments)  # the client checks it against the schema
            assert not answer.is_error
            assert answer.structured_content["untrusted"] is True
            assert answer.structured_content == json.loads(text_of(answer.content[0]).split("\n")[1])
        refused = await client.call_tool("search", {"query": ""})
        assert refused.is_error
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("delete", {})

        resources = (await client.list_resources()).resources
        assert {"stew", "cake", "rose"} <= {each.name for each in resources}
        read = await client.read_resource(next(each.uri for each in resources if each.name == "stew"))
        assert "boils two hours" in text_of(read.contents[0])
        one = await client.read_resource("aj://conversation/stew/message/s4")
        assert "boils two hours" in text_of(one.contents[0])
        for unknown in ("aj://conversation/nobody", "aj://other", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(unknown)
        assert 2 == len((await client.list_resource_templates()).resource_templates)

        assert ["recall"] == [each.name for each in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("recall", {"question": "How long?"})
        assert "How long?" in text_of(prompt.messages[0].content)
        with pytest.raises(MCPError):
            await client.get_prompt("recall", {})

    with service(tmp_path) as opened:
        converse(opened, talk, mode=mode)


def test_a_client_that_starts_the_command(tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())

    async def run() -> None:
        command, *arguments = COMMAND
        started = StdioServerParameters(
            command=command,
            args=[*arguments, "--home", str(tmp_path / "journal"), "mcp", "--project", "/home/ana/garden"],
        )
        async with Client(stdio_client(started)) as client:
            answer = await client.call_tool("search", {"query": "stew boil"})
            assert ["rose"] == [each["conversation"] for each in answer.structured_content["hits"]]

    anyio.run(run)
    (logged,) = QueryLog(tmp_path / "journal").entries()
    assert ("search", {"query": "stew boil"}, None) == (logged.tool, logged.arguments, logged.error)
    assert logged.bytes > 0


def talk_raw(home: Path, *lines: bytes) -> list[dict[str, Any]]:
    """Send lines to the command; return what it prints, which must be messages and nothing else."""
    done = subprocess.run(
        [*COMMAND, "--home", str(home), "mcp"],
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b"Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(id_: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def opening(version: str) -> list[bytes]:
    info = {"name": "raw", "version": "1"}
    return [
        request(1, "initialize", protocolVersion=version, capabilities={}, clientInfo=info),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_older_clients_are_served(version: str, tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())
    answers = talk_raw(
        tmp_path / "journal",
        *opening(version),
        request(2, "tools/list"),
        request(3, "tools/call", name="list", arguments={}),
    )
    by_id = {each["id"]: each["result"] for each in answers}
    assert version == by_id[1]["protocolVersion"]
    assert len(TOOLS) == len(by_id[2]["tools"])
    assert by_id[3]["structuredContent"]["untrusted"] is True


def test_what_is_no_message_gets_an_error(tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())
    answers = talk_raw(
        tmp_path / "journal",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"jsonrpc": "2.0", "id": 4, "method": 7}',
        *opening(VERSIONS[-1]),
        request(5, "tools/unknown"),
        request(6, "tools/call", name="search", arguments={"query": "x" * 1_000_000}),
        request(7, "tools/call", name="search", arguments="stew"),
        request(8, "tools/call", arguments={}),
        request(9, "tools/call", name="search", arguments={"query": "stew"}),
    )
    assert [-32700, -32700, -32600, -32600] == [
        each["error"]["code"] for each in answers if each["id"] is None
    ]
    by_id = {each["id"]: each for each in answers if each["id"] is not None}
    assert -32601 == by_id[5]["error"]["code"]
    assert by_id[6]["result"]["isError"]
    assert {-32602} == {by_id[id_]["error"]["code"] for id_ in (7, 8)}
    assert not by_id[9]["result"].get("isError")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_while_the_input_is_open(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())
    command = [*COMMAND, "--home", str(tmp_path / "journal"), "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"\n".join([*opening(VERSIONS[-1]), b""]))
        process.stdin.flush()
        assert b"protocolVersion" in process.stdout.readline()
        process.send_signal(sent)
        assert code == process.wait(60)
        assert b"" == process.stderr.read()


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of POSIX")
def test_without_an_input_there_is_a_reason(tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())
    command = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "--home", str(tmp_path / "journal"), "mcp"]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert (1, b"aj: Cannot serve an agent: standard input is closed.\n") == (
        done.returncode,
        done.stderr,
    )


def test_a_line_without_an_end_is_refused(tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())
    huge = b'{"jsonrpc": "2.0", "id": 2, "method": "' + b"x" * 20_000_000 + b'"}'
    first, *_, last = talk_raw(tmp_path / "journal", huge, *opening(VERSIONS[-1]))
    assert -32700 == first["error"]["code"]
    assert 1 == last["id"]


def test_an_empty_limit_is_no_limit_by_mistake(tmp_path: Path) -> None:
    import_into(tmp_path / "journal", *conversations())
    for option in ("--project", "--source"):
        done = subprocess.run(
            [*COMMAND, "--home", str(tmp_path / "journal"), "mcp", option, ""],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert 2 == done.returncode


def test_without_a_journal_there_is_a_reason(tmp_path: Path) -> None:
    answers = talk_raw(
        tmp_path / "nothing",
        *opening(VERSIONS[-1]),
        request(2, "tools/call", name="list", arguments={}),
        request(3, "resources/list"),
    )
    by_id = {each["id"]: each["result"] for each in answers}
    assert by_id[2]["isError"]
    assert "aj sync" in by_id[2]["content"][0]["text"]
    assert [] == by_id[3]["resources"]
    assert not (tmp_path / "nothing").exists()
