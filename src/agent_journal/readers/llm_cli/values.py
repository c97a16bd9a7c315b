"""What both kinds of tables have in common: tokens, times, attachments, calls."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import counted, nonempty_str
from agent_journal.model import Media, Usage, timestamps
from agent_journal.readers.dialects.database_rows import each_row

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model.types import MediaKind
    from agent_journal.notes import Notes

_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}


def take_usage(row: Fields, key: str) -> Usage | None:
    """Take the tokens of a response; the prompt's include those that the service had cached."""
    details = row.view("token_details")
    sent, output = counted(row.view("input_tokens")), counted(row.view("output_tokens"))
    if sent is None and output is None:
        return None
    row.drop("input_tokens", "output_tokens", "token_details")
    prompt_details = _object(_object(details).get("prompt_tokens_details"))
    cached = counted(prompt_details.get("cached_tokens"))
    reasoning = counted(_object(_object(details).get("completion_tokens_details")).get("reasoning_tokens"))
    return Usage(
        key=key,
        input=sent if sent is None or cached is None or cached > sent else sent - cached,
        output=output,
        cache_read=cached,
        reasoning=reasoning,
        extra={"token_details": details} if details is not None else {},
    )


def _object(value: Any) -> dict[str, Any]:
    return value if value.__class__ is dict else {}


def finished_at(at: str | None, duration_ms: Any) -> str | None:
    """Return when a response was complete."""
    if at is None or duration_ms.__class__ is not int:
        return at
    return timestamps.plus_ms(at, duration_ms) or at


def attachments(database: Database, note: Notes, table: str, column: str, value: Any) -> list[Media]:
    """Return the attachments that a table of links lists for a prompt or a part."""
    links = each_row(database, table, note, where=(column, value), order=("order",))
    return [media for link in links for media in _attachment(database, note, link.get("attachment_id"))]


def _attachment(database: Database, note: Notes, own_id: Any) -> list[Media]:
    rows = each_row(database, "attachments", note, where=("id", own_id), blob_columns=("content",))
    return [
        Media(
            kind=_KINDS.get(str(row.get("type")).partition("/")[0], "file"),
            mime=nonempty_str(row.get("type")),
            ref=nonempty_str(row.get("url")) or nonempty_str(row.get("path")),
            data=base64.b64encode(content).decode()
            if (content := row.get("content")).__class__ is bytes
            else None,
            extra={"id": own_id},
        )
        for row in rows
    ]


def fragments(database: Database, note: Notes, table: str, column: str, value: Any) -> list[Media]:
    """Return the texts from elsewhere that a prompt begins with."""
    links = each_row(database, table, note, where=(column, value), order=("order",))
    return [
        Media(
            kind="file",
            name=nonempty_str(row.get("source")),
            text=row.get("content"),
            extra={"hash": row.get("hash")},
        )
        for link in links
        for row in each_row(database, "fragments", note, where=("id", link.get("fragment_id")))
    ]
