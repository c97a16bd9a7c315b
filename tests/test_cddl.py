"""The checker of agent records: each rule of the CDDL takes what it allows and refuses what it does not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests import cddl

AT = "2026-01-01T00:00:00Z"
WHOLE: dict[str, Any] = {
    "version": "3.0.0-draft",
    "id": "r",
    "created": AT,
    "vendor-key": {"any": ["thing"]},
    "recording-agent": {"name": "n", "version": "1"},
    "vcs": {"type": "git", "revision": "abc", "branch": "main", "repository": "https://example.org/r"},
    "file-attribution": {
        "files": [
            {
                "path": "a.py",
                "conversations": [
                    {
                        "url": "https://example.org/c",
                        "contributor": {"type": "ai", "model-id": "m"},
                        "ranges": [{"start-line": 1, "end-line": 2, "content-hash": "ff"}],
                        "related": [{"type": "issue", "url": "https://example.org/1"}],
                    }
                ],
            }
        ]
    },
    "session": {
        "format": "interactive",
        "session-id": "s",
        "session-start": 1767225600000,
        "session-end": AT,
        "agent-meta": {"model-id": "m", "model-provider": "p", "models": ["m"], "cli-name": "c"},
        "environment": {"working-dir": "/", "vcs": {"type": "jj"}, "sandboxes": ["/box"]},
        "entries": [
            {"type": "user", "content": None, "timestamp": AT, "id": "1"},
            {
                "type": "assistant",
                "parent-id": "1",
                "token-usage": {"input": 1, "cost": 0.5, "thoughts": "any"},
                "children": [
                    {"type": "tool-call", "name": "n", "input": None, "call-id": "c"},
                    {"type": "tool-result", "output": [], "status": "success", "is-error": False},
                    {"type": "reasoning", "content": "", "encrypted": "x", "subject": "y"},
                ],
            },
            {"type": "system-event", "event-type": "e", "data": {"any": 1}},
        ],
    },
}


def test_a_record_with_everything_is_valid() -> None:
    assert [] == cddl.check(WHOLE)


def changed(path: str, value: Any) -> Any:
    """The record with another value at a path of keys and indexes; Ellipsis removes it."""
    record = copy.deepcopy(WHOLE)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    target = record
    for step in steps:
        target = target[step]  # type: ignore[index] # a path of keys and indexes
    if value is ...:
        del target[last]  # type: ignore[arg-type]
    else:
        target[last] = value  # type: ignore[index]
    return record


BROKEN = [
    ("version", ..., "verifiable-agent-record"),
    ("id", 7, "tstr"),
    ("session", ..., "verifiable-agent-record"),
    ("session", [], "session-trace"),
    ("created", "2026-01-01 00:00:00Z", "abstract-timestamp"),
    ("created", "2026-13-01T00:00:00Z", "abstract-timestamp"),
    ("created", "2026-01-01T00:00:00", "abstract-timestamp"),
    ("created", "2026-01-01T24:00:00Z", "abstract-timestamp"),
    ("created", -1, "abstract-timestamp"),
    ("created", 1.5, "abstract-timestamp"),
    ("created", True, "abstract-timestamp"),
    ("created", None, "abstract-timestamp"),
    ("recording-agent/name", ..., "recording-agent"),
    ("recording-agent/version", None, "tstr"),
    ("vcs/type", ..., "vcs-context"),
    ("vcs/branch", None, "tstr"),
    ("session/session-id", ..., "session-trace"),
    ("session/format", 1, "tstr"),
    ("session/session-end", "soon", "abstract-timestamp"),
    ("session/agent-meta", ..., "session-trace"),
    ("session/agent-meta/model-id", ..., "agent-meta"),
    ("session/agent-meta/model-provider", None, "tstr"),
    ("session/agent-meta/models", "m", "array"),
    ("session/agent-meta/models/0", 1, "tstr"),
    ("session/environment/working-dir", ..., "environment"),
    ("session/environment/sandboxes", {}, "array"),
    ("session/environment/vcs", {}, "vcs-context"),
    ("session/entries", ..., "session-trace"),
    ("session/entries", {}, "array"),
    ("session/entries/0", "user", "entry"),
    ("session/entries/0/type", ..., "entry"),
    ("session/entries/0/type", "system", "entry"),
    ("session/entries/0/type", ["user"], "entry"),
    ("session/entries/0/id", None, "tstr"),
    ("session/entries/0/timestamp", "now", "abstract-timestamp"),
    ("session/entries/1/parent-id", 1, "tstr"),
    ("session/entries/1/token-usage", 1, "token-usage"),
    ("session/entries/1/token-usage/input", -1, "uint"),
    ("session/entries/1/token-usage/input", 1.0, "uint"),
    ("session/entries/1/token-usage/cost", "1", "number"),
    ("session/entries/1/children", None, "array"),
    ("session/entries/1/children/0/name", ..., "tool-call-entry"),
    ("session/entries/1/children/0/input", ..., "tool-call-entry"),
    ("session/entries/1/children/0/call-id", None, "tstr"),
    ("session/entries/1/children/1/output", ..., "tool-result-entry"),
    ("session/entries/1/children/1/is-error", 0, "bool"),
    ("session/entries/1/children/1/status", None, "tstr"),
    ("session/entries/1/children/2/content", ..., "reasoning-entry"),
    ("session/entries/1/children/2/encrypted", None, "tstr"),
    ("session/entries/2/event-type", ..., "event-entry"),
    ("session/entries/2/data", [], "event-entry data"),
    ("file-attribution/more", 1, "file-attribution-record"),
    ("file-attribution/files/0/path", ..., "file"),
    ("file-attribution/files/0/conversations/0/ranges", ..., "conversation"),
    ("file-attribution/files/0/conversations/0/url", 1, "tstr"),
    ("file-attribution/files/0/conversations/0/contributor/type", "robot", "contributor"),
    ("file-attribution/files/0/conversations/0/ranges/0/start-line", -1, "uint"),
    ("file-attribution/files/0/conversations/0/ranges/0/start_line", 1, "range"),
    ("file-attribution/files/0/conversations/0/related/0/url", ..., "resource"),
]


@pytest.mark.parametrize(("path", "value", "rule"), BROKEN)
def test_a_broken_rule_is_named_with_its_place(path: str, value: Any, rule: str) -> None:
    (error,) = cddl.check(changed(path, value))
    place, said, _ = error.split(": ", 2)

    assert rule == said
    assert place in {as_place(path), as_place(path.rpartition("/")[0])}


def as_place(path: str) -> str:
    steps = [step for step in path.split("/") if step]
    return "record" + "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps)


def test_every_problem_is_reported() -> None:
    record = {"version": 1, "session": {"entries": [{"type": "tool-call"}]}}

    assert [
        "record: verifiable-agent-record: id is missing",
        "record.version: tstr: int",
        "record.session: session-trace: session-id is missing",
        "record.session: session-trace: agent-meta is missing",
        "record.session.entries[0]: tool-call-entry: name is missing",
        "record.session.entries[0]: tool-call-entry: input is missing",
    ] == cddl.check(record)
