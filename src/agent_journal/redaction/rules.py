"""Rules: the kind of a secret, the pattern that matches it, and the check that rejects look-alikes."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from agent_journal.redaction import decoys

# Where a token may begin: not within a word. `scan` makes sure that it is not within base64 either, which may
# contain `_` and `-`. Letters that end an escape (`\n`, `%3D`) are not part of a word.
EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_MAX_TRIGGER_CHARS = 16


class Rule(Struct, frozen=True, kw_only=True):
    """How to recognize one kind of secret, for both regular expression engines."""

    kind: str
    """The name of the kind in the replacement."""
    pattern: str
    """Matches the secret alone; for `re`, without groups."""
    before: str = ""
    """Matches what must precede the secret and is left in place."""
    after: str = ""
    """Matches what must follow the secret and is left in place."""
    trigger: str
    """Matches wherever the pattern does, also within JSON; without lookaround, for the prefilter."""
    wrappable_prefix: str = ""
    """Matches the beginning of a token that may be wrapped over lines: one without a fixed length."""
    check: Callable[[re.Match[str], str], bool] = decoys.is_not_placeholder
    """Whether the second argument, the text that the pattern matched, is a secret."""
    find_kind: Callable[[re.Match[str]], str] | None = None
    """Returns the kind, where it depends on what precedes the secret."""
    find_bounds: Callable[[str, int, int], tuple[int, int] | None] | None = None
    """Returns where the secret begins and ends, if the pattern only matches a marker of it; None if there
    is no secret. An empty range is where to resume the search."""


def token(
    kind: str,
    prefix: str,
    body: str,
    min_chars: int,
    *,
    max_chars: int | None = None,
    trigger: str = "",
    check: Callable[[re.Match[str], str], bool] = decoys.is_not_placeholder,
) -> Rule:
    """Make a rule for tokens of a prefix and at least `min_chars` characters of a class."""
    end = "" if max_chars is None else f"(?!{body})"
    times = f"{{{min_chars},{'' if max_chars is None else max_chars}}}"
    return Rule(
        kind=kind,
        before=EDGE,
        pattern=f"(?:{prefix}){body}{times}",
        after=end,
        wrappable_prefix=prefix if max_chars is None and not trigger else "",
        trigger=trigger or f"(?:{prefix}){body}{{{min(min_chars, _MAX_TRIGGER_CHARS)}}}",
        check=check,
    )
