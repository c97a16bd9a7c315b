"""What stands above a conversation: where it is from, when it was, and how much it took."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from agent_journal import tree
from agent_journal.terminal import one_line
from agent_journal.terminal.measure import count
from agent_journal.terminal.moments import span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Usage
    from agent_journal.terminal.view import Line

_RELATIONS = {"continues": "continues", "subagent": "subagent of", "fork": "forked from"}
_NAMED = 5
_CENT = 0.01


def header(
    conversation: Conversation,
    branch: Conversation,
    source_title: str | None,
    subagents: Sequence[tuple[str, str | None]],
) -> Iterator[Line]:
    """The title, and a line for each thing that is known."""
    asked = (m for m in tree.messages(branch) if m.role == "user" and not m.hidden)
    title = conversation.title or tree.title_from(map(tree.plain_text, asked)) or "(without a title)"
    yield (("strong", one_line(title)),)
    told = {
        "Source": " ".join(filter(None, (source_title or _title_of(conversation), conversation.app_version))),
        "Id": conversation.id,
        "Project": _project(conversation),
        "Model": ", ".join(_models(conversation)),
        "Time": span(*_span(conversation)),
        "Messages": _messages(conversation, branch),
        "Tokens": _tokens(tree.usages(conversation.timeline)),
        "Parent": _parent(conversation),
        "Subagents": _named(subagents),
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


def _models(conversation: Conversation) -> list[str]:
    """Every model that answered, in order; without any, the one that the conversation names."""
    found = dict.fromkeys(message.model for message in tree.messages(conversation) if message.model)
    return [*found] or ([conversation.model] if conversation.model else [])


def _span(conversation: Conversation) -> tuple[str | None, str | None]:
    first, last = tree.span(conversation.timeline)
    return conversation.started_at or first, conversation.updated_at or last


def _messages(conversation: Conversation, branch: Conversation) -> str:
    everyone = [*tree.messages(conversation)]
    shown = {message.id for message in tree.messages(branch)}
    aside = sum(message.sidechain for message in everyone if message.id not in shown)
    told = [f"{len(everyone):,}"]
    if elsewhere := len(everyone) - len(shown) - aside:
        told.append(f"{elsewhere:,} of them on other branches (--branch all)")
    if aside:
        told.append(f"{aside:,} of them by subagents (--branch all --all)")
    return ", ".join(told)


def _tokens(usages: list[Usage]) -> str:
    told = [
        f"{amount:,} {word}"
        for word, amount in (
            ("in", sum(usage.input or 0 for usage in usages)),
            ("out", sum(usage.output or 0 for usage in usages)),
            ("from cache", sum(usage.cache_read or 0 for usage in usages)),
            ("to cache", sum(usage.cache_write or 0 for usage in usages)),
        )
        if amount
    ]
    if not told and (total := sum(usage.total or 0 for usage in usages)):
        told.append(f"{total:,}")
    if any(usage.estimated for usage in usages):
        told.append("estimated")
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    if costs:
        told.append(f"${sum(costs):,.2f}" if sum(costs) >= _CENT else f"${sum(costs):.4f}")
    return ", ".join(told)


def _parent(conversation: Conversation) -> str:
    link = conversation.link
    if link is None:
        return ""
    place = f"{link.conversation_id}@{link.message_id}" if link.message_id else link.conversation_id
    return f"{_RELATIONS[link.relation]} {link.conversation_id} (aj show {shlex.quote(place)})"


def _named(subagents: Sequence[tuple[str, str | None]]) -> str:
    told = [f"{title} ({name})" if title else name for name, title in subagents[:_NAMED]]
    more = len(subagents) - len(told)
    return ", ".join(told) + (f" and {count(more, 'more', 'more')}" if more else "")
