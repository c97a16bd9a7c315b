"""A session file as a conversation, with what the file of settings next to it states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Message, Summary, Usage, roles, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_blocks
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags, mark_injected_parts
from agent_journal.readers.dialects.session_log import SessionLog, first_model, head_of
from agent_journal.readers.factory_droid import names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_TAGS = Tags(HARNESS_TAGS)
_SUFFIX = ".jsonl"
_SETTINGS = ".settings.json"


class Session:
    """Collects the lines of a session."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._source = source
        self._note = note
        self._own_name = source.name.removesuffix(_SUFFIX)
        self._log = SessionLog(self._own_name, note, names.EVENTS.__contains__)
        self._start: Fields | None = None
        self._summaries: list[tuple[Summary, str | None]] = []
        self.has_known_lines = False

    def add_all(self, lines: Iterable[tuple[int, Any]]) -> None:
        """Add lines with their locations."""
        for number, line in lines:
            if line.__class__ is dict:
                self._add(Fields(line, self._note, number))
            else:
                self._log.add_value(line, number)

    def _add(self, line: Fields) -> None:
        kind = line.take("type")
        if kind == names.START and self._start is None:
            self.has_known_lines = True
            self._start = line
            self._log.session = nonempty_str(line.view("id")) or self._own_name
            return
        at = line.timestamp("timestamp")
        body = line.nested("message") if kind == names.MESSAGE else None
        entry_id, parent_id = line.text("id"), line.text("parentId")
        if body is not None:
            self.has_known_lines = True
            self._add_message(Message(id=entry_id or "", role="user", parent_id=parent_id, at=at), body, line)
            return
        self.has_known_lines = self.has_known_lines or kind in names.EVENTS
        if kind == names.COMPACTION:
            self._add_summary(line, at, parent_id)
        self._log.add_event(kind, line.rest(), line.where, at=at, entry_id=entry_id, parent_id=parent_id)

    def _add_message(self, envelope: Message, body: Fields, line: Fields) -> None:
        name = body.view("role")
        role = roles.role(name)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, line.where, f"role {str(name)[:40]!r}")
        elif role == name:
            body.drop("role")
        parts = parse_blocks(body.take("content"), self._note, line.where, names.TOOL_KINDS)
        hidden = False
        if role == "user":
            parts, hidden = mark_injected_parts(parts, _TAGS.is_all)
        _drop_repeated_thinking(body)
        model = body.text("modelId") or body.text("model") if role == "assistant" else None
        message = Message(
            id=envelope.id,
            role=role or "user",
            parent_id=envelope.parent_id,
            at=envelope.at,
            model=model,
            hidden=hidden,
            parts=parts,
            extra=line.rest(),
        )
        self._log.add(message, line.where)

    def _add_summary(self, line: Fields, at: str | None, parent_id: str | None) -> None:
        summary = line.view("summaryText") or line.view("summary")
        if summary.__class__ is dict:
            summary = summary.get("text") or summary.get("content")
        if text := nonempty_str(summary):
            self._summaries.append((Summary(text=text, kind="system", at=at), parent_id))

    def conversation(self, name: str) -> Conversation:
        """Make the conversation."""
        start = self._start or Fields({}, self._note, "")
        if self._start is None:
            self._note(Kind.MISSING_FIELD, "", "the first line, which has the id and folder, is missing")
        session = start.text("id") or self._own_name
        settings = _settings(self._source, self._note)
        model = nonempty_str(settings.view("model"))
        # Parents of messages of the app, and the session itself, are names of the root.
        entries = self._log.link({session: None, **self._lost_contexts()})
        last = entries[-1].id if entries else None
        first_at, last_at = tree.span(entries)
        usage = _total_usage(settings, session)
        if usage is not None:
            total = Message(
                id=f"{session}:usage",
                made_id=True,
                role="assistant",
                parent_id=last,
                at=last_at,
                model=model,
                hidden=True,
                usage=usage,
            )
            entries = [*entries, total]
        rest = settings.rest()
        return Conversation(
            id=session,
            source=name,
            title=nonempty_str(start.take("sessionTitle")) or nonempty_str(start.take("title")),
            started_at=first_at,
            updated_at=last_at,
            model=first_model(entries) or model,
            cwd=start.text("cwd") or None,
            archived=True if nonempty_str(settings.view("archivedAt")) else None,
            head_id=head_of(entries[: len(entries) - (usage is not None)], last),
            link=_link(start),
            timeline=entries,
            summaries=[self._placed(summary, parent) for summary, parent in self._summaries],
            extra=start.rest() | ({"settings": rest} if rest else {}),
        )

    def _lost_contexts(self) -> dict[str, str | None]:
        """Return the parents that forks do not copy: what the app adds before a prompt."""
        return {
            entry.parent_id: None
            for entry in self._log.entries
            if entry.parent_id is not None and entry.parent_id == f"context-{entry.id}"
        }

    def _placed(self, summary: Summary, parent: str | None) -> Summary:
        message = self._log.find_message(parent)
        return Summary(
            text=summary.text,
            kind=summary.kind,
            at=summary.at,
            message_id=None if message is None else message.id,
        )


def _drop_repeated_thinking(body: Fields) -> None:
    """Drop the thinking that is also a block: some services send it in a field of their own."""
    text = nonempty_str(body.view("chatCompletionReasoningContent"))
    if text is not None:
        body.drop("chatCompletionReasoningContent")


def _link(start: Fields) -> Link | None:
    """Link a subagent to the call that started it, and a fork to the message after which it begins."""
    caller, parent = nonempty_str(start.view("callingSessionId")), nonempty_str(start.view("parent"))
    if caller is not None:
        return Link(
            conversation_id=caller, relation="subagent", call_id=nonempty_str(start.view("callingToolUseId"))
        )
    if parent is None:
        return None
    return Link(
        conversation_id=parent, relation="fork", message_id=nonempty_str(start.view("forkedAtMessageId"))
    )


def _settings(source: Input, note: Notes) -> Fields:
    file = source.companion(source.name.removesuffix(_SUFFIX) + _SETTINGS)
    value: Any = {}
    if file is not None:
        about = note.about(file.label)
        try:
            value = json_stream.load(file, about)
        except UnreadableSource as error:
            about(Kind.UNREADABLE_FILE, "", error.reason)
    return Fields(value if value.__class__ is dict else {}, note, "settings")


def _total_usage(settings: Fields, session: str) -> Usage | None:
    """Return the tokens of the whole session, which is all that is stated; subagents have their own."""
    raw = settings.view("tokenUsage")
    if raw.__class__ is not dict:
        return None
    sent, output = counted(raw.get("inputTokens")), counted(raw.get("outputTokens"))
    if not sent and not output:
        return None
    settings.drop("tokenUsage")
    return Usage(
        key=session,
        input=sent,
        output=output,
        cache_read=counted(raw.get("cacheReadTokens")),
        cache_write=counted(raw.get("cacheCreationTokens")),
        reasoning=counted(raw.get("thinkingTokens")),
        extra=raw,
    )
