"""Reads a log: groups its rows into calls and the calls into dialogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.notes import Kind
from agent_journal.readers.azure_openai.calls import Facts, calls_of
from agent_journal.readers.azure_openai.joining import calls
from agent_journal.readers.azure_openai.metadata import Days
from agent_journal.readers.azure_openai.names import SOURCE
from agent_journal.readers.azure_openai.rows import rows
from agent_journal.readers.dialects.api_calls.stitching import Stitching

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield the days of calls with only metadata, then every dialogue."""
    stitching, days = Stitching(SOURCE, note), Days()
    facts: list[Facts] = []
    for placed in calls(rows(source, note), note):
        for call in calls_of(placed, len(facts), note):
            facts.append(call.facts)
            if call.has_messages:
                stitching.add(call.exchange)
            else:
                yield from days.add(call)
    yield from days.take_conversations()
    for conversation in stitching.conversations():
        yield _with_facts(conversation, facts, note)
    if not facts:
        note(Kind.IGNORED_FILE, "", "the file has no rows")


def _with_facts(conversation: Conversation, facts: list[Facts], note: Notes) -> Conversation:
    """Return a dialogue with the service's facts from its first call that states them.

    Different facts of other calls stay with their requests: users with different accounts may ask the same.
    """
    call_facts = [facts[request.index] for request in conversation.requests]
    if not any(fact.is_deployment_stated for fact in call_facts):
        note(Kind.MISSING_FIELD, conversation.id, "deployment")
    api_version = next((fact.api_version for fact in call_facts if fact.api_version), None)
    account_id = next((fact.account_id for fact in call_facts if fact.account_id), None)
    return replace(
        conversation,
        model=next((fact.deployment for fact in call_facts if fact.deployment), None),
        app_version=api_version,
        account_id=account_id,
        requests=[
            replace(request, extra=fact.with_differences(request.extra, api_version, account_id))
            for request, fact in zip(conversation.requests, call_facts, strict=True)
        ],
    )
