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
from pathlib import Path
from typing import get_args

from tests.real_tools import report
from tests.real_tools.install import NotInstallable, install
from tests.real_tools.runs import Outcome, run
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
    keep = options.keep or Path(tempfile.mkdtemp(prefix="real-tools-"))
    outcomes = _run_all(present, options.scenario or _SCENARIOS, options.installed, keep)
    if options.record and not options.scenario:
        _record({tool.name: _version(tool, options.installed) for tool in present}, outcomes)
    if not options.keep:
        shutil.rmtree(keep, ignore_errors=True)
    return int(not all(outcome.is_good for outcome in outcomes))


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
    tools: list[Tool], scenarios: tuple[Scenario, ...], installed: Path, keep: Path
) -> list[Outcome]:
    outcomes = []
    for tool in tools:
        _print(f"\n{tool.title} {_version(tool, installed)}\n{report.heading()}")
        for scenario in scenarios:
            folder = keep / tool.name / scenario
            outcome = run(tool, scenario, installed / tool.name, folder.absolute())
            outcomes.append(outcome)
            _print(report.row(outcome))
    for line in report.details(outcomes):
        _print(line)
    differing = sum(not outcome.is_good for outcome in outcomes)
    _print(f"\n{len(outcomes) - differing} of {len(outcomes)} scenarios without a difference")
    return outcomes


def _record(versions: dict[str, str], outcomes: list[Outcome]) -> None:
    day = dt.datetime.now(tz=dt.UTC).date().isoformat()
    known = json.loads(_VERIFIED.read_text()) if _VERIFIED.exists() else {}
    known |= report.verified(versions, outcomes, day)
    _VERIFIED.write_text(json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False) + "\n")


def _print(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
