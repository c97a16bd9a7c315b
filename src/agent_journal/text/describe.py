"""Short descriptions of a conversation and its parts, for all outputs that people read.

They contain text from sources: the caller sanitizes them for where they are shown.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Event, Media, Text, timestamps, tree
from agent_journal.model.spilled import encode_spilled
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

UNTITLED = "(without a title)"
# Names of the argument that describes a call best, in order of preference.
_MAIN_ARGUMENTS = (
    *("command", "cmd", "pattern", "query", "url", "file_path", "filePath", "notebook_path", "target_file"),
    *("absolute_path", "relativePath", "path", "filename", "file"),
    *("description", "prompt", "task", "question"),
)
# What sources call the event that earlier messages were replaced by a summary.
_COMPACTION_NAME = re.compile(r"compact(?:ed|ion)?(?:_boundary|_complete)?$")
_FILE_IN_PATCH = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
RELATIONS: dict[Relation, str] = {
    "continues": "continues",
    "subagent": "subagent of",
    "fork": "forked from",
}
"""How a conversation relates to the one it started from."""


def title(conversation: Conversation) -> str:
    """The title, else the first line of the first prompt, else that there is none."""
    prompts = (m for m in tree.messages(conversation) if m.role == "user" and not m.hidden)
    return conversation.title or tree.title_from(map(tree.plain_text, prompts)) or UNTITLED


def models(conversation: Conversation) -> list[str]:
    """Every model that answered, in order; else the one that the conversation names."""
    names = dict.fromkeys(message.model for message in tree.messages(conversation) if message.model)
    return [*names] or ([conversation.model] if conversation.model else [])


def span(conversation: Conversation) -> tuple[str | None, str | None]:
    """When the conversation started, and when it was last updated."""
    if conversation.started_at and conversation.updated_at:
        return conversation.started_at, conversation.updated_at
    first, last = tree.span(conversation.timeline)
    return conversation.started_at or first, conversation.updated_at or last


def answers(conversation: Conversation) -> str:
    """That there are no answers, if only the prompts are known; else empty."""
    return "not available, only the prompts are" if conversation.only_prompts else ""


def failures(conversation: Conversation) -> dict[str, list[str]]:
    """Why requests failed, by the id of the last message of the response, else of the prompt."""
    by_message: dict[str, Counter[str]] = {}
    for request in conversation.requests:
        message_id = request.response_ids[-1] if request.response_ids else request.prompt_id
        if request.error and message_id is not None:
            by_message.setdefault(message_id, Counter())[_error_text(request.error)] += 1
    return {
        message_id: [text if number == 1 else f"{text} ({number} times)" for text, number in errors.items()]
        for message_id, errors in by_message.items()
    }


def _error_text(error: Any) -> str:
    """The text of an error as services and clients report it: plain, or a message with a code or a type."""
    if not isinstance(error, dict):
        return plain(error)
    while isinstance(inner := error.get("error"), dict):
        error = inner
    message, kinds = error.get("message"), (error.get("code"), error.get("type"))
    kind = next((str(kind) for kind in kinds if isinstance(kind, str | int) and kind), None)
    if not isinstance(message, str) or not message:
        return compact(error)
    return message if kind is None else f"{message} ({kind})"


def insignificant_entries(entries: Sequence[Message | Event], named: Collection[str]) -> set[int]:
    """The indexes of empty entries that need not be shown, except for the ids in `named`.

    An empty message matters if it is the whole answer, but not if its author says more or if it is hidden. An
    event without data and time may be nothing but the root that the first message hangs from.
    """
    insignificant: set[int] = set()
    empty: list[tuple[int, Message]] = []
    previous: Message | None = None
    for index, entry in enumerate(entries):
        if isinstance(entry, Event):
            if _is_bare_root(entry) and index + 1 < len(entries) and entries[index + 1].parent_id == entry.id:
                insignificant.add(index)
        elif entry.parts or entry.usage is not None or entry.id in named:
            if entry.role != "system":
                insignificant.update(at for at, message in empty if _have_same_author(message, entry))
                empty, previous = [], entry
        elif entry.hidden or (previous is not None and _have_same_author(entry, previous)):
            insignificant.add(index)
        else:
            empty.append((index, entry))
    return insignificant


def _have_same_author(empty: Message, other: Message) -> bool:
    """Whether the other message is by the author of the empty one, or by that author's tools."""
    return other.role == empty.role or (empty.role == "assistant" and other.role == "tool")


