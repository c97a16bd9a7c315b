"""Runs a tool through its scenarios and compares what it wrote with what the model says."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from tests.real_tools.compare import Truth, differences
from tests.real_tools.fake_model.server import FakeModel
from tests.real_tools.history import History, SyncFailed, sync
from tests.real_tools.sandbox import Sandbox, ToolFailed
from tests.real_tools.scenarios import play
from tests.real_tools.tool import Fact, Scenario, Tool, Unrecorded

_END = re.compile(r"<<end: (\w+)>>")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one scenario went: the differences by fact, or why it could not be played.

    `needed` is what the tool is excused for and really does not write in this scenario.
    """

    tool: Tool
    scenario: Scenario
    problems: dict[Fact, list[str]] = field(default_factory=dict)
    failure: str | None = None
    absent: str | None = None
    exchanges: int = 0
    needed: frozenset[Unrecorded] = frozenset()

    @property
    def is_good(self) -> bool:
        return not self.failure and not any(self.problems.values())


def run(tool: Tool, scenario: Scenario, installed: Path, folder: Path) -> Outcome:
    """Play one scenario in a folder of its own and compare; the folder keeps what was written."""
    if scenario in tool.absent:
        return Outcome(tool=tool, scenario=scenario, absent=tool.absent[scenario])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = FakeModel()
    sandbox = Sandbox(folder, installed, model)
    began = time.time()
    try:
        play(scenario, tool, sandbox)
        sandbox.close()
        model.close()
        history = sync(sandbox, tool.source)
    except (ToolFailed, SyncFailed) as error:
        return Outcome(tool=tool, scenario=scenario, failure=str(error), exchanges=len(model.exchanges))
    finally:
        sandbox.close()
        model.close()
        _write_log(folder, sandbox)
    truth = Truth(
        scenario=scenario,
        prompts=sandbox.prompts,
        typed_at=sandbox.typed_at,
        exchanges=model.exchanges,
        work=sandbox.work,
        began=began,
        ended=time.time(),
    )
    if missing := not_played(truth):
        return Outcome(tool=tool, scenario=scenario, failure=missing, exchanges=len(model.exchanges))
    return Outcome(
        tool=tool,
        scenario=scenario,
        problems=differences(tool, truth, history),
        exchanges=len(model.exchanges),
        needed=_needed(tool, truth, history),
    )


def not_played(truth: Truth) -> str | None:
    """What of the scenario the model never saw, because then there would be nothing to compare."""
    exchanges = truth.exchanges
    words = [word for prompt in truth.prompts for word in _END.findall(prompt)]
    unanswered = [word for word in words if not any(word in each.text for each in exchanges)]
    if not words or unanswered:
        return f"the model was never asked for the answer with {unanswered or 'any word'}"
    seen = {
        "compacted": any(each.purpose == "summary" for each in exchanges),
        "subagent": any(each.is_subagent for each in exchanges),
        "parallel": any(len(each.calls) > 1 for each in exchanges),
        "interrupted": any(each.is_interrupted for each in exchanges),
    }
    return None if seen.get(truth.scenario, True) else f"the model saw nothing that was {truth.scenario}"


def _needed(tool: Tool, truth: Truth, history: History) -> frozenset[Unrecorded]:
    """The gaps without which there would be a difference."""
    needed = set()
    for gap in tool.unrecorded:
        others = tuple(each for each in tool.unrecorded if each != gap)
        stricter = differences(replace(tool, unrecorded=others), truth, history)
        if stricter.get(gap.fact):
            needed.add(gap)
    return frozenset(needed)


def recorded_after_all(outcomes: Sequence[Outcome]) -> list[Unrecorded]:
    """What a tool is excused for although it writes it, by all of its scenarios."""
    needed = frozenset[Unrecorded]().union(*(outcome.needed for outcome in outcomes))
    return [gap for gap in outcomes[0].tool.unrecorded if gap not in needed]


def _write_log(folder: Path, sandbox: Sandbox) -> None:
    """Keep what the model was asked and what the tool printed, to look at afterward."""
    model = sandbox.model
    for name, values in (("exchanges", map(asdict, model.exchanges)), ("requests", model.requests)):
        lines = (f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    refused = "".join(f"refused: {each}\n" for each in model.refused)
    (folder / "output.txt").write_text("\n".join([*sandbox.outputs, refused]))
