"""`aj doctor` tells of crash reports."""

from __future__ import annotations

import os
from pathlib import Path

from agent_journal.journal import doctor


def reports(home: Path) -> list[doctor.Finding]:
    found = doctor.findings(home, {"HOME": str(home), "AJ_HOME": str(home)}, None, 0)
    return [each for each in found if each.topic == "reports"]


def test_doctor_counts_crash_reports_and_names_the_newest(tmp_path: Path) -> None:
    assert reports(tmp_path) == []
    folder = tmp_path / "reports"
    folder.mkdir()
    for age, name in enumerate(("codex-ValueError-00000001.txt", "codex-KeyError-00000002.txt")):
        (folder / name).write_text("x", encoding="utf-8")
        os.utime(folder / name, (1_000 - age, 1_000 - age))
    (folder / "notes.txt").write_text("not a report", encoding="utf-8")
    (finding,) = reports(tmp_path)

    assert "2 crash reports" in finding.says
    assert "codex-ValueError-00000001.txt" in finding.says
    assert "bug report" in finding.act
