"""One test for all readers, over every case folder: the six promises of a reader."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_journal import files, readers, writers
from agent_journal.conversion.output import new_run
from agent_journal.detection.peek import Peek
from agent_journal.errors import AgentJournalError
from agent_journal.inputs.input import files_below, open_input
from agent_journal.model import Conversation, Memory
from agent_journal.notes import Kind
from tests.cases import (
    READERS,
    Case,
    all_cases,
    as_golden,
    as_json,
    database_leaves,
    input_files,
    leaves,
    outcome,
)
from tests.golden import assert_same_json, named

CASES = all_cases()
case_by_case = pytest.mark.parametrize("case", CASES, ids=str)


@case_by_case
def test_reads_what_the_golden_says(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    location = case.location(tmp_path)
    got = as_golden(outcome(location), location if location.is_dir() else location.parent)
    golden = case.folder / "expected.json"
    if request.config.getoption("--accept"):
        golden.write_text(json.dumps(got, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    assert_same_json(json.loads(golden.read_text(encoding="utf-8")), got, named(golden))


@case_by_case
def test_exactly_one_reader_claims_it(case: Case, tmp_path: Path) -> None:
    result = outcome(case.location(tmp_path))

    assert set(result.readers) == {case.reader}
    assert set(result.versions) <= set(readers.get(case.reader).INFO.versions)


@case_by_case
def test_no_source_text_is_lost(case: Case, tmp_path: Path) -> None:
    if "damaged" in case.name:
        pytest.skip("damaged input loses what is damaged; its golden says what")
    result = outcome(case.location(tmp_path))
    excused = excused_keys(READERS / case.reader) | excused_keys(case.folder)
    written = {text for _, text in leaves([without_native(as_json(item)) for item in result.items])}
    every_text = "\0".join(written)
    lost = [
        (key, text)
        for path in input_files(case.input)
        for key, text in input_leaves(path)
        if key not in excused and text and text not in written and text not in every_text
    ]

    assert [] == lost


@case_by_case
def test_model_survives_encoding_and_reading_twice_is_equal(case: Case, tmp_path: Path) -> None:
    location = case.location(tmp_path)
    first, second = outcome(location), outcome(location)

    for item in first.items:
        kind = Conversation if isinstance(item, Conversation) else Memory
        assert item == msgspec.json.decode(msgspec.json.encode(item), type=kind)
    assert first.items == second.items
    assert first.notes.collected == second.notes.collected


@case_by_case
def test_damage_is_noted_never_raised(case: Case, tmp_path: Path) -> None:
    whole_input = case.built(tmp_path)
    copy = tmp_path / "copy" / whole_input.name
    copy.parent.mkdir()
    shutil.copytree(whole_input, copy) if whole_input.is_dir() else shutil.copy(whole_input, copy)
    for victim in input_files(copy):
        whole = victim.read_bytes()
        for data in damaged(whole):
            victim.write_bytes(data)
            outcome(copy)
        victim.write_bytes(whole)


def damaged(whole: bytes) -> list[bytes]:
    """The bytes cut at every tenth of them, and with a line in the middle that is not whole."""
    lines = whole.split(b"\n")
    middle = len(lines) // 2
    more = [*lines[:middle], b'{"broken": [', *lines[middle:]]
    other = [*lines[:middle], lines[middle].replace(b":", b"", 1), *lines[middle + 1 :]]
    cut = [whole[: len(whole) * tenth // 10] for tenth in range(10)]
    return [*cut, b"\n".join(more), b"\n".join(other)]


def json_lines(path: Path) -> list[bytes]:
    data = path.read_bytes()
    return data.splitlines() if path.suffix == ".jsonl" else [data] if path.suffix == ".json" else []


@case_by_case
def test_every_writer_takes_it(case: Case, tmp_path: Path) -> None:
    result = outcome(case.location(tmp_path))
    for writer in writers.discover().values():
        target = tmp_path / writer.INFO.name
        if writer.INFO.layout == "bundle":
            with files.bundle(str(target), is_folder=True) as bundle:
                writer.write(result.items, bundle, new_run(result.notes))
            lines = [line for path in input_files(target) for line in json_lines(path)]
            assert all(json.loads(line) for line in lines)
            continue
        with target.open("wb") as out:
            writer.write(result.items, out, new_run(result.notes))

        if writer.INFO.suffix == ".parquet":  # which its own tests read
            assert target.read_bytes()[-4:] == b"PAR1"
            continue
        text = target.read_text(encoding="utf-8")
        if writer.INFO.layout == "lines":
            assert all(json.loads(line) for line in text.split("\n") if line)
        elif writer.INFO.suffix == ".json":
            assert json.loads(text)


def test_every_reader_has_cases_and_every_folder_a_reader() -> None:
    assert {case.reader for case in CASES} == set(readers.discover())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case_says_what_it_is_for(case: Case) -> None:
    about = (case.folder / "ABOUT.md").read_text(encoding="utf-8").strip()

    assert 3 <= len(about.splitlines()) <= 8


@pytest.mark.parametrize("name", sorted(readers.discover()))
def test_info_is_complete(name: str) -> None:
    info = readers.get(name).INFO

    assert info.name == name
    assert info.title
    assert info.evidence
    assert info.versions
    assert info.revision >= 1


# Samples of a service that are those of another source: bare bodies of its API look like everybody's.
OTHERS = {"azure-openai": (["api-trace"],), "grok": (["grok-build"],)}


def test_fixtures_from_the_field_are_claimed_by_one_reader_or_refused_clearly() -> None:
    """Samples that lie beside a developer's checkout; the project does not need them."""
    fixtures = Path(__file__).parents[2] / "shared" / "fixtures"
    if not fixtures.is_dir():
        pytest.skip("no samples here")
    wrong: list[str] = []
    for file in files_below(open_input(str(fixtures))):
        owner = file.path.split("/")[0]
        names = [reader.INFO.name for reader, _ in readers.claims(Peek(file))]
        if len(names) > 1:
            wrong.append(f"{file.path}: {names}")
        if owner in readers.discover() and names not in ([owner], [], *OTHERS.get(owner, ())):
            wrong.append(f"{file.path}: {names}")
        try:
            result = outcome(Path(file.label))
        except AgentJournalError as error:
            wrong.append(f"{file.path}: {error}")
            continue
        if names and not result.items and not result.notes.collected:
            wrong.append(f"{file.path}: read, but silently nothing came")

    assert [] == wrong


def excused_keys(folder: Path) -> set[str]:
    """Keys whose text is not kept as it is, of all cases of a reader or of one of them."""
    path = folder / "excused.txt"
    if not path.exists():
        return set()
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.partition("#")[0].strip() for line in lines if line.partition("#")[0].strip()}


def input_leaves(path: Path) -> list[tuple[str, str]]:
    """The strings of JSON, JSONL and databases; other files have none that could be told apart."""
    if path.suffix == ".sql":
        return database_leaves(path)
    text = path.read_bytes().decode("utf-8-sig", "replace")
    if path.suffix not in {".json", ".jsonl"}:
        return []
    try:
        return leaves(json.loads(text))
    except ValueError:
        lines = [line for line in text.split("\n") if line.strip() and not line.startswith("//")]
        return [leaf for line in lines for leaf in leaves(json.loads(line))]


def without_native(value: Any) -> Any:
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            if current.get("type") in ("message", "tool_result"):
                current.pop("native", None)
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)
    return value


def test_notes_have_distinct_labels() -> None:
    labels = [kind.label for kind in Kind]

    assert len(labels) == len(set(labels))
