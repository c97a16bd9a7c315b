"""Options of the test run."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests import examples, one_reader, selection
from tests.selection import Selection

# What the tests start compiles a module once, not each time, and leaves nothing in the checkout.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if "PYTHONPYCACHEPREFIX" not in os.environ:  # workers have it from whoever started them
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="aj-tests-")
    atexit.register(shutil.rmtree, os.environ["PYTHONPYCACHEPREFIX"], ignore_errors=True)

# A shell lets what it starts in the background ignore SIGINT, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

READER = pytest.StashKey[str | None]()  # whose tests alone are run
SELECTION = pytest.StashKey[Selection]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="rewrite golden files; read them before you commit them"
    )
    selection.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    for marker, kind in selection.KINDS.items():
        config.addinivalue_line("markers", f"{marker}: {kind.about}")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Decide which tests are run, before workers are started."""
    reader = one_reader.named(config)
    chosen = selection.selection_of(config, is_reader=reader is not None)
    is_quick = chosen is Selection.QUICK
    config.stash[SELECTION] = chosen
    config.stash[READER] = reader if is_quick else None
    examples.load_profile(is_quick=is_quick)
    if reader is not None and is_quick:
        one_reader.prepare(config, reader)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    reader = config.stash[READER]
    return True if reader is not None and not one_reader.is_about(reader, collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect nothing else meanwhile: twenty thousand tests stay, and looking through them takes its time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selection.mark(items)
    is_chosen = selection.chooser(config.stash[SELECTION], is_reader=config.stash[READER] is not None)
    left_out = [item for item in items if not is_chosen(item)]
    if left_out:
        items[:] = [item for item in items if is_chosen(item)]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[SELECTION] is Selection.QUICK:
        whose = "of this reader " if config.stash[READER] is not None else ""
        terminalreporter.write_line(f"Only the quick tests {whose}were run; --all adds the others.")
