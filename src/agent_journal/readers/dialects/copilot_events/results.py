"""What a tool answered: text, an error, pictures, an exit code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Text, ToolResult
from agent_journal.readers.dialects.copilot_events.attachments import inline

if TYPE_CHECKING:
    from agent_journal.model import Media
    from agent_journal.readers.dialects.copilot_events.attachments import Assets

# How shells end their output; newer versions state it in `contents`, and 1.0.102 in `shellExecution`.
_EXITED = re.compile(r"<exited with exit code (-?\d{1,9})>\s*\Z", re.ASCII)
_TAIL = 60


def result(body: Fields, call_id: str | None, name: str | None, assets: Assets) -> ToolResult:
    """The result that a finished execution states; what it says beyond that stays in `body`."""
    success = body.flag("success")
    raw = body.look("result")
    media: list[Media] = []
    code: int | None = None
    if raw.__class__ is str:
        output = body.text("result")
    else:
        inner = body.nested("result")
        output = None if inner is None else inner.text("content")
        if inner is not None and inner.has("contents"):
            media, code = _media(inner, assets), _exit_code(inner)
        if inner is not None and not media and inner.has("binaryResultsForLlm"):
            media = _given(inner, assets)
    if code is None:
        code = _number(body.look("shellExecution"))
    if not output:
        output = _error(body) or output
    if code is None and output and (exited := _EXITED.search(output, max(len(output) - _TAIL, 0))):
        code = int(exited[1])
    return ToolResult(
        call_id=call_id,
        output=[*([Text(text=output)] if output else []), *media] if media else output or "",
        is_error=None if success is None else not success,
        name=name,
        extra={} if code is None else {"exit_code": code},
    )


def _error(body: Fields) -> str | None:
    """Why there is no result."""
    if body.look("error").__class__ is str:
        return body.text("error")
    error = body.nested("error")
    return None if error is None else error.text("message")


def _blocks(inner: Fields) -> list[Any]:
    contents = inner.look("contents")
    return contents if contents.__class__ is list else []


def _media(inner: Fields, assets: Assets) -> list[Media]:
    """Pictures and sounds among the contents; the others say again what the text says, and stay."""
    blocks = _blocks(inner)
    found = [block for block in blocks if _is_media(block)]
    if found:
        inner.keep("contents", [block for block in blocks if not _is_media(block)])
    return [_without_type(block, inner, assets) for block in found]


def _given(inner: Fields, assets: Assets) -> list[Media]:
    """What the model was given besides text: inside, or in an event of its own; what was left out stays."""
    raw = inner.look("binaryResultsForLlm")
    blocks: list[Any] = raw if raw.__class__ is list else []
    found = [block for block in blocks if _is_given(block)]
    if found:
        inner.keep("binaryResultsForLlm", [block for block in blocks if not _is_given(block)])
    return [_without_type(block, inner, assets) for block in found]


def _is_given(block: Any) -> bool:
    return isinstance(block, dict) and any(isinstance(block.get(name), str) for name in ("data", "assetId"))


def _is_media(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") in ("image", "audio")
        and isinstance(block.get("data"), str)
    )


def _without_type(block: dict[str, Any], inner: Fields, assets: Assets) -> Media:
    fields = Fields(block, inner.note, inner.where)
    fields.drop("type")
    return inline(fields, assets)


def _exit_code(inner: Fields) -> int | None:
    return next((code for block in _blocks(inner) if (code := _number(block)) is not None), None)


def _number(block: Any) -> int | None:
    code = block.get("exitCode") if isinstance(block, dict) else None
    return code if code.__class__ is int else None
