"""Search: hits by conversation, with the words marked, and facets that narrow them."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.journal.answer import MODES
from agent_journal.rendering.markup import NOTHING, Markup, element, joined
from agent_journal.search.query import ROLES, Filters
from agent_journal.web.site import project_name
from agent_journal.web.views.parameters import integer, query_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from agent_journal.journal.answer import Answer, Hit, Mode, RelatedHit
    from agent_journal.search.marking import Snippet
    from agent_journal.web.site import Site

_MAX_HITS = 20
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
    "tool": "Tool",
    "month": "Month",
    "branch": "Branch",
}
_MAX_YEAR = 9999
_MONTH = re.compile(r"(?!0000)(\d{4})-(0[1-9]|1[0-2])")


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
        since, until = _month_limits(self.values["month"])
        return Filters(
            tools=self.values["tool"],
            since=since,
            until=until,
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


class OtherHit(NamedTuple):
    """One more hit in a conversation."""

    address: str
    where: str
    snippet: Markup


class ShownHit(NamedTuple):
    """A conversation with its best hit."""

    hit: Hit
    name: str
    """`source:id`; empty for a memory."""
    address: str
    snippet: Markup
    where: str
    others: Sequence[OtherHit]


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
    values = {
        "query": wanted.text,
        "facets": _facets(site, wanted) if wanted.text else [],
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
    in_messages = [other for other in hit.others if other.message and other.snippet is not None]
    others = [_other(site, wanted, conversation.source, other) for other in in_messages[:_MAX_OTHERS]]
    message = hit.entry.message if hit.field != "title" else None
    return ShownHit(
        hit,
        name,
        site.urls.conversation(name, message or None, wanted.parameters),
        mark(hit.snippet),
        " · ".join(filter(None, (hit.entry.role, _FIELD_NAMES.get(hit.field, "")))),
        others,
    )


def _other(site: Site, wanted: SearchRequest, source: str, other: RelatedHit) -> OtherHit:
    name = f"{source}:{other.conversation}"
    address = site.urls.conversation(name, other.message or None, wanted.parameters)
    where = " · ".join(filter(None, (other.role, _FIELD_NAMES.get(other.field, ""))))
    return OtherHit(address, where, mark(other.snippet) if other.snippet is not None else NOTHING)


def _month_limits(months: tuple[str, ...]) -> tuple[int | None, int | None]:
    """The time from the first to the last of some months, in the time zone of this machine."""
    known = sorted(month for month in months if _MONTH.fullmatch(month))
    if not known:
        return None, None
    first, last = (datetime.fromisoformat(f"{month}-01") for month in (known[0], known[-1]))
    end = (last + timedelta(days=31)).replace(day=1) if last.year < _MAX_YEAR else last
    return int(first.timestamp()), int(end.timestamp())


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


def _facets(site: Site, wanted: SearchRequest) -> list[Facet]:
    counted = site.journal.facets(wanted.text, wanted.filters)
    shown = []
    for kind, label in _FACET_LABELS.items():
        counts = {each.value: each.matches for each in counted.values.get(kind, ())} if counted else {}
        most = [*reversed(counts)] if kind == "month" else [*counts]
        names = [*dict.fromkeys([*wanted.values[kind], *most[:_MAX_FACET_VALUES]])]
        if len(names) > 1 or wanted.values[kind]:
            values = [_facet_value(site, wanted, kind, name, counts.get(name)) for name in names]
            shown.append(Facet(label, _with_distinct_labels(values, names)))
    failed = site.urls.of(
        "search", parameters={**wanted.parameters, "failed": "" if wanted.has_error else "1"}
    )
    errors = counted.error_count if counted else None
    if errors or wanted.has_error:
        shown.append(Facet("Errors", [FacetValue("Failed calls", failed, wanted.has_error, errors)]))
    return shown


def _with_distinct_labels(values: list[FacetValue], names: list[str]) -> list[FacetValue]:
    """The values; those with equal labels have their whole names."""
    labels = Counter(value.label for value in values)
    return [
        value._replace(label=name) if labels[value.label] > 1 else value
        for value, name in zip(values, names, strict=True)
    ]


def _facet_value(site: Site, wanted: SearchRequest, kind: str, value: str, hits: int | None) -> FacetValue:
    chosen = wanted.values[kind]
    others = tuple(each for each in chosen if each != value) if value in chosen else (*chosen, value)
    label = {"source": site.source_title, "project": project_name, "month": _month_name}.get(kind, str)(value)
    address = site.urls.of("search", parameters={**wanted.parameters, kind: others})
    return FacetValue(label, address, value in chosen, hits)


def _month_name(month: str) -> str:
    return f"{datetime.fromisoformat(f'{month}-01'):%B %Y}" if _MONTH.fullmatch(month) else month
