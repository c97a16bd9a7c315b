"""Sessions of Gemini CLI: `.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`.

The folder of a project is a hash of its path, which the app replaces by a shorter name.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from agent_journal.files import is_safe_name
from agent_journal.model import Conversation
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.agent_sessions import session_uuid
from agent_journal.writers.dialects.session_files import free_path, path_time, sessions, write_lines
from agent_journal.writers.gemini_cli import own_records, records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.dialects.agent_sessions import Branch
    from agent_journal.writers.gemini_cli.records import Record

INFO = WriterInfo(
    name="gemini-cli",
    title="Gemini CLI",
    suffix=".jsonl",
    layout="bundle",
    is_native=True,
    homes=("%GEMINI_CLI_HOME%", "~"),
    loses=(
        "memories, and conversations without messages or with prompts alone",
        "of other tools: branches other than the current one, and events",
        "of other tools: reasoning, as it is signed by one service",
        "of other tools: token usage and cost",
        "of other tools: parts of unknown kinds, citations, and places of code",
        "tools, requests, feedback and tags, branch and commit, and all summaries but the title",
        "of other tools: account, environment, version, model and end of the conversation",
        "of other tools: source-specific fields, stop reasons, kinds of tools, generated ids",
    ),
    evidence="the sessions that the reader of the same name reads, and the tool itself, November 2026",
)
_TMP = ".gemini/tmp"
_ROOT = ".project_root"
_ID_CHARS, _MINUTE_CHARS = 8, len("2026-02-10T17-24")


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write each conversation as a session, and the path of its project once."""
    taken: set[str] = set()
    roots: set[str] = set()
    for conversation, lines in sessions(items, run, INFO.name, _own_lines, _lines):
        stated = lines[0].get("projectHash")
        is_name = isinstance(stated, str) and is_safe_name(stated)
        folder = f"{_TMP}/{stated if is_name else project_hash(conversation.cwd)}"
        write_lines(out, _path(conversation, f"{folder}/chats", run, taken), lines)
        if conversation.cwd and folder not in roots:
            roots.add(folder)
            with out.file(f"{folder}/{_ROOT}") as file:
                file.write(conversation.cwd.encode("utf-8", "replace"))


def session_id(conversation: Conversation) -> str:
    """Return the id by which the tool resumes what is written of a conversation."""
    return session_uuid(conversation)


def relocate(files: dict[str, bytes], root: str, project: str) -> dict[str, bytes]:
    """Put files into the folder that the app already has for a project, if there is one."""
    own = f"{_TMP}/{project_hash(project)}/"
    name = _known_folder(os.path.join(root, _TMP), project)
    if name is None:
        return files
    return {
        path.replace(own, f"{_TMP}/{name}/", 1): data
        for path, data in files.items()
        if path != f"{own}{_ROOT}"
    }


def project_hash(cwd: str | None) -> str:
    """Return the hash by which the app knows a project."""
    return hashlib.sha256((cwd or "").encode("utf-8", "replace")).hexdigest()


def _known_folder(folder: str, project: str) -> str | None:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return None
    for name in names:
        try:
            with open(os.path.join(folder, name, _ROOT), encoding="utf-8") as file:
                if file.read().strip() == project:
                    return name
        except (OSError, ValueError):
            continue
    return None


def _path(conversation: Conversation, folder: str, run: Run, taken: set[str]) -> str:
    """Return the path of a session; the app looks for it by the end of its name."""
    session, link = session_id(conversation), conversation.link
    if link is not None and link.relation == "subagent":
        parent = session_uuid(Conversation(id=link.conversation_id, source=conversation.source))
        return free_path(f"{folder}/{parent}/{session}", INFO.suffix, taken)
    _, time = path_time(conversation, run.started_at)
    end = f"-{session[:_ID_CHARS]}"
    number, name = 1, time[:_MINUTE_CHARS]
    while f"{folder}/session-{name}{end}" in taken:
        number += 1
        name = f"{time[:_MINUTE_CHARS]}-{number}"
    taken.add(f"{folder}/session-{name}{end}")
    return f"{folder}/session-{name}{end}{INFO.suffix}"


def _own_lines(conversation: Conversation) -> Iterable[Record]:
    return own_records.lines(conversation, project_hash(conversation.cwd))


def _lines(conversation: Conversation, branch: Branch) -> Iterable[Record]:
    return records.lines(conversation, session_id(conversation), branch, project_hash(conversation.cwd))
