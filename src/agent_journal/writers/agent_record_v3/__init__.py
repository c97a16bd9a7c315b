"""Lossless verifiable agent records, 3.0.0-draft, unsigned: one record per conversation.

A field of the draft holds what it is for; other fields of the source are next to it under their own
own names. Everything else that is needed to read a record back is under one key of Agent Journal's own.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Conversation, Memory, timestamps
from agent_journal.model.leftovers import Leftovers
from agent_journal.model.spilled import load_spilled
from agent_journal.records import canonical_json
from agent_journal.records.forms import OWN_FIELDS, UNKNOWN, VERSION, RecordForm
from agent_journal.writers import WriterInfo
from agent_journal.writers.agent_record_v3.attribution import attribution
from agent_journal.writers.agent_record_v3.entries import entries_in_order
from agent_journal.writers.agent_record_v3.passthrough import SESSION, add_source_fields
from agent_journal.writers.agent_record_v3.separate_parts import entries_with_separate_parts
from agent_journal.writers.agent_record_v3.shared_text import share_texts
from agent_journal.writers.dialects.agent_records import (
    agent_meta,
    recording_agent,
    started_at,
    without_nulls,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="agent-record-v3",
    title="Verifiable agent record, lossless",
    suffix=".json",
    layout="lines",
    reader="agent-record",
    loses=("memories",),
    is_native=True,
    evidence="draft-birkholz-verifiable-agent-conversations-00 and its CDDL, February 2026",
)
_DEFAULT_FORM = RecordForm()
_LEFTOVERS = Leftovers(
    Conversation,
    represented=(
        "id",
        "started_at",
        "updated_at",
        "app_version",
        "model",
        "cwd",
        "git_branch",
        "git_commit",
        "timeline",
        "origin",
        "extra",
    ),
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one record, in the bytes that are signed, separated by line feeds."""
    separator = b""
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no conversation")
            continue
        data = canonical_json.encode(record(load_spilled(item), run))
        out.write(separator)
        out.write(data)
        separator = b"\n"


def record(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The record of a conversation."""
    form = run.record_forms.get(conversation.source, _DEFAULT_FORM)
    session = _session(conversation, form, run)
    own_fields = _own_fields(conversation, session)
    add_source_fields(session, conversation.extra, own_fields, SESSION)
    document = {
        "version": VERSION,
        "id": conversation.id,
        "created": session.get("session-start"),
        "vcs": _vcs(conversation),
        "file-attribution": attribution(conversation),
        "recording-agent": recording_agent(run),
        "session": session,
        OWN_FIELDS: own_fields,
    }
    return without_nulls(document)


def _session(conversation: Conversation, form: RecordForm, run: Run) -> dict[str, Any]:
    return without_nulls(
        {
            "format": "interactive",
            "session-id": conversation.id,
            "session-start": started_at(conversation),
            "session-end": _end(conversation),
            "agent-meta": agent_meta(conversation, form, run),
            "environment": None if conversation.cwd is None else {"working-dir": conversation.cwd},
            "entries": share_texts(_entries(conversation, form)),
        }
    )


def _entries(conversation: Conversation, form: RecordForm) -> Iterator[dict[str, Any]]:
    return (entries_with_separate_parts if form.part_of else entries_in_order)(conversation.timeline, form)


def _end(conversation: Conversation) -> str | None:
    """When the conversation ended: as stated, or its last timestamp if that is later."""
    times = (timestamps.parse_timestamp(entry.at) for entry in reversed(conversation.timeline))
    last = next((time for time in times if time is not None), None)
    stated = timestamps.parse_timestamp(conversation.updated_at)
    if last is None or stated is None:
        return stated or last
    return max(stated, last, key=lambda time: timestamps.epoch_ms(time) or 0)


def _vcs(conversation: Conversation) -> dict[str, Any] | None:
    stated = without_nulls({"branch": conversation.git_branch, "revision": conversation.git_commit})
    return {"type": "git", **stated} if stated else None


def _own_fields(conversation: Conversation, session: dict[str, Any]) -> dict[str, Any]:
    """The fields that the draft lacks or that the record states differently."""
    own_fields = _LEFTOVERS.of(conversation)
    model = session["agent-meta"]["model-id"]
    stated = {
        "started_at": session.get("session-start"),
        "updated_at": session.get("session-end"),
        "model": None if model == UNKNOWN else model,
    }
    differing = {name: own for name, value in stated.items() if (own := getattr(conversation, name)) != value}
    return own_fields | differing
