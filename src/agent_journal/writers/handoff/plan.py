"""The plan as it stands: what the last word of each step was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from agent_journal.model import tree
from agent_journal.writers.rendering.file_edits import text_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import ToolCall

State: TypeAlias = Literal["open", "doing", "done", "dropped"]

_TEXTS = ("content", "step", "text", "title", "task", "subject", "description", "name")
_DONE = {"completed", "complete", "done", "finished", "x"}
_DOING = {"in_progress", "in-progress", "inprogress", "doing", "active", "started", "-", "~"}
_DROPPED = {"cancelled", "canceled", "deleted", "skipped", "dropped"}
_LINE = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[([ xX~-])\]\s+(.+)$", re.MULTILINE)
_NUMBER = re.compile(r"#(\d+)")


class Step(NamedTuple):
    """Something to be done."""

    text: str
    state: State


class Plan:
    """Steps, as calls of tools for planning change them; and the last plan in words."""

    def __init__(self) -> None:
        self.words: str | None = None
        self._steps: dict[str, Step] = {}

    @property
    def steps(self) -> list[Step]:
        """Every step that was not dropped."""
        return [step for step in self._steps.values() if step.state != "dropped"]

    def take(self, call: ToolCall, answer: str) -> None:
        """Bring in what a call says: a new list, one more step, or how a step stands."""
        given = tree.arguments(call)
        if not isinstance(given, dict):
            return
        listed = next((found for value in given.values() if (found := [*_listed(value)])), None)
        if listed is not None:
            self._steps = {str(number): step for number, step in enumerate(listed, 1)}
            return
        words = given.get("plan")
        if isinstance(words, str) and words.strip():
            self.words = words
        self._take_one(given, answer)

    def _take_one(self, given: dict[str, Any], answer: str) -> None:
        number = next((str(given[name]) for name in ("taskId", "task_id", "id") if name in given), None)
        text, status = text_in(given, _TEXTS), given.get("status")
        if number is not None and number in self._steps:
            known = self._steps[number]
            state = _state(status) if status is not None else known.state
            self._steps[number] = Step(text_in(given, ("subject", "content")) or known.text, state)
        elif number is None and text is not None and "subject" in given:
            told = _NUMBER.search(answer)
            self._steps[told[1] if told else str(len(self._steps) + 1)] = Step(text, _state(status))


def _listed(value: Any) -> Iterator[Step]:
    """The steps of a list of objects, or of lines with boxes."""
    if isinstance(value, str):
        for box, text in _LINE.findall(value):
            yield Step(text.strip(), _state(box.lower().strip()))
        return
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict) and (text := text_in(each, _TEXTS)) is not None:
            yield Step(text, _state(each.get("status", each.get("state", each.get("completed")))))


def _state(told: Any) -> State:
    if told is True:
        return "done"
    word = told.lower() if isinstance(told, str) else ""
    if word in _DONE:
        return "done"
    if word in _DOING:
        return "doing"
    return "dropped" if word in _DROPPED else "open"
