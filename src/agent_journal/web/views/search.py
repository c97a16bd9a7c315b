"""Search: hits by conversation, with the words marked, and facets that narrow them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.journal.search import MODES
from agent_journal.rendering.markup import Markup, element, joined
from agent_journal.search.query import Filters
from agent_journal.web.views.parameters import integer, query_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.journal.search import Answer, Hit, Mode
    from agent_journal.search.marking import Snippet
    from agent_journal.web.site import Site

_MAX_HITS = 20
_MAX_OTHERS = 2
_FIELD_NAMES = {
    "thinking": "thinking",
    "tool": "tool input",
    "output": "tool output",
    "attached": "attachment",
    "title": "title",
}


class FacetValue(NamedTuple):
    """A value that narrows a search, and how many hits have it."""

    label: str
    address: str
    is_chosen: bool
    hits: int | None


class Facet(NamedTuple):
    """The values of one kind."""

    label: str
    values: list[FacetValue]


class ShownHit(NamedTuple):
    """A conversation with its best hit."""

    hit: Hit
    address: str
    snippet: Markup
    where: str
    others: Sequence[tuple[str, str, str | None]]
    """Addresses, roles and times of more hits."""


def show(site: Site, request: Request) -> Response:
    """The results of a search; without a query, how to search."""
    text = query_text(request)
    mode = _mode(request)
    offset = integer(request, "offset", 0)
    parameters = {name: tuple(request.query_params.getlist(name)) for name in ("source", "project", "role")}
    answer = None
    if text:
        filters = Filters(
            sources=parameters["source"], projects=parameters["project"], roles=parameters["role"]
        )
        answer = site.journal.search(text, _MAX_HITS, offset, mode=mode, filters=filters)
    values = {
        "query": text,
        "mode": mode,
        "answer": answer,
        "hits": [_shown(site, hit, text) for hit in answer.hits] if answer else [],
        "offset": offset,
        "facets": [],
        "next": _next(site, request, offset, answer),
        "with_meaning": site.urls.of("search", parameters={**parameters, "q": text, "mode": "hybrid"}),
    }
    return site.page("search.html", values, title=f"{text} · Search" if text else "Search")


def _mode(request: Request) -> Mode:
    mode = request.query_params.get("mode", "lexical")
    return mode if mode in MODES else "lexical"


def _next(site: Site, request: Request, offset: int, answer: Answer | None) -> str | None:
    if answer is None or not answer.has_more:
        return None
    parameters = {name: tuple(request.query_params.getlist(name)) for name in request.query_params}
    return site.urls.of("search", parameters={**parameters, "offset": offset + _MAX_HITS})


def _shown(site: Site, hit: Hit, text: str) -> ShownHit:
    conversation = hit.conversation
    if conversation is None:
        return ShownHit(hit, "", mark(hit.snippet), "memory", [])
    name = f"{conversation.source}:{conversation.id}"
    parameters = {"q": text}
    others = [
        (
            site.urls.conversation(f"{conversation.source}:{other.conversation}", other.message, parameters),
            other.role,
            other.at,
        )
        for other in hit.others[:_MAX_OTHERS]
    ]
    message = hit.entry.message if hit.field != "title" else None
    return ShownHit(
        hit,
        site.urls.conversation(name, message or None, parameters),
        mark(hit.snippet),
        " · ".join(filter(None, (hit.entry.role, _FIELD_NAMES.get(hit.field, "")))),
        others,
    )


def mark(snippet: Snippet) -> Markup:
    """A snippet with the matching words marked."""
    pieces: list[str] = []
    end = 0
    for start, stop in snippet.marks:
        pieces += [snippet.text[end:start], element("mark", "", snippet.text[start:stop])]
        end = stop
    return joined([*pieces, snippet.text[end:]])
