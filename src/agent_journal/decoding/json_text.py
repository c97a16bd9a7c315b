"""JSON values as the texts that programs make of them.

Who knows the value and the form of a text knows the text, to the byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable


def _compact(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _spaced(value: Any) -> str:
    import json  # noqa: PLC0415 (many texts are compact)

    return json.dumps(value, ensure_ascii=False)


def _ascii(value: Any) -> str:
    import json  # noqa: PLC0415

    return json.dumps(value)


# As JavaScript's `JSON.stringify` prints it, and Python's `json.dumps` with and without other letters.
_FORMS: dict[str, Callable[[Any], str]] = {"compact": _compact, "spaced": _spaced, "ascii": _ascii}


def form_of(text: str, value: Any, first: str | None = None) -> str | None:
    """The name of the form in which the value gives the text, `first` before others; None if in none."""
    for form in (first, *_FORMS) if first in _FORMS else _FORMS:
        if text_of(value, str(form)) == text:
            return form
    return None


def text_of(value: Any, form: str) -> str | None:
    """The value as a text in a form; None if there is no such form, or none for that value."""
    try:
        return _FORMS[form](value)
    except (KeyError, ValueError, TypeError, RecursionError):
        return None
