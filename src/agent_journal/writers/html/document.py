"""The frame of a page: its style, its script, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import IO, TYPE_CHECKING

from agent_journal import rendering
from agent_journal.rendering.markup import (
    ANCHOR_SLOT,
    SLOT,
    Markup,
    Template,
    element,
    joined,
    load_template,
    replace_text,
    verbatim,
)
from agent_journal.rendering.time_tags import clock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.rendering.conversation import TocEntry
    from agent_journal.writers import Run

PAGE_SCRIPT = "page.js"
_BUFFER_CHARS = 1 << 18
_ENTRIES_PER_GROUP = 100
_TOC_LINE = Template(
    element("li", {"class": SLOT}, element("a", {"href": ANCHOR_SLOT}, SLOT, element("bdi", "", SLOT)))
)


class HtmlOutput:
    """A page that is written in chunks while it is rendered."""

    def __init__(self, out: IO[bytes], frame: list[Markup]) -> None:
        self._out = out
        self._frame = frame
        self._buffered: list[Markup] = []
        self._buffered_chars = 0
        self.put(frame[0])

    def put(self, piece: Markup) -> None:
        """Add a piece, on lines of its own; it is buffered."""
        if not piece:
            return
        self._buffered.append(piece)
        self._buffered_chars += len(piece)
        if self._buffered_chars > _BUFFER_CHARS:
            self.flush()

    def end(self, *inserts: Iterable[Markup]) -> None:
        """Add the rest of the frame, with pieces in its remaining slots, and write everything."""
        for rest, insert in zip(self._frame[1:], [*inserts, ()], strict=True):
            self.put(rest)
            for piece in insert:
                self.put(piece)
        self.flush()

    def flush(self) -> None:
        """Write the buffered pieces."""
        # Encode each piece alone: a joined str takes as many bytes per character as its widest character.
        self._out.write(b"\n".join([*(piece.encode() for piece in self._buffered), b""]))
        self._buffered, self._buffered_chars = [], 0


def frame(name: str, script: str, title: str, run: Run, *, has_media_files: bool = False) -> list[Markup]:
    """The frame of a page. Its policy allows its own style and script, and embedded images.

    With `has_media_files` it also allows images in files next to the page.
    """
    style = joined([verbatim(rendering.__name__, "static/page.css"), verbatim(__package__, "frame.css")])
    code = verbatim(__package__, script)
    if script == PAGE_SCRIPT:
        code = joined([_classic(verbatim(rendering.__name__, "static/code.js")), code])
    values = {
        "title": title,
        "theme": run.theme,
        "program": run.program,
        "written": run.started_at,
        "policy": _policy(style, code, "data: 'self' file:" if has_media_files else "data:"),
        "style": style,
        "script": code,
    }
    return load_template(__package__, name, values)


@cache
def _classic(module: Markup) -> Markup:
    """A module as part of a script: it has no imports, and what it exports is in scope."""
    return replace_text(module, "export function", "function")


@cache
def _policy(style: str, script: str, image_sources: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        f"img-src {image_sources}; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def table_of_contents(entries: list[TocEntry]) -> Iterable[Markup]:
    """The table of contents, in groups that a browser can skip while they are far from view."""
    for start in range(0, len(entries), _ENTRIES_PER_GROUP):
        yield element("ol", "", *map(_toc_line, entries[start : start + _ENTRIES_PER_GROUP]))


def _toc_line(entry: TocEntry) -> Markup:
    return _TOC_LINE(entry.kind, entry.anchor, clock(entry.at), entry.words)
