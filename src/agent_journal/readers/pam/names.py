"""What the files of the format say they are."""

from __future__ import annotations

SOURCE = "pam"
STORE_FILE = "memory-store.json"
STORE = "portable-ai-memory"
CONVERSATION = "portable-ai-memory-conversation"
EMBEDDINGS = "portable-ai-memory-embeddings"
KINDS = frozenset({STORE, CONVERSATION, EMBEDDINGS})
# What this program puts into objects that are open, so that it can read its own conversations again.
OURS = "agent_journal"
PROGRAM = "agent-journal/"
