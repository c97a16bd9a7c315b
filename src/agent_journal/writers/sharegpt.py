"""ShareGPT, as LLaMA-Factory reads it: a line per branch, `{"conversations": [{"from", "value"}]}`.

LLaMA-Factory accepts a line only if inputs (`human`, `observation`) and outputs of the model (`gpt`,
`function_call`) alternate, with an input first and an output last. Text of a message with a call
comes before the call, which is between `<tool_call>` and `</tool_call>`. Text that a program adds to a
result, hidden from the user, comes after the result.
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
    count_parts,
    dialogues,
    note_losses,
    output_of,
    reasoning_of_parts,
    text_of_parts,
    write_line,
)

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence

    from agent_journal.model import Conversation, Item, Tool
    from agent_journal.writers import Run
    from agent_journal.writers.dialects.training_dialogue import CallWithResult, Dialogue, Turn

INFO = WriterInfo(
    name="sharegpt",
    title="ShareGPT",
    suffix=".jsonl",
    layout="lines",
    loses=(
        "memories",
        "events",
        "ids of messages and calls, times, models, token usage and cost",
        "conversation metadata other than the id and tools",
        "media",
        "failure status of tool calls",
        "calls without a result, except the last; results without a call",
        "model messages before the first prompt; prompts and results the model did not respond to",
        "system messages and hidden program text after the start",
        "redaction records",
        "citations and source-specific fields",
        "signatures and encrypted reasoning; stop reasons and side-chain flags",
    ),
    evidence="LLaMA-Factory's data documentation and code, and published data sets, as of November 2026",
)
_INPUT_SPEAKERS = {"human", "observation"}
_TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>")


class _Value(Struct):
    """One value of a line. The text before calls is separate from them, and each result is separate."""

    speaker: str
    text: str = ""
    calls: str = ""
    outputs: list[str] = []
    hidden: bool = False

    def to_json(self) -> dict[str, str]:
        """The value in the form of a line."""
        if self.outputs:
            value = self.outputs[0] if len(self.outputs) == 1 else encode(self.outputs).decode()
            return {"from": self.speaker, "value": value}
        value = self.text
        if self.calls and self.text:
            value = f"{self.text}\n<tool_call>\n{self.calls}\n</tool_call>"
        return {"from": self.speaker, "value": value or self.calls}


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each branch with a message of the model as one line."""
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no conversation")
            continue
        lines = dialogues(item)
        losses = count_parts(item, Media, Other)
        for index, dialogue in enumerate(lines):
            line = _line(item, dialogue, f"{item.id}/{index}" if len(lines) > 1 else item.id)
            write_line(line, out, losses, has_model_turn=bool(line["conversations"]))
        run.note_redactions(item)
        note_losses(item, lines, run, losses)


def _line(conversation: Conversation, dialogue: Dialogue, line_id: str) -> dict[str, Any]:
    """One line; the first system messages are in its own field, where trainers look for them."""
    line: dict[str, Any] = {"id": line_id}
    system, turns = _split_system_turns(dialogue.turns)
    if system_text := "\n\n".join(filter(None, (text_of_parts(turn.parts) for turn in system))):
        line["system"] = system_text
    if conversation.tools:
        line["tools"] = encode([_tool(tool) for tool in conversation.tools]).decode()
    line["conversations"] = [value.to_json() for value in _alternating_values(turns, dialogue.losses)]
    return line


def _split_system_turns(turns: list[Turn]) -> tuple[list[Turn], list[Turn]]:
    """Split the turns of the system and hidden turns of programs at the start from the rest.

    If there is no other prompt, the prompt of a program counts as one of the user.
    """
    first = next((index for index, turn in enumerate(turns) if not _is_from_program(turn)), len(turns))
    if turns[first:] and turns[first].role != "user":
        first = next(index for index, turn in enumerate(turns) if turn.role != "system")
    return turns[:first], turns[first:]


