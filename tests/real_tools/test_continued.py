"""What the suite of continued conversations finds missing in a request, without any tool."""

from __future__ import annotations

from typing import Any

import pytest

from agent_journal.writers.dialects.agent_sessions import branch_of
from tests.real_tools.continued import missing_in
from tests.test_agent_sessions import talk

ASKED = {"role": "user", "content": "list it"}
CALLED = {"id": "c", "name": "wait"}
BRANCH = branch_of(talk(), "")
CALL = BRANCH.turns[1].calls[0].id
CALLS = [{"id": CALL}, CALLED, {"for": CALL, "content": "one file"}]
UNANSWERED = {"for": "c", "content": "No result of this call was recorded."}
ANSWERED = {"role": "assistant", "content": [{"text": "One file."}]}


def test_nothing_is_missing_in_a_whole_request() -> None:
    assert [] == missing_in({"messages": [ASKED, *CALLS, UNANSWERED, ANSWERED]}, BRANCH)


@pytest.mark.parametrize(
    ("messages", "missing"),
    [
        ([*CALLS, UNANSWERED, ANSWERED], "list it"),
        ([ASKED, *CALLS, ANSWERED], "the call wait"),
        ([ASKED, *CALLS[:2], UNANSWERED, ANSWERED], "one file"),
        ([ANSWERED, ASKED, *CALLS, UNANSWERED], "One file."),
    ],
    ids=["a prompt", "a result", "an output", "the order"],
)
def test_what_is_missing_is_named(messages: list[dict[str, Any]], missing: str) -> None:
    assert any(missing in each for each in missing_in(messages, BRANCH))
