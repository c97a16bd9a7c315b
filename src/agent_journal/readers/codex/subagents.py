"""Looks up the call that started a subagent, in the rollout of its parent.

A rollout's name has the local time at which it began, and its id (a UUID of version 7) has that time in UTC.
The subagent's own name and id give the time zone; with it, the parent's id gives the name of its file.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import opened
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input

_NAME = re.compile(r"rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-")
_NAME_TIME = "%Y-%m-%dT%H-%M-%S"
_SUFFIXES = (".jsonl", ".jsonl.zst")
_ARCHIVED, _SESSIONS = "archived_sessions", "sessions"
_UUID_CHARS, _VERSION_CHAR = 36, 14
# Time zones differ from UTC by quarters of an hour, and by 14 hours at most.
_QUARTER_S, _MAX_OFFSET_S = 900, 14 * 3600
# A file is created shortly after its id.
_MAX_DELAY_S = 5
_MAX_FORKS = 100
_SPAWN = "spawn_agent"
_STARTED = "started"


def starting_call(source: Input, parent: str, child: str, note: Notes) -> str | None:
    """Get the id of the call that started a subagent from its parent's rollout; None if it is not there."""
    file = _find_rollout(source, parent, child)
    if file is None:
        return None
    mark, quiet = child.encode("utf-8", "replace"), Notes()
    try:
        for number, line, _ in json_stream.raw_lines(opened(file), quiet):
            if mark in line and (call := _find_call(json_stream.decode(line, quiet, number), child)):
                return call
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
    return None


def oldest_origin(source: Input, origin: str, own: str) -> str:
    """Get the session that a chain of copies begins with, as far as its rollouts exist."""
    seen = {own}
    while origin not in seen and len(seen) < _MAX_FORKS:
        seen.add(origin)
        file = _find_rollout(source, origin, own)
        previous = None if file is None else _copied_from(file)
        if previous is None:
            break
        origin = previous
    return origin


def _copied_from(file: Input) -> str | None:
    """Get the session that a rollout begins with a copy of, from its first line."""
    quiet = Notes()
    try:
        line = next((line for _, line, _ in json_stream.raw_lines(opened(file), quiet)), b"")
    except UnreadableSource:
        return None
    record = json_stream.decode(line, quiet, 1)
    payload = Fields(record, quiet, 1).nested("payload") if isinstance(record, dict) else None
    if payload is None or payload.view("history_base") is not None:
        return None
    return payload.text("forked_from_id") or None


def _find_rollout(source: Input, session: str, own: str) -> Input | None:
    """Find the rollout of another session: by its name, else among the files of this folder."""
    for steps in _candidate_paths(source, session, own):
        if (file := source.companion(*steps)) is not None:
            return file
    ends = tuple(f"-{session}{suffix}" for suffix in _SUFFIXES)
    return next((file for file in source.companions() if file.name.endswith(ends)), None)


def _candidate_paths(source: Input, session: str, own: str) -> Iterator[tuple[str, ...]]:
    start, name_match = _time_of(session), _NAME.match(source.name)
    offset = None if name_match is None else _offset(name_match[1], own)
    if start is None or offset is None:
        return
    local = start + offset
    for second in (local, local + timedelta(seconds=1)):
        day = (f"{second:%Y}", f"{second:%m}", f"{second:%d}")
        for suffix in _SUFFIXES:
            name = f"rollout-{second.strftime(_NAME_TIME)}-{session}{suffix}"
            yield (name,)
            yield (*[".."] * 3, *day, name)
            yield (*[".."] * 4, _ARCHIVED, name)
            yield ("..", _SESSIONS, *day, name)


def _offset(name: str, session: str) -> timedelta | None:
    """Get the UTC offset of the clock that names files, from a session's own file."""
    start = _time_of(session)
    if start is None:
        return None
    try:
        distance = (datetime.strptime(name, _NAME_TIME).replace(tzinfo=UTC) - start).total_seconds()
    except ValueError:
        return None
    offset = round(distance / _QUARTER_S) * _QUARTER_S
    is_offset = abs(offset) <= _MAX_OFFSET_S and -1 <= distance - offset <= _MAX_DELAY_S
    return timedelta(seconds=offset) if is_offset else None


def _time_of(session: str) -> datetime | None:
    """Get the time in a UUID of version 7."""
    if len(session) != _UUID_CHARS or session[_VERSION_CHAR] != "7":
        return None
    try:
        return datetime.fromtimestamp(int(session[:8] + session[9:13], 16) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _find_call(record: Any, child: str) -> str | None:
    """Get the call that started a subagent, if a line names it."""
    if not isinstance(record, dict):
        return None
    payload = Fields(record, Notes(), "").nested("payload")
    if payload is None:
        return None
    match payload.view("type"):
        case "function_call_output":
            return payload.text("call_id") if _agent_in(payload.take("output")) == child else None
        case "item_completed":
            item = payload.nested("item")
            return None if item is None else _spawn_call_of_item(item, child)
        case "collab_agent_spawn_end" if payload.view("new_thread_id") == child:
            return payload.text("call_id")
        case "sub_agent_activity" if _is_start(payload, child):
            return payload.text("event_id")
    return None


def _spawn_call_of_item(item: Fields, child: str) -> str | None:
    match item.view("type"):
        case "CollabAgentToolCall":
            is_spawn = item.view("tool") == _SPAWN and child in (item.items("receiver_thread_ids") or ())
            return item.text("id") if is_spawn else None
        case "SubAgentActivity":
            return item.text("id") if _is_start(item, child) else None
    return None


def _is_start(activity: Fields, child: str) -> bool:
    return bool(activity.view("agent_thread_id") == child and activity.view("kind") == _STARTED)


def _agent_in(output: Any) -> Any:
    """Get the agent named in a call's output: JSON in a text or in the first content part."""
    if isinstance(output, list) and output and isinstance(output[0], dict):
        output = Fields(output[0], Notes(), "").text("text")
    if not isinstance(output, str):
        return None
    value = json_stream.decode(output.encode("utf-8", "replace"), Notes(), "")
    return Fields(value, Notes(), "").text("agent_id") if isinstance(value, dict) else None
