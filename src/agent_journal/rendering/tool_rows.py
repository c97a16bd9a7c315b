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
from agent_journal.rendering.file_edits import PATHS, file_edits
from agent_journal.rendering.markup import SLOT, Markup, Template, element, joined
from agent_journal.text import describe
from agent_journal.text.humanize import duration

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
_CHANGING_KINDS = frozenset({"edit", "write", "shell", None})  # patches are applied by many tools
_MIN_SHOWN_MS = 100


def tool_call(
    use: ToolUse, anchor: str | None, render_part: Callable[[Part], Markup], folder: str | None = None
) -> Markup:
    """A tool call with its result; `anchor` is that of the message that contained the result.

    Paths below `folder`, the working folder, are shown relative to it in the line that is always visible.
    """
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
    preview = first_line(_shortened(describe.call(call), folder))
    return template(classes, call.name, preview, _status(use), joined(content))


def changed_lines(call: ToolCall) -> tuple[int, int]:
    """How many lines a call adds and removes, as far as its arguments show."""
    if call.kind not in _CHANGING_KINDS:
        return 0, 0
    lines = [line[:1] for edit in file_edits(call) for line in edit.diff.split("\n")]
    return lines.count("+"), lines.count("-")


def _shortened(text: str, folder: str | None) -> str:
    """A path relative to a folder, if it is below that."""
    return text.removeprefix(f"{folder.rstrip('/')}/") if folder else text


def orphan_result(result: ToolResult, render_part: Callable[[Part], Markup]) -> Markup:
    """A result whose call is unknown."""
    classes = "tool bad" if result.is_error else "tool"
    answer = _result(result, None, None, render_part, None)
    status = " · ".join(filter(None, (_outcome(result), describe.result_size(result))))
    return _FOLDED(classes, result.name or "result", _preview(result), status, answer)


def _preview(result: ToolResult) -> str:
    return first_line(result.output) if isinstance(result.output, str) else ""


def _status(use: ToolUse) -> Markup:
    """How a call went: changed lines, what failed, how long it took, and the size of its output."""
    added, removed = changed_lines(use.call)
    pieces = [element("span", "plus", f"+{added:,}")] if added else []
    pieces += [element("span", "minus", f"−{removed:,}")] if removed else []
    if use.result is None or use.result_message is None:
        return _spaced([*pieces, element("span", "", "no result")])
    if outcome := _outcome(use.result):
        pieces.append(element("span", "outcome", outcome))
    took_ms = describe.took_ms(use.called_at, use.result_message.at)
    if took_ms is not None and took_ms >= _MIN_SHOWN_MS:
        pieces.append(element("span", {"title": "From the call to its result"}, duration(took_ms)))
    return _spaced([*pieces, element("span", "", describe.result_size(use.result))])


def _spaced(pieces: list[Markup]) -> Markup:
    return joined([part for piece in pieces for part in (" ", piece)][1:])


def _outcome(result: ToolResult) -> str:
    """How a tool ended, unless it just succeeded: `error`, `exit 1`."""
    code = result.extra.get("exit_code")
    if isinstance(code, int) and code:
        return f"exit {code}"
    return "error" if result.is_error else ""


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
