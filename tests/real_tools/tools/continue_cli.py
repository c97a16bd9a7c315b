"""Continue CLI."""

from __future__ import annotations

import json
from pathlib import Path

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Fact, Package, Tool, Unrecorded

_CLIPBOARD = """\
#!/bin/sh
exec cat {image}
"""
_READY = "Ask anything"
_ANSWERED = "終わり"
_SUBAGENT: tuple[Fact, ...] = ("parent", "calls", "results", "texts")
_REPLACED: tuple[Fact, ...] = ("prompts", "calls", "results", "texts")
_OPTIONS = ("--auto", "--beta-subagent-tool")


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {"CONTINUE_TELEMETRY_ENABLED": "0"}
    model = {
        "provider": "anthropic",
        "model": "claude-sonnet-4-6",
        "apiBase": f"{sandbox.model.url}/v1/",
        "apiKey": "dummy",
        "capabilities": ["tool_use", "image_input"],
    }
    about = {"baseSystemMessage": "You count files."}
    helper = {"name": "general-purpose", "roles": ["subagent"], "chatOptions": about}
    models = [model | {"name": "Fake", "roles": ["chat"]}, model | helper]
    config = {"name": "Fake", "version": "1.0.0", "schema": "v1", "models": models}
    sandbox.write(".continue/config.yaml", json.dumps(config))
    sandbox.write(".continue/.onboarding_complete", "2026-01-01T00:00:00.000Z")


def _ask(sandbox: Sandbox, prompt: str) -> None:
    """Without a terminal it saves nothing of an interrupted session, and starts no subagent in a new one."""
    if sandbox.is_to_be_interrupted:
        sandbox.is_to_be_interrupted = False
        _type(sandbox, Step(_READY, (prompt, "Enter")), Step("Answer", ("Escape",)), prompt=prompt)
    elif "<<task" in prompt:
        _type(sandbox, Step(_READY, (prompt, "Enter")), Step(_ANSWERED, ()), prompt=prompt)
    else:
        sandbox.run("cn", "-p", prompt, *_OPTIONS, prompt=prompt)


def _type(sandbox: Sandbox, *steps: Step, prompt: str | None = None) -> None:
    resuming = () if prompt else ("--resume",)
    ending = Step(_READY, ("/exit", "Enter"))
    sandbox.interact("cn", *resuming, *_OPTIONS, steps=(*steps, ending), prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("cn", "-p", prompt, "--resume", *_OPTIONS, prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    (session,) = set(sandbox.home.glob(".continue/sessions/*-*.json"))
    sandbox.run("cn", "-p", prompt, "--fork", session.stem, *_OPTIONS, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    """Without a terminal it does not save the compacted session."""
    _type(sandbox, Step(_READY, ("/compact", "Enter")), Step("compacted", ()))


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    """Pictures come only from the clipboard, which it reads with xclip."""
    clipboard = sandbox.write("bin/xclip", _CLIPBOARD.format(image=image))
    clipboard.chmod(0o755)
    sandbox.env["PATH"] = f"{clipboard.parent}:{sandbox.env['PATH']}"
    pasted = Step(_READY, (prompt, "C-v"))
    _type(sandbox, pasted, Step("Image", ("Enter",)), Step(_ANSWERED, ()), prompt=prompt)


TOOL = Tool(
    name="continue",
    title="Continue CLI",
    source="continue",
    package=Package(registry="npm", name="@continuedev/cli", extra=("node@22",)),
    binary="cn",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    fork=_fork,
    compact=_compact,
    ask_with_image=_ask_with_image,
    unrecorded=(
        Unrecorded(fact="order", reason="no message has a time"),
        *(
            Unrecorded(
                fact=fact,
                span="subagent" if fact != "parent" else "everything",
                scenarios=frozenset({"subagent"}),
                reason="of a subagent only the call and its result are saved",
            )
            for fact in _SUBAGENT
        ),
        *(
            Unrecorded(
                fact=fact,
                span="before the summary",
                scenarios=frozenset({"compacted"}),
                reason="a compaction replaces what was said before",
            )
            for fact in _REPLACED
        ),
        Unrecorded(
            fact="tokens",
            purposes=frozenset({"title"}),
            reason="the session's total leaves out the request for a title",
        ),
    ),
)
