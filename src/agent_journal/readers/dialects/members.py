"""Records which file of an unzipped export (one unit of many files) an item was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from agent_journal.inputs.input import as_text, sha256
from agent_journal.model import Conversation, Item, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input

AnyItem = TypeVar("AnyItem", bound=Item)
_ZIP = ".zip"


def with_member_origin(folder: Input, file: Input, items: Iterable[AnyItem]) -> Iterator[AnyItem]:
    """Yield the items, each conversation with its file in the folder; a zip is a single file itself.

    The reader's caller adds the rest of the origin.
    """
    if folder.name.endswith(_ZIP):
        yield from items
        return
    origin: Origin | None = None
    for item in items:
        if not isinstance(item, Conversation):
            yield item
            continue
        if origin is None:
            member = as_text(file.path[len(folder.path) :].lstrip("/"))
            origin = Origin(reader="", version="", revision=0, member=member, member_sha256=sha256(file))
        yield replace(item, origin=origin)
