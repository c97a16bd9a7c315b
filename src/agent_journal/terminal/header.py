"""What stands above a conversation: where it is from, when it was, and how much it took."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, TypeAlias

from agent_journal.model import tree
from agent_journal.terminal.local_times import span
from agent_journal.text import describe
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation
    from agent_journal.terminal.view import Line

Child: TypeAlias = tuple[str, str | None, str | None]
"""A conversation that came out of another one: its id and title, and what it is to that one."""

_NAMED = 5
_CHILDREN = {"continues": "Continued", "subagent": "Subagents", "fork": "Forks"}


def header(
    conversation: Conversation,
    branch: Conversation,
    source_title: str | None,
    children: Sequence[Child],
) -> Iterator[Line]:
    """The title, and a line for each thing that is known."""
    asked = (m for m in tree.messages(branch) if m.role == "user" and not m.hidden)
    title = conversation.title or tree.title_from(map(tree.plain_text, asked)) or "(without a title)"
    yield (("strong", one_line(title)),)
    told = {
        "Source": " ".join(filter(None, (source_title or _title_of(conversation), conversation.app_version))),
        "Id": conversation.id,
        "Project": _project(conversation),
        "Model": ", ".join(describe.models(conversation)),
        "Time": span(*describe.span(conversation)),
        "Messages": _messages(conversation, branch),
        "Answers": describe.answers(conversation),
        "Tokens": describe.tokens(tree.usages(conversation.timeline)),
        "Parent": _parent(conversation),
        **{label: _named(children, relation) for relation, label in _CHILDREN.items()},
        "Tags": ", ".join(conversation.tags),
    }
    for name, value in told.items():
        if value:
            yield (("dim", f"{name + ':':11}"), one_line(value))


def _title_of(conversation: Conversation) -> str:
    from agent_journal import readers  # noqa: PLC0415 (all of them; the caller may know better)

    reader = readers.discover().get(conversation.source)
    return conversation.source if reader is None else reader.INFO.title


def _project(conversation: Conversation) -> str:
    branch = f"(branch {conversation.git_branch})" if conversation.git_branch else ""
    return " ".join(filter(None, (conversation.cwd, branch)))


def _messages(conversation: Conversation, branch: Conversation) -> str:
    everyone = [*tree.messages(conversation)]
    shown = {message.id for message in tree.messages(branch)}
    aside = sum(message.sidechain for message in everyone if message.id not in shown)
    told = [f"{len(everyone):,}"]
    if elsewhere := len(everyone) - len(shown) - aside:
        where = "on other branches" if conversation.shape == "tree" else "after that"
        told.append(f"{elsewhere:,} of them {where} (--branch all)")
    if aside:
        told.append(f"{aside:,} of them by subagents (--branch all --all)")
    return ", ".join(told)


def _parent(conversation: Conversation) -> str:
    link = conversation.link
    if link is None:
        return ""
    place = f"{link.conversation_id}@{link.message_id}" if link.message_id else link.conversation_id
    return f"{describe.RELATIONS[link.relation]} {link.conversation_id} (aj show {shlex.quote(place)})"


def _named(children: Sequence[Child], wanted: str) -> str:
    found = [(name, title) for name, title, relation in children if relation == wanted]
    told = [f"{title} ({name})" if title else name for name, title in found[:_NAMED]]
    more = len(found) - len(told)
    return ", ".join(told) + (f" and {count(more, 'more', 'more')}" if more else "")
