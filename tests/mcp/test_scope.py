"""Whatever an agent asks for, nothing outside of the scope is returned."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_journal import config
from agent_journal.errors import AgentJournalError, NoSuchConversation
from agent_journal.journal import Filter, Journal
from agent_journal.mcp.scope import Scope
from agent_journal.mcp.service import Service
from tests.journal.conversations import call, conversation, import_into, message, open_home, text

FOLDERS = ["/w/app", "/w/app/ui", "/w/app2", "/w/App", "/w", "C:\\w\\app", None]
SOURCES = ["codex", "claude-code", "chatgpt"]
SEED = 7
COUNT = 36


def marker(number: int) -> str:
    return f"zq{number:03}x"


def odd_conversations() -> list[dict[str, Any]]:
    """Conversations that share messages and parents across projects, each with a word of its own."""
    chance = random.Random(SEED)  # noqa: S311
    made = []
    for number in range(COUNT):
        folder, day = chance.choice(FOLDERS), 1 + number % 28
        start = f"2026-03-{day:02}T10:00:00Z"
        shared = chance.randrange(6)
        path = f"{folder or '/w'}/stew.py"
        written = {"file_path": path, "content": f"{marker(number)} = 1\n"}
        more: dict[str, Any] = {}
        if number and chance.random() < 0.5:
            relation = chance.choice(["subagent", "fork", "continues"])
            more["link"] = {"conversation_id": f"{marker(chance.randrange(number))}-id", "relation": relation}
        made.append(
            conversation(
                f"{marker(number)}-id",
                message(f"shared-{shared}", "user", "2026-02-01T10:00:00Z", text(f"Common soup {shared}")),
                message(f"{number}-p", "user", start, text(f"Boil the stew {marker(number)}")),
                message(f"{number}-a", "assistant", start, call(f"{number}-c", "Write", "write", written)),
                message(f"{number}-e", "assistant", start, text(f"Done {marker(number)}"), model="gpt-5"),
                source=chance.choice(SOURCES),
                cwd=folder,
                title=f"Stew {marker(number)}",
                **more,
            )
        )
    return made


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    home = tmp_path_factory.mktemp("scopes") / "journal"
    memory = {"type": "memory", "id": "m", "source": "chatgpt", "kind": "fact", "text": "Likes stew zqmemory"}
    import_into(home, *odd_conversations(), memory)
    with open_home(home) as opened:
        yield opened


def home_of(journal: Journal) -> Path:
    return journal.config.home


limits = st.builds(
    Filter,
    folder=st.sampled_from([None, "/w/app", "/w/app/", "/w/app2", "/w", "/nowhere", "C:\\w\\app"]),
    project=st.sampled_from([None, "app", "ui", "nothing"]),
    source=st.sampled_from([None, *SOURCES, "co"]),
    since=st.sampled_from([None, "2026-03-10T00:00:00Z", "2026-03-25T00:00:00Z"]),
)
numbers = st.integers(0, COUNT - 1)
queries = st.one_of(
    st.sampled_from(
        [
            "stew",
            "common soup",
            "title:stew",
            "zqmemory",
            '"boil the stew"',
            "-stew",
            "project:w",
            "source:c OR x",
        ]
    ),
    st.builds(marker, numbers),
    st.builds(lambda number: f"stew project:w {marker(number)}", numbers),
)
names = st.one_of(
    st.sampled_from(["z", "zq", "codex:zq", "chatgpt:"]),
    st.builds("{}-id".format, st.builds(marker, numbers)),
)
projects = st.sampled_from(["*", "/w", "app", "/"])
calls = st.one_of(
    st.tuples(st.just("search"), st.fixed_dictionaries({"query": queries}, optional={"project": projects})),
    st.tuples(
        st.just("read"),
        st.fixed_dictionaries(
            {"conversation": names}, optional={"message": st.sampled_from(["shared-1", "3-p"])}
        ),
    ),
    st.tuples(st.just("list"), st.fixed_dictionaries({}, optional={"project": projects})),
    st.tuples(
        st.just("usage"),
        st.fixed_dictionaries(
            {"by": st.sampled_from(["conversation", "project", "day"])}, optional={"project": projects}
        ),
    ),
    st.tuples(
        st.just("blame"), st.fixed_dictionaries({"path": st.sampled_from(["stew.py", "/w/app/stew.py"])})
    ),
)


@given(
    wanted=limits,
    here=st.sampled_from(["/w/app", "/elsewhere"]),
    asked=st.lists(calls, min_size=1, max_size=4),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_nothing_outside_of_the_scope_is_returned(
    journal: Journal, wanted: Filter, here: str, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    allowed = journal.selected(Filter(within=wanted, with_children=True))
    outside = [
        each.id[:-3] for each in journal.conversations(Filter(with_children=True)) if each.key not in allowed
    ]
    secret = [*outside, *([] if wanted == Filter() else ["zqmemory"])]
    scope = Scope(folder=here, limits=wanted)
    with Service(config.load(home_of(journal), {}), scope) as service:
        for tool, arguments in asked:
            own = [each for each in secret if each not in str(arguments)]
            for answer in everything(service, tool, arguments):
                assert [] == [word for word in own if word in answer]


def everything(service: Service, tool: str, arguments: dict[str, Any]) -> Iterator[str]:
    """Yield all pages of an answer, or why there is none."""
    for _ in range(30):
        try:
            answer = service.call(tool, arguments)
        except AgentJournalError as error:
            yield str(error)
            return
        yield answer.text
        if "next_cursor" not in answer.data:
            return
        arguments = {**arguments, "cursor": answer.data["next_cursor"]}


def test_a_conversation_of_another_scope_does_not_exist(journal: Journal) -> None:
    inside, outside = Filter(folder="/w/app"), Filter(folder="/w/app2")
    others = [each.id for each in journal.conversations(outside)]
    assert others
    with Service(config.load(home_of(journal), {}), Scope(folder="/w/app", limits=inside)) as service:
        for name in others:
            for given_name in (name, name[:-1]):
                with pytest.raises(NoSuchConversation) as refused:
                    service.call("read", {"conversation": given_name})
                assert name not in str(refused.value).replace(repr(given_name), "")


def test_all_of_the_scope_is_found(journal: Journal) -> None:
    wanted = Filter(folder="/w/app")
    ids = {each.id for each in journal.conversations(wanted)}
    with Service(config.load(home_of(journal), {}), Scope(folder="/w/app", limits=wanted)) as service:
        listed = "".join(everything(service, "list", {"project": "*"}))
        assert ids == {each for each in ids if each in listed}
        for name in ids:
            assert name in service.call("search", {"query": f'"{name[:-3]}"'}).text
