"""Detects logs of Azure OpenAI by the columns of their rows, in any kind of file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.readers.azure_openai.names import (
    CORRELATION,
    DEPLOYMENT,
    DIAGNOSED_DEPLOYMENT,
    INSIGHTS,
    NESTED,
    OWN_DEPLOYMENTS,
    PROPERTIES,
    REQUEST_BODIES,
    REQUEST_SIDE,
    RESPONSE_BODIES,
    RESPONSE_SIDE,
    SEQUENCE,
    folded,
    spelled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.detection.peek import Peek

LLM_LOG, BODIES, DIAGNOSTICS = "llm-log", "bodies", "diagnostics"

# The fields of files with a list of rows: Event Hubs, PowerShell.
WRAPPERS = ("records", "Results")
_BODIES = frozenset({*REQUEST_BODIES, *RESPONSE_BODIES})
# The columns next to the bodies that only Azure's gateway, or a log of calls to it, has.
_AZURE_COLUMNS = frozenset(
    {DEPLOYMENT, "apiversion", "apimrequestid", "apimsubscriptionid", "apiid", CORRELATION, *OWN_DEPLOYMENTS}
)
_CATEGORIES = frozenset({"requestresponse", "audit", "trace", "azureopenairequestusage"})
_SERVICE = "cognitiveservices"
_DIAGNOSTICS_WORDS = frozenset({DIAGNOSED_DEPLOYMENT, "apiname"})
# A field of a chat's body within a table: with doubled and perhaps escaped quotes.
_CHAT_IN_TABLE = re.compile(r'"(?:messages|choices|input|output)\\*"+\s*:')
# The beginning of a body that is a text.
_BODY = re.compile(r'"(?:backend[ _-]?)?re(?:quest|sponse)[ _-]?body(?:_s)?"\s*:\s*"', re.IGNORECASE)
# At least one column of each layout; without any of them, no further check is needed.
_ANY_LAYOUT = frozenset({REQUEST_SIDE, RESPONSE_SIDE, SEQUENCE, PROPERTIES, INSIGHTS, *_BODIES})


def detect_version(peek: Peek) -> str | None:
    """Return which log a file is, or None."""
    if peek.header:
        names = {folded(name) for name in peek.header}
        return _version_of_table(names) or (
            BODIES if INSIGHTS in names and _mentions_bodies(peek.head) else None
        )
    wrapped = _wrapped(peek)
    if wrapped is None and _ANY_LAYOUT.isdisjoint(map(folded, peek.keys)):
        return BODIES if peek.is_cut and _is_cut_in_body(peek) else None
    records = peek.records if wrapped is None else wrapped
    return next((version for record in records if (version := _version_of_record(record)) is not None), None)


def _is_cut_in_body(peek: Peek) -> bool:
    """Return whether the head ends within the first body, as with a long prompt, so that it has no value."""
    if peek.opening not in ("{", "[") or _AZURE_COLUMNS.isdisjoint(map(folded, peek.keys)):
        return False
    text = peek.head.decode("utf-8", "replace")
    body_start = _BODY.search(text)
    return body_start is not None and _CHAT_IN_TABLE.search(text, body_start.end()) is not None


def _wrapped(peek: Peek) -> list[dict[str, Any]] | None:
    """Return the first rows of a file that is an object with a list of rows, or None."""
    if peek.opening != "{" or peek.keys.isdisjoint({"tables", *WRAPPERS}):
        return None
    record = peek.records[0]
    if record.get("tables").__class__ is list:
        return [row for table in record["tables"] for row in _first_of_table(table)]
    lists = (record.get(name) for name in WRAPPERS)
    rows = next((rows_list for rows_list in lists if rows_list.__class__ is list), None)
    return None if rows is None else [row for row in rows[:40] if row.__class__ is dict]


def _first_of_table(table: Any) -> Iterator[dict[str, Any]]:
    """Yield the first rows of a table, then a row with only its columns."""
    columns, rows = columns_and_rows(table)
    if columns:
        yield from (dict(zip(columns, row, strict=False)) for row in rows[:4] if row.__class__ is list)
        yield dict.fromkeys(columns)


def columns_and_rows(table: Any) -> tuple[list[str], list[Any]]:
    """Return the column names and the rows of a table of the REST API; empty lists for any other value."""
    columns, rows = (table.get("columns"), table.get("rows")) if table.__class__ is dict else (None, None)
    if columns.__class__ is not list or (rows is not None and rows.__class__ is not list):
        return [], []
    names = [column.get("name") if column.__class__ is dict else None for column in columns]
    return [str(name) for name in names] if any(names) else [], rows or []


def _version_of_table(names: set[str]) -> str | None:
    if _is_llm_log(names):
        return LLM_LOG
    if names >= {REQUEST_BODIES[0], RESPONSE_BODIES[0]} and names & _AZURE_COLUMNS:
        return BODIES
    return DIAGNOSTICS if names >= {"category", "operationname", PROPERTIES, "durationms"} else None


def _mentions_bodies(head: bytes) -> bool:
    """Return whether the first rows of a table have the nested columns of a log of chats."""
    text = head.decode("utf-8", "replace").casefold()
    has_all = (any(name in text for name in names) for names in (_BODIES, _AZURE_COLUMNS))
    return all(has_all) and _CHAT_IN_TABLE.search(text) is not None


def _is_llm_log(names: Iterable[str]) -> bool:
    has = set(names).__contains__
    return has(CORRELATION) and (
        has(REQUEST_SIDE) or has(RESPONSE_SIDE) or (has(SEQUENCE) and has(DEPLOYMENT))
    )


def _version_of_record(record: dict[str, Any]) -> str | None:
    values = _flat(record)
    if _is_llm_log(values):
        return LLM_LOG
    if not _BODIES.isdisjoint(values) and not _AZURE_COLUMNS.isdisjoint(values) and _has_chat(values):
        return BODIES
    return DIAGNOSTICS if _is_diagnostics(values) else None


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Return the values by normalized names, also those of nested columns."""
    from agent_journal.readers.azure_openai.columns import parse_nested  # noqa: PLC0415 (few files have such columns)

    values = {name: record[column] for name, column in spelled(tuple(record)).items()}
    for name in NESTED:
        inner = parse_nested(values.get(name))
        if inner.__class__ is dict:
            values = {folded(key): value for key, value in inner.items()} | values
    return values


def _has_chat(values: dict[str, Any]) -> bool:
    """Return whether any body is a chat's: other calls pass through the same gateway."""
    return any(_is_chat(values.get(name)) for name in _BODIES)


def _is_chat(body: Any) -> bool:
    if body.__class__ is dict:
        return not body.keys().isdisjoint({"messages", "choices", "input", "output"})
    if body.__class__ is not str:
        return False
    return any(word in body for word in ('"messages"', '"choices"', '"input"', '"output"'))


def _is_diagnostics(values: dict[str, Any]) -> bool:
    category, properties = values.get("category"), values.get(PROPERTIES)
    if not isinstance(category, str) or folded(category) not in _CATEGORIES:
        return False
    resources = (values.get(name) for name in ("resourceid", "resourceprovider"))
    if any(isinstance(resource, str) and _SERVICE in resource.casefold() for resource in resources):
        return True
    names = properties if isinstance(properties, str) else " ".join(map(str, values))
    return any(name in names.casefold() for name in _DIAGNOSTICS_WORDS)
