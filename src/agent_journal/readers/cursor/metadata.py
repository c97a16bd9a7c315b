"""What is known of a chat as a whole: from its record, its window, and the lists that it is in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation, Link, Message, Summary, timestamps
from agent_journal.readers.cursor import agent_messages
from agent_journal.readers.cursor.names import NAME, SECRETS
from agent_journal.readers.cursor.values import parsed, path_of, said, text_in
from agent_journal.readers.cursor.workspace import folder_in

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.readers.cursor.composer import Composer

# Rows about a chat that are not messages, kept under the name their keys begin with.
_BESIDE = ("codeBlockDiff", "codeBlockPartialInlineDiffFates")
# "2026-03-01T10:00:00.000Z": among texts of this form alone, alphabetical order is order in time.
_UTC_LENGTH = 24
_ON_BRANCH = re.compile(r"On branch (\S+)")


def conversation(chat: Composer, place: Bag, head: Bag, parent: str | None) -> Conversation:
    """The chat, with its window's place, its head in a list of chats, and the chat that started it."""
    fields = chat.fields
    fields.drop("composerId", *SECRETS)
    worktree = fields.look("gitWorktree")
    worktree = worktree if isinstance(worktree, dict) else {}
    begun_on = fields.text("createdOnBranch") or text_in(head, "createdOnBranch")
    updated = fields.moment("lastUpdatedAt") or timestamps.moment(head.get("lastUpdatedAt"))
    model = fields.nested("modelConfig")
    archived = fields.flag("isArchived")
    return Conversation(
        id=chat.id,
        source=NAME,
        title=fields.text("name") or text_in(head, "name"),
        started_at=_started(fields, head, chat.timeline),
        updated_at=_later(updated, chat.timeline),
        model=model.text("modelName") if model else None,
        cwd=folder(chat) or folder_in(place) or _told_folder(chat.timeline) or _laid_out(chat.contexts),
        git_branch=text_in(worktree, "branchName") or begun_on or _branch(chat.contexts),
        git_commit=text_in(worktree, "commitHash"),
        archived=archived if archived is not None else _flag(head, "isArchived"),
        shape="list",
        link=_link(chat, head, parent),
        timeline=chat.timeline,
        summaries=_summaries(fields),
        extra=_extra(chat, head, place),
    )


def folder(chat: Composer) -> str | None:
    """The folder that the record or the first message names."""
    identifier = chat.fields.look("workspaceIdentifier")
    if isinstance(identifier, dict) and (path := path_of(identifier.get("uri"))) is not None:
        return path
    for uris in chat.folders:
        if isinstance(uris, list) and len(uris) == 1 and (path := path_of(uris[0])) is not None:
            return path
    return None


def window(chat: Composer, head: Bag) -> Any:
    """The id of the window that the record or its head names."""
    for identifier in (chat.fields.look("workspaceIdentifier"), head.get("workspaceIdentifier")):
        if isinstance(identifier, dict) and identifier.get("id"):
            return identifier["id"]
    return head.get("workspaceId")


def _told_folder(timeline: list[Entry]) -> str | None:
    """The folder that the agent told the model."""
    told = (
        agent_messages.facts(entry.parts) for entry in timeline if isinstance(entry, Message) and entry.hidden
    )
    return next((facts["cwd"] for facts in told if "cwd" in facts), None)


def _laid_out(contexts: list[Bag]) -> str | None:
    """The folder whose layout went along with prompts, if it is one."""
    for context in contexts:
        layouts = context.get("projectLayouts")
        if not isinstance(layouts, list) or len(layouts) != 1:
            continue
        steps: Any = parsed(layouts[0]) if isinstance(layouts[0], str) else layouts[0]
        for name in ("listDirV2Result", "directoryTreeRoot"):
            steps = steps.get(name) if isinstance(steps, dict) else None
        if isinstance(steps, dict) and (path := text_in(steps, "absPath")) is not None:
            return path
    return None


def _branch(contexts: list[Bag]) -> str | None:
    """The branch that Git was on at the first prompt of which that is known."""
    states = (context.get("gitStatusRaw") for context in contexts)
    found = (_ON_BRANCH.match(state) for state in states if isinstance(state, str))
    return next((match[1] for match in found if match is not None), None)


def _extra(chat: Composer, head: Bag, place: Bag) -> Bag:
    looked_at = chat.fields.look
    more = {name: value for name, value in head.items() if name != "composerId" and looked_at(name) != value}
    extra = said(chat.fields.rest())
    for family in _BESIDE:
        if held := dict(chat.beside(family)):
            extra[family] = held
    if more := said(more):
        extra["head"] = more
    if place:
        extra["workspace"] = place
    return extra


def _link(chat: Composer, head: Bag, parent: str | None) -> Link | None:
    """The chat whose agent started this one."""
    info = chat.fields.look("subagentInfo") or head.get("subagentInfo")
    info = info if isinstance(info, dict) else {}
    parent = text_in(info, "parentComposerId") or parent
    if parent is None or parent == chat.id:
        return None
    return Link(conversation_id=parent, relation="subagent", call_id=text_in(info, "toolCallId"))


def _summaries(fields: Fields) -> list[Summary]:
    """What the model was told in place of a chat's beginning."""
    told = fields.look("latestConversationSummary")
    inner = told.get("summary") if isinstance(told, dict) else None
    if isinstance(inner, str) and inner:
        return [Summary(text=inner, kind="system")]
    if not isinstance(inner, dict) or (text := text_in(inner, "summary")) is None:
        return []
    last = text_in(inner, "truncationLastBubbleIdInclusive")
    return [Summary(text=text, kind="system", message_id=last)]


def _started(fields: Fields, head: Bag, timeline: list[Entry]) -> str | None:
    stated = fields.moment("createdAt") or timestamps.moment(head.get("createdAt"))
    return stated or next((entry.at for entry in timeline if entry.at is not None), None)


def _later(updated: str | None, timeline: list[Entry]) -> str | None:
    """The end of a chat: what it states is often when it was begun."""
    moments = [at for at in (updated, *(entry.at for entry in timeline)) if at is not None]
    if set(map(len, moments)) == {_UTC_LENGTH}:
        return max(moments)
    dated = [(epoch, at) for at in moments if (epoch := timestamps.epoch_ms(at)) is not None]
    return max(dated)[1] if dated else updated


def _flag(bag: Bag, name: str) -> bool | None:
    value = bag.get(name)
    return value if isinstance(value, bool) else None
