"""Tool calls and results: one line each, with everything else folded below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, ToolResult, tree
from agent_journal.rendering.blocks import (
    block,
    first_line,
    folded,
    language_of,
    terminal_block,
    tool_output,
    value_block,
)
from agent_journal.rendering.diffs import change, diff, is_diff
from agent_journal.rendering.file_edits import PATHS
from agent_journal.rendering.markup import SLOT, Markup, Template, element, joined
from agent_journal.text import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.model import Part, ToolCall
    from agent_journal.rendering.turns import ToolUse

# The names tools use for the arguments with the old and the new text.
_REPLACEMENT_ARGUMENTS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("search", "replace"),
)
_COMMAND_ARGUMENTS = ("command", "cmd", "script")
_FOLDED = Template(element("details", {"class": SLOT}, folded(SLOT)))
_UNFOLDED = Template(element("details", {"class": SLOT, "open": ""}, folded(SLOT)))
_ARGUMENT = Template(element("dt", "", SLOT), element("dd", "", SLOT))
_RESULT_WITH_ANCHOR = Template(element("div", {"class": "result", "id": SLOT}, SLOT))
_NO_OUTPUT = element("p", "quiet", "(no output)")
_MAX_INLINE_CHARS = 100
_STATUSES = {True: "error", False: "ok", None: ""}


def tool_call(use: ToolUse, anchor: str | None, render_part: Callable[[Part], Markup]) -> Markup:
    """A tool call with its result; `anchor` is that of the message that contained the result."""
    call, result = use.call, use.result
    arguments = tree.arguments(call)
    is_failed = result is not None and result.is_error is True
    classes = " ".join(filter(None, ("tool", call.kind, "bad" if is_failed else "")))
    content = [*_call_content(call, arguments)]
    if result is not None:
        content.append(_result(result, call.kind, _language(arguments), render_part, anchor))
    is_open = result is not None and any(
        isinstance(part, Media) and part.data for part in _output_parts(result)
    )
    template = _UNFOLDED if is_open else _FOLDED
    preview = first_line(describe.call(call))
    return template(classes, call.name, preview, _status(result), joined(content))


def orphan_result(result: ToolResult, render_part: Callable[[Part], Markup]) -> Markup:
    """A result whose call is unknown."""
    classes = "tool bad" if result.is_error else "tool"
    answer = _result(result, None, None, render_part, None)
    return _FOLDED(classes, result.name or "result", _preview(result), _status(result), answer)


def _preview(result: ToolResult) -> str:
    return first_line(result.output) if isinstance(result.output, str) else ""


def _status(result: ToolResult | None) -> str:
    if result is None:
        return "no result"
    return " · ".join(filter(None, (_STATUSES[result.is_error], describe.result_size(result))))


def _output_parts(result: ToolResult) -> list[Any]:
    return [] if isinstance(result.output, str) else result.output


def _language(arguments: Any) -> str | None:
    if not isinstance(arguments, dict):
        return None
    return next((language for name in PATHS if (language := language_of(arguments.get(name)))), None)


def _call_content(call: ToolCall, arguments: Any) -> Iterator[Markup]:
    """The arguments of a call: its command and changes, and a list of all others."""
    if not isinstance(arguments, dict):
        if arguments is not None and arguments != "":
            yield (
                terminal_block(f"$ {describe.plain(arguments)}")
                if call.kind == "shell"
                else value_block(arguments)
            )
        return
    rest = dict(arguments)
    changes = [*_pop_command(rest)] if call.kind == "shell" else []
    changes += _pop_changes(rest)
    if rest:
        yield _argument_list(rest, _language(arguments))
    yield from changes


def _pop_command(rest: dict[str, Any]) -> Iterator[Markup]:
    """The command in `rest`, which is removed from it."""
    if name := next((name for name in _COMMAND_ARGUMENTS if rest.get(name)), None):
        prompt = element("span", "prompt", "$ ")
        yield element("pre", "terminal", prompt, describe.plain(rest.pop(name)))


def _pop_changes(rest: dict[str, Any]) -> Iterator[Markup]:
    """The changes in `rest`, which are removed from it."""
    for old, new in _REPLACEMENT_ARGUMENTS:
        if isinstance(rest.get(old), str) and isinstance(rest.get(new), str):
            yield change(rest.pop(old), rest.pop(new))
    edits = rest.get("edits")
    if isinstance(edits, list) and edits and all(map(_is_change, edits)):
        del rest["edits"]
        for edit in edits:
            other = dict(edit)
            yield from _pop_changes(other)
            if other:
                yield _argument_list(other, None)


def _is_change(edit: Any) -> bool:
    return isinstance(edit, dict) and any(
        isinstance(edit.get(old), str) and isinstance(edit.get(new), str)
        for old, new in _REPLACEMENT_ARGUMENTS
    )


def _argument_list(arguments: dict[str, Any], language: str | None) -> Markup:
    """A list of arguments by name."""
    pieces = [_ARGUMENT(name, _argument(value, language)) for name, value in arguments.items()]
    return element("dl", "arguments", *pieces)


def _argument(value: Any, language: str | None) -> Markup:
    if isinstance(value, str):
        if len(value) <= _MAX_INLINE_CHARS and "\n" not in value:
            return element("code", "", value)
        return diff(value) if is_diff(value) else block(value, language)
    text = describe.compact(value)
    return element("code", "", text) if len(text) <= _MAX_INLINE_CHARS else value_block(value)


def _result(
    result: ToolResult,
    kind: str | None,
    language: str | None,
    render_part: Callable[[Part], Markup],
    anchor: str | None,
) -> Markup:
    if not isinstance(result.output, str):
        content = joined(map(render_part, result.output))
    elif not result.output:
        content = _NO_OUTPUT
    elif kind == "shell" and not is_diff(result.output):
        content = terminal_block(result.output)
    else:
        # The output of other file operations is a message, not the content of the file.
        content = tool_output(result.output, language if kind == "read" else None)
    return _RESULT_WITH_ANCHOR(anchor, content) if anchor else element("div", "result", content)
