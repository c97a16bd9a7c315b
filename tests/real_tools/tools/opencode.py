"""OpenCode, and what its fork Kilo has in common with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real_tools.sandbox import Sandbox, Step
from tests.real_tools.tool import Package, Tool, Unrecorded


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Uses the app as a person does; `sdk` and `model_options` say how it reaches the model."""

    binary: str
    config: str
    env_prefix: str
    sdk: str
    model: str
    model_options: Mapping[str, Any]

    def configure(self, sandbox: Sandbox) -> None:
        sandbox.env |= {
            f"{self.env_prefix}_DISABLE_{name}": "1"
            for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")
        }
        model = {
            "name": "Fake",
            "reasoning": True,
            "tool_call": True,
            "attachment": True,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "limit": {"context": 200_000, "output": 8_000},
            "options": dict(self.model_options),
        }
        options = {"apiKey": "dummy", "baseURL": f"{sandbox.model.url}/v1"}
        provider = {"npm": self.sdk, "options": options, "models": {self.model: model}}
        name = f"fake/{self.model}"
        config = {"model": name, "small_model": name, "provider": {"fake": provider}}
        sandbox.write(self.config, json.dumps(config))

    def ask(self, sandbox: Sandbox, prompt: str) -> None:
        self._run(sandbox, prompt)

    def resume(self, sandbox: Sandbox, prompt: str) -> None:
        self._run(sandbox, prompt, "--continue")

    def fork(self, sandbox: Sandbox, prompt: str) -> None:
        self._run(sandbox, prompt, "--continue", "--fork")

    def ask_with_image(self, sandbox: Sandbox, prompt: str, image: Path) -> None:
        self._run(sandbox, prompt, f"--file={image}")

    def _run(self, sandbox: Sandbox, prompt: str, *options: str) -> None:
        """It puts an argument that has spaces in quotation marks, but not what it reads from a pipe."""
        sandbox.run(self.binary, "run", "--auto", *options, prompt=prompt, stdin=prompt)

    def compact(self, sandbox: Sandbox) -> None:
        steps = (Step("QUOKKA", ("/compact", "Enter")), Step("WALLABY", ("/exit", "Enter")))
        sandbox.interact(self.binary, "--continue", steps=steps)


_RUNNER = Runner(
    binary="opencode",
    config=".config/opencode/opencode.json",
    env_prefix="OPENCODE",
    sdk="@ai-sdk/anthropic",
    model="claude-sonnet-4-6",
    model_options={"thinking": {"type": "enabled", "budgetTokens": 2_000}},
)

TOOL = Tool(
    name="opencode",
    title="OpenCode",
    source="opencode",
    package=Package(registry="npm", name="opencode-ai"),
    binary="opencode",
    configure=_RUNNER.configure,
    ask=_RUNNER.ask,
    resume=_RUNNER.resume,
    fork=_RUNNER.fork,
    compact=_RUNNER.compact,
    ask_with_image=_RUNNER.ask_with_image,
    subagent_type="general",
    unrecorded=(
        Unrecorded(
            fact="tokens",
            purposes=frozenset({"title"}),
            reason="the session's total leaves out the request for a title, and no row or log has it",
        ),
    ),
)
