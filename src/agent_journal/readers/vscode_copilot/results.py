"""What tools answered: text, trees of text, pictures; or what the editor showed of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.readers.vscode_copilot import places
from agent_journal.readers.vscode_copilot.attachments import base64_of
from agent_journal.readers.vscode_copilot.names import SIMPLE

if TYPE_CHECKING:
    from agent_journal.model import MediaKind
    from agent_journal.readers.vscode_copilot.rounds import Call

Output: TypeAlias = list[Text | Code | Reasoning | ToolCall | Media | Other]
# `[](file:///a.py)`
_NAMELESS = re.compile(r"\[\]\(([^()\s]+)\)")
_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


def given(raw: dict[str, Any], around: Fields, call: Call, shown: Fields | None) -> ToolResult:
    """The result that the model was given; what it has beyond its content stays in `extra`."""
    fields = Fields(raw, around.note, around.where)
    fields.drop("$mid")  # how the editor sends it between its processes
    content = fields.items("content") or []
    failed = fields.flag("hasError")
    return ToolResult(
        call_id=call.call_id,
        name=call.name,
        output=_plain([_part(item) for item in content]),
        is_error=_is_error(shown) if failed is None else failed,
        native=content if any(map(_tree, content)) else None,
        extra=fields.rest() | _exit_code(shown),
    )


def seen(shown: Fields, call_id: str | None, name: str) -> ToolResult | None:
    """What the editor showed of a result, where nothing else is known of it."""
    details, specific = shown.look("resultDetails"), shown.look("toolSpecificData")
    output: Output = []
    told = details.get("output") if isinstance(details, dict) else None
    if isinstance(told, list):
        output = [_shown_part(item) for item in told]
    elif isinstance(told, dict) and (made := _made(told)) is not None:
        output = [made]
    elif (text := _said_by(specific) or _error(shown) or _found(shown)) is not None:
        output = [Text(text=text)]
    if not output:
        return None
    return ToolResult(
        call_id=call_id,
        name=name,
        output=_plain(output),
        is_error=_is_error(shown),
        extra=_exit_code(shown),
    )


def _plain(parts: Output) -> str | Output:
    """One text as it is; anything else as parts."""
    if not parts:
        return ""
    first = parts[0]
    return first.text if len(parts) == 1 and isinstance(first, Text) and not first.extra else parts


def _part(item: Any) -> Text | Media | Other:
    if item.__class__ is not dict:
        return Text(text=item) if isinstance(item, str) else Other(data=item)
    value = item.get("value")
    if isinstance(value, str):
        return Text(text=value, extra=_without(item, "$mid", "value"))
    if (tree := _tree(item)) is not None:
        return Text(text=text_of_tree(tree))
    return _data(item) or Other(data=item)


def _tree(item: Any) -> dict[str, Any] | None:
    """The prompt that a result is, if it is one: kept as it is, because its text does not tell all of it."""
    value = item.get("value") if isinstance(item, dict) else None
    node = value.get("node") if isinstance(value, dict) else None
    return node if isinstance(node, dict) else None


def _without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def _data(item: dict[str, Any]) -> Media | None:
    """Bytes with their media type."""
    mime, data = item.get("mimeType"), item.get("data")
    encoded = data if isinstance(data, str) else base64_of(data)
    if not isinstance(mime, str) or encoded is None:
        return None
    rest = _without(item, "$mid", "mimeType", "data")
    return Media(kind=_kind(mime), mime=mime, data=encoded, extra=rest)


def _kind(mime: str | None) -> MediaKind:
    return _KINDS.get((mime or "").partition("/")[0], "file")


def text_of_tree(node: dict[str, Any]) -> str:
    """The text of a prompt that is kept as a tree; a node says whether a line ends before it."""
    said: list[str] = []
    pending: list[Any] = [node]
    while pending:
        current = pending.pop()
        if not isinstance(current, dict):
            continue
        text, children = current.get("text"), current.get("children")
        if isinstance(text, str):
            if said and current.get("lineBreakBefore") and not said[-1].endswith("\n"):
                said.append("\n")
            said.append(text)
        if isinstance(children, list):
            pending.extend(reversed(children))
    return "".join(said)


def _shown_part(item: Any) -> Text | Media | Other:
    if not isinstance(item, dict) or not isinstance(item.get("value"), str):
        return Other(data=item)
    if item.get("isText") is not False:
        return Text(text=item["value"])
    mime = item.get("mimeType")
    mime = mime if isinstance(mime, str) else None
    return Media(kind=_kind(mime), mime=mime, data=item["value"])


def _made(output: dict[str, Any]) -> Media | None:
    """What a tool made, such as an image."""
    mime, data = output.get("mimeType"), output.get("base64Data")
    if not isinstance(mime, str) or not isinstance(data, str):
        return None
    return Media(kind=_kind(mime), mime=mime, data=data)


def _said_by(specific: Any) -> str | None:
    """What a terminal printed, a sub-agent answered, or another program's tool gave."""
    if not isinstance(specific, dict):
        return None
    printed = specific.get("terminalCommandOutput")
    told = specific.get("output" if specific.get("kind") == SIMPLE else "result")
    found = printed.get("text") if isinstance(printed, dict) else told
    return found if isinstance(found, str) and found else None


def _found(shown: Fields) -> str | None:
    """What the editor says was done, and the places that were found, each on a line of its own."""
    done, details = shown.look("pastTenseMessage"), shown.look("resultDetails")
    words = done.get("value") if isinstance(done, dict) else done
    lines = [_NAMELESS.sub(_path, words)] if isinstance(words, str) and words.strip() else []
    lines += map(_place, details) if isinstance(details, list) else ()
    return "\n".join(line for line in lines if line) or None


def _path(link: re.Match[str]) -> str:
    """Where a link without words leads; the editor shows the file instead."""
    return places.path_of(link[1].partition("#")[0]) or link[0]


def _place(item: Any) -> str:
    path, (line, _) = places.path_of(item), places.lines_of(item)
    return f"{path}:{line}" if path and line is not None else path or ""


def _error(shown: Fields) -> str | None:
    """Why a tool gave nothing."""
    error = shown.look("resultError")
    return error if isinstance(error, str) and error else None


def _is_error(shown: Fields | None) -> bool | None:
    if shown is None:
        return None
    details = shown.look("resultDetails")
    failed = details.get("isError") if isinstance(details, dict) else None
    return failed if isinstance(failed, bool) else True if _error(shown) else None


def _exit_code(shown: Fields | None) -> dict[str, int]:
    specific = None if shown is None else shown.look("toolSpecificData")
    state = specific.get("terminalCommandState") if isinstance(specific, dict) else None
    code = state.get("exitCode") if isinstance(state, dict) else None
    return {"exit_code": code} if code.__class__ is int else {}
