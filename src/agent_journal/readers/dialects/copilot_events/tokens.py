"""Token counts as events state them: of one response, or summed by model."""

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
        """Whether anything is said about what was given or came out."""
        return self.given is not None or self.output is not None

    def plus(self, other: Tokens) -> Tokens:
        """Both together."""
        pairs = zip(self, other, strict=True)
        return Tokens(*(None if a is None and b is None else (a or 0) + (b or 0) for a, b in pairs))

    def minus(self, other: Tokens) -> Tokens:
        """What is beyond another count, at least nothing."""
        pairs = zip(self, other, strict=True)
        return Tokens(*(None if a is None else max(a - (b or 0), 0) for a, b in pairs))

    def covers(self, other: Tokens) -> bool:
        """Whether no count is smaller than another one's."""
        return all((a or 0) >= (b or 0) for a, b in zip(self, other, strict=True))

    def usage(self, key: str, extra: Bag) -> Usage:
        """The counts in the model's terms."""
        given, read, written = self.given, self.cache_read, self.cache_write
        fresh = None if given is None else given - (read or 0) - (written or 0)
        return Usage(
            key=key,
            input=given if fresh is not None and fresh < 0 else fresh,
            output=self.output,
            cache_read=read,
            cache_write=written,
            reasoning=self.reasoning,
            extra=extra,
        )


def stated(raw: Any, note: Notes, where: str) -> Tokens:
    """The counts that an object states, if it is one; it keeps them."""
    if not isinstance(raw, dict):
        return Tokens()
    fields = Fields(dict(raw), note, where)
    return Tokens(*(fields.whole(name) for name in _NAMES))


def by_model(event: Event, note: Notes) -> dict[str, Tokens]:
    """The sums that an event states for each model; it keeps them."""
    sums: dict[str, Tokens] = {}
    for model, metric in _metrics(event.data):
        tokens = stated(metric.get("usage"), note, event.id) if isinstance(metric, dict) else Tokens()
        if tokens.is_stated:
            sums[model] = sums[model].plus(tokens) if model in sums else tokens
    return sums


def _metrics(data: Bag) -> list[tuple[str, Any]]:
    """Models and what is said of them; a checkpoint of 1.0.7x says it in a snapshot, or by provider."""
    snapshot = data.get("accountingSnapshot")
    for where in (data, snapshot if isinstance(snapshot, dict) else {}):
        metrics = where.get("modelMetrics")
        if isinstance(metrics, dict) and metrics:
            return list(metrics.items())
    providers = objects(data.get("providerModelMetrics"))
    return [(model, each.get("metrics")) for each in providers if (model := text_in(each, "modelId"))]


def is_of_the_session(event: Event) -> bool:
    """Whether sums are of the whole session, also where it was resumed, and not of one process.

    Whoever takes over the sums of a session that it resumes, as 1.0.102 does, writes either of these.
    """
    return "usageAccountingWatermarks" in event.data or "accountingSnapshot" in event.data
