"""The envelope: everything about a conversation that is not one of its messages."""

from __future__ import annotations

import pkgutil
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import ids, times, tree
from agent_journal.model import Conversation, Event, Feedback, Message
from agent_journal.notes import Kind
from agent_journal.writers.unified.content import Content
from agent_journal.writers.unified.messages import amount, count, messages
from agent_journal.writers.unified.metadata import add, stated

if TYPE_CHECKING:
    from agent_journal.model import Link
    from agent_journal.writers import Run

SCHEMA_VERSION = "1.0.0"
# Where a conversation states no time at all, the schema still demands one.
_NO_TIME = "1970-01-01T00:00:00.000Z"


@cache
def _platform_names() -> frozenset[str]:
    schema = pkgutil.get_data("agent_journal", f"schemas/unified-{SCHEMA_VERSION}.schema.json")
    decoded = msgspec.json.decode(schema or b"{}")
    return frozenset(decoded["properties"]["platform"]["properties"]["name"]["enum"])


def document(conversation: Conversation, run: Run) -> dict[str, Any]:
    """A conversation as the schema has it; what the schema says differently is noted."""
    moments = [times.iso_ms(entry.at) for entry in conversation.timeline]
    created_at, updated_at = _span(conversation, moments)
    if created_at is None:
        run.changed(conversation, "created_at", f"no time is known: {_NO_TIME}")
        created_at = _NO_TIME
    content = Content(conversation)
    said, untimed = messages(conversation, moments, created_at, content)
    summaries, guessed = _summaries(conversation, said, updated_at or created_at)
    content.note(run)
    about = f"{conversation.source}:{conversation.id}"
    for number, what in ((untimed, "message"), (guessed, "summary")):
        if number:
            run.note.add(Kind.MISSING_TIME, about, "", f"{number} × {what}")
    return {
        "schema_version": SCHEMA_VERSION,
        "conversation_id": _conversation_id(conversation, run),
        "platform": _platform(conversation, run),
        "session": _session(conversation),
        **_present({"context": _context(conversation)}),
        "created_at": created_at,
        **stated({"updated_at": updated_at, "status": "archived" if conversation.archived else None}),
        "messages": said,
        **_present(
            {
                "summaries": summaries,
                "metrics": _metrics(conversation, len(said), content.tool_calls),
                "tags": conversation.tags,
                "rating": _rating(conversation.feedback),
                "events": _events(conversation, moments),
                "tools": conversation.tools,
                "requests": conversation.requests,
            }
        ),
    }


def _present(values: dict[str, Any]) -> dict[str, Any]:
    """The values that hold something."""
    return {name: value for name, value in values.items() if value}


def _span(conversation: Conversation, moments: list[str | None]) -> tuple[str | None, str | None]:
    """When a conversation began and when it was last touched: as stated, else by its messages or events."""
    timeline = zip(conversation.timeline, moments, strict=True)
    said = [at for entry, at in timeline if at is not None and isinstance(entry, Message)]
    known = said or [at for at in moments if at is not None]
    updated = times.iso_ms(conversation.updated_at) or max(known, default=None)
    return times.iso_ms(conversation.started_at) or min(known, default=None) or updated, updated


def _conversation_id(conversation: Conversation, run: Run) -> str:
    made = as_uuid(conversation.source, conversation.id)
    if made != conversation.id:
        run.changed(conversation, "conversation_id", f"it must be a UUID: {made}")
    return made


def as_uuid(source: str, conversation_id: str) -> str:
    """The id itself if it is a UUID, else the UUIDv5 of `<source>-<id>`."""
    return conversation_id if ids.is_uuid(conversation_id) else ids.uuid5(f"{source}-{conversation_id}")


def _platform(conversation: Conversation, run: Run) -> dict[str, Any]:
    name = run.name_of(conversation.source, "unified")
    listed = name in _platform_names()
    metadata = dict(conversation.platform)
    add(metadata, _facts(conversation))
    if not listed:
        add(metadata, {"name": name})
    add(metadata, conversation.extra)
    return {
        "name": name if listed else "other",
        "version": conversation.app_version or "unknown",
        **stated({"model": conversation.model or _usual_model(conversation)}),
        **_present({"metadata": metadata}),
    }


