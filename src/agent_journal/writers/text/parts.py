"""Parts of messages as lines of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.rendering.file_edits import file_edits
from agent_journal.rendering.turns import ToolUse
from agent_journal.text import describe
from agent_journal.text.describe import compact, plain
from agent_journal.text.sanitize import one_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Part
    from agent_journal.writers.rendering.pages import Page

_INDENT = "    "
_DEEP_INDENT = "      "
_STATUSES = {True: "error", False: "ok", None: "done"}


def indented(text: str, indent: str = _INDENT) -> str:
    """Content, indented and safe to print."""
    plain = (text.replace("\r\n", "\n") if "\r" in text else text).strip("\n")
    return indent + safe(plain).replace("\n", f"\n{indent}")


def part_lines(part: Part | ToolUse, page: Page) -> Iterator[str]:
    """The lines of a part, with an empty line first where a separator is needed."""
    match part:
        case Text(injected=True):
            yield "\n  [added by the tool, not written by the user]"
            yield indented(part.text, _DEEP_INDENT)
        case Text():
            if part.text.strip():
                yield f"\n{indented(part.text)}"
            yield from _citation_lines(part)
        case ToolUse():
            yield from _call_lines(part.call, part.result, page)
        case ToolCall():
            yield from _call_lines(part, None, page)
        case ToolResult():
            yield f"\n  ← {one_line(part.name or 'a tool')} ({_status(part)})"
            yield from _output_lines(part, page)
        case Reasoning():
            yield from _reasoning(part)
        case Code():
            labels = filter(None, ("code", part.language, describe.code_location(part)))
            yield f"\n  {one_line(' '.join(labels))}:"
            yield indented(part.code)
        case Media():
            path = page.file_path(part)
            yield f"\n  [{one_line(describe.media(part))}{f': {path}' if path else ''}]"
            if text := tree.held_text(part):
                yield indented(text)
        case Other():
            yield f"\n  [{one_line(part.name or 'other content')}]"
            yield indented(compact(part.data))


def _citation_lines(text: Text) -> Iterator[str]:
    for citation in text.citations:
        description = describe.citation(citation)
        yield f"  [source: {one_line(description)}]"
        if citation.text and citation.text != description:
            yield indented(citation.text)


def _reasoning(reasoning: Reasoning) -> Iterator[str]:
    if reasoning.text:
        yield "\n  thinking:"
        yield indented(reasoning.text)
    if reasoning.summary:
        yield "\n  thinking, summary:"
        yield indented(reasoning.summary)
    if not reasoning.text and not reasoning.summary:
        yield "\n  thinking (not recorded)"


def _call_lines(call: ToolCall, result: ToolResult | None, page: Page) -> Iterator[str]:
    yield f"\n  → {one_line(call.name)}{'' if result is not None else ' (no result)'}"
    yield from _input_lines(call)
    if result is not None:
        yield f"  ← {_status(result)}"
        yield from _output_lines(result, page)


def _status(result: ToolResult) -> str:
    return f"{_STATUSES[result.is_error]}, {describe.result_size(result)}"


def _input_lines(call: ToolCall) -> Iterator[str]:
    changes = file_edits(call)
    for change in changes:
        yield f"{_INDENT}{'new file' if change.is_new else 'changes in'} {one_line(change.path or '')}:"
        yield indented(change.diff, _DEEP_INDENT)
    if not changes:
        yield from _argument_lines(tree.arguments(call))


def _argument_lines(arguments: Any) -> Iterator[str]:
    if not isinstance(arguments, dict):
        if arguments not in (None, ""):
            yield indented(plain(arguments))
        return
    for name, value in arguments.items():
        text = plain(value)
        if "\n" in text:
            yield f"{_INDENT}{one_line(name)}:"
            yield indented(text, _DEEP_INDENT)
        else:
            yield f"{_INDENT}{one_line(name)}: {one_line(text)}"


def _output_lines(result: ToolResult, page: Page) -> Iterator[str]:
    if isinstance(result.output, str):
        if result.output:
            yield indented(result.output)
        return
    for part in result.output:
        if isinstance(part, Text):
            yield indented(part.text)
            yield from _citation_lines(part)
        else:
            yield from part_lines(part, page)
