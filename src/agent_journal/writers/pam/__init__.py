"""Portable AI Memory 1.0: a bundle of one file per conversation and `memory-store.json`, which lists them.

The store is written last: it has the memories, the index of the conversations, and a checksum. Data without a
PAM field is in the `raw_metadata` of conversations and messages: a source's own fields under their own names,
and everything else that is needed to read back the same conversation under `agent_journal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Memory
from agent_journal.model.spilled import load_spilled
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode, pretty
from agent_journal.writers.pam.conversation import conversation_document
from agent_journal.writers.pam.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run

INFO = WriterInfo(
    name="pam",
    title="Portable AI Memory",
    suffix=".json",
    layout="bundle",
    loses=("native content", "memories marked as not exportable"),
    evidence="the specification, JSON Schemas and importer mappings of version 1.0, February 2026, and its "
    "Python SDK 1.0.0; the bundled schemas have the same constraints",
)


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write one file per conversation, then the store that lists them."""
    store = Store(run)
    for item in items:
        if isinstance(item, Memory):
            store.add_memory(item)
            continue
        path, conversation_id = store.allocate(item)
        document = conversation_document(load_spilled(item), conversation_id, run)
        with out.file(path) as file:
            file.write(encode(document))
            file.write(b"\n")
        store.add_conversation(item, document, path)
    with out.file("memory-store.json") as file:
        file.write(pretty(store.document()))
        file.write(b"\n")
