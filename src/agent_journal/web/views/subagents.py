"""The subagents of a conversation as a tree, with what each one took."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.text import describe
from agent_journal.text.humanize import dollars

if TYPE_CHECKING:
    from agent_journal.journal import Listed
    from agent_journal.web.journal_access import OpenConversation
    from agent_journal.web.site import Site

_MAX_SUBAGENTS, _MAX_MEASURED = 200, 40


class Subagent(NamedTuple):
    """A subagent in the tree; `depth` is 0 for those that the conversation itself started."""

    name: str
    title: str | None
    depth: int
    messages: int
    took_ms: int | None
    tokens: str
    """Its tokens and their price; empty if they are not stated."""


def subagent_values(site: Site, opened: OpenConversation) -> dict[str, object]:
    """The subagents in the order they were started, each followed by its own."""
    descendants = _descendants(site, opened.listed)
    shown = [
        _subagent(site, listed, depth, is_measured=number < _MAX_MEASURED)
        for number, (listed, depth) in enumerate(descendants[:_MAX_SUBAGENTS])
    ]
    return {"subagents": shown, "hidden_subagents": len(descendants) - len(shown)}


def _descendants(site: Site, top: Listed) -> list[tuple[Listed, int]]:
    descendants: list[tuple[Listed, int]] = []
    visited = {top.key}
    pending = [(child, 0) for child in reversed(_children(site, top))]
    while pending:
        listed, depth = pending.pop()
        if listed.key in visited:
            continue
        visited.add(listed.key)
        descendants.append((listed, depth))
        pending += [(child, depth + 1) for child in reversed(_children(site, listed))]
    return descendants


def _children(site: Site, listed: Listed) -> list[Listed]:
    return sorted(site.journal.subagents(listed), key=lambda child: child.started_at or "")


def _subagent(site: Site, listed: Listed, depth: int, *, is_measured: bool) -> Subagent:
    name = f"{listed.source}:{listed.id}"
    took_ms = describe.took_ms(listed.started_at, listed.updated_at)
    tokens = _tokens(site, name) if is_measured else "not counted here"
    return Subagent(name, listed.title, depth, listed.messages, took_ms, tokens)


def _tokens(site: Site, name: str) -> str:
    opened = site.journal.open(name)
    outline = opened.outline(0)
    price = outline.list_price(opened.listed.source, site.journal.list_price)
    return ", ".join(filter(None, (outline.tokens, f"list price {dollars(price)}" if price else "")))
