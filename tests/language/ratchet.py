"""How many findings each package may still have: the numbers only go down."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import agent_journal
from tests.language.check import HERE, Finding, findings

ROOT = Path(agent_journal.__file__).parent
CEILINGS = HERE / "ceilings.json"


def package_of(path: Path) -> str:
    """The folder (or module) at the top of the source tree that a file belongs to; of a reader, its own."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "/".join(parts[:2]) if parts[0] in {"readers", "writers"} else parts[0]


def findings_by_file() -> dict[Path, list[Finding]]:
    """All files that have something to change."""
    return {path: found for path in sorted(ROOT.rglob("*.py")) if (found := findings(path))}


def totals(by_file: dict[Path, list[Finding]]) -> dict[str, int]:
    """The number of findings of each package that has any."""
    counts: Counter[str] = Counter()
    for path, found in by_file.items():
        counts[package_of(path)] += len(found)
    return dict(sorted(counts.items()))


def ceilings() -> dict[str, int]:
    """What each package may have; one that is not named may have nothing."""
    loaded: dict[str, int] = json.loads(CEILINGS.read_text(encoding="utf-8"))
    return loaded


def lower(now: dict[str, int]) -> None:
    """Write down the lower numbers; a higher one stays as it was and fails the test."""
    lowered = {package: min(count, ceilings().get(package, 0)) for package, count in now.items()}
    text = json.dumps({package: count for package, count in lowered.items() if count}, indent=2)
    CEILINGS.write_text(text + "\n", encoding="utf-8")
