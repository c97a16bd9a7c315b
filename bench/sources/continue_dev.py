"""Histories of Continue as they lie in a home folder: sessions of agents, chats with their prompts, a log.

Files are written as the extension writes them: sessions indented, logs one event per line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from corpus import Words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SEED = 11
_TOOLS = ("read_file", "grep_search", "run_terminal_command", "edit_existing_file", "ls")
_AGENT = "vscode/1.104.0 (Continue/1.2.11)"
_START = 1_760_000_000_000


def agents(folder: Path, megabytes: int) -> list[Path]:
    """Sessions full of tool calls, without a record of their prompts."""
    words = Words(_SEED)
    return _sessions(folder, megabytes, words, lambda: _Session(words).agent())


def chats(folder: Path, megabytes: int) -> list[Path]:
    """Sessions of questions and answers, each answer with the whole prompt that it was given for."""
    words = Words(_SEED)
    return _sessions(folder, megabytes, words, lambda: _Session(words).chat())


def log(folder: Path, megabytes: int) -> list[Path]:
    """A log of sessions that were deleted: each line repeats what was said before it."""
    words = Words(_SEED)
    file = folder / "dev_data" / "0.2.0" / "chatInteraction.jsonl"
    file.parent.mkdir(parents=True)
    size, now = 0, _START
    with file.open("wb") as lines:
        while size < megabytes * 1_000_000:
            session = _Session(words)
            session.chat() if words.random.randrange(2) else session.agent()
            for asked in session.prompts:
                now += 20_000
                line = json.dumps({**asked, **_event(session.id, now)}, ensure_ascii=False).encode() + b"\n"
                size += lines.write(line)
    return [file]


KINDS: dict[str, Callable[[Path, int], list[Path]]] = {"agents": agents, "chats": chats, "log": log}


def _sessions(folder: Path, megabytes: int, words: Words, make: Callable[[], Any]) -> list[Path]:
    sessions = folder / "sessions"
    sessions.mkdir(parents=True)
    size = 0
    index: list[dict[str, Any]] = []
    while size < megabytes * 1_000_000:
        session = {
            "sessionId": words.id(),
            "title": words.text(40),
            "workspaceDirectory": "file:///home/dev/app",
        }
        session["history"] = make()
        session["mode"] = "agent"
        session["chatModelTitle"] = "Claude Sonnet"
        data = json.dumps(session, ensure_ascii=False, indent=2).encode()
        (sessions / f"{session['sessionId']}.json").write_bytes(data)
        size += len(data)
        entry = {name: session[name] for name in ("sessionId", "title", "workspaceDirectory")}
        index.append({**entry, "dateCreated": str(_START + len(index) * 60_000)})
    (sessions / "sessions.json").write_text(json.dumps(index, ensure_ascii=False, indent=2), encoding="utf-8")
    return [sessions]


def _event(session_id: str, now: int) -> dict[str, Any]:
    seconds, rest = divmod(now - _START, 86_400_000)
    minutes = rest // 60_000
    at = f"2025-10-{1 + seconds % 28:02d}T{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000 % 60:02d}.000Z"
    return {
        "sessionId": session_id,
        "tools": [*_TOOLS],
        "eventName": "chatInteraction",
        "timestamp": at,
        "schema": "0.2.0",
        "userId": "",
        "userAgent": _AGENT,
        "selectedProfileId": "local",
    }


class _Session:
    """The items of one session, and the prompts that were sent in it."""

    def __init__(self, words: Words) -> None:
        self.id = words.id()
        self.prompts: list[dict[str, Any]] = []
        self._words = words
        self._chance = words.random
        self._items: list[dict[str, Any]] = []
        self._sent = f"<system>\n{words.text(1500)}\n\n"

    def agent(self) -> list[dict[str, Any]]:
        """A few questions, each with many calls of tools."""
        for _ in range(self._chance.randint(1, 4)):
            self._ask()
            for _ in range(self._chance.randint(4, 16)):
                self._use_tool()
            self._answer(self._said())
        return self._items

    def chat(self) -> list[dict[str, Any]]:
        """Questions and answers, with what was sent for each answer."""
        for _ in range(self._chance.randint(2, 16)):
            self._ask()
            item = self._answer(self._said())
            item["promptLogs"] = self.prompts[-1:]
        return self._items

    def _remember(self, said: str) -> None:
        """Log an answer, and send it with the next prompt."""
        answer = f"<assistant>\n{said}\n\n"
        model = {"modelTitle": "Claude Sonnet", "modelName": "claude-sonnet-4-5"}
        sent = {"modelProvider": "anthropic", "prompt": self._sent, "completion": answer}
        self.prompts.append({**model, **sent})
        self._sent += answer

    def _said(self) -> str:
        return self._words.mostly_plain(500, 2000)

    def _ask(self) -> None:
        text = self._said()
        editor = {
            "type": "doc",
            "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}],
        }
        message = {"role": "user", "content": [{"type": "text", "text": text}], "id": self._words.id()}
        file = f"file:///home/dev/app/{self._words.id()[:8]}.py"
        context = {
            "name": file[-11:],
            "description": f"app/{file[-11:]}",
            "content": self._words.mostly_plain(1000, 4000),
            "uri": {"type": "file", "value": file},
            "id": {"providerTitle": "file", "itemId": file},
        }
        given = [context] if self._chance.randrange(2) else []
        self._items.append(
            {"message": message, "contextItems": given, "editorState": editor, "appliedRules": []}
        )
        self._sent += f"<user>\n{text}\n\n"

    def _answer(self, said: str) -> dict[str, Any]:
        usage: dict[str, Any] = {"promptTokens": self._chance.randint(1000, 90_000), "completionTokens": 400}
        usage["promptTokensDetails"] = {"cachedTokens": 900, "cacheWriteTokens": 0}
        message = {"role": "assistant", "content": said, "id": self._words.id(), "usage": usage}
        self._remember(said)
        self._items.append({"message": message, "contextItems": []})
        return self._items[-1]

    def _use_tool(self) -> None:
        call_id, name = f"toolu_{self._words.id()}", self._chance.choice(_TOOLS)
        given = {"filepath": f"src/{self._words.id()[:8]}.py"}
        if name == "edit_existing_file":
            given["changes"] = self._said()
        function = {"name": name, "arguments": json.dumps(given, ensure_ascii=False)}
        call = {"id": call_id, "type": "function", "function": function}
        found = self._words.mostly_plain(1000, 4000)
        output = {"name": given["filepath"], "description": given["filepath"], "content": found}
        state = {
            "toolCallId": call_id,
            "toolCall": call,
            "status": "done",
            "parsedArgs": given,
            "output": [output],
            "tool": _definition(name),
        }
        item = self._answer(self._words.mostly_plain(60, 500))
        item["message"]["toolCalls"] = [call]
        item["toolCallStates"] = [state]
        message = {"role": "tool", "content": found, "toolCallId": call_id, "id": self._words.id()}
        self._items.append({"message": message, "contextItems": []})
        self._sent += f"<tool>\n{found}\n\n"


def _definition(name: str) -> dict[str, Any]:
    """A tool, as the state of each call of it repeats it."""
    about = f"Use {name} on one file of the workspace. The path is relative to its root; other files stay."
    place = {"type": "string", "description": "The path of the file, relative to the root of the workspace"}
    schema = {"type": "object", "required": ["filepath"], "properties": {"filepath": place}}
    return {
        "type": "function",
        "displayTitle": name.replace("_", " ").title(),
        "wouldLikeTo": f"{name} {{{{{{ filepath }}}}}}",
        "readonly": name != "edit_existing_file",
        "group": "Built-In",
        "function": {"name": name, "description": about, "parameters": schema},
        "defaultToolPolicy": "allowedWithoutPermission",
    }
