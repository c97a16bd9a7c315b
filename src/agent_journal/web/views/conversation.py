"""A conversation: its text in parts, its outline, its changed files, its records, and what is found in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse

from agent_journal.model.spilled import encode_spilled
from agent_journal.rendering.addresses import message_anchor
from agent_journal.rendering.blocks import block
from agent_journal.rendering.context import Context
from agent_journal.rendering.diffs import diff
from agent_journal.rendering.header import header
from agent_journal.rendering.markup import NOTHING, Markup, element, joined
from agent_journal.rendering.outline import count_matches
from agent_journal.rendering.window import WindowView
from agent_journal.text import describe
from agent_journal.text.humanize import count
from agent_journal.web.addresses import ConversationAddresses
from agent_journal.web.branches import first_words, forks_in
from agent_journal.web.views.branches import after_turn, fork_switch
from agent_journal.web.views.home import list_values
from agent_journal.web.views.live import last_anchor
from agent_journal.web.views.parameters import integer, query_text
from agent_journal.web.views.search import find as find_hits
from agent_journal.web.views.search import parse_search, shown_hits
from agent_journal.web.views.subagents import subagent_values

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.web.journal_access import OpenConversation
    from agent_journal.web.site import Site

_MAX_PART_ENTRIES = 100
_MAX_OVERLAP_ENTRIES = 60
"""Tool results this far from their calls are shown with them."""
_MAX_MATCHING_ENTRIES = 5000
_MAX_MARKS = 600
_MAX_BRANCHES, _MAX_LABEL_ENTRIES = 50, 10


class Part(NamedTuple):
    """Some consecutive entries of a branch, rendered."""

    start: int
    stop: int
    total: int
    content: Markup
    damage: list[str]


def show(site: Site, request: Request) -> Response:
    """The page of a conversation, at a message if one is named."""
    opened = site.journal.open(request.path_params["name"])
    branch, start = integer(request, "branch", 0), integer(request, "start", 0)
    message_id = request.query_params.get("message")
    if message_id:
        branch, position = opened.locate(message_id)
        start = position - position % _MAX_PART_ENTRIES
    part = _render_part(site, opened, branch, start, query_text(request))
    if message_id and not part.start <= position < part.stop:
        part = _render_part(site, opened, branch, position, query_text(request))
    title = opened.listed.title or describe.UNTITLED
    context = _context(site, opened, query_text(request))
    values = {
        **_list_pane(site, request, opened),
        "opened": opened,
        "header": header(opened.conversation, context, _amounts(opened)),
        "part": part,
        "branch": branch,
        "branches": _branch_labels(opened),
        "live": "" if branch else site.urls.of("live", opened.name),
        "last": "" if branch else last_anchor(site, opened.name),
        "start_fork": _start_fork(site, opened, branch) if not part.start else NOTHING,
        "target": message_anchor(message_id) if message_id else "",
        "find": query_text(request),
        "part_entries": _MAX_PART_ENTRIES,
    }
    return site.page("conversation.html", values, title=title)


def _start_fork(site: Site, opened: OpenConversation, branch: int) -> Markup:
    """The switch above a branch that does not begin with the conversation, or of its first messages."""
    after = opened.parts[branch].after
    if after is None:
        return fork_switch(site, opened, None, branch)
    address = site.urls.conversation(opened.name, after)
    back = element("a", {"href": address}, "Go to the message it continues")
    return joined([fork_switch(site, opened, after, branch), element("p", "quiet", back)])


def _list_pane(site: Site, request: Request, opened: OpenConversation) -> dict[str, object]:
    """The list next to a conversation: the hits of the search that led here, else all conversations."""
    wanted = parse_search(request)
    if not wanted.text:
        listed = list_values(site, {}, opened.listed)
        return {"list_values": listed, "list_key": listed["key"]}
    return {
        "hits_pane": True,
        "hits": shown_hits(site, wanted, find_hits(site, wanted, 0)),
        "query": wanted.text,
        "current": opened.name,
        "results_address": site.urls.of("search", parameters=wanted.parameters),
        "list_key": f"hits:{wanted.parameters}",
    }


def show_messages(site: Site, request: Request) -> Response:
    """Some entries of a conversation, for a page that shows others of it."""
    opened = site.journal.open(request.path_params["name"])
    part = _render_part(
        site, opened, integer(request, "branch", 0), integer(request, "start", 0), query_text(request)
    )
    return site.page("messages.html", {"part": part, "opened": opened}, title="")


def show_outline(site: Site, request: Request) -> Response:
    """Prompts, changed files, and where what happens; as a page for readers without scripts."""
    opened = site.journal.open(request.path_params["name"])
    branch = integer(request, "branch", 0)
    outline = opened.outline(branch)
    total = opened.total(branch)
    marks = {
        "prompts": [each.position for each in outline.prompts],
        "errors": [each.position for each in outline.errors],
        "edits": [each.position for each in outline.edits],
    }
    values = {
        "opened": opened,
        "outline": outline,
        "branch": branch,
        "marks": {kind: _positions(each) for kind, each in marks.items()},
        "total": total,
        "price": outline.list_price(opened.listed.source, site.journal.list_price),
        "figures": outline.figures,
        "lanes": outline.figures.lanes(),
        **subagent_values(site, opened),
    }
    return site.page("outline.html", values, title=f"Outline · {opened.listed.title or describe.UNTITLED}")


def _positions(positions: list[int]) -> str:
    """Positions as a script reads them, thinned out if there are too many to distinguish."""
    step = len(positions) // _MAX_MARKS + 1
    return " ".join(map(str, positions[::step]))


def find(site: Site, request: Request) -> Response:
    """Where a text is in a conversation, also where it is folded: positions, ids and numbers of matches."""
    opened = site.journal.open(request.path_params["name"])
    needle = query_text(request).lower()
    branch = integer(request, "branch", 0)
    matching = []
    for position, entry in opened.iter_entries(branch):
        if needle and (matches := count_matches(entry, needle)):
            matching.append([position, message_anchor(entry.id), matches])
            if len(matching) >= _MAX_MATCHING_ENTRIES:
                break
    return JSONResponse({"found": matching, "total": opened.total(branch)})


def show_edits(site: Site, request: Request) -> Response:
    """All changes of a file across a conversation, as one diff."""
    opened = site.journal.open(request.path_params["name"])
    path = request.query_params.get("path", "")
    outline = opened.outline(integer(request, "branch", 0))
    file = next((file for file in outline.files if file.path == path), None)
    if file is None:
        raise HTTPException(404, "This conversation does not change this file.")
    changes = [
        (change, site.urls.conversation(opened.name, change.message_id), diff(change.edit.diff))
        for change in file.changes
    ]
    values = {
        "opened": opened,
        "file": file,
        "changes": changes,
        "list_values": list_values(site, {}, opened.listed),
    }
    return site.page("edits.html", values, title=f"{path} · {opened.listed.title or describe.UNTITLED}")


def show_raw(site: Site, request: Request) -> Response:
    """The source's own record of a message, as far as it is known."""
    opened = site.journal.open(request.path_params["name"])
    message_id = request.query_params.get("message", "")
    opened.locate(message_id)
    exact = site.journal.exact(opened.name)
    entry = next((entry for entry in exact.timeline if entry.id == message_id), None)
    record = block(_as_json(entry), "json")
    if request.query_params.get("part"):
        return HTMLResponse(element("div", "record", record))
    values = {
        "opened": opened,
        "record": record,
        "message_id": message_id,
        "list_values": list_values(site, {}, opened.listed),
    }
    return site.page("raw.html", values, title="Record")


