"""What happened in a project lately: its last conversations, what was asked, and how each ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from agent_journal.archive.store import Listed
from agent_journal.blame.git import project_root
from agent_journal.journal.paging import Page, list_page, to_json
from agent_journal.model import Message, ToolCall, ToolResult, tree
from agent_journal.redaction import redact_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive.store import Filter
    from agent_journal.journal.paging import BranchCache
    from agent_journal.journal.sessions import ReadSession
    from agent_journal.model import Event

Ending: TypeAlias = Literal["answer", "prompt", "tool call", "unknown"]

_ENDINGS: dict[str, Ending] = {"assistant": "answer", "user": "prompt"}
_MAX_LINE_CHARS = 240
_MAX_LAST_ENTRIES = 24
"""How far from the end the last answer is looked for."""


class RecentConversation(msgspec.Struct, kw_only=True):
    """A conversation with one line on what was asked, and one on how it ended; secrets are redacted."""

    conversation: Listed
    asked: str | None
    """The beginning of the first prompt."""
    answered: str | None
    """The beginning of the last answer, if it is close to the end."""
    ending: Ending
    """What came last: an answer, a prompt without one, or a tool call without one."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return to_json(self)


def recent_page(
    session: ReadSession, cache: BranchCache, folder: str | None, wanted: Filter, *, offset: int, limit: int
) -> Page[RecentConversation]:
    """Read the last conversations, newest first."""
    if folder is not None:
        wanted = replace(wanted, folder=project_folder(folder))
    page = list_page(
        session.archive.store, wanted, "updated", descending=None, offset=max(offset, 0), limit=max(limit, 0)
    )
    items = [_recent(session, cache, listed) for listed in page.items]
    return Page(items=items, total=page.total, offset=page.offset)


def project_folder(folder: str) -> str:
    """Return the top folder of the repository that a folder is in, or else the folder."""
    path = os.path.abspath(folder)  # noqa: PTH100 (a name, as tools record it)
    return project_root(path) or path


def _recent(session: ReadSession, cache: BranchCache, listed: Listed) -> RecentConversation:
    prompts = session.archive.store.prompts(listed.key)
    asked = tree.title_from(view.text for view in prompts.values())
    last = _last_entries(session, cache, listed)
    answer = next((text for each in reversed(last) if (text := _answer(each))), "")
    title, asked, answered = redact_texts([listed.title or "", asked or "", answer])
    return RecentConversation(
        conversation=replace(listed, title=_first_line(title)),
        asked=_first_line(asked),
        answered=_first_line(answered),
        ending=_ending(last),
    )


def _last_entries(session: ReadSession, cache: BranchCache, listed: Listed) -> Sequence[Message | Event]:
    """Return the last entries of the branch that the source shows, in order."""
    store = session.archive.store
    branch = cache.get(store, listed.key, "head")
    keys = branch.keys(store, listed.key, max(branch.total - _MAX_LAST_ENTRIES, 0), _MAX_LAST_ENTRIES)
    entries = session.recovering.entries(listed.key, keys)
    session.take_damage(listed.key)
    return [entries[key] for key in keys if key in entries]


def _answer(entry: Message | Event) -> str:
    if not isinstance(entry, Message) or entry.role != "assistant" or entry.hidden:
        return ""
    return tree.plain_text(entry).strip()


def _ending(entries: Sequence[Message | Event]) -> Ending:
    """Return what the last message that says or does something is."""
    for entry in reversed(entries):
        if not isinstance(entry, Message) or entry.hidden:
            continue
        if any(isinstance(part, ToolCall | ToolResult) for part in entry.parts):
            return "tool call"
        if tree.plain_text(entry).strip():
            return _ENDINGS.get(entry.role, "unknown")
    return "unknown"


def _first_line(text: str) -> str | None:
    line = " ".join(text.strip().partition("\n")[0].split())
    return (line if len(line) <= _MAX_LINE_CHARS else f"{line[: _MAX_LINE_CHARS - 1]}…") or None
