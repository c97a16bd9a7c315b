"""What a person put beside a prompt, and pictures that tools give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.model import Bag, MediaKind, Part

_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
# What an extension gave with a prompt, without words of its own.
_SAID_ELSEWHERE = ("extension_context",)


class Assets:
    """Pictures and files that are told once, each in an event of its own, and named where they are shown.

    Their data leaves the event for the first part that names it; what no part names goes back.
    """

    def __init__(self) -> None:
        self._events: dict[str, Bag] = {}
        self._data: dict[str, str] = {}
        self._named: set[str] = set()

    def learn(self, event: Bag) -> None:
        """Take the data of an event that brings an asset."""
        name, data = event.get("assetId"), event.get("data")
        if isinstance(name, str) and isinstance(data, str) and name not in self._events:
            self._events[name], self._data[name] = event, event.pop("data")

    def data(self, name: Any) -> str | None:
        """The data of an asset by its name."""
        if not isinstance(name, str) or name not in self._data:
            return None
        self._named.add(name)
        return self._data[name]

    def give_back(self) -> None:
        """Put the data that no part has where it was."""
        for name in self._events.keys() - self._named:
            self._events[name]["data"] = self._data[name]


def attachment(raw: Any, body: Fields, assets: Assets) -> Part:
    """The part that an attachment of a prompt is."""
    if raw.__class__ is not dict:
        body.note(Kind.WRONG_TYPE, body.where, f"an attachment is {type(raw).__name__}")
        return Other(data=raw, name="attachment")
    fields = Fields(raw, body.note, body.where)
    match fields.look("type"):
        case "file" if isinstance(fields.look("path"), str):
            fields.drop("type")
            return _named(fields, assets.data(fields.look("assetId")))
        case "directory" if isinstance(fields.look("path"), str):
            return _named(fields, None)
        case "selection" if isinstance(fields.look("text"), str):
            fields.drop("type")
            return Code(code=fields.take("text"), file=fields.text("filePath"), extra=fields.rest())
        case "blob" if isinstance(fields.look("data"), str) or isinstance(fields.look("assetId"), str):
            fields.drop("type")
            return inline(fields, assets)
        case str(kind) if kind.startswith("github_") or kind in _SAID_ELSEWHERE:
            return Other(data=raw, name=kind)
        case kind:
            body.note(Kind.UNKNOWN_TYPE, body.where, f"attachment {str(kind)[:40]!r}")
            return Other(data=raw, name=kind if isinstance(kind, str) else None)


def _named(fields: Fields, data: str | None) -> Media:
    """A file or folder by its path; it may have changed since, so the app keeps pictures as they were."""
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
    """Base64 data with its media type, or the name of an asset that has it."""
    mime, data = fields.text("mimeType"), fields.text("data") or assets.data(fields.look("assetId"))
    ref = fields.text("assetId") if data is None else None
    return Media(
        kind=_kind(mime), mime=mime, data=data, ref=ref, name=fields.text("displayName"), extra=fields.rest()
    )


def _kind(mime: str | None) -> MediaKind:
    return _KINDS.get((mime or "").partition("/")[0], "file")
