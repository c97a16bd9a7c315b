"""What a rule is: the kind of a secret, how it looks, and what surely does not look like it."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from agent_journal.redaction import decoys

# Where a token may begin: not within a word. `scan` sees to it that it is not within base64 either, which may
# have `_` and `-` in it. Letters that end an escape (`\n`, `%3D`) belong to no word.
EDGE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_SEEN_BY_TRIGGER = 16


class Rule(Struct, frozen=True, kw_only=True):
    """How a kind of secret looks, in two languages."""

    kind: str
    """As the replacement names it."""
    pattern: str
    """For `re`, without groups: the secret alone."""
    before: str = ""
    """What must stand before it and stays."""
    after: str = ""
    """What must follow it and stays."""
    trigger: str
    """What a text has wherever the pattern matches, also within JSON; no looking around."""
    lead: str = ""
    """What a token begins with if lines may break it: one of no fixed length."""
    check: Callable[[re.Match[str], str], bool] = decoys.is_no_placeholder
    """Whether the second argument, what the pattern found, is a secret."""
    kind_in: Callable[[re.Match[str]], str] | None = None
    """The kind, where it depends on what stands before."""
    extent: Callable[[str, int, int], tuple[int, int] | None] | None = None
    """Where the secret begins and ends, where the pattern finds only its mark. None if there is none;
    an empty stretch says where to look on."""


def token(
    kind: str,
    prefix: str,
    body: str,
    least: int,
    *,
    most: int | None = None,
    trigger: str = "",
    check: Callable[[re.Match[str], str], bool] = decoys.is_no_placeholder,
) -> Rule:
    """A rule for tokens that begin with a prefix, which are followed by so many characters of a class."""
    end = "" if most is None else f"(?!{body})"
    times = f"{{{least},{'' if most is None else most}}}"
    return Rule(
        kind=kind,
        before=EDGE,
        pattern=f"(?:{prefix}){body}{times}",
        after=end,
        lead=prefix if most is None and not trigger else "",
        trigger=trigger or f"(?:{prefix}){body}{{{min(least, _SEEN_BY_TRIGGER)}}}",
        check=check,
    )
