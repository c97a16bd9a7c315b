"""`search`: hits in this project first, then in all others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.text_encoding import encodable
from agent_journal.journal import Filter
from agent_journal.journal.recent import project_folder
from agent_journal.mcp.answers import fitting, without_empty
from agent_journal.mcp.arguments import offsets, seconds
from agent_journal.mcp.excerpts import one_line, relative, snippet_of
from agent_journal.mcp.tools.filters import project_text
from agent_journal.mcp.tools.list import shown_project
from agent_journal.search.query import Filters, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.journal import Answer, Hit
    from agent_journal.mcp.answers import Call
    from agent_journal.search.query import Query

_DEFAULT_LIMIT = 10
_PROJECT_SHARE = 0.6
"""How much of a page is for the project, if there are enough hits elsewhere."""
_MAX_TITLE_CHARS = 120
_MAX_SNIPPET_CHARS = 400
_NOBODY = (-1,)


class _Place(NamedTuple):
    """Where to search: `keys` are the conversations of the project, in which or outside of which hits are."""

    keys: frozenset[int] | None
    is_inside: bool

    def has(self, key: int) -> bool:
        return self.keys is None or (key in self.keys) == self.is_inside


class _Candidate(NamedTuple):
    """A hit, and how many hits of its place were looked at up to it."""

    place: int
    hit: Hit
    position: int


def search(call: Call) -> dict[str, Any]:
    """Return the best hits, with a cursor if there are more."""
    given = call.arguments
    limit: int = given.get("limit", _DEFAULT_LIMIT)
    skipped = offsets(call.tool, given, 2)
    query = parse(encodable(given["query"]), _filters(call), time.time())
    places = _places(call)
    answers = [
        _ask(call, query, place, limit, offset) for place, offset in zip(places, skipped, strict=False)
    ]
    candidates = [
        [_Candidate(number, hit, at) for at, hit in _visible(call, answer, place)]
        for number, (answer, place) in enumerate(zip(answers, places, strict=True))
    ]
    page = _page(candidates, limit)
    data: dict[str, Any] = {}
    corrections = {each.typed: [*each.meant] for answer in answers for each in answer.corrections}
    if corrections and not call.scope.is_limited:  # they may be words of any conversation
        data["also_searched"] = corrections
    incomplete = _describe_missing(answers)
    if incomplete:
        data["incomplete"] = incomplete
    count = fitting(call, data, "hits", (_item(call, each.hit, query) for each in page))
    _add_cursor(data, skipped, answers, candidates, page[:count])
    return data


def _describe_missing(answers: list[Answer]) -> str:
    """Say what could not be searched, and how to change that."""
    if any(answer.problem for answer in answers):
        return "The search index cannot be used; the newest messages were searched. 'aj reindex' rebuilds it."
    if any(not answer.is_whole for answer in answers):
        return "The search index lacks messages; not all of them were searched. 'aj sync' updates it."
    if any(answer.unembedded_count for answer in answers):
        return "Some messages were searched by their words only. 'aj embed' prepares semantic search."
    return ""


def _filters(call: Call) -> Filters:
    given = call.arguments
    project = project_text(call)
    return Filters(
        projects=(project,) if project else (),
        sources=(encodable(given["source"]),) if "source" in given else (),
        roles=(given["role"],) if "role" in given else (),
        tools=(encodable(given["tool"]),) if "tool" in given else (),
        since=seconds(call.tool, given, "since"),
        until=seconds(call.tool, given, "until"),
    )


def _places(call: Call) -> list[_Place]:
    """Return where to search: the project and then elsewhere, unless the call names a project."""
    everywhere = [_Place(None, is_inside=True)]
    if "project" in call.arguments:
        return everywhere
    here = Filter(folder=project_folder(call.scope.folder), with_children=True)
    keys = frozenset(call.journal.selected(call.scope.within(here)))
    return [_Place(keys, is_inside=True), _Place(keys, is_inside=False)] if keys else everywhere


def _ask(call: Call, query: Query, place: _Place, limit: int, offset: int) -> Answer:
    """Search in one place; what is outside of the scope is not even searched."""
    keys = place.keys if place.is_inside else None
    if keys is None and call.scope.is_limited:
        keys = frozenset(call.journal.selected(call.scope.within(Filter(with_children=True))))
        if not place.is_inside and place.keys is not None:
            keys -= place.keys
    if keys is not None:
        query = query._replace(filters=query.filters + Filters(conversations=tuple(sorted(keys)) or _NOBODY))
    elif not place.is_inside and place.keys is not None:
        limit += limit  # hits of the project are left out
    return call.journal.search(query, limit, offset, whole=True)


def _visible(call: Call, answer: Answer, place: _Place) -> Iterator[tuple[int, Hit]]:
    """Yield the hits that may be returned with their positions, counted from 1."""
    keys = {hit.conversation.key for hit in answer.hits if hit.conversation is not None}
    keys.update(other.key for hit in answer.hits for other in hit.others)
    visible = call.scope.visible(call.journal, keys)
    for at, hit in enumerate(answer.hits, 1):
        if hit.conversation is None:  # a memory
            if not call.scope.is_limited and not (place.keys is not None and place.is_inside):
                yield at, hit
        elif hit.conversation.key in visible and place.has(hit.conversation.key):
            yield at, hit._replace(others=[each for each in hit.others if each.key in visible])


def _page(candidates: list[list[_Candidate]], limit: int) -> list[_Candidate]:
    """Choose the hits of a page: of the project first, but not only if there are others."""
    first, *others = candidates
    if not others:
        return first[:limit]
    elsewhere = others[0]
    own = first[: max(int(limit * _PROJECT_SHARE), limit - len(elsewhere))]
    return [*own, *elsewhere[: limit - len(own)]]


def _add_cursor(
    data: dict[str, Any],
    skipped: list[int],
    answers: list[Answer],
    candidates: list[list[_Candidate]],
    returned: list[_Candidate],
) -> None:
    """Add where the next page begins, if there is more."""
    has_more = False
    for number, answer in enumerate(answers):
        positions = [each.position for each in returned if each.place == number]
        if len(positions) == len(candidates[number]):  # what follows cannot be returned
            skipped[number] += len(answer.hits)
            has_more = has_more or answer.has_more
        else:
            skipped[number] += positions[-1] if positions else 0
            has_more = True
    if has_more:
        data["next_cursor"] = ".".join(map(str, skipped))


def _item(call: Call, hit: Hit, query: Query) -> dict[str, Any]:
    listed, entry = hit.conversation, hit.entry
    title, snippet = snippet_of(hit, query)
    project = listed.project if listed is not None else None
    if not call.arguments.get("absolute_paths"):
        snippet = relative(snippet, project)
        project = shown_project(call, project)
    return without_empty(
        {
            "conversation": listed.id if listed is not None else None,
            "message": entry.message,
            "source": listed.source if listed is not None else entry.source,
            "project": project,
            "title": one_line(title, _MAX_TITLE_CHARS),
            "role": entry.role if listed is not None else "memory",
            "at": entry.at,
            "snippet": one_line(snippet, _MAX_SNIPPET_CHARS),
            "more_hits": len(hit.others),
        }
    )
