"""Pi."""

from __future__ import annotations

import json
from pathlib import Path

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool, Unrecorded

_OPTIONS = ("--provider", "fake", "--model", "claude-sonnet-4-6", "--thinking", "low")


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    model = {
        "id": "claude-sonnet-4-6",
        "reasoning": True,
        "input": ["text", "image"],
        "contextWindow": 200_000,
        "maxTokens": 8_000,
        "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0},
    }
    provider = {
        "baseUrl": sandbox.model.url,
        "api": "anthropic-messages",
        "apiKey": "dummy",
        "models": [model],
    }
    sandbox.write(".pi/agent/models.json", json.dumps({"providers": {"fake": provider}}))
    sandbox.write(".pi/agent/settings.json", json.dumps({"compaction": {"keepRecentTokens": 1}}))


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("pi", *_OPTIONS, "-p", prompt, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("pi", *_OPTIONS, "--continue", "-p", prompt, prompt=prompt)


def _resume_session(sandbox: Sandbox, session: str, prompt: str) -> None:
    sandbox.run("pi", *_OPTIONS, "--session", session, "-p", prompt, prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    (session,) = set(sandbox.home.glob(".pi/agent/sessions/*/*.jsonl"))
    sandbox.run("pi", *_OPTIONS, "--fork", str(session), "-p", prompt, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    steps = (Step("QUOKKA", ("/compact", "Enter")), Step("WALLABY|ompacted", ("/quit", "Enter")))
    sandbox.interact("pi", *_OPTIONS, "--continue", steps=steps)


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    sandbox.run("pi", *_OPTIONS, "-p", f"@{image.name}", prompt, prompt=prompt)


TOOL = Tool(
    name="pi",
    title="Pi",
    source="pi",
    package=Package(registry="npm", name="@mariozechner/pi-coding-agent"),
    binary="pi",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    resume_session=_resume_session,
    fork=_fork,
    compact=_compact,
    ask_with_image=_ask_with_image,
    absent={"subagent": "it has none of its own"},
    unrecorded=(
        Unrecorded(
            fact="tokens",
            purposes=frozenset({"summary"}),
            reason="the line of a compaction states only how many tokens there were before",
        ),
    ),
    own_words=(r"<file name=.*?</file>",),
)
