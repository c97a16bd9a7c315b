"""Looking at values from outside, without trusting their types."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_FILE = "file://"


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
