"""One memory, with exactly the members that the official SDK would write.

It writes a memory anew before it compares checksums: no nulls, defaults of lists, times in its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.records.pam_integrity import content_hash, has_canonical_form
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.pam import passthrough
from agent_journal.writers.pam.values import OURS, memory_moment, program, provider_name, stated

if TYPE_CHECKING:
    from collections.abc import Container

    from agent_journal.model import Memory
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
_NAMELESS = "unknown"
_NO_TIME = "1970-01-01T00:00:00Z"
# What may be changed in a memory that is still the one that was written.
_TEXT = ("content", "content_hash")


class Place(NamedTuple):
    """Under which id a memory is written, after how many conversations, and about which of them."""

    id: str
    after: int
    conversation: str | None


def written(memory: Memory, place: Place, known: Container[str], run: Run) -> dict[str, Any]:
    """A memory; `known` are the memories that it may refer to."""
    is_usual = memory.kind in _KINDS and passthrough.carried(memory).get("type") != _CUSTOM
    kind = memory.kind if is_usual else _CUSTOM
    text = memory.text or memory.kind or _NAMELESS
    found = {
        "id": place.id,
        "type": kind,
        **({"custom_type": memory.kind or _NAMELESS} if kind == _CUSTOM else {}),
        "content": text,
        "content_hash": content_hash(text),
        **passthrough.members(memory, _created_at(memory, run), known),
        "provenance": _provenance(memory, place.conversation, run),
    }
    more, ours = passthrough.metadata(memory), _ours(memory, place.after)
    if not has_canonical_form({**found, "metadata": {**more, OURS: ours}}):
        # A number or a depth that RFC 8785 does not take.
        more, ours = {}, {"json": encode(ours).decode()}
    return {**found, "metadata": {**more, OURS: {"seal": _seal(found, more), **ours}}}


def _seal(found: dict[str, Any], metadata: dict[str, Any]) -> str:
    """By which the reader knows whether another program has since changed what stands beside the text."""
    beside = {name: value for name, value in found.items() if name not in _TEXT}
    return ids.made(beside, metadata)


def _created_at(memory: Memory, run: Run) -> str:
    at = memory_moment(memory.at)
    if at is None:
        run.note.add(Kind.MISSING_TIME, f"{memory.source}:{memory.id}", "", "memory: time of this export")
    return at or memory_moment(run.started_at) or _NO_TIME


def _provenance(memory: Memory, conversation_id: str | None, run: Run) -> dict[str, Any]:
    """Where it is from: as the store says in which it was, else as this export knows it."""
    now = {
        "platform": provider_name(run.name_of(memory.source, passthrough.FORMAT)),
        "extraction_method": "api_export",
        **stated({"extracted_at": memory_moment(run.started_at), "extractor": program(run.program)}),
    }
    known = stated({"platform_user_id": account_of(memory), "conversation_ref": conversation_id})
    return {**(passthrough.provenance(memory) or now), **known}


def account_of(memory: Memory) -> str | None:
    """Whose memory it is. An identity is about an account, or in another store about a conversation."""
    is_of_account = memory.kind == "identity" and passthrough.provenance(memory) is None
    return memory.account_id or (memory.about if is_of_account else None)


def _ours(memory: Memory, after: int) -> dict[str, Any]:
    """The memory as the model has it, without its text, and how many conversations come before it."""
    about = {"id": memory.id, "source": memory.source, "kind": memory.kind}
    for name in ("made_id", "account_id", "about", "at", "extra"):
        value = getattr(memory, name)
        if value is not None and value is not False and value != {}:
            about[name] = value
    if not memory.text:
        about["text"] = memory.text
    return {"after": after, "memory": about}
