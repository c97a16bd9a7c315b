"""The memory store: the memories, an index of the conversations, and a checksum over the memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import files
from agent_journal.model import ids
from agent_journal.records.pam_integrity import checksum_of
from agent_journal.writers.pam import passthrough
from agent_journal.writers.pam.conversation import SCHEMA_VERSION
from agent_journal.writers.pam.memory import MemoryPlacement, account_of, memory_document
from agent_journal.writers.pam.values import program, timestamp, without_nulls

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Memory
    from agent_journal.writers import Run

_SPECIFICATION = "https://portable-ai-memory.org/spec/v1.0"
_UNKNOWN_OWNER = "unknown"


class Store:
    """Collects the memories and an index entry for each conversation."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._memories: list[tuple[int, Memory]] = []
        self._index: list[dict[str, Any]] = []
        self._entries_by_key: dict[tuple[str, str], dict[str, Any]] = {}
        self._ids: set[str] = set()
        self._file_names: set[str] = set()
        self._accounts: dict[str, None] = {}

    def allocate(self, conversation: Conversation) -> tuple[str, str]:
        """Return a new file path for a conversation, and its unique id in this bundle."""
        id_ = conversation.id
        if not id_ or id_ in self._ids:
            id_ = ids.made(conversation.source, id_, len(self._index))
            self._run.note_changed(conversation, "id", f"duplicate or empty: {id_}")
        self._ids.add(id_)
        # Some file systems ignore case, and none accepts every id.
        file_name = id_ if files.is_safe_name(id_) and id_.lower() not in self._file_names else None
        file_name = file_name or files.safe_name(id_, f"{conversation.source}:{id_}")
        self._file_names.add(file_name.lower())
        return f"conversations/{file_name}.json", id_

    def add_conversation(self, conversation: Conversation, document: dict[str, Any], path: str) -> None:
        """Add a written conversation to the index."""
        entry = {
            "id": document["id"],
            "platform": document["provider"]["name"],
            "title": document["title"],
            "message_count": len(document["messages"]),
            "temporal": document["temporal"],
            "tags": document["tags"],
            "derived_memories": [],
            "storage": {"type": "file", "ref": path, "format": "json"},
        }
        self._index.append(entry)
        self._entries_by_key.setdefault((conversation.source, conversation.id), entry)
        if conversation.account_id:
            self._accounts[conversation.account_id] = None

    def add_memory(self, memory: Memory) -> None:
        """Add a memory and its position among the conversations, unless it is marked as not exportable."""
        if passthrough.is_not_exportable(memory):
            self._run.note_not_preserved(memory, "access.exportable", "a memory marked as not exportable")
        else:
            self._memories.append((len(self._index), memory))

    def document(self) -> dict[str, Any]:
        """The document of the store; notes what PAM represents differently."""
        run = self._run
        memories_with_ids, known_ids = self._identify_memories()
        memories = [
            self._memory_document(id_, conversations_before, memory, known_ids)
            for id_, conversations_before, memory in memories_with_ids
        ]
        checksum = checksum_of(memories)
        exported_at = timestamp(run.started_at)
        return {
            "schema": "portable-ai-memory",
            "schema_version": SCHEMA_VERSION,
            "spec_uri": _SPECIFICATION,
            "export_id": ids.made(run.program, exported_at, checksum, [entry["id"] for entry in self._index]),
            **without_nulls({"exported_by": program(run.program), "export_date": exported_at}),
            "owner": self._owner(),
            "memories": memories,
            "relations": self._relations(known_ids),
            "conversations_index": self._index,
            "integrity": {
                "canonicalization": "RFC8785",
                "checksum": checksum,
                "total_memories": len(memories),
            },
            "export_type": "full",
        }

    def _owner(self) -> dict[str, Any]:
        """The owner: the first known account."""
        for _, memory in self._memories:
            if account := account_of(memory):
                return {"id": account, **passthrough.owner(memory)}
        return {"id": next(iter(self._accounts), _UNKNOWN_OWNER)}

    def _identify_memories(self) -> tuple[list[tuple[str, int, Memory]], set[str]]:
        """The memories with unique ids and their positions, and the ids that are unambiguous."""
        by_id: dict[str, tuple[str, int, Memory]] = {}
        ambiguous: set[str] = set()
        for conversations_before, memory in self._memories:
            id_ = memory.id
            if not id_ or id_ in by_id:
                ambiguous.add(id_)
                id_ = ids.made(memory.source, id_, len(by_id))
                self._run.note_changed(memory, "id", f"duplicate or empty: {id_}")
            by_id[id_] = (id_, conversations_before, memory)
        return [*by_id.values()], by_id.keys() - ambiguous

    def _memory_document(
        self, id_: str, conversations_before: int, memory: Memory, known_ids: set[str]
    ) -> dict[str, Any]:
        entry = None if memory.about is None else self._entries_by_key.get((memory.source, memory.about))
        if entry is not None:
            entry["derived_memories"].append(id_)
        return memory_document(
            memory,
            MemoryPlacement(id_, conversations_before, None if entry is None else entry["id"]),
            known_ids,
            self._run,
        )

    def _relations(self, known_ids: set[str]) -> list[dict[str, Any]]:
        """The relations between memories of other stores."""
        by_id: dict[str, dict[str, Any]] = {}
        for _, memory in self._memories:
            for relation in passthrough.relations(memory, known_ids):
                by_id.setdefault(relation["id"], relation)
        return [*by_id.values()]
