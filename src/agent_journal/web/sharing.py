"""A conversation as a file for others: what it will contain, and what was redacted and left out."""

from __future__ import annotations

import tempfile
from collections import Counter
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from agent_journal import writers
from agent_journal.journal.export import ExportChoice, ExportOptions, ExportTarget
from agent_journal.notes import Kind, Notes
from agent_journal.redaction import REDACTIONS_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.journal import Journal
    from agent_journal.writers import WriterInfo

_BLOCK_BYTES = 1 << 18
_MAX_MEMORY_BYTES = 8 << 20
_MAX_NOTES = 10_000


class ShareRequest(NamedTuple):
    """Which conversation to write, and how."""

    name: str
    format: str
    with_subagents: bool
    redacts_personal: bool


class Shared(NamedTuple):
    """A file for others. Secrets are always redacted in it."""

    content: IO[bytes]
    size: int
    conversations: int
    messages: int
    redactions: dict[str, int]
    """The number of redacted values by kind."""
    omissions: dict[str, int]
    """What the format has no place for, and how often."""
    damage: list[str]


def formats() -> list[WriterInfo]:
    """The formats that are one file, by title."""
    infos = [writer.INFO for writer in writers.discover().values()]
    return sorted((info for info in infos if info.layout != "bundle"), key=lambda info: info.title)


def write(journal: Journal, request: ShareRequest) -> Shared:
    """Write a conversation to a temporary file; the caller closes it."""
    info = writers.get(request.format).INFO
    content = cast("IO[bytes]", tempfile.SpooledTemporaryFile(_MAX_MEMORY_BYTES))  # noqa: SIM115 (the caller closes it)
    notes = Notes(keep=_MAX_NOTES)
    report = journal.export(
        ExportChoice(names=(request.name,), with_subagents=request.with_subagents),
        ExportTarget(info.name, None, content),
        ExportOptions(
            personal=request.redacts_personal,
            exact=info.is_native,
            media=info.layout == "pages",
            include_related=info.layout == "pages",
        ),
        note=notes,
    )
    size = content.seek(0, 2)
    content.seek(0)
    redactions: Counter[str] = Counter()
    for each in report.conversations:
        redactions.update(each.get(REDACTIONS_KEY) or {})
    omitted = (note.detail for note in notes.collected if note.kind == Kind.NOT_EXPRESSED.label)
    damaged = {kind.label for kind in Kind if kind.damage}
    return Shared(
        content,
        size,
        len(report.conversations),
        sum(each["messages"] for each in report.conversations),
        dict(redactions.most_common()),
        dict(Counter(omitted).most_common()),
        [str(note) for note in notes.collected if note.kind in damaged],
    )


def iter_blocks(content: IO[bytes]) -> Iterator[bytes]:
    """The content of a file in blocks; then it is closed."""
    with content:
        while block := content.read(_BLOCK_BYTES):
            yield block
