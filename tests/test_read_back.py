"""Targets that are sources too: what was written is read again, and only what is declared lost is lost."""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal import readers, writers
from agent_journal.conversion.output import write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import AgentJournalError
from agent_journal.model import Conversation, Item
from agent_journal.notes import Notes
from tests.cases import Case, all_cases, as_json, outcome
from tests.golden import edits_between
from tests.models import items as any_items
from tests.read_back.losing import Loss, Losses

CASES = all_cases()
MODULES = sorted(
    path.stem
    for path in (Path(__file__).parent / "read_back").glob("*.py")
    if path.stem not in {"__init__", "losing"}
)
TARGETS = [module.replace("_", "-") for module in MODULES]
each_target = pytest.mark.parametrize("target", TARGETS)


def losses_of(target: str) -> Losses:
    losses: Losses = importlib.import_module(f"tests.read_back.{target.replace('-', '_')}").LOSSES
    return losses


@cache
def read_twice(case: Case, target: str) -> tuple[list[Item], list[Item]]:
    """What a case holds, and what is left of it after it was written and read again."""
    with tempfile.TemporaryDirectory() as folder:
        items = outcome(case.location(Path(folder))).items
        return items, written_and_read(items, target) if items else []


def written_and_read(items: list[Item], target: str) -> list[Item]:
    """What is left of items after they were written and read again."""
    info = writers.get(target).INFO
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / (f"written{info.suffix}" if info.layout != "bundle" else "written")
        write_items(items, target, str(place), Notes())
        try:
            return list(read_all([str(place)], Notes(), readers.get(info.reader or info.name).INFO.name))
        except AgentJournalError:  # nothing of it can be said in this target
            return []


def after(items: Iterable[Item], losses: Iterable[Loss]) -> list[Item]:
    """What is left of items when things were taken out of them."""
    left = [replace(item, origin=None) for item in items]
    for loss in losses:
        left = [kept for item in left if (kept := loss(item)) is not None]
    return left


@each_target
@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_is_lost_but_what_is_declared(case: Case, target: str) -> None:
    items, again = read_twice(case, target)
    losses = losses_of(target).values()
    if not all(keeps_the_rules(item) for item in items):
        pytest.skip("somebody wrote a timeline that breaks the model's own rules")

    assert as_texts(after(items, losses)) == as_texts(after(again, losses))


def keeps_the_rules(item: Item) -> bool:
    """Whether each id is there once, and parents come before their children."""
    entries = item.timeline if isinstance(item, Conversation) else []
    known = {entry.id for entry in entries}
    seen: set[str] = set()
    for entry in entries:
        if entry.id in seen or (entry.parent_id in known and entry.parent_id not in seen):
            return False
        seen.add(entry.id)
    return True


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "agent-record"])
def test_whatever_the_model_allows_comes_back(target: str) -> None:
    @settings(max_examples=50, derandomize=True, deadline=None, suppress_health_check=[*HealthCheck])
    @given(items=st.lists(any_items, min_size=1, max_size=2))
    def check(items: list[Item]) -> None:
        assert [] == lost_on_the_way(items, target)

    check()


def lost_on_the_way(items: list[Item], target: str) -> list[str]:
    """The paths that differ after items were written and read again, without what is declared lost."""
    if not all(keeps_the_rules(item) for item in items):
        return []
    losses = losses_of(target).values()
    again = written_and_read(items, target)
    return [*edits_between([*map(as_json, after(items, losses))], [*map(as_json, after(again, losses))])]


@each_target
def test_each_loss_is_declared_and_each_declared_loss_occurs(target: str) -> None:
    losses = losses_of(target)
    assert list(writers.get(target).INFO.loses) == list(losses)
    unseen = [name for name in losses if not any(occurs(case, target, name) for case in CASES)]

    assert [] == unseen


def occurs(case: Case, target: str, name: str) -> bool:
    """Whether a case is not the same after reading it again, if this one loss is not taken into account."""
    items, again = read_twice(case, target)
    others = [loss for other, loss in losses_of(target).items() if other != name]
    return as_texts(after(items, others)) != as_texts(after(again, others))


def as_texts(items: Iterable[Item]) -> list[str]:
    """Items as text that a person can compare."""
    return [json.dumps(as_json(item), indent=1, ensure_ascii=False, sort_keys=True) for item in items]
