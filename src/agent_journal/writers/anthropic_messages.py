"""Requests of Anthropic's Messages API: the current branch of each conversation as `{"messages": […]}`.

Whoever adds `model` and `max_tokens` can send a line as it is.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Conversation
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_sessions import branch_of, note_losses, obstacle, texts_of
from agent_journal.writers.dialects.anthropic_content import blocks_of, call_block, result_block
from agent_journal.writers.dialects.json_bytes import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Run
    from agent_journal.writers.dialects.agent_sessions import Branch

INFO = WriterInfo(
    name="anthropic-messages",
    title="Anthropic messages",
    suffix=".jsonl",
    layout="lines",
    loses=(
        "memories, and conversations without messages or with prompts alone",
        "branches other than the current one, and events",
        "reasoning, as the service refuses that of other models, and that without its signature",
        "ids, times, models, token usage and cost",
        "parts of unknown kinds, citations, and places of code",
        "conversation metadata",
        "source-specific fields, stop reasons, kinds of tools, and whether a program wrote a prompt",
    ),
    evidence="Anthropic's API reference, as of November 2026",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as the body of a request on one line."""
    for item in items:
        why = obstacle(item)
        body: dict[str, Any] = {}
        if not why and isinstance(item, Conversation):
            branch = branch_of(item, run.started_at)
            branch.changes.clear()  # of times, which are not written
            note_losses(item, branch, run)
            body = _body(branch)
        if body.get("messages"):
            out.write(encode(body) + b"\n")
            continue
        run.note_not_preserved(item, "", why or "a conversation without text and tool calls")
        if not isinstance(item, Conversation):
            run.note_redactions(item)


def _body(branch: Branch) -> dict[str, Any]:
    system = [text for turn in branch.turns if turn.role == "system" for text in texts_of(turn.parts)]
    messages: list[dict[str, Any]] = []
    for role, blocks in _pieces(branch):
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks  # results and the prompt after them are one message
        elif blocks:
            messages.append({"role": role, "content": blocks})
    head = {"system": "\n\n".join(system)} if system else {}
    return {**head, "messages": messages}


def _pieces(branch: Branch) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for turn in branch.turns:
        if turn.role == "system":
            continue
        role = "assistant" if turn.role == "assistant" else "user"
        yield role, [*blocks_of(turn.parts), *map(call_block, turn.calls)]
        if turn.calls:
            yield "user", [result_block(call) for call in turn.calls]
