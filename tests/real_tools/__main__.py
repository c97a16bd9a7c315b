"""Run real tools against a fake model and compare their histories with what the model says.

It installs the newest version of each tool, runs it offline in a home folder of its own, imports that folder,
and compares every prompt, call, result, text, thought, model, token count, folder, title, parent and time
with the log of the model. Exits with 1 on any difference.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

from tests.real_tools import report
from tests.real_tools.install import NotInstallable, install
from tests.real_tools.runs import Outcome, recorded_after_all, run
from tests.real_tools.tool import Scenario, Tool
from tests.real_tools.tools import TOOLS

_SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)
_INSIDE = "AJ_REAL_TOOLS_OFFLINE"
_VERIFIED = Path(__file__).parent / "verified.json"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.real_tools",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=", ".join(TOOLS))
    parser.add_argument(
        "--scenario", action="append", choices=_SCENARIOS, help="only this one; may be repeated"
    )
    parser.add_argument("--installed", type=Path, default=_cache(), help="where tools are installed")
    parser.add_argument("--no-install", action="store_true", help="use what is installed already")
    parser.add_argument("--jobs", type=int, default=2, help="how many tools to run at the same time")
    parser.add_argument("--keep", type=Path, help="keep home folders, journals and logs here")
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"note what was verified in {_VERIFIED.name}, for docs/formats.md",
    )
    options = parser.parse_args()
    unknown = [name for name in options.tools if name not in TOOLS]
    if unknown:
        parser.error(f"unknown tool: {', '.join(unknown)}")
    chosen = [TOOLS[name] for name in options.tools or TOOLS]
    if not os.environ.get(_INSIDE):
        missing = [] if options.no_install else _install_all(chosen, options.installed)
        return _offline() or int(bool(missing) and len(missing) == len(chosen))
    present = [tool for tool in chosen if _version(tool, options.installed)]
    for tool in chosen:
        if tool not in present:
            _print(f"{tool.title} is not installed, so it was not run")
    keep = options.keep or Path(tempfile.mkdtemp(prefix="real-tools-"))
    scenarios = options.scenario or _SCENARIOS
    outcomes = _run_all(present, scenarios, options.installed, keep, options.jobs)
    stale = [] if options.scenario else _stale(outcomes)
    if options.record and not options.scenario and not stale:
        _record({tool.name: _version(tool, options.installed) for tool in present}, outcomes)
    if not options.keep:
        shutil.rmtree(keep, ignore_errors=True)
    return int(not outcomes or bool(stale) or not all(outcome.is_good for outcome in outcomes))


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "agent-journal" / "real-tools"


def _install_all(tools: list[Tool], folder: Path) -> list[str]:
    missing = []
    for tool in tools:
        try:
            install(tool, folder)
        except (NotInstallable, OSError, subprocess.SubprocessError) as error:
            missing.append(tool.name)
            _print(f"{tool.title} cannot be installed: {error}")
    return missing


def _offline() -> int:
    """Start again in a network namespace that has only loopback."""
    command = 'ip link set lo up && exec "$@"'
    again = [
        "unshare",
        "-rn",
        "sh",
        "-c",
        command,
        "sh",
        sys.executable,
        "-m",
        "tests.real_tools",
        *sys.argv[1:],
    ]
    return subprocess.run(again, env=os.environ | {_INSIDE: "1"}, check=False).returncode


def _version(tool: Tool, folder: Path) -> str:
    """The installed version, or nothing if there is none."""
    installed = folder / tool.name
    if tool.package.registry == "npm":
        about = installed / "node_modules" / tool.package.name / "package.json"
        return str(json.loads(about.read_text())["version"]) if about.exists() else ""
    name = tool.package.name.replace("-", "_")
    found = sorted(installed.glob(f"lib/python*/site-packages/{name}-*.dist-info"))
    return found[-1].name.removesuffix(".dist-info").rpartition("-")[2] if found else ""


def _run_all(
    tools: list[Tool], scenarios: tuple[Scenario, ...], installed: Path, keep: Path, jobs: int
) -> list[Outcome]:
    def play(tool: Tool) -> list[Outcome]:
        folders = ((scenario, (keep / tool.name / scenario).absolute()) for scenario in scenarios)
        return [run(tool, scenario, installed / tool.name, folder) for scenario, folder in folders]

    outcomes = []
    with ThreadPoolExecutor(jobs) as pool:
        for tool, found in zip(tools, pool.map(play, tools), strict=True):
            _print(f"\n{tool.title} {_version(tool, installed)}\n{report.heading()}")
            for outcome in found:
                _print(report.row(outcome))
            outcomes += found
    for line in report.details(outcomes):
        _print(line)
    differing = sum(not outcome.is_good for outcome in outcomes)
    _print(f"\n{len(outcomes) - differing} of {len(outcomes)} scenarios without a difference")
    return outcomes


def _stale(outcomes: list[Outcome]) -> list[str]:
    """Names of tools that are excused for something that they do write."""
    found = []
    for name in dict.fromkeys(outcome.tool.name for outcome in outcomes):
        mine = [outcome for outcome in outcomes if outcome.tool.name == name]
        # After a failure it is not known what the tool writes.
        for gap in recorded_after_all(mine) if not any(outcome.failure for outcome in mine) else ():
            found.append(name)
            _print(f"{name}: {gap.fact}: the tool writes it, so it must be compared: {gap.reason}")
    return found


def _record(versions: dict[str, str], outcomes: list[Outcome]) -> None:
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    known = json.loads(_VERIFIED.read_text()) if _VERIFIED.exists() else {}
    known |= report.verified(versions, outcomes, day)
    _VERIFIED.write_text(json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False) + "\n")


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
