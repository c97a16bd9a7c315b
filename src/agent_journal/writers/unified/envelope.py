"""The envelope: everything about a conversation that is not one of its messages."""

from __future__ import annotations

import pkgutil
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Conversation, Event, Feedback, Message, ids, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.writers.unified.content import Content
from agent_journal.writers.unified.messages import amount, count, messages, untold_of
from agent_journal.writers.unified.own_fields import NAME, Untold, present, stated

if TYPE_CHECKING:
    from agent_journal.model import Link
    from agent_journal.writers import Run

SCHEMA_VERSION = "1.0.0"
# Where a conversation states no time at all, the schema still demands one.
_NO_TIME = "1970-01-01T00:00:00.000Z"
_NO_VERSION = "unknown"
# What the platform's metadata holds beside what only the source has a name for: fields of the conversation.
_FACTS = {
    "title": "title",
    "conversation_id": "",
    "account_id": "account_id",
    "head_message_id": "head_id",
    "link": "link",
    "feedback": "feedback",
    "origin": "",
    "name": "",
}
_FACT_NAMES = frozenset(_FACTS)


@cache
def _platform_names() -> frozenset[str]:
    schema = pkgutil.get_data("agent_journal", f"validation/schemas/unified-{SCHEMA_VERSION}.schema.json")
    decoded = msgspec.json.decode(schema or b"{}")
    return frozenset(decoded["properties"]["platform"]["properties"]["name"]["enum"])


def document(conversation: Conversation, run: Run) -> dict[str, Any]:
    """A conversation as the schema has it; what the schema says differently is noted."""
    moments = [timestamps.iso_ms(entry.at) for entry in conversation.timeline]
    created_at, updated_at = _span(conversation, moments)
    if created_at is None:
        run.changed(conversation, "created_at", f"no time is known: {_NO_TIME}")
        created_at = _NO_TIME
    untold = Untold()
    content = Content(conversation, untold)
    said, untimed = messages(conversation, moments, created_at, content, untold)
    summaries, guessed = _summaries(conversation, said, updated_at or created_at)
    content.note(run)
    about = f"{conversation.source}:{conversation.id}"
    for number, what in ((untimed, "message"), (guessed, "summary")):
        if number:
            run.note.add(Kind.MISSING_TIME, about, "", f"{number} × {what}")
    left: dict[str, Any] = {}
    made = {
        "schema_version": SCHEMA_VERSION,
        "conversation_id": _conversation_id(conversation, run),
        "platform": _platform(conversation, run, untold, left),
        "session": _session(conversation),
        **present({"context": _context(conversation)}),
        "created_at": created_at,
        **stated({"updated_at": updated_at, "status": "archived" if conversation.archived else None}),
        "messages": said,
        **present(
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
    made[NAME] = {"source": conversation.source, **untold.rules(), **_untold(conversation, made, left)}
    return made


def _untold(conversation: Conversation, made: dict[str, Any], left: dict[str, Any]) -> dict[str, Any]:
    """What the document does not tell of the conversation itself; `left` is what its platform does not."""
    platform = made["platform"]
    told = {
        "started_at": made["created_at"],
        "updated_at": made.get("updated_at"),
        "app_version": None if platform["version"] == _NO_VERSION else platform["version"],
        "model": platform.get("model"),
        "archived": True if "status" in made else None,
        "shape": "tree" if any(said["parent_message_id"] for said in made["messages"]) else "list",
        "made_id": False,
        "only_prompts": False,
    }
    own = {name: value for name in told if (value := getattr(conversation, name)) != told[name]}
    summarized = [each.at for each in conversation.summaries]
    if summarized == [each["timestamp"] for each in made.get("summaries", ())]:
        summarized = []
    places = [place for place, entry in enumerate(conversation.timeline) if isinstance(entry, Event)]
    facts = left.pop("facts", {})
    return {**present({"conversation": own | facts, "events": places, "summaries": summarized}), **left}


def _span(conversation: Conversation, moments: list[str | None]) -> tuple[str | None, str | None]:
    """When a conversation began and when it was last touched: as stated, else by its messages or events."""
    timeline = zip(conversation.timeline, moments, strict=True)
    said = [at for entry, at in timeline if at is not None and isinstance(entry, Message)]
    known = said or [at for at in moments if at is not None]
    updated = timestamps.iso_ms(conversation.updated_at) or max(known, default=None)
    return timestamps.iso_ms(conversation.started_at) or min(known, default=None) or updated, updated


def _conversation_id(conversation: Conversation, run: Run) -> str:
    made = as_uuid(conversation.source, conversation.id)
    if made != conversation.id:
        run.changed(conversation, "conversation_id", f"it must be a UUID: {made}")
    return made


def as_uuid(source: str, conversation_id: str) -> str:
    """The id itself if it is a UUID, else the UUIDv5 of `<source>-<id>`."""
    return conversation_id if ids.is_uuid(conversation_id) else ids.uuid5(f"{source}-{conversation_id}")


def _platform(conversation: Conversation, run: Run, untold: Untold, left: dict[str, Any]) -> dict[str, Any]:
    name = run.name_of(conversation.source, "unified")
    listed = next((each for each in (name, name.replace("-", "_")) if each in _platform_names()), None)
    metadata = dict(conversation.platform)
    facts = _facts(conversation) | ({"name": name} if listed is None else {})
    names, displaced = _add_facts(metadata, facts)
    further = untold.add(metadata, conversation.extra, _FACT_NAMES)
    if names:
        further["names"] = names | further.get("names", {})
    left |= present({"platform": [*conversation.platform], "metadata": further, "facts": displaced})
    return {
        "name": listed or "other",
        "version": conversation.app_version or _NO_VERSION,
        **stated({"model": conversation.model or _usual_model(conversation)}),
        **present({"metadata": metadata}),
    }


def _add_facts(metadata: dict[str, Any], facts: dict[str, Any]) -> tuple[dict[str, None], dict[str, Any]]:
    """Add facts to what the platform says; the names that clashes gave to some, and the fields they are."""
    names: dict[str, None] = {}
    displaced: dict[str, Any] = {}
    for fact, value in facts.items():
        name = fact
        if name in metadata and (field := _FACTS[fact]):
            displaced[field] = value
        if value.__class__ is str and metadata.get(name) == value:
            continue
        while name in metadata:
            name += "_"
        metadata[name] = value
        if name != fact:
            names[name] = None
    return names, displaced


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
    return present(
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
        **present({"total_tokens": stated(tokens)}),
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
    return stated({"score": score, "feedback": chosen.text, "rated_at": timestamps.iso_ms(chosen.at)})


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
        at = timestamps.iso_ms(summary.at)
        guessed += at is None
        found.append(
            {
                "summary_id": ids.made(conversation.source, conversation.id, "summary", index, summary.text),
                "type": summary.kind,
                "text": summary.text,
                "timestamp": at or said_at.get(summary.message_id, default),
                **({} if summary.message_id is None else {"covers_messages": [summary.message_id]}),
                **present({"metadata": summary.extra}),
            }
        )
    return found, guessed


def _events(conversation: Conversation, moments: list[str | None]) -> list[dict[str, Any]]:
    return [
        {
            "event_id": entry.id,
            "name": entry.name,
            **stated({"timestamp": at, "parent_id": entry.parent_id}),
            **present({"data": entry.data, NAME: untold_of(entry, at)}),
        }
        for entry, at in zip(conversation.timeline, moments, strict=True)
        if isinstance(entry, Event)
    ]
