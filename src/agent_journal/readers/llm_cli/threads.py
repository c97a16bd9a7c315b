"""Threads: each ends at a message, and each message has its parent. Forks share the messages before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import (
    Conversation,
    Link,
    Message,
    Other,
    Reasoning,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    roles,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.llm_cli.responses import as_tool
from agent_journal.readers.llm_cli.values import attachments, finished_at, fragments, take_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Part, Role
    from agent_journal.notes import Notes

_JSON = ("options_json", "response_json", "token_details")


def conversations(database: Database, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every thread."""
    for row in [*each_row(database, "threads", note, order=("id", ROWID))]:
        if row.get("id").__class__ is str:
            yield _Thread(database, note, row).make(name)
        else:
            note(Kind.MISSING_ID, "threads", "a thread has no id")


class _Thread:
    """Collects the messages of one thread."""

    def __init__(self, database: Database, note: Notes, row: dict[str, Any]) -> None:
        self._database = database
        self._note = note
        self._row = Fields(row, note, f"thread {row['id']}")
        self._id = str(row["id"])
        self._messages: dict[str, Message] = {}
        self._tools: dict[str, Tool] = {}
        # The messages before the turn from which a fork goes on belong to turns of other threads.
        self._is_fork = row.get("forked_from") is not None
        self._asked_in: dict[Any, dict[str, Any]] = {}

    def make(self, name: str) -> Conversation:
        row, own = self._row, ("thread_id", self._id)
        row.drop("id")
        head, origin = row.text("tip_message_hash"), row.text("forked_from")
        turns = each_row(
            self._database, "turns", self._note, where=own, order=("id", ROWID), json_columns=_JSON
        )
        answers = {raw.get("tip_message_hash"): raw for raw in turns}
        self._asked_in = {raw.get("parent_message_hash"): raw for raw in answers.values()}
        for tip in (*answers, head):
            self._add_chain(tip, answers)
        timeline = [*self._messages.values()]
        first, last = tree.span(timeline)
        ended = row.timestamp("datetime_utc")
        return Conversation(
            id=self._id,
            source=name,
            title=row.text("name") or None,
            started_at=first or ended,
            updated_at=last or ended,
            model=next((message.model for message in timeline if message.model), None),
            head_id=head if head in self._messages else None,
            link=None if origin is None else Link(conversation_id=origin, relation="fork"),
            timeline=list(timeline),
            tools=[*self._tools.values()],
            extra=row.rest(),
        )

    def _add_chain(self, tip: Any, answers: dict[Any, dict[str, Any]]) -> None:
        """Add the messages from the beginning to one, without those that are there already."""
        chain: list[dict[str, Any]] = []
        visited = set(self._messages)
        while tip.__class__ is str and tip not in visited:
            visited.add(tip)
            raw = next(each_row(self._database, "messages", self._note, where=("hash", tip)), None)
            if raw is None:
                self._note(
                    Kind.DANGLING_PARENT, f"thread {self._id}", f"message {tip} is not in the database"
                )
                break
            chain.append(raw)
            tip = raw.get("parent_hash")
        for raw in reversed(chain):
            self._add(Fields(raw, self._note, f"message {raw.get('hash')}"), answers)

    def _add(self, row: Fields, answers: dict[Any, dict[str, Any]]) -> None:
        own_id, parent, label = row.text("hash") or "", row.text("parent_hash"), row.take("role")
        role: Role | None = roles.role(label)
        if role is None:
            row.note(Kind.UNKNOWN_ROLE, row.where, f"role {str(label)[:40]!r}")
            row.keep("role", label)
        turn = answers.get(own_id) or (self._turn("tip_message_hash", own_id) if self._is_fork else None)
        asked = None if turn is not None else self._asked_in.get(own_id)
        if turn is None and asked is None and self._is_fork:
            asked = self._turn("parent_message_hash", own_id)
        at: str | None = None
        model: str | None = None
        usage: Usage | None = None
        extra: dict[str, Any] = {}
        if asked is not None:
            at = Fields(dict(asked), self._note, row.where).timestamp("datetime_utc")
        if turn is not None:
            at, model, usage, extra = self._take_turn(Fields(dict(turn), self._note, row.where))
        self._messages[own_id] = Message(
            id=own_id,
            role=role or "user",
            parent_id=parent if parent in self._messages else None,
            at=at,
            model=model,
            parts=self._parts(own_id),
            usage=usage,
            extra=row.rest() | extra,
        )

    def _turn(self, column: str, value: str) -> dict[str, Any] | None:
        rows = each_row(
            self._database, "turns", self._note, where=(column, value), order=("id",), json_columns=_JSON
        )
        return next(rows, None)

    def _take_turn(self, turn: Fields) -> tuple[str | None, str | None, Usage | None, dict[str, Any]]:
        own_id = turn.text("id") or ""
        for link in each_row(self._database, "turn_tools", self._note, where=("turn_id", own_id)):
            tool_id = link.get("tool_id")
            for raw in each_row(
                self._database, "tools", self._note, where=("id", tool_id), json_columns=("input_schema",)
            ):
                self._tools.setdefault(str(tool_id), as_tool(raw))
        at = finished_at(turn.timestamp("datetime_utc"), turn.view("duration_ms"))
        usage = take_usage(turn, own_id)
        turn.drop("tip_message_hash", "parent_message_hash", "thread_id")
        asked, resolved = turn.text("model"), turn.text("resolved_model")
        if resolved and asked:
            turn.keep("model", asked)
        return at, resolved or asked, usage, {"turn": {"id": own_id, **turn.rest()}}

    def _parts(self, own_id: str) -> list[Part]:
        parts: list[Part] = []
        order, own = ("position", "id"), ("message_hash", own_id)
        for raw in each_row(
            self._database, "parts", self._note, where=own, order=order, json_columns=("payload",)
        ):
            part_id = raw.get("id")
            parts += fragments(self._database, self._note, "part_fragments", "part_id", part_id)
            media = attachments(self._database, self._note, "part_attachments", "part_id", part_id)
            if not media or raw.get("text"):
                parts.append(_part(raw))
            parts += media
        return parts


def _part(row: dict[str, Any]) -> Part:
    kind, text, payload = row.get("type"), row.get("text"), row.get("payload")
    values: dict[str, Any] = payload if payload.__class__ is dict else {}
    if kind == "text" and text.__class__ is str:
        return Text(text=text, extra=values)
    if kind == "reasoning":
        return Reasoning(text=text or None, extra=values)
    name, call_id = nonempty_str(values.get("name")), nonempty_str(values.get("tool_call_id"))
    rest = {key: value for key, value in values.items() if key not in ("name", "tool_call_id")}
    if kind == "tool_call":
        return ToolCall(
            name=name or str(row.get("tool_name") or ""),
            call_id=call_id,
            input=rest.pop("arguments", None),
            extra=rest,
        )
    if kind == "tool_result":
        output, exception = rest.pop("output", None), values.get("exception")
        if output.__class__ is not str and output is not None:
            rest["output"] = output
        return ToolResult(
            call_id=call_id,
            output=output if output.__class__ is str else text or "",
            is_error=exception is not None,
            name=name,
            extra=rest,
        )
    data = {key: value for key, value in row.items() if key not in ("id", "message_hash", "position")}
    return Other(data=data, name=nonempty_str(kind))
