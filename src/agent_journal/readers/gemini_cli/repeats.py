"""Messages that repeat tool results.

Since 2026 a result is written twice: with its call, and as the message that went to the model. A resume
(0.61) writes it a third time. The result with the call counts.
"""

from __future__ import annotations

from typing import Any

from agent_journal.readers.gemini_cli.relist import is_equal

RESULT_FIELD = "functionResponse"


def answered_calls(content: list[Any], results: dict[str, list[Any]], *, is_rebuilt: bool) -> list[str]:
    """List the calls whose results make up a message; empty if it has anything else.

    Text in it is the person's, even if the app copied it to the call when it masked the result; but not in a
    message that a resume rebuilt from the calls.
    """
    calls = [call for part in content if (call := _answered_call(part)) in results]
    if not calls or (not is_rebuilt and any(map(_is_text, content))):
        return []
    if is_repeated(content, calls, results):
        return calls
    # A result that the app masked after a resume is shorter here than with the call.
    return calls if len(calls) == len(content) else []


def is_repeated(content: list[Any], calls: list[str], results: dict[str, list[Any]]) -> bool:
    """Whether the calls have everything that a message has."""
    if is_equal([part for call in calls for part in results[call]], content):
        return True
    # If the app masked the results later, each call has the whole message.
    return all(is_equal(results[call], content) for call in set(calls))


def without_results(content: list[Any], results: dict[str, list[Any]]) -> list[Any]:
    """List the parts of a message that do not repeat a result of a call."""
    return [
        part
        for part in content
        if not any(is_equal(part, known) for known in results.get(_answered_call(part), ()))
    ]


def _answered_call(part: Any) -> str:
    answer = part.get(RESULT_FIELD) if part.__class__ is dict else None
    identity = answer.get("id") if answer.__class__ is dict else None
    return identity if identity.__class__ is str else ""


def _is_text(part: Any) -> bool:
    return part.__class__ is str or (part.__class__ is dict and "text" in part)
