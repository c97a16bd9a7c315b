"""Attachments of prompts, and images returned by tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.model import Bag, MediaKind, Part

_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
# Context that an extension attached to a prompt; not text of the user.
_OPAQUE_ATTACHMENTS = ("extension_context",)


class Assets:
    """Images and files that have an event of their own and are referenced by id elsewhere.

    Their data moves from the event to the parts that reference it; unreferenced data goes back to the event.
    """

    def __init__(self) -> None:
        self._events: dict[str, Bag] = {}
        self._data: dict[str, str] = {}
        self._referenced: set[str] = set()

    def learn(self, event: Bag) -> None:
        """Take the data out of an asset's event."""
        name, data = event.get("assetId"), event.get("data")
        if isinstance(name, str) and isinstance(data, str) and name not in self._events:
            self._events[name], self._data[name] = event, event.pop("data")

    def data(self, name: Any) -> str | None:
        """Return the data of an asset by its id."""
        if not isinstance(name, str) or name not in self._data:
            return None
        self._referenced.add(name)
        return self._data[name]

    def restore_shared(self) -> None:
        """Put unreferenced data back into its event."""
        for name in self._events.keys() - self._referenced:
            self._events[name]["data"] = self._data[name]


def attachment(raw: Any, body: Fields, assets: Assets) -> Part:
    """Convert an attachment of a prompt."""
    if raw.__class__ is not dict:
        body.note(Kind.WRONG_TYPE, body.where, f"an attachment is {type(raw).__name__}")
        return Other(data=raw, name="attachment")
    fields = Fields(raw, body.note, body.where)
    match fields.view("type"):
        case "file" if isinstance(fields.view("path"), str):
            fields.drop("type")
            return _named(fields, assets.data(fields.view("assetId")))
        case "directory" if isinstance(fields.view("path"), str):
            return _named(fields, None)
        case "selection" if isinstance(fields.view("text"), str):
            fields.drop("type")
            return Code(code=fields.take("text"), file=fields.text("filePath"), extra=fields.rest())
        case "blob" if isinstance(fields.view("data"), str) or isinstance(fields.view("assetId"), str):
            fields.drop("type")
            return inline(fields, assets)
        case str(kind) if kind.startswith("github_") or kind in _OPAQUE_ATTACHMENTS:
            return Other(data=raw, name=kind)
        case kind:
            body.note(Kind.UNKNOWN_TYPE, body.where, f"attachment {str(kind)[:40]!r}")
            return Other(data=raw, name=kind if isinstance(kind, str) else None)


def _named(fields: Fields, data: str | None) -> Media:
    """Convert a file or folder with its path; the app stores the original data of images."""
    mime = fields.text("mimeType") if data is not None else None
    return Media(
        kind="file" if mime is None else _kind(mime),
        mime=mime,
        ref=fields.text("path"),
        name=fields.text("displayName"),
        data=data,
        extra=fields.rest(),
    )


def inline(fields: Fields, assets: Assets) -> Media:
    """Convert base64 data with its media type, or a reference to an asset."""
    mime, data = fields.text("mimeType"), fields.text("data") or assets.data(fields.view("assetId"))
    ref = fields.text("assetId") if data is None else None
    return Media(
        kind=_kind(mime), mime=mime, data=data, ref=ref, name=fields.text("displayName"), extra=fields.rest()
    )


def _kind(mime: str | None) -> MediaKind:
    return _KINDS.get((mime or "").partition("/")[0], "file")
