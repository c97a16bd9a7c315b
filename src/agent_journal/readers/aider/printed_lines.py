"""Lines that Aider prints: tokens and costs, models, edits that were made, commits."""

from __future__ import annotations

import re
from functools import lru_cache
from math import inf
from typing import NamedTuple

from agent_journal.model import Usage

_TOKENS = re.compile(r"Tokens: .*\bsent\b.*\breceived\b", re.DOTALL)
_COUNT = re.compile(r"([\d.,]+[kM]?) (sent|cache write|cache hit|cached|received)")
_COST = re.compile(r"\$([\d.,]+) (message|request|send)")
# As versions since 2024 print it.
_USUAL = re.compile(
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
# What the lines that are looked for begin with: most lines begin otherwise.
_BEGINNINGS = (
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
_TELLING = re.compile(rf"\n(?:{'|'.join(map(re.escape, _BEGINNINGS))})")
_UNITS = {"k": 1_000, "M": 1_000_000}
_LONGEST = 2_000


class Fact(NamedTuple):
    """What a line says that has a place of its own."""

    kind: str
    value: str
    more: str | None = None


def tells(text: str) -> bool:
    """Whether a line of an output may have a place of its own, or be a part of one that has."""
    return text.startswith(_BEGINNINGS) or _TELLING.search(text) is not None


def fact(line: str) -> Fact | None:
    """The fact in a line, if it is one of those that are looked for."""
    sign = _FACTS.get(line[: line.find(" ")])
    if sign is None or len(line) > _LONGEST:
        return None
    kind, pattern = sign
    found = pattern.match(line)
    return Fact(kind, *found.groups()) if found else None


# By the first word of a line.
_FACTS = {
    "Aider": ("version", _VERSION),
    **dict.fromkeys(("Main", "Model:", "Models:"), ("model", _MODEL)),
    "Commit": ("commit", _COMMIT),
    **dict.fromkeys(("Applied", "Did", "Skipping", "Creating"), ("edit", _EDIT)),
    **dict.fromkeys(("Cur", "Git"), ("folder", _FOLDER)),
    "Running": ("running", _RUNNING),
    "Restored": ("restored", _RESTORED),
}


def usage(line: str) -> Usage | None:
    """The tokens and cost that a line tells, rounded by Aider; what was cached is part of what was sent."""
    usual = _USUAL.match(line)
    told = usual.groups() if usual else _unusual(line[:_LONGEST])
    if told is None:
        return None
    sent, write, read, received = [None if text is None else _count(text) for text in told[:-1]]
    return Usage(
        input=None if sent is None else max(0, sent - (read or 0) - (write or 0)),
        output=received,
        cache_read=read,
        cache_write=write,
        cost_usd=_amount(told[-1]),
        extra={"line": line},
    )


def _unusual(line: str) -> tuple[str | None, ...] | None:
    """What was sent, written to a cache, read from one and received, and what that cost, of any line."""
    if not _TOKENS.match(line):
        return None
    found = {name: amount for pattern in (_COUNT, _COST) for amount, name in pattern.findall(line)}
    return tuple(next((found[name] for name in names if name in found), None) for names in _AMOUNTS)


# What Aider rounds comes again and again: 5.2k, $0.02.
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
        return _unusual_amount(number, unit)


def _unusual_amount(number: str, unit: int) -> float | None:
    try:
        return float(number.replace(",", "").rstrip(".")) * unit
    except ValueError:
        return None
