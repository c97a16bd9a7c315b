"""Run real agents and the conformance suite of the Model Context Protocol against `aj mcp`.

It installs the newest version of each agent, configures it with `aj mcp install` in a home folder of its own,
and lets a fake model call every tool, offline. Exits with 1 if one of them does not get the answers, or if
the conformance suite has other failures than expected. What cannot be installed is named and left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.agents.agents import AGENTS, AgentFailed, run_agent
from tests.agents.conformance import PACKAGE, install_suite, run_suite
from tests.real_tools.install import NotInstallable, install

_CONFORMANCE = "conformance"
_INSIDE = "AJ_AGENTS_OFFLINE"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.agents",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [_CONFORMANCE, *AGENTS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--no-install", action="store_true", help="use what is installed already")
    parser.add_argument("--keep", type=Path, help="keep home folders and logs here")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"unknown name: {', '.join(unknown)}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-journal" / "real-tools"
    chosen = options.names or names
    if not os.environ.get(_INSIDE):
        if not options.no_install:
            _install_all(chosen, cache)
        command = ("unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-m")
        again = [*command, "tests.agents", *sys.argv[1:]]
        return subprocess.run(again, env=os.environ | {_INSIDE: "1"}, check=False).returncode
    with tempfile.TemporaryDirectory(prefix="agents-") as folder:
        outcomes = [_is_good(name, cache, (options.keep or Path(folder)).absolute()) for name in chosen]
    return int(not all(outcomes))


def _install_all(names: list[str], cache: Path) -> None:
    for name in names:
        try:
            install_suite(cache) if name == _CONFORMANCE else install(AGENTS[name].tool, cache)
        except (NotInstallable, OSError, subprocess.SubprocessError) as error:
            _print(f"{name} cannot be installed: {error}")


def _is_good(name: str, cache: Path, folder: Path) -> bool:
    package = PACKAGE if name == _CONFORMANCE else AGENTS[name].tool.package.name
    installed = cache / ("mcp-conformance" if name == _CONFORMANCE else name)
    if not (installed / "node_modules" / package).exists():
        _print(f"{name} is not installed, so it was not run")
        return True
    if name == _CONFORMANCE:
        return run_suite(installed, folder / name)
    try:
        run_agent(AGENTS[name], installed, folder / name)
    except AgentFailed as error:
        _print(f"{name}: {error}")
        return False
    _print(f"{name}: called every tool and got the answers; its session is found")
    return True


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
