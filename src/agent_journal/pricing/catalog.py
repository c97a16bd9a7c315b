"""The prices of vendors' APIs, from the package genai-prices, which works offline.

Importing it takes longer than a whole report, so prices that were looked up are cached in a file, which is
replaced when the package changes.
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


class _CacheFile(msgspec.Struct):
    """The cache file: the version of the package, and the offers by model, None if it has no price."""

    of: str
    models: dict[str, list[Offer] | None]


class Catalog:
    """Prices by model; `path` is the cache file, None for no cache."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._package_version = _version_stamp()
        self._models = self._read()
        self._is_changed = False

    def offers(self, model: str) -> list[Offer] | None:
        """Return the offers of a model; None if unknown."""
        if model not in self._models:
            self._models[model] = _look_up(model)
            self._is_changed = True
        return self._models[model]

    def save_cache(self) -> None:
        """Save prices that were looked up; if that is not allowed, they are looked up again next time."""
        if not self._is_changed or self._path is None:
            return
        data = msgspec.json.encode(_CacheFile(self._package_version, dict(sorted(self._models.items()))))
        with suppress(CannotWrite, OSError):
            files.write_bytes(str(self._path), data)
        self._is_changed = False

    def _read(self) -> dict[str, list[Offer] | None]:
        if self._path is None:
            return {}
        try:
            cache = msgspec.json.decode(self._path.read_bytes(), type=_CacheFile)
        except (OSError, msgspec.MsgspecError, UnicodeError):
            return {}
        return (
            cache.models
            if cache.of == self._package_version and all(map(_is_valid, cache.models.values()))
            else {}
        )


def _is_valid(offers: list[Offer] | None) -> bool:
    return offers is None or (bool(offers) and all(each.rates and each.rates[0][0] == 0 for each in offers))


def _version_stamp() -> str:
    """Return a value that changes with the version of the package, without importing it."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return ""
    status = os.stat(os.path.join(os.path.dirname(spec.origin), "data.py"))  # noqa: PTH116, PTH118, PTH120
    return f"{status.st_size}-{status.st_mtime_ns}"


def _look_up(model: str) -> list[Offer] | None:
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 (takes half a second)

    snapshot = get_snapshot()
    for name, vendor in _names(model):
        try:
            _, model_prices = snapshot.find_provider_model(name, None, vendor, None)
        except LookupError:
            continue
        return _offers(model_prices.prices)
    return None


def _names(model: str) -> Iterator[tuple[str, str | None]]:
    """Yield possible names: routers prefix the vendor, clouds also a region."""
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
    offers = []
    for price in prices:
        rates = _rates(price.prices)
        if rates is not None:
            offers.append(_constrained_offer(rates, price.constraint))
    return offers or None


def _constrained_offer(rates: list[tuple[int, Rates]], constraint: Any) -> Offer:
    if constraint is None:
        return Offer(rates)
    if hasattr(constraint, "start_date"):
        return Offer(rates, since=(constraint.start_date - _FIRST_DAY).days)
    return Offer(rates, hours=(_minute_of_day(constraint.start_time), _minute_of_day(constraint.end_time)))


def _minute_of_day(at: Any) -> int:
    time = datetime.combine(_FIRST_DAY, at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    return time.hour * 60 + time.minute


def _rates(prices: Any) -> list[tuple[int, Rates]] | None:
    """Return rates by prompt size; token kinds without a price cost as much as input."""
    prices_by_kind = [
        getattr(prices, f"{name}_mtok", None)
        for name in ("input", "output", "cache_read", "cache_write", "cache_write_1h")
    ]
    if prices_by_kind[0] is None and prices_by_kind[1] is None:
        return None
    starts = sorted({tier.start for price in prices_by_kind for tier in getattr(price, "tiers", ())})
    return [(size, _rates_at_size(prices_by_kind, size)) for size in (0, *starts)]


def _rates_at_size(prices_by_kind: list[Any], size: int) -> Rates:
    input_price, output_price, read, written, hour = (_price(each, size) for each in prices_by_kind)
    base = input_price or 0.0
    write_price = base if written is None else written
    return Rates(
        base,
        output_price or 0.0,
        base if read is None else read,
        write_price,
        write_price if hour is None else hour,
    )


def _price(price: Any, size: int) -> float | None:
    if price is None:
        return None
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= size]
    return float(tiers[-1] if tiers else getattr(price, "base", price))
