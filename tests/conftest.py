"""Options of the test run."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import cases, one_reader

# These machines are shared: how long an example takes says nothing. What is checked of a change is the same
# every time; by hand, each run tries other examples. AJ_EXAMPLES says how many of them.
settings.register_profile(
    "journal",
    deadline=None,
    max_examples=int(os.environ.get("AJ_EXAMPLES", "100")),
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("journal")

# What the tests start compiles a module once, not each time, and leaves nothing in the checkout.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if "PYTHONPYCACHEPREFIX" not in os.environ:  # workers have it from whoever started them
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="aj-tests-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

# A shell lets what it starts in the background ignore SIGINT, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="rewrite golden files; read them before you commit them"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Prepare the quick run of one reader, for which starting workers would take longer than the tests."""
    reader = one_reader.named(config)
    config.stash[READER] = reader
    if reader is not None:
        config.option.keyword = f"{reader} or {one_reader.module_name(reader)}"
        config.option.numprocesses, config.option.dist = 0, "no"
        cases.use_only(reader)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    reader = config.stash.get(READER, None)
    return True if reader is not None and not one_reader.is_about(reader, collection_path) else None


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    if config.stash.get(READER, None) is None:
        return []
    return ["Only the tests of this reader; './test' also tries its cases with everything else."]


READER = pytest.StashKey[str | None]()

# What these look at is the same on every interpreter: the text of the program, its pages, tables of fields,
# patterns in texts, what a browser shows, and the memory it takes.
ONCE = (
    "mapping/",
    "pages/",
    "redaction/",
    "search/test_quality.py",
    "terminal/",
    "test_architecture.py",
    "test_bad_input.py",
    "test_changes.py",
    "test_dev.py",
    "test_docs.py",
    "test_release.py",
    "test_repository.py",
    "test_scale.py",
    "test_schema_page.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what repeats one promise for every case, and what one interpreter tells for all.

    Goldens are looked at on every interpreter.
    """
    here = Path(__file__).parent
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters is not None and "case" in parameters.params and "golden" not in item.name:
            item.add_marker("every_case")
        if item.path.relative_to(here).as_posix().startswith(ONCE):
            item.add_marker("once")
