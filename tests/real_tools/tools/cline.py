"""Cline CLI."""

from __future__ import annotations

import json
from pathlib import Path

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool, Unrecorded

_OPTIONS = ("--thinking", "medium")
_READY = "Ask anything"
_ANSWERED = "POTOROO\\. Gr"


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {"CLINE_NO_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"}
    settings = {
        "provider": "anthropic",
        "apiKey": "dummy",
        "model": "claude-sonnet-4-6",
        "baseUrl": f"{sandbox.model.url}/v1",
    }
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    known = {"version": 1, "lastUsedProvider": "anthropic", "modes": {}, "providers": {"anthropic": provider}}
    sandbox.write(".cline/data/settings/providers.json", json.dumps(known))


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("cline", *_OPTIONS, prompt, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    """Sessions are only resumed in a terminal."""
    _type(sandbox, Step(_READY, (prompt, "Enter")), Step(_ANSWERED, ()), prompt=prompt)


def _type(sandbox: Sandbox, *steps: Step, prompt: str | None = None) -> None:
    (session,) = sandbox.home.glob(".cline/data/sessions/*")
    command = ("cline", "--tui", "--id", session.name, *_OPTIONS)
    sandbox.interact(*command, steps=(*steps, Step(_READY, ("/quit", "Enter"))), prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    forking = (Step(_READY, ("/fork", "Enter")), Step("to confirm", ("y",)))
    _type(sandbox, *forking, Step(_READY, (prompt, "Enter")), Step(_ANSWERED, ()), prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    _type(sandbox, Step(_READY, ("/compact", "Enter")), Step("ompacted", ()))


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    """It replaces the name of a picture in the prompt."""
    sandbox.run("cline", *_OPTIONS, f"{prompt} @{image}", prompt=f"{prompt} [image: {image.name}]")


TOOL = Tool(
    name="cline",
    title="Cline CLI",
    source="roo-code",
    package=Package(registry="npm", name="cline", extra=("node@22",)),
    binary="cline",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    fork=_fork,
    compact=_compact,
    ask_with_image=_ask_with_image,
    unrecorded=(
        Unrecorded(
            fact="tokens",
            purposes=frozenset({"summary"}),
            scenarios=frozenset({"compacted"}),
            reason="the session's total leaves out the request for a summary",
        ),
    ),
)
