"""The session model of search tools: sessions, their messages, and tool calls with their results.

A message's `Content` is what was said, as text; `RawContent` has everything: thinking, calls, results, media.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import (
    Code,
    Event,
    Media,
    Memory,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    timestamps,
    tree,
)
from agent_journal.model.content_blocks import content_of, of_parts
from agent_journal.notes import Kind
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Conversation, Item, Part
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="session",
    title="Session model",
    suffix=".json",
    layout="lines",
    is_native=True,
    loses=(
        "memories",
        "events",
        "tokens and cost",
        "links between conversations",
        "citations, feedback, tags and summaries but the last",
        "tools and requests",
        "which branch is shown, and what is hidden",
        "what only the source has a field for",
    ),
    evidence="requirement document of the session search tool of January 2026",
)
_SUMMARY_LENGTH = 200


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one session on one line."""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no session")
            continue
        run.cannot_say_what_was_redacted(item)
        out.write(encode(session(item, run)))
        out.write(b"\n")


def session(conversation: Conversation, run: Run) -> dict[str, Any]:
    """A conversation as a session; what it has no place for is noted."""
    started, ended = _span(conversation)
    messages = _messages(conversation, started, run)
    _note_losses(conversation, run)
    return {
        "Id": conversation.id,
        "AgentType": conversation.source,
        "ProjectPath": conversation.cwd,
        "GitBranch": conversation.git_branch,
        "AgentVersion": conversation.app_version,
        "StartedAt": started,
        "EndedAt": ended,
        "Summary": summary(conversation),
        "Messages": messages,
    }


def summary(conversation: Conversation) -> str | None:
    """What it is about: the source's last summary, else its title, else how the first prompt begins."""
    if conversation.summaries:
        return conversation.summaries[-1].text
    if conversation.title:
        return conversation.title
    prompts = (
        message for message in tree.messages(conversation) if message.role == "user" and not message.hidden
    )
    said = next((text for prompt in prompts if (text := tree.plain_text(prompt).strip())), None)
    return None if said is None else said.partition("\n")[0].strip()[:_SUMMARY_LENGTH]


def _span(conversation: Conversation) -> tuple[str | None, str | None]:
    """When it began and ended: as stated, else by its first and last times."""
    started, ended = timestamps.moment(conversation.started_at), timestamps.moment(conversation.updated_at)
    if started is None or ended is None:
        moments = [at for entry in conversation.timeline if (at := timestamps.moment(entry.at)) is not None]
        moments.sort(key=lambda at: timestamps.epoch_ms(at) or 0)
        started = started or (moments[0] if moments else ended)
        ended = ended or (moments[-1] if moments else None)
    return started, ended


def _messages(conversation: Conversation, started: str | None, run: Run) -> list[dict[str, Any]]:
    results = tree.results_by_call(conversation.timeline)
    raw_field = run.raw_fields.get(conversation.source, "")
    message_above: dict[str | None, str | None] = {}
    found: list[dict[str, Any]] = []
    untimed = 0
    for entry in conversation.timeline:
        parent = message_above.get(entry.parent_id, entry.parent_id)
        if isinstance(entry, Event):
            message_above[entry.id] = parent  # a message behind an event follows what is before it
            continue
        at = timestamps.moment(entry.at)
        untimed += at is None
        found.append(
            {
                "Id": entry.id,
                "SessionId": conversation.id,
                "Role": entry.role.capitalize(),
                "Content": _content(entry, raw_field),
                "RawContent": _raw(entry, raw_field),
                "Timestamp": at or started,
                "ParentId": parent,
                "Model": entry.model,
                "ToolCalls": [_call(call, entry, results) for call in tree.calls_in(entry)],
            }
        )
    if untimed:
        about = f"{conversation.source}:{conversation.id}"
        run.note.add(Kind.MISSING_TIME, about, "", f"{untimed} × message")
    return found


def _content(message: Message, raw_field: str = "") -> str:
    """What was said; of a tool's message, what it answered. Thinking, calls and attachments are not said."""
    attached = _attached(message, raw_field)
    texts = [_said(part) for part in message.parts if part not in attached]
    if message.role == "tool":
        texts += [_answer(part) for part in message.parts if isinstance(part, ToolResult)]
    return "\n\n".join(text for text in texts if text)


def _said(part: Part) -> str:
    match part:
        case Text(text=text, injected=False):
            return text
        case Code(code=code):
            return code
    return ""


def _raw(message: Message, raw_field: str) -> str:
    """Everything the message holds: as the source had it, else its parts as JSON."""
    stated = message.extra.get(raw_field) if raw_field else None
    if isinstance(stated, str):
        attached = _attached(message, raw_field)
        blocks = [{"type": "text", "text": stated}, *of_parts(attached)] if attached else None
        return stated if blocks is None else encode(blocks).decode()
    content = content_of(message)
    if thoughts := _thoughts_beside(message):
        content = [*of_parts(thoughts), *_blocks(content)]
    if content is None:
        return ""
    return content if isinstance(content, str) else encode(content).decode()


def _attached(message: Message, raw_field: str) -> list[Part]:
    """What came with a prompt; a source with a raw text has what the person said in texts alone."""
    if not raw_field or message.role != "user":
        return []
    return [part for part in message.parts if not isinstance(part, Text)]


def _blocks(content: Any) -> list[Any]:
    """Content as a list, whatever form the source has it in."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else [content]


def _thoughts_beside(message: Message) -> list[Part]:
    """What was thought, where a source keeps it elsewhere than in its content."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    if message.native is None or not thoughts:
        return []
    within = encode(message.native)
    return [each for each in thoughts if encode(each.text or each.summary or "")[1:-1] not in within]


def _call(call: ToolCall, message: Message, results: dict[str, ToolResult]) -> dict[str, Any]:
    result = results.get(call.call_id) if call.call_id is not None else None
    return {
        "Id": call.call_id,
        "MessageId": message.id,
        "Name": call.name,
        "Arguments": tree.arguments(call),
        "Result": None if result is None else _answer(result),
        "Success": None if result is None else not result.is_error,
    }


def _answer(result: ToolResult) -> str:
    """What a tool answered, as text."""
    if isinstance(result.output, str):
        return result.output
    return "\n\n".join(filter(None, map(_answered, result.output)))


def _answered(part: Part) -> str:
    match part:
        case Reasoning():
            return part.text or part.summary or ""
        case Media():
            return f"[{part.kind}{f' {part.name or part.ref}' if part.name or part.ref else ''}]"
        case Other() | ToolCall() | ToolResult():
            return encode(part).decode()
    return _said(part)


def _note_losses(conversation: Conversation, run: Run) -> None:
    events = sum(isinstance(entry, Event) for entry in conversation.timeline)
    counted = sum(message.usage is not None for message in tree.messages(conversation))
    for number, what in ((events, "event"), (counted, "message with token counts")):
        if number:
            run.cannot_say(conversation, "", f"{number} × {what}")
    if conversation.link is not None:
        run.cannot_say(conversation, "", f"it is a {conversation.link.relation} of another conversation")
