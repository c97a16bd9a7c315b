"""Conversations of versions until 2026: each response is a row with its prompt."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Message, Reasoning, Text, Tool, ToolCall, ToolResult, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.llm_cli.values import attachments, finished_at, fragments, take_usage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Part
    from agent_journal.notes import Notes

_JSON = ("options_json", "response_json", "prompt_json", "token_details")


def conversations(
    database: Database, note: Notes, name: str, known: Collection[str]
) -> Iterator[Conversation]:
    """Yield the conversations that are not known as threads already."""
    named = {row.get("id"): row for row in each_row(database, "conversations", note)}
    # One pass in this order: the column of conversations has no index.
    order = ("conversation_id", "id", ROWID)
    rows = each_row(database, "responses", note, order=order, json_columns=_JSON)
    for own_id, group in groupby(rows, lambda row: row.get("conversation_id") or row.get("id")):
        if own_id.__class__ is not str:
            note(Kind.MISSING_ID, "responses", "a response has no id")
        elif own_id not in known:
            yield _Conversation(database, note, own_id).make(name, named.get(own_id, {}), group)


class _Conversation:
    """Collects the messages of one conversation."""

    def __init__(self, database: Database, note: Notes, own_id: str) -> None:
        self._database = database
        self._note = note
        self._id = own_id
        self._timeline: list[Message] = []
        self._system: str | None = None
        self._tools: dict[str, Tool] = {}

    def make(self, name: str, row: dict[str, Any], responses: Iterable[dict[str, Any]]) -> Conversation:
        for raw in responses:
            self._add(Fields(raw, self._note, f"response {raw.get('id')}"))
        first, last = tree.span(self._timeline)
        models = (message.model for message in self._timeline if message.model)
        return Conversation(
            id=self._id,
            source=name,
            title=nonempty_str(row.get("name")),
            started_at=first,
            updated_at=last,
            model=next(models, None) or nonempty_str(row.get("model")),
            shape="list",
            timeline=list(self._timeline),
            tools=[*self._tools.values()],
        )

    def _rows(
        self, table: str, column: str, value: Any, json: tuple[str, ...] = ()
    ) -> Iterator[dict[str, Any]]:
        return each_row(
            self._database,
            table,
            self._note,
            where=(column, value),
            order=("order", "id", ROWID),
            json_columns=json,
        )

    def _add(self, row: Fields) -> None:
        own_id, at = row.text("id") or "", row.timestamp("datetime_utc")
        row.drop("conversation_id")
        self._add_system(own_id, row, at)
        for tool in self._rows("tool_responses", "response_id", own_id):
            self._offer(tool.get("tool_id"))
        results = [_result(raw) for raw in self._rows("tool_results", "response_id", own_id)]
        if results:
            self._append(f"{own_id}:results", "tool", at, results)
        prompt = row.text("prompt")
        given: list[Part] = [
            *fragments(self._database, self._note, "prompt_fragments", "response_id", own_id),
            *([Text(text=prompt)] if prompt else []),
            *attachments(self._database, self._note, "prompt_attachments", "response_id", own_id),
        ]
        if given or not results:
            self._append(f"{own_id}:prompt", "user", at, given)
        thinking, text, duration = row.text("reasoning"), row.text("response"), row.view("duration_ms")
        parts: list[Part] = [Reasoning(text=thinking)] if thinking else []
        parts += [Text(text=text)] if text else []
        parts += [_call(raw) for raw in self._rows("tool_calls", "response_id", own_id, ("arguments",))]
        usage = take_usage(row, own_id)
        asked, resolved = row.text("model"), row.text("resolved_model")
        if resolved and asked:
            row.keep("model", asked)
        self._timeline.append(
            Message(
                id=own_id,
                role="assistant",
                at=finished_at(at, duration),
                model=resolved or asked,
                parts=parts,
                usage=usage,
                extra=row.rest(),
            )
        )

    def _append(self, own_id: str, role: Any, at: str | None, parts: list[Part]) -> None:
        self._timeline.append(Message(id=own_id, made_id=True, role=role, at=at, parts=parts))

    def _add_system(self, own_id: str, row: Fields, at: str | None) -> None:
        """Add the system prompt of a response, unless it is the one before."""
        system = row.text("system")
        parts: list[Part] = [
            *fragments(self._database, self._note, "system_fragments", "response_id", own_id),
            *([Text(text=system)] if system else []),
        ]
        if parts and repr(parts) != self._system:
            self._system = repr(parts)
            self._append(f"{own_id}:system", "system", at, parts)

    def _offer(self, tool_id: Any) -> None:
        for raw in self._rows("tools", "id", tool_id, ("input_schema",)):
            self._tools.setdefault(str(tool_id), as_tool(raw))


def as_tool(row: dict[str, Any]) -> Tool:
    """Return a tool that was offered."""
    plugin = row.get("plugin")
    return Tool(
        name=str(row.get("name") or ""),
        description=nonempty_str(row.get("description")),
        parameters=row.get("input_schema"),
        extra={} if plugin is None else {"plugin": plugin},
    )


def _call(row: dict[str, Any]) -> Part:
    return ToolCall(
        name=str(row.get("name") or ""),
        call_id=nonempty_str(row.get("tool_call_id")),
        input=row.get("arguments"),
    )


def _result(row: dict[str, Any]) -> Part:
    exception = row.get("exception")
    return ToolResult(
        call_id=nonempty_str(row.get("tool_call_id")),
        output=str(row.get("output") or ""),
        is_error=exception is not None,
        name=nonempty_str(row.get("name")),
        extra={} if exception is None else {"exception": exception},
    )
