"""The call that began an agent.

No file of Cline 3.0 (November 2026) relates an agent to its call: the call's `task` is the agent's first
prompt, and what the call gave is the agent's last answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.model import Link
from agent_journal.notes import Notes
from agent_journal.readers.roo_code import content as contents

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag

_UNESCAPED = re.compile(r'[^"\\\n\r\t]{1,400}')
# The id of a task that a call began stands at the beginning of what the call gave.
_HEAD_CHARS = 200
_TASK_KEYS = {"spawn_agent": "task", "team_run_task": "task", "new_task": "message"}


class Call(NamedTuple):
    """A call that began an agent."""

    message_id: str | None
    call_id: str
    task: str


class Calls:
    """The calls of one conversation that began agents, and what they gave."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._results: dict[str, Any] = {}
        self._messages: dict[str, str | None] = {}

    def add(self, record: Any) -> None:
        """Take a message as it is written."""
        if record.__class__ is not dict:
            return
        for block in objects(contents.blocks_of(record.get("content"))):
            kind = contents.type_of(block)
            if kind == "tool_use":
                self._add_call(block, words(record.get("id")))
            elif kind == "tool_result" and (call_id := words(block.get("tool_use_id"))):
                self._results[call_id] = block.get("content")

    def _add_call(self, block: Bag, message_id: str | None) -> None:
        call_id, given = words(block.get("id")), block.get("input")
        name = words(block.get("name"))
        if call_id is not None:
            self._messages[call_id] = message_id
        if call_id is None or given.__class__ is not dict or name not in _TASK_KEYS:
            return
        if task := words(given.get(_TASK_KEYS[name])):
            self._calls.append(Call(message_id, call_id, task.strip()))

    def naming(self, agent_id: str) -> Call | None:
        """The call whose result names the agent that it began."""
        for call_id, result in self._results.items():
            if result.__class__ is str and agent_id in result[:_HEAD_CHARS]:
                return Call(self._messages.get(call_id), call_id, "")
        return None

    def beginning(self, prompt: str | None, answer: str | None) -> Call | None:
        """The call with this task; of several, the one that gave this answer. None if that leaves several."""
        task = (prompt or "").strip()
        found = [call for call in self._calls if task and call.task == task]
        if len(found) > 1 and answer:
            found = [call for call in found if _gave(self._results.get(call.call_id), answer)]
        return found[0] if len(found) == 1 else None


class Parents:
    """The sessions that agents of one folder work for; each is read once."""

    def __init__(self) -> None:
        self._calls: dict[str, Calls] = {}

    def link(self, root: str, file: Source, prompt: str | None, answer: str | None) -> Link:
        """How an agent belongs to a session, whose messages lie in a file."""
        if root not in self._calls:
            self._calls[root] = _calls_in(file)
        call = self._calls[root].beginning(prompt, answer)
        return link_to(root, call)


def link_to(parent: str, call: Call | None) -> Link:
    """How an agent belongs to the conversation that began it."""
    message_id, call_id = (None, None) if call is None else (call.message_id, call.call_id)
    return Link(conversation_id=parent, relation="subagent", message_id=message_id, call_id=call_id)


def _calls_in(file: Source) -> Calls:
    calls = Calls()
    try:
        for key, index, value in json_stream.members(file, Notes(keep=0)):
            if key == "messages" and index is not None:
                calls.add(value)
    except UnreadableSource:
        pass  # it is told of where it is read
    return calls


def _gave(result: Any, answer: str) -> bool:
    """Whether a result, which is text or an object with one, has an answer in it."""
    if result.__class__ is list:
        return any(_gave(element, answer) for element in result)
    text = result.get("text") if result.__class__ is dict else result
    # What an object became when it was written as text has quotes and ends of lines escaped.
    begin = _UNESCAPED.match(answer.strip())
    return text.__class__ is str and begin is not None and begin[0] in text
