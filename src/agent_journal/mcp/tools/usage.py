"""`usage`: tokens and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.mcp.answers import fitting, without_empty
from agent_journal.mcp.arguments import offsets
from agent_journal.mcp.excerpts import one_line
from agent_journal.mcp.tools.filters import conversation_filter
from agent_journal.redaction import redact_texts
from agent_journal.usage import PERIODS

if TYPE_CHECKING:
    from agent_journal.mcp.answers import Call
    from agent_journal.usage import Row, TokenTotals

_MAX_NAME_CHARS = 200


def usage(call: Call) -> dict[str, Any]:
    """Return totals, the last periods or the largest of anything else first."""
    (offset,) = offsets(call.tool, call.arguments, 1)
    by = call.arguments.get("by", "day")
    report = call.journal.usage(by, conversation_filter(call))
    rows = [*reversed(report.rows)] if report.by in PERIODS else report.rows
    data: dict[str, Any] = {"by": by, "total": _sums(report.total), "rows_in_all": len(rows)}
    count = fitting(call, data, "rows", (_row(by, row) for row in rows[offset:]))
    if offset + count < len(rows):
        data["next_cursor"] = str(offset + count)
    return data


def _row(by: str, row: Row) -> dict[str, Any]:
    holder = row.holder
    (title,) = redact_texts([(holder.title or "") if holder is not None else ""])
    return without_empty(
        {
            by: one_line(row.name, _MAX_NAME_CHARS) or "unknown",
            "source": holder.source if holder is not None else None,
            "title": one_line(title, _MAX_NAME_CHARS),
            "estimated": row.is_estimated,
            **_sums(row.sums),
        }
    )


def _sums(sums: TokenTotals) -> dict[str, Any]:
    return {
        "requests": sums.messages,
        "input": sums.input,
        "output": sums.output,
        "cache_read": sums.cache_read,
        "cache_write": sums.cache_write,
        "tokens": sums.total,
        "cost_usd": round(sums.cost_usd, 4),
        "tokens_without_price": sums.unpriced,
    }