def _is_from_program(turn: Turn) -> bool:
    return turn.role == "system" or (turn.role == "user" and turn.hidden)


def _alternating_values(turns: list[Turn], losses: Counter[str]) -> list[_Value]:
    """Values in which inputs and outputs of the model alternate; everything that does not fit is a loss."""
    values: list[_Value] = []
    has_prompt = any(turn.role == "user" and not turn.hidden for turn in turns)
    for turn in turns:
        if turn.role == "system":
            losses["system message after the start"] += 1
            continue
        if has_prompt and _is_from_program(turn) and not (values and values[-1].speaker == "observation"):
            losses["hidden program text in the user role"] += 1
            continue
        for value in _values(turn, losses):
            _append_value(values, value, losses)
    if values and values[-1].speaker in _INPUT_SPEAKERS:
        is_result = values.pop().speaker == "observation"
        losses["tool result without a response" if is_result else "prompt without a response"] += 1
    return values


def _values(turn: Turn, losses: Counter[str]) -> Sequence[_Value]:
    text = text_of_parts(turn.parts)
    if turn.role != "assistant":
        return (_Value("human", text, hidden=turn.hidden),) if text else ()
    if reasoning := reasoning_of_parts(turn.parts):
        text = f"<think>\n{reasoning}\n</think>\n\n{text}".rstrip()
    if not turn.calls:
        return (_Value("gpt", text),) if text else ()
    calls = [_call(call) for call in turn.calls]
    text = _text_before_call(text, losses)
    call_value = _Value(
        "function_call", text, _escape_tags(encode(calls[0] if len(calls) == 1 else calls).decode())
    )
    outputs = [output_of(call.result) for call in turn.calls if call.result is not None]
    if not outputs:
        return (call_value,)
    return call_value, _Value("observation", outputs=outputs)


def _text_before_call(text: str, losses: Counter[str]) -> str:
    """The text before a call; a loss if it would be parsed as a call."""
    if "<tool_call>" not in text:
        return text
    losses["text before a call that looks like a call"] += 1
    return ""


def _escape_tags(calls: str) -> str:
    """Equivalent JSON in which no text is parsed as a tag."""
    for tag in _TAGS:
        calls = calls.replace(tag, f"\\u003c{tag[1:]}")
    return calls


def _append_value(values: list[_Value], value: _Value, losses: Counter[str]) -> None:
    """Append a value, or merge it with the last one if both are on the same side."""
    last = values[-1] if values else None
    if last is None and value.speaker not in _INPUT_SPEAKERS:
        losses["message before the first prompt"] += 1
        return
    if last is None and value.speaker == "observation":
        losses["tool result without a response"] += 1
        return
    if last is not None and last.speaker == "observation" and value.speaker == "human":
        if value.hidden:
            last.outputs[-1] += f"\n\n{value.text}"
            return
        last = _drop_unanswered_calls(values, losses)
    if last is None or (last.speaker in _INPUT_SPEAKERS) != (value.speaker in _INPUT_SPEAKERS):
        values.append(value)
        return
    previous_text = _text_before_call(last.text, losses) if value.calls else last.text
    last.text = "\n\n".join(filter(None, (previous_text, value.text)))
    last.calls, last.speaker = value.calls, value.speaker


def _drop_unanswered_calls(values: list[_Value], losses: Counter[str]) -> _Value | None:
    """Remove calls whose results were followed by a prompt: the format requires a response in between."""
    while values and values[-1].speaker == "observation":
        losses["tool call and result without a response"] += 1
        values.pop()
        call_value = values.pop()
        if call_value.text:
            values.append(_Value("gpt", call_value.text))
    return values[-1] if values else None


def _call(call: CallWithResult) -> dict[str, Any]:
    return {"name": call.call.name, "arguments": msgspec.Raw(arguments_of(call.call).encode())}


def _tool(tool: Tool) -> dict[str, Any]:
    fields = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {name: value for name, value in fields.items() if value is not None}
