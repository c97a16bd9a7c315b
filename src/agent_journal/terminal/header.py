"""The header of a conversation: its source, times, tokens and related conversations."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, TypeAlias

from agent_journal.model import tree
from agent_journal.terminal.command_name import command_name
from agent_journal.terminal.local_times import span
from agent_journal.text import describe
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation
    from agent_journal.terminal.view import Line

Child: TypeAlias = tuple[str, str | None, str | None]
"""A conversation that started from another one: its id, its title, and its relation to that one."""

_MAX_LISTED_IDS = 5
_CHILD_LABELS = {"continues": "Continued", "subagent": "Subagents", "fork": "Forks"}


def header(
    conversation: Conversation,
    branch: Conversation,
    source_title: str | None,
    children: Sequence[Child],
) -> Iterator[Line]:
    """The title, and a line for each fact that is known."""
    prompts = (m for m in tree.messages(branch) if m.role == "user" and not m.hidden)
    title = conversation.title or tree.title_from(map(tree.plain_text, prompts)) or describe.UNTITLED
    yield (("strong", one_line(title)),)
    product = conversation.product or source_title or _title_of(conversation)
    facts = {
        "Source": " ".join(filter(None, (product, conversation.app_version))),
        "Id": conversation.id,
        "Project": _project(conversation),
        "Model": ", ".join(describe.models(conversation)),
        "Time": span(*describe.span(conversation)),
        "Messages": _messages(conversation, branch),
        "Answers": describe.answers(conversation),
        "Tokens": describe.tokens(tree.usages(conversation.timeline)),
        "Parent": _parent(conversation),
        **{label: _list_children(children, relation) for relation, label in _CHILD_LABELS.items()},
        "Tags": ", ".join(conversation.tags),
    }
    for name, value in facts.items():
        if value:
            yield (("dim", f"{name + ':':11}"), one_line(value))


def _title_of(conversation: Conversation) -> str:
    from agent_journal import readers  # noqa: PLC0415 (imports all readers)

    reader = readers.discover().get(conversation.source)
    return conversation.source if reader is None else reader.INFO.title


def _project(conversation: Conversation) -> str:
    branch = f"(branch {conversation.git_branch})" if conversation.git_branch else ""
    return " ".join(filter(None, (conversation.cwd, branch)))


def _messages(conversation: Conversation, branch: Conversation) -> str:
    messages = [*tree.messages(conversation)]
    shown = {message.id for message in tree.messages(branch)}
    by_subagents = sum(message.sidechain for message in messages if message.id not in shown)
    parts = [f"{len(messages):,}"]
    if elsewhere := len(messages) - len(shown) - by_subagents:
        where = "on other branches" if conversation.shape == "tree" else "after that"
        parts.append(f"{elsewhere:,} of them {where} (--branch all)")
    if by_subagents:
        parts.append(f"{by_subagents:,} of them by subagents (--branch all --all)")
    return ", ".join(parts)


def _parent(conversation: Conversation) -> str:
    link = conversation.link
    if link is None:
        return ""
    name = f"{link.conversation_id}@{link.message_id}" if link.message_id else link.conversation_id
    command = f"{command_name()} show {shlex.quote(name)}"
    return f"{describe.RELATIONS[link.relation]} {link.conversation_id} ({command})"


def _list_children(children: Sequence[Child], relation: str) -> str:
    related = [(name, title) for name, title, child_relation in children if child_relation == relation]
    names = [f"{title} ({name})" if title else name for name, title in related[:_MAX_LISTED_IDS]]
    more = len(related) - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more else "")
