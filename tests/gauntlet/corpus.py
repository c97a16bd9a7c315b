"""Histories of our own making, with a word in each message that stands nowhere else."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from tests.gauntlet.lab import Truth

_WORDS = [
    "alder",
    "birch",
    "cedar",
    "doors",
    "elm",
    "forks",
    "grain",
    "house",
    "inlet",
    "joint",
    "knots",
    "ledge",
    "miter",
    "notch",
    "ovens",
    "plane",
]
_FOLDER = "-home-ada-work"


def word(conversation: int, message: int) -> str:
    """The word of a message."""
    return f"canary{conversation:05}x{message:05}q"


def session_id(number: int) -> str:
    return str(UUID(int=(0xA000 << 112) | (4 << 76) | (8 << 60) | number))


def text_of(chance: Random, conversation: int, message: int) -> str:
    return f"{word(conversation, message)} {' '.join(chance.choices(_WORDS, k=12))}"


def line_of(id_: str, number: int, text: str, output: str = "") -> bytes:
    """A line of a session, with a tool's output beside the text if there is some."""
    role = ("user", "assistant")[number % 2]
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if output and role == "user":
        content.append({"type": "tool_result", "tool_use_id": f"call{number}", "content": output})
    record = {
        "type": role,
        "uuid": f"{id_}-{number}",
        "parentUuid": f"{id_}-{number - 1}" if number else None,
        "sessionId": id_,
        "timestamp": f"2026-03-{1 + number // 1440 % 28:02}T{number // 60 % 24:02}:{number % 60:02}:00.000Z",
        "cwd": "/home/ada/work",
        "version": "2.1.90",
        "isSidechain": False,
        "userType": "external",
        "message": {"role": role, "content": content},
    }
    return json.dumps(record).encode() + b"\n"


class Sessions:
    """Sessions of an agent, which grow."""

    def __init__(self, projects: Path, seed: int = 1, output: int = 0) -> None:
        self.folder = projects / _FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)
        self.truth: Truth = {}
        self._chance = Random(seed)  # noqa: S311
        self._output = output

    def path(self, number: int) -> Path:
        return self.folder / f"{session_id(number)}.jsonl"

    def grow(self, number: int, messages: int) -> None:
        """Let a session have so many messages more."""
        lines = [self.next_line(number) for _ in range(messages)]
        with self.path(number).open("ab") as file:
            file.write(b"".join(lines))

    def next_line(self, number: int) -> bytes:
        """The next line of a session; whoever asks for it writes it."""
        said = self.truth.setdefault(session_id(number), [])
        text = text_of(self._chance, number, len(said))
        said.append(text)
        output = " ".join(self._chance.choices(_WORDS, k=self._output)) if self._output else ""
        return line_of(session_id(number), len(said) - 1, text, output)


def export(path: Path, conversations: int, messages: int, *, shift: int = 0, seed: int = 2) -> Truth:
    """A zip as ChatGPT exports it."""
    chance = Random(seed)  # noqa: S311
    truth: Truth = {}
    talks = []
    for number in range(shift, shift + conversations):
        id_ = session_id(100_000 + number)
        truth[id_] = [text_of(chance, 100_000 + number, message) for message in range(messages)]
        talks.append(_talk(id_, truth[id_]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("conversations.json", json.dumps(talks))
    return truth


def _talk(id_: str, texts: list[str]) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for number, text in enumerate(texts):
        nodes[f"{id_}-{number}"] = {
            "id": f"{id_}-{number}",
            "message": {
                "id": f"{id_}-{number}",
                "author": {"role": ("user", "assistant")[number % 2], "name": None, "metadata": {}},
                "create_time": 1_700_000_000.0 + number,
                "update_time": None,
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "end_turn": None,
                "weight": 1.0,
                "metadata": {},
                "recipient": "all",
                "channel": None,
            },
            "parent": f"{id_}-{number - 1}" if number else None,
            "children": [f"{id_}-{number + 1}"] if number + 1 < len(texts) else [],
        }
    return {
        "title": f"title of {texts[0].split()[0]}t",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_000.0 + len(texts),
        "mapping": nodes,
        "current_node": f"{id_}-{len(texts) - 1}",
        "conversation_id": id_,
        "id": id_,
    }
