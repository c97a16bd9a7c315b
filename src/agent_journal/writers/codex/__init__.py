"""Rollouts of Codex: `sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`, which `codex resume` continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Conversation
from agent_journal.writers import WriterInfo
from agent_journal.writers.codex import items, own_lines
from agent_journal.writers.dialects.agent_sessions import (
    branch_of,
    free_path,
    note_losses,
    obstacle,
    path_time,
    session_uuid,
)
from agent_journal.writers.dialects.json_bytes import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.codex.items import Record

INFO = WriterInfo(
    name="codex",
    title="Codex",
    suffix=".jsonl",
    layout="bundle",
    is_native=True,
    homes=("%CODEX_HOME%", "~/.codex"),
    loses=(
        "memories, and conversations without messages or with prompts alone",
        "of other tools: branches other than the current one, events, and system prompts",
        "of other tools: reasoning, as it is encrypted for one service",
        "of other tools: token usage and cost, and models, which would be used for what follows",
        "of other tools: parts of unknown kinds, citations, places of code, and whether a call failed",
        "tools, requests, feedback, tags and summaries",
        "of other tools: account, environment, version and end of the conversation",
        "of other tools: source-specific fields, ids of messages, stop reasons, kinds of tools",
    ),
    evidence="the rollouts that the reader of the same name reads, and the tool itself, version 0.169",
)


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write each conversation as a rollout."""
    taken: set[str] = set()
    for item in items:
        why = obstacle(item, INFO.name)
        lines = [] if why or not isinstance(item, Conversation) else [*_lines(item, run)]
        if not lines or not isinstance(item, Conversation):
            run.note_not_preserved(item, "", why or "a conversation without text and tool calls")
            if not isinstance(item, Conversation):
                run.note_redactions(item)
            continue
        day, time = path_time(item, run.started_at)
        path = free_path(f"sessions/{day}/rollout-{time}-{session_id(item)}", INFO.suffix, taken)
        with out.file(path) as file:
            for line in lines:
                file.write(encode(line) + b"\n")


def session_id(conversation: Conversation) -> str:
    """Return the id by which the tool resumes what is written of a conversation."""
    return session_uuid(conversation)


def _lines(conversation: Conversation, run: Run) -> Iterator[Record]:
    if conversation.source == INFO.name:
        run.note_redactions(conversation)
        yield from own_lines.rollout_lines(conversation)
        return
    branch = branch_of(conversation, run.started_at)
    note_losses(conversation, branch, run)
    yield from items.rollout_lines(conversation, session_id(conversation), branch)
