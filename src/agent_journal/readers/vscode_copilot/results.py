"""The results of tools: text, trees of text, images; or the editor's rendering of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.readers.vscode_copilot import locations
from agent_journal.readers.vscode_copilot.attachments import base64_of
from agent_journal.readers.vscode_copilot.names import SIMPLE

if TYPE_CHECKING:
    from agent_journal.model import MediaKind
    from agent_journal.readers.vscode_copilot.rounds import Call

Output: TypeAlias = list[Text | Code | Reasoning | ToolCall | Media | Other]
# `[](file:///a.py)`
_LINK_WITHOUT_LABEL = re.compile(r"\[\]\(([^()\s]+)\)")
_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


def from_model(raw: dict[str, Any], request: Fields, call: Call, shown: Fields | None) -> ToolResult:
    """Convert the result that the model received; its other fields stay in `extra`."""
    fields = Fields(raw, request.note, request.where)
    fields.drop("$mid")  # a marker for the editor's inter-process messages
    content = fields.items("content") or []
    failed = fields.flag("hasError")
    return ToolResult(
        call_id=call.call_id,
        name=call.name,
        output=_simplify([_part(item) for item in content]),
        is_error=_is_error(shown) if failed is None else failed,
        native=content if any(map(_tree, content)) else None,
        extra=fields.rest() | _exit_code(shown),
    )


def from_shown(shown: Fields, call_id: str | None, name: str) -> ToolResult | None:
    """Convert the editor's rendering of a result, which is otherwise unknown."""
    details, specific = shown.view("resultDetails"), shown.view("toolSpecificData")
    output: Output = []
    raw = details.get("output") if isinstance(details, dict) else None
    if isinstance(raw, list):
        output = [_shown_part(item) for item in raw]
    elif isinstance(raw, dict) and (media := _generated_media(raw)) is not None:
        output = [media]
    elif (text := _specific_text(specific) or _error(shown) or _shown_text(shown)) is not None:
        output = [Text(text=text)]
    if not output:
        return None
    return ToolResult(
        call_id=call_id,
        name=name,
        output=_simplify(output),
        is_error=_is_error(shown),
        extra=_exit_code(shown),
    )


def _simplify(parts: Output) -> str | Output:
    """Return a single text as a string; anything else as parts."""
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
    """Return the prompt tree in a result, if there is one; its text alone would lose information."""
    value = item.get("value") if isinstance(item, dict) else None
    node = value.get("node") if isinstance(value, dict) else None
    return node if isinstance(node, dict) else None


def _without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def _data(item: dict[str, Any]) -> Media | None:
    """Convert bytes with their media type."""
    mime, data = item.get("mimeType"), item.get("data")
    encoded = data if isinstance(data, str) else base64_of(data)
    if not isinstance(mime, str) or encoded is None:
        return None
    rest = _without(item, "$mid", "mimeType", "data")
    return Media(kind=_kind(mime), mime=mime, data=encoded, extra=rest)


def _kind(mime: str | None) -> MediaKind:
    return _KINDS.get((mime or "").partition("/")[0], "file")


def text_of_tree(node: dict[str, Any]) -> str:
    """Return the text of a prompt tree; a node states whether it starts a new line."""
    texts: list[str] = []
    pending: list[Any] = [node]
    while pending:
        current = pending.pop()
        if not isinstance(current, dict):
            continue
        text, children = current.get("text"), current.get("children")
        if isinstance(text, str):
            if texts and current.get("lineBreakBefore") and not texts[-1].endswith("\n"):
                texts.append("\n")
            texts.append(text)
        if isinstance(children, list):
            pending.extend(reversed(children))
    return "".join(texts)


def _shown_part(item: Any) -> Text | Media | Other:
    if not isinstance(item, dict) or not isinstance(item.get("value"), str):
        return Other(data=item)
    if item.get("isText") is not False:
        return Text(text=item["value"])
    mime = item.get("mimeType")
    mime = mime if isinstance(mime, str) else None
    return Media(kind=_kind(mime), mime=mime, data=item["value"])


def _generated_media(output: dict[str, Any]) -> Media | None:
    """Convert the output of a tool that generates media, such as an image."""
    mime, data = output.get("mimeType"), output.get("base64Data")
    if not isinstance(mime, str) or not isinstance(data, str):
        return None
    return Media(kind=_kind(mime), mime=mime, data=data)


def _specific_text(specific: Any) -> str | None:
    """Return the output of a terminal, the answer of a subagent, or the output of an external tool."""
    if not isinstance(specific, dict):
        return None
    terminal = specific.get("terminalCommandOutput")
    result = specific.get("output" if specific.get("kind") == SIMPLE else "result")
    text = terminal.get("text") if isinstance(terminal, dict) else result
    return text if isinstance(text, str) and text else None


def _shown_text(shown: Fields) -> str | None:
    """Return the editor's message about a result, and the locations in it, each on a line of its own."""
    message, details = shown.view("pastTenseMessage"), shown.view("resultDetails")
    text = message.get("value") if isinstance(message, dict) else message
    lines = [_LINK_WITHOUT_LABEL.sub(_link_path, text)] if isinstance(text, str) and text.strip() else []
    lines += map(_location, details) if isinstance(details, list) else ()
    return "\n".join(line for line in lines if line) or None


def _link_path(link: re.Match[str]) -> str:
    """Return the target of a link without a label; the editor shows the file instead."""
    return locations.path_of(link[1].partition("#")[0]) or link[0]


def _location(item: Any) -> str:
    path, (line, _) = locations.path_of(item), locations.lines_of(item)
    return f"{path}:{line}" if path and line is not None else path or ""


def _error(shown: Fields) -> str | None:
    """Return the error of a tool."""
    error = shown.view("resultError")
    return error if isinstance(error, str) and error else None


def _is_error(shown: Fields | None) -> bool | None:
    if shown is None:
        return None
    details = shown.view("resultDetails")
    failed = details.get("isError") if isinstance(details, dict) else None
    return failed if isinstance(failed, bool) else True if _error(shown) else None


def _exit_code(shown: Fields | None) -> dict[str, int]:
    specific = None if shown is None else shown.view("toolSpecificData")
    state = specific.get("terminalCommandState") if isinstance(specific, dict) else None
    code = state.get("exitCode") if isinstance(state, dict) else None
    return {"exit_code": code} if code.__class__ is int else {}
