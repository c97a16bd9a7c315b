"""Makes the histories that are measured: `python bench/corpus.py [FOLDER] [--scale 1.0]`.

The same bytes every time, from the standard library alone. The folder gets

    home/.claude/projects/…       sessions of a coding agent, 224 MB in 1,645 files
    chatgpt-export/…              an export of a chat application, 150 MB in one array
    truth.json                    how many conversations and messages there are in each
"""

from __future__ import annotations

import argparse
import json
import random
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# The last turn of a session goes beyond the size it aims at: 180 MB become 224.
SESSIONS, SUBAGENTS, SESSION_BYTES = 1500, 145, 180_000_000
CHATS, CHAT_BYTES = 4166, 150_000_000
_SYLLABLES = ("al", "ba", "cor", "den", "el", "fra", "gen", "hol", "im", "jur", "kal", "lo", "mer", "nor")
_TOOLS = ("Read", "Bash", "Edit", "Grep")
_SEED = 7


class Words:
    """Text of any length, cut from a long stretch that is made once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        stems = ["".join(self.random.choices(_SYLLABLES, k=2)) for _ in range(3000)]
        words = self.random.choices(stems, weights=[1 / (n + 3) for n in range(3000)], k=200_000)
        for place in range(0, len(words), 17):
            words[place] += self.random.choice((".\n\n", ",", "() → ", ' = "é",\n    '))
        self._pool = " ".join(words)

    def text(self, size: int) -> str:
        """Some words, about so many characters."""
        start = self.random.randrange(len(self._pool) - size)
        return self._pool[start : start + size]

    def mostly_plain(self, least: int, most: int) -> str:
        """Some words, three of four times nothing but ASCII, as code and answers mostly are."""
        text = self.text(self.random.randint(least, most))
        return text if self.random.randrange(4) == 0 else text.encode("ascii", "ignore").decode()

    def some(self, typical: int, most: int) -> str:
        """Words of a length that is mostly near the typical one and sometimes far above."""
        return self.text(int(min(most, typical * self.random.paretovariate(1.1))))

    def id(self) -> str:
        """A UUID."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def sizes(self, count: int, total: int) -> list[int]:
        """Sizes that add up to about the total: many small, few large."""
        weights = [min(self.random.paretovariate(1.15), count * 0.05) for _ in range(count)]
        return [max(2500, int(weight * total / sum(weights))) for weight in weights]


def _line(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Session:
    """One file of the coding agent, written message by message."""

    def __init__(self, words: Words, session_id: str, start: float, agent: str | None = None) -> None:
        self._words = words
        self._envelope: dict[str, Any] = {
            "isSidechain": agent is not None,
            "userType": "external",
            "cwd": "/home/dev/project",
            "sessionId": session_id,
            "version": "2.0.14",
            "gitBranch": "main",
        }
        if agent is not None:
            self._envelope["agentId"] = agent
        self._now = start
        self._parent: str | None = None
        self.lines: list[str] = []
        self.size = 0

    def add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        """One record below the last."""
        self._now += 1 + self._words.random.random() * 30
        record_id = self._words.id()
        record = {"parentUuid": self._parent, **self._envelope, "type": kind, "message": message, **more}
        line = _line({**record, "uuid": record_id, "timestamp": _moment(self._now)})
        self._parent = record_id
        self.lines.append(line)
        self.size += len(line.encode())

    def turn(self) -> None:
        """A prompt, and answers with tool calls until the agent is done."""
        self.add("user", {"role": "user", "content": self._words.some(120, 4000)})
        for _ in range(self._words.random.choice((1, 2, 3, 5, 8))):
            self._answer()

    def _answer(self) -> None:
        chance = self._words.random
        message_id, request_id = f"msg_{chance.getrandbits(88):022x}", f"req_{chance.getrandbits(88):022x}"
        blocks: list[dict[str, Any]] = [{"type": "text", "text": self._words.text(chance.randint(60, 1200))}]
        if chance.random() < 0.5:  # noqa: PLR2004 (every other answer)
            thought = self._words.text(chance.randint(150, 2500))
            signature = f"{chance.getrandbits(1280):0320x}"
            blocks.insert(0, {"type": "thinking", "thinking": thought, "signature": signature})
        calls = [self._call() for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
        blocks += calls
        usage = {
            "input_tokens": chance.randint(1, 40),
            "cache_creation_input_tokens": chance.randint(0, 9000),
            "cache_read_input_tokens": chance.randint(5000, 120_000),
            "output_tokens": chance.randint(20, 2500),
        }
        for block in blocks:
            is_last = block is blocks[-1]
            message = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": "claude-sonnet-4-5-20250929",
                "content": [block],
                "stop_reason": ("tool_use" if calls else "end_turn") if is_last else None,
                "usage": usage,
            }
            self.add("assistant", message, requestId=request_id)
        for call in calls:
            self._result(call)

    def _call(self) -> dict[str, Any]:
        chance = self._words.random
        name = chance.choice(_TOOLS)
        value: dict[str, Any] = {"file_path": f"/home/dev/project/{self._words.id()[:8]}.py"}
        if name == "Edit":
            value |= {"old_string": self._words.some(90, 900), "new_string": self._words.some(120, 1200)}
        if name in {"Bash", "Grep"}:
            value = {"command": self._words.text(60), "description": self._words.text(40)}
        return {
            "type": "tool_use",
            "id": f"toolu_{chance.getrandbits(88):022x}",
            "name": name,
            "input": value,
        }

    def _result(self, call: dict[str, Any]) -> None:
        output = self._words.some(420, 48_000)
        block = {
            "tool_use_id": call["id"],
            "type": "tool_result",
            "content": output,
            "is_error": self._words.random.random() < 0.04,  # noqa: PLR2004 (about as often as in the field)
        }
        said: dict[str, Any] = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        self.add("user", {"role": "user", "content": [block]}, toolUseResult=said)


def make_sessions(folder: Path, scale: float) -> dict[str, int]:
    """The coding agent's tree; how much is in it."""
    words = Words(_SEED)
    count, extra = max(1, int(SESSIONS * scale)), int(SUBAGENTS * scale)
    sizes = words.sizes(count + extra, int(SESSION_BYTES * scale))
    truth = {"files": 0, "messages": 0, "bytes": 0}
    parents: list[tuple[Path, str]] = []
    for place, size in enumerate(sizes):
        start = 1_735_689_600 + place * 17_280
        if place < count:
            session_id, agent = words.id(), None
            parents.append((folder / f"-home-dev-project-{place % 40}", session_id))
            path = parents[-1][0] / f"{session_id}.jsonl"
        else:
            project, session_id = parents[(place - count) * 7 % count]
            agent = f"{words.random.getrandbits(32):08x}"
            path = project / session_id / "subagents" / f"agent-{agent}.jsonl"
        session = Session(words, session_id, start, agent)
        while session.size < size * 0.95:
            session.turn()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(session.lines), encoding="utf-8")
        truth["files"] += 1
        truth["messages"] += len(session.lines)
        truth["bytes"] += session.size
    return truth