def _is_bare_root(event: Event) -> bool:
    return event.parent_id is None and event.at is None and not event.data


def is_compaction(event_name: str) -> bool:
    """Whether an event says that the model got a summary of everything before."""
    return _COMPACTION_NAME.search(event_name) is not None


def tokens(usages: list[Usage]) -> str:
    """The numbers of tokens, and their cost if sources state it."""
    parts = [
        f"{amount:,} {word}"
        for word, amount in (
            ("in", sum(usage.input or 0 for usage in usages)),
            ("out", sum(usage.output or 0 for usage in usages)),
            ("from cache", sum(usage.cache_read or 0 for usage in usages)),
            ("to cache", sum(usage.cache_write or 0 for usage in usages)),
        )
        if amount
    ]
    if not parts and (total := sum(usage.total or 0 for usage in usages)):
        parts.append(f"{total:,}")
    if any(usage.estimated for usage in usages):
        parts.append("estimated")
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return ", ".join([*parts, dollars(sum(costs))] if costs else parts)


def call(part: ToolCall) -> str:
    """The argument that describes a call best; it may be long and have several lines."""
    return _main_argument(tree.arguments(part))


def _main_argument(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return _summarize_patch(plain(arguments))
    value = next((arguments[name] for name in _MAIN_ARGUMENTS if arguments.get(name)), None)
    if value is None:
        value = next((other for other in arguments.values() if isinstance(other, str) and other), None)
    if value is None:
        return compact(arguments) if arguments else ""
    return _summarize_patch(plain(value))


def _summarize_patch(text: str) -> str:
    """The files that a patch changes, which its first line does not name; any other text unchanged."""
    if not text.startswith("*** Begin Patch"):
        return text
    return ", ".join(file.strip() for file in _FILE_IN_PATCH.findall(text)) or text


def plain(value: Any) -> str:
    """A value as people write it: text unchanged, a list of words as a command, anything else as JSON."""
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
        return msgspec.json.encode(value, enc_hook=encode_spilled).decode()
    except (RecursionError, msgspec.EncodeError, UnicodeError, TypeError, OverflowError):
        return "(a value that is nested too deeply to show)"


def result_size(result: ToolResult) -> str:
    """The size of a tool's result: `3 lines, 120 B`."""
    if isinstance(result.output, str):
        texts, others = [result.output], 0
    else:
        texts = [part.text for part in result.output if isinstance(part, Text)]
        others = len(result.output) - len(texts)
    lines = sum(map(lines_in, texts))
    parts = [f"{count(lines, 'line')}, {size(sum(map(_bytes_in, texts)))}"] if lines else []
    if others:
        parts.append(count(others, "part") if texts or others > 1 else _kind_of(result))
    return ", ".join(parts) or "empty"


def _kind_of(result: ToolResult) -> str:
    only_part = result.output[0] if result.output else ""
    return only_part.kind if isinstance(only_part, Media) else "1 part"


def lines_in(text: str) -> int:
    """The number of lines of a text, without empty ones at its start and end."""
    return text.strip("\n").count("\n") + 1 if text.strip() else 0


def _bytes_in(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def media(part: Media) -> str:
    """The kind, name, type and size of an image or file, as far as they are known."""
    bytes_ = part.size if part.size is not None else len(part.data) * 3 // 4 if part.data else None
    facts = [" ".join(filter(None, (part.kind, part.name or part.ref))), part.mime or ""]
    if bytes_ is not None and bytes_ >= 0:
        facts.append(size(bytes_))
    if text := tree.held_text(part):
        facts.append(f"{count(lines_in(text), 'line')} of text")
    return ", ".join(filter(None, facts))


def citation(part: Citation) -> str:
    """The title and address of what is cited, else its text."""
    return " ".join(word for word in (part.title, part.url) if word) or part.text or "something"


def code_location(part: Code) -> str:
    """Where code is: `src/soup.py:3-4`, or `lines 3-4` if the file is not known."""
    if part.first_line is None:
        return part.file or ""
    is_single = part.last_line in {None, part.first_line}
    lines = f"{part.first_line}" if is_single else f"{part.first_line}-{part.last_line}"
    return f"{part.file}:{lines}" if part.file else f"{'line' if is_single else 'lines'} {lines}"


def took_ms(start: str | None, end: str | None) -> int | None:
    """The milliseconds between two times; None if one of them is missing or they are in the wrong order."""
    first, last = timestamps.epoch_ms(start), timestamps.epoch_ms(end)
    return None if first is None or last is None or last < first else last - first
