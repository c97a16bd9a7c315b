"""Which tests a run consists of: `./test` runs the quick ones, `./test --all` runs every test.

A test is quick unless it is of a heavy kind. Only this file says which are: no test has a marker of its own.
To make a test heavy, add it to the kind that says what the test does.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import is_hypothesis_test

from tests import cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

TESTS = Path(__file__).parent


class Kind(NamedTuple):
    """What some tests have in common."""

    about: str
    tests: tuple[str, ...]  # how their ids begin, without `tests/`
    smoke: tuple[str, ...] = ()  # those of them that are quick nevertheless


HEAVY = {
    # Found by their parameter `case`. Golden files are quick, and so is the first case of each reader.
    "every_case": Kind("checks one promise on every case of every reader", ()),
    "variants": Kind(
        "damages or changes an input in many places",
        (
            "archive/test_checking.py::test_damage_that_alters_a_message_is_noticed_wherever_it_is",
            "archive/test_damage.py::test_a_flipped_byte_and_one_forget",
            "mapping/test_chatgpt.py::test_no_value_in_any_place_raises",
            "mapping/test_chatgpt.py::test_the_fast_way_gives_what_the_careful_way_gives",
            "redaction/test_items.py::test_no_writer_lets_any_of_the_zoo_through",
            "redaction/test_leaks.py::test_every_form_is_redacted_within_json_within_json",
            "redaction/test_leaks.py::test_no_format_lets_any_form_through",
        ),
    ),
    "drill": Kind(
        "injects a fault, such as a kill or a full disk",
        (
            "gauntlet/test_gauntlet.py::test_drill",
            "search/test_faults.py",
            "test_confinement.py::test_sync_goes_on_and_the_next_one_reads_the_rest",
            "test_forget_failures.py::test_what_failed_is_finished_by_the_next_command",
        ),
        (
            "gauntlet/test_gauntlet.py::test_drill[sync-killed]",
            "search/test_faults.py::test_killed_while_it_is_made",
            "test_confinement.py::test_sync_goes_on_and_the_next_one_reads_the_rest[chatgpt-",
        ),
    ),
    # Found by their fixture `browser`.
    "browser": Kind(
        "opens pages in Chromium",
        (),
        ("pages/test_browser.py::test_what_is_hostile_does_nothing",),
    ),
    "scale": Kind(
        "needs a large input, to see that neither memory nor time explodes",
        (
            "archive/test_damage.py::test_showing_takes_little_memory",
            "decoding/test_caps.py::test_a_huge_string_takes_little_memory",
            "mapping/test_api_trace.py::test_a_large_log_is_read_like_a_small_one",
            "mapping/test_api_trace.py::test_an_answer_that_comes_in_many_pieces_takes_no_time_squared",
            "mapping/test_chat_templates.py::test_marks_without_end_do_not_take_for_ever",
            "mapping/test_chatgpt.py::test_a_chain_of_twenty_thousand",
            "mapping/test_gemini_takeout.py::test_much_that_is_opened_and_never_closed_takes_no_longer",
            "mapping/test_grok.py::test_a_chain_of_twenty_thousand_is_a_chain",
            "terminal/test_conversation.py::test_a_chain_of_any_length_is_shown",
            "test_bad_input.py::test_a_very_long_session",
            "test_large_events.py::test_memory_of_",
            "test_memory_per_message.py",
            "test_scale.py",
            "test_writers.py::test_long_chains",
        ),
    ),
    "load": Kind(
        "makes very many calls at once",
        ("journal/test_threads.py::test_eight_threads_share_a_journal_while_another_writes",),
    ),
    "docs": Kind(
        "runs what the documentation shows",
        (
            "search/test_quality.py::test_the_page_states_what_is_measured",
            "test_docs.py::test_commands_",
            "test_docs.py::test_python_examples_run",
        ),
        (
            "test_docs.py::test_commands_print_what_the_page_shows[README.md]",
            "test_docs.py::test_python_examples_run[README.md]",
        ),
    ),
}
# The text of the program, its pages, tables of fields, patterns in texts, what a browser shows, and memory.
ONCE = Kind(
    "checks what does not depend on the version of Python",
    (
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
    ),
)
KINDS = {**HEAVY, "once": ONCE}


class Selection(enum.Enum):
    """Which tests a run consists of."""

    QUICK = "quick"
    HEAVY = "heavy"
    ALL = "all"


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("selection", "which tests are run")
    for selection, about in {
        Selection.QUICK: "the quick tests; the default, unless you name tests",
        Selection.HEAVY: "what the quick run leaves out, and properties with all their examples",
        Selection.ALL: "every test; the default for paths, -k, -m and --lf",
    }.items():
        group.addoption(
            f"--{selection.value}", dest="selection", action="store_const", const=selection, help=about
        )


def selection_of(config: pytest.Config, *, is_reader: bool) -> Selection:
    """Return what was asked for; whoever names tests gets them all, except for the tests of one reader."""
    asked: Selection | None = config.option.selection
    is_named = config.args != config.getini("testpaths") or any(
        config.getoption(option) for option in ("keyword", "markexpr", "lf", "failedfirst")
    )
    return asked or (Selection.ALL if is_named and not is_reader else Selection.QUICK)


def mark(items: list[pytest.Item]) -> None:
    """Mark each test with its kinds."""
    first = cases.first_of_each_reader()
    for item in items:
        name = id_of(item)
        for marker, kind in KINDS.items():
            is_of_kind = name.startswith(kind.tests) or marker in found_kinds(item, first)
            if is_of_kind and not name.startswith(kind.smoke):
                item.add_marker(marker)


def found_kinds(item: pytest.Item, first: set[cases.Case]) -> Iterator[str]:
    """Return the kinds that a test's parameters and fixtures say."""
    parameters = getattr(item, "callspec", None)
    case = parameters.params.get("case") if parameters is not None else None
    if isinstance(case, cases.Case) and "golden" not in item.name and case not in first:
        yield "every_case"
    if "browser" in getattr(item, "fixturenames", ()):
        yield "browser"


def id_of(item: pytest.Item) -> str:
    """Return the id of a test from the folder of tests."""
    return item.nodeid.removeprefix("tests/")


def chooser(selection: Selection, *, is_reader: bool) -> Callable[[pytest.Item], bool]:
    """Return what says whether a marked test is part of the run."""
    # All cases of one reader are few.
    heavy = HEAVY.keys() - {"every_case"} if is_reader else HEAVY.keys()

    def is_heavy(item: pytest.Item) -> bool:
        return any(item.get_closest_marker(marker) is not None for marker in heavy)

    return {
        Selection.QUICK: lambda item: not is_heavy(item),
        Selection.HEAVY: lambda item: is_heavy(item) or is_hypothesis_test(getattr(item, "obj", None)),
        Selection.ALL: lambda _: True,
    }[selection]
