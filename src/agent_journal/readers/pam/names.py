"""The schemas of the format, its file names, and the names that this program adds."""

from __future__ import annotations

SOURCE = "pam"
STORE_FILE = "memory-store.json"
STORE = "portable-ai-memory"
CONVERSATION = "portable-ai-memory-conversation"
EMBEDDINGS = "portable-ai-memory-embeddings"
SCHEMAS = frozenset({STORE, CONVERSATION, EMBEDDINGS})
# The key under which this program stores what it needs to restore its own conversations.
OWN_KEY = "agent_journal"
PROGRAM = "agent-journal/"
