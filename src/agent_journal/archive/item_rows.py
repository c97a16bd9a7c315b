"""Make rows of conversations: entries are released one by one, and large conversations packed at once."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.archive.bodies import Blocks
from agent_journal.archive.rows import row_of
from agent_journal.model import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive.bodies import Block
    from agent_journal.archive.rows import Row
    from agent_journal.model import Event, Item, Message

# Bodies of this many bytes in one conversation are packed as soon as they are made. Fewer bytes wait, because
# copies of stored messages need not be packed at all.
LARGE_BYTES = 8 << 20


class ItemRows(NamedTuple):
    """An item without its timeline, and the rows of the timeline."""

    item: Item
    rows: list[Row]
    blocks: list[Block]
    """The bodies of the rows, if they are already packed; then the rows have none."""


def item_rows(
    items: Iterator[Item], pack_from: int | None, on_item: Callable[[Item], None]
) -> Iterator[ItemRows]:
    """Yield each item with its rows, after calling `on_item` with the complete item.

    Bodies are packed if a conversation has at least `pack_from` bytes of them; None: never. An entry is
    released as soon as its row is made, so a conversation of a million messages is not in memory twice.
    """
    pack = Blocks().pack
    for item in items:
        on_item(item)
        if isinstance(item, Memory):
            yield ItemRows(item, [], [])
            continue
        entries = item.timeline[::-1]
        item = replace(item, timeline=[])  # noqa: PLW2901 (nothing else may refer to the entries)
        yield ItemRows(item, *_rows(entries, pack_from, pack))


def _rows(
    entries: list[Message | Event], pack_from: int | None, pack: Callable[[Iterable[bytes]], Iterator[Block]]
) -> tuple[list[Row], list[Block]]:
    """Make rows of entries, taking them from the end of a list."""
    rows: list[Row] = []
    size = 0
    while entries and (pack_from is None or size < pack_from):
        row = row_of(entries.pop())
        rows.append(row)
        size += len(row.body)
    if pack_from is None or size < pack_from:
        return rows, []
    without_bodies: list[Row] = []
    rest = (row_of(entries.pop()) for _ in range(len(entries)))
    blocks = list(pack(_stored_bodies(chain(_drain(rows), rest), without_bodies)))
    return without_bodies, blocks


def _drain(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows in order, and release each of them."""
    rows.reverse()
    while rows:
        yield rows.pop()


def _stored_bodies(rows: Iterator[Row], without_bodies: list[Row]) -> Iterator[bytes]:
    """Yield the stored body of each row, and add the row without it to a list."""
    for row in rows:
        without_bodies.append(row._replace(body=b""))
        yield row.stored
