"""Files that records name: attachments and pictures, which lie beside the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, MediaKind
from agent_journal.notes import Kind
from agent_journal.readers.dialects.text_files import is_text, written

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.input import Source

_TYPES: dict[str, tuple[MediaKind, str | None]] = {
    **{suffix: ("image", f"image/{suffix}") for suffix in ("png", "gif", "webp", "heic", "bmp", "avif")},
    **dict.fromkeys(("jpg", "jpeg"), ("image", "image/jpeg")),
    "svg": ("image", "image/svg+xml"),
    **{
        suffix: ("audio", mime)
        for suffix, mime in (("mp3", "audio/mpeg"), ("wav", "audio/wav"), ("ogg", "audio/ogg"))
    },
    "m4a": ("audio", "audio/mp4"),
    "mp4": ("video", "video/mp4"),
    "mov": ("video", "video/quicktime"),
    "webm": ("video", "video/webm"),
    "pdf": ("document", "application/pdf"),
    "txt": ("document", "text/plain"),
    "md": ("document", "text/markdown"),
    "csv": ("document", "text/csv"),
    "html": ("document", "text/html"),
    "json": ("document", "application/json"),
    "docx": ("document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "xlsx": ("document", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "zip": ("file", "application/zip"),
}
_ATTACHING = ("attachedFiles", "imageFile", "audioFiles", "subtitles")
_UNKNOWN: tuple[MediaKind, str | None] = ("file", None)


class Files:
    """What lies beside a log. Of a log that is given alone nothing is known to be missing."""

    def __init__(self, sources: Mapping[str, Source] | None = None) -> None:
        self._sources = sources
        self.used: set[str] = set()

    def media(self, ref: str, name: str | None, fields: Fields) -> Media:
        """A file that a record names; one that is not there is noted."""
        found = self._found(ref)
        if found is None:
            fields.note(Kind.MISSING_FILE, fields.where, ref[:200])
        self.used.add(found or ref)
        kind, mime = _TYPES.get(ref.rpartition(".")[2].lower(), _UNKNOWN)
        source = (self._sources or {}).get(found or "") if is_text(mime) else None
        text = None if source is None else written(source, fields.note)
        return Media(kind=kind, mime=mime, ref=found or ref, name=name if name != ref else None, text=text)

    def _found(self, ref: str) -> str | None:
        if self._sources is None or ref in self._sources:
            return ref
        # The log may say jpeg where the file is called jpg.
        stem, _, suffix = ref.rpartition(".")
        other = {"jpeg": "jpg", "jpg": "jpeg"}.get(suffix, "")
        return f"{stem}.{other}" if f"{stem}.{other}" in self._sources else None


def attached(fields: Fields, files: Files, made: Container[str | None] = ()) -> list[Media]:
    """The files that a person gave, each once. The fields stay: they say in which way each was given.

    Logs list the pictures that were made among them; those stand in the answer, and no line names them.
    """
    if not any(map(fields.has, _ATTACHING)):
        return []
    shown = dict(_subtitles(fields.look("subtitles")))
    refs = dict.fromkeys(
        (
            *(name for name in _names_in(fields.look("attachedFiles")) if name not in made),
            *_names_in(fields.look("imageFile")),
            *_names_in(fields.look("audioFiles")),
            *shown,
        )
    )
    return [files.media(ref, shown.get(ref), fields) for ref in refs]


def _names_in(value: Any) -> list[str]:
    """The file names in what may be one name, a list of them, or a list of objects that have them."""
    listed = value if value.__class__ is list else [value]
    names = [each.get("name") if each.__class__ is dict else each for each in listed]
    return [name for name in names if name.__class__ is str and name]


def _subtitles(value: Any) -> list[tuple[str, str]]:
    """Name of the file, and how the person called it, of each line that links a file: `-  plan.pdf`."""
    found: list[tuple[str, str]] = []
    for line in value if value.__class__ is list else ():
        url, name = (line.get("url"), line.get("name")) if line.__class__ is dict else (None, None)
        if url.__class__ is str and url and "://" not in url and not url.startswith(("/", "#")):
            found.append((url, name.lstrip("- \u00a0").strip() if name.__class__ is str else url))
    return found
