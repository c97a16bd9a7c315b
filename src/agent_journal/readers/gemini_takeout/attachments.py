"""Files that records name: attachments and images, which are next to the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, MediaKind
from agent_journal.notes import Kind
from agent_journal.readers.dialects.text_files import is_text, read_text

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.input import Input

_TYPE_BY_SUFFIX: dict[str, tuple[MediaKind, str | None]] = {
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
_ATTACHMENT_FIELDS = ("attachedFiles", "imageFile", "audioFiles", "subtitles")
_UNKNOWN_TYPE: tuple[MediaKind, str | None] = ("file", None)


class ExportFiles:
    """The files next to a log; of a log that is imported alone, no file counts as missing."""

    def __init__(self, sources: Mapping[str, Input] | None = None) -> None:
        self._sources = sources
        self.used: set[str] = set()

    def media(self, ref: str, name: str | None, fields: Fields) -> Media:
        """Convert a file that a record names; a missing one is noted."""
        path = self._find(ref)
        if path is None:
            fields.note(Kind.MISSING_FILE, fields.where, ref[:200])
        self.used.add(path or ref)
        kind, mime = _TYPE_BY_SUFFIX.get(ref.rpartition(".")[2].lower(), _UNKNOWN_TYPE)
        source = (self._sources or {}).get(path or "") if is_text(mime) else None
        text = None if source is None else read_text(source, fields.note)
        return Media(kind=kind, mime=mime, ref=path or ref, name=name if name != ref else None, text=text)

    def _find(self, ref: str) -> str | None:
        if self._sources is None or ref in self._sources:
            return ref
        # The log may say jpeg when the file is named jpg.
        stem, _, suffix = ref.rpartition(".")
        other_suffix = {"jpeg": "jpg", "jpg": "jpeg"}.get(suffix, "")
        return f"{stem}.{other_suffix}" if f"{stem}.{other_suffix}" in self._sources else None


def attachments(fields: Fields, files: ExportFiles, generated: Container[str | None] = ()) -> list[Media]:
    """List the files that a person attached, each once. The fields stay: each shows how a file was attached.

    Logs also list generated images there; those belong to the answer, and no line names them.
    """
    if not any(map(fields.has, _ATTACHMENT_FIELDS)):
        return []
    names = dict(_subtitles(fields.view("subtitles")))
    refs = dict.fromkeys(
        (
            *(name for name in _names_in(fields.view("attachedFiles")) if name not in generated),
            *_names_in(fields.view("imageFile")),
            *_names_in(fields.view("audioFiles")),
            *names,
        )
    )
    return [files.media(ref, names.get(ref), fields) for ref in refs]


def _names_in(value: Any) -> list[str]:
    """List the file names in a value: one name, a list of names, or a list of objects with names."""
    items = value if value.__class__ is list else [value]
    names = [item.get("name") if item.__class__ is dict else item for item in items]
    return [name for name in names if name.__class__ is str and name]


def _subtitles(value: Any) -> list[tuple[str, str]]:
    """List path and display name of each line that links a file: `-  plan.pdf`."""
    links: list[tuple[str, str]] = []
    for line in value if value.__class__ is list else ():
        url, name = (line.get("url"), line.get("name")) if line.__class__ is dict else (None, None)
        if url.__class__ is str and url and "://" not in url and not url.startswith(("/", "#")):
            links.append((url, name.lstrip("- \u00a0").strip() if name.__class__ is str else url))
    return links
