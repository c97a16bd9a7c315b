"""Aider."""

from __future__ import annotations

from pathlib import Path

from tests.real_tools.sandbox import Sandbox
from tests.real_tools.tool import Package, Tool, Unrecorded

_OPTIONS = (
    "--yes-always",
    "--no-check-update",
    "--no-show-release-notes",
    "--analytics-disable",
    "--no-show-model-warnings",
    "--no-gitignore",
    "--no-pretty",
    "--model=openai/gpt-5.5",
    "--weak-model=openai/fake-model",
    "--map-tokens=0",
)


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {
        "OPENAI_API_BASE": f"{sandbox.model.url}/v1",
        "OPENAI_API_KEY": "dummy",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("aider", *_OPTIONS, "--message", prompt, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("aider", *_OPTIONS, "--restore-chat-history", "--message", prompt, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    """It summarizes a restored history that is too long before it sends the next prompt."""
    sandbox.env["AIDER_MAX_CHAT_HISTORY_TOKENS"] = "1"


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    sandbox.run("aider", *_OPTIONS, f"--file={image}", "--message", prompt, prompt=prompt)


TOOL = Tool(
    name="aider",
    title="Aider",
    source="aider",
    package=Package(registry="pypi", name="aider-chat"),
    binary="aider",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    compact=_compact,
    ask_with_image=_ask_with_image,
    absent={
        "forked": "it has no forks",
        "subagent": "it has no subagents",
        "parallel": "it has no tool calls",
    },
    notes=("times have no zone",),
    unrecorded=(
        Unrecorded(fact="tokens", reason="it counts the tokens of a stream itself, and rounds them"),
        Unrecorded(
            fact="texts",
            purposes=frozenset({"summary"}),
            scenarios=frozenset({"compacted"}),
            reason="the summary of a long history is not saved",
        ),
        Unrecorded(
            fact="prompts",
            span="picture",
            scenarios=frozenset({"image"}),
            reason="of a picture only its name is saved",
        ),
    ),
)
