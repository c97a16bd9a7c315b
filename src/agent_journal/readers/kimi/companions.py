"""What other files state about a session: its id and agent by the folder, its title, folder and parent."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Link
from agent_journal.model.ids import is_uuid
from agent_journal.notes import Kind, Notes
from agent_journal.readers.dialects.session_log import steps_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.inputs.input import Input

_STATE, _WIRE, _CONTEXT, _META = "state.json", "wire.jsonl", "context.jsonl", "meta.json"
# Of Kimi Code and Kimi Work; Kimi CLI names folders by UUIDs.
_SESSION_PREFIXES = ("session_", "conv-")
_AGENTS, _SUBAGENTS, _MAIN = "agents", "subagents", "main"
_FOLDER_IN_PROMPT = re.compile(r"current working directory is `([^`\n]{1,4096})`")


class Place:
    """Where a file is: the session and the agent that its folders name."""

    def __init__(self, source: Input) -> None:
        self.source = source
        steps = steps_of(source.label)[:-1]
        self.agent: str | None = None
        if len(steps) > 2 and steps[-2] in (_AGENTS, _SUBAGENTS):  # noqa: PLR2004 (session, agents, agent)
            self.agent = steps[-1] if steps[-1] != _MAIN else None
            self._up: tuple[str, ...] = ("..", "..")
            steps = steps[:-2]
        else:
            self._up = ()
        self.session = steps[-1] if steps and steps[-1] not in ("", ".", "..") else None
        self._project_hash = steps[-2] if len(steps) > 1 else ""
        self._state_file = source.companion(*self._up, _STATE)

    @property
    def is_session_folder(self) -> bool:
        """Whether the file is in the folder of a session; any other folder says nothing."""
        if self.session is None:
            return False
        is_named = is_uuid(self.session) or self.session.startswith(_SESSION_PREFIXES)
        return is_named or bool(self._up) or self.source.companion(_CONTEXT) is not None

    def state(self, note: Notes) -> Fields:
        """Return what the session's own file states."""
        return _load(self._state_file if self.is_session_folder else None, note)

    def folder_by_prompt(self) -> str | None:
        """Return the project's folder, which Kimi CLI's system prompt names: its hash is a folder's name."""
        file = self.source.companion(*self._up, _CONTEXT)
        prompt = _first_line(file, lambda record: nonempty_str(record.get("content")) or "")
        match = _FOLDER_IN_PROMPT.search(prompt or "")
        if match is None:
            return None
        digest = hashlib.md5(match[1].encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        return match[1] if digest == self._project_hash else None

    def agents_with_files(self) -> frozenset[str]:
        """Return the subagents of Kimi CLI that have files of their own."""
        children = self.source.companions(_SUBAGENTS) if self.agent is None else ()
        return frozenset(child.name for child in children if child.is_folder)

    def parent_call(self) -> str | None:
        """Return the call that started this subagent, from the file of the session's main agent."""
        if self.agent is None:
            return None
        own = self.source.companion(*self._up, _AGENTS, _MAIN, _WIRE) or self.source.companion(
            *self._up, _WIRE
        )
        mark = self.agent.encode("utf-8", "replace")
        return _first_line(own, lambda record: _call_in(record, self.agent or ""), mark)

    def description(self, note: Notes) -> str | None:
        """Return what a subagent of Kimi CLI was asked for, in a few words."""
        file = self.source.companion(_META) if self.agent is not None else None
        return nonempty_str(_load(file, note).view("description"))


def link(state: Fields, place: Place, agent: str | None) -> Link | None:
    """Link a subagent to its parent, and a fork to its original."""
    if place.session is None:
        return None
    if agent is None:
        origin = nonempty_str(state.view("forkedFrom"))
        return None if origin is None else Link(conversation_id=origin, relation="fork")
    agents = state.view("agents")
    own = agents.get(agent) if agents.__class__ is dict else None
    parent = nonempty_str(own.get("parentAgentId")) if own.__class__ is dict else None
    return Link(
        conversation_id=id_of(place.session, None if parent == _MAIN else parent),
        relation="subagent",
        call_id=place.parent_call(),
    )


def id_of(session: str, agent: str | None) -> str:
    """Return the id of an agent's conversation; that of the main agent has the session's."""
    return session if agent is None else f"{session}:{agent}"


def _call_in(record: dict[str, Any], agent: str) -> str | None:
    """Return the call that a record says has started an agent."""
    if record.get("subagentId") == agent:
        return nonempty_str(record.get("parentToolCallId"))
    event, message = record.get("event"), record.get("message")
    if event.__class__ is dict:
        result = event.get("result")
        output = result.get("output") if result.__class__ is dict else None
        is_start = output.__class__ is str and output.startswith(f"agent_id: {agent}\n")
        return nonempty_str(event.get("toolCallId")) if is_start else None
    payload = message.get("payload") if message.__class__ is dict else None
    if payload.__class__ is dict and payload.get("agent_id") == agent:
        return nonempty_str(payload.get("parent_tool_call_id"))
    return None


def _first_line(
    file: Input | None, find: Callable[[dict[str, Any]], str | None], mark: bytes = b""
) -> str | None:
    """Return a value from the first line of a file that has it."""
    if file is None:
        return None
    quiet = Notes(keep=0)
    try:
        for number, line, _ in json_stream.raw_lines(file, quiet):
            if mark in line:
                record = json_stream.decode(line, quiet, number)
                value = find(record) if record.__class__ is dict else None
                if value is not None:
                    return value
    except UnreadableSource:
        return None
    return None


def _load(file: Input | None, note: Notes) -> Fields:
    if file is None:
        return Fields({}, note, "")
    about = note.about(file.label)
    try:
        value = json_stream.load(file, about)
    except UnreadableSource as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
        value = {}
    return Fields(value if value.__class__ is dict else {}, about, "")
