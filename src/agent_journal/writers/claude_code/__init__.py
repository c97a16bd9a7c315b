"""Sessions of Claude Code: `projects/<folder>/<session>.jsonl`, which `claude --resume` continues.

Its own sessions are written with all lines and branches; of others, the current branch.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation
from agent_journal.writers import WriterInfo
from agent_journal.writers.claude_code import own_lines
from agent_journal.writers.claude_code.lines import session_lines
from agent_journal.writers.dialects.agent_sessions import note_losses, obstacle, session_uuid
from agent_journal.writers.dialects.session_files import free_path, path_name, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run

INFO = WriterInfo(
    name="claude-code",
    title="Claude Code",
    suffix=".jsonl",
    layout="bundle",
    is_native=True,
    homes=("%CLAUDE_CONFIG_DIR%", "~/.claude"),
    loses=(
        "memories, and conversations without messages or with prompts alone",
        "of other tools: branches other than the current one, and events",
        "of other tools: reasoning, as the service would refuse its signature",
        "of other tools: token usage and cost",
        "of other tools: parts of unknown kinds, citations, and places of code",
        "tools, requests, feedback, tags and summaries",
        "of other tools: account, environment, version, model and commit of the conversation, and its end",
        "of other tools: source-specific fields, stop reasons, kinds of tools, generated ids",
    ),
    evidence="the sessions that the reader of the same name reads, and the tool itself, version 2.1",
)
_MAX_FOLDER_CHARS = 200
_NO_FOLDER = "no-project"


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write each conversation as a session, and those of its subagents below it."""
    taken: set[str] = set()
    for item in items:
        if why := obstacle(item, INFO.name):
            run.note_not_preserved(item, "", why)
            if not isinstance(item, Conversation):
                run.note_redactions(item)
            continue
        if isinstance(item, Conversation):
            for path, lines in _files(item, run, taken):
                write_lines(out, path, lines)


def session_id(conversation: Conversation) -> str:
    """Return the id by which the tool resumes what is written of a conversation."""
    return conversation.id if conversation.source == INFO.name else session_uuid(conversation)


def _files(
    conversation: Conversation, run: Run, taken: set[str]
) -> Iterator[tuple[str, Iterable[dict[str, Any]]]]:
    folder = f"projects/{project_folder(conversation.cwd)}"
    link = conversation.link
    is_subagent = link is not None and link.relation == "subagent"
    if conversation.source == INFO.name:
        run.note_redactions(conversation)
        place = _own_place(conversation)
        yield free_path(f"{folder}/{place}", ".jsonl", taken), own_lines.session_lines(conversation)
        for name, key in ((f"{place}.meta.json", "meta"), (f"{place}/custom-title.json", "custom-title")):
            if isinstance(conversation.extra.get(key), dict):
                yield f"{folder}/{name}", [conversation.extra[key]]
        return
    session = session_id(conversation)
    branch, lines = session_lines(conversation, session, run)
    note_losses(conversation, branch, run)
    if not branch.turns:
        run.note_not_preserved(conversation, "", "a conversation without text and tool calls")
        return
    if not is_subagent or link is None:
        yield free_path(f"{folder}/{session}", ".jsonl", taken), lines
        return
    parent = session_uuid(Conversation(id=link.conversation_id, source=conversation.source))
    agent = f"agent-{session.replace('-', '')[:16]}"
    for line in lines:
        line |= {"sessionId": parent, "agentId": agent.removeprefix("agent-"), "isSidechain": True}
    yield free_path(f"{folder}/{parent}/subagents/{agent}", ".jsonl", taken), lines
    meta = {"agentType": "general-purpose", "description": conversation.title, "toolUseId": link.call_id}
    given = {name: value for name, value in meta.items() if value is not None}
    yield f"{folder}/{parent}/subagents/{agent}.meta.json", [given]


def project_folder(cwd: str | None) -> str:
    """Return the tool's name for the folder of a project: its path with hyphens."""
    return re.sub("[^A-Za-z0-9]", "-", cwd or "")[:_MAX_FOLDER_CHARS] or _NO_FOLDER


def _own_place(conversation: Conversation) -> str:
    """Return the path of a session of the tool itself, without its suffix."""
    session, _, agent = conversation.id.partition("/")
    if conversation.link is not None and conversation.link.relation == "subagent" and agent:
        return f"{path_name(session)}/subagents/{path_name(agent)}"
    return path_name(conversation.id)
