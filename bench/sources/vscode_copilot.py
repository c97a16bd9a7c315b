"""Chat sessions of an editor: as one document each, and as the log of operations that a session is today."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sources.writing import MB, Scribe, dumped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Each request says again who answers it.
_AGENT: dict[str, Any] = {
    "extensionId": {"value": "GitHub.copilot-chat", "_lower": "github.copilot-chat"},
    "extensionVersion": "0.31.3",
    "publisherDisplayName": "GitHub",
    "extensionPublisherId": "GitHub",
    "extensionDisplayName": "GitHub Copilot Chat",
    "id": "github.copilot.editsAgent",
    "description": "Edit files in your workspace in agent mode",
    "when": "config.chat.agent.enabled",
    "metadata": {"themeIcon": {"id": "tools"}, "hasFollowups": False, "supportIssueReporting": False},
    "name": "agent",
    "fullName": "GitHub Copilot",
    "isDefault": True,
    "locations": ["panel"],
    "modes": ["agent"],
    "slashCommands": [{"name": "list", "description": ""}],
    "disambiguation": [],
}
_SPAN = {"startLineNumber": 1, "startColumn": 1, "endLineNumber": 1, "endColumn": 40}
_CALLS = (1, 1, 2, 3, 5)


class _Chat(Scribe):
    """Requests in agent mode: calls of tools, then an answer."""

    def request(self) -> dict[str, Any]:
        """All that is known when the answer is there."""
        text, answer, at = self.prompt(), self.answer(), self.milliseconds()
        calls = [f"toolu_{self.random.getrandbits(90):023x}" for _ in range(self.random.choice(_CALLS))]
        return {
            "requestId": f"request_{self.id()}",
            "message": {"parts": [self._typed(text)], "text": text},
            "variableData": {"variables": []},
            "response": [*map(self._shown, calls), *self._said(answer)],
            "responseId": f"response_{self.id()}",
            "result": {
                "timings": {"firstProgress": 4056, "totalElapsed": 59_981},
                "metadata": self._metadata(calls, answer),
                "details": "GPT-5 • 1x",
            },
            "responseMarkdownInfo": [],
            "followups": [],
            "isCanceled": False,
            "agent": _AGENT,
            "contentReferences": [],
            "codeCitations": [],
            "timestamp": at,
            "modelId": "copilot/gpt-5",
            "modelState": {"value": 1, "completedAt": at + 60_000},
        }

    def _typed(self, text: str) -> dict[str, Any]:
        return {
            "range": {"start": 0, "endExclusive": len(text)},
            "editorRange": _SPAN,
            "text": text,
            "kind": "text",
        }

    def _shown(self, call: str) -> dict[str, Any]:
        file = {"$mid": 1, "path": "/home/dev/project/a.py", "scheme": "file"}
        message = {"value": "Reading [](file:///home/dev/project/a.py)", "supportThemeIcons": False}
        return {
            "kind": "toolInvocationSerialized",
            "invocationMessage": message | {"uris": {"file:///home/dev/project/a.py": file}},
            "pastTenseMessage": message | {"uris": {"file:///home/dev/project/a.py": file}},
            "isConfirmed": {"type": 1},
            "isComplete": True,
            "source": {"type": "internal", "label": "Built-In"},
            "toolCallId": call,
            "toolId": "copilot_readFile",
        }

    def _said(self, answer: str) -> Iterator[dict[str, Any]]:
        """An answer is shown as it comes, in stretches."""
        for start in range(0, len(answer), 900):
            yield {"value": answer[start : start + 900], "supportThemeIcons": False, "supportHtml": False}

    def _metadata(self, calls: list[str], answer: str) -> dict[str, Any]:
        rounds = [self._round("", [call]) for call in calls]
        return {
            "codeBlocks": [],
            "renderedUserMessage": [{"type": 1, "text": f"<context>\n{self.some(300, 2000)}\n</context>"}],
            "toolCallRounds": [*rounds, self._round(answer, [])],
            "toolCallResults": {f"{call}__vscode-17": self._result() for call in calls},
            "modelMessageId": self.id(),
            "sessionId": self.id(),
            "agentId": "github.copilot.editsAgent",
        }

    def _round(self, said: str, calls: list[str]) -> dict[str, Any]:
        arguments = dumped({"filePath": "/home/dev/project/a.py", "startLine": 1, "endLine": 200})
        asked = [{"name": "read_file", "arguments": arguments, "id": f"{call}__vscode-17"} for call in calls]
        return {"response": said, "toolCalls": asked, "toolInputRetry": 0, "id": self.id()}

    def _result(self) -> dict[str, Any]:
        return {"$mid": 20, "content": [{"$mid": 21, "value": self.output()}]}

    def session(self, requests: list[Any]) -> dict[str, Any]:
        """A session with these requests."""
        return {
            "version": 3,
            "sessionId": self.id(),
            "responderUsername": "GitHub Copilot",
            "initialLocation": "panel",
            "requests": requests,
            "creationDate": self.milliseconds(),
            "requesterUsername": "ana",
            "inputState": {"inputText": "", "mode": {"id": "agent", "kind": "agent"}},
        }


def _document(chat: _Chat, count: int) -> str:
    return dumped(chat.session([chat.request() for _ in range(count)]))


def _log(chat: _Chat, count: int) -> str:
    """What the editor appends whenever it saves: the parts that came since, and what became of them."""
    operations: list[dict[str, Any]] = [{"kind": 0, "v": chat.session([])}]
    for place in range(count):
        request = chat.request()
        shown, result, state = (request.pop(name) for name in ("response", "result", "modelState"))
        operations.append({"kind": 2, "k": ["requests"], "v": [request | {"response": []}]})
        for end, part in enumerate(shown):
            # What was shown last is written again when more of it has come.
            path = ["requests", place, "response"]
            operations.append({"kind": 2, "k": path, "v": [part | {"isComplete": False}]})
            operations.append({"kind": 2, "k": path, "v": [part], "i": end})
            operations.append({"kind": 1, "k": ["inputState", "inputText"], "v": chat.some(20, 200)})
        operations.append({"kind": 1, "k": ["requests", place, "result"], "v": result})
        operations.append({"kind": 1, "k": ["requests", place, "modelState"], "v": state})
    return "\n".join(map(dumped, operations)) + "\n"


def _make(folder: Path, megabytes: int, written: Callable[[_Chat, int], str], suffix: str) -> list[Path]:
    """Many sessions in a workspace."""
    chat, size, paths = _Chat(), 0, []
    place = folder / "workspaceStorage" / "ab" / "chatSessions"
    place.mkdir(parents=True)
    while size < megabytes * MB:
        text = written(chat, chat.random.randrange(4, 120))
        paths.append(place / f"{chat.id()}{suffix}")
        paths[-1].write_text(text, encoding="utf-8")
        size += len(text)
    return paths


KINDS = {
    "sessions": partial(_make, written=_document, suffix=".json"),
    "log": partial(_make, written=_log, suffix=".jsonl"),
}
