"""Counts that cannot be true are named, wherever a source has them."""

from __future__ import annotations

import pytest

from agent_journal.model import Conversation, Event, Message, Usage
from agent_journal.model.token_sanity import implausible_counts


def odd(*usages: Usage | None) -> list[tuple[str, str]]:
    timeline: list[Message | Event] = [
        Message(id=f"m{place}", role="assistant", usage=usage) for place, usage in enumerate(usages)
    ]
    return list(
        implausible_counts(Conversation(id="c", source="s", timeline=[Event(id="e", name="n"), *timeline]))
    )


def test_what_is_common_is_not_odd() -> None:
    extra = {
        "input_tokens": 1, "service_tier": "standard", "output_tokens_details": {"reasoning_tokens": 0},
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 3}], "cost": 0.25,
        "cache_read_tokens": None, "server_tool_use": {"web_search_requests": 0}, "line": "Tokens: 1k sent",
        "tokens": {"input": 1},
    }  # fmt: skip

    assert [] == odd(None, Usage(), Usage(input=0, output=10**11, cost_usd=0.5, extra=extra))


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (Usage(input=-1), "input -1"),
        (Usage(output=10**11 + 1), "output 100000000001"),
        (Usage(cost_usd=-0.5), "cost -0.5"),
        (Usage(cost_usd=float("nan")), "cost nan"),
        (Usage(extra={"input_tokens": -5}), "input_tokens -5"),
        (Usage(extra={"output_tokens": "many"}), "output_tokens 'many'"),
        (Usage(extra={"promptTokenCount": 1.5}), "promptTokenCount 1.5"),
        (Usage(extra={"cached_input_tokens": True}), "cached_input_tokens True"),
        (Usage(extra={"d": {"cached_tokens": "x" * 99}}), f"d.cached_tokens '{'x' * 39}…"),
        (Usage(extra={"total_tokens": 10**40}), "total_tokens a number of over 30 digits"),
    ],
)
def test_what_cannot_be_is_named(usage: Usage, said: str) -> None:
    assert [("m0", said)] == odd(usage)


def test_lines_of_one_answer_are_named_once() -> None:
    usage = Usage(input=-1)

    assert ["m0"] == [message for message, _ in odd(usage, usage)]
