"""Kimi Code."""

from __future__ import annotations

import re

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {
        "KIMI_MODEL_NAME": "claude-sonnet-4-6",
        "KIMI_MODEL_API_KEY": "dummy",
        "KIMI_MODEL_PROVIDER_TYPE": "anthropic",
        "KIMI_MODEL_BASE_URL": sandbox.model.url,
        "KIMI_MODEL_CAPABILITIES": "image_in,thinking,tool_use",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_DISABLE_TELEMETRY": "1",
    }


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("kimi", "-p", _with_paths(sandbox, prompt), prompt=_with_paths(sandbox, prompt))


def _with_paths(sandbox: Sandbox, prompt: str) -> str:
    """It reads files only by their whole path."""
    return re.sub(r"<<read: (\w)", rf"<<read: {sandbox.work}/\1", prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("kimi", "--continue", "-p", prompt, prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    (fork,) = re.findall(r"session_[0-9a-f-]{36}", sandbox.run("kimi", "fork", "--yes"))[-1:]
    sandbox.run("kimi", "--session", fork, "-p", prompt, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    steps = (
        Step("Trust this folder", ("Enter",)),
        Step("QUOKKA", ("/compact", "Enter")),
        Step("ompact(ed|ion complete)", ("/exit", "Enter")),
    )
    sandbox.interact("kimi", "--continue", steps=steps)


TOOL = Tool(
    name="kimi-code",
    title="Kimi Code",
    source="kimi",
    package=Package(registry="npm", name="@moonshot-ai/kimi-code", extra=("node@22",)),
    binary="kimi",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    fork=_fork,
    compact=_compact,
    subagent_type="coder",
    absent={"image": "it takes pictures only from the clipboard"},
)
