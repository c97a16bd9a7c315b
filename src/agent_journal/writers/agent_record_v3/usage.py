"""Token counts under the draft's names, as stated by the source if it uses the same names."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from agent_journal.model import Usage
from agent_journal.model.leftovers import Leftovers
from agent_journal.records.forms import TOKEN_COUNTS
from agent_journal.writers.agent_record_v3.passthrough import USAGE, add_source_fields

_COUNTS = {**TOKEN_COUNTS, "cost": "cost_usd"}
_LEFTOVERS = Leftovers(Usage, represented=(*_COUNTS.values(), "extra"))
_get_counts = attrgetter(*_COUNTS.values())
# One vendor's names of the draft's counts, which are not repeated.
_SYNONYMS = {"input_tokens": "input", "output_tokens": "output", "cache_read_input_tokens": "cached"}


def counts(usage: Usage) -> tuple[dict[str, Any], dict[str, Any]]:
    """The `token-usage` of a message, and the own fields for everything that it cannot represent."""
    source_counts = usage.extra
    token_usage: dict[str, Any] = {}
    own_fields = _LEFTOVERS.of(usage)
    names: dict[str, str] = {}
    for name, value in zip(_COUNTS, _get_counts(usage), strict=True):
        if name in source_counts and _is_valid(name, source_counts[name]):
            token_usage[name] = source_counts[name]
            names[name] = name
            if value != source_counts[name]:
                own_fields[_COUNTS[name]] = value
        elif value is None:
            continue
        elif _is_valid(name, value):
            token_usage[name] = value
        else:
            own_fields[_COUNTS[name]] = value
    rest: dict[str, Any] = {}
    for name, value in source_counts.items():
        synonym = _SYNONYMS.get(name)
        if synonym is not None and value.__class__ is int and value == token_usage.get(synonym):
            names[name] = synonym
        elif name not in names:
            rest[name] = value
    if names:
        own_fields["names"] = names
    if rest:
        add_source_fields(token_usage, rest, own_fields, USAGE)
    return token_usage, own_fields


def _is_valid(name: str, value: Any) -> bool:
    kind = type(value)
    return (kind is int or kind is float) if name == "cost" else (kind is int and value >= 0)