class Chat:
    """One conversation of the chat application: a mapping of nodes; some answers were asked for twice."""

    def __init__(self, words: Words, start: float) -> None:
        self._words = words
        self.start = self.now = start
        self.mapping: dict[str, Any] = {}
        self.current = self._place(None, None)
        self.messages = 0

    def _place(self, parent: str | None, message: dict[str, Any] | None) -> str:
        node_id = self._words.id() if message is None else message["id"]
        self.mapping[node_id] = {"id": node_id, "message": message, "parent": parent, "children": []}
        if parent is not None:
            self.mapping[parent]["children"].append(node_id)
        return str(node_id)

    def say(self, role: str, text: str, parent: str) -> str:
        """One message; its id."""
        self.now += 1 + self._words.random.random() * 60
        self.messages += 1
        model = {"model_slug": "gpt-4o", "finish_details": {"type": "stop", "stop_tokens": [200002]}}
        message = {
            "id": self._words.id(),
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": round(self.now, 6),
            "update_time": None,
            "content": {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "end_turn": True if role == "assistant" else None,
            "weight": 1.0,
            "metadata": model if role == "assistant" else {},
            "recipient": "all",
            "channel": None,
        }
        return self._place(parent, message)

    def turn(self) -> int:
        """A question and one answer, sometimes two; about how many bytes that is."""
        question = self._words.some(150, 6000)
        asked = self.say("user", question, self.current)
        size = len(question)
        for _ in range(2 if self._words.random.random() < 0.06 else 1):  # noqa: PLR2004 (one in sixteen)
            answer = self._words.text(self._words.random.randint(300, 5000))
            self.current = self.say("assistant", answer, asked)
            size += len(answer) + 900
        return size + 800

    def finished(self) -> dict[str, Any]:
        """The conversation as the export has it."""
        chat_id = self._words.id()
        return {
            "title": self._words.text(30),
            "create_time": self.start,
            "update_time": self.now,
            "mapping": self.mapping,
            "moderation_results": [],
            "current_node": self.current,
            "plugin_ids": None,
            "conversation_id": chat_id,
            "gizmo_id": None,
            "is_archived": False,
            "safe_urls": [],
            "default_model_slug": "gpt-4o",
            "id": chat_id,
        }


def make_chats(file: Path, scale: float, *, seed: int = _SEED + 1) -> dict[str, int]:
    """The chat application's export; how much is in it."""
    words = Words(seed)
    count = max(1, int(CHATS * scale))
    truth = {"conversations": 0, "messages": 0, "bytes": 0, "largest": 0}
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as out:
        out.write("[")
        for place, size in enumerate(words.sizes(count, int(CHAT_BYTES * scale))):
            chat = Chat(words, 1_704_067_200.0 + place * 12_442)
            written = 500
            while written < size:
                written += chat.turn()
            text = json.dumps(chat.finished())
            out.write(("," if place else "") + text)
            truth["conversations"] += 1
            truth["messages"] += chat.messages
            truth["largest"] = max(truth["largest"], len(text))
        out.write("]")
    truth["bytes"] = file.stat().st_size
    return truth


def make(folder: Path, scale: float = 1.0) -> None:
    """The whole corpus."""
    truth = {
        "claude": make_sessions(folder / "home" / ".claude" / "projects", scale),
        "chatgpt": make_chats(folder / "chatgpt-export" / "conversations.json", scale),
    }
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "corpus")
    parser.add_argument("--scale", type=float, default=1.0, help="1.0 is 374 MB")
    arguments = parser.parse_args()
    make(arguments.folder, arguments.scale)
    print((arguments.folder / "truth.json").read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
