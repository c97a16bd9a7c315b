"""Token counts of events: of one response, or totals per model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding.fields import Fields, objects
from agent_journal.model import Usage
from agent_journal.readers.dialects.copilot_events.events import text_in

if TYPE_CHECKING:
    from agent_journal.model import Bag, Event
    from agent_journal.notes import Notes

_NAMES = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens")


class Tokens(NamedTuple):
    """Counts under the vendor's names; `given` includes what was read from and written to a cache."""

    given: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    @property
    def is_stated(self) -> bool:
        """Whether input or output tokens are known."""
        return self.given is not None or self.output is not None

    def plus(self, other: Tokens) -> Tokens:
        """Add two counts."""
        pairs = zip(self, other, strict=True)
        return Tokens(*(None if a is None and b is None else (a or 0) + (b or 0) for a, b in pairs))

    def minus(self, other: Tokens) -> Tokens:
        """Subtract another count; the results are at least zero."""
        pairs = zip(self, other, strict=True)
        return Tokens(*(None if a is None else max(a - (b or 0), 0) for a, b in pairs))

    def covers(self, other: Tokens) -> bool:
        """Return whether no count is smaller than the other's."""
        return all((a or 0) >= (b or 0) for a, b in zip(self, other, strict=True))

    def usage(self, key: str, extra: Bag) -> Usage:
        """Convert the counts to the model's usage."""
        given, read, written = self.given, self.cache_read, self.cache_write
        uncached = None if given is None else given - (read or 0) - (written or 0)
        return Usage(
            key=key,
            input=given if uncached is not None and uncached < 0 else uncached,
            output=self.output,
            cache_read=read,
            cache_write=written,
            reasoning=self.reasoning,
            extra=extra,
        )


def stated(raw: Any, note: Notes, location: str) -> Tokens:
    """Return the counts of an object, which is not modified."""
    if not isinstance(raw, dict):
        return Tokens()
    fields = Fields(dict(raw), note, location)
    return Tokens(*(fields.whole(name) for name in _NAMES))


def by_model(event: Event, note: Notes) -> dict[str, Tokens]:
    """Return the totals per model of an event, which is not modified."""
    totals: dict[str, Tokens] = {}
    for model, metric in _metrics(event.data):
        tokens = stated(metric.get("usage"), note, event.id) if isinstance(metric, dict) else Tokens()
        if tokens.is_stated:
            totals[model] = totals[model].plus(tokens) if model in totals else tokens
    return totals


def _metrics(data: Bag) -> list[tuple[str, Any]]:
    """Return the models and their metrics; a checkpoint of 1.0.7x has them in a snapshot, or by provider."""
    snapshot = data.get("accountingSnapshot")
    for location in (data, snapshot if isinstance(snapshot, dict) else {}):
        metrics = location.get("modelMetrics")
        if isinstance(metrics, dict) and metrics:
            return list(metrics.items())
    providers = objects(data.get("providerModelMetrics"))
    return [
        (model, provider.get("metrics")) for provider in providers if (model := text_in(provider, "modelId"))
    ]


def covers_session(event: Event) -> bool:
    """Return whether totals cover the entire session, also after it was resumed, not only one process.

    Versions that continue the totals of a resumed session, such as 1.0.102, write one of these fields.
    """
    return "usageAccountingWatermarks" in event.data or "accountingSnapshot" in event.data
