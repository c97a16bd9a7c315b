"""Reports: by zone, price, estimate and all that must not be passed over in silence."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import apsw
import pytest
from msgspec.structs import replace

from agent_journal import config
from agent_journal.archive.sqlite import SqliteStore, open_store
from agent_journal.archive.sqlite.schema import MIGRATIONS
from agent_journal.archive.store import Filter
from agent_journal.config import Config, Price
from agent_journal.errors import NoSuchName
from agent_journal.model import Link, Media, Message, Usage
from agent_journal.usage import GROUPINGS, By, Report
from agent_journal.usage.periods import Periods, parse_zone
from agent_journal.usage.reporting import build_report
from tests.archive.journals import put, said, store_in_memory, talk

NOW = 1_775_000_000 // 900  # the last day of March 2026
OWN = {"m": Price(input=1, output=10, cache_read=0.1, cache_write=1.25, cache_write_1h=2)}


def answer(id_: str, at: str | None, usage: Usage, model: str | None = "m", **more: object) -> Message:
    return said(id_, f"said {id_}", at, role="assistant", model=model, usage=usage, **more)


def used(id_: str, at: str | None, output: int = 1_000_000, model: str | None = "m") -> Message:
    return answer(id_, at, Usage(output=output), model)


@pytest.fixture
def settled(tmp_path: Path) -> Config:
    return replace(config.load(tmp_path, {}), prices=OWN)


@pytest.fixture
def store() -> SqliteStore:
    return store_in_memory()


def told(store: SqliteStore, settled: Config, by: By, zone: str | None = "UTC", **more: object) -> Report:
    return build_report(store, settled, by, zone=parse_zone(zone), now=NOW, **more)  # type: ignore[arg-type]


def lines(found: Report) -> list[tuple[str | None, int]]:
    return [(row.name, row.sums.output) for row in found.rows]


def test_days_are_those_of_a_zone(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", used("1", "2026-03-01T23:30:00Z", 1), used("2", "2026-03-02T04:00:00+05:00", 2)))
    put(store, talk("b", used("3", "2026-03-29T00:59:00Z", 4), used("4", "2026-03-29T22:15:00Z", 8)))

    assert [("2026-03-01", 3), ("2026-03-29", 12)] == lines(told(store, settled, "day"))
    # Summer time begins on that Sunday, so that its evening is two hours ahead.
    assert [("2026-03-02", 3), ("2026-03-29", 4), ("2026-03-30", 8)] == lines(
        told(store, settled, "day", "Europe/Berlin")
    )
    assert [("2026-03-01", 3), ("2026-03-28", 4), ("2026-03-29", 8)] == lines(
        told(store, settled, "day", "America/New_York")
    )
    assert [("2026-03-02", 3), ("2026-03-29", 4), ("2026-03-30", 8)] == lines(
        told(store, settled, "day", "Asia/Kathmandu")
    )


def test_weeks_and_months(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", used("1", "2025-12-29T12:00:00Z", 1), used("2", "2026-01-04T12:00:00Z", 2)))

    assert [("2026-W01", 3)] == lines(told(store, settled, "week"))
    assert [("2025-12", 1), ("2026-01", 2)] == lines(told(store, settled, "month"))


def test_a_zone_that_is_not_there() -> None:
    assert parse_zone("utc") is UTC
    for name in ("Middle/Earth", "../../etc/passwd", "", "a\0b"):
        with pytest.raises(NoSuchName):
            parse_zone(name)


def test_a_way_that_is_not_there(store: SqliteStore, settled: Config) -> None:
    with pytest.raises(NoSuchName, match="Unknown usage group 'year'; choose one of: day, week, "):
        told(store, settled, cast("By", "year"))


def test_by_all_else(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", used("1", None, 1), used("2", None, 2, "n"), cwd="/w"))
    put(
        store,
        talk("sub", used("3", None, 4), cwd="/w/x", link=Link(conversation_id="a", relation="subagent")),
    )
    put(store, talk("b", used("4", None, 8, None), source="other"))

    assert [("m", 5), (None, 8), ("n", 2)] == lines(told(store, settled, "model"))
    assert [("some-tool", 7), ("other", 8)] == lines(told(store, settled, "source"))
    assert [("/w/x", 4), ("/w", 3), (None, 8)] == lines(told(store, settled, "project"))
    assert [("a", 7), ("b", 8)] == lines(told(store, settled, "conversation"))


def test_cost_by_the_parts_of_the_cache(store: SqliteStore, settled: Config) -> None:
    million = 1_000_000
    usage = Usage(
        input=million, output=million, cache_read=million, cache_write=3 * million, cache_write_1h=million
    )
    put(store, talk("a", answer("1", None, usage)))
    total = told(store, settled, "day").total

    assert 1 + 10 + 0.1 + 2 * 1.25 + 2 == pytest.approx(total.cost_usd)
    assert (6 * million, 0, 0.0) == (total.total, total.unpriced, total.cost_stated_usd)


def test_what_a_source_states_goes_before_a_price(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", answer("1", None, Usage(output=1_000_000, cost_usd=0.5)), used("2", None)))
    total = told(store, settled, "day").total

    assert (10.5, 0.5) == (total.cost_usd, total.cost_stated_usd)


def test_a_price_by_date_and_size(store: SqliteStore, settled: Config) -> None:
    # o3 became cheaper on 10 June 2025; prompts above 200,000 tokens have another price with some models.
    put(
        store,
        talk(
            "a", used("1", "2025-06-09T23:00:00Z", model="o3"), used("2", "2025-06-10T01:00:00Z", model="o3")
        ),
    )
    by_day = {row.name: row.sums.cost_usd for row in told(store, settled, "day", "Pacific/Auckland").rows}
    assert {"2025-06-10": 48.0} == by_day
    large, small = Usage(input=200_001, output=0), Usage(input=200_000, output=0)
    model = "gemini-2.5-pro"
    put(store, talk("b", answer("3", "2026-01-01T00:00:00Z", large, model)))
    put(store, talk("c", answer("4", "2026-01-02T00:00:00Z", small, model)))
    costs = [row.sums.cost_usd for row in told(store, settled, "day", wanted=Filter(model=model)).rows]
    assert [0.5000025, 0.25] == pytest.approx(costs)


def test_a_sum_of_many_requests_is_not_a_large_prompt(store: SqliteStore, settled: Config) -> None:
    usage = Usage(input=400_000, output=0)
    put(store, talk("a", answer("1", "2026-01-01T00:00:00Z", usage, "gemini-2.5-pro"), source="copilot-cli"))

    assert pytest.approx(0.5) == told(store, settled, "day").total.cost_usd


def test_models_without_a_price_are_named(store: SqliteStore, settled: Config) -> None:
    put(
        store,
        talk(
            "a", used("1", None, 5, "who-knows"), used("2", None, 7, None), used("3", None, 0, "<synthetic>")
        ),
    )
    found = told(store, settled, "model")

    assert {"who-knows": 5, "": 7} == found.notices.unpriced
    assert (12, 0.0) == (found.total.unpriced, found.total.cost_usd)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(input=-1, output=5), Usage(output=10**12), Usage(output=(1 << 64) - 1),
        Usage(output=1, cost_usd=-2.0), Usage(output=1, cost_usd=float("inf")),
        Usage(output=5, cache_write=-(1 << 62)),
    ],
)  # fmt: skip
def test_counts_that_cannot_be_true_are_named_and_not_summed(
    usage: Usage, store: SqliteStore, settled: Config
) -> None:
    put(store, talk("a", answer("1", None, usage), used("2", None, 3)))
    found = told(store, settled, "day")

    assert {"some-tool": 1} == found.notices.impossible
    assert (1, 3) == (found.total.messages, found.total.output)
    assert [] == list(store.problems())


@pytest.mark.parametrize(
    "stated",
    [
        {"input_tokens": -5}, {"input_tokens": "many"}, {"input_tokens": 1.5}, {"input_tokens": True},
        {"cache_creation": {"ephemeral_1h_input_tokens": -1}}, {"promptTokenCount": 10**15},
    ],
)  # fmt: skip
def test_counts_that_a_reader_refused_are_named(
    stated: dict[str, object], store: SqliteStore, settled: Config
) -> None:
    put(store, talk("a", answer("1", None, Usage(output=5, extra={**stated, "output_tokens": 5}))))
    put(store, talk("b", answer("2", None, Usage(extra=stated)), used("3", None, 3)))
    found = told(store, settled, "day")

    assert ({"some-tool": 1}, {"some-tool": 1}) == (found.notices.refused, found.notices.impossible)
    assert {} == found.notices.without_counts
    assert (2, 8) == (found.total.messages, found.total.output)
    assert [] == list(store.problems())


def test_answers_without_counts_are_named(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", answer("1", None, Usage(key="k"))))

    assert {"some-tool": 1} == told(store, settled, "day").notices.without_counts


def test_conversations_without_any_counts_are_named(store: SqliteStore, settled: Config) -> None:
    at = "2026-03-01T10:00:00Z"
    put(store, talk("a", used("1", at)))
    put(store, talk("b", said("2", "how are you", at), said("3", "fine", at, role="assistant")))

    assert {"some-tool": 1} == told(store, settled, "day").notices.uncounted
    assert {} == told(store, settled, "day", wanted=Filter(until="2026-03-01")).notices.uncounted
    # Estimated, they have lines of their own.
    assert {} == told(store, settled, "day", estimate=True).notices.uncounted


def test_tokens_of_which_only_the_number_is_known_have_no_price(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", answer("1", None, Usage(total=9))))
    total = told(store, settled, "day").total

    assert (9, 9, 0.0) == (total.total, total.unpriced, total.cost_usd)


@pytest.mark.parametrize(
    "at", ["1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
)
def test_times_far_away_are_named(at: str, store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", used("1", at, 1), used("2", None, 2), used("3", "2026-03-01T00:00:00Z", 4)))
    found = told(store, settled, "day", None)

    assert (1, 1) == (found.notices.misdated, found.notices.undated)
    assert (7, 3) == (found.total.output, len(found.rows))


def test_estimates_have_lines_of_their_own(store: SqliteStore, settled: Config) -> None:
    at = "2026-03-01T10:00:00Z"
    asked = said("1", "how are you", at)
    put(store, talk("a", asked, said("2", "I am fine, thank you", at, role="assistant", model="m")))
    put(store, talk("b", answer("3", at, Usage(output=8, estimated=True)), used("4", at, 16)))
    plain = told(store, settled, "day")
    assert (16, 0, {"some-tool": 1}) == (plain.total.output, plain.estimated.output, plain.notices.estimated)

    found = told(store, settled, "day", estimate=True)
    assert [("2026-03-01", False, 16), ("2026-03-01", True, 14)] == [
        (row.name, row.is_estimated, row.sums.output) for row in found.rows
    ]
    assert (16, 3, 14) == (found.total.output, found.estimated.input, found.estimated.output)


def test_files_attached_to_a_question_are_estimated(store: SqliteStore, settled: Config) -> None:
    at = "2026-03-01T10:00:00Z"
    asked = said("1", "go", at)
    asked = replace(asked, parts=[*asked.parts, Media(kind="document", text="how are you")])
    put(store, talk("a", asked, said("2", "fine", at, role="assistant")))

    assert told(store, settled, "day", estimate=True).estimated.input == 4


def test_an_estimate_leaves_out_what_is_stated_or_copied(store: SqliteStore, settled: Config) -> None:
    at = "2026-03-01T10:00:00Z"
    stated = answer("2", at, Usage(key="k", output=16), response_id="r")
    piece = said("3", "more of the same answer", at, role="assistant", response_id="r")
    alone = said("4", "one two", at, role="assistant")
    put(store, talk("a", said("1", "go", at), stated, piece, alone))
    put(store, talk("fork", said("1", "go", at), stated, piece, alone))

    assert (1, 2) == (
        (found := told(store, settled, "day", estimate=True).estimated).messages,
        found.output,
    )


def test_what_a_source_counts_too_low_is_reported(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", used("1", None), source="cursor"))

    assert "no token counts" in told(store, settled, "day").notices.undercounts["cursor"]


def test_undercounts_are_reported_of_stated_costs_too(store: SqliteStore, settled: Config) -> None:
    put(store, talk("a", answer("1", None, Usage(output=1, cost_usd=0.5)), source="cursor"))

    assert ["cursor"] == list(told(store, settled, "day").notices.undercounts)


@pytest.mark.parametrize(("read", "written"), [("cache_read", "cache_write"), ("cacheRead", "cacheWrite")])
def test_tokens_of_a_free_cache_cost_nothing(
    store: SqliteStore, tmp_path: Path, read: str, written: str
) -> None:
    table = f'[prices."gpt-4"]\ninput = 30.00\noutput = 60.00\n{read} = 0\n{written} = 0\n'
    (tmp_path / "config.toml").write_text(table, encoding="utf-8")
    each = Usage(input=10_000, output=10_000, cache_read=10_000, cache_write=10_000)
    put(store, talk("a", answer("1", "2026-03-01T10:00:00Z", each, "gpt-4")))

    found = told(store, config.load(tmp_path, {}), "model")
    assert found.total.cost_usd == pytest.approx(0.9)


def test_prices_of_other_times_are_distinguished(store: SqliteStore, settled: Config) -> None:
    # o3 became cheaper on 10 June 2025: one line, two prices.
    before, after = "2025-06-09T23:45:00Z", "2025-06-10T00:00:00Z"
    put(store, talk("a", used("1", before, model="o3"), used("2", after, model="o3"), cwd="/w"))

    for by in GROUPINGS:
        assert pytest.approx(48.0) == sum(row.sums.cost_usd for row in told(store, settled, by).rows)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"])
def test_a_quarter_of_an_hour_is_of_the_day_that_the_clock_of_its_zone_shows(zone: str) -> None:
    # Summer time begins and ends at night; at Lord Howe by half an hour. Apia left out 30 December 2011.
    clock = parse_zone(zone)
    periods = Periods("day", clock)
    for day in ("2011-12-29", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-24"):
        first = int(datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()) // 900
        for slot in range(first, first + 3 * 96):
            shown = datetime.fromtimestamp(slot * 900, clock)
            assert f"{shown:%Y-%m-%d}" == periods.slots[periods[slot]][0]


def test_an_older_journal_is_summed_up_when_it_is_brought_up(tmp_path: Path, settled: Config) -> None:
    path = tmp_path / "journal.db"
    old = apsw.Connection(str(path))
    with old:
        for statements in MIGRATIONS[:2]:
            old.execute(statements)
        old.execute("INSERT INTO journal VALUES ('id', 'x'), ('last_key', 0)")
        old.execute(
            "INSERT INTO conversations (key, source, id, messages, events, shape, hash, detail) "
            "VALUES (1, 's', 'c', 1, 0, 'list', x'', x'')"
        )
        old.execute(
            "INSERT INTO usage VALUES ('s', 'k', 1, 1, '2026-03-01T23:59:59.5-01:00', 'm', 1, 2, 3, 4, "
            "NULL, NULL, NULL, NULL, NULL, 0)"
        )
    old.pragma("user_version", 2)
    old.close()
    store = open_store(path, for_writing=True)

    (line,) = told(store, settled, "day").rows
    assert ("2026-03-02", 1, 2, 3, 4) == (
        line.name, line.sums.input, line.sums.output, line.sums.cache_read, line.sums.cache_write,
    )  # fmt: skip
    store.close()
