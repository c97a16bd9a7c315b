"""Lines that Aider prints: tokens and costs, models, edits that were made, commits."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_journal.model import Usage

_TOKENS = re.compile(r"Tokens: .*\bsent\b.*\breceived\b", re.DOTALL)
_COUNT = re.compile(r"([\d.,]+[kM]?) (sent|cache write|cache hit|cached|received)")
_COST = re.compile(r"\$([\d.,]+) (message|request|send)")
# As versions since 2024 print it.
_USUAL = re.compile(
    r"Tokens: ([0-9.]+[kM]?) sent(?:, ([0-9.]+[kM]?) cache write)?(?:, ([0-9.]+[kM]?) cache hit)?, "
    r"([0-9.]+[kM]?) received\.(?: Cost: \$([0-9.]+) message, \$[0-9.]+ session\.)?\Z"
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
    r"(?:Applied edit to|Did not apply edit to|Skipping edits to|Creating empty file) (.+?)"
    r"(?: \(--dry-run\))?\Z"
)
_FOLDER = re.compile(r"(?:Cur|Git) working dir: (.+)\Z")
_RUNNING = re.compile(r"Running (.+)\Z")
# What the lines that are looked for begin with: most lines begin otherwise.
_BEGINNINGS = (
    *("Aider v", "Main model: ", "Model: ", "Models: ", "Commit ", "Cur working dir: ", "Git working dir: "),
    *("Applied edit to ", "Did not apply edit to ", "Skipping edits to ", "Creating empty file ", "Running "),
)
_TELLING = re.compile(rf"\n(?:Tokens: |{'|'.join(map(re.escape, _BEGINNINGS))})")
_UNITS = {"k": 1_000, "M": 1_000_000}
_LONGEST = 2_000


class Fact(NamedTuple):
    """What a line says that has a place of its own."""

    kind: str
    value: str
    more: str | None = None


def tells(text: str) -> bool:
    """Whether a line of an output may have a place of its own, or be a part of one that has."""
    return text.startswith(("Tokens: ", *_BEGINNINGS)) or _TELLING.search(text) is not None


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
}


def usage(line: str) -> Usage | None:
    """The tokens and cost that a line tells, rounded by Aider; what was cached is part of what was sent."""
    usual = _USUAL.match(line)
    told = usual.groups() if usual else _unusual(line[:_LONGEST])
    if told is None:
        return None
    sent, write, read, received, cost = map(_amount, told)
    given = None if sent is None else max(0, round(sent) - round(read or 0) - round(write or 0))
    return Usage(
        input=given,
        output=None if received is None else round(received),
        cache_read=None if read is None else round(read),
        cache_write=None if write is None else round(write),
        cost_usd=cost,
        extra={"line": line},
    )


def _unusual(line: str) -> tuple[str | None, ...] | None:
    """What was sent, written to a cache, read from one and received, and what that cost, of any line."""
    if not _TOKENS.match(line):
        return None
    found = {name: amount for pattern in (_COUNT, _COST) for amount, name in pattern.findall(line)}
    return tuple(next((found[name] for name in names if name in found), None) for names in _AMOUNTS)


def _amount(text: str | None) -> float | None:
    if text is None:
        return None
    unit = _UNITS.get(text[-1])
    try:
        number = float((text[:-1] if unit else text).replace(",", "").rstrip("."))
    except ValueError:
        return None
    return number * unit if unit else number
