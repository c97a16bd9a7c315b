"""Regrouping what does not fit into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding import spill
from agent_journal.decoding.spill import Grouped, flat_size
from agent_journal.readers.dialects.api_calls import stitching
from tests.cases import Case, all_cases, as_golden, outcome

if TYPE_CHECKING:
    from pathlib import Path

# The readers of logs in which what belongs together lies scattered.
REGROUPING = {"api-trace", "azure-openai", "continue", "copilot-completions", "gemini-takeout", "opencode"}
ORDERS = st.none() | st.integers(0, 5) | st.floats(0, 5) | st.sampled_from(["", "a", "b"])


@given(st.lists(st.tuples(st.text(max_size=2), ORDERS)), st.booleans())
def test_a_large_log_is_grouped_like_a_small_one(rows: list[tuple[str, Any]], by_order: bool) -> None:
    small, large = Grouped(), Grouped()
    for place, (group, order) in enumerate(rows):
        small.add(group, order, place)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spill, "_HELD_BYTES", 3)
            large.add(group, order, place)

    assert list(small.groups(by_order=by_order)) == list(large.groups(by_order=by_order))
    assert [small.of(group) for group, _ in rows] == [large.of(group) for group, _ in rows]


@given(st.lists(st.tuples(st.text(max_size=2), ORDERS)), st.integers(0, 400))
def test_an_owner_of_its_values_gives_equal_ones(rows: list[tuple[str, Any]], held: int) -> None:
    owner, other = Grouped(is_owner=True), Grouped()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "_HELD_BYTES", held)
        for place, (group, order) in enumerate(rows):
            owner.add(group, order, {"place": [place, "é"]})
            other.add(group, order, {"place": [place, "é"]})

    assert list(other.groups()) == list(owner.groups())
    assert [other.of(group) for group, _ in rows] == [owner.of(group) for group, _ in rows]


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 5), st.integers())))
def test_groups_come_as_sorting_in_memory_would_give_them(rows: list[tuple[str, int, int]]) -> None:
    kept = Grouped()
    expected: dict[str, list[tuple[int, int]]] = {}
    for group, order, value in rows:
        kept.add(group, order, {"value": str(value)})
        expected.setdefault(group, []).append((order, value))
    wanted = [
        (group, [{"value": str(value)} for _, value in sorted(values, key=lambda each: each[0])])
        for group, values in expected.items()
    ]

    assert wanted == list(kept.groups())
    assert wanted == [(group, kept.of(group)) for group in expected]


def test_a_group_that_grows_after_it_was_asked_for() -> None:
    kept = Grouped()
    kept.add("g", 2, "b")

    assert (kept.of("g"), kept.of("h")) == (["b"], [])
    kept.add("g", 1, "a")
    assert kept.of("g") == ["a", "b"]


@given(st.lists(st.tuples(st.text(max_size=2), st.integers(0, 5))))
def test_groups_come_by_the_first_order_in_them(rows: list[tuple[str, int]]) -> None:
    kept = Grouped()
    first: dict[str, int] = {}
    for group, order in rows:
        kept.add(group, order, None)
        first[group] = min(order, first.get(group, order))

    assert sorted(first, key=first.__getitem__) == [group for group, _ in kept.groups(by_order=True)]


def test_values_are_those_of_json() -> None:
    kept = Grouped()
    value: dict[str, Any] = {"a": [1, 2.5, None, True, "é\u2028"], "big": 10**18}
    kept.add("g", None, value)

    assert [("g", [value])] == list(kept.groups())


@given(st.lists(st.tuples(st.text(max_size=2), st.booleans())), st.booleans())
def test_what_values_were_decoded_from_stands_for_them(rows: list[tuple[str, bool]], is_owner: bool) -> None:
    added, small, large = Grouped(), Grouped(is_owner=is_owner), Grouped(is_owner=is_owner)
    for place, (group, is_written) in enumerate(rows):
        added.add(group, None, [place])
        with pytest.MonkeyPatch.context() as patch:
            for kept, most in ((small, 1 << 20), (large, 9)):
                patch.setattr(spill, "_HELD_BYTES", most)
                kept.add(group, None, [place], b"[%d]" % place if is_written else None)

    assert list(added.groups()) == list(small.groups()) == list(large.groups())


@given(st.lists(st.tuples(st.text(max_size=2), ORDERS)))
def test_values_held_as_they_are_come_like_all_others(rows: list[tuple[str, Any]]) -> None:
    small, large, encoded = Grouped(), Grouped(), Grouped()
    for place, (group, order) in enumerate(rows):
        value = (f"line {place}", {"place": place})
        small.add_whole(group, order, value, 100)
        encoded.add(group, order, value)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spill, "_HELD_BYTES", 250)
            large.add_whole(group, order, value, 100)
    expected = list(encoded.groups())

    for kept in (small, large):
        assert expected == [(group, [[*value] for value in values]) for group, values in kept.groups()]


class Event(NamedTuple):
    """What a log is full of."""

    where: str
    said: dict[str, int]


@pytest.mark.parametrize("held", [0, 10**9])
def test_copies_that_fit_a_shape_are_of_it(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_HELD_BYTES", held)
    kept = Grouped(shape=Event)
    event, other = Event("line 1", {"a": 1}), ("line 2", {"a": "b"})
    kept.add_whole("g", 1, event, 10)
    kept.add("g", 2, other)

    found = kept.of("g")
    assert [event, [*other]] == [found[0], [*found[1]]]
    assert type(found[0]) is Event


@pytest.mark.parametrize("held", [0, 10**9])
@pytest.mark.parametrize("is_owner", [False, True])
def test_numbers_have_any_size(held: int, is_owner: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_HELD_BYTES", held)
    kept = Grouped(is_owner=is_owner)
    kept.add("g", None, {"big": 10**30, "small": -(10**30)})

    assert [{"big": 10**30, "small": -(10**30)}] == kept.of("g")


def test_groups_of_values_that_lie_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_HELD_BYTES", 0)
    monkeypatch.setattr(spill, "_BATCH_BYTES", 40)
    kept = Grouped()
    for place in range(60):
        kept.add("ab"[place % 7 % 2], place, f"value {place}")

    expected = {
        name: [f"value {place}" for place in range(60) if "ab"[place % 7 % 2] == name] for name in "ab"
    }
    assert dict(kept.groups()) == expected
    assert {name: kept.of(name) for name in "ab"} == expected


def test_the_size_of_a_record_is_that_of_all_its_texts() -> None:
    assert (flat_size({"a": "x" * 1000, "b": "é" * 1000, "c": 1}) or 0) > 2000
    assert flat_size({"a": "x", "b": []}) is None


@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("held", [0, 10**9])
def test_values_of_any_depth_come_back_to_their_owner(
    is_whole: bool, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "_HELD_BYTES", held)
    kept = Grouped(is_owner=True)
    depths = [1, 900, 950, *range(970, 1000), 100_000]
    for depth in depths:
        value: list[Any] = []
        for _ in range(depth):
            value = [value]
        if is_whole:
            kept.add_whole("g", depth, value, depth)
        else:
            kept.add("g", depth, value)

    assert depths == list(map(depth_of, kept.of("g")))


def test_values_that_are_too_deep_are_refused_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    monkeypatch.setattr(spill, "_HELD_BYTES", 0)
    kept = Grouped()
    for _ in range(2):
        kept.add("g", 0, 1)
        with pytest.raises(RecursionError):
            kept.add("g", 0, value)


def depth_of(value: list[Any]) -> int:
    depth = 0
    while value:
        (value,) = value
        depth += 1
    return depth


@pytest.mark.parametrize("case", [case for case in all_cases() if case.reader in REGROUPING], ids=str)
def test_cases_are_read_alike_if_nothing_fits_into_memory(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = case.location(tmp_path)
    held = outcome(location)
    monkeypatch.setattr(spill, "_HELD_BYTES", 0)
    monkeypatch.setattr(stitching, "_MAX_MEMORY_BYTES", 0)

    assert as_golden(held, tmp_path) == as_golden(outcome(location), tmp_path)
