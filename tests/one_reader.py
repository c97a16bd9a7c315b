"""The quick run for whoever edits a reader: `./test -k NAME` collects only what is about that reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests import cases
from tests.cases import READERS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

# What holds for every case of a reader. `--all` adds the other tests of its cases.
_EVERY_CASE = "test_readers.py"


def named(config: pytest.Config) -> str | None:
    """Return the reader that `-k` names, if no paths are given."""
    name: str = config.option.keyword
    is_everything = config.args == config.getini("testpaths")
    return name if is_everything and name and (READERS / name).is_dir() else None


def prepare(config: pytest.Config, reader: str) -> None:
    """Restrict a run to the tests of a reader; starting workers would take longer than the tests."""
    config.option.keyword = f"{reader} or {module_name(reader)}"
    config.option.numprocesses, config.option.dist = 0, "no"
    cases.use_only(reader)


def module_name(reader: str) -> str:
    return reader.replace("-", "_")


def is_about(reader: str, path: Path) -> bool:
    """Whether a test file belongs to the quick run; folders do if such a file may be in them."""
    if path.is_dir():
        return path.name in {"tests", "mapping"}
    if path.parent.name == "mapping":
        return path.name.startswith(f"test_{module_name(reader)}")
    return path.name == _EVERY_CASE
