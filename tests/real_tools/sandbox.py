"""A home folder, a work folder and an empty environment for one run of a tool."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.real_tools.fake_model.server import FakeModel

_TIMEOUT_S = 300.0
_GRACE_S = 15.0
_POLL_S = 0.1
_STILL_S = 0.5
_SETTLE_S = 5.0


class ToolFailed(Exception):
    """The tool did not do what was asked of it."""


@dataclass(frozen=True)
class Step:
    """What a person types, in tmux's names of keys, as soon as the screen shows a text (an expression)."""

    seen: str
    keys: tuple[str, ...]


class Sandbox:
    """Where a tool runs: nothing but its own home, a project folder and the fake model.

    `env` is the whole environment. `prompts` are what was typed, in order, and `typed_at` is when.
    `outputs` is what the tool printed for each command.
    """

    def __init__(self, folder: Path, installed: Path, model: FakeModel) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        self.installed = installed
        self.model = model
        self.prompts: list[str] = []
        self.typed_at: list[float] = []
        self.outputs: list[str] = []
        self.is_to_be_interrupted = False
        self.home.mkdir(parents=True)
        self.work.mkdir()
        (self.work / "README.md").write_text("# Marsupials\n\nA list of them.\n")
        for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "Begin")):
            subprocess.run(("git", *arguments), cwd=self.work, check=True, env=_GIT_ENV)  # noqa: S607
        self.env = {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(
                [str(installed / "node_modules/.bin"), str(installed / "bin"), os.defpath]
            ),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def write(self, path: str, text: str) -> Path:
        """Write a file below the home folder."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def run(
        self, *command: str, prompt: str | None = None, env: Mapping[str, str] | None = None, stdin: str = ""
    ) -> str:
        """Run a command in the work folder until it ends; `prompt` is what it types for the person."""
        self._note_prompt(prompt)
        output = self._finished(command, self.env | dict(env or {}), stdin)
        self.outputs.append(f"$ {' '.join(command)}\n{output}")
        return output

    def close(self) -> None:
        """End what the tool left running, such as a daemon: all that has this home folder."""
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if f"HOME={self.home}".encode() in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)

    def _note_prompt(self, prompt: str | None) -> None:
        if prompt is not None:
            self.prompts.append(prompt)
            self.typed_at.append(time.time())

    def interact(self, *command: str, steps: Sequence[Step], prompt: str | None = None) -> None:
        """Run a command in a terminal of its own, type what the steps say, and wait until it ends.

        A command that is still there after the last step's keys is ended as when its window is closed.
        """
        self._note_prompt(prompt)
        terminal = _Terminal(self.home.parent / "tmux", self.work, self.env)
        terminal.start(command)
        try:
            for step in steps:
                terminal.wait_for(step.seen)
                terminal.press(step.keys)
            terminal.wait_for_end()
        finally:
            self.outputs.append(f"$ {' '.join(command)}\n{terminal.screen()}")
            terminal.close()

    def _finished(self, command: Sequence[str], env: Mapping[str, str], stdin: str) -> str:
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            errors="replace",
        )
        try:
            if self.is_to_be_interrupted:
                self._interrupt(process, stdin)
            output, _ = process.communicate(stdin, timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise ToolFailed(f"{command[0]} did not end in {_TIMEOUT_S:.0f} s:\n{output[-2000:]}") from None
        if process.returncode and not self.is_to_be_interrupted:
            raise ToolFailed(f"{command[0]} exited with {process.returncode}:\n{output[-2000:]}")
        self.is_to_be_interrupted = False
        return output

    def _interrupt(self, process: subprocess.Popen[str], stdin: str) -> None:
        """Press Ctrl-C as soon as the model is in the middle of its answer."""
        deadline = time.monotonic() + _TIMEOUT_S
        if process.stdin:
            process.stdin.write(stdin)
            process.stdin.close()
            process.stdin = None
        while not self.model.hanging.wait(_POLL_S):
            if process.poll() is not None or time.monotonic() > deadline:
                raise ToolFailed("the model was never in the middle of an answer")
        time.sleep(1)
        for sent in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, sent)
                _wait(process, _GRACE_S / 3)


class _Terminal:
    """A tmux server with one window."""

    def __init__(self, socket: Path, work: Path, env: Mapping[str, str]) -> None:
        self.socket = socket
        self.work = work
        self.env = env
        self.last_screen = ""

    def start(self, command: Sequence[str]) -> None:
        size = ("-x", "160", "-y", "50")
        self._tmux("-f", os.devnull, "new-session", "-d", "-c", str(self.work), *size, "--", *command)

    def wait_for(self, seen: str) -> None:
        """Until the screen shows it and stands still, because what is typed while it draws may be lost."""
        deadline = time.monotonic() + _TIMEOUT_S
        before = ""
        while time.monotonic() < deadline:
            screen = self.screen()
            if screen == before and re.search(seen, screen):
                return
            before = screen
            time.sleep(_STILL_S)
        raise ToolFailed(f"the screen never showed {seen}:\n{self.last_screen}")

    def press(self, keys: Sequence[str]) -> None:
        """Each key when the screen shows the one before: Enter right behind a text counts as part of it."""
        for key in keys:
            self._tmux("send-keys", key)
            self._settle()

    def _settle(self) -> None:
        deadline = time.monotonic() + _SETTLE_S
        before, screen = "", self.screen()
        while screen != before and time.monotonic() < deadline:
            time.sleep(_STILL_S)
            before, screen = screen, self.screen()
        time.sleep(_STILL_S)

    def wait_for_end(self) -> None:
        deadline = time.monotonic() + _GRACE_S
        while self._is_there() and time.monotonic() < deadline:
            self.screen()
            time.sleep(_POLL_S)

    def screen(self) -> str:
        if self._is_there():
            self.last_screen = self._tmux("capture-pane", "-p") or self.last_screen
        return self.last_screen

    def close(self) -> None:
        self._tmux("kill-server")

    def _is_there(self) -> bool:
        return bool(self._tmux("list-sessions"))

    def _tmux(self, *arguments: str) -> str:
        command = ("tmux", "-S", str(self.socket), *arguments)
        return subprocess.run(
            command, env=self.env, capture_output=True, text=True, check=False, errors="replace"
        ).stdout


def _wait(process: subprocess.Popen[str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(_POLL_S)


_GIT_ENV = {
    "PATH": os.defpath,
    "GIT_AUTHOR_NAME": "Ana",
    "GIT_AUTHOR_EMAIL": "ana@example.org",
    "GIT_COMMITTER_NAME": "Ana",
    "GIT_COMMITTER_EMAIL": "ana@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
