"""OpenAI's chat messages for fine-tuning: a line per branch, `{"messages": […], "tools": […]}`."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Media, Memory, Other, Reasoning, tree
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.training_dialogue import (
    arguments_of,
    count_parts,
    dialogues,
    note_losses,
    output_of,
    text_of,
    text_of_parts,
    write_line,
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
        "reasoning",
        "ids, times, models, token usage and cost",
        "conversation metadata other than tools",
        "media other than images in prompts",
        "failure status of tool calls",
        "calls without a result, except the last; results without a call",
        "branches without a message of the model",
        "redaction records",
        "citations and source-specific fields",
        "stop reasons, and hidden and side-chain flags",
    ),
    evidence="OpenAI's fine-tuning guide and API reference, as of November 2026",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each branch with a message of the model as one line."""
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no conversation")
            continue
        lines = dialogues(item)
        tools = [_tool(tool) for tool in item.tools]
        losses = _omitted_parts(item)
        for dialogue in lines:
            line = _line(dialogue, tools)
            write_line(
                line,
                out,
                losses,
                has_model_turn=any(message["role"] == "assistant" for message in line["messages"]),
            )
        run.note_redactions(item)
        note_losses(item, lines, run, losses)


def _line(dialogue: Dialogue, tools: list[dict[str, Any]]) -> dict[str, Any]:
    # If there is no other prompt, the prompt of a program counts as one of the user.
    has_prompt = any(turn.role == "user" and not turn.hidden for turn in dialogue.turns)
    messages = [message for turn in dialogue.turns for message in _messages(turn, has_prompt=has_prompt)]
    return {"messages": messages, "tools": tools} if tools else {"messages": messages}


def _messages(turn: Turn, *, has_prompt: bool) -> Iterator[dict[str, Any]]:
    if turn.role != "assistant":
        role = "system" if turn.hidden and has_prompt else turn.role  # hidden turns are from programs
        if content := _content(turn.parts) if role == "user" else text_of_parts(turn.parts):
            yield {"role": role, "content": content}
        return
    text = text_of_parts(turn.parts)
    if not turn.calls:
        if text:
            yield {"role": "assistant", "content": text}
        return
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.call.name, "arguments": arguments_of(call.call)},
        }
        for call in turn.calls
    ]
    yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    for call in turn.calls:
        if call.result is not None:
            yield {"role": "tool", "tool_call_id": call.id, "content": output_of(call.result)}


def _content(parts: Sequence[Part]) -> Any:
    """A text, or a list if there are images in it."""
    if not any(_image_url(part) for part in parts):
        return text_of_parts(parts)
    content: list[dict[str, Any]] = []
    for part in parts:
        if url := _image_url(part):
            content.append({"type": "image_url", "image_url": {"url": url}})
        elif text := text_of(part):
            content.append({"type": "text", "text": text})
    return content


def _image_url(part: Part) -> str:
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


def _omitted_parts(conversation: Conversation) -> Counter[str]:
    return count_parts(conversation, Reasoning, Media, Other) - Counter(
        {"media part": _count_images(conversation)}
    )


def _count_images(conversation: Conversation) -> int:
    """The number of images without text in prompts: these are in the output."""
    messages = tree.messages(conversation)
    prompts = [message for message in messages if message.role == "user" and not message.hidden]
    media = [part for message in prompts for part in message.parts if isinstance(part, Media)]
    return sum(bool(_image_url(part)) and not tree.held_text(part) for part in media)
