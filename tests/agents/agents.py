"""Real agents that `aj mcp install` configured call every tool, because a fake model tells them to."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import agent_journal
from tests.journal.conversations import import_into
from tests.mcp.kitchen import conversations
from tests.real_tools.fake_model.server import FakeModel
from tests.real_tools.sandbox import Sandbox, ToolFailed
from tests.real_tools.tool import Tool
from tests.real_tools.tools import TOOLS

_SOURCE = Path(agent_journal.__file__).parents[1]
_SERVER = "agent-journal"
_CALLS = {
    "search": {"query": "stew boil"},
    "read": {"conversation": "stew"},
    "list": {"project": "*"},
    "usage": {"by": "model"},
    "blame": {"path": "cake.py"},
}


@dataclass(frozen=True, kw_only=True)
class Agent:
    """An agent, and what it is called when it is configured."""

    tool: Tool
    client: str
    tool_name: str = f"{_SERVER}/{{}}"
    before: str = ""
    """What the model does first; some agents show the tools of servers only when they are searched for."""

    def prompt(self) -> str:
        """Return what the person types."""
        calls = (
            f"<<call: {self.tool_name.format(name)} | {json.dumps(given)}>>" for name, given in _CALLS.items()
        )
        return " ".join(["What do we know about stew?", self.before, *calls, "<<end: QUOKKA>>"])


AGENTS = {
    agent.tool.name: agent
    for agent in (
        Agent(
            tool=TOOLS["claude-code"],
            client="claude",
            tool_name=f"mcp__{_SERVER}__{{}}",
            before=f'<<call: ToolSearch | {{"query": "{_SERVER}", "max_results": 5}}>>',
        ),
        # It does not wait for servers before it asks the model.
        Agent(tool=TOOLS["codex"], client="codex", before="<<shell: sleep 8>>"),
        Agent(tool=TOOLS["gemini-cli"], client="gemini"),
        Agent(tool=TOOLS["opencode"], client="opencode"),
        Agent(tool=TOOLS["copilot-cli"], client="copilot"),
    )
}


class AgentFailed(Exception):
    """The agent did not call a tool, or did not get or keep its answer."""


def run_agent(agent: Agent, installed: Path, folder: Path) -> None:
    """Let an agent call every tool, and look at the model, at the log, and at the agent's own session."""
    folder.mkdir(parents=True)
    model = FakeModel()
    sandbox = Sandbox(folder, installed, model)
    home = folder / "journal"
    import_into(home, *conversations())
    try:
        agent.tool.configure(sandbox)
        _aj(sandbox, home, "mcp", "install", agent.client, "--yes")
        agent.tool.ask(sandbox, agent.prompt())
    except (ToolFailed, subprocess.CalledProcessError) as error:
        raise AgentFailed(f"{error} {getattr(error, 'stderr', '')}") from error
    finally:
        sandbox.close()
        model.close()
        requests = "".join(f"{json.dumps(each)}\n" for each in model.requests)
        (folder / "requests.jsonl").write_text(requests)
        (folder / "output.txt").write_text("\n".join(sandbox.outputs))
    logged = [json.loads(line) for line in _aj(sandbox, home, "mcp", "log", "--json").splitlines()]
    called = [each["tool"] for each in logged if not each["error"] and each["tool"] in _CALLS]
    _require([*_CALLS] == called, f"calls: {logged}")
    _require("boils two hours" in requests, "the model never got the answer of search and read")
    _require(requests.count("untrusted") > len(_CALLS), "the answers are not marked")
    _aj(sandbox, home, "sync")
    found = _aj(sandbox, home, "search", "--source", agent.tool.source, "QUOKKA", "--json")
    _require("QUOKKA" in found, "the session is not found")


def _require(is_true: object, problem: str) -> None:
    if not is_true:
        raise AgentFailed(problem)


def _aj(sandbox: Sandbox, home: Path, *arguments: str) -> str:
    command: Sequence[str] = [sys.executable, "-m", "agent_journal", "--home", str(home), *arguments]
    env = sandbox.env | {"PYTHONPATH": str(_SOURCE)}
    done = subprocess.run(command, env=env, cwd=sandbox.work, check=True, capture_output=True, text=True)
    return done.stdout
