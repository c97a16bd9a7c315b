"""Count the entries that match a query by source, project, model, tool and other values.

All values that filters use are one column of the index, so one pass over the matching entries is enough.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.search.query import FACT_FIELD
from agent_journal.search.reach import WEEK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import tantivy

    from agent_journal.search.reach import Week

KINDS = {
    "source": "source",
    "project": "project",
    "model": "model",
    "role": "role",
    "tool": "tools",
    "branch": "branch",
}
"""The facets, in the order in which they are shown, with the kind of their values in the index."""
_MONTH = "month"
_MAX_VALUES = 50_000  # Tantivy refuses to count more than 65,000


class FacetValue(NamedTuple):
    """A value, and how many of the matching messages have it."""

    value: str
    matches: int


class Facets(NamedTuple):
    """Numbers of the messages, titles and memories that match a query."""

    total: int = 0
    error_count: int = 0
    """Messages with a tool call that failed."""
    values: dict[str, list[FacetValue]] = {}
    """By `source`, `project`, `model`, `role`, `tool` (names and kinds) and `branch`, the most frequent value
    first; by `month` (in this machine's time zone), the first month first."""
    has_all_words: bool = True
    """Whether they have all words of the query; if nothing has, they have at least one."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "total": self.total,
            "has_all_words": self.has_all_words,
            "has_error": self.error_count,
            **{name: [each._asdict() for each in values] for name, values in self.values.items()},
        }


def count_facets(searcher: tantivy.Searcher, query: tantivy.Query, weeks: Iterable[Week]) -> Facets:
    """Return the facets of what matches a query; `weeks` are all weeks in the index."""
    months = _months(weeks)
    terms = {"field": FACT_FIELD, "size": _MAX_VALUES, "segment_size": _MAX_VALUES}
    aggregations: dict[str, Any] = {"facts": {"terms": terms}, "total": {"value_count": {"field": "key"}}}
    if months:
        ranges = [{"from": start, "to": end} for start, end in months.values()]
        aggregations[_MONTH] = {"range": {"field": "at", "ranges": ranges}}
    results = searcher.aggregate(query, aggregations)
    by_kind: dict[str, list[FacetValue]] = defaultdict(list)
    for bucket in results["facts"]["buckets"]:
        kind, _, value = bucket["key"].partition(":")
        by_kind[kind].append(FacetValue(value, bucket["doc_count"]))
    values = {
        name: sorted(by_kind[kind], key=lambda each: (-each.matches, each.value))
        for name, kind in KINDS.items()
    }
    counts = {each.get("from"): each["doc_count"] for each in results[_MONTH]["buckets"]} if months else {}
    values[_MONTH] = [
        FacetValue(name, counts[start]) for name, (start, _) in months.items() if counts.get(start)
    ]
    errors = sum(each.matches for each in by_kind["has"] if each.value == "error")
    return Facets(int(results["total"]["value"]), errors, values)


def _months(weeks: Iterable[Week]) -> dict[str, tuple[int, int]]:
    """Return the months that some weeks are part of, with their first second and that of the next."""
    months = {}
    for week in sorted({int(each.name) for each in weeks}):
        for at in (week * WEEK_SECONDS, (week + 1) * WEEK_SECONDS - 1):
            with suppress(ValueError, OverflowError, OSError):  # of no calendar
                day = datetime.fromtimestamp(at)  # noqa: DTZ006 (people mean their own months)
                first = day.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
                following = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
                bounds = int(first.timestamp()), int(following.timestamp())
                months[f"{first:%Y-%m}"] = bounds
    return months
