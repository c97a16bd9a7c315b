"""Parts of messages as lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.text import describe
from agent_journal.text.describe import compact, plain
from agent_journal.text.sanitize import one_line, safe
from agent_journal.writers.rendering.file_edits import edits
from agent_journal.writers.rendering.turns import Done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Part
    from agent_journal.writers.rendering.pages import Page

_IN = "    "
_DEEPER = "      "
_HOW = {True: "error", False: "ok", None: "done"}


def said(text: str, indent: str = _IN) -> str:
    """What others said, four columns in."""
    plain = (text.replace("\r\n", "\n") if "\r" in text else text).strip("\n")
    return indent + safe(plain).replace("\n", f"\n{indent}")


def part(each: Part | Done, page: Page) -> Iterator[str]:
    """The lines of a part, the first one empty where that tells it from what is before it."""
    match each:
        case Text(injected=True):
            yield "\n  [added by the tool]"
            yield said(each.text, _DEEPER)
        case Text():
            if each.text.strip():
                yield f"\n{said(each.text)}"
            yield from _citations(each)
        case Done():
            yield from _call(each.call, each.result, page)
        case ToolCall():
            yield from _call(each, None, page)
        case ToolResult():
            yield f"\n  ← {one_line(each.name or 'a tool')} ({_how(each)})"
            yield from _output(each, page)
        case Reasoning():
            yield from _thought(each)
        case Code():
            words = filter(None, ("code", each.language, describe.place(each)))
            yield f"\n  {one_line(' '.join(words))}:"
            yield said(each.code)
        case Media():
            path = page.file(each)
            yield f"\n  [{one_line(describe.media(each))}{f': {path}' if path else ''}]"
            if held := tree.held_text(each):
                yield said(held)
        case Other():
            yield f"\n  [{one_line(each.name or 'other content')}]"
            yield said(compact(each.data))


def _citations(text: Text) -> Iterator[str]:
    for citation in text.citations:
        cited = describe.citation(citation)
        yield f"  [cites {one_line(cited)}]"
        if citation.text and citation.text != cited:
            yield said(citation.text)


def _thought(thought: Reasoning) -> Iterator[str]:
    if thought.text:
        yield "\n  thinking:"
        yield said(thought.text)
    if thought.summary:
        yield "\n  thinking, in short:"
        yield said(thought.summary)
    if not thought.text and not thought.summary:
        yield "\n  thinking, which the source does not show"


def _call(call: ToolCall, result: ToolResult | None, page: Page) -> Iterator[str]:
    yield f"\n  → {one_line(call.name)}{'' if result is not None else ' (no result)'}"
    yield from _input(call)
    if result is not None:
        yield f"  ← {_how(result)}"
        yield from _output(result, page)


def _how(result: ToolResult) -> str:
    return f"{_HOW[result.is_error]}, {describe.amount(result)}"


def _input(call: ToolCall) -> Iterator[str]:
    changed = edits(call)
    for edit in changed:
        yield f"{_IN}{'new file' if edit.is_new else 'change in'} {one_line(edit.path or '')}:"
        yield said(edit.diff, _DEEPER)
    if not changed:
        yield from _given(tree.arguments(call))


def _given(given: Any) -> Iterator[str]:
    if not isinstance(given, dict):
        if given not in (None, ""):
            yield said(plain(given))
        return
    for name, value in given.items():
        text = plain(value)
        if "\n" in text:
            yield f"{_IN}{one_line(name)}:"
            yield said(text, _DEEPER)
        else:
            yield f"{_IN}{one_line(name)}: {one_line(text)}"


def _output(result: ToolResult, page: Page) -> Iterator[str]:
    if isinstance(result.output, str):
        if result.output:
            yield said(result.output)
        return
    for each in result.output:
        if isinstance(each, Text):
            yield said(each.text)
            yield from _citations(each)
        else:
            yield from part(each, page)
