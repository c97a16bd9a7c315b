"""Runs a tool through its scenarios and compares what it wrote with what the model says."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.real_tools.compare import Truth, differences
from tests.real_tools.fake_model.server import FakeModel
from tests.real_tools.history import SyncFailed, sync
from tests.real_tools.sandbox import Sandbox, ToolFailed
from tests.real_tools.scenarios import play
from tests.real_tools.tool import Fact, Scenario, Tool


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one scenario went: the differences by fact, or why it could not be played."""

    tool: Tool
    scenario: Scenario
    problems: dict[Fact, list[str]] = field(default_factory=dict)
    failure: str | None = None
    absent: str | None = None
    exchanges: int = 0

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
    problems = differences(tool, truth, history)
    return Outcome(tool=tool, scenario=scenario, problems=problems, exchanges=len(model.exchanges))


def _write_log(folder: Path, sandbox: Sandbox) -> None:
    """Keep what the model was asked and what the tool printed, to look at afterward."""
    model = sandbox.model
    for name, values in (("exchanges", map(asdict, model.exchanges)), ("requests", model.requests)):
        lines = (f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    refused = "".join(f"refused: {each}\n" for each in model.refused)
    (folder / "output.txt").write_text("\n".join([*sandbox.outputs, refused]))
