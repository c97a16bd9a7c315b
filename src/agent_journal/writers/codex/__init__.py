"""Rollouts of Codex: `sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl`, which `codex resume` continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.writers import WriterInfo
from agent_journal.writers.codex import items as rollout_items
from agent_journal.writers.codex import own_lines
from agent_journal.writers.dialects.agent_sessions import session_uuid
from agent_journal.writers.dialects.session_files import free_path, path_time, sessions, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Conversation, Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.codex.items import Record
    from agent_journal.writers.dialects.agent_sessions import Branch

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
    for conversation, lines in sessions(items, run, INFO.name, own_lines.rollout_lines, _lines):
        day, time = path_time(conversation, run.started_at)
        path = f"sessions/{day}/rollout-{time}-{session_id(conversation)}"
        write_lines(out, free_path(path, INFO.suffix, taken), lines)


def session_id(conversation: Conversation) -> str:
    """Return the id by which the tool resumes what is written of a conversation."""
    return session_uuid(conversation)


def _lines(conversation: Conversation, branch: Branch) -> Iterable[Record]:
    return rollout_items.rollout_lines(conversation, session_id(conversation), branch)
