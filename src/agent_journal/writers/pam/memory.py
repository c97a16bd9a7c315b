"""One memory, with exactly the members that the official SDK would write.

The SDK serializes a memory again before it compares checksums: without nulls, with default lists, and with
times in its own form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.model import Memory, ids
from agent_journal.model.leftovers import Leftovers
from agent_journal.notes import Kind
from agent_journal.records.pam_integrity import content_hash, has_canonical_form
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.pam import passthrough
from agent_journal.writers.pam.values import OWN_KEY, memory_timestamp, program, provider_name, without_nulls

if TYPE_CHECKING:
    from collections.abc import Container

    from agent_journal.writers import Run

_KINDS = frozenset(
    {
        "fact",
        "preference",
        "skill",
        "context",
        "relationship",
        "goal",
        "instruction",
        "identity",
        "environment",
        "project",
    }
)
_CUSTOM = "custom"
_LEFTOVERS = Leftovers(Memory, represented=("text", "origin"))
_UNKNOWN_KIND = "unknown"
_NO_TIME = "1970-01-01T00:00:00Z"
# Fields that a user may change in a memory that is still considered the one that was written.
_TEXT_FIELDS = ("content", "content_hash")


class MemoryPlacement(NamedTuple):
    """The id of a memory, how many conversations precede it, and the one it is about."""

    id: str
    after: int
    conversation: str | None


def memory_document(
    memory: Memory, placement: MemoryPlacement, known_ids: Container[str], run: Run
) -> dict[str, Any]:
    """The document of a memory; it may refer to the memories in `known_ids`."""
    is_standard_kind = memory.kind in _KINDS and passthrough.passthrough_fields(memory).get("type") != _CUSTOM
    kind = memory.kind if is_standard_kind else _CUSTOM
    text = memory.text or memory.kind or _UNKNOWN_KIND
    document = {
        "id": placement.id,
        "type": kind,
        **({"custom_type": memory.kind or _UNKNOWN_KIND} if kind == _CUSTOM else {}),
        "content": text,
        "content_hash": content_hash(text),
        **passthrough.memory_fields(memory, _created_at(memory, run), known_ids),
        "provenance": _provenance(memory, placement.conversation, run),
    }
    metadata, own_fields = passthrough.metadata(memory), _own_fields(memory, placement.after)
    if not has_canonical_form({**document, "metadata": {**metadata, OWN_KEY: own_fields}}):
        # It has a number or a depth that RFC 8785 cannot represent.
        metadata, own_fields = {}, {"json": encode(own_fields).decode()}
    return {**document, "metadata": {**metadata, OWN_KEY: {"seal": _seal(document, metadata), **own_fields}}}


def _seal(document: dict[str, Any], metadata: dict[str, Any]) -> str:
    """A hash by which the reader detects that another program changed anything other than the text."""
    sealed = {name: value for name, value in document.items() if name not in _TEXT_FIELDS}
    return ids.made(sealed, metadata)


def _created_at(memory: Memory, run: Run) -> str:
    time = memory_timestamp(memory.at)
    if time is None:
        run.note.add(
            Kind.MISSING_TIME, f"{memory.source}:{memory.id}", "", "memory: the time of this export is used"
        )
    return time or memory_timestamp(run.started_at) or _NO_TIME


def _provenance(memory: Memory, conversation_id: str | None, run: Run) -> dict[str, Any]:
    """The provenance: as stated in the store it was read from, else as known to this export."""
    default = {
        "platform": provider_name(run.name_of(memory.source, passthrough.FORMAT)),
        "extraction_method": "api_export",
        **without_nulls(
            {"extracted_at": memory_timestamp(run.started_at), "extractor": program(run.program)}
        ),
    }
    known = without_nulls({"platform_user_id": account_of(memory), "conversation_ref": conversation_id})
    return {**(passthrough.provenance(memory) or default), **known}


def account_of(memory: Memory) -> str | None:
    """The account of a memory. An `identity` is about an account, except in a memory of another store."""
    is_of_account = memory.kind == "identity" and passthrough.provenance(memory) is None
    return memory.account_id or (memory.about if is_of_account else None)


def _own_fields(memory: Memory, after: int) -> dict[str, Any]:
    """The model's fields of the memory, without its text, and how many conversations precede it."""
    fields = _LEFTOVERS.of(memory)
    if not memory.text:
        fields["text"] = memory.text
    return {"after": after, "memory": fields}
