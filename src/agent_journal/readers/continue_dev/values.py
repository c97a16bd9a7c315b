"""Helpers for values of unknown types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_journal.decoding.fields import nonempty_str
from agent_journal.readers.continue_dev.names import DEFAULT_TITLES

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

_FILE = "file://"


def path_of(uri: str) -> str:
    """Return the path of a `file:` URI; any other text unchanged."""
    if not uri.startswith(_FILE):
        return uri
    path = unquote(uri.removeprefix(_FILE))
    # file:///c%3A/Users is c:/Users
    is_drive = len(path) > 2 and path[0] == "/" and path[1].isalpha() and path[2] == ":"  # noqa: PLR2004
    return path[1:] if is_drive else path


def title_of(fields: Fields, entry: Bag) -> str | None:
    """Return the title in a session or its index entry; a default title stays in the fields."""
    is_default = nonempty_str(fields.view("title")) in DEFAULT_TITLES
    return (None if is_default else fields.text("title")) or listed_title(entry)


def listed_title(entry: Bag) -> str | None:
    """Return the title in an index entry, unless it is a default title."""
    title = nonempty_str(entry.get("title"))
    return None if title in DEFAULT_TITLES else title


def is_equal(first: Any, second: Any) -> bool:
    """Whether two values are equal; values that are nested too deeply to compare are not."""
    try:
        return bool(first == second)
    except RecursionError:
        return False
