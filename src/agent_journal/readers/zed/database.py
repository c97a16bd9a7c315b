"""The table of threads: a row per thread, with its content as JSON, mostly compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import compressed, sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.dialects.database_rows import each_row
from agent_journal.readers.zed.names import TABLE
from agent_journal.readers.zed.thread import conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield every thread of a database; one that cannot be read is noted."""
    with sqlite_copy.opened(source) as database:
        order = ("created_at", "updated_at", "id")
        for row in each_row(database, TABLE, note, order=order, blob_columns=("data",)):
            where = f"thread {row.get('id')}"
            content = _content(row.pop("data", b""), note, where)
            if content is None:
                continue
            row.pop("data_type", None)
            yield conversation(Fields(content, note, where), Fields(row, note, where), name)


def _content(data: Any, note: Notes, where: str) -> dict[str, Any] | None:
    """Return the content of a thread, in the form that its first bytes show."""
    if nonempty_str(data):
        data = data.encode("utf-8", "replace")
    if data.__class__ is bytes and data.startswith(compressed.ZSTD):
        try:
            data = compressed.inflated_zstd(data, where)
        except UnreadableSource as error:
            note(Kind.BAD_RECORD, where, error.reason)
            return None
    if data.__class__ is not bytes or not data:
        note(Kind.BAD_RECORD, where, "it has no content")
        return None
    value = json_stream.decode(data, note, where)
    if value is json_stream.BAD:
        return None
    if value.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"its content is {type(value).__name__}")
        return None
    return value
