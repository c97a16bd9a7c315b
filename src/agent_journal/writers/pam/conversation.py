"""A conversation as PAM's normalized conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Event, Text, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.writers.pam.messages import Messages
from agent_journal.writers.pam.values import (
    checksum,
    is_before,
    moment,
    program,
    provider_name,
    raw_metadata,
    stated,
    tags,
)

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Message, Origin
    from agent_journal.writers import Run

SCHEMA = "portable-ai-memory-conversation"
SCHEMA_VERSION = "1.0"
# Where a conversation states no time at all, the schema still demands one.
_NO_TIME = "1970-01-01T00:00:00Z"
_INSTRUCTIONS = "custom_instructions"


def document(conversation: Conversation, conversation_id: str, run: Run) -> dict[str, Any]:
    """The conversation under an id that it has for itself; what PAM says differently is noted."""
    provider = platform_of(conversation, run)
    temporal = _temporal(conversation, run)
    messages = Messages(
        conversation,
        temporal["created_at"],
        provider,
        in_blocks=conversation.source in run.in_blocks,
        text_field=run.text_fields.get(conversation.source, ""),
        children_field=run.children_fields.get(conversation.source, ""),
    )
    said = [*messages]
    _note(conversation, messages, run)
    origin = conversation.origin
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "id": conversation_id,
        "provider": {
            "name": provider,
            **stated(
                {
                    "conversation_id": conversation.id or None,
                    "account_id": conversation.account_id,
                    "export_format_version": None if origin is None else origin.version,
                }
            ),
        },
        "title": conversation.title,
        "temporal": temporal,
        "participants": _participants(conversation, said),
        **stated({"model": conversation.model, "system_instruction": _instruction(conversation)}),
        "is_archived": conversation.archived is True,
        "tags": tags(conversation.tags),
        "raw_metadata": raw_metadata(conversation.extra, provider, _ours(conversation)),
        "import_metadata": _import_metadata(origin, run),
        "messages": said,
    }


def platform_of(conversation: Conversation, run: Run) -> str:
    """Whose the conversation is: as it says itself, else as its source is called."""
    stated_name = conversation.platform.get("provider")
    if isinstance(stated_name, str):
        return provider_name(stated_name)
    return provider_name(run.name_of(conversation.source, "pam"))


def _temporal(conversation: Conversation, run: Run) -> dict[str, Any]:
    """When it began and was last touched: as stated, else by its messages or events."""
    created, updated = moment(conversation.started_at), moment(conversation.updated_at)
    if created is None or updated is None:
        first, last = _span(conversation)
        updated = updated or last
        created = created or first or updated
    if created is None:
        run.changed(conversation, "created_at", f"no time is known: {_NO_TIME}")
        created = _NO_TIME
    if updated is not None and is_before(updated, created):
        run.changed(conversation, "updated_at", "it is before created_at and left out")
        updated = None
    return {"created_at": created, **stated({"updated_at": updated})}


def _span(conversation: Conversation) -> tuple[str | None, str | None]:
    """The first and the last time at which something was said; if none is known, at which anything was."""
    said = [at for message in tree.messages(conversation) if (at := moment(message.at))]
    known = said or [at for entry in conversation.timeline if (at := moment(entry.at))]
    known.sort(key=lambda at: timestamps.epoch_ms(at) or 0)
    return (known[0], known[-1]) if known else (None, None)


def _participants(conversation: Conversation, said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    roles = dict.fromkeys(message["role"] for message in said)
    known = {"user": conversation.account_id}
    return [{"role": role, **stated({"provider_id": known.get(role)})} for role in roles]


def _instruction(conversation: Conversation) -> str | None:
    """How the model was told to behave: by the person, else by what was said before anything else."""
    told = conversation.context.get(_INSTRUCTIONS)
    if isinstance(told, str):
        return told
    first = next(tree.messages(conversation), None)
    return (_text(first) or None) if first is not None and first.role == "system" else None


def _text(message: Message) -> str:
    return "\n\n".join(part.text for part in message.parts if isinstance(part, Text))


def _ours(conversation: Conversation) -> dict[str, Any]:
    """What the conversation has beyond its messages and PAM's fields, and its events with their places."""
    is_told = tags(conversation.tags) == conversation.tags
    about = replace(
        conversation,
        title=None,
        account_id=None,
        model=None,
        tags=[] if is_told else conversation.tags,
        timeline=[],
        origin=None,
        extra={},
    )
    events = _events(conversation)
    return {"conversation": about, **({"events": events} if events else {})}


def _events(conversation: Conversation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    before = 0
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            found.append({"before": before, "event": entry})
        else:
            before += 1
    return found


def _import_metadata(origin: Origin | None, run: Run) -> dict[str, Any]:
    found = {"importer": program(run.program), "imported_at": moment(run.started_at)}
    if origin is not None:
        found |= {
            "importer_version": f"{origin.reader}-importer/{origin.version}.{origin.revision}",
            "source_file": origin.member or origin.file,
            "source_checksum": checksum(origin.member_sha256 if origin.member else origin.sha256),
        }
    return stated(found)


def _note(conversation: Conversation, messages: Messages, run: Run) -> None:
    about = f"{conversation.source}:{conversation.id}"
    if messages.untimed:
        run.note.add(Kind.MISSING_TIME, about, "", f"{messages.untimed} × message")
    if messages.renamed:
        run.changed(
            conversation, "", f"{messages.renamed} × message with an id of another or none: a new one"
        )
