"""What a person put beside a prompt, and pictures that tools give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.fields import Fields
from agent_journal.model import Code, Media, Other
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.model import MediaKind, Part

_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


def attachment(raw: Any, body: Fields) -> Part:
    """The part that an attachment of a prompt is."""
    if raw.__class__ is not dict:
        body.note(Kind.WRONG_TYPE, body.where, f"an attachment is {type(raw).__name__}")
        return Other(data=raw, name="attachment")
    fields = Fields(raw, body.note, body.where)
    match fields.look("type"):
        case "file" if isinstance(fields.look("path"), str):
            fields.drop("type")
            return _named(fields)
        case "directory" if isinstance(fields.look("path"), str):
            return _named(fields)
        case "selection" if isinstance(fields.look("text"), str):
            fields.drop("type")
            return Code(code=fields.take("text"), file=fields.text("filePath"), extra=fields.rest())
        case "blob" if isinstance(fields.look("data"), str):
            fields.drop("type")
            return inline(fields)
        case "github_reference":
            return Other(data=raw, name="github_reference")
        case kind:
            body.note(Kind.UNKNOWN_TYPE, body.where, f"attachment {str(kind)[:40]!r}")
            return Other(data=raw, name=kind if isinstance(kind, str) else None)


def _named(fields: Fields) -> Media:
    """A file or folder by its path; it may have changed since."""
    return Media(kind="file", ref=fields.text("path"), name=fields.text("displayName"), extra=fields.rest())


def inline(fields: Fields) -> Media:
    """Base64 data with its media type."""
    mime, data = fields.text("mimeType"), fields.text("data")
    kind = _KINDS.get((mime or "").partition("/")[0], "file")
    return Media(kind=kind, mime=mime, data=data, name=fields.text("displayName"), extra=fields.rest())
