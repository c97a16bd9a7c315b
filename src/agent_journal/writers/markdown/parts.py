"""Parts of messages as blocks of Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.text import describe
from agent_journal.text.describe import compact, lines_in, plain
from agent_journal.text.humanize import count, duration
from agent_journal.writers.dialects.json_bytes import pretty
from agent_journal.writers.rendering.file_edits import edits
from agent_journal.writers.rendering.safe_markdown import code, fence, folded, in_tags, inline, quote
from agent_journal.writers.rendering.turns import Done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Citation, Message, Part
    from agent_journal.writers import Kin
    from agent_journal.writers.rendering.pages import Page

_ON_ONE_LINE = 120
_HOW = {True: "error", False: "ok", None: "done"}
_PAGES = ("https://", "http://")


def part(each: Part | Done, message: Message, page: Page) -> Iterator[str]:
    """The blocks of a part."""
    match each:
        case Text(injected=True):
            yield from folded("Added by the tool", [fence(each.text)])
        case Text():
            if each.text.strip():
                yield quote(each.text, keep_lines=message.role == "user")
            if each.citations:
                yield "\n".join(map(_citation, each.citations))
        case Done():
            yield from _done(each, message, page)
            for kin, address in page.started_by(each.call):
                yield subagent(kin, address)
        case Reasoning():
            yield from _thought(each)
        case ToolResult():
            name = in_tags(each.name or "a tool")
            yield from folded(f"← {name} — {_how(each)}", _output(each, message, page))
        case Code():
            yield from _code(each)
        case Media():
            yield _media(each, page)
            if held := tree.held_text(each):
                yield from folded(f"Text of {in_tags(each.name or 'it')}", [fence(held)])
        case Other():
            yield from folded(in_tags(each.name or "other content"), [fence(_json(each.data), "json")])
        case ToolCall():
            yield from _done(Done(each, None, None), message, page)


def subagent(kin: Kin, address: str) -> str:
    """A link to what a call started, which has a page of its own."""
    return f"Subagent: [{inline(kin.title or kin.id)}](<{address}>)"


def _citation(citation: Citation) -> str:
    is_page = citation.url is not None and citation.url.startswith(_PAGES)
    words = citation.title if citation.title and is_page else describe.citation(citation)
    told = f"- Cites {_link(words, citation.url)}"
    return f"{told}: {inline(citation.text)}" if citation.text and citation.text != words else told


def _link(text: str, address: str | None) -> str:
    if address is None or not address.startswith(_PAGES):
        return inline(text)
    return f"[{inline(text)}](<{_address(address)}>)"


def _address(text: str) -> str:
    """An address in which nothing ends it."""
    from urllib.parse import quote as percent  # noqa: PLC0415 (few conversations cite)

    return percent(text, safe="%/:?#@!$&'*+,;=~[]()-._")


def _thought(thought: Reasoning) -> Iterator[str]:
    text = thought.text or thought.summary
    if not text:
        yield "*Thinking, which the source does not show*"
        return
    blocks = [quote(text)]
    if thought.text and thought.summary:
        blocks += ["In short:", quote(thought.summary)]
    yield from folded(f"Thinking — {count(lines_in(text), 'line')}", blocks)


def _code(each: Code) -> Iterator[str]:
    if each.file:
        yield f"Code in {code(describe.place(each))}:"
    yield fence(each.code, each.language)


def _media(media: Media, page: Page) -> str:
    told = describe.media(media)
    if address := page.picture(media):
        return f"![{inline(told)}](<{address}>)"
    if path := page.file(media):
        return f"[{inline(told)}](<{path}>)"
    return f"*{_link(told, media.ref)}*"


def _done(done: Done, message: Message, page: Page) -> Iterator[str]:
    call, result = done.call, done.result
    told = " ".join(describe.call(call)[: 4 * _ON_ONE_LINE].split())
    told = told if len(told) <= _ON_ONE_LINE else f"{told[:_ON_ONE_LINE]}…"
    took = describe.took_ms(message.at, done.answer.at) if done.answer else None
    how = "no result" if result is None else _how(result) + (f", {duration(took)}" if took else "")
    summary = f"→ {in_tags(call.name)}{f' <code>{in_tags(told)}</code>' if told else ''} — {how}"
    blocks = [*_input(call), *(_output(result, message, page) if result is not None else ())]
    return folded(summary, blocks or ["(nothing)"])


def _how(result: ToolResult) -> str:
    return f"{_HOW[result.is_error]}, {describe.amount(result)}"


def _input(call: ToolCall) -> Iterator[str]:
    """What a call was given: changes as a diff, a command as one, anything else by name."""
    changed = edits(call)
    for edit in changed:
        if edit.path:
            yield f"{'New file' if edit.is_new else 'Change in'} {code(edit.path)}:"
        yield fence(edit.diff, "diff")
    if changed:
        return
    given = tree.arguments(call)
    if isinstance(given, dict):
        yield from _named(given, call)
    elif given not in (None, ""):
        yield fence(plain(given))


def _named(given: dict[str, Any], call: ToolCall) -> Iterator[str]:
    short: list[str] = []
    for name, value in given.items():
        text = plain(value)
        if "\n" in text or len(text) > _ON_ONE_LINE:
            yield f"{inline(name)}:"
            yield fence(text, "sh" if call.kind == "shell" and name in {"command", "cmd"} else None)
        else:
            short.append(f"- {inline(name)}: {code(text)}")
    if short:
        yield "\n".join(short)


def _output(result: ToolResult, message: Message, page: Page) -> Iterator[str]:
    if isinstance(result.output, str):
        if result.output:
            yield fence(result.output)
        return
    for each in result.output:
        if isinstance(each, Text):
            yield fence(each.text)
            if each.citations:
                yield "\n".join(map(_citation, each.citations))
        else:
            yield from part(each, message, page)


def _json(value: Any) -> str:
    try:
        return pretty(value).decode()
    except (RecursionError, msgspec.EncodeError, msgspec.DecodeError):
        return compact(value)
