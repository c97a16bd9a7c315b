"""A conversation as PAM's normalized conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Conversation, Event, Text, timestamps, tree
from agent_journal.model.leftovers import Leftovers
from agent_journal.notes import Kind
from agent_journal.writers.pam.messages import Messages
from agent_journal.writers.pam.values import (
    checksum,
    is_before,
    program,
    provider_name,
    raw_metadata,
    tags,
    timestamp,
    without_nulls,
)

if TYPE_CHECKING:
    from agent_journal.model import Message, Origin
    from agent_journal.writers import Run

SCHEMA = "portable-ai-memory-conversation"
SCHEMA_VERSION = "1.0"
# The schema requires a time, even if a conversation has none.
_NO_TIME = "1970-01-01T00:00:00Z"
_INSTRUCTIONS = "custom_instructions"
_LEFTOVERS = Leftovers(
    Conversation, represented=("title", "account_id", "model", "tags", "timeline", "origin", "extra")
)


def conversation_document(conversation: Conversation, conversation_id: str, run: Run) -> dict[str, Any]:
    """The document of a conversation under a unique id; notes what PAM represents differently."""
    provider = platform_of(conversation, run)
    temporal = _temporal(conversation, run)
    messages = Messages(
        conversation,
        temporal["created_at"],
        provider,
        is_block_source=conversation.source in run.block_sources,
        text_field=run.text_fields.get(conversation.source, ""),
        children_field=run.children_fields.get(conversation.source, ""),
    )
    message_list = [*messages]
    _add_notes(conversation, messages, run)
    origin = conversation.origin
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "id": conversation_id,
        "provider": {
            "name": provider,
            **without_nulls(
                {
                    "conversation_id": conversation.id or None,
                    "account_id": conversation.account_id,
                    "export_format_version": None if origin is None else origin.version,
                }
            ),
        },
        "title": conversation.title,
        "temporal": temporal,
        "participants": _participants(conversation, message_list),
        **without_nulls({"model": conversation.model, "system_instruction": _instruction(conversation)}),
        "is_archived": conversation.archived is True,
        "tags": tags(conversation.tags),
        "raw_metadata": raw_metadata(conversation.extra, provider, _own_fields(conversation)),
        "import_metadata": _import_metadata(origin, run),
        "messages": message_list,
    }


def platform_of(conversation: Conversation, run: Run) -> str:
    """The platform of a conversation: as stated, else the name of its source."""
    stated_name = conversation.platform.get("provider")
    if isinstance(stated_name, str):
        return provider_name(stated_name)
    return provider_name(run.name_of(conversation.source, "pam"))


def _temporal(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The creation and update time: as stated, else from its messages or events."""
    created, updated = timestamp(conversation.started_at), timestamp(conversation.updated_at)
    if created is None or updated is None:
        first, last = _span(conversation)
        updated = updated or last
        created = created or first or updated
    if created is None:
        run.note_changed(conversation, "created_at", f"no known time: {_NO_TIME}")
        created = _NO_TIME
    if updated is not None and is_before(updated, created):
        run.note_changed(conversation, "updated_at", "earlier than created_at: omitted")
        updated = None
    return {"created_at": created, **without_nulls({"updated_at": updated})}


def _span(conversation: Conversation) -> tuple[str | None, str | None]:
    """The first and last time of the messages; if none is known, of all entries."""
    message_times = [time for message in tree.messages(conversation) if (time := timestamp(message.at))]
    known_times = message_times or [time for entry in conversation.timeline if (time := timestamp(entry.at))]
    known_times.sort(key=lambda time: timestamps.epoch_ms(time) or 0)
    return (known_times[0], known_times[-1]) if known_times else (None, None)


def _participants(conversation: Conversation, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    roles = dict.fromkeys(message["role"] for message in messages)
    provider_ids = {"user": conversation.account_id}
    return [{"role": role, **without_nulls({"provider_id": provider_ids.get(role)})} for role in roles]


def _instruction(conversation: Conversation) -> str | None:
    """The user's custom instructions, else the first message if it is a system message."""
    custom = conversation.context.get(_INSTRUCTIONS)
    if isinstance(custom, str):
        return custom
    first = next(tree.messages(conversation), None)
    return (_text(first) or None) if first is not None and first.role == "system" else None


def _text(message: Message) -> str:
    return "\n\n".join(part.text for part in message.parts if isinstance(part, Text))


def _own_fields(conversation: Conversation) -> dict[str, Any]:
    """Everything beyond the messages and PAM's own fields, and the events with their positions."""
    fields = _LEFTOVERS.of(conversation)
    if tags(conversation.tags) != conversation.tags:
        fields["tags"] = conversation.tags
    events = _events(conversation)
    return {"conversation": fields, **({"events": events} if events else {})}


def _events(conversation: Conversation) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    messages_before = 0
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            events.append({"before": messages_before, "event": entry})
        else:
            messages_before += 1
    return events


def _import_metadata(origin: Origin | None, run: Run) -> dict[str, Any]:
    metadata = {"importer": program(run.program), "imported_at": timestamp(run.started_at)}
    if origin is not None:
        metadata |= {
            "importer_version": f"{origin.reader}-importer/{origin.version}.{origin.revision}",
            "source_file": origin.member or origin.file,
            "source_checksum": checksum(origin.member_sha256 if origin.member else origin.sha256),
        }
    return without_nulls(metadata)


def _add_notes(conversation: Conversation, messages: Messages, run: Run) -> None:
    source_id = f"{conversation.source}:{conversation.id}"
    if messages.untimed:
        run.note.add(Kind.MISSING_TIME, source_id, "", f"{messages.untimed} × message")
    if messages.renamed:
        run.note_changed(
            conversation, "", f"{messages.renamed} × message with a duplicate or empty id: replaced"
        )
