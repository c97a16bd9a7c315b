"""Sessions of Qwen Code: `projects/<folder>/chats/<session>.jsonl`, which `qwen --resume` continues."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.model import ids
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_sessions import session_uuid
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.dialects.session_files import free_path, path_name, sessions, write_lines
from agent_journal.writers.qwen_code import own_records, records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Conversation, Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.dialects.agent_sessions import Branch
    from agent_journal.writers.qwen_code.records import Record

INFO = WriterInfo(
    name="qwen-code",
    title="Qwen Code",
    suffix=".jsonl",
    layout="bundle",
    is_native=True,
    homes=("%QWEN_HOME%", "~/.qwen"),
    loses=(
        "memories, and conversations without messages or with prompts alone",
        "of other tools: branches other than the current one, events, and system prompts",
        "of other tools: reasoning, as it is signed by one service",
        "of other tools: token usage and cost",
        "of other tools: parts of unknown kinds, citations, and places of code",
        "tools, requests, feedback, tags and summaries, commit, and links",
        "of other tools: account, environment, version, model and end of the conversation",
        "of other tools: source-specific fields, stop reasons, kinds of tools, generated ids",
    ),
    evidence="the sessions that the reader of the same name reads, and the tool itself, November 2026",
)
_VERSION_DIGIT = "xxxxxxxx-xxxx-V".index("V")


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write each conversation as a session."""
    taken: set[str] = set()
    for conversation, lines in sessions(items, run, INFO.name, own_records.lines, _lines):
        place = free_path(f"projects/{project_folder(conversation.cwd)}/{_place(conversation)}", "", taken)
        write_lines(out, f"{place}{INFO.suffix}", lines)
        meta = own_records.subagent_facts(conversation) if conversation.source == INFO.name else None
        if meta:
            with out.file(f"{place}.meta.json") as file:
                file.write(encode(meta))


def session_id(conversation: Conversation) -> str:
    """Return the id by which the tool resumes what is written of a conversation."""
    if conversation.source == INFO.name:
        return conversation.id
    session = session_uuid(conversation)
    # The tool takes an id of another version for a title.
    return session if session[_VERSION_DIGIT] in "12345" else ids.made("session", session)


def project_folder(cwd: str | None) -> str:
    """Return the tool's name for the folder of a project: its path with hyphens."""
    return re.sub("[^A-Za-z0-9]", "-", cwd or "") or "no-project"


def _place(conversation: Conversation) -> str:
    """Return the path of a session below its project's folder, without its suffix."""
    session, _, agent = session_id(conversation).partition(":")
    if agent and conversation.source == INFO.name:
        return f"subagents/{path_name(session)}/agent-{path_name(agent)}"
    return f"chats/{path_name(session_id(conversation))}"


def _lines(conversation: Conversation, branch: Branch) -> Iterable[Record]:
    return records.lines(conversation, session_id(conversation), branch)
