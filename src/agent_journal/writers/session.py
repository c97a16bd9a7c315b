"""The session model of search tools: sessions, their messages, and tool calls with their results.

A message's `Content` is its text; `RawContent` has everything: reasoning, calls, results and media.
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
        "token usage and cost",
        "links between conversations",
        "citations, feedback, tags, and all summaries but the last",
        "tools and requests",
        "the current branch and hidden flags",
        "source-specific fields",
        "account, environment, commit and model of the conversation; whether it is archived",
        "response ids, stop reasons, generated ids, kinds of tools",
    ),
    evidence="requirements document of the session search tool, January 2026",
)
_MAX_SUMMARY_CHARS = 200


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one session on one line."""
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no session")
            continue
        run.note_redactions(item)
        out.write(encode(session(item, run)))
        out.write(b"\n")


def session(conversation: Conversation, run: Run) -> dict[str, Any]:
    """A conversation as a session; notes what it cannot represent."""
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
    """The last summary, else the title, else the first line of the first prompt."""
    if conversation.summaries:
        return conversation.summaries[-1].text
    if conversation.title:
        return conversation.title
    prompts = (
        message for message in tree.messages(conversation) if message.role == "user" and not message.hidden
    )
    prompt_text = next((text for prompt in prompts if (text := tree.plain_text(prompt).strip())), None)
    return None if prompt_text is None else prompt_text.partition("\n")[0].strip()[:_MAX_SUMMARY_CHARS]


def _span(conversation: Conversation) -> tuple[str | None, str | None]:
    """The start and end time: as stated, else the first and last timestamps."""
    started, ended = (
        timestamps.parse_timestamp(conversation.started_at),
        timestamps.parse_timestamp(conversation.updated_at),
    )
    if started is None or ended is None:
        times = [
            time
            for entry in conversation.timeline
            if (time := timestamps.parse_timestamp(entry.at)) is not None
        ]
        times.sort(key=lambda time: timestamps.epoch_ms(time) or 0)
        started = started or (times[0] if times else ended)
        ended = ended or (times[-1] if times else None)
    return started, ended


def _messages(conversation: Conversation, started: str | None, run: Run) -> list[dict[str, Any]]:
    results = tree.results_by_call(conversation.timeline)
    raw_field = run.raw_fields.get(conversation.source, "")
    message_above: dict[str | None, str | None] = {}
    messages: list[dict[str, Any]] = []
    untimed = 0
    for entry in conversation.timeline:
        parent = message_above.get(entry.parent_id, entry.parent_id)
        if isinstance(entry, Event):
            message_above[entry.id] = parent  # a message after an event is a child of the message above it
            continue
        time = timestamps.parse_timestamp(entry.at)
        untimed += time is None
        messages.append(
            {
                "Id": entry.id,
                "SessionId": conversation.id,
                "Role": entry.role.capitalize(),
                "Content": _content(entry, raw_field),
                "RawContent": _raw_content(entry, raw_field),
                "Timestamp": time or started,
                "ParentId": parent,
                "Model": entry.model,
                "ToolCalls": [_call(call, entry, results) for call in tree.calls_in(entry)],
            }
        )
    if untimed:
        source_id = f"{conversation.source}:{conversation.id}"
        run.note.add(Kind.MISSING_TIME, source_id, "", f"{untimed} × message")
    return messages


def _content(message: Message, raw_field: str = "") -> str:
    """The text of a message, or the output in a tool message; without reasoning, calls and attachments."""
    attachments = _attachments(message, raw_field)
    texts = [_text_of(part) for part in message.parts if part not in attachments]
    if message.role == "tool":
        texts += [_output_text(part) for part in message.parts if isinstance(part, ToolResult)]
    return "\n\n".join(text for text in texts if text)


def _text_of(part: Part) -> str:
    match part:
        case Text(text=text, injected=False):
            return text
        case Code(code=code):
            return code
    return ""


def _raw_content(message: Message, raw_field: str) -> str:
    """The complete message: its native content, else its parts as JSON."""
    raw_text = message.extra.get(raw_field) if raw_field else None
    if isinstance(raw_text, str):
        attachments = _attachments(message, raw_field)
        blocks = [{"type": "text", "text": raw_text}, *of_parts(attachments)] if attachments else None
        return raw_text if blocks is None else encode(blocks).decode()
    content = content_of(message)
    if reasoning := _reasoning_outside_content(message):
        content = [*of_parts(reasoning), *_blocks(content)]
    if content is None:
        return ""
    return content if isinstance(content, str) else encode(content).decode()


def _attachments(message: Message, raw_field: str) -> list[Part]:
    """The attachments of a prompt: all parts other than texts, in a source with a raw text."""
    if not raw_field or message.role != "user":
        return []
    return [part for part in message.parts if not isinstance(part, Text)]


def _blocks(content: Any) -> list[Any]:
    """Content as a list of blocks."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else [content]


def _reasoning_outside_content(message: Message) -> list[Part]:
    """Reasoning that is not in the native content."""
    reasoning = [part for part in message.parts if isinstance(part, Reasoning)]
    if message.native is None or not reasoning:
        return []
    encoded_content = encode(message.native)
    return [
        part for part in reasoning if encode(part.text or part.summary or "")[1:-1] not in encoded_content
    ]


def _call(call: ToolCall, message: Message, results: dict[str, ToolResult]) -> dict[str, Any]:
    result = results.get(call.call_id) if call.call_id is not None else None
    return {
        "Id": call.call_id,
        "MessageId": message.id,
        "Name": call.name,
        "Arguments": tree.arguments(call),
        "Result": None if result is None else _output_text(result),
        "Success": None if result is None else not result.is_error,
    }


def _output_text(result: ToolResult) -> str:
    """The output of a tool as text."""
    if isinstance(result.output, str):
        return result.output
    return "\n\n".join(filter(None, map(_output_part_text, result.output)))


def _output_part_text(part: Part) -> str:
    match part:
        case Reasoning():
            return part.text or part.summary or ""
        case Media():
            return f"[{part.kind}{f' {part.name or part.ref}' if part.name or part.ref else ''}]"
        case Other() | ToolCall() | ToolResult():
            return encode(part).decode()
    return _text_of(part)


def _note_losses(conversation: Conversation, run: Run) -> None:
    events = sum(isinstance(entry, Event) for entry in conversation.timeline)
    with_usage = sum(message.usage is not None for message in tree.messages(conversation))
    for number, kind in ((events, "event"), (with_usage, "message with token counts")):
        if number:
            run.note_not_preserved(conversation, "", f"{number} × {kind}")
    if conversation.link is not None:
        run.note_not_preserved(
            conversation, "", f"the link to another conversation ({conversation.link.relation})"
        )
