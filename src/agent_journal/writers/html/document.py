"""The frame of a page: one file with its style and script inside, which may do nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import IO, TYPE_CHECKING

from agent_journal.writers.html.markup import (
    PLACE,
    PLACE_ON_PAGE,
    Markup,
    Pattern,
    element,
    template,
    verbatim,
)
from agent_journal.writers.html.time_tags import clock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.writers import Run
    from agent_journal.writers.html.conversation import Entry

_BUFFER = 1 << 18
_GROUP = 100
_LINE = Pattern(
    element("li", {"class": PLACE}, element("a", {"href": PLACE_ON_PAGE}, PLACE, element("bdi", "", PLACE)))
)


class Sheet:
    """A page that is written while it is made."""

    def __init__(self, out: IO[bytes], frame: list[Markup]) -> None:
        self._out = out
        self._frame = frame
        self._held: list[Markup] = []
        self._size = 0
        self.put(frame[0])

    def put(self, piece: Markup) -> None:
        """Add a piece, on lines of its own; it is written soon."""
        if not piece:
            return
        self._held.append(piece)
        self._size += len(piece)
        if self._size > _BUFFER:
            self.flush()

    def end(self, *inserts: Iterable[Markup]) -> None:
        """Add the rest of the frame, with pieces at the places that are left in it."""
        for rest, insert in zip(self._frame[1:], [*inserts, ()], strict=True):
            self.put(rest)
            for piece in insert:
                self.put(piece)
        self.flush()

    def flush(self) -> None:
        """Write what is held."""
        # Each by itself: joined first, all would take the room of the widest character among them.
        self._out.write(b"\n".join([*(piece.encode() for piece in self._held), b""]))
        self._held, self._size = [], 0


def frame(name: str, script: str, title: str, run: Run, *, is_beside: bool = False) -> list[Markup]:
    """A page around what it holds. Its policy allows its own style and script, and pictures inside of it.

    One whose pictures lie beside it may show those too.
    """
    style, code = verbatim("page.css"), verbatim(script)
    values = {
        "title": title,
        "theme": run.theme,
        "program": run.program,
        "written": run.started_at,
        "policy": _policy(style, code, "data: 'self' file:" if is_beside else "data:"),
        "style": style,
        "script": code,
    }
    return template(name, values)


@cache
def _policy(style: str, script: str, pictures: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        f"img-src {pictures}; base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def contents(entries: list[Entry]) -> Iterable[Markup]:
    """The table of contents, in groups that a browser can leave out while they are far from view."""
    for start in range(0, len(entries), _GROUP):
        yield element("ol", "", *map(_line, entries[start : start + _GROUP]))


def _line(entry: Entry) -> Markup:
    return _LINE(entry.kind, entry.anchor, clock(entry.at), entry.words)
