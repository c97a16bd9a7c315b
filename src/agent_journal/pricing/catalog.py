"""The prices of vendors' APIs, out of the package genai-prices, which has them without asking anybody.

Importing it takes longer than a whole report: what it says of a model is kept in a file, which is made anew
when the package changes.
"""

from __future__ import annotations

import importlib.util
import os
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import files
from agent_journal.errors import CannotWrite
from agent_journal.pricing import Offer, Rates

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PACKAGE = "genai_prices"
_FIRST_DAY = date(1970, 1, 1)


class _Kept(msgspec.Struct):
    """The file: of which package, and by model its offers, None where it has no price."""

    of: str
    models: dict[str, list[Offer] | None]


class Catalog:
    """Prices by model; `path` is where to keep what was looked up, None to keep nothing."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._of = _stamp()
        self._models = self._read()
        self._is_new = False

    def offers(self, model: str) -> list[Offer] | None:
        """What a model costs when; None if that is not known."""
        if model not in self._models:
            self._models[model] = _looked_up(model)
            self._is_new = True
        return self._models[model]

    def keep(self) -> None:
        """Write down what was looked up; where that is not allowed, it is looked up again."""
        if not self._is_new or self._path is None:
            return
        data = msgspec.json.encode(_Kept(self._of, dict(sorted(self._models.items()))))
        with suppress(CannotWrite, OSError):
            files.write_bytes(str(self._path), data)
        self._is_new = False

    def _read(self) -> dict[str, list[Offer] | None]:
        if self._path is None:
            return {}
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=_Kept)
        except (OSError, msgspec.MsgspecError, UnicodeError):
            return {}
        return kept.models if kept.of == self._of and all(map(_is_sound, kept.models.values())) else {}


def _is_sound(offers: list[Offer] | None) -> bool:
    return offers is None or (bool(offers) and all(each.rates and each.rates[0][0] == 0 for each in offers))


def _stamp() -> str:
    """What tells one version of the package from another, without importing it."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return ""
    found = os.stat(os.path.join(os.path.dirname(spec.origin), "data.py"))  # noqa: PTH116, PTH118, PTH120
    return f"{found.st_size}-{found.st_mtime_ns}"


def _looked_up(model: str) -> list[Offer] | None:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 (takes half a second)

    snapshot = get_snapshot()
    for name, vendor in _names(model):
        try:
            _, found = snapshot.find_provider_model(name, None, vendor, None)
        except LookupError:
            continue
        return _offers(found.prices)
    return None


def _names(model: str) -> Iterator[tuple[str, str | None]]:
    """How a model may be called there: routers put the vendor before its name, clouds a region too."""
    yield model, None
    vendor, slash, name = model.partition("/")
    if slash and name:
        yield name, vendor
        yield name, None
        yield model, "openrouter"
    if "." in model:
        yield model, "aws"


def _offers(prices: Any) -> list[Offer] | None:
    if not isinstance(prices, list):
        rates = _rates(prices)
        return None if rates is None else [Offer(rates)]
    found = []
    for each in prices:
        rates = _rates(each.prices)
        if rates is not None:
            found.append(_constrained(rates, each.constraint))
    return found or None


def _constrained(rates: list[tuple[int, Rates]], constraint: Any) -> Offer:
    if constraint is None:
        return Offer(rates)
    if hasattr(constraint, "start_date"):
        return Offer(rates, since=(constraint.start_date - _FIRST_DAY).days)
    return Offer(rates, hours=(_minute(constraint.start_time), _minute(constraint.end_time)))


def _minute(at: Any) -> int:
    moment = datetime.combine(_FIRST_DAY, at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    return moment.hour * 60 + moment.minute


def _rates(prices: Any) -> list[tuple[int, Rates]] | None:
    """Prices by the size of the prompt; what has none of its own costs as input does."""
    named = [
        getattr(prices, f"{name}_mtok", None)
        for name in ("input", "output", "cache_read", "cache_write", "cache_write_1h")
    ]
    if named[0] is None and named[1] is None:
        return None
    starts = sorted({tier.start for price in named for tier in getattr(price, "tiers", ())})
    return [(size, _at(named, size)) for size in (0, *starts)]


def _at(named: list[Any], size: int) -> Rates:
    given, came, read, written, hour = (_price(each, size) for each in named)
    fresh = given or 0.0
    first = fresh if written is None else written
    return Rates(fresh, came or 0.0, fresh if read is None else read, first, first if hour is None else hour)


def _price(price: Any, size: int) -> float | None:
    if price is None:
        return None
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= size]
    return float(tiers[-1] if tiers else getattr(price, "base", price))
