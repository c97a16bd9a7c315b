"""Codex."""

from __future__ import annotations

from pathlib import Path

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool

_CONFIG = """\
model = "gpt-5.2-codex"
model_provider = "fake"
model_reasoning_effort = "medium"
model_reasoning_summary = "detailed"
check_for_update_on_startup = false

[model_providers.fake]
name = "Fake"
base_url = "{url}/v1"
env_key = "FAKE_API_KEY"
wire_api = "responses"

[projects."{work}"]
trust_level = "trusted"
"""
_OPTIONS = ("--dangerously-bypass-approvals-and-sandbox",)


def _configure(sandbox: Sandbox) -> None:
    sandbox.env |= {"FAKE_API_KEY": "dummy"}
    sandbox.write(".codex/config.toml", _CONFIG.format(url=sandbox.model.url, work=sandbox.work))


def _ask(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("codex", "exec", *_OPTIONS, prompt, prompt=prompt)


def _resume(sandbox: Sandbox, prompt: str) -> None:
    sandbox.run("codex", "exec", "resume", "--last", *_OPTIONS, prompt, prompt=prompt)


def _resume_session(sandbox: Sandbox, session: str, prompt: str) -> None:
    sandbox.run("codex", "exec", "resume", session, *_OPTIONS, prompt, prompt=prompt)


def _fork(sandbox: Sandbox, prompt: str) -> None:
    """The session's id ends the name of its only file."""
    (rollout,) = sandbox.home.glob(".codex/sessions/*/*/*/rollout-*.jsonl")
    session = "-".join(rollout.stem.split("-")[-5:])
    sandbox.run("codex", "exec", "fork", *_OPTIONS, session, prompt, prompt=prompt)


def _compact(sandbox: Sandbox) -> None:
    sandbox.interact(
        *("codex", "resume", "--last", "--include-non-interactive", "--no-daemon", *_OPTIONS),
        steps=(
            Step("QUOKKA", ("/compact", "Enter")),
            Step("compacted", ("/quit", "Enter")),
        ),
    )


def _ask_with_image(sandbox: Sandbox, prompt: str, image: Path) -> None:
    sandbox.run("codex", "exec", *_OPTIONS, f"--image={image}", "--", prompt, prompt=prompt)


TOOL = Tool(
    name="codex",
    title="Codex",
    source="codex",
    package=Package(registry="npm", name="@openai/codex"),
    binary="codex",
    configure=_configure,
    ask=_ask,
    resume=_resume,
    resume_session=_resume_session,
    fork=_fork,
    compact=_compact,
    ask_with_image=_ask_with_image,
    own_words=(r"<image name=[^>]*>\s*</image>",),
)
