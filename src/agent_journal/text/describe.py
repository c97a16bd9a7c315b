"""What is told of a conversation or a part of it in a few words, whoever tells it.

These are words of the sources: whoever shows them makes them safe for where they are shown.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Event, Media, Text, timestamps, tree
from agent_journal.text.humanize import count, dollars, size

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agent_journal.model import (
        Citation,
        Code,
        Conversation,
        Message,
        Relation,
        ToolCall,
        ToolResult,
        Usage,
    )

# What tools call the argument that tells most, the most telling first.
_TELLING = (
    *("command", "cmd", "pattern", "query", "url", "file_path", "filePath", "notebook_path", "target_file"),
    *("absolute_path", "relativePath", "path", "filename", "file"),
    *("description", "prompt", "task", "question"),
)
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
RELATIONS: dict[Relation, str] = {
    "continues": "continues",
    "subagent": "subagent of",
    "fork": "forked from",
}
"""What a conversation is to the one it came from."""


def title(conversation: Conversation) -> str:
    """Its title, else the first line that the person said, else that it has none."""
    asked = (m for m in tree.messages(conversation) if m.role == "user" and not m.hidden)
    return conversation.title or tree.title_from(map(tree.plain_text, asked)) or "(without a title)"


def models(conversation: Conversation) -> list[str]:
    """Every model that answered, in order; without any, the one that the conversation names."""
    found = dict.fromkeys(message.model for message in tree.messages(conversation) if message.model)
    return [*found] or ([conversation.model] if conversation.model else [])


def span(conversation: Conversation) -> tuple[str | None, str | None]:
    """When it began and when something was last added."""
    if conversation.started_at and conversation.updated_at:
        return conversation.started_at, conversation.updated_at
    first, last = tree.span(conversation.timeline)
    return conversation.started_at or first, conversation.updated_at or last


def answers(conversation: Conversation) -> str:
    """That there are none, if no more is known than what was asked."""
    return "not known, only the prompts are" if conversation.only_prompts else ""


def failures(conversation: Conversation) -> dict[str, list[str]]:
    """Why requests failed, by the last message of each: of what was answered, else of what was asked."""
    found: dict[str, Counter[str]] = {}
    for request in conversation.requests:
        place = request.response_ids[-1] if request.response_ids else request.prompt_id
        if request.error and place is not None:
            found.setdefault(place, Counter())[_failure(request.error)] += 1
    return {
        place: [words if number == 1 else f"{words} ({number} times)" for words, number in told.items()]
        for place, told in found.items()
    }


def _failure(error: Any) -> str:
    """What services and clients say of an error: a text, or a message with a code or a type."""
    if not isinstance(error, dict):
        return plain(error)
    while isinstance(inner := error.get("error"), dict):
        error = inner
    message, kinds = error.get("message"), (error.get("code"), error.get("type"))
    kind = next((str(kind) for kind in kinds if isinstance(kind, str | int) and kind), None)
    if not isinstance(message, str) or not message:
        return compact(error)
    return message if kind is None else f"{message} ({kind})"


def unsaid(entries: Sequence[Message | Event], named: Collection[str]) -> set[int]:
    """Where nothing is said that the person saw or that anybody else was told, but for what is `named`.

    An empty message tells something where it is all that was answered, and nothing where its author says more
    or where it is hidden. An event without data and time may merely be what the first message hangs from.
    """
    found: set[int] = set()
    empty: list[tuple[int, Message]] = []
    before: Message | None = None
    for place, entry in enumerate(entries):
        if isinstance(entry, Event):
            if _is_mere_root(entry) and place + 1 < len(entries) and entries[place + 1].parent_id == entry.id:
                found.add(place)
        elif entry.parts or entry.usage is not None or entry.id in named:
            if entry.role != "system":
                found.update(at for at, message in empty if _is_of_one(message, entry))
                empty, before = [], entry
        elif entry.hidden or (before is not None and _is_of_one(entry, before)):
            found.add(place)
        else:
            empty.append((place, entry))
    return found


def _is_of_one(empty: Message, other: Message) -> bool:
    """Whether an empty message is of the one who says the other, or whose tools do."""
    return other.role == empty.role or (empty.role == "assistant" and other.role == "tool")


def _is_mere_root(event: Event) -> bool:
    return event.parent_id is None and event.at is None and not event.data


def tokens(usages: list[Usage]) -> str:
    """How many tokens, and what they cost where sources say so."""
    told = [
        f"{amount:,} {word}"
        for word, amount in (
            ("in", sum(usage.input or 0 for usage in usages)),
            ("out", sum(usage.output or 0 for usage in usages)),
            ("from cache", sum(usage.cache_read or 0 for usage in usages)),
            ("to cache", sum(usage.cache_write or 0 for usage in usages)),
        )
        if amount
    ]
    if not told and (total := sum(usage.total or 0 for usage in usages)):
        told.append(f"{total:,}")
    if any(usage.estimated for usage in usages):
        told.append("estimated")
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return ", ".join([*told, dollars(sum(costs))] if costs else told)


def call(part: ToolCall) -> str:
    """The argument that tells most of what a call does; it may be long and of several lines."""
    return _telling(tree.arguments(part))


def _telling(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return _of_patch(plain(arguments))
    named = next((arguments[name] for name in _TELLING if arguments.get(name)), None)
    if named is None:
        named = next((value for value in arguments.values() if isinstance(value, str) and value), None)
    if named is None:
        return compact(arguments) if arguments else ""
    return _of_patch(plain(named))


def _of_patch(text: str) -> str:
    """The files that a patch is of, which its first line does not tell; any other text as it is."""
    if not text.startswith("*** Begin Patch"):
        return text
    return ", ".join(file.strip() for file in _PATCHED.findall(text)) or text


def plain(value: Any) -> str:
    """A value as people write it: text as it is, a command in words, anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return " ".join(value)
    return compact(value)


