"""Sessions of Qwen Code: `projects/<folder>/chats/<session>.jsonl`, which `qwen --resume` continues."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.files import is_safe_name, safe_name
from agent_journal.model import Conversation, ids
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_sessions import (
    branch_of,
    free_path,
    note_losses,
    obstacle,
    session_uuid,
)
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.qwen_code import own_records, records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
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
    for item in items:
        why = obstacle(item, INFO.name)
        lines = [] if why or not isinstance(item, Conversation) else _lines(item, run)
        if not lines or not isinstance(item, Conversation):
            run.note_not_preserved(item, "", why or "a conversation without text and tool calls")
            if not isinstance(item, Conversation):
                run.note_redactions(item)
            continue
        place = free_path(f"projects/{project_folder(item.cwd)}/{_place(item)}", "", taken)
        with out.file(f"{place}{INFO.suffix}") as file:
            for line in lines:
                file.write(encode(line) + b"\n")
        meta = own_records.subagent_facts(item) if item.source == INFO.name else None
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
        return f"subagents/{_name(session)}/agent-{_name(agent)}"
    return f"chats/{_name(session_id(conversation))}"


def _name(text: str) -> str:
    return text if is_safe_name(text) else safe_name(text, text)


def _lines(conversation: Conversation, run: Run) -> list[Record]:
    if conversation.source == INFO.name:
        run.note_redactions(conversation)
        return [*own_records.lines(conversation)]
    branch = branch_of(conversation, run.started_at)
    note_losses(conversation, branch, run)
    return [*records.lines(conversation, session_id(conversation), branch)]
