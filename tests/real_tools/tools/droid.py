"""Factory Droid."""

from __future__ import annotations

import json

from tests.real_tools.sandbox import Sandbox
from tests.real_tools.tool import Package, Tool, Unrecorded

_OPTIONS = ("exec", "--auto", "high", "--model", "custom:Fake-0")


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {"FACTORY_API_KEY": "fk-dummy", "FACTORY_DISABLE_KEYRING": "true"}
    model = {
        "model": "claude-sonnet-4-6",
        "displayName": "Fake",
        "baseUrl": sandbox.model.url,
        "apiKey": "dummy",
        "provider": "anthropic",
        "maxOutputTokens": 8_000,
    }
    settings = {"customModels": [model], "enableDroidShield": False, "cloudSessionSync": False}
    sandbox.write(".factory/settings.json", json.dumps(settings))


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("droid", *_OPTIONS, prompt, prompt=prompt)


def _session(sandbox: Sandbox) -> str:
    sessions = sandbox.home.glob(".factory/sessions/**/*.jsonl")
    return max(sessions, key=lambda path: path.stat().st_mtime).stem


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("droid", *_OPTIONS, "--session-id", _session(sandbox), prompt, prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("droid", *_OPTIONS, "--fork", _session(sandbox), prompt, prompt=prompt)


TOOL = Tool(
    name="droid",
    title="Factory Droid",
    source="factory-droid",
    package=Package(registry="npm", name="droid"),
    binary="droid",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    fork=_fork,
    absent={
        "image": "without a terminal it takes no pictures",
        "compacted": "without a terminal it has no command for it",
        "continued": "without the vendor's service it continues no session",
        "subagent": "its subagents run in its daemon, which is not there",
        "interrupted": "without the vendor's service it continues no session",
    },
    unrecorded=(
        Unrecorded(fact="model", reason="of the user's own models it writes the name of the setting"),
    ),
)
