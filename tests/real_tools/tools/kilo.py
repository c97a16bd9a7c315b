"""Kilo CLI, a fork of OpenCode."""

from __future__ import annotations

import platform

from tests.real_tools.sandbox import Sandbox
from tests.real_tools.tool import Package, Tool
from tests.real_tools.tools.opencode import Runner

# `@kilocode/cli` only finds this package and starts it; its newest version may come out before this one.
_PROCESSOR = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
    platform.machine().lower(), platform.machine().lower()
)
_PACKAGE = f"@kilocode/cli-{platform.system().lower()}-{_PROCESSOR}"
_RUNNER = Runner(
    binary="kilo",
    config=".config/kilo/kilo.json",
    env_prefix="KILO",
    sdk="@ai-sdk/openai-compatible",
    model="gpt-5.5",
    model_options={},
)


def _configure(sandbox: Sandbox) -> None:
    _RUNNER.configure(sandbox)
    sandbox.env |= {"KILO_TELEMETRY_LEVEL": "off", "KILO_DISABLE_SESSION_INGEST": "1"}
    sandbox.env["KILO_DISABLE_CODEBASE_INDEXING"] = "1"
    sandbox.env["PATH"] = f"{sandbox.installed / 'node_modules' / _PACKAGE / 'bin'}:{sandbox.env['PATH']}"


TOOL = Tool(
    name="kilo",
    title="Kilo CLI",
    source="opencode",
    package=Package(registry="npm", name=_PACKAGE),
    binary="kilo",
    configure=_configure,
    ask=_RUNNER.ask,
    resume=_RUNNER.resume,
    fork=_RUNNER.fork,
    compact=_RUNNER.compact,
    ask_with_image=_RUNNER.ask_with_image,
    subagent_type="general",
)
