"""Qwen Code."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool, Unrecorded

_OPTIONS = ("--yolo",)


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {
        "OPENAI_API_KEY": "dummy",
        "OPENAI_BASE_URL": f"{sandbox.model.url}/v1",
        "OPENAI_MODEL": "qwen3-vl-plus",
        "QWEN_TELEMETRY_ENABLED": "false",
    }
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    sandbox.write(".qwen/settings.json", json.dumps(settings))


def _with_paths(sandbox: Sandbox, prompt: str) -> str:
    """It reads files only by their whole path."""
    return re.sub(r"<<read: (\w)", rf"<<read: {sandbox.work}/\1", prompt)


def _run(sandbox: Sandbox, prompt: str, *options: str) -> None:
    typed = _with_paths(sandbox, prompt)
    sandbox.run("qwen", *_OPTIONS, *options, "-p", typed, prompt=typed)


def _ask(sandbox: Sandbox, prompt: str) -> None:
    _run(sandbox, prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    _run(sandbox, prompt, "--continue")


def _resume_session(sandbox: Sandbox, session: str, prompt: str) -> None:
    _run(sandbox, prompt, "--resume", session)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    _run(sandbox, prompt, "--continue", "--fork-session")


def _compact(sandbox: Sandbox) -> None:
    sandbox.interact(
        *("qwen", *_OPTIONS, "--continue"),
        steps=(Step("QUOKKA", ("/compress", "Enter")), Step("ompressed", ("/quit", "Enter"))),
    )


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    _run(sandbox, f"@{image.name} {prompt}")


TOOL = Tool(
    name="qwen-code",
    title="Qwen Code",
    source="qwen-code",
    package=Package(registry="npm", name="@qwen-code/qwen-code", extra=("node@22",)),
    binary="qwen",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    resume_session=_resume_session,
    fork=_fork,
    compact=_compact,
    ask_with_image=_ask_with_image,
    unrecorded=(
        Unrecorded(
            fact="texts",
            scenarios=frozenset({"image"}),
            reason="an agent of the app, which looks for memories, is asked for the same and has no file",
        ),
        Unrecorded(
            fact="thinking",
            scenarios=frozenset({"image"}),
            reason="the file has no answer of the agent that looks for memories",
        ),
    ),
    own_words=(r"--- Content from referenced files ---.*--- End of content ---",),
)
