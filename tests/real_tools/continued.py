"""Continue conversations of other tools in real tools, and compare what these send to the model.

Each conversation is imported and continued as a person would do it: `aj import`, `aj continue ID --in TOOL`,
and the tool's own way to resume a session. The request that the tool sends must contain all earlier turns in
their order, and each tool call with its result. Exits with 1 if anything is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_journal.conversion.pipeline import read_all
from agent_journal.model import Conversation
from agent_journal.notes import Notes
from agent_journal.writers.dialects.agent_sessions import Branch, branch_of, texts_of
from tests.cases import READERS
from tests.real_tools.fake_model.server import FakeModel
from tests.real_tools.install import NotInstallable, install
from tests.real_tools.sandbox import Sandbox, ToolFailed
from tests.real_tools.tool import Tool
from tests.real_tools.tools import TOOLS

PROMPT = "And what is the next step, QUOKKA?"
CASES = (
    "chatgpt/tool_calls",
    "claude-code/images_and_thinking",
    "claude-code/parallel_results",
    "codex/tools",
    "gemini-cli/clean_log",
    "opencode/export",
)


def main() -> int:
    tools = {name: tool for name, tool in TOOLS.items() if tool.resume_session is not None}
    parser = argparse.ArgumentParser(
        prog="python -m tests.real_tools.continued",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=", ".join(tools))
    parser.add_argument(
        "--installed", type=Path, required=True, help="the folder that tools are installed in"
    )
    parser.add_argument("--no-install", action="store_true", help="use what is installed already")
    options = parser.parse_args()
    unknown = [name for name in options.tools if name not in tools]
    if unknown:
        parser.error(f"unknown tool: {', '.join(unknown)}")
    problems = 0
    for name in options.tools or tools:
        if not options.no_install:
            try:
                install(tools[name], options.installed)
            except NotInstallable as error:
                _print(f"{name} cannot be installed: {error}")
                problems += 1
                continue
        for case in CASES:
            if case.partition("/")[0] != name:
                missing = continue_case(tools[name], case, options.installed / name)
                _print(f"{case} in {name}: {'; '.join(missing) or 'all turns are there'}")
                problems += bool(missing)
    return int(problems > 0)


def continue_case(tool: Tool, case: str, installed: Path) -> list[str]:
    """What is missing in the request of a tool that continues a conversation of another one."""
    assert tool.resume_session is not None
    model = FakeModel()
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        sandbox = Sandbox(Path(folder) / "sandbox", installed, model)
        tool.configure(sandbox)
        try:
            location = str(next(each for each in (READERS / case).iterdir() if is_input(each)))
            conversation = next(
                each for each in read_all([location], Notes()) if isinstance(each, Conversation)
            )
            journal = f"--home={folder}/journal"
            aj(sandbox, journal, "import", location)
            written = aj(sandbox, journal, "continue", conversation.id, "--in", tool.source, "--json")
            session = json.loads(written)["id"]
            tool.resume_session(sandbox, session, PROMPT)
        except (ToolFailed, subprocess.CalledProcessError) as error:
            return [f"it failed: {error}"[-500:]]
        finally:
            sandbox.close()
            model.close()
        requests = [each["body"] for each in model.requests if PROMPT in json.dumps(each["body"])]
        if not requests:
            return ["the tool sent no request"]
        return missing_in(requests[-1], branch_of(conversation, ""))


def is_input(path: Path) -> bool:
    return path.name not in {"expected.json", "ABOUT.md", "excused.txt"}


def aj(sandbox: Sandbox, *arguments: str) -> str:
    """Run aj in the folder and with the environment of the tool."""
    environ = sandbox.env | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-m", "agent_journal", *arguments)
    return subprocess.run(
        command, cwd=sandbox.work, env=environ, check=True, capture_output=True, text=True
    ).stdout


def missing_in(request: Any, branch: Branch) -> list[str]:
    """What a request lacks of the turns of a branch: texts in their order, calls, and their results."""
    sent = [" ".join(text.split()) for text in strings_in(request)]
    missing: list[str] = []
    start = 0
    for turn in branch.turns:
        if turn.is_hidden or turn.role == "system":
            continue
        for text in (" ".join(each.split()) for each in texts_of(turn.parts)):
            place = next((at for at in range(start, len(sent)) if text in sent[at]), None)
            if place is None:
                missing.append(f"the {turn.role} said {text[:60]!r}")
            start = start if place is None else place
        for call in turn.calls:
            if sent.count(call.id) < 2:
                missing.append(f"the call {call.name} ({call.id}), or its result")
            output = " ".join(call.output.split())
            if not any(output in each for each in sent):
                missing.append(f"the output {output[:60]!r}")
    return missing


def strings_in(value: Any) -> Iterator[str]:
    """Every text in a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from strings_in(element)
    elif isinstance(value, dict):
        for element in value.values():
            yield from strings_in(element)


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
