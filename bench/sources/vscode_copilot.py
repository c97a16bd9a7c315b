"""Chat sessions of an editor, as one document each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sources.writing import MB, Scribe, dumped

if TYPE_CHECKING:
    from pathlib import Path


def _request(scribe: Scribe) -> dict[str, Any]:
    text, call, answer = scribe.prompt(), f"call_{scribe.random.getrandbits(50)}", scribe.answer()
    shown = {
        "kind": "toolInvocationSerialized",
        "toolCallId": call,
        "toolId": "copilot_readFile",
        "isComplete": True,
    }
    asked = {"id": call, "name": "read_file", "arguments": dumped({"filePath": "/a/b.py"})}
    rounds = [
        {"response": "", "toolCalls": [asked], "id": scribe.id()},
        {"response": answer, "toolCalls": [], "id": scribe.id()},
    ]
    results = {call: {"content": [{"value": scribe.output()}], "$mid": 20}}
    return {
        "requestId": f"request_{scribe.id()}",
        "message": {"text": text, "parts": [{"text": text, "kind": "text"}]},
        "variableData": {"variables": []},
        "response": [shown | {"invocationMessage": {"value": "Reading"}}, {"value": answer}],
        "result": {
            "timings": {"totalElapsed": 900},
            "metadata": {"toolCallRounds": rounds, "toolCallResults": results},
        },
        "followups": [],
        "isCanceled": False,
        "agent": {"id": "github.copilot.editsAgent"},
        "timestamp": scribe.milliseconds(),
        "modelId": "copilot/gpt-5",
    }


def make(folder: Path, megabytes: int) -> list[Path]:
    """Many sessions in a workspace."""
    scribe, size, paths = Scribe(), 0, []
    place = folder / "workspaceStorage" / "ab" / "chatSessions"
    place.mkdir(parents=True)
    while size < megabytes * MB:
        requests = [_request(scribe) for _ in range(scribe.random.randrange(4, 120))]
        session = {
            "version": 3,
            "sessionId": scribe.id(),
            "responderUsername": "GitHub Copilot",
            "requests": requests,
        }
        text = dumped(session | {"creationDate": scribe.milliseconds(), "requesterUsername": "ana"})
        paths.append(place / f"{session['sessionId']}.json")
        paths[-1].write_text(text, encoding="utf-8")
        size += len(text)
    return paths


KINDS = {"sessions": make}
