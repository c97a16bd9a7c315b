"""What readers and writers of verifiable agent records agree on, and how a source's records differ."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

VERSION = "3.0.0-draft"
OWN_FIELDS = "x-agent-journal"
"""The key of what the draft has no field for; it sorts after the draft's own keys."""
SAME = "same"
"""Under that key: texts that are elsewhere in the entry, by where they belong and where they are."""
MIN_SHARED_CHARS = 40
"""Saying where a text is takes about as much."""
UNKNOWN = "unknown"
PATCH = "patch"
"""What was changed in files: where parts are entries, it is the result of an edit."""
TOKEN_COUNT = "token-count"  # noqa: S105 (an event)
"""The event that says how many tokens were used."""
FAILED = {"success": False, "completed": False, "error": True}
"""What words for how a call went mean."""
TOKEN_COUNTS = {
    "input": "input",
    "output": "output",
    "cached": "cache_read",
    "reasoning": "reasoning",
    "total": "total",
}
"""The draft's names of token counts, and the model's."""
_MAKERS = {"claude": "anthropic", "gemini": "google", "gpt": "openai", "o3": "openai", "o4": "openai"}


class RecordForm(Struct, frozen=True, kw_only=True):
    """How records of a source differ from those of others: as the draft's reference has it."""

    part_of: str = ""
    """Parts are entries next to their message; an event of a message names it in this field of its data."""
    body: str = ""
    """An object in a message's `extra` whose fields are the message's own."""
    call_body: str = ""
    """An object in a call's `extra` whose fields are the call's own."""
    parent: str = ""
    """The field of a message's `extra` that names what it answers, where that is stated but makes no tree."""
    provider: str = ""
    """The field of `extra`, of messages or of the conversation, that says who ran the model."""
    system_as: Literal["", "user", "assistant"] = ""
    """The stated role of messages of the app; without it they are left out."""
    names_models: bool = False
    """Each answer names its model."""
    own_status: bool = False
    """A result has the source's own word for how it went, or none."""
    omits_repeats: bool = False
    """What is in the content of a message is not repeated as its children."""
    call_at: tuple[str, ...] = ()
    """Where a call's `extra` says when it was made."""
    answer_at: tuple[str, ...] = ()
    """Where a call's `extra` says when it was answered."""
    status_at: tuple[str, ...] = ()
    """Where a call's `extra` says how it goes while nothing came back."""
    again_at: tuple[str, ...] = ()
    """Where a call's `extra` has what its result repeats, under the same name."""
    derived: frozenset[str] = frozenset()
    """Fields of a result's `extra` that no source has: its reader found them in the output of the tool.

    With `status` among them no source says how a call went, and records don't either.
    """
    separate: bool = False
    """A message of nothing but calls and thoughts is a record of its own in the source: they are entries."""
    echoes: dict[str, tuple[Literal["user", "assistant", "reasoning"], str]] = {}
    """Events that repeat a message: the type of their entry, and the field that has the text."""
    event_body: str = ""
    """An object in an event's `data` whose fields are the event's own."""
    usage_in: str = ""
    """The field of a token count that has the counts."""
    usage_of: tuple[str, ...] = ()
    """The objects in it that have the counts of one response; the first that is there is used."""
    usage_names: dict[str, str] = {}
    """What the source calls the draft's counts."""


def provider_of(model: str) -> str:
    """Who makes a model, by the beginning of its name."""
    return next((maker for start, maker in _MAKERS.items() if model.startswith(start)), UNKNOWN)
