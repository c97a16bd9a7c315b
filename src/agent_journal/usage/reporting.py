"""Build a report from usage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from agent_journal import readers
from agent_journal.archive.store import Filter
from agent_journal.errors import NoSuchName
from agent_journal.usage import GROUPINGS, PERIODS, Notices, Report, Row, TokenTotals
from agent_journal.usage.periods import Periods
from agent_journal.usage.prices import Prices

if TYPE_CHECKING:
    from datetime import tzinfo

    from agent_journal.archive.store import Store, UsageConversation, UsageSum
    from agent_journal.config import Config
    from agent_journal.usage import By

# No source is older than 2020; a clock may be a day ahead.
_FIRST_SLOT = 1_577_836_800 // 900
_SLOTS_PER_DAY = 96


def build_report(
    store: Store,
    config: Config,
    by: By,
    wanted: Filter | None = None,
    *,
    zone: tzinfo | None = None,
    now: int,
    estimate: bool = False,
) -> Report:
    """Report usage by day, model, …, in a time zone (None is the machine's).

    `now` is the current slot (quarters of an hour since 1970); answers dated a day after it are noted. With
    `estimate` there are also rows for counts that sources estimate, and for answers without counts.
    """
    if by not in GROUPINGS:
        raise NoSuchName("usage group", by, GROUPINGS)
    wanted = wanted or Filter()
    prices = Prices(config)
    builder = ReportBuilder(store, by, prices, zone, now, estimate=estimate)
    number = builder.periods.__getitem__
    for usage in store.usage(wanted, number, sizes=builder.sizes, per=builder.per):
        builder.add(usage)
    if estimate:
        from agent_journal.usage.estimating import estimate_usage  # noqa: PLC0415 (a tokenizer)

        for usage in estimate_usage(store, wanted, number):
            builder.add(usage)
    else:
        builder.notices.uncounted = store.uncounted(wanted)
    prices.save_cache()
    return builder.report()


class ReportBuilder:
    """Takes sums, then returns the report they make."""

    def __init__(
        self, store: Store, by: By, prices: Prices, zone: tzinfo | None, now: int, *, estimate: bool
    ) -> None:
        models = store.used_models()
        self._by = by
        self._prices = prices
        self._last_slot = now + _SLOTS_PER_DAY
        self._estimate = estimate
        self.periods = Periods(
            by if by in PERIODS else None,
            zone,
            changes=prices.change_slots(models) | {_FIRST_SLOT, self._last_slot + 1},
            by_hour=prices.vary_by_hour(models),
        )
        self.sizes = prices.price_tiers(models)
        self.per: Literal["conversation", "project"] | None = (
            by if by == "conversation" or by == "project" else None  # noqa: PLR1714 (so that types are narrowed)
        )
        self.notices = Notices()
        self._holders = store.usage_conversations() if by == "conversation" else {}
        self._rows: dict[tuple[str | int | None, bool], Row] = {}
        self._infos: dict[str, readers.ReaderInfo | None] = {}
        self._unpriced: Counter[str] = Counter()

    def add(self, usage: UsageSum) -> None:
        """Add the usage of one model at one time."""
        notices = self.notices
        if usage.state == "odd":
            _count(notices.impossible, usage)
            return
        if usage.state == "empty":
            _count(notices.without_counts, usage)
            return
        if usage.estimated and not self._estimate:
            _count(notices.estimated, usage)
            return
        if usage.state == "partly":
            _count(notices.refused, usage)
        self._note_time(usage)
        cost, unpriced = self._cost(usage)
        if unpriced:
            self._unpriced[usage.model or ""] += unpriced
        row = self._row(usage)
        sums = row.models.get(usage.model)
        if sums is None:
            sums = row.models[usage.model] = TokenTotals()
        sums.add(usage, cost, unpriced)

    def report(self) -> Report:
        """Return the report of all usage added."""
        rows = list(self._rows.values())
        for row in rows:
            row.sums = TokenTotals.combine(list(row.models.values()))
        if self._by in PERIODS:
            rows.sort(key=lambda row: (row.name is None, row.name or "", row.is_estimated))
        else:
            rows.sort(key=lambda row: (-row.sums.cost_usd, -row.sums.total, row.name or "", row.is_estimated))
        self.notices.unpriced = dict(sorted(self._unpriced.items()))
        self.notices.undercounts = {
            source: info.undercounts
            for source, info in sorted(self._infos.items())
            if info is not None and info.undercounts
        }
        return Report(
            by=self._by,
            rows=rows,
            total=TokenTotals.combine([row.sums for row in rows if not row.is_estimated]),
            estimated=TokenTotals.combine([row.sums for row in rows if row.is_estimated]),
            notices=self.notices,
        )

    def _note_time(self, usage: UsageSum) -> None:
        slot = self.periods.slots[usage.bucket][1]
        if slot is None:
            self.notices.undated += usage.answers
        elif not _FIRST_SLOT <= slot <= self._last_slot:
            self.notices.misdated += usage.answers

    def _cost(self, usage: UsageSum) -> tuple[float, int]:
        """Return the cost, and the number of tokens without a price."""
        info = self._info(usage.source)
        if usage.is_stated:
            return usage.cost_usd or 0.0, 0
        size = 0 if info is not None and info.sums_requests else usage.price_tier_threshold
        rates = self._prices.rates(usage.model, self.periods.slots[usage.bucket][1], size)
        if rates is None:
            return 0.0, usage.total
        return rates.cost(usage), usage.other  # unknown whether these were input or output

    def _info(self, source: str) -> readers.ReaderInfo | None:
        if source not in self._infos:
            self._infos[source] = readers.info(source)
        return self._infos[source]

    def _row(self, usage: UsageSum) -> Row:
        holder = self._row_holder(usage.conversation) if self._holders else None
        key = (self._name(usage) if holder is None else holder.key, bool(usage.estimated))
        row = self._rows.get(key)
        if row is None:
            name = self._name(usage) if holder is None else holder.id
            row = Row(name=name, is_estimated=bool(usage.estimated), models={}, holder=holder)
            self._rows[key] = row
        return row

    def _name(self, usage: UsageSum) -> str | None:
        """Return the name of the row."""
        if self._by == "model":
            return usage.model
        if self._by == "source":
            return usage.source
        if self._by == "project":
            return usage.project
        return self.periods.slots[usage.bucket][0]

    def _row_holder(self, key: int) -> UsageConversation | None:
        """Return the conversation of the row: usage of subagents and duplicates counts for their parent."""
        holder = self._holders.get(key)
        visited = set()
        while holder is not None and holder.parent is not None:
            visited.add(holder.key)
            if holder.parent in visited:
                break
            holder = self._holders[holder.parent]
        return holder


def _count(counts: dict[str, int], usage: UsageSum) -> None:
    counts[usage.source] = counts.get(usage.source, 0) + usage.answers
