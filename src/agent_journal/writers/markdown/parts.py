"""Parts of messages as blocks of Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.rendering.file_edits import file_edits
from agent_journal.rendering.turns import ToolUse
from agent_journal.text import describe
from agent_journal.text.describe import compact, lines_in, plain
from agent_journal.text.humanize import count, duration
from agent_journal.writers.dialects.json_bytes import pretty
from agent_journal.writers.rendering.safe_markdown import (
    block_quote,
    details_block,
    escape_html,
    escape_inline,
    fenced_block,
    inline_code,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Citation, Message, Part
    from agent_journal.writers import RelatedConversation
    from agent_journal.writers.rendering.pages import Page

_MAX_INLINE_CHARS = 120
_STATUSES = {True: "error", False: "ok", None: "done"}
_WEB_PREFIXES = ("https://", "http://")


def part_blocks(part: Part | ToolUse, message: Message, page: Page) -> Iterator[str]:
    """The Markdown blocks of a part."""
    match part:
        case Text(injected=True):
            yield from details_block("Added by the tool, not written by the user", [fenced_block(part.text)])
        case Text():
            if part.text.strip():
                yield block_quote(part.text, hard_breaks=message.role == "user")
            if part.citations:
                yield "\n".join(map(_citation, part.citations))
        case ToolUse():
            yield from _tool_use(part, message, page)
            for child, address in page.subagents_of_call(part.call):
                yield subagent_link(child, address)
        case Reasoning():
            yield from _reasoning(part)
        case ToolResult():
            name = escape_html(part.name or "a tool")
            yield from details_block(f"← {name} — {_status(part)}", _output_blocks(part, message, page))
        case Code():
            yield from _code(part)
        case Media():
            yield _media(part, page)
            if text := tree.held_text(part):
                yield from details_block(
                    f"Text of {escape_html(part.name or 'the file')}", [fenced_block(text)]
                )
        case Other():
            yield from details_block(
                escape_html(part.name or "other content"), [fenced_block(_json(part.data), "json")]
            )
        case ToolCall():
            yield from _tool_use(ToolUse(part, None, None), message, page)


def subagent_link(child: RelatedConversation, address: str) -> str:
    """A link to the page of a subagent."""
    return f"Subagent: [{escape_inline(child.title or child.id)}](<{address}>)"


def _citation(citation: Citation) -> str:
    is_page = citation.url is not None and citation.url.startswith(_WEB_PREFIXES)
    label = citation.title if citation.title and is_page else describe.citation(citation)
    line = f"- Source: {_link(label, citation.url)}"
    return f"{line}: {escape_inline(citation.text)}" if citation.text and citation.text != label else line


def _link(text: str, address: str | None) -> str:
    if address is None or not address.startswith(_WEB_PREFIXES):
        return escape_inline(text)
    return f"[{escape_inline(text)}](<{_percent_encoded(address)}>)"


def _percent_encoded(text: str) -> str:
    """An address in which characters that could end it are percent-encoded."""
    from urllib.parse import quote as percent  # noqa: PLC0415 (few conversations cite)

    return percent(text, safe="%/:?#@!$&'*+,;=~[]()-._")


def _reasoning(reasoning: Reasoning) -> Iterator[str]:
    text = reasoning.text or reasoning.summary
    if not text:
        yield "*Thinking (not recorded)*"
        return
    blocks = [block_quote(text)]
    if reasoning.text and reasoning.summary:
        blocks += ["Summary:", block_quote(reasoning.summary)]
    yield from details_block(f"Thinking — {count(lines_in(text), 'line')}", blocks)


def _code(part: Code) -> Iterator[str]:
    if part.file:
        yield f"Code in {inline_code(describe.code_location(part))}:"
    yield fenced_block(part.code, part.language)


def _media(media: Media, page: Page) -> str:
    description = describe.media(media)
    if address := page.image_address(media):
        return f"![{escape_inline(description)}](<{address}>)"
    if path := page.file_path(media):
        return f"[{escape_inline(description)}](<{path}>)"
    return f"*{_link(description, media.ref)}*"


def _tool_use(use: ToolUse, message: Message, page: Page) -> Iterator[str]:
    call, result = use.call, use.result
    preview = " ".join(describe.call(call)[: 4 * _MAX_INLINE_CHARS].split())
    preview = preview if len(preview) <= _MAX_INLINE_CHARS else f"{preview[:_MAX_INLINE_CHARS]}…"
    took_ms = describe.took_ms(message.at, use.result_message.at) if use.result_message else None
    status = (
        "no result" if result is None else _status(result) + (f", {duration(took_ms)}" if took_ms else "")
    )
    summary = (
        f"→ {escape_html(call.name)}{f' <code>{escape_html(preview)}</code>' if preview else ''} — {status}"
    )
    blocks = [*_input_blocks(call), *(_output_blocks(result, message, page) if result is not None else ())]
    return details_block(summary, blocks or ["(no input or output)"])


def _status(result: ToolResult) -> str:
    return f"{_STATUSES[result.is_error]}, {describe.result_size(result)}"


def _input_blocks(call: ToolCall) -> Iterator[str]:
    """The arguments of a call: file changes as a diff, anything else by name."""
    changes = file_edits(call)
    for change in changes:
        if change.path:
            yield f"{'New file' if change.is_new else 'Changes in'} {inline_code(change.path)}:"
        yield fenced_block(change.diff, "diff")
    if changes:
        return
    arguments = tree.arguments(call)
    if isinstance(arguments, dict):
        yield from _argument_blocks(arguments, call)
    elif arguments not in (None, ""):
        yield fenced_block(plain(arguments))


def _argument_blocks(arguments: dict[str, Any], call: ToolCall) -> Iterator[str]:
    short_arguments: list[str] = []
    for name, value in arguments.items():
        text = plain(value)
        if "\n" in text or len(text) > _MAX_INLINE_CHARS:
            yield f"{escape_inline(name)}:"
            yield fenced_block(text, "sh" if call.kind == "shell" and name in {"command", "cmd"} else None)
        else:
            short_arguments.append(f"- {escape_inline(name)}: {inline_code(text)}")
    if short_arguments:
        yield "\n".join(short_arguments)


def _output_blocks(result: ToolResult, message: Message, page: Page) -> Iterator[str]:
    if isinstance(result.output, str):
        if result.output:
            yield fenced_block(result.output)
        return
    for part in result.output:
        if isinstance(part, Text):
            yield fenced_block(part.text)
            if part.citations:
                yield "\n".join(map(_citation, part.citations))
        else:
            yield from part_blocks(part, message, page)


def _json(value: Any) -> str:
    try:
        return pretty(value).decode()
    except (RecursionError, msgspec.EncodeError, msgspec.DecodeError):
        return compact(value)
