"""Reads the other files of an export: the account, memories, projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai.detect import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes

JsonObject = dict[str, Any]


def read_user(record: JsonObject, location: str, note: Notes) -> Iterator[Memory]:  # noqa: ARG001 (the signature of the others)
    """Convert the account to a memory about the person."""
    account_id = record.get("uuid")
    facts = [f"{name}: {value}" for name, value in record.items() if value.__class__ in (str, int, float)]
    yield Memory(
        id=ids.made(SOURCE, "identity", account_id or record),
        made_id=True,
        source=SOURCE,
        kind="identity",
        text=", ".join(facts),
        about=account_id if isinstance(account_id, str) else None,
        extra=record,
    )


def read_memories(record: JsonObject, location: str, note: Notes) -> Iterator[Memory]:
    """Yield memories: of all conversations, of each project, and since September 2026 as files."""
    fields = Fields(record, note, location)
    account_id = fields.text("account_uuid")
    general = fields.text("conversations_memory")
    projects = fields.bag("project_memories") or {}
    files = fields.items("memory_files") or []
    # The record's other fields stay with its first memory.
    other_fields: JsonObject = fields.rest()
    if general:
        yield _memory("context", general, (account_id,), account_id, other_fields, account_id)
        other_fields = {}
    for project_id, text in projects.items():
        if text:
            extra = {**other_fields}
            if not isinstance(text, str):
                extra["value"] = text
            yield _memory("project", _as_text(text), (account_id, project_id), project_id, extra, account_id)
            other_fields = {}
    for index, file in enumerate(files):
        if isinstance(file, dict):
            yield _memory_file(Fields(file, note, f"{location} file {index}"), account_id, other_fields)
            other_fields = {}
        else:
            note(Kind.BAD_RECORD, f"{location} file {index}", f"a memory is {type(file).__name__}")
    if other_fields:
        note(Kind.UNKNOWN_TYPE, location, "a record without memories")
        yield _memory("context", "", (account_id, other_fields), account_id, other_fields, account_id)


def _memory_file(fields: Fields, account_id: str | None, other_fields: JsonObject) -> Memory:
    text = fields.text("content") or ""
    at = fields.timestamp("updated_at")
    path = fields.view("path")
    key = (account_id, "file", path or text)
    return _memory("context", text, key, account_id, {**other_fields, **fields.rest()}, account_id, at)


def _memory(  # noqa: PLR0917 (the fields of a memory)
    kind: str,
    text: str,
    key: tuple[Any, ...],
    about: str | None,
    extra: JsonObject,
    account_id: str | None = None,
    at: str | None = None,
) -> Memory:
    return Memory(
        id=ids.made(SOURCE, "memory", kind, *key),
        made_id=True,
        source=SOURCE,
        kind=kind,
        text=text,
        account_id=account_id,
        about=about,
        at=at,
        extra=extra,
    )


def _as_text(value: Any) -> str:
    """Convert the value of a memory to text; one with sections becomes lines."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {text}" for name, text in value.items())
    return value if isinstance(value, str) else str(value)


def read_project(record: JsonObject, location: str, note: Notes) -> Iterator[Memory]:
    """Yield a project: its description, its instructions, and each of its documents."""
    fields = Fields(record, note, location)
    project_id = fields.text("uuid") or None
    has_made_id = project_id is None
    if project_id is None:
        note(Kind.MISSING_ID, location, "no uuid")
        project_id = ids.made(SOURCE, "project", record)
    instructions = fields.text("prompt_template")
    documents = fields.items("docs") or []
    name, description = fields.text("name"), fields.text("description")
    at = fields.timestamp("updated_at") or fields.timestamp("created_at")
    yield Memory(
        id=project_id,
        made_id=has_made_id,
        source=SOURCE,
        kind="project",
        text="\n\n".join(text for text in (name, description) if text),
        about=project_id,
        at=at,
        extra=fields.rest(),
    )
    if instructions:
        yield _memory("instruction", instructions, (project_id,), project_id, {}, at=at)
    for index, document in enumerate(documents):
        if isinstance(document, dict):
            yield _document(Fields(document, note, f"{location} document {index}"), project_id)
        elif document is not None:
            note(Kind.BAD_RECORD, f"{location} document {index}", f"a document is {type(document).__name__}")


def _document(fields: Fields, project_id: str) -> Memory:
    document_id = fields.text("uuid") or None
    text, at = fields.text("content") or "", fields.timestamp("created_at")
    extra = fields.rest()
    return Memory(
        id=document_id or ids.made(SOURCE, "document", project_id, extra, text),
        made_id=document_id is None,
        source=SOURCE,
        kind="project",
        text=text,
        about=project_id,
        at=at,
        extra=extra,
    )
