"""Checks what an agent asks for against the schemas that it was given."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import jsonschema_rs

from agent_journal.errors import BadArguments
from agent_journal.mcp.definitions import TOOLS
from agent_journal.search.dates import to_epoch_seconds

_MAX_SHOWN_CHARS = 200
_MAX_CURSOR_DIGITS = 9


@cache
def _validator(tool: str) -> Any:
    schema = next(each.input_schema for each in TOOLS if each.name == tool)
    return jsonschema_rs.validator_for(schema)


def check_arguments(tool: str, arguments: dict[str, Any]) -> None:
    """Raise BadArguments if a tool does not take these arguments."""
    try:
        error = next(_validator(tool).iter_errors(arguments), None)
    except ValueError as unusable:  # lone surrogates, or numbers that JSON does not have
        raise BadArguments(tool, str(unusable)[:_MAX_SHOWN_CHARS]) from unusable
    if error is not None:
        where = ".".join(map(str, error.instance_path))
        message = (
            error.message if len(error.message) <= _MAX_SHOWN_CHARS else f"not valid ({error.kind.name})"
        )
        raise BadArguments(tool, f"{where}: {message}" if where else message)


def seconds(tool: str, arguments: dict[str, Any], name: str) -> int | None:
    """Return a date among the arguments in seconds since 1970; None if it is not given."""
    value = arguments.get(name)
    if value is None:
        return None
    parsed = to_epoch_seconds(value, time.time())
    if parsed is None:
        raise BadArguments(tool, f"{name}: not a date such as 2026-11-16, 2026-11-16T09:30:00Z or 7d")
    return parsed


def offsets(tool: str, arguments: dict[str, Any], count: int) -> list[int]:
    """Return the numbers in the cursor; zeros without one."""
    cursor = arguments.get("cursor")
    if cursor is None:
        return [0] * count
    numbers = cursor.split(".")
    if len(numbers) != count or not all(
        each.isascii() and each.isdigit() and len(each) <= _MAX_CURSOR_DIGITS for each in numbers
    ):
        raise BadArguments(tool, "cursor: not one that this tool returned")
    return [int(each) for each in numbers]
