"""What an export has beside its conversations: the account, what Claude remembers, projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Memory, ids
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai.detect import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes

Bag = dict[str, Any]


def read_user(record: Bag, place: str, note: Notes) -> Iterator[Memory]:  # noqa: ARG001 (as the others)
    """The account as something the service knows about the person."""
    account_id = record.get("uuid")
    told = [f"{name}: {value}" for name, value in record.items() if value.__class__ in (str, int, float)]
    yield Memory(
        id=ids.made(SOURCE, "identity", account_id or record),
        made_id=True,
        source=SOURCE,
        kind="identity",
        text=", ".join(told),
        about=account_id if isinstance(account_id, str) else None,
        extra=record,
    )


def read_memories(record: Bag, place: str, note: Notes) -> Iterator[Memory]:
    """What Claude remembers: of all conversations, of each project, and as files since September 2026."""
    fields = Fields(record, note, place)
    account_id = fields.text("account_uuid")
    general = fields.text("conversations_memory")
    projects = fields.bag("project_memories") or {}
    files = fields.items("memory_files") or []
    # What else the record says stays with the first of its memories.
    said: Bag = fields.rest()
    if general:
        yield _memory("context", general, (account_id,), account_id, said, account_id)
        said = {}
    for project_id, text in projects.items():
        if text:
            extra = {**said}
            if not isinstance(text, str):
                extra["value"] = text
            yield _memory("project", _words(text), (account_id, project_id), project_id, extra, account_id)
            said = {}
    for index, file in enumerate(files):
        if isinstance(file, dict):
            yield _memory_file(Fields(file, note, f"{place} file {index}"), account_id, said)
            said = {}
        else:
            note(Kind.BAD_RECORD, f"{place} file {index}", f"a memory is {type(file).__name__}")
    if said:
        note(Kind.UNKNOWN_TYPE, place, "nothing that is remembered")
        yield _memory("context", "", (account_id, said), account_id, said, account_id)


def _memory_file(fields: Fields, account_id: str | None, said: Bag) -> Memory:
    text = fields.text("content") or ""
    at = fields.moment("updated_at")
    path = fields.look("path")
    known_by = (account_id, "file", path or text)
    return _memory("context", text, known_by, account_id, {**said, **fields.rest()}, account_id, at)


def _memory(  # noqa: PLR0917 (the fields of a memory)
    kind: str,
    text: str,
    known_by: tuple[Any, ...],
    about: str | None,
    extra: Bag,
    account_id: str | None = None,
    at: str | None = None,
) -> Memory:
    return Memory(
        id=ids.made(SOURCE, "memory", kind, *known_by),
        made_id=True,
        source=SOURCE,
        kind=kind,
        text=text,
        account_id=account_id,
        about=about,
        at=at,
        extra=extra,
    )


def _words(value: Any) -> str:
    """The text of a memory; one that has sections of its own as lines."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {text}" for name, text in value.items())
    return value if isinstance(value, str) else str(value)


def read_project(record: Bag, place: str, note: Notes) -> Iterator[Memory]:
    """A project: what it is, the instructions given for it, and each document in it."""
    fields = Fields(record, note, place)
    project_id = fields.text("uuid") or None
    is_made = project_id is None
    if project_id is None:
        note(Kind.MISSING_ID, place, "no uuid")
        project_id = ids.made(SOURCE, "project", record)
    instructions = fields.text("prompt_template")
    documents = fields.items("docs") or []
    name, description = fields.text("name"), fields.text("description")
    at = fields.moment("updated_at") or fields.moment("created_at")
    yield Memory(
        id=project_id,
        made_id=is_made,
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
            yield _document(Fields(document, note, f"{place} document {index}"), project_id)
        elif document is not None:
            note(Kind.BAD_RECORD, f"{place} document {index}", f"a document is {type(document).__name__}")


def _document(fields: Fields, project_id: str) -> Memory:
    document_id = fields.text("uuid") or None
    text, at = fields.text("content") or "", fields.moment("created_at")
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