def compact(value: Any) -> str:
    """A value as JSON on one line."""
    try:
        return msgspec.json.encode(value).decode()
    except (RecursionError, msgspec.EncodeError, UnicodeError, TypeError, OverflowError):
        return "(a value that is nested too deeply to be shown)"


def amount(result: ToolResult) -> str:
    """How much a tool answered: `3 lines, 120 B`."""
    if isinstance(result.output, str):
        texts, others = [result.output], 0
    else:
        texts = [part.text for part in result.output if isinstance(part, Text)]
        others = len(result.output) - len(texts)
    lines = sum(map(lines_in, texts))
    told = [f"{count(lines, 'line')}, {size(sum(map(_bytes_in, texts)))}"] if lines else []
    if others:
        told.append(count(others, "part") if texts or others > 1 else _kind_of(result))
    return ", ".join(told) or "empty"


def _kind_of(result: ToolResult) -> str:
    only = result.output[0] if result.output else ""
    return only.kind if isinstance(only, Media) else "1 part"


def lines_in(text: str) -> int:
    """How many lines a text has, without empty ones around it."""
    return text.strip("\n").count("\n") + 1 if text.strip() else 0


def _bytes_in(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def media(part: Media) -> str:
    """What is known of an image or file."""
    amount = part.size if part.size is not None else len(part.data) * 3 // 4 if part.data else None
    words = [" ".join(filter(None, (part.kind, part.name or part.ref))), part.mime or ""]
    if amount is not None and amount >= 0:
        words.append(size(amount))
    if held := tree.held_text(part):
        words.append(f"{count(lines_in(held), 'line')} of text")
    return ", ".join(filter(None, words))


def citation(part: Citation) -> str:
    """What is cited."""
    return " ".join(word for word in (part.title, part.url) if word) or part.text or "something"


def place(part: Code) -> str:
    """Where code stands: `src/soup.py:3-4`, or `lines 3-4` of something that has no name."""
    if part.first_line is None:
        return part.file or ""
    is_one = part.last_line in {None, part.first_line}
    lines = f"{part.first_line}" if is_one else f"{part.first_line}-{part.last_line}"
    return f"{part.file}:{lines}" if part.file else f"{'line' if is_one else 'lines'} {lines}"


def took_ms(begin: str | None, end: str | None) -> int | None:
    """The milliseconds between two moments; None if one of them is not known or they are in no order."""
    first, last = timestamps.epoch_ms(begin), timestamps.epoch_ms(end)
    return None if first is None or last is None or last < first else last - first
