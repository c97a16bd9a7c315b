"""Converts tool results: text, an error, images, an exit code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Text, ToolResult
from agent_journal.readers.dialects.copilot_events.attachments import inline

if TYPE_CHECKING:
    from agent_journal.model import Media
    from agent_journal.readers.dialects.copilot_events.attachments import Assets

# The end of a shell's output; newer versions have the code in `contents`, and 1.0.102 in `shellExecution`.
_EXIT_LINE = re.compile(r"<exited with exit code (-?\d{1,9})>\s*\Z", re.ASCII)
_EXIT_LINE_MAX_CHARS = 60


def result(body: Fields, call_id: str | None, name: str | None, assets: Assets) -> ToolResult:
    """Take the result of a finished execution; other fields stay in `body`."""
    success = body.flag("success")
    raw = body.view("result")
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
            media = _take_model_media(inner, assets)
    if code is None:
        code = _number(body.view("shellExecution"))
    if not output:
        output = _error(body) or output
    if (
        code is None
        and output
        and (exited := _EXIT_LINE.search(output, max(len(output) - _EXIT_LINE_MAX_CHARS, 0)))
    ):
        code = int(exited[1])
    return ToolResult(
        call_id=call_id,
        output=[*([Text(text=output)] if output else []), *media] if media else output or "",
        is_error=None if success is None else not success,
        name=name,
        extra={} if code is None else {"exit_code": code},
    )


def _error(body: Fields) -> str | None:
    """Take the error message of a failed execution."""
    if body.view("error").__class__ is str:
        return body.text("error")
    error = body.nested("error")
    return None if error is None else error.text("message")


def _blocks(inner: Fields) -> list[Any]:
    contents = inner.view("contents")
    return contents if contents.__class__ is list else []


def _media(inner: Fields, assets: Assets) -> list[Media]:
    """Take images and audio out of the contents; the other blocks repeat the text and stay."""
    blocks = _blocks(inner)
    media_blocks = [block for block in blocks if _is_media(block)]
    if media_blocks:
        inner.keep("contents", [block for block in blocks if not _is_media(block)])
    return [_without_type(block, inner, assets) for block in media_blocks]


def _take_model_media(inner: Fields, assets: Assets) -> list[Media]:
    """Take media sent to the model, inline or as an asset; blocks without data stay."""
    raw = inner.view("binaryResultsForLlm")
    blocks: list[Any] = raw if raw.__class__ is list else []
    media_blocks = [block for block in blocks if _has_data(block)]
    if media_blocks:
        inner.keep("binaryResultsForLlm", [block for block in blocks if not _has_data(block)])
    return [_without_type(block, inner, assets) for block in media_blocks]


def _has_data(block: Any) -> bool:
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
