"""Search: hits by conversation, with the words marked, and facets that narrow them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.journal.answer import MODES
from agent_journal.rendering.markup import Markup, element, joined
from agent_journal.search.query import ROLES, Filters
from agent_journal.web.site import project_name
from agent_journal.web.views.parameters import integer, query_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.journal.answer import Answer, Hit, Mode
    from agent_journal.search.marking import Snippet
    from agent_journal.web.site import Site

_MAX_HITS, _MAX_FACET_HITS = 20, 100
_MAX_OTHERS = 2
_MAX_FACET_VALUES = 8
_FIELD_NAMES = {
    "thinking": "thinking",
    "tool": "tool input",
    "output": "tool output",
    "attached": "attachment",
    "title": "title",
}
_FACET_LABELS = {
    "source": "Source",
    "project": "Project",
    "model": "Model",
    "role": "Role",
    "branch": "Branch",
}


class SearchRequest(NamedTuple):
    """What is searched for, as the address says it."""

    text: str
    mode: Mode
    values: dict[str, tuple[str, ...]]
    """The chosen values of facets."""
    has_error: bool

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of an address of the same search."""
        return {"q": self.text, **self.values, "failed": "1" if self.has_error else ""}

    @property
    def filters(self) -> Filters:
        """The conditions on hits."""
        return Filters(
            sources=self.values["source"],
            projects=self.values["project"],
            models=self.values["model"],
            roles=tuple(role for role in self.values["role"] if role in ROLES),
            branches=self.values["branch"],
            has_error=self.has_error,
        )


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
    name: str
    """`source:id`; empty for a memory."""
    address: str
    snippet: Markup
    where: str
    others: Sequence[tuple[str, str, str | None]]
    """Addresses, roles and times of more hits."""


def parse_search(request: Request) -> SearchRequest:
    """What an address searches for."""
    parameters = request.query_params
    mode = parameters.get("mode", "lexical")
    return SearchRequest(
        query_text(request),
        mode if mode in MODES else "lexical",
        {name: tuple(filter(None, parameters.getlist(name))) for name in _FACET_LABELS},
        parameters.get("failed") == "1",
    )


def show(site: Site, request: Request) -> Response:
    """The results of a search; without a query, how to search."""
    wanted, offset = parse_search(request), integer(request, "offset", 0)
    answer = find(site, wanted, offset) if wanted.text else None
    values = {
        "query": wanted.text,
        "mode": wanted.mode,
        "answer": answer,
        "hits": shown_hits(site, wanted, answer),
        "chosen": _chosen(site, wanted),
        "facets_address": site.urls.of("facets", parameters=wanted.parameters),
        "next": _next(site, wanted, offset, answer),
        "with_meaning": site.urls.of("search", parameters={**wanted.parameters, "mode": "hybrid"}),
    }
    return site.page("search.html", values, title=f"{wanted.text} · Search" if wanted.text else "Search")


def show_facets(site: Site, request: Request) -> Response:
    """What narrows a search, with numbers of hits."""
    wanted = parse_search(request)
    answer = find(site, wanted, 0, _MAX_FACET_HITS) if wanted.text else None
    values = {
        "query": wanted.text,
        "facets": _facets(site, wanted, answer),
        "is_partial": answer is not None and answer.has_more,
        "max_hits": _MAX_FACET_HITS,
        "results_address": site.urls.of("search", parameters=wanted.parameters),
    }
    return site.page("facets.html", values, title=f"Filters · {wanted.text}")


def find(site: Site, wanted: SearchRequest, offset: int, limit: int = _MAX_HITS) -> Answer:
    """The answer to a search."""
    return site.journal.search(wanted.text, limit, offset, mode=wanted.mode, filters=wanted.filters)


def shown_hits(site: Site, wanted: SearchRequest, answer: Answer | None) -> list[ShownHit]:
    """The hits of an answer as pages show them."""
    return [_shown(site, wanted, hit) for hit in answer.hits] if answer else []


def _next(site: Site, wanted: SearchRequest, offset: int, answer: Answer | None) -> str | None:
    if answer is None or not answer.has_more:
        return None
    parameters = {**wanted.parameters, "mode": wanted.mode, "offset": offset + _MAX_HITS}
    return site.urls.of("search", parameters=parameters)


def _shown(site: Site, wanted: SearchRequest, hit: Hit) -> ShownHit:
    conversation = hit.conversation
    if conversation is None:
        return ShownHit(hit, "", "", mark(hit.snippet), "memory", [])
    name = f"{conversation.source}:{conversation.id}"
    others = [
        (
            site.urls.conversation(
                f"{conversation.source}:{other.conversation}", other.message or None, wanted.parameters
            ),
            other.role or "title",
            other.at,
        )
        for other in hit.others[:_MAX_OTHERS]
    ]
    message = hit.entry.message if hit.field != "title" else None
    return ShownHit(
        hit,
        name,
        site.urls.conversation(name, message or None, wanted.parameters),
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


def _chosen(site: Site, wanted: SearchRequest) -> list[FacetValue]:
    """The chosen values, each with the address of the search without it."""
    return [
        _facet_value(site, wanted, kind, value, None)
        for kind, values in wanted.values.items()
        for value in values
    ]


def _facets(site: Site, wanted: SearchRequest, answer: Answer | None) -> list[Facet]:
    counters: dict[str, Counter[str]] = {kind: Counter() for kind in _FACET_LABELS}
    for hit in answer.hits if answer else ():
        for kind, value in _values(hit):
            counters[kind][value] += 1
    facets = []
    for kind, label in _FACET_LABELS.items():
        counts = counters[kind].most_common(_MAX_FACET_VALUES)
        names = [*dict.fromkeys([*wanted.values[kind], *(name for name, _ in counts)])]
        if len(names) > 1 or wanted.values[kind]:
            values = [_facet_value(site, wanted, kind, name, counters[kind][name]) for name in names]
            facets.append(Facet(label, values))
    failed = site.urls.of(
        "search", parameters={**wanted.parameters, "failed": "" if wanted.has_error else "1"}
    )
    facets.append(Facet("Tools", [FacetValue("Failed calls only", failed, wanted.has_error, None)]))
    return facets


def _values(hit: Hit) -> Iterable[tuple[str, str]]:
    """The values of a hit by their kinds."""
    conversation = hit.conversation
    if conversation is None:
        return
    yield "source", conversation.source
    for kind, value in (
        ("project", conversation.project),
        ("model", conversation.model),
        ("role", hit.entry.role),
        ("branch", conversation.git_branch),
    ):
        if value:
            yield kind, value


def _facet_value(site: Site, wanted: SearchRequest, kind: str, value: str, hits: int | None) -> FacetValue:
    chosen = wanted.values[kind]
    others = tuple(each for each in chosen if each != value) if value in chosen else (*chosen, value)
    label = {"source": site.source_title, "project": project_name}.get(kind, str)(value)
    address = site.urls.of("search", parameters={**wanted.parameters, kind: others})
    return FacetValue(label, address, value in chosen, hits)
