"""Checks a bundle of Portable AI Memory by the schemas, as the package has them, and by the official SDK."""

from __future__ import annotations

import io
import json
import pkgutil
import zipfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs
from portable_ai_memory.core.io import load_dict
from portable_ai_memory.core.validator import validate
from portable_ai_memory.exceptions import PAMError

from agent_journal import writers
from agent_journal.conversion.output import new_run
from agent_journal.conversion.pipeline import read_all
from agent_journal.files import ZipBundle
from agent_journal.model import Item
from agent_journal.notes import Notes

Files = dict[str, bytes]
STORE = "memory-store.json"
SCHEMAS = {
    "portable-ai-memory": "pam-store-1.0",
    "portable-ai-memory-conversation": "pam-conversation-1.0",
    "portable-ai-memory-embeddings": "pam-embeddings-1.0",
}


@cache
def schema(name: str) -> Any:
    text = pkgutil.get_data("agent_journal", f"validation/schemas/{SCHEMAS[name]}.schema.json")
    return jsonschema_rs.validator_for(json.loads(text or b""), validate_formats=True)


def unzipped(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def files_of(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def errors(files: Files) -> list[str]:
    """What is wrong with a bundle; nothing if it is valid. Also what the SDK only warns of is wrong."""
    documents = {name: json.loads(data) for name, data in files.items()}
    found = [
        f"{name}: {error}" for name, document in documents.items() for error in document_errors(document)
    ]
    index = documents[STORE]["conversations_index"]
    listed = [entry["storage"]["ref"] for entry in index]
    if sorted([STORE, *listed]) != sorted(documents):
        found.append(f"files {sorted(documents)}, listed {sorted(listed)}")
    for entry in index:
        document = documents.get(entry["storage"]["ref"], {"messages": []})
        if entry["id"] != document.get("id") or entry["message_count"] != len(document["messages"]):
            found.append(f"{entry['storage']['ref']} is not what the index says")
    return found


def document_errors(document: Any) -> list[str]:
    """What is wrong with one file of a bundle."""
    found = [str(error.message) for error in schema(document["schema"]).iter_errors(document)]
    try:
        found += [str(issue) for issue in validate(load_dict(document)).issues]
    except PAMError as error:
        found.append(str(error))
    return found


class Bundle(NamedTuple):
    """What the writer made of an input, decoded; valid, or the test that asked for it fails."""

    store: Any
    conversations: list[Any]
    notes: Notes

    @property
    def only(self) -> Any:
        (conversation,) = self.conversations
        return conversation

    def message(self, message_id: str) -> Any:
        """The one message of that id."""
        (found,) = [
            each for whole in self.conversations for each in whole["messages"] if each["id"] == message_id
        ]
        return found


def bundled(*items: Item, notes: Notes | None = None) -> Bundle:
    """Items of the model as a bundle, in the order of its index."""
    notes = notes or Notes()
    out = io.BytesIO()
    with closing(ZipBundle(out)) as bundle:
        writers.get("pam").write(items, bundle, new_run(notes))
    files = unzipped(out.getvalue())
    assert [] == errors(files)
    store = json.loads(files[STORE])
    listed = [json.loads(files[entry["storage"]["ref"]]) for entry in store["conversations_index"]]
    return Bundle(store, listed, notes)


def bundle_of(path: Path) -> Bundle:
    """An export as a bundle."""
    notes = Notes()
    return bundled(*read_all([str(path)], notes), notes=notes)
