"""Agent Journal's own JSON: the complete model, one conversation or memory per line."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode_in_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="json",
    title="Agent Journal JSON",
    suffix=".json",
    layout="lines",
    is_native=True,
    evidence="this project's own format; its JSON Schema is docs/model.schema.json",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:  # noqa: ARG001 (nothing is lost)
    """Write each item as one line."""
    for item in items:
        for piece in encode_in_pieces(item):
            out.write(piece)
        out.write(b"\n")
