"""The tables of conversations, their tasks, and the prompts of all, which also have the models."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Conversation, Link, Message, Text, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import ROWID, each_row
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.warp import wire
from agent_journal.readers.warp.messages import Messages
from agent_journal.readers.warp.schema import MESSAGE, TASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.notes import Notes

_CONVERSATIONS, _TASKS, _PROMPTS = "agent_conversations", "agent_tasks", "ai_queries"


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every conversation of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        prompts: dict[str, list[dict[str, Any]]] = {}
        for row in each_row(database, _PROMPTS, note, order=("start_ts", ROWID), json_columns=("input",)):
            prompts.setdefault(str(row.get("conversation_id")), []).append(row)
        facts = {
            str(row.get("conversation_id")): row
            for row in each_row(
                database, _CONVERSATIONS, note, order=(ROWID,), json_columns=("conversation_data", "summary")
            )
        }
        if _TASKS in database.tables:
            for (conversation,) in [
                *database.rows(f"SELECT DISTINCT conversation_id FROM {_TASKS} ORDER BY 1")  # noqa: S608 (constant)
            ]:
                facts.setdefault(str(conversation), {})
        for conversation in prompts:
            facts.setdefault(conversation, {})
        for conversation, row in facts.items():
            own_prompts = prompts.get(conversation, [])
            own_facts = Fields(row, note, f"conversation {conversation}")
            try:
                tasks = [*_tasks(database, conversation, note)]
                yield from _conversation(conversation, tasks, own_facts, own_prompts, name)
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, f"conversation {conversation}", error.reason)


def _conversation(
    conversation: str,
    tasks: list[dict[str, Any]],
    facts: Fields,
    prompts: list[dict[str, Any]],
    name: str,
) -> Iterator[Conversation]:
    note = facts.note
    own_ids = {task["id"] for task in tasks if nonempty_str(task.get("id"))}
    roots = [task for task in tasks if _parent(task) not in own_ids]
    main = roots[0] if roots else None
    facts.drop("conversation_id", "id")
    models = [model for prompt in prompts if (model := nonempty_str(prompt.get("model_id")))]
    folders = [folder for prompt in prompts if (folder := nonempty_str(prompt.get("working_directory")))]
    for task in tasks or [{}]:
        is_main = task is main or not task
        task_id = nonempty_str(task.get("id"))
        session = conversation if is_main else f"{conversation}:{task_id}"
        log = SessionLog(session, note, lambda _: True)
        reader = Messages(log, note, models[0] if models else None)
        for index, message in enumerate(task.get("messages") or ()):
            reader.add(message, f"task {task_id} message {index}")
        if is_main and not any(isinstance(entry, Message) for entry in log.entries):
            _add_prompts(log, prompts)
        if not is_main and not log.entries:
            continue
        entries = log.entries
        first, last = tree.span(entries)
        rest = {
            field: value for field, value in task.items() if field not in ("id", "messages", "dependencies")
        }
        title = rest.pop("description", None)
        link = None
        if not is_main and main is not None:
            parent = _parent(task)
            above = (
                conversation
                if parent in (None, main.get("id")) or parent not in own_ids
                else f"{conversation}:{parent}"
            )
            link = Link(conversation_id=above, relation="subagent")
        yield Conversation(
            id=session,
            source=name,
            title=nonempty_str(title) or _summary_title(facts),
            started_at=first,
            updated_at=last or (facts.timestamp("last_modified_at") if is_main else None),
            model=first_model(entries) or (models[0] if models else None),
            cwd=reader.folder or (folders[0] if folders else None),
            os=reader.os,
            shell=reader.shell,
            only_prompts=not tasks,
            shape="list",
            link=link or _outer_link(facts),
            timeline=entries,
            summaries=reader.summaries,
            extra=rest | (facts.rest() if is_main else {}),
        )


def _tasks(database: Database, conversation: str, note: Notes) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a conversation as objects."""
    for row in each_row(
        database,
        _TASKS,
        note,
        where=("conversation_id", conversation),
        order=(ROWID,),
        blob_columns=("task",),
    ):
        where = f"task {row.get('task_id')}"
        data = row.get("task")
        try:
            task = wire.decode(data if data.__class__ is bytes else b"\0", TASK)
        except wire.MalformedMessage as error:
            note(Kind.BAD_RECORD, where, f"it is no task ({error})")
            continue
        messages: list[dict[str, Any]] = []
        for index, message in enumerate(task.get("messages") or ()):
            try:
                messages.append(wire.decode(base64.b64decode(message), MESSAGE))
            except (wire.MalformedMessage, ValueError, TypeError) as error:
                note(Kind.BAD_RECORD, f"{where} message {index}", f"it is no message ({error})")
        yield task | {"messages": messages, "id": task.get("id") or row.get("task_id")}


def _parent(task: dict[str, Any]) -> Any:
    dependencies = task.get("dependencies")
    return dependencies.get("parent_task_id") or None if dependencies.__class__ is dict else None


def _summary_title(facts: Fields) -> str | None:
    summary = facts.view("summary")
    if summary.__class__ is not dict:
        return None
    return nonempty_str(summary.get("title")) or nonempty_str(summary.get("initial_query"))


def _outer_link(facts: Fields) -> Link | None:
    """Link a conversation to the one that started it, or that it was forked from."""
    data = facts.view("conversation_data")
    data = data if data.__class__ is dict else {}
    if parent := nonempty_str(data.get("parent_conversation_id")):
        return Link(conversation_id=parent, relation="subagent")
    forked = nonempty_str(data.get("forked_from_conversation_id"))
    return Link(conversation_id=forked, relation="fork") if forked else None


def _add_prompts(log: SessionLog, prompts: list[dict[str, Any]]) -> None:
    """Add the prompts of a conversation without tasks."""
    for row in prompts:
        texts = [
            Text(text=query["text"])
            for item in objects(row.get("input"))
            if (query := item.get("Query")).__class__ is dict and nonempty_str(query.get("text"))
        ]
        at = timestamps.parse_timestamp(row.get("start_ts"))
        own_id = nonempty_str(row.get("exchange_id")) or ""
        known = ("exchange_id", "conversation_id", "start_ts", *(("input",) if texts else ()))
        extra = {field: value for field, value in row.items() if field not in known}
        log.add(Message(id=own_id, role="user", at=at, parts=[*texts], extra=extra), f"prompt {own_id}")
