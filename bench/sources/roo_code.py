"""Tasks of Roo Code: of the time when tools were called by XML in the model's text, and with native calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from corpus import Words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SEED = 13
# Before and behind the end of October 2025, since when what was cached is counted as input.
_XML_START, _NATIVE_START = 1_750_000_000_000, 1_770_000_000_000
_TOOLS = ("read_file", "execute_command", "apply_diff", "write_to_file", "search_files")
_MODEL = "claude-sonnet-4-5"


def native(folder: Path, megabytes: int) -> list[Path]:
    """Tasks of 2026: calls and results are blocks of their own."""
    return _tasks(folder, megabytes, _Native, _NATIVE_START)


def xml(folder: Path, megabytes: int) -> list[Path]:
    """Tasks of 2025: calls are XML in the model's text, and results text in the one that answers it."""
    return _tasks(folder, megabytes, _Xml, _XML_START)


KINDS: dict[str, Callable[[Path, int], list[Path]]] = {"native": native, "xml": xml}


def _tasks(folder: Path, megabytes: int, kind: type[_Task], start: int) -> list[Path]:
    words = Words(_SEED)
    found: list[Path] = []
    size = 0
    while size < megabytes * 1_000_000:
        task = kind(words, start + len(found) * 3_600_000)
        task.work()
        place = folder / "rooveterinaryinc.roo-cline" / "tasks" / words.id()
        place.mkdir(parents=True)
        for name, value in task.files(place.name).items():
            size += (place / name).write_bytes(
                json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
            )
        found.append(place)
    return found


