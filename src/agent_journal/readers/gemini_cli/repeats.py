"""Messages that repeat what tools gave.

Since 2026 a result is written twice: with its call, and as the message that went to the model. A resume
(0.61) writes it a third time. The one with the call counts.
"""

from __future__ import annotations

from typing import Any

from agent_journal.readers.gemini_cli.relist import is_equal

GIVEN = "functionResponse"


def calls_answered(content: list[Any], given: dict[str, list[Any]], *, is_rebuilt: bool) -> list[str]:
    """The calls whose results make up a message; none if it has anything else.

    Text in it is the person's, also where the app put it with the call when it masked what that gave; but not
    in a message that a resume rebuilt from the calls.
    """
    calls = [call for part in content if (call := _call(part)) in given]
    if not calls or (not is_rebuilt and any(map(_is_text, content))):
        return []
    if is_known(content, calls, given):
        return calls
    # What the app masked after a resume is shorter here than with the call.
    return calls if len(calls) == len(content) else []


def is_known(content: list[Any], calls: list[str], given: dict[str, list[Any]]) -> bool:
    """Whether all of a message is with the calls."""
    if is_equal([part for call in calls for part in given[call]], content):
        return True
    # Where the app masked it later, each call has all of the message.
    return all(is_equal(given[call], content) for call in set(calls))


def without_results(content: list[Any], given: dict[str, list[Any]]) -> list[Any]:
    """The parts of a message that are not the result of a call as the call has it."""
    return [
        part for part in content if not any(is_equal(part, known) for known in given.get(_call(part), ()))
    ]


def _call(part: Any) -> str:
    answer = part.get(GIVEN) if part.__class__ is dict else None
    identity = answer.get("id") if answer.__class__ is dict else None
    return identity if identity.__class__ is str else ""


def _is_text(part: Any) -> bool:
    return part.__class__ is str or (part.__class__ is dict and "text" in part)
