"""Sums become the lines of a report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from agent_journal import readers
from agent_journal.archive.store import Filter
from agent_journal.errors import NoSuchName
from agent_journal.usage import PERIODS, WAYS, Notices, Report, Row, Sums
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
    if by not in WAYS:
        raise NoSuchName("way to sum up usage", by, WAYS)
    wanted = wanted or Filter()
    prices = Prices(config)
    making = Reporting(store, by, prices, zone, now, estimate=estimate)
    number = making.periods.__getitem__
    for spent in store.usage(wanted, number, sizes=making.sizes, per=making.per):
        making.add(spent)
    if estimate:
        from agent_journal.usage.estimating import estimated  # noqa: PLC0415 (a tokenizer)

        for spent in estimated(store, wanted, number):
            making.add(spent)
    else:
        making.notices.uncounted = store.uncounted(wanted)
    prices.keep()
    return making.report()


class Reporting:
    """Takes sums, then tells the report they make."""

    def __init__(
        self, store: Store, by: By, prices: Prices, zone: tzinfo | None, now: int, *, estimate: bool
    ) -> None:
        models = store.used_models()
        self._by = by
        self._prices = prices
        self._last_slot = now + _DAY
        self._estimate = estimate
        self.periods = Periods(
            by if by in PERIODS else None,
            zone,
            changes=prices.changes(models) | {_FIRST_SLOT, self._last_slot + 1},
            by_hour=prices.change_by_hour(models),
        )
        self.sizes = prices.sizes(models)
        self.per: Literal["conversation", "project"] | None = (
            by if by == "conversation" or by == "project" else None  # noqa: PLR1714 (so that types are told)
        )
        self.notices = Notices()
        self._holders = store.holders() if by == "conversation" else {}
        self._rows: dict[tuple[str | int | None, bool], Row] = {}
        self._infos: dict[str, readers.ReaderInfo | None] = {}
        self._unpriced: Counter[str] = Counter()

    def add(self, spent: Spent) -> None:
        """Take what was used with one model at one time."""
        notices = self.notices
        if spent.state == "odd":
            _tally(notices.impossible, spent)
            return
        if spent.state == "empty":
            _tally(notices.without_counts, spent)
            return
        if spent.estimated and not self._estimate:
            _tally(notices.estimated, spent)
            return
        if spent.state == "partly":
            _tally(notices.refused, spent)
        self._note_time(spent)
        cost, unpriced = self._cost(spent)
        if unpriced:
            self._unpriced[spent.model or ""] += unpriced
        row = self._row(spent)
        sums = row.models.get(spent.model)
        if sums is None:
            sums = row.models[spent.model] = Sums()
        sums.take(spent, cost, unpriced)

    def report(self) -> Report:
        """The report of all that was taken."""
        rows = list(self._rows.values())
        for row in rows:
            row.sums = Sums.of(list(row.models.values()))
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
            total=Sums.of([row.sums for row in rows if not row.is_estimated]),
            estimated=Sums.of([row.sums for row in rows if row.is_estimated]),
            notices=self.notices,
        )

    def _note_time(self, spent: Spent) -> None:
        slot = self.periods.named[spent.bucket][1]
        if slot is None:
            self.notices.undated += spent.answers
        elif not _FIRST_SLOT <= slot <= self._last_slot:
            self.notices.misdated += spent.answers

    def _cost(self, spent: Spent) -> tuple[float, int]:
        """What tokens cost, and how many of them have no price."""
        info = self._info(spent.source)
        if spent.is_stated:
            return spent.cost_usd or 0.0, 0
        size = 0 if info is not None and info.sums_requests else spent.above
        rates = self._prices.rates(spent.model, self.periods.named[spent.bucket][1], size)
        if rates is None:
            return 0.0, spent.total
        return rates.cost(spent), spent.other  # of these nobody knows which were input

    def _info(self, source: str) -> readers.ReaderInfo | None:
        if source not in self._infos:
            self._infos[source] = readers.info(source)
        return self._infos[source]

    def _row(self, spent: Spent) -> Row:
        holder = self._shown(spent.conversation) if self._holders else None
        place = (self._name(spent) if holder is None else holder.key, bool(spent.estimated))
        row = self._rows.get(place)
        if row is None:
            name = self._name(spent) if holder is None else holder.id
            row = Row(name=name, is_estimated=bool(spent.estimated), models={}, holder=holder)
            self._rows[place] = row
        return row

    def _name(self, spent: Spent) -> str | None:
        """What the line is called that it belongs to."""
        if self._by == "model":
            return spent.model
        if self._by == "source":
            return spent.source
        if self._by == "project":
            return spent.project
        return self.periods.named[spent.bucket][0]

    def _shown(self, key: int) -> Holder | None:
        """The conversation whose line it is: what subagents and twins used is shown with another one."""
        holder = self._holders.get(key)
        seen = set()
        while holder is not None and holder.parent is not None:
            seen.add(holder.key)
            if holder.parent in seen:
                break
            holder = self._holders[holder.parent]
        return holder


def _tally(counts: dict[str, int], spent: Spent) -> None:
    counts[spent.source] = counts.get(spent.source, 0) + spent.answers
