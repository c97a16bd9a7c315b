"""Find the call that started a subagent.

No file of Cline 3.0 (November 2026) links an agent to its call, but the call's `task` is the agent's first
prompt, and the call's result is the agent's last answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Link
from agent_journal.notes import Notes
from agent_journal.readers.roo_code import content as contents

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag

_UNESCAPED = re.compile(r'[^"\\\n\r\t]{1,400}')
# The id of a task that a call started is at the beginning of the call's result.
_RESULT_HEAD_CHARS = 200
_TASK_KEYS = {"spawn_agent": "task", "team_run_task": "task", "new_task": "message"}


class Call(NamedTuple):
    """A call that started an agent."""

    message_id: str | None
    call_id: str
    task: str


class Calls:
    """The calls of one conversation that started agents, and their results."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._results: dict[str, Any] = {}
        self._messages: dict[str, str | None] = {}

    def add(self, record: Any) -> None:
        """Add a message as written in its file."""
        if record.__class__ is not dict:
            return
        for block in objects(contents.blocks_of(record.get("content"))):
            kind = contents.type_of(block)
            if kind == "tool_use":
                self._add_call(block, nonempty_str(record.get("id")))
            elif kind == "tool_result" and (call_id := nonempty_str(block.get("tool_use_id"))):
                self._results[call_id] = block.get("content")

    def _add_call(self, block: Bag, message_id: str | None) -> None:
        call_id, tool_input = nonempty_str(block.get("id")), block.get("input")
        name = nonempty_str(block.get("name"))
        if call_id is not None:
            self._messages[call_id] = message_id
        if call_id is None or tool_input.__class__ is not dict or name not in _TASK_KEYS:
            return
        if task := nonempty_str(tool_input.get(_TASK_KEYS[name])):
            self._calls.append(Call(message_id, call_id, task.strip()))

    def find_by_agent_id(self, agent_id: str) -> Call | None:
        """Return the call whose result starts with the id of an agent."""
        for call_id, result in self._results.items():
            if result.__class__ is str and agent_id in result[:_RESULT_HEAD_CHARS]:
                return Call(self._messages.get(call_id), call_id, "")
        return None

    def find_by_task(self, prompt: str | None, answer: str | None) -> Call | None:
        """Return the call with this task, or of several the one with this answer; None if it is ambiguous."""
        task = (prompt or "").strip()
        calls = [call for call in self._calls if task and call.task == task]
        if len(calls) > 1 and answer:
            calls = [call for call in calls if _has_answer(self._results.get(call.call_id), answer)]
        return calls[0] if len(calls) == 1 else None


class Parents:
    """The sessions that the agents of a folder work for; each is read once."""

    def __init__(self) -> None:
        self._calls: dict[str, Calls] = {}

    def link(self, parent_id: str, file: Input, prompt: str | None, answer: str | None) -> Link:
        """Return the link from an agent to the session whose messages are in a file."""
        if parent_id not in self._calls:
            self._calls[parent_id] = _read_calls(file)
        call = self._calls[parent_id].find_by_task(prompt, answer)
        return link_to(parent_id, call)


def link_to(parent: str, call: Call | None) -> Link:
    """Return the link from an agent to the conversation and the call that started it."""
    message_id, call_id = (None, None) if call is None else (call.message_id, call.call_id)
    return Link(conversation_id=parent, relation="subagent", message_id=message_id, call_id=call_id)


def _read_calls(file: Input) -> Calls:
    calls = Calls()
    try:
        for key, index, value in json_stream.members(file, Notes(keep=0)):
            if key == "messages" and index is not None:
                calls.add(value)
    except UnreadableSource:
        pass  # noted when the file itself is read
    return calls


def _has_answer(result: Any, answer: str) -> bool:
    """Whether a result (a text, or an object with one) contains an answer."""
    if result.__class__ is list:
        return any(_has_answer(element, answer) for element in result)
    text = result.get("text") if result.__class__ is dict else result
    # An object that was serialized into a text has escaped quotes and line ends.
    begin = _UNESCAPED.match(answer.strip())
    return text.__class__ is str and begin is not None and begin[0] in text
