"""What histories tell more than once is counted once, in whichever order they are imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_journal.archive.store import Filter, Store
from tests.archive.journals import imported, journal, read_again
from tests.usage import histories

HISTORIES: dict[str, tuple[Callable[[Path], None], tuple[int, int, int, int]]] = {
    "split lines, copies, an hour": (histories.split_lines_and_copies, histories.SPLIT),
    "forks and replays": (lambda home: histories.forks_and_replays(home, with_turns=True), histories.FORKED),
    "without turns": (lambda home: histories.forks_and_replays(home, with_turns=False), histories.FORKED),
    "a fork of nothing new": (histories.a_fork_of_nothing_new, histories.LEFT_ALONE),
    "a subagent of its own": (histories.a_subagent_of_its_own, histories.RESTARTED),
    "sums at the end": (histories.sums_at_the_end, histories.SHUT_DOWN),
    "records and sums of all": (histories.records_and_sums_of_all, histories.RECORDED),
    "a sum of all": (histories.a_session_that_counts_as_a_whole, histories.CUMULATIVE),
}


def totals(store: Store) -> tuple[int, int, int, int]:
    spent = [each for each in store.usage(Filter(), lambda _: 0) if each.state == "counted"]
    return (
        sum(each.input for each in spent), sum(each.output for each in spent),
        sum(each.cache_read for each in spent), sum(each.cache_write for each in spent),
    )  # fmt: skip


def files_below(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*.json*") if path.is_file())


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", HISTORIES)
def test_the_totals_are_the_truth(name: str, backwards: bool, tmp_path: Path) -> None:
    write, truth = HISTORIES[name]
    write(tmp_path / "home")
    files = files_below(tmp_path / "home")
    with journal(tmp_path / "journal") as archive:
        imported(archive, *(reversed(files) if backwards else files))
        assert truth == totals(archive.store)
        imported(archive, *files)
        assert truth == totals(archive.store)
        read_again(archive)
        assert truth == totals(archive.store)
        assert {} == archive.store.uncounted(Filter())
        assert [] == list(archive.store.problems())


def test_all_together(tmp_path: Path) -> None:
    others_of_one_id = {"without turns", "a fork of nothing new"}
    together = [history for name, history in HISTORIES.items() if name not in others_of_one_id]
    for write, _ in together:
        write(tmp_path / "home")
    truths = [truth for _, truth in together]
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files_below(tmp_path / "home"))

        assert tuple(map(sum, zip(*truths, strict=True))) == totals(archive.store)


def test_a_replay_does_not_move_usage_to_another_day(tmp_path: Path) -> None:
    histories.forks_and_replays(tmp_path / "home", with_turns=True)
    with journal(tmp_path / "journal") as archive:
        imported(archive, *reversed(files_below(tmp_path / "home")))
        days: dict[int, int] = {}
        for spent in archive.store.usage(Filter(), lambda slot: (slot or 0) // 96):
            days[spent.bucket] = days.get(spent.bucket, 0) + spent.output
        first = min(days)

    assert {0: 50, 3: 25, 4: 10, 5: 5} == {day - first: output for day, output in days.items()}


def test_an_hour_in_the_cache_is_counted_separately(tmp_path: Path) -> None:
    histories.split_lines_and_copies(tmp_path / "home")
    with journal(tmp_path / "journal") as archive:
        imported(archive, *files_below(tmp_path / "home"))
        (spent,) = archive.store.usage(Filter(), lambda _: 0)

    assert (1_500, 500, 1_000) == (spent.cache_write, spent.cache_write_5m, spent.cache_write_1h)


def test_a_growing_session_is_counted_again_when_it_ends(tmp_path: Path) -> None:
    histories.sums_at_the_end(tmp_path / "home")
    (file,) = files_below(tmp_path / "home")
    whole = file.read_text(encoding="utf-8").splitlines(keepends=True)
    with journal(tmp_path / "journal") as archive:
        file.write_text("".join(whole[:-1]), encoding="utf-8")
        imported(archive, file)
        assert (0, 109, 0, 0) == totals(archive.store)
        file.write_text("".join(whole), encoding="utf-8")
        imported(archive, file)

        assert histories.SHUT_DOWN == totals(archive.store)


def test_a_fork_with_ids_of_its_own_counts_only_what_is_new(tmp_path: Path) -> None:
    session = Path(__file__).parents[1] / "readers" / "opencode" / "export" / "session.json"
    text = session.read_text(encoding="utf-8")
    fork = text.replace("ses_01", "ses_02").replace("msg_", "msg_f").replace("prt_", "prt_f")
    (tmp_path / "fork.json").write_text(fork.replace("Steep for four", "Steep for five"), encoding="utf-8")
    with journal(tmp_path / "journal") as archive:
        imported(archive, session)
        before = totals(archive.store)
        imported(archive, tmp_path / "fork.json")

        assert before == totals(archive.store) > (0, 0, 0, 0)
