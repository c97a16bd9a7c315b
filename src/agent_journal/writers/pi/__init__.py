"""Sessions of Pi: `sessions/--<folder>--/<time>_<session>.jsonl`, which `pi --session` continues."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_sessions import session_uuid
from agent_journal.writers.dialects.session_files import free_path, path_time, sessions, write_lines
from agent_journal.writers.pi import lines, own_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Conversation, Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.dialects.agent_sessions import Branch
    from agent_journal.writers.pi.lines import Record

INFO = WriterInfo(
    name="pi",
    title="Pi",
    suffix=".jsonl",
    layout="bundle",
    is_native=True,
    homes=("%PI_CODING_AGENT_DIR%", "~/.pi/agent"),
    loses=(
        "memories, and conversations without messages or with prompts alone",
        "of other tools: branches other than the current one, events, and system prompts",
        "of other tools: reasoning, as it is signed by one service",
        "of other tools: token usage and cost",
        "of other tools: parts of unknown kinds, citations, and places of code",
        "tools, requests, feedback, tags and summaries, branch and commit, and links",
        "of other tools: account, environment, version, model and end of the conversation",
        "of other tools: source-specific fields, stop reasons, kinds of tools, ids",
    ),
    evidence="the sessions that the reader of the same name reads, and the tool itself, November 2026",
)


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write each conversation as a session."""
    taken: set[str] = set()
    for conversation, records in sessions(items, run, INFO.name, own_lines.session_lines, _records):
        _, time = path_time(conversation, run.started_at)
        path = f"sessions/{project_folder(conversation.cwd)}/{time}_{session_id(conversation)}"
        write_lines(out, free_path(path, INFO.suffix, taken), records)


def session_id(conversation: Conversation) -> str:
    """Return the id by which the tool resumes what is written of a conversation."""
    return session_uuid(conversation)


def project_folder(cwd: str | None) -> str:
    """Return the tool's name for the folder of a project."""
    return f"--{re.sub(r'[^A-Za-z0-9._-]', '-', (cwd or '').lstrip('/'))}--"


def _records(conversation: Conversation, branch: Branch) -> Iterable[Record]:
    return lines.session_lines(conversation, session_id(conversation), branch)
