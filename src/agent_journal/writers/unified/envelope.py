"""The envelope: everything about a conversation that is not one of its messages."""

from __future__ import annotations

import pkgutil
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Conversation, Event, Feedback, Message, Summary, ids, timestamps, tree
from agent_journal.model.leftovers import Leftovers
from agent_journal.notes import Kind
from agent_journal.writers.unified.content import Content
from agent_journal.writers.unified.messages import amount, count, entry_own_fields, messages
from agent_journal.writers.unified.own_fields import OWN_KEY, OwnFields, nonempty, without_nulls

if TYPE_CHECKING:
    from agent_journal.model import Link
    from agent_journal.writers import Run

SCHEMA_VERSION = "1.0.0"
# The schema requires a time, even if a conversation has none.
_NO_TIME = "1970-01-01T00:00:00.000Z"
_NO_VERSION = "unknown"
# Fields of the platform's metadata other than the source's own, with the fields of the conversation.
_METADATA_FIELDS = {
    "title": "title",
    "conversation_id": "",
    "account_id": "account_id",
    "head_message_id": "head_id",
    "link": "link",
    "feedback": "feedback",
    "origin": "",
    "name": "",
}
_SUMMARY_LEFTOVERS = Leftovers(Summary, represented=("text", "kind", "at", "message_id", "extra"))
_LEFTOVERS = Leftovers(
    Conversation,
    represented=(
        "id",
        "source",
        "title",
        "started_at",
        "updated_at",
        "app_version",
        "model",
        "cwd",
        "git_branch",
        "git_commit",
        "account_id",
        "editor",
        "os",
        "shell",
        "archived",
        "tags",
        "shape",
        "head_id",
        "link",
        "timeline",
        "summaries",
        "feedback",
        "tools",
        "requests",
        "platform",
        "context",
        "origin",
        "extra",
    ),
)
_METADATA_NAMES = frozenset(_METADATA_FIELDS)


@cache
def _platform_names() -> frozenset[str]:
    schema = pkgutil.get_data("agent_journal", f"validation/schemas/unified-{SCHEMA_VERSION}.schema.json")
    decoded = msgspec.json.decode(schema or b"{}")
    return frozenset(decoded["properties"]["platform"]["properties"]["name"]["enum"])


def document(conversation: Conversation, run: Run) -> dict[str, Any]:
    """A conversation in the form of the schema; notes what the schema changes."""
    timeline_times = [timestamps.iso_ms(entry.at) for entry in conversation.timeline]
    created_at, updated_at = _span(conversation, timeline_times)
    if created_at is None:
        run.note_changed(conversation, "created_at", f"no known time: {_NO_TIME}")
        created_at = _NO_TIME
    own_fields = OwnFields()
    content = Content(conversation, own_fields)
    message_list, untimed = messages(conversation, timeline_times, created_at, content, own_fields)
    summaries, guessed = _summaries(conversation, message_list, updated_at or created_at)
    content.note(run)
    source_id = f"{conversation.source}:{conversation.id}"
    for count_, kind in ((untimed, "message"), (guessed, "summary")):
        if count_:
            run.note.add(Kind.MISSING_TIME, source_id, "", f"{count_} × {kind}")
    left: dict[str, Any] = {}
    result = {
        "schema_version": SCHEMA_VERSION,
        "conversation_id": _conversation_id(conversation, run),
        "platform": _platform(conversation, run, own_fields, left),
        "session": _session(conversation),
        **nonempty({"context": _context(conversation)}),
        "created_at": created_at,
        **without_nulls({"updated_at": updated_at, "status": "archived" if conversation.archived else None}),
        "messages": message_list,
        **nonempty(
            {
                "summaries": summaries,
                "metrics": _metrics(conversation, len(message_list), content.tool_calls),
                "tags": conversation.tags,
                "rating": _rating(conversation.feedback),
                "events": _events(conversation, timeline_times),
                "tools": conversation.tools,
                "requests": conversation.requests,
            }
        ),
    }
    result[OWN_KEY] = {
        "source": conversation.source,
        **own_fields.rules(),
        **_own_fields(conversation, result, left),
    }
    return result


def _own_fields(conversation: Conversation, result: dict[str, Any], left: dict[str, Any]) -> dict[str, Any]:
    """The own fields of the conversation itself; `left` are those of its platform."""
    platform = result["platform"]
    represented = {
        "started_at": result["created_at"],
        "updated_at": result.get("updated_at"),
        "app_version": None if platform["version"] == _NO_VERSION else platform["version"],
        "model": platform.get("model"),
        "archived": True if "status" in result else None,
        "shape": "tree" if any(message["parent_message_id"] for message in result["messages"]) else "list",
    }
    differing = {
        name: value for name in represented if (value := getattr(conversation, name)) != represented[name]
    } | _LEFTOVERS.of(conversation)
    summary_times = [summary.at for summary in conversation.summaries]
    if summary_times == [summary["timestamp"] for summary in result.get("summaries", ())]:
        summary_times = []
    event_indexes = [index for index, entry in enumerate(conversation.timeline) if isinstance(entry, Event)]
    fields = left.pop("facts", {})
    return {
        **nonempty({"conversation": differing | fields, "events": event_indexes, "summaries": summary_times}),
        **left,
    }


def _span(conversation: Conversation, timeline_times: list[str | None]) -> tuple[str | None, str | None]:
    """The creation and update time: as stated, else from the messages or events."""
    timeline = zip(conversation.timeline, timeline_times, strict=True)
    message_times = [time for entry, time in timeline if time is not None and isinstance(entry, Message)]
    times = message_times or [time for time in timeline_times if time is not None]
    updated = timestamps.iso_ms(conversation.updated_at) or max(times, default=None)
    return timestamps.iso_ms(conversation.started_at) or min(times, default=None) or updated, updated


