"""Looking at values from outside, without trusting their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_journal.decoding.fields import words
from agent_journal.readers.continue_dev.names import NO_TITLES

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

_FILE = "file://"


def path_of(place: str) -> str:
    """The path that a `file:` address stands for; anything else as it is."""
    if not place.startswith(_FILE):
        return place
    path = unquote(place.removeprefix(_FILE))
    # file:///c%3A/Users is c:/Users
    is_drive = len(path) > 2 and path[0] == "/" and path[1].isalpha() and path[2] == ":"  # noqa: PLR2004
    return path[1:] if is_drive else path


def title_of(fields: Fields, entry: Bag) -> str | None:
    """The title that a session or the index gives it; one that stands for none stays in the fields."""
    is_none = words(fields.look("title")) in NO_TITLES
    return (None if is_none else fields.text("title")) or listed_title(entry)


def listed_title(entry: Bag) -> str | None:
    """The title in an entry of the index, unless it stands for none."""
    title = words(entry.get("title"))
    return None if title in NO_TITLES else title


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal; values that are nested too deeply to tell are not."""
    try:
        return bool(first == second)
    except RecursionError:
        return False