def _as_json(value: Any) -> str:
    encoded = msgspec.json.encode(value, enc_hook=encode_spilled)
    return msgspec.json.format(encoded, indent=2).decode()


def _context(site: Site, opened: OpenConversation, query: str) -> Context:
    addresses = ConversationAddresses(site.urls, opened.name, {"q": query}, opened.related)
    title = opened.listed.title or describe.UNTITLED
    return Context(title, addresses, site.source_titles, site.journal.list_price)


def _render_part(site: Site, opened: OpenConversation, branch: int, start: int, query: str) -> Part:
    total = opened.total(branch)
    if start and start >= total:
        raise HTTPException(404, f"This branch has only {count(total, 'entry', 'entries')}.")
    stop = min(start - start % _MAX_PART_ENTRIES + _MAX_PART_ENTRIES, total)
    first = max(start - _MAX_OVERLAP_ENTRIES, 0)
    read = opened.entries(branch, first, stop + _MAX_OVERLAP_ENTRIES - first)
    window = read.entries
    context = _context(site, opened, query)
    addresses = context.addresses
    assert isinstance(addresses, ConversationAddresses)  # noqa: S101
    addresses.add_media(window)
    forks = forks_in(opened, branch)
    view = WindowView(
        opened.conversation,
        context,
        window,
        range(start - first, stop - first),
        lambda turn: after_turn(site, opened, forks, turn, branch),
    )
    rendered = view.render()
    damage = [each.description for each in read.damage]
    return Part(start, start + rendered.covered, total, joined(rendered.content), damage)


def _branch_labels(opened: OpenConversation) -> list[str]:
    return [_branch_label(opened, number) for number in range(min(len(opened.parts), _MAX_BRANCHES))]


def _branch_label(opened: OpenConversation, number: int) -> str:
    entries = opened.entries(number, 0, _MAX_LABEL_ENTRIES).entries
    words = next((words for words in map(first_words, entries) if words), "")
    kind = {"main": "Shown branch", "subagent": "Subagent"}.get(opened.parts[number].kind, "Branch")
    return f"{kind}: {words}" if words else kind


def _amounts(opened: OpenConversation) -> list[Markup]:
    listed = opened.listed
    took_ms = describe.took_ms(listed.started_at, listed.updated_at)
    from agent_journal.text.humanize import duration  # noqa: PLC0415

    words = [
        listed.model or "",
        count(listed.messages, "message"),
        f"{count(listed.children, 'subagent')}" if listed.children else "",
        f"lasted {duration(took_ms)}" if took_ms else "",
        "only the prompts are known" if listed.only_prompts else "",
    ]
    return [element("li", "", word) for word in words if word]
