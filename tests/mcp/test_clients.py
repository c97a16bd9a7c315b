"""The server is added to configurations, and nothing else in them changes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent_journal.errors import CannotWrite, UnreadableSource
from agent_journal.mcp.clients import SERVER_NAME, Client, known_clients, plan_install, plan_uninstall

COMMAND = ["/usr/bin/aj", "mcp", "--project", "."]
JSON_CLIENTS = ["claude", "gemini", "copilot", "cursor", "vscode", "opencode"]
JSON_FILES = [
    "",
    "{}",
    "{ }\n",
    '{"other": 1}',
    '{\n    "other": [1, 2],\n    "last": {"a": "}"}\n}\n',
    '{\n  "LIST": {}\n}\n',
    '{\n  "LIST": {\n    "x": {"command": "y"}\n  },\n  "other": "\\"{"\n}\n',
    '{"LIST":{"x":{"command":"y"}},"other":null}',
    '{\n\t"other": true,\n\t"LIST": {\n\t\t"agent-journal": {"command": "old"},\n\t\t"x": {}\n\t}\n}\n',
]
TOML_FILES = [
    "",
    'model = "gpt"\n',
    'model = "gpt"\n\n[mcp_servers.x]\ncommand = "y"\n\n[tools]\nweb = true\n',
    '[mcp_servers.agent-journal]\ncommand = "old"\n[mcp_servers.agent-journal.env]\nA = "b"\n[tools]\nw=1\n',
]


def client_of(name: str, tmp_path: Path, text: str) -> Client:
    client = known_clients({"HOME": str(tmp_path)})[name]
    client.path.parent.mkdir(parents=True, exist_ok=True)
    if text:
        client.path.write_text(text.replace("LIST", client.container), encoding="utf-8")
    return client


def loaded(client: Client) -> dict[str, Any]:
    text = client.path.read_text(encoding="utf-8")
    values: dict[str, Any] = (
        tomllib.loads(text) if client.path.suffix == ".toml" else json.loads(text or "{}")
    )
    return values


def others(values: dict[str, Any], client: Client) -> dict[str, Any]:
    servers = {name: each for name, each in values.get(client.container, {}).items() if name != SERVER_NAME}
    return {name: each for name, each in values.items() if name != client.container} | servers


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((name, text) for name in JSON_CLIENTS for text in JSON_FILES),
        *(("codex", text) for text in TOML_FILES),
    ],
)
def test_install_and_uninstall(name: str, text: str, tmp_path: Path) -> None:
    client = client_of(name, tmp_path, text)
    before = loaded(client) if text else {}
    plan_install(client, COMMAND).write()
    entry = loaded(client)[client.container][SERVER_NAME]
    command = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert COMMAND == command
    assert others(before, client) == others(loaded(client), client)
    again = plan_install(client, COMMAND)
    assert again.before == again.after

    plan_uninstall(client).write()
    assert SERVER_NAME not in client.path.read_text(encoding="utf-8")
    assert others(before, client) == others(loaded(client), client)


@pytest.mark.parametrize("text", [JSON_FILES[4], JSON_FILES[6]])
def test_uninstall_restores_the_file(text: str, tmp_path: Path) -> None:
    client = client_of("claude", tmp_path, text)
    before = client.path.read_text(encoding="utf-8")
    plan_install(client, COMMAND).write()
    assert before != client.path.read_text(encoding="utf-8")
    plan_uninstall(client).write()
    assert before == client.path.read_text(encoding="utf-8")


def test_comments_stay(tmp_path: Path) -> None:
    text = '{\n  // servers\n  "LIST": {\n    /* mine } */\n    "x": {"command": "y"}, // last\n  },\n}\n'
    client = client_of("vscode", tmp_path, text)
    before = client.path.read_text(encoding="utf-8")
    plan_install(client, COMMAND).write()
    after = client.path.read_text(encoding="utf-8")
    assert all(comment in after for comment in ("// servers", "/* mine } */", "// last"))
    plan_uninstall(client).write()
    assert before == client.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["[1]", "{", '{"a" 1}', '{"a": "', "nothing", '{"a": 1 2}'])
def test_a_damaged_file_stays(text: str, tmp_path: Path) -> None:
    client = client_of("claude", tmp_path, text)
    with pytest.raises(UnreadableSource, match="correct it first"):
        plan_install(client, COMMAND)
    assert text == client.path.read_text(encoding="utf-8")


def test_an_inline_table_is_not_touched(tmp_path: Path) -> None:
    client = client_of("codex", tmp_path, 'mcp_servers = { x = { command = "y" } }\n')
    with pytest.raises((CannotWrite, UnreadableSource, tomllib.TOMLDecodeError)):
        plan_install(client, COMMAND).write()
    assert 'mcp_servers = { x = { command = "y" } }\n' == client.path.read_text()


def test_what_another_program_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    client = client_of("claude", tmp_path, "{}")
    change = plan_install(client, COMMAND)
    client.path.write_text('{"new": 1}')
    with pytest.raises(CannotWrite):
        change.write()
    assert '{"new": 1}' == client.path.read_text()


def run(tmp_path: Path, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", "mcp", *arguments],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_asks_before_it_changes_anything(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    declined = run(tmp_path, "install", answer="n\n")
    assert 1 == declined.returncode
    assert '+  "mcpServers": {' in declined.stdout
    assert not (tmp_path / ".claude.json").exists()
    assert 0 == run(tmp_path, "--source", "codex", "install", answer="y\n").returncode
    entry = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"][SERVER_NAME]
    assert ["mcp", "--source", "codex"] == entry["args"][-3:]
    assert 0 == run(tmp_path, "uninstall", "claude", "--yes").returncode
    assert 2 == run(tmp_path, "install", "nobody").returncode
