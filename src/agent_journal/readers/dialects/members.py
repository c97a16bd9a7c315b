"""From which file of a folder something was read: an export that was unzipped is one unit of many files."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from agent_journal.inputs.input import as_text, sha256
from agent_journal.model import Conversation, Item, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Source

AnyItem = TypeVar("AnyItem", bound=Item)
_ZIP = ".zip"


def read_from(folder: Source, file: Source, items: Iterable[AnyItem]) -> Iterator[AnyItem]:
    """The items, each conversation with the file that it is in; a zip is a file itself.

    The caller of the reader says the rest of where they come from.
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
            inside = as_text(file.path[len(folder.path) :].lstrip("/"))
            origin = Origin(reader="", version="", revision=0, member=inside, member_sha256=sha256(file))
        yield replace(item, origin=origin)
