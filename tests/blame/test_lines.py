"""Which edit each line comes from, compared with a history that is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent_journal.blame.edits import Change
from agent_journal.blame.lines import Claim, attribute_lines
from agent_journal.model import ToolCall
from agent_journal.rendering.file_edits import file_edits


def replaced(old: str, new: str) -> Change:
    call = ToolCall(name="Edit", kind="edit", input={"file_path": "f", "old_string": old, "new_string": new})
    (edit,) = file_edits(call)
    return Change("f", None, "Edit", edit.diff)


def written(content: str) -> Change:
    return Change("f", None, "Write", "\n".join(f"+{line}" for line in content.split("\n")), is_new=True)


def origins(lines: list[str], *newest_first: Change) -> dict[int, int]:
    claims = attribute_lines(lines, [(change, None) for change in newest_first])
    return {number: claim.edit for number, claim in claims.items()}


def test_a_line_belongs_to_the_last_edit_that_wrote_it() -> None:
    first = written("one\ntwo\nthree")
    second = replaced("two", "two and a half")
    third = replaced("two and a half", "two again")

    assert {1: 2, 2: 0, 3: 2} == origins(["one", "two again", "three"], third, second, first)


def test_what_stays_when_a_file_is_written_again_belongs_to_the_first_time() -> None:
    first, second = written("one\ntwo\nthree"), written("zero\none\nthree")

    assert {1: 0, 2: 1, 3: 1} == origins(["zero", "one", "three"], second, first)


def test_what_was_gone_in_between_belongs_to_the_second_time() -> None:
    first, second, third = written("one\nlast line"), written("one"), written("one\nlast line")

    assert {1: 2, 2: 0} == origins(["one", "last line"], third, second, first)


def test_an_edit_before_the_file_was_written_again_keeps_its_lines() -> None:
    first, edit, second = (
        written("one\ntwo"),
        replaced("two", "second line"),
        written("one\nsecond line\nmore"),
    )

    assert {1: 2, 2: 1, 3: 0} == origins(["one", "second line", "more"], second, edit, first)


def test_lines_of_a_text_that_changed_since_are_similar() -> None:
    edit = replaced("pass", "soup = boil(water)\nsoup.taste()\n}")
    claims = attribute_lines(["soup = boil(water)", "# by hand", "soup.taste()", "}"], [(edit, None)])

    assert {1: Claim(0, "similar"), 3: Claim(0, "similar")} == claims


def test_a_commit_that_is_older_than_an_edit_rules_it_out() -> None:
    late, early = replaced("x", "a line of text"), replaced("y", "a line of text")

    assert {1: Claim(1, "exact")} == attribute_lines(
        ["a line of text"], [(late, 5_000), (early, 1_000)], [2_000]
    )
    assert {} == attribute_lines(["a line of text"], [(late, 5_000)], [2_000])


def test_removing_lines_and_carriage_returns() -> None:
    edit = replaced("a\nb\nc", "a\r\nc")

    assert {1: 0, 2: 1} == origins(["a", "c"], edit, written("a\nb\nc"))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_a_whole_history_of_distinct_lines(steps: list[tuple[int, int, int]]) -> None:
    """Every edit is known, and no line is written twice, so that each line has exactly one origin."""
    lines = [(f"first line {number}", 0) for number in range(8)]
    history = [written("\n".join(line for line, _ in lines))]
    for number, (place, removed, added) in enumerate(steps, 1):
        at = min(place, len(lines))
        start, end = max(at - 1, 0), min(at + removed, len(lines))
        new = [(f"line {number}.{index}", number) for index in range(added)]
        kept = lines[start:at]
        old_text = "\n".join(line for line, _ in lines[start:end])
        new_text = "\n".join(line for line, _ in [*kept, *new])
        if not old_text or old_text == new_text or not new_text:
            continue
        history.append(replaced(old_text, new_text))
        lines[start:end] = [
            (line, origin if origin != number else len(history) - 1) for line, origin in [*kept, *new]
        ]
    expected = {at: len(history) - 1 - origin for at, (_, origin) in enumerate(lines, 1)}

    assert expected == origins([line for line, _ in lines], *reversed(history))
