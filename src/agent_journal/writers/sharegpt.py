"""ShareGPT, as LLaMA-Factory reads it: a line per branch, `{"conversations": [{"from", "value"}]}`.

It takes a line only if those who ask (`human`, `observation`) and the model (`gpt`, `function_call`) speak by
turns, somebody who asks first and the model last. What the model says beside a call stands before it, and the
call between `<tool_call>` and `</tool_call>`, from where it is read. What a program adds to a result, unseen
by the person, stands behind it.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from agent_journal.model import Media, Memory, Other
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.dialects.training_dialogue import (
    arguments_of,
    counted,
    dialogues,
    note_untold,
    output_of,
    put,
    said,
    thought,
)

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from agent_journal.model import Conversation, Item, Tool
    from agent_journal.writers import Run
    from agent_journal.writers.dialects.training_dialogue import Called, Dialogue, Turn

INFO = WriterInfo(
    name="sharegpt",
    title="ShareGPT",
    suffix=".jsonl",
    layout="lines",
    loses=(
        "memories",
        "events",
        "ids of messages and calls, times, models, tokens and cost",
        "titles and everything else about the conversation as a whole but its id and its tools",
        "media",
        "that a tool failed",
        "calls that nothing answered, but for the last, and results that answer no call",
        "what the model said before anybody asked, what it never answered, and results it said nothing of",
        "what the system said later than at the beginning, and that programs said something unseen then",
        "that something was redacted",
        "citations, and what only the source has a field for",
    ),
    evidence="LLaMA-Factory's description of its data, its code and published data sets, as of November 2026",
)
_ASKS = {"human", "observation"}
_MARKS = ("<think>", "</think>", "<tool_call>", "</tool_call>")


class _Value(Struct):
    """What stands under one name; of a call, what was said before it apart; of results, each of them."""

    speaker: str
    text: str = ""
    calls: str = ""
    given: list[str] = []
    hidden: bool = False

    def told(self) -> dict[str, str]:
        """As a line has it."""
        if self.given:
            value = self.given[0] if len(self.given) == 1 else encode(self.given).decode()
            return {"from": self.speaker, "value": value}
        value = self.text
        if self.calls and self.text:
            value = f"{self.text}\n<tool_call>\n{self.calls}\n</tool_call>"
        return {"from": self.speaker, "value": value or self.calls}


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each branch of each conversation as one line, if the model says something on it."""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
            continue
        lines = dialogues(item)
        untold = counted(item, Media, Other)
        for place, dialogue in enumerate(lines):
            line = _line(item, dialogue, f"{item.id}/{place}" if len(lines) > 1 else item.id)
            put(line, out, untold, teaches=bool(line["conversations"]))
        run.cannot_say_what_was_redacted(item)
        note_untold(item, lines, run, untold)


def _line(conversation: Conversation, dialogue: Dialogue, line_id: str) -> dict[str, Any]:
    """A line; what the system said first stands beside the turns, where trainers look for it."""
    line: dict[str, Any] = {"id": line_id}
    system, turns = _system(dialogue.turns)
    if told := "\n\n".join(filter(None, (said(turn.said) for turn in system))):
        line["system"] = told
    if conversation.tools:
        line["tools"] = encode([_tool(tool) for tool in conversation.tools]).decode()
    line["conversations"] = [value.told() for value in _by_turns(turns, dialogue.untold)]
    return line


def _system(turns: list[Turn]) -> tuple[list[Turn], list[Turn]]:
    """What the system, and programs unseen by the person, said before anybody else did; and the rest.

    What a program asks for is asked as a person would, if nobody else asks.
    """
    first = next((place for place, turn in enumerate(turns) if not _is_of_program(turn)), len(turns))
    if turns[first:] and turns[first].role != "user":
        first = next(place for place, turn in enumerate(turns) if turn.role != "system")
    return turns[:first], turns[first:]


def _is_of_program(turn: Turn) -> bool:
    return turn.role == "system" or (turn.role == "user" and turn.hidden)


def _by_turns(turns: list[Turn], untold: Counter[str]) -> list[_Value]:
    """What was said, such that one who asks and the model speak by turns; what does not fit is counted."""
    values: list[_Value] = []
    is_asked = any(turn.role == "user" and not turn.hidden for turn in turns)
    for turn in turns:
        if turn.role == "system":
            untold["system message after the beginning"] += 1
            continue
        if is_asked and _is_of_program(turn) and not (values and values[-1].speaker == "observation"):
            untold["text of a program in the person's name"] += 1
            continue
        for value in _values(turn, untold):
            _add(values, value, untold)
    if values and values[-1].speaker in _ASKS:
        is_result = values.pop().speaker == "observation"
        untold["tool result that nothing was said of" if is_result else "question without an answer"] += 1
    return values


def _values(turn: Turn, untold: Counter[str]) -> Sequence[_Value]:
    text = said(turn.said)
    if turn.role != "assistant":
        return (_Value("human", text, hidden=turn.hidden),) if text else ()
    if thoughts := thought(turn.said):
        text = f"<think>\n{thoughts}\n</think>\n\n{text}".rstrip()
    if not turn.calls:
        return (_Value("gpt", text),) if text else ()
    calls = [_call(one) for one in turn.calls]
    text = _beside_call(text, untold)
    asked = _Value("function_call", text, _unmarked(encode(calls[0] if len(calls) == 1 else calls).decode()))
    outputs = [output_of(one.result) for one in turn.calls if one.result is not None]
    if not outputs:
        return (asked,)
    return asked, _Value("observation", given=outputs)


def _beside_call(text: str, untold: Counter[str]) -> str:
    """What was said, if it can stand before a call."""
    if "<tool_call>" not in text:
        return text
    untold["text beside a call that would be taken for one"] += 1
    return ""


def _unmarked(calls: str) -> str:
    """JSON in which nothing is taken for a mark; what it says is the same."""
    for mark in _MARKS:
        calls = calls.replace(mark, f"\\u003c{mark[1:]}")
    return calls


def _add(values: list[_Value], value: _Value, untold: Counter[str]) -> None:
    """Add what was said; whoever goes on goes on in one value."""
    last = values[-1] if values else None
    if last is None and value.speaker not in _ASKS:
        untold["message before anybody asked"] += 1
        return
    if last is None and value.speaker == "observation":
        untold["tool result that nothing was said of"] += 1
        return
    if last is not None and last.speaker == "observation" and value.speaker == "human":
        if value.hidden:
            last.given[-1] += f"\n\n{value.text}"
            return
        last = _before_calls(values, untold)
    if last is None or (last.speaker in _ASKS) != (value.speaker in _ASKS):
        values.append(value)
        return
    before = _beside_call(last.text, untold) if value.calls else last.text
    last.text = "\n\n".join(filter(None, (before, value.text)))
    last.calls, last.speaker = value.calls, value.speaker


def _before_calls(values: list[_Value], untold: Counter[str]) -> _Value | None:
    """Take out calls of which nothing was said when the person went on: nothing can stand between the two."""
    while values and values[-1].speaker == "observation":
        untold["tool call and result that nothing was said of"] += 1
        values.pop()
        asked = values.pop()
        if asked.text:
            values.append(_Value("gpt", asked.text))
    return values[-1] if values else None


def _call(one: Called) -> dict[str, Any]:
    return {"name": one.call.name, "arguments": msgspec.Raw(arguments_of(one.call).encode())}


def _tool(tool: Tool) -> dict[str, Any]:
    told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {name: value for name, value in told.items() if value is not None}
