"""Parses lines that Aider prints: tokens and costs, models, applied edits, commits."""

from __future__ import annotations

import re
from functools import lru_cache
from math import inf
from typing import NamedTuple

from agent_journal.model import Usage

_TOKENS = re.compile(r"Tokens: .*\bsent\b.*\breceived\b", re.DOTALL)
_COUNT = re.compile(r"([\d.,]+[kM]?) (sent|cache write|cache hit|cached|received)")
_COST = re.compile(r"\$([\d.,]+) (message|request|send)")
# The format since 2024.
_CURRENT_TOKENS = re.compile(
    r"Tokens: ([0-9.]{1,20}[kM]?) sent(?:, ([0-9.]{1,20}[kM]?) cache write)?"
    r"(?:, ([0-9.]{1,20}[kM]?) cache hit)?, ([0-9.]{1,20}[kM]?) received\."
    r"(?: Cost: \$([0-9.]{1,20}) message, \$[0-9.]{1,20} session\.)?\Z"
)
_AMOUNTS = (
    ("sent",),
    ("cache write",),
    ("cache hit", "cached"),
    ("received",),
    ("message", "request", "send"),
)
_MODEL = re.compile(r"(?:Main model|Models?): (\S+)(?: with (.+?) edit format)?(?:,.*)?\Z")
_VERSION = re.compile(r"Aider v(\S+)\Z")
_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40})(?: (.*))?\Z")
_EDIT = re.compile(
    r"(?:Applied edit to|Did not apply edit to|Skipping edits to|Creating empty file) ([^(]+|.+?)"
    r"(?: \(--dry-run\))?\Z"
)
_FOLDER = re.compile(r"(?:Cur|Git) working dir: (.+)\Z")
_RESTORED = re.compile(r"(Restored previous conversation history\.)\Z")
_RUNNING = re.compile(r"Running (.+)\Z")
# Lines with facts begin with one of these; most lines do not.
_FACT_PREFIXES = (
    *(
        "Tokens: ",
        "Aider v",
        "Main model: ",
        "Model: ",
        "Models: ",
        "Commit ",
        "Cur working dir: ",
        "Git working dir: ",
    ),
    *("Applied edit to ", "Did not apply edit to ", "Skipping edits to ", "Creating empty file ", "Running "),
    "Restored previous ",
)
_FACT_LINE = re.compile(rf"\n(?:{'|'.join(map(re.escape, _FACT_PREFIXES))})")
_UNITS = {"k": 1_000, "M": 1_000_000}
_MAX_LINE_CHARS = 2_000


class Fact(NamedTuple):
    """A fact in a line that the model has a field or event for."""

    kind: str
    value: str
    more: str | None = None


def may_have_facts(text: str) -> bool:
    """Whether any line of an output may state a fact."""
    return text.startswith(_FACT_PREFIXES) or _FACT_LINE.search(text) is not None


def parse_fact(line: str) -> Fact | None:
    """Parse the fact in a line, if there is one."""
    kind_and_pattern = _FACTS.get(line[: line.find(" ")])
    if kind_and_pattern is None or len(line) > _MAX_LINE_CHARS:
        return None
    kind, pattern = kind_and_pattern
    match = pattern.match(line)
    return Fact(kind, *match.groups()) if match else None


# Kinds and patterns of facts by the first word of a line.
_FACTS = {
    "Aider": ("version", _VERSION),
    **dict.fromkeys(("Main", "Model:", "Models:"), ("model", _MODEL)),
    "Commit": ("commit", _COMMIT),
    **dict.fromkeys(("Applied", "Did", "Skipping", "Creating"), ("edit", _EDIT)),
    **dict.fromkeys(("Cur", "Git"), ("folder", _FOLDER)),
    "Running": ("running", _RUNNING),
    "Restored": ("restored", _RESTORED),
}


def parse_usage(line: str) -> Usage | None:
    """Parse tokens and cost, which Aider rounds; the tokens it reports as sent include cached ones."""
    match = _CURRENT_TOKENS.match(line)
    amounts = match.groups() if match else _parse_any_tokens(line[:_MAX_LINE_CHARS])
    if amounts is None:
        return None
    sent, write, read, received = [None if text is None else _count(text) for text in amounts[:-1]]
    return Usage(
        input=None if sent is None else max(0, sent - (read or 0) - (write or 0)),
        output=received,
        cache_read=read,
        cache_write=write,
        cost_usd=_amount(amounts[-1]),
        extra={"line": line},
    )


def _parse_any_tokens(line: str) -> tuple[str | None, ...] | None:
    """Get the amounts sent, written to cache, read from cache and received, and the cost, in any format."""
    if not _TOKENS.match(line):
        return None
    amounts = {name: amount for pattern in (_COUNT, _COST) for amount, name in pattern.findall(line)}
    return tuple(next((amounts[name] for name in names if name in amounts), None) for names in _AMOUNTS)


# Rounded amounts repeat often: 5.2k, $0.02.
@lru_cache(1024)
def _count(text: str) -> int | None:
    amount = _amount(text)
    return None if amount is None or amount == inf else round(amount)


@lru_cache(1024)
def _amount(text: str | None) -> float | None:
    if text is None:
        return None
    unit = _UNITS.get(text[-1], 1)
    number = text if unit == 1 else text[:-1]
    try:
        return float(number) * unit
    except ValueError:
        return _lenient_amount(number, unit)


def _lenient_amount(number: str, unit: int) -> float | None:
    try:
        return float(number.replace(",", "").rstrip(".")) * unit
    except ValueError:
        return None