def _conversation_id(conversation: Conversation, run: Run) -> str:
    uuid = as_uuid(conversation.source, conversation.id)
    if uuid != conversation.id:
        run.note_changed(conversation, "conversation_id", f"not a UUID: replaced by {uuid}")
    return uuid


def as_uuid(source: str, conversation_id: str) -> str:
    """The id itself if it is a UUID, else the UUIDv5 of `<source>-<id>`."""
    return conversation_id if ids.is_uuid(conversation_id) else ids.uuid5(f"{source}-{conversation_id}")


def _platform(
    conversation: Conversation, run: Run, own_fields: OwnFields, left: dict[str, Any]
) -> dict[str, Any]:
    name = run.name_of(conversation.source, "unified")
    known_name = next(
        (candidate for candidate in (name, name.replace("-", "_")) if candidate in _platform_names()), None
    )
    metadata = dict(conversation.platform)
    fields = _metadata_fields(conversation) | ({"name": name} if known_name is None else {})
    names, displaced = _add_fields(metadata, fields)
    platform_own_fields = own_fields.add(metadata, conversation.extra, _METADATA_NAMES)
    if names:
        platform_own_fields["names"] = names | platform_own_fields.get("names", {})
    left |= nonempty(
        {"platform": [*conversation.platform], "metadata": platform_own_fields, "facts": displaced}
    )
    return {
        "name": known_name or "other",
        "version": conversation.app_version or _NO_VERSION,
        **without_nulls({"model": conversation.model or _most_common_model(conversation)}),
        **nonempty({"metadata": metadata}),
    }


def _add_fields(metadata: dict[str, Any], fields: dict[str, Any]) -> tuple[dict[str, None], dict[str, Any]]:
    """Add fields to the metadata; returns the names changed by clashes, and the displaced fields."""
    names: dict[str, None] = {}
    displaced: dict[str, Any] = {}
    for field_name, value in fields.items():
        name = field_name
        if name in metadata and (field := _METADATA_FIELDS[field_name]):
            displaced[field] = value
        if value.__class__ is str and metadata.get(name) == value:
            continue
        while name in metadata:
            name += "_"
        metadata[name] = value
        if name != field_name:
            names[name] = None
    return names, displaced


def _metadata_fields(conversation: Conversation) -> dict[str, Any]:
    """The fields of a conversation that the schema lacks."""
    link = conversation.link
    return without_nulls(
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


def _most_common_model(conversation: Conversation) -> str | None:
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
    sidechain_flags = [message.sidechain for message in tree.messages(conversation)]
    return bool(sidechain_flags) and all(sidechain_flags)


def _context(conversation: Conversation) -> dict[str, Any]:
    workspace = {
        "path": conversation.cwd,
        "git_branch": conversation.git_branch,
        "git_commit": conversation.git_commit,
    }
    environment = {"os": conversation.os, "shell": conversation.shell, "editor": conversation.editor}
    return nonempty(
        {
            "workspace": without_nulls(workspace),
            "environment": without_nulls(environment),
            "custom": conversation.context,
        }
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
        **nonempty({"total_tokens": without_nulls(tokens)}),
        **({} if cost is None else {"total_cost": {"amount": round(cost, 6), "currency": "USD"}}),
        "tool_calls": tool_calls,
        **({} if duration is None else {"duration_ms": round(duration)}),
    }


def _sum(values: list[Any]) -> Any:
    """The sum of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _rating(feedback: list[Feedback]) -> dict[str, Any]:
    """The only rating the schema allows: that of the conversation, else the last one of a message."""
    if not feedback:
        return {}
    chosen = next((item for item in feedback if item.message_id is None), feedback[-1])
    score = {"up": 5, "down": 0, None: None}[chosen.rating]
    return without_nulls({"score": score, "feedback": chosen.text, "rated_at": timestamps.iso_ms(chosen.at)})


def _summaries(
    conversation: Conversation, messages: list[dict[str, Any]], default: str
) -> tuple[list[dict[str, Any]], int]:
    """The summaries, and how many have no time: they get the time of the message they end with."""
    if not conversation.summaries:
        return [], 0
    time_of_message = {message["message_id"]: message["timestamp"] for message in messages}
    summaries: list[dict[str, Any]] = []
    guessed = 0
    for index, summary in enumerate(conversation.summaries):
        time = timestamps.iso_ms(summary.at)
        guessed += time is None
        summaries.append(
            {
                "summary_id": ids.made(conversation.source, conversation.id, "summary", index, summary.text),
                "type": summary.kind,
                "text": summary.text,
                "timestamp": time or time_of_message.get(summary.message_id, default),
                **({} if summary.message_id is None else {"covers_messages": [summary.message_id]}),
                **nonempty({"metadata": summary.extra, OWN_KEY: _SUMMARY_LEFTOVERS.of(summary)}),
            }
        )
    return summaries, guessed


def _events(conversation: Conversation, timeline_times: list[str | None]) -> list[dict[str, Any]]:
    return [
        {
            "event_id": entry.id,
            "name": entry.name,
            **without_nulls({"timestamp": time, "parent_id": entry.parent_id}),
            **nonempty({"data": entry.data, OWN_KEY: entry_own_fields(entry, time)}),
        }
        for entry, time in zip(conversation.timeline, timeline_times, strict=True)
        if isinstance(entry, Event)
    ]
