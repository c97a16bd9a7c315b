"""What tools were asked and what they answered: one line, and everything else folded below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, ToolResult, tree
from agent_journal.text import describe
from agent_journal.writers.html.blocks import answered, block, first_line, fold, language_of, printed, value
from agent_journal.writers.html.diffs import change, diff, is_diff
from agent_journal.writers.html.markup import PLACE, Markup, Pattern, element, joined
from agent_journal.writers.rendering.file_edits import PATHS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.model import Part, ToolCall
    from agent_journal.writers.rendering.turns import Done

# What tools call what they replace and what they put in its place.
_EDITS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("search", "replace"),
)
_COMMANDS = ("command", "cmd", "script")
_FOLDED = Pattern(element("details", {"class": PLACE}, fold(PLACE)))
_UNFOLDED = Pattern(element("details", {"class": PLACE, "open": ""}, fold(PLACE)))
_ARGUMENT = Pattern(element("dt", "", PLACE), element("dd", "", PLACE))
_ANSWER_OF = Pattern(element("div", {"class": "answer", "id": PLACE}, PLACE))
_NO_OUTPUT = element("p", "quiet", "(no output)")
_LONG = 100
_HOW = {True: "error", False: "ok", None: ""}


def done(act: Done, anchor: str | None, inner: Callable[[Part], Markup]) -> Markup:
    """A call with its result; `anchor` is that of the message which held the result."""
    call, result = act.call, act.result
    arguments = tree.arguments(call)
    is_bad = result is not None and result.is_error is True
    classes = " ".join(filter(None, ("tool", call.kind, "bad" if is_bad else "")))
    content = [*_asked(call, arguments)]
    if result is not None:
        content.append(_answer(result, call.kind, _language(arguments), inner, anchor))
    is_open = result is not None and any(isinstance(part, Media) and part.data for part in _parts_of(result))
    form = _UNFOLDED if is_open else _FOLDED
    told = first_line(describe.call(call))
    return form(classes, call.name, told, _status(result), joined(content))


def result_alone(result: ToolResult, inner: Callable[[Part], Markup]) -> Markup:
    """A result whose call is not known."""
    classes = "tool bad" if result.is_error else "tool"
    answer = _answer(result, None, None, inner, None)
    return _FOLDED(classes, result.name or "result", _begin(result), _status(result), answer)


def _begin(result: ToolResult) -> str:
    return first_line(result.output) if isinstance(result.output, str) else ""


def _status(result: ToolResult | None) -> str:
    if result is None:
        return "no result"
    return " · ".join(filter(None, (_HOW[result.is_error], describe.amount(result))))


def _parts_of(result: ToolResult) -> list[Any]:
    return [] if isinstance(result.output, str) else result.output


def _language(arguments: Any) -> str | None:
    if not isinstance(arguments, dict):
        return None
    return next((found for name in PATHS if (found := language_of(arguments.get(name)))), None)


def _asked(call: ToolCall, arguments: Any) -> Iterator[Markup]:
    """What a call says, in the form that tells most."""
    if not isinstance(arguments, dict):
        if arguments is not None and arguments != "":
            yield printed(f"$ {describe.plain(arguments)}") if call.kind == "shell" else value(arguments)
        return
    rest = dict(arguments)
    forms = [*_command(rest)] if call.kind == "shell" else []
    forms += _changes(rest)
    if rest:
        yield _listed(rest, _language(arguments))
    yield from forms


def _command(rest: dict[str, Any]) -> Iterator[Markup]:
    """The command that arguments name, which is taken out of them."""
    if name := next((each for each in _COMMANDS if rest.get(each)), None):
        prompt = element("span", "prompt", "$ ")
        yield element("pre", "terminal", prompt, describe.plain(rest.pop(name)))


def _changes(rest: dict[str, Any]) -> Iterator[Markup]:
    """The changes that arguments ask for, which are taken out of them."""
    for old, new in _EDITS:
        if isinstance(rest.get(old), str) and isinstance(rest.get(new), str):
            yield change(rest.pop(old), rest.pop(new))
    edits = rest.get("edits")
    if isinstance(edits, list) and edits and all(map(_is_change, edits)):
        del rest["edits"]
        for edit in edits:
            left = dict(edit)
            yield from _changes(left)
            if left:
                yield _listed(left, None)


def _is_change(edit: Any) -> bool:
    return isinstance(edit, dict) and any(
        isinstance(edit.get(old), str) and isinstance(edit.get(new), str) for old, new in _EDITS
    )


def _listed(arguments: dict[str, Any], language: str | None) -> Markup:
    """Arguments by name."""
    pieces = [_ARGUMENT(name, _argument(told, language)) for name, told in arguments.items()]
    return element("dl", "arguments", *pieces)


def _argument(told: Any, language: str | None) -> Markup:
    if isinstance(told, str):
        if len(told) <= _LONG and "\n" not in told:
            return element("code", "", told)
        return diff(told) if is_diff(told) else block(told, language)
    made = describe.compact(told)
    return element("code", "", made) if len(made) <= _LONG else value(told)


def _answer(
    result: ToolResult,
    kind: str | None,
    language: str | None,
    inner: Callable[[Part], Markup],
    anchor: str | None,
) -> Markup:
    if not isinstance(result.output, str):
        shown = joined(map(inner, result.output))
    elif not result.output:
        shown = _NO_OUTPUT
    elif kind == "shell" and not is_diff(result.output):
        shown = printed(result.output)
    else:
        # What is read from a file is in its language; what else is done to one is told in words.
        shown = answered(result.output, language if kind == "read" else None)
    return _ANSWER_OF(anchor, shown) if anchor else element("div", "answer", shown)
