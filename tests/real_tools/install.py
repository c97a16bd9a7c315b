"""Installs the newest version of each tool into a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.real_tools.tool import Package, Tool

_TIMEOUT_S = 900


class NotInstallable(Exception):
    """The registry has no version of the tool that can be installed here."""


def install(tool: Tool, folder: Path) -> Path:
    """The folder that the tool was installed into."""
    target = folder / tool.name
    target.mkdir(parents=True, exist_ok=True)
    commands = _npm(tool.package) if tool.package.registry == "npm" else _pypi(tool.package)
    for command in commands:
        done = subprocess.run(
            command,
            cwd=target,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            errors="replace",
        )
        if done.returncode:
            raise NotInstallable((done.stderr or done.stdout).strip()[-500:])
    return target


def _npm(package: Package) -> list[list[str]]:
    wanted = [f"{package.name}@{package.version}", *package.extra]
    return [
        ["npm", "init", "-y"],
        ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *wanted],
    ]


def _pypi(package: Package) -> list[list[str]]:
    install_command = ["bin/python", "-m", "pip", "install", "-qq", "--upgrade", package.name, *package.extra]
    return [[sys.executable, "-m", "venv", "."], install_command]
