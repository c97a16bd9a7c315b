"""What is published for agents: plugins, a skill and the entry of the registry."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_journal import __version__
from agent_journal.mcp.definitions import TOOLS
from tests.journal.conversations import import_into
from tests.mcp.kitchen import conversations
from tools import release

TOP = Path(__file__).parents[2]
PLUGIN, HOOKS = TOP / "plugins" / "agent-journal", TOP / "plugins" / "agent-journal-hooks"
VERSIONED = [
    TOP / "server.json",
    PLUGIN / "gemini-extension.json",
    *sorted(TOP.glob("plugins/*/.*-plugin/plugin.json")),
]


def load(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values


@pytest.mark.parametrize("path", VERSIONED, ids=lambda path: str(path.relative_to(TOP)))
def test_what_is_published_has_the_version_of_the_package(path: Path) -> None:
    assert __version__ == load(path)["version"]


def test_a_release_changes_the_version_everywhere(tmp_path: Path) -> None:
    for path in VERSIONED:
        copy = tmp_path / path.relative_to(TOP)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    changed = release._manifests(tmp_path, __version__, "9.9.9")
    assert len(VERSIONED) == len(changed)
    assert not any(__version__ in text for text in changed.values())


def test_the_registry_starts_the_command() -> None:
    server = load(TOP / "server.json")
    (package,) = server["packages"]
    assert ("agent-journal", __version__, "stdio") == (
        package["identifier"],
        package["version"],
        package["transport"]["type"],
    )
    assert ["mcp"] == [each["value"] for each in package["packageArguments"]]
    assert len(server["description"]) <= 100


def test_every_plugin_starts_the_command() -> None:
    for path in (PLUGIN / ".mcp.json", PLUGIN / "gemini-extension.json"):
        assert {"agent-journal": {"command": "aj", "args": ["mcp"]}} == load(path)["mcpServers"]
    listed = load(TOP / ".claude-plugin" / "marketplace.json")["plugins"]
    folders = {(TOP / each["source"]).resolve() for each in listed}
    assert {PLUGIN, HOOKS} == folders


def test_hooks_are_only_in_the_plugin_for_them() -> None:
    assert not (PLUGIN / "hooks").exists()
    assert {"SessionStart", "SessionEnd"} == load(HOOKS / "hooks" / "hooks.json")["hooks"].keys()


def test_the_skill_names_every_tool() -> None:
    text = (PLUGIN / "skills" / "recall" / "SKILL.md").read_text(encoding="utf-8")
    assert [] == [each.name for each in TOOLS if f"`{each.name}`" not in text]
    assert text.startswith("---\nname: recall\ndescription: ")


@pytest.mark.skipif(sys.platform == "win32", reason="the hooks are commands of a POSIX shell")
def test_the_hook_at_the_start_quotes_at_most_two_kilobytes(tmp_path: Path) -> None:
    home = tmp_path / "journal"
    import_into(home, *conversations())
    command = load(HOOKS / "hooks" / "hooks.json")["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    aj = tmp_path / "bin" / "aj"
    aj.parent.mkdir()
    aj.write_text(f'#!/bin/sh\nexec {sys.executable} -m agent_journal "$@"\n')
    aj.chmod(0o755)
    for folder, is_empty in ((home, False), (tmp_path / "none", True)):
        done = subprocess.run(
            ["/bin/sh", "-c", command.replace("context", "context --all")],
            env={"PATH": f"{aj.parent}:/usr/bin:/bin", "AJ_HOME": str(folder)},
            capture_output=True,
            check=True,
        )
        assert is_empty == (done.stdout == b"")
        assert len(done.stdout) <= 2000
        if not is_empty:
            first, *_, last = done.stdout.decode().splitlines()
            mark = first.partition(" ")[0].removeprefix("<")
            assert 'untrusted="true"' in first
            assert f"</{mark}>" == last
