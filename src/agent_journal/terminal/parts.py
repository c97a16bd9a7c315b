"""The lines of a part of a message on a terminal, in full or folded to one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.terminal.measure import cut, width
from agent_journal.terminal.view import REMARK_INDENT, TEXT_INDENT
from agent_journal.terminal.wrapping import wrapped
from agent_journal.text import describe
from agent_journal.text.describe import compact, lines_in, plain
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Citation, Part
    from agent_journal.terminal import Style
    from agent_journal.terminal.view import Line

_START_OF_LINE = re.compile(r"^(?=.)", re.MULTILINE)
_MIN_COLUMNS = 20
# The width of folded lines without a terminal.
_DEFAULT_COLUMNS = 160
# The outcome of a call, by whether its result is an error.
_OUTCOMES: dict[bool | None, tuple[Style, str]] = {
    True: ("bad", "error"),
    False: ("good", "ok"),
    None: ("dim", "done"),
}


class Folding(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown in full, and the width of the terminal, if there is one."""

    thinking: bool = False
    tools: bool = False
    everything: bool = False
    width: int | None = None

    @property
    def line_width(self) -> int:
        """The width of a folded line."""
        return _DEFAULT_COLUMNS if self.width is None else max(self.width, _MIN_COLUMNS)


def lines_of(part: Part, result: ToolResult | None, folding: Folding) -> Iterator[Line]:
    """The lines of a part; `result` is that of a call."""
    match part:
        case Text(injected=True):
            yield _remark("[added by the tool]", folding)
            if folding.everything:
                yield from text_lines(part.text, None, "dim")
        case Text():
            yield from text_lines(part.text, folding.width)
            yield from _citations(part.citations, folding)
        case Reasoning():
            yield from _reasoning(part, folding)
        case ToolCall():
            yield from _call(part, result, folding)
        case ToolResult():
            yield from _separate_result(part, folding)
        case Code():
            yield from _code(part)
        case Media():
            yield _remark(f"[{describe.media(part)}]", folding)
            if folding.everything and (text := tree.held_text(part)):
                yield from text_lines(text, None, "dim")
        case Other():
            yield from _other(part, folding)


def text_lines(text: str, columns: int | None, style: Style | None = None) -> Iterator[Line]:
    """The lines of a text, wrapped to the terminal if there is one."""
    plain = safe(text.replace("\r\n", "\n").strip("\n"))
    if not plain.strip():
        return
    if columns is None:
        indented = _START_OF_LINE.sub(TEXT_INDENT, plain)
        yield ((style, indented) if style else indented,)
        return
    for line in wrapped(plain, max(columns - len(TEXT_INDENT), _MIN_COLUMNS)):
        indented = f"{TEXT_INDENT}{line}" if line else ""
        yield ((style, indented) if style else indented,)


def _remark(text: str, folding: Folding) -> Line:
    """A remark of ours on one dim line."""
    return (("dim", cut(f"{REMARK_INDENT}{_excerpt(text, folding)}", folding.line_width)),)


def _excerpt(text: str, folding: Folding) -> str:
    """The start of a text that may be long, on one line."""
    return one_line(" ".join(text[: 4 * folding.line_width].split()))


def _reasoning(part: Reasoning, folding: Folding) -> Iterator[Line]:
    text = part.text or part.summary
    if not text:
        if folding.thinking:
            yield _remark("thinking (not included by the source)", folding)
    elif folding.thinking:
        yield (("dim", f"{REMARK_INDENT}thinking:"),)
        yield from text_lines(text, folding.width, "dim")
        if part.text and part.summary:
            yield (("dim", f"{REMARK_INDENT}summary:"),)
            yield from text_lines(part.summary, folding.width, "dim")
    else:
        length = f" ({count(lines_in(text), 'line')})"
        excerpt = cut(f"{REMARK_INDENT}thinking: {_excerpt(text, folding)}", folding.line_width - len(length))
        yield (("dim", f"{excerpt}{length}"),)


def _code(part: Code) -> Iterator[Line]:
    label = one_line(" ".join(word for word in ("code", part.language, describe.code_location(part)) if word))
    yield (("dim", f"{REMARK_INDENT}{label}:"),)
    yield from text_lines(part.code, None)


def _citations(citations: list[Citation], folding: Folding) -> Iterator[Line]:
    if not citations:
        return
    if folding.everything:
        for citation in citations:
            yield (("dim", one_line(f"{REMARK_INDENT}[cites {describe.citation(citation)}]")),)
    else:
        more = f" and {len(citations) - 1:,} more" if len(citations) > 1 else ""
        yield _remark(f"[cites {describe.citation(citations[0])}{more}]", folding)


def _other(part: Other, folding: Folding) -> Iterator[Line]:
    text = f"[{part.name or 'other content'}] {compact(part.data)}"
    yield (("dim", one_line(f"{REMARK_INDENT}{text}")),) if folding.everything else _remark(text, folding)


# Tools.


def _call(call: ToolCall, result: ToolResult | None, folding: Folding) -> Iterator[Line]:
    arguments = tree.arguments(call)
    name = one_line(call.name)
    kind = f" ({call.kind})" if call.kind and call.kind not in call.name.lower() else ""
    status = _status(result)
    status_width = sum(width(text) for _, text in status)
    free = folding.line_width - len(REMARK_INDENT) - len("→  ") - width(name) - len(kind) - status_width - 2
    start: Line = (f"{REMARK_INDENT}→ ", ("tool", cut(name, folding.line_width)), ("dim", kind))
    summary = cut(_excerpt(describe.call(call), folding), max(free, _MIN_COLUMNS))
    if not folding.tools:
        yield (*start, f" {summary}" if summary else "", "  ", *status)
        return
    yield start if result is not None else (*start, "  ", *status)
    yield from _input(arguments, folding)
    if result is not None:
        yield (("dim", f"{REMARK_INDENT}← "), *status)
        yield from _output(result, folding)


def _separate_result(result: ToolResult, folding: Folding) -> Iterator[Line]:
    """The lines of a result whose call is not shown."""
    name = one_line(result.name or "a tool")
    yield (
        "",
        ("dim", f"{REMARK_INDENT}← "),
        ("tool", cut(name, folding.line_width)),
        "  ",
        *_status(result),
    )
    if folding.tools:
        yield from _output(result, folding)


def _status(result: ToolResult | None) -> tuple[tuple[Style, str], ...]:
    """The outcome of a call, and the size of its result."""
    if result is None:
        return (("dim", "no result"),)
    return (_OUTCOMES[result.is_error], ("dim", f", {describe.result_size(result)}"))


def _input(arguments: Any, folding: Folding) -> Iterator[Line]:
    """All arguments of a call, each on a line; texts of several lines below their names."""
    if not isinstance(arguments, dict):
        yield from text_lines(plain(arguments), folding.width)
        return
    for name, value in arguments.items():
        text = plain(value)
        if "\n" in text:
            yield (f"{TEXT_INDENT}{one_line(str(name))}:",)
            yield from text_lines(_START_OF_LINE.sub("  ", text), None)
        else:
            yield (f"{TEXT_INDENT}{one_line(str(name))}: {one_line(text)}",)


def _output(result: ToolResult, folding: Folding) -> Iterator[Line]:
    if isinstance(result.output, str):
        yield from text_lines(result.output, None)
        return
    for part in result.output:
        if isinstance(part, Text):
            yield from text_lines(part.text, None)
            yield from _citations(part.citations, folding)
        else:
            yield from lines_of(part, None, folding)
