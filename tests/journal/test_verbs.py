"""The verbs of a journal: what they take and return has a public name, is documented and becomes JSON."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agent_journal
from agent_journal import journal as journals
from agent_journal.journal import ExportChoice, ExportTarget, Journal, demo

ROOT = Path(agent_journal.__file__).parent
VERBS = {
    name: each
    for cls in Journal.__mro__[:-1]
    for name, each in vars(cls).items()
    if inspect.isfunction(each) and not name.startswith("_")
}
# What reads or imports on and on, and parts of a page with what is rendered there.
NO_DATA = {"ConversationLoader", "ShownConversation", "ShownEntries", "Watcher"}
ELSEWHERE = {"Any", "Callable", "Collection", "Iterable", "None", "Path", "PathLike"}


def names_in(annotation: object) -> set[str]:
    """The names of types in an annotation."""
    return {name for name in re.findall(r"\b[A-Z]\w*", str(annotation)) if name not in ELSEWHERE}


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_verb_takes_and_returns_has_a_public_name(verb: str) -> None:
    signature = inspect.signature(VERBS[verb])
    annotations = [signature.return_annotation, *(each.annotation for each in signature.parameters.values())]
    used = set().union(*map(names_in, annotations))

    assert used <= {*journals.__all__, *agent_journal.__all__}
    assert inspect.getdoc(VERBS[verb])


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_verb_returns_has_to_dict(verb: str) -> None:
    names = names_in(inspect.signature(VERBS[verb]).return_annotation) & {*journals.__all__} - NO_DATA
    missing = [name for name in names if not hasattr(getattr(journals, name), "to_dict")]

    assert missing == []


@pytest.mark.parametrize("name", journals.__all__)
def test_each_name_is_there_and_documented(name: str) -> None:
    value = getattr(journals, name)

    assert not inspect.isclass(value) or value.__doc__


def imported(journal: Journal, tmp_path: Path) -> object:
    (tmp_path / "chat.json").write_text("[]", encoding="utf-8")
    return journal.import_([tmp_path / "chat.json"])


RESULTS: dict[str, Callable[[Journal, Path], Any]] = {
    "list": lambda journal, _: journal.list(limit=2),
    "one": lambda journal, _: journal.one("7d3c"),
    "messages": lambda journal, _: journal.messages("7d3c", limit=3),
    "outline": lambda journal, _: journal.outline("7d3c"),
    "search": lambda journal, _: journal.search("tide", context=1),
    "blame": lambda journal, _: journal.blame("table.py"),
    "activity": lambda journal, _: journal.activity(),
    "usage": lambda journal, _: journal.usage("conversation", estimate=True),
    "count": lambda journal, _: journal.count(),
    "status": lambda journal, _: journal.status(),
    "inventory": lambda journal, _: journal.inventory(),
    "check": lambda journal, _: journal.check(),
    "doctor": lambda journal, _: journal.doctor()[0],
    "sync": lambda journal, _: journal.sync(),
    "import_": imported,
    "export": lambda journal, path: journal.export(
        ExportChoice(), ExportTarget("json", str(path / "out.jsonl"))
    ),
    "plan_forget": lambda journal, _: journal.plan_forget(["d1000001"]),
    "forget": lambda journal, _: journal.forget(journal.plan_forget(["d1000001"])),
    "repair": lambda journal, _: journal.repair(),
    "backup": lambda journal, path: journal.backup(path / "copy"),
    "embed": lambda journal, _: journal.embed(),
}


@pytest.mark.parametrize("verb", RESULTS)
def test_a_result_becomes_json(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    with Journal(demo.fill(tmp_path / "home")) as journal:
        values = RESULTS[verb](journal, tmp_path).to_dict()

    assert values
    assert values.keys() == json.loads(json.dumps(values)).keys()
