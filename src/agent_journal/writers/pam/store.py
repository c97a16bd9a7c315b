"""The memory store: what is remembered, an index of the conversations, and a checksum over the memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import files
from agent_journal.model import ids
from agent_journal.records.pam_integrity import checksum_of
from agent_journal.writers.pam import passthrough
from agent_journal.writers.pam.conversation import SCHEMA_VERSION
from agent_journal.writers.pam.memory import Place, account_of, written
from agent_journal.writers.pam.values import moment, program, stated

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Memory
    from agent_journal.writers import Run

_SPECIFICATION = "https://portable-ai-memory.org/spec/v1.0"
_NOBODY = "unknown"


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
        """Keep a memory, and its place among the conversations; not one that says it must not be exported."""
        if passthrough.must_stay(memory):
            self._run.cannot_say(memory, "access.exportable", "it must not be exported")
        else:
            self._memories.append((len(self._index), memory))

    def document(self) -> dict[str, Any]:
        """All of it; what PAM says differently is noted."""
        run = self._run
        named, known = self._named()
        memories = [self._written(name, after, memory, known) for name, after, memory in named]
        checksum = checksum_of(memories)
        exported_at = moment(run.started_at)
        return {
            "schema": "portable-ai-memory",
            "schema_version": SCHEMA_VERSION,
            "spec_uri": _SPECIFICATION,
            "export_id": ids.made(run.program, exported_at, checksum, [entry["id"] for entry in self._index]),
            **stated({"exported_by": program(run.program), "export_date": exported_at}),
            "owner": self._owner(),
            "memories": memories,
            "relations": self._relations(known),
            "conversations_index": self._index,
            "integrity": {
                "canonicalization": "RFC8785",
                "checksum": checksum,
                "total_memories": len(memories),
            },
            "export_type": "full",
        }

    def _owner(self) -> dict[str, Any]:
        """Whose memories and conversations these are: the account that is told of first."""
        for _, memory in self._memories:
            if account := account_of(memory):
                return {"id": account, **passthrough.owner(memory)}
        return {"id": next(iter(self._accounts), _NOBODY)}

    def _named(self) -> tuple[list[tuple[str, int, Memory]], set[str]]:
        """The memories under ids of their own, with their places; and the ids that mean one memory only."""
        found: dict[str, tuple[str, int, Memory]] = {}
        ambiguous: set[str] = set()
        for after, memory in self._memories:
            name = memory.id
            if not name or name in found:
                ambiguous.add(name)
                name = ids.made(memory.source, name, len(found))
                self._run.changed(memory, "id", f"another has it, or it is none: {name}")
            found[name] = (name, after, memory)
        return [*found.values()], found.keys() - ambiguous

    def _written(self, name: str, after: int, memory: Memory, known: set[str]) -> dict[str, Any]:
        about = None if memory.about is None else self._known.get((memory.source, memory.about))
        if about is not None:
            about["derived_memories"].append(name)
        return written(memory, Place(name, after, None if about is None else about["id"]), known, self._run)

    def _relations(self, known: set[str]) -> list[dict[str, Any]]:
        """How memories of other stores stand to each other."""
        found: dict[str, dict[str, Any]] = {}
        for _, memory in self._memories:
            for relation in passthrough.relations(memory, known):
                found.setdefault(relation["id"], relation)
        return [*found.values()]
