"""Looking at values from outside, without trusting their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

Bag = dict[str, Any]
_FILE = "file://"


def objects(value: Any) -> Iterator[Bag]:
    """The objects in what should be a list of them."""
    if value.__class__ is list:
        for element in value:
            if element.__class__ is dict:
                yield element


def words(value: Any) -> str | None:
    """A string that says something."""
    return value if value.__class__ is str and value else None


def path_of(place: str) -> str:
    """The path that a `file:` address stands for; anything else as it is."""
    if not place.startswith(_FILE):
        return place
    path = unquote(place.removeprefix(_FILE))
    # file:///c%3A/Users is c:/Users
    is_drive = len(path) > 2 and path[0] == "/" and path[1].isalpha() and path[2] == ":"  # noqa: PLR2004
    return path[1:] if is_drive else path


def same(first: Any, second: Any) -> bool:
    """Whether two values are equal; values that are nested too deeply to tell are not."""
    try:
        return bool(first == second)
    except RecursionError:
        return False
