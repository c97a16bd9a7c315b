"""Sums become the lines of a report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent_journal import readers
from agent_journal.archive.store import Filter
from agent_journal.usage import PERIODS, Notices, Report, Row, Sums
from agent_journal.usage.periods import Periods
from agent_journal.usage.prices import Prices

if TYPE_CHECKING:
    from datetime import tzinfo

    from agent_journal.archive.store import Holder, Spent, Store
    from agent_journal.config import Config
    from agent_journal.usage import By

# No source is older than 2020; a clock may be a day ahead.
_FIRST_SLOT = 1_577_836_800 // 900
_DAY = 96


def report(
    store: Store,
    config: Config,
    by: By,
    wanted: Filter | None = None,
    *,
    zone: tzinfo | None = None,
    now: int,
    estimate: bool = False,
) -> Report:
    """What was used by day, model, …, in a time zone (None is the machine's).

    `now` is this quarter of an hour since 1970: what is dated after it is noted. With `estimate` there are
    also lines for what sources estimate, and for answers of which nothing is stated.
    """
    wanted = wanted or Filter()
    prices = Prices(config)
    making = Reporting(store, by, prices, zone, now, estimate=estimate)
    by_conversation = by in {"conversation", "project"}
    sizes = prices.sizes(store.used_models())
    for spent in store.usage(wanted, making.periods, sizes=sizes, by_conversation=by_conversation):
        making.add(spent)
    if estimate:
        from agent_journal.usage.estimating import estimated  # noqa: PLC0415 (a tokenizer)

        for spent in estimated(store, wanted, making.periods):
            making.add(spent)
    prices.keep()
    return making.report()


class Reporting:
    """Takes sums, then tells the report they make."""

    def __init__(
        self, store: Store, by: By, prices: Prices, zone: tzinfo | None, now: int, *, estimate: bool
    ) -> None:
        self._by = by
        self._prices = prices
        self._last_slot = now + _DAY
        self._estimate = estimate
        by_hour = prices.change_by_hour(store.used_models())
        self.periods = Periods(by if by in PERIODS else None, zone, by_hour=by_hour)
        self._holders = store.holders() if by in {"conversation", "project"} else {}
        self._rows: dict[tuple[str | int | None, bool], Row] = {}
        self._infos: dict[str, readers.ReaderInfo | None] = {}
        self._notices = Notices()
        self._unpriced: Counter[str] = Counter()

    def add(self, spent: Spent) -> None:
        """Take what was used with one model at one time."""
        notices = self._notices
        if spent.state == "odd":
            _tally(notices.impossible, spent)
            return
        if spent.state == "empty":
            _tally(notices.without_counts, spent)
            return
        if spent.estimated and not self._estimate:
            _tally(notices.estimated, spent)
            return
        self._note_time(spent)
        sums = self._sums(spent)
        if sums.unpriced:
            self._unpriced[spent.model or ""] += sums.unpriced
        row = self._row(spent)
        row.sums.add(sums)
        row.models.setdefault(spent.model, Sums()).add(sums)

    def report(self) -> Report:
        """The report of all that was taken."""
        rows = list(self._rows.values())
        if self._by in PERIODS:
            rows.sort(key=lambda row: (row.name is None, row.name or "", row.is_estimated))
        else:
            rows.sort(key=lambda row: (-row.sums.cost_usd, -row.sums.total, row.name or "", row.is_estimated))
        totals = {False: Sums(), True: Sums()}
        for row in rows:
            totals[row.is_estimated].add(row.sums)
        self._notices.unpriced = dict(sorted(self._unpriced.items()))
        self._notices.undercounts = {
            source: info.undercounts
            for source, info in sorted(self._infos.items())
            if info is not None and info.undercounts
        }
        return Report(
            by=self._by, rows=rows, total=totals[False], estimated=totals[True], notices=self._notices
        )

    def _note_time(self, spent: Spent) -> None:
        slot = self.periods.named[spent.bucket][1]
        if slot is None:
            self._notices.undated += spent.answers
        elif not _FIRST_SLOT <= slot <= self._last_slot:
            self._notices.misdated += spent.answers

    def _sums(self, spent: Spent) -> Sums:
        total = spent.input + spent.output + spent.cache_read + spent.cache_write + spent.other
        sums = Sums(
            messages=spent.answers,
            input=spent.input,
            output=spent.output,
            cache_read=spent.cache_read,
            cache_write=spent.cache_write,
            cache_write_5m=spent.cache_write_5m,
            cache_write_1h=spent.cache_write_1h,
            reasoning=spent.reasoning,
            total=total,
        )
        if spent.is_stated:
            sums.cost_usd = sums.cost_stated_usd = spent.cost_usd or 0.0
            return sums
        info = self._info(spent.source)
        size = 0 if info is not None and info.sums_requests else spent.above
        rates = self._prices.rates(spent.model, self.periods.named[spent.bucket][1], size)
        if rates is None:
            sums.unpriced = total
        else:
            sums.cost_usd = rates.cost(spent)
            sums.unpriced = spent.other  # nobody knows which of them were input
        return sums

    def _info(self, source: str) -> readers.ReaderInfo | None:
        if source not in self._infos:
            self._infos[source] = readers.info(source)
        return self._infos[source]

    def _row(self, spent: Spent) -> Row:
        holder = self._shown(spent.conversation) if self._holders else None
        names: dict[str, str | None] = {"model": spent.model, "source": spent.source}
        if holder is not None:
            names |= {"project": holder.project, "conversation": holder.id}
        name = names.get(self._by, self.periods.named[spent.bucket][0])
        is_own = self._by == "conversation"
        place = (holder.key if holder is not None and is_own else name, bool(spent.estimated))
        row = self._rows.get(place)
        if row is None:
            row = Row(
                name=name, is_estimated=bool(spent.estimated), models={}, holder=holder if is_own else None
            )
            self._rows[place] = row
        return row

    def _shown(self, key: int) -> Holder | None:
        """The conversation whose line it is: what subagents used is shown with the one they work for."""
        seen = set()
        holder = self._holders.get(key)
        while holder is not None and self._by == "conversation" and holder.parent is not None:
            seen.add(holder.key)
            if holder.parent in seen:
                break
            holder = self._holders[holder.parent]
        return holder


def _tally(counts: dict[str, int], spent: Spent) -> None:
    counts[spent.source] = counts.get(spent.source, 0) + spent.answers
