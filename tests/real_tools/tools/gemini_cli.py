"""Gemini CLI."""

from __future__ import annotations

import json
from pathlib import Path

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool, Unrecorded

_OPTIONS = ("--yolo", "--skip-trust", "-m", "gemini-3-pro")


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {
        "GOOGLE_GEMINI_BASE_URL": sandbox.model.url,
        "GEMINI_API_KEY": "dummy",
        "GEMINI_TELEMETRY_ENABLED": "false",
    }
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
    }
    sandbox.write(".gemini/settings.json", json.dumps(settings))


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("gemini", *_OPTIONS, "-p", prompt, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("gemini", *_OPTIONS, "--resume", "latest", "-p", prompt, prompt=prompt)


def _resume_session(sandbox: Sandbox, session: str, prompt: str) -> None:
    sandbox.run("gemini", *_OPTIONS, "--resume", session, "-p", prompt, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    sandbox.interact(
        *("gemini", *_OPTIONS, "--resume", "latest"),
        steps=(Step("QUOKKA", ("/compress", "Enter")), Step("ompressed", ("/quit", "Enter"))),
    )


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    asked = f"@{image.name} {prompt}"
    sandbox.run("gemini", *_OPTIONS, "-p", asked, prompt=asked)


TOOL = Tool(
    name="gemini-cli",
    title="Gemini CLI",
    source="gemini-cli",
    package=Package(registry="npm", name="@google/gemini-cli", extra=("node@22",)),
    binary="gemini",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    resume_session=_resume_session,
    ask_with_image=_ask_with_image,
    compact=_compact,
    absent={"forked": "it has no forks"},
    subagent_type="generalist",
    unrecorded=(
        Unrecorded(
            fact="tokens",
            purposes=frozenset({"summary"}),
            reason="the tokens of a compression are not written",
        ),
    ),
    own_words=(r"--- Content from referenced files ---.*--- End of content ---",),
)
