"""Portable AI Memory 1.0: a bundle of one file per conversation and `memory-store.json`, which lists them.

The store is written last: it has the memories, the index of the conversations, and a checksum. What PAM has
no field for is in the `raw_metadata` of conversations and messages: a source's own fields under its own
names, and under `agent_journal` what else is needed to read the same conversation again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Memory
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode, pretty
from agent_journal.writers.pam.conversation import document
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
    loses=("the content as the source had it", "memories that say they must not be exported"),
    evidence="the specification, JSON Schemas and importer mappings of version 1.0, February 2026, and its "
    "Python SDK 1.0.0; ours have the same constraints",
)


def write(items: Iterable[Item], out: Bundle, run: Run) -> None:
    """Write each conversation as a file of its own, then what is known of all of them."""
    store = Store(run)
    for item in items:
        if isinstance(item, Memory):
            store.remember(item)
            continue
        path, conversation_id = store.place(item)
        whole = document(item, conversation_id, run)
        with out.file(path) as file:
            file.write(encode(whole))
            file.write(b"\n")
        store.enter(item, whole, path)
    with out.file("memory-store.json") as file:
        file.write(pretty(store.document()))
        file.write(b"\n")
