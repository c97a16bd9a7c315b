"""GitHub Copilot CLI."""

from __future__ import annotations

from pathlib import Path

from tests.real_tools.sandbox import Sandbox
from tests.real_tools.tool import Package, Tool

_OPTIONS = ("--allow-all-tools", "--allow-all-paths")


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{sandbox.model.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": "gpt-5.5",
    }


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("copilot", *_OPTIONS, "-p", prompt, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("copilot", *_OPTIONS, "--continue", "-p", prompt, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    sandbox.run("copilot", *_OPTIONS, "--continue", "-p", "/compact")


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    sandbox.run("copilot", *_OPTIONS, "--attachment", str(image), "-p", prompt, prompt=prompt)


TOOL = Tool(
    name="copilot-cli",
    title="GitHub Copilot CLI",
    source="copilot-cli",
    package=Package(registry="npm", name="@github/copilot", extra=("node@22",)),
    binary="copilot",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    compact=_compact,
    ask_with_image=_ask_with_image,
    absent={"forked": "it has no forks"},
)
