"""The current plan, with the latest state of each step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from agent_journal.model import tree
from agent_journal.rendering.file_edits import first_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import ToolCall

State: TypeAlias = Literal["open", "doing", "done", "dropped"]

_TEXT_ARGUMENTS = ("content", "step", "text", "title", "task", "subject", "description", "name")
_DONE = {"completed", "complete", "done", "finished", "x"}
_DOING = {"in_progress", "in-progress", "inprogress", "doing", "active", "started", "-", "~"}
_DROPPED = {"cancelled", "canceled", "deleted", "skipped", "dropped"}
_CHECKBOX_LINE = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[([ xX~-])\]\s+(.+)$", re.MULTILINE)
_STEP_NUMBER = re.compile(r"#(\d+)")


class Step(NamedTuple):
    """A step of a plan."""

    text: str
    state: State


class Plan:
    """Plan steps, updated by calls of planning tools, and the last plan in prose."""

    def __init__(self) -> None:
        self.text: str | None = None
        self._steps: dict[str, Step] = {}

    @property
    def steps(self) -> list[Step]:
        """The steps that were not dropped."""
        return [step for step in self._steps.values() if step.state != "dropped"]

    def apply_call(self, call: ToolCall, output: str) -> None:
        """Apply a call: a new list, an added step, or a changed state."""
        arguments = tree.arguments(call)
        if not isinstance(arguments, dict):
            return
        steps = next((parsed for value in arguments.values() if (parsed := [*_parse_steps(value)])), None)
        if steps is not None:
            self._steps = {str(number): step for number, step in enumerate(steps, 1)}
            return
        text = arguments.get("plan")
        if isinstance(text, str) and text.strip():
            self.text = text
        self._apply_step(arguments, output)

    def _apply_step(self, arguments: dict[str, Any], output: str) -> None:
        number = next(
            (str(arguments[name]) for name in ("taskId", "task_id", "id") if name in arguments), None
        )
        text, status = first_text(arguments, _TEXT_ARGUMENTS), arguments.get("status")
        if number is not None and number in self._steps:
            step = self._steps[number]
            state = _parse_state(status) if status is not None else step.state
            self._steps[number] = Step(first_text(arguments, ("subject", "content")) or step.text, state)
        elif number is None and text is not None and "subject" in arguments:
            assigned = _STEP_NUMBER.search(output)
            self._steps[assigned[1] if assigned else str(len(self._steps) + 1)] = Step(
                text, _parse_state(status)
            )


def _parse_steps(value: Any) -> Iterator[Step]:
    """The steps in a list of objects, or in lines with checkboxes."""
    if isinstance(value, str):
        for mark, text in _CHECKBOX_LINE.findall(value):
            yield Step(text.strip(), _parse_state(mark.lower().strip()))
        return
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and (text := first_text(item, _TEXT_ARGUMENTS)) is not None:
            yield Step(text, _parse_state(item.get("status", item.get("state", item.get("completed")))))


def _parse_state(status: Any) -> State:
    if status is True:
        return "done"
    word = status.lower() if isinstance(status, str) else ""
    if word in _DONE:
        return "done"
    if word in _DOING:
        return "doing"
    return "dropped" if word in _DROPPED else "open"
