"""Prints what was compared, as a table of tools and scenarios against facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from tests.real_tools.runs import Outcome
from tests.real_tools.tool import Fact

_FACTS: tuple[Fact, ...] = get_args(Fact)
_NAME_WIDTH = 26


def heading() -> str:
    return f"{'':{_NAME_WIDTH}}" + "".join(f"{fact:>9}" for fact in _FACTS)


def row(outcome: Outcome) -> str:
    """One line: how many differences each fact has."""
    name = f"{f'{outcome.tool.name} {outcome.scenario}':{_NAME_WIDTH}}"
    if outcome.absent:
        return f"{name}  not available: {outcome.absent}"
    if outcome.failure:
        return f"{name}  FAILED: {outcome.failure.splitlines()[0]}"
    return name + "".join(f"{_mark(outcome, fact):>9}" for fact in _FACTS)


def _mark(outcome: Outcome, fact: Fact) -> str:
    found = outcome.problems.get(fact)
    if found:
        return str(len(found))
    gaps = [each for each in outcome.tool.unrecorded if each.fact == fact]
    is_gap = any(each.scenarios is None or outcome.scenario in each.scenarios for each in gaps)
    return "(ok)" if is_gap else "ok"


def details(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Every difference, and what the tools do not record."""
    for outcome in outcomes:
        if outcome.failure:
            yield f"\n{outcome.tool.name} {outcome.scenario}: {outcome.failure}"
        for fact, found in outcome.problems.items():
            for each in found:
                yield f"{outcome.tool.name} {outcome.scenario}: {fact}: {each}"
    tools = {outcome.tool.name: outcome.tool for outcome in outcomes}
    for tool in tools.values():
        for gap in tool.unrecorded:
            yield f"{tool.name}: {gap.fact} (ok): {gap.reason}"


def verified(versions: dict[str, str], outcomes: list[Outcome], day: str) -> dict[str, dict[str, Any]]:
    """What the documentation says about each tool that has no difference in any scenario."""
    found = {}
    for name, version in versions.items():
        mine = [outcome for outcome in outcomes if outcome.tool.name == name]
        if mine and all(outcome.is_good for outcome in mine):
            found[mine[0].tool.title] = {
                "version": version,
                "day": day,
                "scenarios": [outcome.scenario for outcome in mine if not outcome.absent],
                "absent": {outcome.scenario: outcome.absent for outcome in mine if outcome.absent},
                "unrecorded": list(dict.fromkeys(each.reason for each in mine[0].tool.unrecorded)),
            }
    return found
