"""Histories of our own making in which everything is told more than once, and what is really in them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

SESSION, RESUMED = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
PARENT, FORK, SPAWNED, FRESH, GRANDCHILD = (f"019a0000-0000-7000-8000-00000000000{n}" for n in range(5))
TURNS = [f"019a1111-0000-7000-8000-00000000000{n}" for n in range(5)]

# What each history used, every token once: input, output, cache read, cache write.
SPLIT = (30, 250, 9_000, 1_500)
FORKED = (700, 90, 1_200, 0)
LEFT_ALONE = (200, 20, 300, 0)
RESTARTED = (50, 5, 0, 0)
SHUT_DOWN = (600, 109, 2_000, 400)
RECORDED = (614, 284, 15_800, 20)
CUMULATIVE = (120, 45, 0, 0)


def _write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8"
    )


def _usage(input_: int, output: int, read: int, write: int, hour: int = 0) -> dict[str, Any]:
    return {
        "input_tokens": input_, "output_tokens": output, "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "cache_creation": {"ephemeral_5m_input_tokens": write - hour, "ephemeral_1h_input_tokens": hour},
    }  # fmt: skip


def _answer(
    uuid: str, parent: str, second: int, message: str, usage: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "type": "assistant", "uuid": uuid, "parentUuid": parent, "sessionId": more.pop("session", SESSION),
        "timestamp": f"2026-03-01T10:00:{second:02}.000Z", "cwd": "/work/tides", "isSidechain": False,
        "requestId": f"req_{message}", "version": "2.1.0",
        "message": {
            "id": f"msg_{message}", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
            "usage": usage, "content": [{"type": "text", "text": f"piece {uuid}"}],
            "stop_reason": more.pop("stop", None),
        },
    }  # fmt: skip


def _prompt(uuid: str, second: int, session: str = SESSION) -> dict[str, Any]:
    return {
        "type": "user", "uuid": uuid, "parentUuid": None, "sessionId": session, "cwd": "/work/tides",
        "timestamp": f"2026-03-01T10:00:{second:02}.000Z", "isSidechain": False, "version": "2.1.0",
        "message": {"role": "user", "content": f"asked {uuid}"},
    }  # fmt: skip


def split_lines_and_copies(home: Path) -> None:
    """An answer in three lines, the first with a partial count; a resumed session that repeats it; an hour.

    First answer: 10 in, 100 out, 4,000 read, 1,000 written for an hour. Second, in the resumed session only:
    20 in, 150 out, 5,000 read, 500 written.
    """
    folder = home / ".claude/projects/-work-tides"
    partial, whole = _usage(10, 1, 4_000, 1_000, 1_000), _usage(10, 100, 4_000, 1_000, 1_000)
    lines = [
        _prompt("u1", 0),
        _answer("a1", "u1", 1, "one", partial),
        _answer("a2", "a1", 2, "one", partial),
        _answer("a3", "a2", 3, "one", whole, stop="end_turn"),
    ]
    _write(folder / f"{SESSION}.jsonl", lines)
    copied = [{**line, "sessionId": RESUMED} for line in lines]
    second = _answer("a4", "a3", 9, "two", _usage(20, 150, 5_000, 500), session=RESUMED, stop="end_turn")
    _write(folder / f"{RESUMED}.jsonl", [*copied, second])


def _counts(sent: int, cached: int, out: int) -> dict[str, int]:
    return {
        "input_tokens": sent, "cached_input_tokens": cached, "output_tokens": out,
        "reasoning_output_tokens": 0, "total_tokens": sent + out,
    }  # fmt: skip


def _line(second: int, kind: str, payload: dict[str, Any], day: int = 2) -> dict[str, Any]:
    return {"timestamp": f"2026-03-{day:02}T10:00:{second:02}.000Z", "type": kind, "payload": payload}


def _turn(
    second: int, share: dict[str, int], so_far: dict[str, int], day: int, turn: str | None
) -> list[dict[str, Any]]:
    context = {"model": "gpt-5-codex", "cwd": "/work/tides"} | ({"turn_id": turn} if turn else {})
    text = {"type": "output_text", "text": f"said {share['output_tokens']}"}
    said = {"type": "message", "role": "assistant", "content": [text]}
    for name, value in share.items():
        so_far[name] = so_far.get(name, 0) + value
    info = {"total_token_usage": dict(so_far), "last_token_usage": share}
    count = {"type": "token_count", "info": info}
    return [
        _line(second, "turn_context", context, day),
        _line(second, "response_item", said, day),
        _line(second, "event_msg", count, day),
        _line(second, "event_msg", count, day),
    ]


def _meta(id_: str, day: int, **more: Any) -> dict[str, Any]:
    at = f"2026-03-{day:02}T10:00:00.000Z"
    return _line(0, "session_meta", {"id": id_, "timestamp": at, "cwd": "/work/tides", **more}, day)


def _rollout(home: Path, id_: str, lines: list[dict[str, Any]]) -> None:
    _write(home / f".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{id_}.jsonl", lines)


def forks_and_replays(home: Path, *, with_turns: bool) -> None:
    """A session of two answers; days later a fork that repeats it with new times and goes on.

    Also a sub-agent that repeats it without naming the session in its lines, and a fork of the fork. Answers:
    500 sent (300 cached), 20 out; 600 (400), 30; in the fork 450 (250), 25; in the sub-agent 250 (150), 10;
    in the fork of the fork 100 (100), 5.
    """
    turns: list[str | None] = list(TURNS) if with_turns else [None] * 5
    so_far: dict[str, int] = {}
    first = _turn(5, _counts(500, 300, 20), so_far, 2, turns[0]) + _turn(
        9, _counts(600, 400, 30), so_far, 2, turns[1]
    )
    forked_at = dict(so_far)
    _rollout(home, PARENT, [_meta(PARENT, 2), *first])

    def again(lines: list[Any], day: int) -> list[Any]:
        return [{**line, "timestamp": f"2026-03-{day:02}T10:00:00.000Z"} for line in lines]

    own = _turn(20, _counts(450, 250, 25), so_far, 5, turns[2])
    copied = [_meta(PARENT, 2), *first]
    _rollout(home, FORK, [_meta(FORK, 5, forked_from_id=PARENT), *again(copied, 5), *own])
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    so_far = dict(forked_at)
    mine = _turn(30, _counts(250, 150, 10), so_far, 6, turns[3])
    _rollout(home, SPAWNED, [_meta(SPAWNED, 6, source=spawn), *again(first, 6), *mine])
    so_far = {**forked_at}
    for name, value in _counts(450, 250, 25).items():
        so_far[name] += value
    last = _turn(40, _counts(100, 100, 5), so_far, 7, turns[4])
    everything = [_meta(FORK, 5, forked_from_id=PARENT), *copied, *own]
    _rollout(home, GRANDCHILD, [_meta(GRANDCHILD, 7, forked_from_id=FORK), *again(everything, 7), *last])


def a_fork_of_nothing_new(home: Path) -> None:
    """A session of one answer, and a fork that was left as it was made: 500 sent (300 cached), 20 out."""
    first = [_meta(PARENT, 2), *_turn(5, _counts(500, 300, 20), {}, 2, TURNS[0])]
    _rollout(home, PARENT, first)
    copied = [{**line, "timestamp": "2026-03-05T10:00:00.000Z"} for line in first]
    _rollout(home, FORK, [_meta(FORK, 5, forked_from_id=PARENT), *copied])


def a_subagent_of_its_own(home: Path) -> None:
    """A sub-agent that repeats nothing and counts from the beginning, with what its parent began with too."""
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    _rollout(home, FRESH, [_meta(FRESH, 8, source=spawn), *_turn(30, _counts(50, 0, 5), {}, 8, None)])


def sums_at_the_end(home: Path) -> None:
    """A session whose messages tell their output, and whose end tells all: 3,000 given, with the cache's."""
    folder = home / ".copilot/session-state/7c0e5a52-0d5c-4a3b-9a51-2f6f8a1b0c01"
    usage = {"inputTokens": 3000, "outputTokens": 109, "cacheReadTokens": 2000, "cacheWriteTokens": 400}

    def event(number: int, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        at = f"2026-03-09T09:00:{number:02}.000Z"
        parent = f"e{number - 1}" if number > 1 else None
        return {"type": kind, "data": data, "id": f"e{number}", "timestamp": at, "parentId": parent}

    start = {
        "sessionId": folder.name, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.0",
        "startTime": "2026-03-09T09:00:00.000Z", "selectedModel": "gpt-5",
    }  # fmt: skip
    lines = [event(1, "session.start", start), event(2, "user.message", {"content": "go"})]
    lines += [
        event(
            number, "assistant.message", {"messageId": f"m{number}", "content": "ok", "outputTokens": tokens}
        )
        for number, tokens in ((3, 60), (4, 49))
    ]
    shutdown = {
        "shutdownType": "routine",
        "modelMetrics": {"gpt-5": {"usage": usage}},
        "currentModel": "gpt-5",
    }
    _write(folder / "events.jsonl", [*lines, event(5, "session.shutdown", shutdown)])


def records_and_sums_of_all(home: Path) -> None:
    """A resumed session that records each response; each end repeats all that was before."""
    case = Path(__file__).parents[1] / "readers/copilot-cli/resumed_with_records/input"
    shutil.copytree(case, home, dirs_exist_ok=True)


def a_session_that_counts_as_a_whole(home: Path) -> None:
    """A session that states one sum for all its answers."""
    path = home / ".continue/sessions/33333333-3333-4333-8333-333333333333.json"
    history = [
        {"message": {"role": role, "content": text, "id": f"m{place}"}, "contextItems": []}
        for place, (role, text) in enumerate(
            (("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"))
        )
    ]
    session = {
        "sessionId": path.stem, "title": "Sums", "workspaceDirectory": "file:///work/tides",
        "history": history, "usage": {"promptTokens": 120, "completionTokens": 45, "totalCost": 0.25},
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(session), encoding="utf-8")
