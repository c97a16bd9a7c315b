"""The conformance suite of the Model Context Protocol against the server by HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real_tools.install import install
from tests.real_tools.tool import Package, Tool

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.1.16"
_EXPECTED = Path(__file__).parent / "expected-failures.yml"
_TOKEN = "a-token-for-the-suite"  # noqa: S105 (of a server that lives as long as the suite)
_TIMEOUT_S = 600


def run_suite(installed: Path, folder: Path) -> bool:
    """Run all scenarios; whether those that are not expected to fail pass, and no others."""
    folder.mkdir(parents=True)
    home = folder / "journal"
    command = [sys.executable, "-m", "agent_journal"]
    subprocess.run([*command, "demo", "--keep", str(home)], check=True, capture_output=True)
    node = installed / "node_modules" / ".bin" / "node"
    script = installed / "node_modules" / PACKAGE / "dist" / "index.js"
    with _server([*command, "--home", str(home), "mcp", "--http", "--port", "0"]) as url:
        done = subprocess.run(
            [
                *(str(node), str(script), "server", "--url", f"{url}?token={_TOKEN}"),
                *("--expected-failures", str(_EXPECTED), "-o", str(folder / "results")),
            ],
            timeout=_TIMEOUT_S,
            capture_output=True,
            text=True,
            check=False,
        )
    print(done.stdout[done.stdout.find("=== SUMMARY") :], done.stderr[-2000:], flush=True)  # noqa: T201
    return done.returncode == 0


def install_suite(folder: Path) -> Path:
    """Install the version that was chosen, with a Node that it can run on."""
    suite = Tool(
        name="mcp-conformance",
        title="MCP conformance",
        source="",
        package=Package(registry="npm", name=PACKAGE, version=VERSION, extra=("node@22",)),
        binary="conformance",
        configure=lambda _: None,
        ask=lambda _, __: None,
        resume=lambda _, __: None,
    )
    return install(suite, folder)


@contextmanager
def _server(command: list[str]) -> Iterator[str]:
    env = os.environ | {"AJ_MCP_TOKEN": _TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
