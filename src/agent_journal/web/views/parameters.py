"""Parameters of requests, within their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_QUERY_CHARS = 4000
_MAX_DIGITS = 9


def integer(request: Request, name: str, default: int) -> int:
    """A number that is not negative; anything else is not understood."""
    value = request.query_params.get(name)
    if value is None or value == "":
        return default
    if not (value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS):
        raise HTTPException(400, f"{name} must be a number, such as 100.")
    return int(value)


def query_text(request: Request) -> str:
    """What to search for."""
    text = request.query_params.get("q", "").strip()
    if len(text) > MAX_QUERY_CHARS:
        raise HTTPException(
            414,
            f"This query has {len(text):,} characters; search for at most {MAX_QUERY_CHARS:,}. "
            "A few distinctive words find a message better than all of its text.",
        )
    return text
