"""The lines that a part of a message takes on a terminal, whole or folded to one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.terminal.measure import cut, width
from agent_journal.terminal.view import OURS, TEXT
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

_NOT_EMPTY = re.compile(r"^(?=.)", re.MULTILINE)
_NARROWEST = 20
# How much of something is shown on one line where no terminal says how much fits.
_ON_ONE_LINE = 160
# How a call went, where the source says so.
_HOW: dict[bool | None, tuple[Style, str]] = {
    True: ("bad", "error"),
    False: ("good", "ok"),
    None: ("dim", "done"),
}


class Folding(msgspec.Struct, frozen=True, kw_only=True):
    """Whether thinking and tools are shown whole, and how wide the terminal is, if there is one."""

    thinking: bool = False
    tools: bool = False
    everything: bool = False
    width: int | None = None

    @property
    def room(self) -> int:
        """How much of something folded fits on a line."""
        return _ON_ONE_LINE if self.width is None else max(self.width, _NARROWEST)


def lines_of(part: Part, result: ToolResult | None, folding: Folding) -> Iterator[Line]:
    """The lines of a part; of a call, `result` is what it gave."""
    match part:
        case Text(injected=True):
            yield _folded("[added by the tool]", folding)
            if folding.everything:
                yield from said(part.text, None, "dim")
        case Text():
            yield from said(part.text, folding.width)
            yield from _citations(part.citations, folding)
        case Reasoning():
            yield from _thought(part, folding)
        case ToolCall():
            yield from _call(part, result, folding)
        case ToolResult():
            yield from _answer(part, folding)
        case Code():
            yield from _code(part)
        case Media():
            yield _folded(f"[{describe.media(part)}]", folding)
            if folding.everything and (held := tree.held_text(part)):
                yield from said(held, None, "dim")
        case Other():
            yield from _other(part, folding)


def said(text: str, columns: int | None, style: Style | None = None) -> Iterator[Line]:
    """A text, wrapped to the terminal if there is one."""
    plain = safe(text.replace("\r\n", "\n").strip("\n"))
    if not plain.strip():
        return
    if columns is None:
        indented = _NOT_EMPTY.sub(TEXT, plain)
        yield ((style, indented) if style else indented,)
        return
    for line in wrapped(plain, max(columns - len(TEXT), _NARROWEST)):
        indented = f"{TEXT}{line}" if line else ""
        yield ((style, indented) if style else indented,)


def _folded(text: str, folding: Folding) -> Line:
    """Something of ours on one dim line."""
    return (("dim", cut(f"{OURS}{_short(text, folding)}", folding.room)),)


def _short(text: str, folding: Folding) -> str:
    """The beginning of a text that may be long, on one line."""
    return one_line(" ".join(text[: 4 * folding.room].split()))


def _thought(part: Reasoning, folding: Folding) -> Iterator[Line]:
    text = part.text or part.summary
    if not text:
        if folding.thinking:
            yield _folded("thinking (the source does not show it)", folding)
    elif folding.thinking:
        yield (("dim", f"{OURS}thinking:"),)
        yield from said(text, folding.width, "dim")
        if part.text and part.summary:
            yield (("dim", f"{OURS}in short:"),)
            yield from said(part.summary, folding.width, "dim")
    else:
        amount = f" ({count(lines_in(text), 'line')})"
        begun = cut(f"{OURS}thinking: {_short(text, folding)}", folding.room - len(amount))
        yield (("dim", f"{begun}{amount}"),)


def _code(part: Code) -> Iterator[Line]:
    what = one_line(" ".join(word for word in ("code", part.language, describe.place(part)) if word))
    yield (("dim", f"{OURS}{what}:"),)
    yield from said(part.code, None)


def _citations(citations: list[Citation], folding: Folding) -> Iterator[Line]:
    if not citations:
        return
    if folding.everything:
        for citation in citations:
            yield (("dim", one_line(f"{OURS}[cites {describe.citation(citation)}]")),)
    else:
        more = f" and {len(citations) - 1:,} more" if len(citations) > 1 else ""
        yield _folded(f"[cites {describe.citation(citations[0])}{more}]", folding)


def _other(part: Other, folding: Folding) -> Iterator[Line]:
    text = f"[{part.name or 'other content'}] {compact(part.data)}"
    yield (("dim", one_line(f"{OURS}{text}")),) if folding.everything else _folded(text, folding)


# Tools.


def _call(call: ToolCall, result: ToolResult | None, folding: Folding) -> Iterator[Line]:
    arguments = tree.arguments(call)
    name = one_line(call.name)
    kind = f" ({call.kind})" if call.kind and call.kind not in call.name.lower() else ""
    status = _status(result)
    told = sum(width(text) for _, text in status)
    room = folding.room - len(OURS) - len("→  ") - width(name) - len(kind) - told - 2
    begin: Line = (f"{OURS}→ ", ("tool", cut(name, folding.room)), ("dim", kind))
    told_input = cut(_short(describe.call(call), folding), max(room, _NARROWEST))
    if not folding.tools:
        yield (*begin, f" {told_input}" if told_input else "", "  ", *status)
        return
    yield begin if result is not None else (*begin, "  ", *status)
    yield from _input(arguments, folding)
    if result is not None:
        yield (("dim", f"{OURS}← "), *status)
        yield from _output(result, folding)


def _answer(result: ToolResult, folding: Folding) -> Iterator[Line]:
    """A result whose call is not shown."""
    name = one_line(result.name or "a tool")
    yield ("", ("dim", f"{OURS}← "), ("tool", cut(name, folding.room)), "  ", *_status(result))
    if folding.tools:
        yield from _output(result, folding)


def _status(result: ToolResult | None) -> tuple[tuple[Style, str], ...]:
    """How it went and how much came of it."""
    if result is None:
        return (("dim", "no result"),)
    how = _HOW[result.is_error]
    return (how, ("dim", f", {describe.amount(result)}"))


def _input(arguments: Any, folding: Folding) -> Iterator[Line]:
    """All arguments of a call, each on a line, texts of several lines below their names."""
    if not isinstance(arguments, dict):
        yield from said(plain(arguments), folding.width)
        return
    for name, value in arguments.items():
        text = plain(value)
        if "\n" in text:
            yield (f"{TEXT}{one_line(str(name))}:",)
            yield from said(_NOT_EMPTY.sub("  ", text), None)
        else:
            yield (f"{TEXT}{one_line(str(name))}: {one_line(text)}",)


def _output(result: ToolResult, folding: Folding) -> Iterator[Line]:
    if isinstance(result.output, str):
        yield from said(result.output, None)
        return
    for part in result.output:
        if isinstance(part, Text):
            yield from said(part.text, None)
            yield from _citations(part.citations, folding)
        else:
            yield from lines_of(part, None, folding)
