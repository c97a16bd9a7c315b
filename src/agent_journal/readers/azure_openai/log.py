"""A log as a whole: its rows joined to calls, the calls put together to dialogues."""

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

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def conversations(source: Source, note: Notes) -> Iterator[Conversation]:
    """The days of calls of which only metadata is known, then every dialogue."""
    stitching, days = Stitching(SOURCE, note), Days()
    facts: list[Facts] = []
    for placed in calls(rows(source, note), note):
        for call in calls_of(placed, len(facts), note):
            facts.append(call.facts)
            if call.has_messages:
                stitching.add(call.exchange)
            else:
                yield from days.add(call)
    yield from days.held()
    for conversation in stitching.conversations():
        yield _with_facts(conversation, facts, note)
    if not facts:
        note(Kind.IGNORED_FILE, "", "there is no row in it")


def _with_facts(conversation: Conversation, facts: list[Facts], note: Notes) -> Conversation:
    """A dialogue with what the first of its calls that says it says about the service.

    Where another call says otherwise, that stays with it: people with accounts of their own may ask the same.
    """
    told = [facts[request.index] for request in conversation.requests]
    if not any(each.is_deployment_stated for each in told):
        note(Kind.MISSING_FIELD, conversation.id, "deployment")
    api_version = next((each.api_version for each in told if each.api_version), None)
    account_id = next((each.account_id for each in told if each.account_id), None)
    return replace(
        conversation,
        model=next((each.deployment for each in told if each.deployment), None),
        app_version=api_version,
        account_id=account_id,
        requests=[
            replace(request, extra=each.beside(request.extra, api_version, account_id))
            for request, each in zip(conversation.requests, told, strict=True)
        ],
    )
