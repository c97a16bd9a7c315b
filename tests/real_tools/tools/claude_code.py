"""Claude Code."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from tests.real_tools.sandbox import Sandbox
from tests.real_tools.tool import Package, Tool

_OPTIONS = ("--dangerously-skip-permissions",)


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {
        "ANTHROPIC_BASE_URL": sandbox.model.url,
        "ANTHROPIC_API_KEY": "dummy",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "IS_SANDBOX": "1",  # it refuses to skip permissions as root otherwise
    }
    sandbox.write(".claude.json", json.dumps({"hasCompletedOnboarding": True}))


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("claude", "-p", prompt, *_OPTIONS, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("claude", "-p", prompt, "--continue", *_OPTIONS, prompt=prompt)


def _resume_session(sandbox: Sandbox, session: str, prompt: str) -> None:
    sandbox.run("claude", "-p", prompt, "--resume", session, *_OPTIONS, prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("claude", "-p", prompt, "--continue", "--fork-session", *_OPTIONS, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    sandbox.run("claude", "-p", "/compact", "--continue", *_OPTIONS)


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    source = {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(image.read_bytes()).decode(),
    }
    content = [{"type": "text", "text": prompt}, {"type": "image", "source": source}]
    line = {"type": "user", "message": {"role": "user", "content": content}}
    formats = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    sandbox.run("claude", "-p", *formats, *_OPTIONS, prompt=prompt, stdin=f"{json.dumps(line)}\n")


TOOL = Tool(
    name="claude-code",
    title="Claude Code",
    source="claude-code",
    package=Package(registry="npm", name="@anthropic-ai/claude-code", extra=("node@22",)),
    binary="claude",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    resume_session=_resume_session,
    fork=_fork,
    compact=_compact,
    ask_with_image=_ask_with_image,
    own_words=("/compact",),
)