def _facts(conversation: Conversation) -> dict[str, Any]:
    """What the model knows about a conversation and the schema has no field for."""
    link = conversation.link
    return stated(
        {
            "title": conversation.title,
            "conversation_id": None if ids.is_uuid(conversation.id) else conversation.id,
            "account_id": conversation.account_id,
            "head_message_id": conversation.head_id,
            "link": link,
            "feedback": conversation.feedback or None,
            "origin": conversation.origin,
        }
    )


def _usual_model(conversation: Conversation) -> str | None:
    models = Counter(message.model for message in tree.messages(conversation) if message.model)
    return max(models, key=lambda model: models[model], default=None)


def _session(conversation: Conversation) -> dict[str, Any]:
    session: dict[str, Any] = {"session_id": conversation.id}
    link = conversation.link
    if link is not None:
        session["parent_conversation_id"] = as_uuid(conversation.source, link.conversation_id)
        session["fork_point"] = link.message_id
    session["is_sidechain"] = _is_sidechain(conversation, link)
    return session


def _is_sidechain(conversation: Conversation, link: Link | None) -> bool:
    if link is not None and link.relation == "subagent":
        return True
    sides = [message.sidechain for message in tree.messages(conversation)]
    return bool(sides) and all(sides)


def _context(conversation: Conversation) -> dict[str, Any]:
    workspace = {
        "path": conversation.cwd,
        "git_branch": conversation.git_branch,
        "git_commit": conversation.git_commit,
    }
    environment = {"os": conversation.os, "shell": conversation.shell, "editor": conversation.editor}
    return _present(
        {"workspace": stated(workspace), "environment": stated(environment), "custom": conversation.context}
    )


def _metrics(conversation: Conversation, total: int, tool_calls: int) -> dict[str, Any]:
    usages = tree.usages(conversation.timeline)
    tokens = {
        "input": _sum([count(usage.input) for usage in usages]),
        "output": _sum([count(usage.output) for usage in usages]),
        "cache_read": _sum([count(usage.cache_read) for usage in usages]),
        "cache_write": _sum([count(usage.cache_write) for usage in usages]),
    }
    cost = _sum([amount(usage.cost_usd) for usage in usages])
    duration = _sum([amount(request.duration_ms) for request in conversation.requests])
    return {
        "total_messages": total,
        **_present({"total_tokens": stated(tokens)}),
        **({} if cost is None else {"total_cost": {"amount": round(cost, 6), "currency": "USD"}}),
        "tool_calls": tool_calls,
        **({} if duration is None else {"duration_ms": round(duration)}),
    }


def _sum(values: list[Any]) -> Any:
    """The sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _rating(feedback: list[Feedback]) -> dict[str, Any]:
    """The one rating there is room for: that of the whole conversation, else the last of a message."""
    if not feedback:
        return {}
    chosen = next((said for said in feedback if said.message_id is None), feedback[-1])
    score = {"up": 5, "down": 0, None: None}[chosen.rating]
    return stated({"score": score, "feedback": chosen.text, "rated_at": times.iso_ms(chosen.at)})


def _summaries(
    conversation: Conversation, said: list[dict[str, Any]], default: str
) -> tuple[list[dict[str, Any]], int]:
    """The summaries, and how many had no time of their own: they have that of the message they end with."""
    if not conversation.summaries:
        return [], 0
    said_at = {message["message_id"]: message["timestamp"] for message in said}
    found: list[dict[str, Any]] = []
    guessed = 0
    for index, summary in enumerate(conversation.summaries):
        at = times.iso_ms(summary.at)
        guessed += at is None
        found.append(
            {
                "summary_id": ids.made(conversation.source, conversation.id, "summary", index, summary.text),
                "type": summary.kind,
                "text": summary.text,
                "timestamp": at or said_at.get(summary.message_id, default),
                **({} if summary.message_id is None else {"covers_messages": [summary.message_id]}),
                **_present({"metadata": summary.extra}),
            }
        )
    return found, guessed


def _events(conversation: Conversation, moments: list[str | None]) -> list[dict[str, Any]]:
    return [
        {
            "event_id": entry.id,
            "name": entry.name,
            **stated({"timestamp": at, "parent_id": entry.parent_id}),
            **_present({"data": entry.data}),
        }
        for entry, at in zip(conversation.timeline, moments, strict=True)
        if isinstance(entry, Event)
    ]
