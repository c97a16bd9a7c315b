"""Numbers, sizes, times and costs as people read them."""

from __future__ import annotations

_UNIT_BASE = 1000
_MINUTE_MS, _HOUR_MS = 60_000, 3_600_000
_CENT_USD = 0.01


def count(number: int, thing: str, several: str = "") -> str:
    """A number of things: `1 message`, `1,200 messages`."""
    return f"{number:,} {thing if number == 1 else several or thing + 's'}"


def unread_files(partly: int, unread: int) -> str:
    """How many files were read in part or not at all; empty if all were read completely."""
    parts = (
        f"{partly:,} could not be read completely" if partly else "",
        f"{unread:,} {'not' if partly else 'could not be read'} at all" if unread else "",
    )
    return ", ".join(filter(None, parts))


def missing_files(number: int) -> str:
    """How many files were deleted from disk after they were imported."""
    return f"{number:,} gone from disk but still in the journal"


def size(count: int) -> str:
    """A number of bytes for people."""
    if count < _UNIT_BASE:
        return f"{count} B"
    amount, unit = count / _UNIT_BASE, "KB"
    for larger in ("MB", "GB", "TB"):
        if amount < _UNIT_BASE - 0.5:
            break
        amount, unit = amount / _UNIT_BASE, larger
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"  # noqa: PLR2004 (two digits are enough)


def duration(milliseconds: float) -> str:
    """How long something took: `12 ms`, `3.4 s`, `5 min 12 s`, `2 h 5 min`."""
    if milliseconds < _UNIT_BASE:
        return f"{milliseconds:.0f} ms"
    if milliseconds < _MINUTE_MS:
        return f"{milliseconds / _UNIT_BASE:.1f} s"
    if milliseconds < _HOUR_MS:
        minutes, rest = divmod(int(milliseconds), _MINUTE_MS)
        return f"{minutes} min {rest // _UNIT_BASE} s"
    hours, rest = divmod(int(milliseconds), _HOUR_MS)
    return f"{hours:,} h {rest // _MINUTE_MS} min"


def dollars(amount: float) -> str:
    """A cost; what is below a cent has four digits."""
    return f"${amount:,.2f}" if amount >= _CENT_USD else f"${amount:.4f}"
