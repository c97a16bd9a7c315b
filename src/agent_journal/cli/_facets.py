"""How many messages match a search, by source, project, model and more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.terminal import out, say, show_json
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.search.facets import Facets, FacetValue

_MAX_SHOWN_VALUES = 10
_CHRONOLOGICAL = "month"


def show_facets(facets: Facets, *, as_json: bool) -> None:
    """Print facets: of each, the most frequent values, and the newest months."""
    if as_json:
        show_json(facets.to_dict())
        return
    if not facets.has_all_words:
        say("aj: No message contains all of these words; counting those that contain some.")
    sink = out()
    failures = f", {facets.error_count:,} with an error" if facets.error_count else ""
    sink.line(("strong", count(facets.total, "message")), failures)
    for name, values in facets.values.items():
        latest_first = values[::-1] if name == _CHRONOLOGICAL else values
        if values:
            sink.line(("dim", f"{name:>8}  "), _joined(latest_first))


def _joined(values: Sequence[FacetValue]) -> str:
    """Return values with their counts on one line."""
    shown = [f"{each.value} {each.matches:,}" for each in values[:_MAX_SHOWN_VALUES]]
    hidden = len(values) - len(shown)
    return " · ".join([*shown, f"+ {hidden:,} more"] if hidden else shown)
