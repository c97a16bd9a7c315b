"""A run of its own in which every struct of the model has one more field, `trial`: what becomes of it?

    python -m tests.trial_field

It prints a report as JSON. The model is changed while it is imported, so the files stay as they are.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

MODEL = "agent_journal.model.types"
FIELD = "trial"
SECRET = "ghp_" + "Zk3Vd81mQw7RtY2nPx5LbC9sHj4FgTa0Ue6B"


class _Loader(SourceFileLoader):
    """Compiles the model with the additional field, and leaves its cached bytecode alone."""

    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.get_filename(fullname)))
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                node.body += ast.parse(f"{FIELD}: str | None = None").body
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == MODEL else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


def main() -> None:
    """Print which trial fields each writer drops without listing them, and what is lost on the way back."""
    sys.meta_path.insert(0, _Finder())
    from tests import test_writers  # noqa: PLC0415 (with the changed model)
    from tests.test_not_preserved import undeclared_fields  # noqa: PLC0415

    report = {
        "undeclared": {name: undeclared_fields(name) for name in test_writers.NAMES},
        "lost": {name: _lost_in_round_trip(name) for name in ("agent-record-v3", "json", "pam", "unified")},
        "archive": _lost_in_archive(),
        "secrets": _unredacted(),
    }
    sys.stdout.write(json.dumps(report))


def _lost_in_round_trip(target: str) -> list[str]:
    """The differences after writing and reading the kitchen sink, and whatever is generated."""
    from hypothesis import HealthCheck, given, settings  # noqa: PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415

    from tests import models  # noqa: PLC0415
    from tests.test_read_back import lost_on_the_way  # noqa: PLC0415

    differences: list[str] = []

    @settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=[*HealthCheck])
    @given(items=st.lists(models.items, min_size=1, max_size=2))
    def check(items: list[Any]) -> None:
        differences.extend(lost_on_the_way(items, target))

    check()
    return [*lost_on_the_way(_kitchen_sink_with_trials(), target), *differences][:20]


def _kitchen_sink_with_trials(prefix: str = "") -> list[Any]:
    """The kitchen sink with a trial field of its own in every struct."""
    from msgspec import Struct  # noqa: PLC0415

    from tests.test_writers import kitchen_sink  # noqa: PLC0415

    numbers = iter(range(1_000_000))

    def with_trial(value: Any) -> Any:
        if isinstance(value, list):
            return [with_trial(element) for element in value]
        if not isinstance(value, Struct):
            return value
        fields = {name: with_trial(getattr(value, name)) for name in value.__struct_fields__}
        return type(value)(**fields | {FIELD: f"{prefix} {next(numbers)}"})

    return [with_trial(item) for item in kitchen_sink()]


def _lost_in_archive() -> list[str]:
    """The differences between the kitchen sink and what a journal has of it."""
    from agent_journal.conversion.pipeline import read_all  # noqa: PLC0415
    from agent_journal.model import Conversation, Item  # noqa: PLC0415
    from agent_journal.notes import Notes  # noqa: PLC0415
    from tests.archive import journals  # noqa: PLC0415
    from tests.cases import as_json  # noqa: PLC0415
    from tests.golden import edits_between  # noqa: PLC0415
    from tests.test_writers import written  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "items.json"
        source.write_bytes(written("json", _kitchen_sink_with_trials())[0])
        given = [*read_all([str(source)], Notes())]
        with journals.journal(Path(folder) / "journal") as archive:
            journals.imported(archive, source)
            stored: list[Item] = [*journals.everything(archive.store), *archive.store.memories()]
    expected: list[Item] = [journals.bare(item) if isinstance(item, Conversation) else item for item in given]
    return [
        *edits_between(*({str(item.id): as_json(item) for item in items} for items in (expected, stored)))
    ]


def _unredacted() -> list[str]:
    """The paths of trial fields that still have a secret after redaction."""
    from agent_journal.redaction import redact  # noqa: PLC0415
    from tests.cases import as_json  # noqa: PLC0415

    items = _kitchen_sink_with_trials(prefix=SECRET)
    redacted = [as_json(redact(item).item) for item in items]
    return [FIELD] if SECRET in json.dumps(redacted) else []


if __name__ == "__main__":
    main()
