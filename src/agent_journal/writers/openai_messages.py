"""Chat messages for fine-tuning, as OpenAI has them: a line per branch, `{"messages": […], "tools": […]}`."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Media, Memory, Other, Reasoning, tree
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.training_dialogue import (
    arguments_of,
    counted,
    dialogues,
    note_untold,
    output_of,
    put,
    said,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.model import Conversation, Item, Part, Tool
    from agent_journal.writers import Run
    from agent_journal.writers.dialects.training_dialogue import Dialogue, Turn

INFO = WriterInfo(
    name="openai-messages",
    title="OpenAI messages for fine-tuning",
    suffix=".jsonl",
    layout="lines",
    loses=(
        "memories",
        "events",
        "thinking",
        "ids, times, models, tokens and cost",
        "titles and everything else about the conversation as a whole but its tools",
        "media other than pictures that people sent",
        "that a tool failed",
        "calls that nothing answered, but for the last, and results that answer no call",
        "branches on which the model says nothing",
        "that something was redacted",
        "citations, and what only the source has a field for",
    ),
    evidence="the fine-tuning guide and API reference of OpenAI, as of November 2026",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each branch of each conversation as one line, if the model says something on it."""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
            continue
        lines = dialogues(item)
        tools = [_tool(tool) for tool in item.tools]
        untold = _left_out(item)
        for dialogue in lines:
            line = _line(dialogue, tools)
            put(line, out, untold, teaches=any(each["role"] == "assistant" for each in line["messages"]))
        run.cannot_say_what_was_redacted(item)
        note_untold(item, lines, run, untold)


def _line(dialogue: Dialogue, tools: list[dict[str, Any]]) -> dict[str, Any]:
    # What a program asks for is asked as a person would, if nobody else asks.
    is_asked = any(turn.role == "user" and not turn.hidden for turn in dialogue.turns)
    messages = [message for turn in dialogue.turns for message in _messages(turn, is_asked=is_asked)]
    return {"messages": messages, "tools": tools} if tools else {"messages": messages}


def _messages(turn: Turn, *, is_asked: bool) -> Iterator[dict[str, Any]]:
    if turn.role != "assistant":
        role = "system" if turn.hidden and is_asked else turn.role  # nobody but a program said it
        if content := _content(turn.said) if role == "user" else said(turn.said):
            yield {"role": role, "content": content}
        return
    text = said(turn.said)
    if not turn.calls:
        if text:
            yield {"role": "assistant", "content": text}
        return
    calls = [
        {
            "id": one.id,
            "type": "function",
            "function": {"name": one.call.name, "arguments": arguments_of(one.call)},
        }
        for one in turn.calls
    ]
    yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    for one in turn.calls:
        if one.result is not None:
            yield {"role": "tool", "tool_call_id": one.id, "content": output_of(one.result)}


def _content(parts: Sequence[Part]) -> Any:
    """A text, or a list if there are pictures in it."""
    if not any(_picture(part) for part in parts):
        return said(parts)
    content: list[dict[str, Any]] = []
    for part in parts:
        if url := _picture(part):
            content.append({"type": "image_url", "image_url": {"url": url}})
        elif text := text_of(part):
            content.append({"type": "text", "text": text})
    return content


def _picture(part: Part) -> str:
    if not isinstance(part, Media) or part.kind != "image":
        return ""
    if part.data is not None:
        return f"data:{part.mime or 'image/png'};base64,{part.data}"
    return part.ref if part.ref is not None and part.ref.startswith(("https://", "http://", "data:")) else ""


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return {"type": "function", "function": function}


def _left_out(conversation: Conversation) -> Counter[str]:
    return counted(conversation, Reasoning, Media, Other) - Counter({"media": _shown(conversation)})


def _shown(conversation: Conversation) -> int:
    """How many pictures stand in what people sent, and no words for them."""
    messages = tree.messages(conversation)
    asked = [message for message in messages if message.role == "user" and not message.hidden]
    sent = [part for message in asked for part in message.parts if isinstance(part, Media)]
    return sum(bool(_picture(part)) and not tree.held_text(part) for part in sent)
