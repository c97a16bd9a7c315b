"""Branches of a conversation: the switch at a fork, and the difference of two branches."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from agent_journal.model import Message, tree
from agent_journal.rendering.diffs import diff
from agent_journal.rendering.markup import NOTHING, Markup, element, joined
from agent_journal.text import describe
from agent_journal.web.branches import Alternative, fork_at, subagents_at
from agent_journal.web.views.home import list_values
from agent_journal.web.views.parameters import integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.rendering.turns import Turn
    from agent_journal.web.journal_access import OpenConversation
    from agent_journal.web.site import Site

_MAX_COMPARED_ENTRIES = 400
_MAX_CONTEXT_LINES = 100_000


def fork_switch(site: Site, opened: OpenConversation, message_id: str | None, branch: int) -> Markup:
    """The switch between the branches that continue from a message; nothing if it is only one."""
    fork = fork_at(opened, message_id, branch)
    if fork is None:
        return NOTHING

    def compare_address(other: Alternative) -> str:
        here = fork.alternatives[fork.current or 0]
        places = {"a": here.part, "b": other.part, "at": here.position, "other": other.position}
        return site.urls.of("branches", opened.name, {name: str(place) for name, place in places.items()})

    values = {
        "fork": fork,
        "label": "Branches from here" if message_id is not None else "Starting points",
        "branch_address": lambda each: _address(site, opened, each),
        "compare_address": compare_address,
    }
    return Markup(site.part("fork.html", values))


def after_turn(site: Site, opened: OpenConversation, forks: set[str], turn: Turn, branch: int) -> Markup:
    """What continues from a turn: other branches, and the work of subagents within the conversation."""
    switch = fork_switch(site, opened, turn.message.id, branch) if turn.message.id in forks else NOTHING
    links = [
        element("li", "", element("a", {"href": _address(site, opened, each)}, each.words or "(no text)"))
        for each in subagents_at(opened, turn.message.id)
    ]
    if not links:
        return switch
    label = "Subagents started here"
    started = element(
        "nav", {"class": "fork", "aria-label": label}, element("p", "", label), element("ul", "", *links)
    )
    return joined([switch, started])


def show_difference(site: Site, request: Request) -> Response:
    """The difference of two branches of a conversation, from where they part."""
    opened = site.journal.open(request.path_params["name"])
    first = _place(opened, integer(request, "a", 0), integer(request, "at", 0))
    second = _place(opened, integer(request, "b", 0), integer(request, "other", 0))
    before, after = ([*_lines(opened, each)] for each in (first, second))
    lines = [*unified_diff(before, after, lineterm="", n=_MAX_CONTEXT_LINES)][3:]
    values = {
        "opened": opened,
        "first": first,
        "second": second,
        "first_address": _address(site, opened, first),
        "second_address": _address(site, opened, second),
        "diff": diff("\n".join(lines)) if lines else element("p", "note", "Both branches are the same."),
        "is_cut": any(
            opened.total(each.part) - each.position > _MAX_COMPARED_ENTRIES for each in (first, second)
        ),
        "max_entries": _MAX_COMPARED_ENTRIES,
        "list_values": list_values(site, {}, opened.listed),
    }
    title = opened.listed.title or describe.UNTITLED
    return site.page("compare_branches.html", values, title=f"Two branches · {title}")


def show_comparison(site: Site, request: Request) -> Response:
    """The difference of two conversations, as far as their sources show them."""
    names = [request.query_params.get(name, "") for name in ("a", "b")]
    if not all(names):
        raise HTTPException(400, "Name two conversations: press x in one, and x in the other.")
    first, second = (site.journal.open(name) for name in names)
    start = Alternative(0, 0, "", "")
    before, after = ([*_lines(each, start)] if each.total(0) else [] for each in (first, second))
    lines = [*unified_diff(before, after, lineterm="", n=_MAX_CONTEXT_LINES)][3:]
    values = {
        "conversations": [first, second],
        "diff": diff("\n".join(lines)) if lines else element("p", "note", "Both are the same."),
        "is_cut": any(each.total(0) > _MAX_COMPARED_ENTRIES for each in (first, second)),
        "max_entries": _MAX_COMPARED_ENTRIES,
        "list_values": list_values(site, {}, first.listed),
    }
    return site.page("compare.html", values, title="Two conversations")


def _place(opened: OpenConversation, part: int, position: int) -> Alternative:
    if position >= opened.total(part):
        raise HTTPException(404, "This branch is not that long.")
    entry = opened.entries(part, position, 1).entries[0]
    words = tree.plain_text(entry) if isinstance(entry, Message) else entry.name
    return Alternative(part, position, entry.id, describe.plain(words)[:80])


def _address(site: Site, opened: OpenConversation, place: Alternative) -> str:
    if place.part and not place.position:
        return site.urls.of("c", opened.name, {"branch": place.part})
    return site.urls.conversation(opened.name, place.message_id)


def _lines(opened: OpenConversation, place: Alternative) -> Iterator[str]:
    """What is written in a branch, with the names of tools that were called."""
    for entry in opened.entries(place.part, place.position, _MAX_COMPARED_ENTRIES).entries:
        if not isinstance(entry, Message) or entry.hidden:
            continue
        yield f"{entry.role.capitalize()}:"
        yield from tree.plain_text(entry).splitlines()
        for call in tree.calls_in(entry):
            yield f"{call.name} {describe.call(call)}"
