"""How logs of Azure OpenAI are told: by the columns of their rows, whatever file the rows are in."""

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

# Under which names files keep a list of rows: Event Hubs, PowerShell.
WRAPPERS = ("records", "Results")
_BODIES = frozenset({*REQUEST_BODIES, *RESPONSE_BODIES})
# What only Azure's gateway, or a log of calls to it, says beside the bodies.
_OF_AZURE = frozenset(
    {DEPLOYMENT, "apiversion", "apimrequestid", "apimsubscriptionid", "apiid", CORRELATION, *OWN_DEPLOYMENTS}
)
_CATEGORIES = frozenset({"requestresponse", "audit", "trace", "azureopenairequestusage"})
_SERVICE = "cognitiveservices"
_DIAGNOSED = frozenset({DIAGNOSED_DEPLOYMENT, "apiname"})
# What the body of a chat has, as a field of a table has it: with its quotes doubled, perhaps escaped.
_CHAT_IN_TABLE = re.compile(r'"(?:messages|choices|input|output)\\*"+\s*:')
# Where a body begins that is a text.
_BODY = re.compile(r'"(?:backend[ _-]?)?re(?:quest|sponse)[ _-]?body(?:_s)?"\s*:\s*"', re.IGNORECASE)
# Some column of each layout; without any of them nothing else has to be looked at.
_ANY = frozenset({REQUEST_SIDE, RESPONSE_SIDE, SEQUENCE, PROPERTIES, INSIGHTS, *_BODIES})


def version_of(peek: Peek) -> str | None:
    """Which log a file holds, or None."""
    if peek.header:
        names = {folded(name) for name in peek.header}
        return _of_table(names) or (BODIES if INSIGHTS in names and _mentions_bodies(peek.head) else None)
    wrapped = _wrapped(peek)
    if wrapped is None and _ANY.isdisjoint(map(folded, peek.keys)):
        return BODIES if peek.is_cut and _is_cut_in_body(peek) else None
    records = peek.records if wrapped is None else wrapped
    return next((version for record in records if (version := _of_record(record)) is not None), None)


def _is_cut_in_body(peek: Peek) -> bool:
    """Whether the head ends within the first body, a text, as that of a long prompt: it is no value then."""
    if peek.opening not in ("{", "[") or _OF_AZURE.isdisjoint(map(folded, peek.keys)):
        return False
    text = peek.head.decode("utf-8", "replace")
    begun = _BODY.search(text)
    return begun is not None and _CHAT_IN_TABLE.search(text, begun.end()) is not None


def _wrapped(peek: Peek) -> list[dict[str, Any]] | None:
    """The first rows of a file that is one object around them, or None."""
    if peek.opening != "{" or peek.keys.isdisjoint({"tables", *WRAPPERS}):
        return None
    record = peek.records[0]
    if record.get("tables").__class__ is list:
        return [row for table in record["tables"] for row in _first_of_table(table)]
    found = (record.get(name) for name in WRAPPERS)
    rows = next((each for each in found if each.__class__ is list), None)
    return None if rows is None else [row for row in rows[:40] if row.__class__ is dict]


def _first_of_table(table: Any) -> Iterator[dict[str, Any]]:
    """The first rows of a table; one without rows as its columns alone."""
    columns, rows = columns_and_rows(table)
    if columns:
        yield from (dict(zip(columns, row, strict=False)) for row in rows[:4] if row.__class__ is list)
        yield dict.fromkeys(columns)


def columns_and_rows(table: Any) -> tuple[list[str], list[Any]]:
    """Names of the columns, and the rows, of a table as the REST API gives it; nothing if it is none."""
    columns, rows = (table.get("columns"), table.get("rows")) if table.__class__ is dict else (None, None)
    if columns.__class__ is not list or (rows is not None and rows.__class__ is not list):
        return [], []
    names = [column.get("name") if column.__class__ is dict else None for column in columns]
    return [str(name) for name in names] if any(names) else [], rows or []


def _of_table(names: set[str]) -> str | None:
    if _is_llm_log(names):
        return LLM_LOG
    if names >= {REQUEST_BODIES[0], RESPONSE_BODIES[0]} and names & _OF_AZURE:
        return BODIES
    return DIAGNOSTICS if names >= {"category", "operationname", PROPERTIES, "durationms"} else None


def _mentions_bodies(head: bytes) -> bool:
    """Whether the first rows of a table have, in a column of columns, what a log of chats has."""
    text = head.decode("utf-8", "replace").casefold()
    has_all = (any(name in text for name in names) for names in (_BODIES, _OF_AZURE))
    return all(has_all) and _CHAT_IN_TABLE.search(text) is not None


def _is_llm_log(names: Iterable[str]) -> bool:
    has = set(names).__contains__
    return has(CORRELATION) and (
        has(REQUEST_SIDE) or has(RESPONSE_SIDE) or (has(SEQUENCE) and has(DEPLOYMENT))
    )


def _of_record(record: dict[str, Any]) -> str | None:
    values = _flat(record)
    if _is_llm_log(values):
        return LLM_LOG
    if not _BODIES.isdisjoint(values) and not _OF_AZURE.isdisjoint(values) and _has_chat(values):
        return BODIES
    return DIAGNOSTICS if _is_diagnosed(values) else None


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Values by folded names, also those that lie in a column of columns."""
    from agent_journal.readers.azure_openai.columns import opened  # noqa: PLC0415 (few files have such columns)

    values = {name: record[column] for name, column in spelled(tuple(record)).items()}
    for name in NESTED:
        inner = opened(values.get(name))
        if inner.__class__ is dict:
            values = {folded(key): value for key, value in inner.items()} | values
    return values


def _has_chat(values: dict[str, Any]) -> bool:
    """Whether some body is that of a chat: other calls pass through the same gateway."""
    return any(_is_chat(values.get(name)) for name in _BODIES)


def _is_chat(body: Any) -> bool:
    if body.__class__ is dict:
        return not body.keys().isdisjoint({"messages", "choices", "input", "output"})
    if body.__class__ is not str:
        return False
    return any(word in body for word in ('"messages"', '"choices"', '"input"', '"output"'))


def _is_diagnosed(values: dict[str, Any]) -> bool:
    category, properties = values.get("category"), values.get(PROPERTIES)
    if not isinstance(category, str) or folded(category) not in _CATEGORIES:
        return False
    places = (values.get(name) for name in ("resourceid", "resourceprovider"))
    if any(isinstance(place, str) and _SERVICE in place.casefold() for place in places):
        return True
    names = properties if isinstance(properties, str) else " ".join(map(str, values))
    return any(name in names.casefold() for name in _DIAGNOSED)
