"""Parquet, one row per message, for data frames, DuckDB and the like. Needs the extra `parquet`."""

from __future__ import annotations

import importlib
from typing import IO, TYPE_CHECKING, Any

from agent_journal.errors import MissingExtra
from agent_journal.model import Code, Event, Media, Memory, Message, Text, timestamps, tree
from agent_journal.redaction import REDACTIONS_KEY
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.dialects.training_dialogue import (
    arguments_of,
    output_of,
    reasoning_of_parts,
    text_of_parts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Conversation, Item, Part, Usage
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="parquet",
    title="Parquet",
    suffix=".parquet",
    layout="document",
    is_native=True,
    loses=(
        "memories",
        "events",
        "of a conversation: summaries, feedback, tools, requests and source-specific fields",
        "of a conversation: times, model, version, account, environment, commit, tags and flags",
    ),
    evidence="Apache Parquet, as written by pyarrow; the column `json` has the message as in -t json",
)
# The size limits of a row group, which bound memory use.
_MAX_GROUP_ROWS, _MAX_GROUP_BYTES = 20_000, 8_000_000
# Columns with few distinct values, which are written once per group.
_DICTIONARY_COLUMNS = (
    "source",
    "conversation_id",
    "title",
    "project",
    "git_branch",
    "role",
    "model",
    "stop_reason",
)
# The range of the date types of most programs: the years 1 to 9999.
_MIN_TIME_MS, _MAX_TIME_MS = -62_135_596_800_000, 253_402_300_799_999
_TOKEN_COUNTS = ("input", "output", "cache_read", "cache_write", "reasoning", "total")
_MEDIA_FIELDS = ("kind", "mime", "name", "text")


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write one row per message, in row groups."""
    pyarrow = _pyarrow("pyarrow")
    schema = _schema(pyarrow)
    options = {"compression": "zstd", "use_dictionary": list(_DICTIONARY_COLUMNS)}
    with _pyarrow("pyarrow.parquet").ParquetWriter(out, schema, **options) as file:
        for rows in _row_groups(_rows(items, run)):
            columns = {name: [row[name] for row in rows] for name in schema.names}
            file.write_table(pyarrow.table(columns, schema=schema))


def _pyarrow(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(INFO.name, "parquet") from error


def _schema(pyarrow: Any) -> Any:
    text, integer, flag = pyarrow.string(), pyarrow.int64(), pyarrow.bool_()
    call = [("id", text), ("name", text), ("kind", text), ("arguments", text)]
    result = [("call_id", text), ("name", text), ("output", text), ("is_error", flag)]
    return pyarrow.schema(
        [
            *((name, text) for name in ("source", "conversation_id", "title", "project", "git_branch")),
            *(("parent_conversation_id", text), ("parent_relation", text)),
            *(("position", integer), ("message_id", text), ("parent_id", text), ("on_shown_branch", flag)),
            *(("role", text), ("at", pyarrow.timestamp("ms", tz="UTC")), ("model", text)),
            *(("stop_reason", text), ("response_id", text), ("hidden", flag), ("sidechain", flag)),
            *(("text", text), ("thinking", text)),
            ("tool_calls", pyarrow.list_(pyarrow.struct(call))),
            ("tool_results", pyarrow.list_(pyarrow.struct(result))),
            ("media", pyarrow.list_(pyarrow.struct([(name, text) for name in _MEDIA_FIELDS]))),
            ("usage_key", text),
            *((f"{name}_tokens", integer) for name in _TOKEN_COUNTS),
            ("cost_usd", pyarrow.float64()),
            ("redactions", text),
            ("json", text),
        ]
    )


def _row_groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row["json"])
        if len(group) >= _MAX_GROUP_ROWS or size >= _MAX_GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _rows(items: Iterable[Item], run: Run) -> Iterator[dict[str, Any]]:
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no message")
            continue
        events = sum(isinstance(entry, Event) for entry in item.timeline)
        if events:
            run.note_not_preserved(item, "", f"{events} × event")
        shared = _conversation_columns(item)
        shown = _shown_ids(item)
        for position, entry in enumerate(item.timeline):
            if isinstance(entry, Message):
                yield shared | _row(entry, position) | {"on_shown_branch": entry.id in shown}


def _conversation_columns(conversation: Conversation) -> dict[str, Any]:
    """The columns that all messages of a conversation share."""
    link, redactions = conversation.link, conversation.extra.get(REDACTIONS_KEY)
    return {
        "source": conversation.source,
        "conversation_id": conversation.id,
        "title": conversation.title,
        "project": conversation.cwd,
        "git_branch": conversation.git_branch,
        "parent_conversation_id": None if link is None else link.conversation_id,
        "parent_relation": None if link is None else link.relation,
        "redactions": None if redactions is None else encode(redactions).decode(),
    }


def _shown_ids(conversation: Conversation) -> set[str]:
    """The ids on the branch the user sees: all of a list, or the path to the head of a tree."""
    timeline = conversation.timeline
    if conversation.shape == "list":
        return {entry.id for entry in timeline}
    head = conversation.head_id or tree.newest_leaf(timeline)
    return set() if head is None else {entry.id for entry in tree.path_to(timeline, head)}


def _row(message: Message, position: int) -> dict[str, Any]:
    return {
        "position": position,
        "message_id": message.id,
        "parent_id": message.parent_id,
        "role": message.role,
        "at": _timestamp_ms(message.at),
        "model": message.model,
        "stop_reason": message.stop_reason,
        "response_id": message.response_id,
        "hidden": message.hidden,
        "sidechain": message.sidechain,
        "text": text_of_parts(part for part in message.parts if _is_message_text(part)) or None,
        "thinking": reasoning_of_parts(message.parts) or None,
        "tool_calls": [
            {"id": call.call_id, "name": call.name, "kind": call.kind, "arguments": arguments_of(call)}
            for call in tree.calls_in(message)
        ],
        "tool_results": [
            {
                "call_id": result.call_id,
                "name": result.name,
                "output": output_of(result),
                "is_error": result.is_error,
            }
            for result in tree.results_in(message)
        ],
        "media": [
            {name: getattr(part, name) for name in _MEDIA_FIELDS}
            for part in message.parts
            if isinstance(part, Media)
        ],
        **_usage_columns(message.usage),
        "json": encode(message).decode(),
    }


def _is_message_text(part: Part) -> bool:
    """Whether a part belongs to the text column; text that a program injected is only in `json`."""
    return isinstance(part, Code) or (isinstance(part, Text) and not part.injected)


def _timestamp_ms(at: str | None) -> int | None:
    time_ms = None if at is None else timestamps.epoch_ms(at)
    return time_ms if time_ms is not None and _MIN_TIME_MS <= time_ms <= _MAX_TIME_MS else None


def _usage_columns(usage: Usage | None) -> dict[str, Any]:
    """Token counts. Of messages with the same `usage_key`, only the last one counts."""
    counts: dict[str, Any] = {
        f"{name}_tokens": None if usage is None else getattr(usage, name) for name in _TOKEN_COUNTS
    }
    key, cost = (None, None) if usage is None else (usage.key, usage.cost_usd)
    return counts | {"usage_key": key, "cost_usd": cost}
