"""Lines that Aider prints: tokens and costs, models, edits that were made, commits."""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_journal.model import Usage

_TOKENS = re.compile(r"Tokens: .*\bsent\b.*\breceived\b", re.DOTALL)
_COUNT = re.compile(r"([\d.,]+)(k|M)? (sent|cache write|cache hit|cached|received)")
_COST = re.compile(r"\$([\d.,]+) (message|request|send|session)")
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
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}
_LONGEST = 2_000


class Fact(NamedTuple):
    """What a line says that has a place of its own."""

    kind: str
    value: str
    more: str | None = None


def fact(line: str) -> Fact | None:
    """The fact in a line, if it is one of those that are looked for."""
    if not line.startswith(_BEGINNINGS) or len(line) > _LONGEST:
        return None
    for kind, pattern in _FACTS.items():
        if found := pattern.match(line):
            return Fact(kind, found[1], found[2] if pattern.groups > 1 else None)
    return None


_FACTS = {
    "version": _VERSION,
    "model": _MODEL,
    "commit": _COMMIT,
    "edit": _EDIT,
    "folder": _FOLDER,
    "running": _RUNNING,
}


def is_usage(line: str) -> bool:
    """Whether a line tells the tokens of a message."""
    return line.startswith("Tokens: ") and _TOKENS.match(line[:_LONGEST]) is not None


def usage(line: str) -> Usage:
    """The tokens and cost that a line tells, rounded by Aider; what was cached is part of what was sent."""
    counts = {name: _whole(number, unit) for number, unit, name in _COUNT.findall(line[:_LONGEST])}
    costs = {name: _amount(number) for number, name in _COST.findall(line[:_LONGEST])}
    read, write = counts.get("cache hit", counts.get("cached")), counts.get("cache write")
    sent = counts.get("sent")
    cost = next((costs[name] for name in ("message", "request", "send") if name in costs), None)
    return Usage(
        input=None if sent is None else max(0, sent - (read or 0) - (write or 0)),
        output=counts.get("received"),
        cache_read=read,
        cache_write=write,
        cost_usd=cost,
        extra={"line": line},
    )


def _whole(number: str, unit: str) -> int | None:
    amount = _amount(number)
    return None if amount is None else round(amount * _UNITS[unit])


def _amount(number: str) -> float | None:
    try:
        return float(number.replace(",", "").rstrip("."))
    except ValueError:
        return None
