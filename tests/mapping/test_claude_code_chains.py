"""Branches of Claude Code: parallel calls make none, whatever they are attached to; a rewind makes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_journal.conversion.pipeline import read_all
from agent_journal.model import Conversation, tree
from agent_journal.notes import Notes
from tests.inline import save_lines
from tests.test_writers import documents, written

SESSION = "0574c517-2408-4a20-8808-7626fd961640"


def line(uuid: str, parent: str | None, type_: str, **more: Any) -> dict[str, Any]:
    return {
        "type": type_,
        "uuid": uuid,
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": SESSION,
        "timestamp": "2026-11-18T08:00:00.000Z",
        "version": "2.1.326",
        **more,
    }


def prompt(uuid: str, parent: str | None) -> dict[str, Any]:
    return line(uuid, parent, "user", message={"role": "user", "content": f"Do {uuid}."})


def answer(uuid: str, parent: str, response: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    content = list(blocks) or [{"type": "text", "text": f"Said {uuid}."}]
    body = {"id": response, "role": "assistant", "model": "claude-opus-4-8", "content": content}
    return line(uuid, parent, "assistant", message=body)


def call(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}


def result(uuid: str, parent: str, call_id: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": call_id, "content": f"Result of {call_id}"}]
    return line(uuid, parent, "user", message={"role": "user", "content": content})


def hook(uuid: str, parent: str) -> dict[str, Any]:
    return line(uuid, parent, "attachment", attachment={"type": "hook_success"})


def progress(uuid: str, parent: str) -> dict[str, Any]:
    return line(uuid, parent, "progress", data={"type": "bash_progress"})


def read(folder: Path, *lines: dict[str, Any]) -> Conversation:
    (item,) = read_all([str(save_lines(folder, f"{SESSION}.jsonl", lines))], Notes())
    assert isinstance(item, Conversation)
    return item


def head(conversation: Conversation) -> list[str]:
    assert conversation.head_id is not None
    return [entry.id for entry in tree.path_to(conversation.timeline, conversation.head_id)]


def leaves(conversation: Conversation) -> list[str]:
    return [leaf.id for leaf in tree.leaves(conversation.timeline)]


BEGINNING = [
    prompt("u1", None),
    answer("a1", "u1", "msg_1", call("A")),
    answer("a2", "a1", "msg_1", call("B")),
]
ORDERS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "as called": (
        [result("r1", "a1", "A"), result("r2", "a2", "B"), answer("a3", "r2", "msg_2")],
        ["u1", "a1", "a2", "r1", "r2", "a3"],
    ),
    "last one first": (
        [result("r2", "a2", "B"), result("r1", "a1", "A"), answer("a3", "r1", "msg_2")],
        ["u1", "a1", "a2", "r2", "r1", "a3"],
    ),
    "answer below the first": (
        [result("r1", "a1", "A"), result("r2", "a2", "B"), answer("a3", "r1", "msg_2")],
        ["u1", "a1", "a2", "r1", "r2", "a3"],
    ),
    "result after the answer": (
        [result("r2", "a2", "B"), answer("a3", "r2", "msg_2"), result("r1", "a1", "A")],
        ["u1", "a1", "a2", "r2", "r1", "a3"],
    ),
    "attached in between": (
        [
            result("r2", "a2", "B"),
            hook("h1", "r2"),
            result("r1", "a1", "A"),
            hook("h2", "r1"),
            answer("a3", "h2", "msg_2"),
        ],
        ["u1", "a1", "a2", "r2", "h1", "r1", "h2", "a3"],
    ),
    "progress beside the chain": (
        [
            progress("p1", "a1"),
            result("r2", "a2", "B"),
            progress("p2", "r2"),
            result("r1", "a1", "A"),
            answer("a3", "r1", "msg_2"),
        ],
        ["u1", "a1", "a2", "r2", "r1", "a3"],
    ),
    "interrupted": (
        [result("r2", "a2", "B"), result("r1", "a1", "A"), prompt("u2", "r2")],
        ["u1", "a1", "a2", "r2", "r1", "u2"],
    ),
}


@pytest.mark.parametrize("order", ORDERS)
def test_calls_and_results_of_a_response_are_on_one_path(tmp_path: Path, order: str) -> None:
    written_later, path = ORDERS[order]
    conversation = read(tmp_path, *BEGINNING, *written_later)

    assert head(conversation) == path
    assert leaves(conversation) == path[-1:]


def test_a_call_that_is_written_after_a_result_is_on_the_path(tmp_path: Path) -> None:
    conversation = read(
        tmp_path,
        *BEGINNING[:2],
        result("r1", "a1", "A"),
        answer("a2", "a1", "msg_1", call("B")),
        result("r2", "a2", "B"),
        answer("a3", "r2", "msg_2"),
    )

    assert head(conversation) == ["u1", "a1", "r1", "a2", "r2", "a3"]
    assert leaves(conversation) == ["a3"]


def test_calls_of_one_record_have_their_results_on_one_path(tmp_path: Path) -> None:
    conversation = read(
        tmp_path,
        prompt("u1", None),
        answer("a1", "u1", "msg_1", call("A"), call("B")),
        result("r2", "a1", "B"),
        result("r1", "a1", "A"),
        answer("a2", "r1", "msg_2"),
    )

    assert head(conversation) == ["u1", "a1", "r2", "r1", "a2"]
    assert leaves(conversation) == ["a2"]


@pytest.mark.parametrize("parent", ["a1", "a2"])
def test_going_back_into_a_response_makes_a_branch(tmp_path: Path, parent: str) -> None:
    finished = [result("r1", "a1", "A"), result("r2", "a2", "B"), answer("a3", "r2", "msg_2")]
    conversation = read(tmp_path, *BEGINNING, *finished, prompt("u2", parent), answer("a4", "u2", "msg_3"))

    assert leaves(conversation) == ["a3", "a4"]
    chain = [entry.id for entry in tree.chain_to(conversation.timeline, "a4")]
    assert chain == ["u1", "a1", *(["a2"] if parent == "a2" else []), "u2", "a4"]


def test_a_prompt_that_is_edited_makes_a_branch(tmp_path: Path) -> None:
    finished = [result("r2", "a2", "B"), result("r1", "a1", "A"), answer("a3", "r1", "msg_2")]
    conversation = read(
        tmp_path,
        *BEGINNING,
        *finished,
        prompt("u2", "a3"),
        answer("a4", "u2", "msg_3"),
        prompt("u3", "a3"),
        answer("a5", "u3", "msg_4"),
    )

    assert leaves(conversation) == ["a4", "a5"]
    assert head(conversation) == ["u1", "a1", "a2", "r2", "r1", "a3", "u3", "a5"]


def test_an_answer_that_is_tried_again_makes_a_branch(tmp_path: Path) -> None:
    finished = [result("r2", "a2", "B"), result("r1", "a1", "A"), answer("a3", "r1", "msg_2")]
    conversation = read(tmp_path, *BEGINNING, *finished, answer("a4", "r1", "msg_3"))

    assert leaves(conversation) == ["a3", "a4"]


def test_what_the_source_calls_the_parent_stays(tmp_path: Path) -> None:
    conversation = read(tmp_path, *BEGINNING, *ORDERS["last one first"][0])
    messages = {message.id: message for message in tree.messages(conversation)}

    assert messages["r1"].parent_id == "r2"
    assert messages["r1"].extra["parentUuid"] == "a1"
    assert "parentUuid" not in messages["r2"].extra


@pytest.mark.parametrize("target", ["openai-messages", "sharegpt"])
def test_parallel_calls_make_one_sample(tmp_path: Path, target: str) -> None:
    conversation = read(tmp_path, *BEGINNING, *ORDERS["last one first"][0])
    (sample,) = documents(written(target, [conversation])[0])

    assert all(f"Result of {each}" in str(sample) for each in ("A", "B"))
