"""Verifiable agent records, 3.0.0-draft, unsigned, with all that a source tells: one record per conversation.

What the draft has a field for is there; other fields of the source stand beside it under their own names.
What it has no place for, and what is needed to read a record back, is under one key of our own.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Conversation, Memory, timestamps
from agent_journal.records import canonical_json
from agent_journal.records.forms import OURS, UNKNOWN, VERSION, RecordForm
from agent_journal.writers import WriterInfo
from agent_journal.writers.agent_record_v3.attribution import attribution
from agent_journal.writers.agent_record_v3.entries import told_in_order
from agent_journal.writers.agent_record_v3.passthrough import SESSION, pass_on
from agent_journal.writers.agent_record_v3.separate_parts import told_apart
from agent_journal.writers.agent_record_v3.shared_text import share_texts
from agent_journal.writers.dialects.agent_records import agent_meta, recording_agent, start, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="agent-record-v3",
    title="Verifiable agent record, nothing left out",
    suffix=".json",
    layout="lines",
    reader="agent-record",
    loses=("memories",),
    is_native=True,
    evidence="draft-birkholz-verifiable-agent-conversations-00 and its CDDL, February 2026",
)
_USUAL = RecordForm()
# What of a conversation the draft has fields for.
_TOLD = ("id", "app_version", "cwd", "git_branch", "git_commit", "timeline", "origin", "extra")
_REST = [name for name in Conversation.__struct_fields__ if name not in _TOLD]
_NOTHING = Conversation(id="", source="")


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one record, in the bytes that are signed; a line feed is between two."""
    between = b""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
            continue
        data = canonical_json.encode(record(item, run))
        out.write(between)
        out.write(data)
        between = b"\n"


def record(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The record of a conversation."""
    form = run.record_forms.get(conversation.source, _USUAL)
    session = _session(conversation, form, run)
    ours = _ours(conversation, session)
    pass_on(session, conversation.extra, ours, SESSION)
    whole = {
        "version": VERSION,
        "id": conversation.id,
        "created": session.get("session-start"),
        "vcs": _vcs(conversation),
        "file-attribution": attribution(conversation),
        "recording-agent": recording_agent(run),
        "session": session,
        OURS: ours,
    }
    return without_nulls(whole)


def _session(conversation: Conversation, form: RecordForm, run: Run) -> dict[str, Any]:
    return without_nulls(
        {
            "format": "interactive",
            "session-id": conversation.id,
            "session-start": start(conversation),
            "session-end": _end(conversation),
            "agent-meta": agent_meta(conversation, form, run),
            "environment": None if conversation.cwd is None else {"working-dir": conversation.cwd},
            "entries": list(share_texts(_entries(conversation, form))),
        }
    )


def _entries(conversation: Conversation, form: RecordForm) -> Iterator[dict[str, Any]]:
    return (told_apart if form.part_of else told_in_order)(conversation.timeline, form)


def _end(conversation: Conversation) -> str | None:
    """When it ended: as stated, or the last time in it if that is later."""
    moments = (timestamps.moment(entry.at) for entry in reversed(conversation.timeline))
    last = next((at for at in moments if at is not None), None)
    stated = timestamps.moment(conversation.updated_at)
    if last is None or stated is None:
        return stated or last
    return max(stated, last, key=lambda at: timestamps.epoch_ms(at) or 0)


def _vcs(conversation: Conversation) -> dict[str, Any] | None:
    stated = without_nulls({"branch": conversation.git_branch, "revision": conversation.git_commit})
    return {"type": "git", **stated} if stated else None


def _ours(conversation: Conversation, session: dict[str, Any]) -> dict[str, Any]:
    """What the draft has no field for, by the names of the model."""
    ours = {
        name: value
        for name in _REST
        if (value := getattr(conversation, name)) != getattr(_NOTHING, name) or name == "source"
    }
    model = session["agent-meta"]["model-id"]
    told = {
        "started_at": session.get("session-start"),
        "updated_at": session.get("session-end"),
        "model": None if model == UNKNOWN else model,
    }
    for name, value in told.items():
        ours.pop(name, None)
        if value != getattr(conversation, name):
            ours[name] = getattr(conversation, name)
    return ours
