"""The metadata of a chat: from its record, its window, and the lists of chats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation, Link, Message, Summary, timestamps
from agent_journal.readers.cursor import agent_messages
from agent_journal.readers.cursor.names import NAME, SECRETS
from agent_journal.readers.cursor.values import nonempty_fields, nonempty_text, parse_json, path_of
from agent_journal.readers.cursor.workspace import workspace_folder

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.readers.cursor.composer import Composer

# Rows about a chat that are not messages, stored in `extra` under the prefix of their keys.
_EXTRA_ROWS = ("codeBlockDiff", "codeBlockPartialInlineDiffFates")
# "2026-03-01T10:00:00.000Z": times that all have this form sort alphabetically.
_UTC_TIME_CHARS = 24
_ON_BRANCH = re.compile(r"On branch (\S+)")


def make_conversation(chat: Composer, workspace: Bag, list_entry: Bag, parent: str | None) -> Conversation:
    """Make the conversation from a chat, its workspace, its entry in a chat list, and its parent's id."""
    fields = chat.fields
    fields.drop("composerId", *SECRETS)
    worktree = fields.view("gitWorktree")
    worktree = worktree if isinstance(worktree, dict) else {}
    created_on = fields.text("createdOnBranch") or nonempty_text(list_entry, "createdOnBranch")
    updated = fields.timestamp("lastUpdatedAt") or timestamps.parse_timestamp(list_entry.get("lastUpdatedAt"))
    model = fields.nested("modelConfig")
    archived = fields.flag("isArchived")
    return Conversation(
        id=chat.id,
        source=NAME,
        title=fields.text("name") or nonempty_text(list_entry, "name"),
        started_at=_started_at(fields, list_entry, chat.timeline),
        updated_at=_updated_at(updated, chat.timeline),
        model=model.text("modelName") if model else None,
        cwd=folder(chat)
        or workspace_folder(workspace)
        or _folder_in_context(chat.timeline)
        or _folder_in_layout(chat.contexts),
        git_branch=nonempty_text(worktree, "branchName") or created_on or _branch(chat.contexts),
        git_commit=nonempty_text(worktree, "commitHash"),
        archived=archived if archived is not None else _flag(list_entry, "isArchived"),
        shape="list",
        link=_link(chat, list_entry, parent),
        timeline=chat.timeline,
        summaries=_summaries(fields),
        extra=_extra(chat, list_entry, workspace),
    )


def folder(chat: Composer) -> str | None:
    """Return the folder that the record or a message names."""
    identifier = chat.fields.view("workspaceIdentifier")
    if isinstance(identifier, dict) and (path := path_of(identifier.get("uri"))) is not None:
        return path
    for uris in chat.folders:
        if isinstance(uris, list) and len(uris) == 1 and (path := path_of(uris[0])) is not None:
            return path
    return None


def window_id(chat: Composer, list_entry: Bag) -> Any:
    """Return the id of the window that the record or its list entry names."""
    for identifier in (chat.fields.view("workspaceIdentifier"), list_entry.get("workspaceIdentifier")):
        if isinstance(identifier, dict) and identifier.get("id"):
            return identifier["id"]
    return list_entry.get("workspaceId")


def _folder_in_context(timeline: list[Entry]) -> str | None:
    """Return the folder in the agent's description of the environment."""
    hidden = (entry for entry in timeline if isinstance(entry, Message) and entry.hidden)
    all_facts = (agent_messages.environment_facts(message.parts) for message in hidden)
    return next((facts["cwd"] for facts in all_facts if "cwd" in facts), None)


def _folder_in_layout(contexts: list[Bag]) -> str | None:
    """Return the folder whose layout was sent with the prompts, if there is exactly one."""
    for context in contexts:
        layouts = context.get("projectLayouts")
        if not isinstance(layouts, list) or len(layouts) != 1:
            continue
        node: Any = parse_json(layouts[0]) if isinstance(layouts[0], str) else layouts[0]
        for name in ("listDirV2Result", "directoryTreeRoot"):
            node = node.get(name) if isinstance(node, dict) else None
        if isinstance(node, dict) and (path := nonempty_text(node, "absPath")) is not None:
            return path
    return None


def _branch(contexts: list[Bag]) -> str | None:
    """Return the Git branch at the first prompt that states one."""
    states = (context.get("gitStatusRaw") for context in contexts)
    matches = (_ON_BRANCH.match(state) for state in states if isinstance(state, str))
    return next((match[1] for match in matches if match is not None), None)


def _extra(chat: Composer, list_entry: Bag, workspace: Bag) -> Bag:
    view = chat.fields.view
    new_fields = {
        name: value for name, value in list_entry.items() if name != "composerId" and view(name) != value
    }
    extra = nonempty_fields(chat.fields.rest())
    for prefix in _EXTRA_ROWS:
        if rows := dict(chat.rows_with_prefix(prefix)):
            extra[prefix] = rows
    if new_fields := nonempty_fields(new_fields):
        extra["head"] = new_fields
    if workspace:
        extra["workspace"] = workspace
    return extra


def _link(chat: Composer, list_entry: Bag, parent: str | None) -> Link | None:
    """Return the link to the chat whose agent started this one."""
    info = chat.fields.view("subagentInfo") or list_entry.get("subagentInfo")
    info = info if isinstance(info, dict) else {}
    parent = nonempty_text(info, "parentComposerId") or parent
    if parent is None or parent == chat.id:
        return None
    return Link(conversation_id=parent, relation="subagent", call_id=nonempty_text(info, "toolCallId"))


def _summaries(fields: Fields) -> list[Summary]:
    """Return the summary that replaced the beginning of a chat for the model."""
    latest = fields.view("latestConversationSummary")
    inner = latest.get("summary") if isinstance(latest, dict) else None
    if isinstance(inner, str) and inner:
        return [Summary(text=inner, kind="system")]
    if not isinstance(inner, dict) or (text := nonempty_text(inner, "summary")) is None:
        return []
    last_id = nonempty_text(inner, "truncationLastBubbleIdInclusive")
    return [Summary(text=text, kind="system", message_id=last_id)]


def _started_at(fields: Fields, list_entry: Bag, timeline: list[Entry]) -> str | None:
    stated = fields.timestamp("createdAt") or timestamps.parse_timestamp(list_entry.get("createdAt"))
    return stated or next((entry.at for entry in timeline if entry.at is not None), None)


def _updated_at(updated: str | None, timeline: list[Entry]) -> str | None:
    """Return the latest time of a chat: the stated one is often that of its creation."""
    all_times = [at for at in (updated, *(entry.at for entry in timeline)) if at is not None]
    if set(map(len, all_times)) == {_UTC_TIME_CHARS}:
        return max(all_times)
    dated = [(epoch, at) for at in all_times if (epoch := timestamps.epoch_ms(at)) is not None]
    return max(dated)[1] if dated else updated


def _flag(bag: Bag, name: str) -> bool | None:
    value = bag.get(name)
    return value if isinstance(value, bool) else None
