"""What tokens cost: by a person's prices, by the catalog, by date, size and hour."""

from __future__ import annotations

import json
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal import config, pricing
from agent_journal.archive.sqlite.schema import PRICE_TIER_TOKENS
from agent_journal.model import Message, Usage
from agent_journal.pricing import Offer, Rates, calculate_cost, rates_at
from agent_journal.pricing.catalog import Catalog
from agent_journal.usage.prices import Prices
from tests.examples import examples

# Document 000's table.
PRICING = {
    "claude-sonnet-4-5": Rates(3.00, 15.00, 0.30, 3.75, 3.75),
    "gpt-4": Rates(30.00, 60.00, 0, 0, 0),
}
MODELS = (
    "claude-sonnet-4-5-20250929", "claude-opus-4-5", "claude-3-5-haiku-20241022", "gpt-5-codex", "gpt-4",
    "o3", "gemini-2.5-pro", "deepseek-chat", "grok-3", "anthropic/claude-3-haiku",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("somebody asks the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_the_cost_is_what_document_000_computes() -> None:
    usage = Usage(input=1_000_000, output=200_000, cache_read=2_000_000, cache_write=400_000)

    assert 3.00 + 3.00 + 0.60 + 1.50 == pytest.approx(calculate_cost(usage, "claude-sonnet-4-5", PRICING))
    assert 30.00 + 12.00 == pytest.approx(calculate_cost(usage, "gpt-4", PRICING))
    assert 0.03 == pytest.approx(calculate_cost(Usage(input=1_000), "gpt-4", PRICING))


def test_an_unknown_model_costs_nothing_as_in_document_000() -> None:
    assert calculate_cost(Usage(input=1_000_000, output=5), "who-knows", PRICING) == 0


@pytest.mark.parametrize("name", ["gpt-4-20240101", "gpt-4-2024-01-01", "gpt-4@20240101"])
def test_a_price_holds_for_dated_versions_of_a_model(name: str) -> None:
    assert calculate_cost(Usage(input=1_000_000), name, PRICING) == 30


def test_a_price_does_not_hold_for_other_models() -> None:
    assert calculate_cost(Usage(input=1_000_000), "gpt-4-turbo", PRICING) == 0


def test_an_hour_in_the_cache_has_its_own_price() -> None:
    rates = Rates(3, 15, 0.3, 3.75, 6)

    assert 3.75 + 6 == pytest.approx(rates.cost(Usage(cache_write=2_000_000, cache_write_1h=1_000_000)))


def test_prices_hold_from_a_day_on_and_at_some_hours() -> None:
    cheap, dear, night = (Rates(price, 0, 0, 0, 0) for price in (1, 2, 0.5))
    since = [Offer([(0, dear)]), Offer([(0, cheap)], since=100)]
    hours = [Offer([(0, dear)]), Offer([(0, night)], hours=(22 * 60, 2 * 60))]

    assert [dear, cheap] == [rates_at(since, day * 96) for day in (99, 100)]
    assert [night, dear, dear, night] == [rates_at(hours, 96 + hour * 4) for hour in (1, 2, 21, 22)]
    assert cheap == rates_at(since, None)


def test_a_price_may_depend_on_the_size_of_the_prompt() -> None:
    small, large = Rates(1, 0, 0, 0, 0), Rates(2, 0, 0, 0, 0)
    offers = [Offer([(0, small), (200_000, large)])]

    assert [small, small, large, large] == [
        rates_at(offers, 1, size) for size in (0, 128_000, 200_000, 272_000)
    ]


@settings(max_examples=examples(60), deadline=None)
@given(
    model=st.sampled_from(MODELS),
    at=st.datetimes(datetime(2024, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001 (given as UTC below)
    counts=st.tuples(*[st.integers(0, 300_000)] * 4, st.integers(0, 100)),
)
def test_the_cost_is_what_the_catalog_itself_computes(
    model: str, at: datetime, counts: tuple[int, int, int, int, int]
) -> None:
    import genai_prices  # noqa: PLC0415 (slow)

    sent, out, read, written, share = counts
    hour = written * share // 100
    at = at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0, tzinfo=UTC)
    usage = Usage(input=sent, output=out, cache_read=read, cache_write=written, cache_write_1h=hour)
    offers = Catalog(None).offers(model)
    assert offers is not None
    size = max((each for each in PRICE_TIER_TOKENS if sent + read + written > each), default=0)
    ours = rates_at(offers, int(at.timestamp()) // 900, size).cost(usage)
    vendor, _, name = model.rpartition("/")
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=sent + read + written, output_tokens=out, cache_read_tokens=read,
            cache_write_tokens=written, cache_write_1h_tokens=hour,
        ),
        name,
        provider_id=vendor or None,
        genai_request_timestamp=at,
    )  # fmt: skip

    assert float(theirs.total_price) == pytest.approx(ours)


def test_sums_are_stored_for_every_size_that_prices_depend_on() -> None:
    from genai_prices.data import providers  # noqa: PLC0415 (slow)

    starts = {
        start
        for provider in providers
        for model in provider.models
        for offers in [Catalog(None).offers(f"{provider.id}/{model.id}")]
        for offer in offers or []
        for start, _ in offer.rates
    }

    assert starts <= {0, *PRICE_TIER_TOKENS}


def test_what_was_looked_up_is_cached_until_the_package_changes(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    first = Catalog(path)
    offers = first.offers("gpt-5-codex")
    assert first.offers("who-knows") is None
    first.save_cache()
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert ["gpt-5-codex", "who-knows"] == list(kept["models"])

    kept["models"]["gpt-5-codex"] = [[[[0, [1, 2, 3, 4, 5]]], None, None]]
    path.write_text(json.dumps(kept), encoding="utf-8")
    assert [Offer([(0, Rates(1, 2, 3, 4, 5))])] == Catalog(path).offers("gpt-5-codex")
    path.write_text(json.dumps({**kept, "of": "another"}), encoding="utf-8")
    assert offers == Catalog(path).offers("gpt-5-codex")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"of": 1}', '{"of": "", "models": {"m": []}}'])
def test_a_broken_file_of_prices_is_made_again(text: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text.replace('""', f'"{_stamp(tmp_path)}"'), encoding="utf-8")

    assert Catalog(path).offers("gpt-4")


def _stamp(folder: Path) -> str:
    catalog = Catalog(folder / "other.json")
    catalog.offers("gpt-4")
    catalog.save_cache()
    stamp: str = json.loads((folder / "other.json").read_text(encoding="utf-8"))["of"]
    return stamp


def test_what_cannot_be_cached_is_no_failure(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "nowhere" / "prices.json")

    assert catalog.offers("gpt-4")
    catalog.save_cache()


def test_looking_at_prices_imports_nothing_slow() -> None:
    assert pricing.__name__ in sys.modules
    text = Path(pricing.__file__).read_text(encoding="utf-8")
    assert "genai" not in text


def test_what_an_answer_would_have_cost(tmp_path: Path) -> None:
    """Nothing is said of what a source only estimates, of what cannot be true, and of unknown models."""
    (tmp_path / "config.toml").write_text("[prices.m]\ninput = 2\noutput = 10\n", encoding="utf-8")
    prices = Prices(config.load(tmp_path, {}))

    def price(model: str | None, usage: Usage | None) -> float | None:
        return prices.answer_cost(Message(id="1", role="assistant", model=model, usage=usage))

    assert 0.7 == price("m", Usage(input=100_000, output=50_000))
    assert price("m", None) is None
    assert price("m", Usage()) is None
    assert price("m", Usage(total=5)) is None
    assert price("m", Usage(input=-5, output=1)) is None
    assert price("m", Usage(input=5, estimated=True)) is None
    assert price("who-knows", Usage(input=5)) is None
    assert price(None, Usage(input=5)) is None


def test_a_large_prompt_has_a_price_of_its_own(tmp_path: Path) -> None:
    prices = Prices(config.load(tmp_path, {}))
    small, large = Usage(input=100_000), Usage(input=100_000, cache_read=300_000)

    def price(usage: Usage, *, sums_requests: bool = False) -> float:
        answer = Message(id="1", role="assistant", model="gemini-2.5-pro", usage=usage)
        return prices.answer_cost(answer, sums_requests=sums_requests) or 0.0

    assert price(small) == price(small, sums_requests=True)
    assert price(large) > price(large, sums_requests=True)
