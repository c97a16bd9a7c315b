"""The memory store: what is remembered, an index of the conversations, and a checksum over the memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import files, ids
from agent_journal.notes import Kind
from agent_journal.writers._encode import encode
from agent_journal.writers.pam.conversation import SCHEMA_VERSION
from agent_journal.writers.pam.integrity import checksum_of, content_hash, has_canonical_form
from agent_journal.writers.pam.values import OURS, memory_moment, moment, program, provider_name, stated

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Memory
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
_SPECIFICATION = "https://portable-ai-memory.org/spec/v1.0"
_NOBODY = "unknown"
_NO_TIME = "1970-01-01T00:00:00Z"


class Store:
    """Gathers what is known of all items: no more than the memories and a line for each conversation."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._memories: list[tuple[int, Memory]] = []
        self._index: list[dict[str, Any]] = []
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        self._ids: set[str] = set()
        self._names: set[str] = set()
        self._accounts: dict[str, None] = {}

    def place(self, conversation: Conversation) -> tuple[str, str]:
        """A new file for a conversation, and the id it has in this bundle."""
        name = conversation.id
        if not name or name in self._ids:
            name = ids.made(conversation.source, name, len(self._index))
            self._run.changed(conversation, "id", f"another has it, or it is none: {name}")
        self._ids.add(name)
        # Some file systems take A for a, and none takes every id.
        plain = name if files.is_safe_name(name) and name.lower() not in self._names else None
        plain = plain or files.safe_name(name, f"{conversation.source}:{name}")
        self._names.add(plain.lower())
        return f"conversations/{plain}.json", name

    def enter(self, conversation: Conversation, whole: dict[str, Any], path: str) -> None:
        """Put a conversation that was written into the index."""
        entry = {
            "id": whole["id"],
            "platform": whole["provider"]["name"],
            "title": whole["title"],
            "message_count": len(whole["messages"]),
            "temporal": whole["temporal"],
            "tags": whole["tags"],
            "derived_memories": [],
            "storage": {"type": "file", "ref": path, "format": "json"},
        }
        self._index.append(entry)
        self._known.setdefault((conversation.source, conversation.id), entry)
        if conversation.account_id:
            self._accounts[conversation.account_id] = None

    def remember(self, memory: Memory) -> None:
        """Keep a memory, and its place among the conversations."""
        self._memories.append((len(self._index), memory))

    def document(self) -> dict[str, Any]:
        """All of it; what PAM says differently is noted."""
        run = self._run
        memories = self._written_memories()
        checksum = checksum_of(memories)
        exported_at = moment(run.started_at)
        return {
            "schema": "portable-ai-memory",
            "schema_version": SCHEMA_VERSION,
            "spec_uri": _SPECIFICATION,
            "export_id": ids.made(run.program, exported_at, checksum, [entry["id"] for entry in self._index]),
            **stated({"exported_by": program(run.program), "export_date": exported_at}),
            "owner": {"id": self._owner()},
            "memories": memories,
            "relations": [],
            "conversations_index": self._index,
            "integrity": {
                "canonicalization": "RFC8785",
                "checksum": checksum,
                "total_memories": len(memories),
            },
            "export_type": "full",
        }

    def _owner(self) -> str:
        """Whose memories and conversations these are: the account that is told of first."""
        stated_ids = [account for _, memory in self._memories if (account := _account(memory))]
        return next((each for each in [*stated_ids, *self._accounts] if each), _NOBODY)

    def _written_memories(self) -> list[dict[str, Any]]:
        taken: set[str] = set()
        found: list[dict[str, Any]] = []
        for after, memory in self._memories:
            name = memory.id
            if not name or name in taken:
                name = ids.made(memory.source, name, len(found))
                self._run.changed(memory, "id", f"another has it, or it is none: {name}")
            taken.add(name)
            found.append(self._memory(memory, name, after))
        return found

    def _memory(self, memory: Memory, name: str, after: int) -> dict[str, Any]:
        """A memory with exactly the members that the official SDK would write.

        It writes a memory anew before it compares checksums: no nulls, defaults of lists, times in its form.
        """
        kind = memory.kind if memory.kind in _KINDS else "custom"
        text = memory.text or memory.kind or _NOBODY
        conversation = self._known.get((memory.source, memory.about)) if memory.about is not None else None
        if conversation is not None:
            conversation["derived_memories"].append(name)
        ours = _ours(memory, after)
        written = {
            "id": name,
            "type": kind,
            **({"custom_type": memory.kind or _NOBODY} if kind == "custom" else {}),
            "status": "active",
            "content": text,
            "content_hash": content_hash(text),
            "tags": [],
            "temporal": {"created_at": self._created_at(memory)},
            "provenance": self._provenance(memory, None if conversation is None else conversation["id"]),
            "metadata": {OURS: ours},
        }
        if not has_canonical_form(written):
            # A number or a depth that RFC 8785 does not take.
            written["metadata"] = {OURS: {"json": encode(ours).decode()}}
        return written

    def _created_at(self, memory: Memory) -> str:
        at = memory_moment(memory.at)
        if at is None:
            self._run.note.add(
                Kind.MISSING_TIME, f"{memory.source}:{memory.id}", "", "memory: time of this export"
            )
        return at or memory_moment(self._run.started_at) or _NO_TIME

    def _provenance(self, memory: Memory, conversation_id: str | None) -> dict[str, Any]:
        return {
            "platform": provider_name(self._run.name_of(memory.source, "pam")),
            **stated(
                {
                    "platform_user_id": _account(memory),
                    "conversation_ref": conversation_id,
                    "extraction_method": "api_export",
                    "extracted_at": memory_moment(self._run.started_at),
                    "extractor": program(self._run.program),
                }
            ),
        }


def _account(memory: Memory) -> str | None:
    return memory.account_id or (memory.about if memory.kind == "identity" else None)


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