class _Task:
    """One task, with both of its histories."""

    def __init__(self, words: Words, start: int) -> None:
        self.words = words
        self.chance = words.random
        self.said: list[dict[str, Any]] = []
        self.shown: list[dict[str, Any]] = []
        self._now = start
        self._task = ""

    def files(self, task_id: str) -> dict[str, Any]:
        """The files of the task's folder."""
        item = {"id": task_id, "number": 1, "ts": self._now, "task": self._task, "tokensIn": 90_000}
        item |= {"tokensOut": 4000, "totalCost": 0.7, "workspace": "/home/dev/app", "mode": "code"}
        return {
            "api_conversation_history.json": self.said,
            "ui_messages.json": self.shown,
            "history_item.json": item,
            "task_metadata.json": {"files_in_context": []},
        }

    def work(self) -> None:
        """The task, many calls, and what came of it; perhaps the person says more, and it goes on."""
        self._task = self.text(500, 2000)
        self.show("say", "text", self._task)
        self.asked(f"<task>\n{self._task}\n</task>")
        for _ in range(self.chance.randint(1, 3)):
            for _ in range(self.chance.randint(5, 20)):
                self.request()
                self.use_tool()
            self.request()
            self.complete()

    def text(self, least: int, most: int) -> str:
        """Words of some length."""
        return self.words.mostly_plain(least, most)

    def moment(self) -> int:
        """The time, which goes on."""
        self._now += self.chance.randint(20, 9000)
        return self._now

    def show(self, kind: str, word: str, text: str) -> None:
        """Show something to the person."""
        self.shown.append({"ts": self.moment(), "type": kind, kind: word, "text": text, "partial": False})

    def say(self, role: str, content: list[dict[str, Any]]) -> None:
        """Send something to the model, or get it."""
        self.said.append({"role": role, "content": content, "ts": self.moment()})

    def asked(self, text: str) -> None:
        """Send what the person said."""
        self.say("user", [_text(text), _text(self.environment())])

    def environment(self) -> str:
        """What is told beside each prompt."""
        files = "\n".join(f"src/{self.words.id()[:8]}.py" for _ in range(self.chance.randint(4, 30)))
        return (
            f"<environment_details>\n# VSCode Visible Files\nsrc/a.py\n\n# VSCode Open Tabs\n{files}\n\n"
            "# Current Time\nCurrent time in ISO 8601 UTC format: 2026-02-02T10:00:00.000Z\n\n"
            "# Current Cost\n$0.40\n\n# Current Mode\n<slug>code</slug>\n<name>💻 Code</name>\n"
            f"<model>{_MODEL}</model>\n\n"
            f"# Current Workspace Directory (/home/dev/app) Files\n{files}\n</environment_details>"
        )

    def request(self) -> None:
        """Show that the model is asked, and what that cost."""
        told = {"apiProtocol": "anthropic", "tokensIn": 12_010, "tokensOut": 310, "cacheWrites": 900}
        told |= {"cacheReads": 11_000, "cost": 0.02}
        self.show("say", "api_req_started", json.dumps({**self.sent(), **told}, ensure_ascii=False))

    def sent(self) -> dict[str, str]:
        """What is shown of a request beside its cost: nothing."""
        return {}

    def use_tool(self) -> None:
        """Let the model call a tool, and answer."""
        name = self.chance.choice(
            ("read_file", "execute_command", "apply_diff", "write_to_file", "search_files")
        )
        said, found = self.text(60, 500), self.text(1000, 4000)
        given = {"path": f"src/{self.words.id()[:8]}.py"}
        match name:
            case "execute_command":
                given = {"command": f"pytest {given['path']}"}
                self.show("ask", "command", given["command"])
                self.show("say", "command_output", found)
            case "apply_diff":
                old, new = self.text(200, 900), self.text(200, 900)
                given["diff"] = f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE"
                self.show("ask", "tool", json.dumps({"tool": "appliedDiff", **given}, ensure_ascii=False))
            case "write_to_file":
                given |= {"content": self.text(1000, 4000), "line_count": "40"}
                self.show("ask", "tool", json.dumps({"tool": "newFileCreated", **given}, ensure_ascii=False))
            case "search_files":
                given |= {"regex": "def .*", "file_pattern": "*.py"}
                self.show("ask", "tool", json.dumps({"tool": "searchFiles", **given}, ensure_ascii=False))
            case _:
                self.show("ask", "tool", json.dumps({"tool": "readFile", **given}, ensure_ascii=False))
        self.show("say", "text", said)
        self.call(name, said, given, found)

    def call(self, name: str, said: str, given: dict[str, str], found: str) -> None:
        """The messages of a call."""
        raise NotImplementedError

    def complete(self) -> None:
        """The end of the task, and what the person says to that."""
        result, more = self.text(500, 2000), self.text(100, 900)
        self.show("say", "completion_result", result)
        self.show("say", "user_feedback", more)
        self.call("attempt_completion", "", {"result": result}, f"<feedback>\n{more}\n</feedback>")


class _Native(_Task):
    def call(self, name: str, said: str, given: dict[str, str], found: str) -> None:
        call_id = f"toolu_{self.words.id()[:24]}"
        call = {"type": "tool_use", "id": call_id, "name": name, "input": given}
        self.say("assistant", [*([_text(said)] if said else []), call])
        result = {"type": "tool_result", "tool_use_id": call_id, "content": found}
        self.say("user", [result, _text(self.environment())])


class _Xml(_Task):
    def sent(self) -> dict[str, str]:
        """The prompt itself, which versions of that time showed."""
        return {"request": "\n\n".join(block["text"] for block in self.said[-1]["content"])}

    def call(self, name: str, said: str, given: dict[str, str], found: str) -> None:
        inner = "\n".join(f"<{key}>{_value(key, value)}</{key}>" for key, value in given.items())
        thought = f"<thinking>\n{self.text(100, 600)}\n</thinking>\n\n" if self.chance.randrange(2) else ""
        self.say("assistant", [_text(f"{thought}{said}\n\n<{name}>\n{inner}\n</{name}>")])
        shown = given.get("path") or given.get("command")
        head = f"[{name}] Result:" if shown is None else f"[{name} for '{shown}'] Result:"
        self.say("user", [_text(head), _text(found), _text(self.environment())])


def _value(key: str, value: str) -> str:
    return f"\n{value}\n" if key in ("content", "diff", "result") else value


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
