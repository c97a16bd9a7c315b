"""Azure OpenAI: calls logged by Azure's gateway, its diagnostics, and users' own logging.

The gateway's log for language models (`ApiManagementGatewayLlmLog`) has several rows per call, joined by
their correlation id; other logs have the bodies of request and response in one row, or only metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.azure_openai.detect import BODIES, DIAGNOSTICS, LLM_LOG, detect_version
from agent_journal.readers.azure_openai.names import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="Azure OpenAI",
    category="API traffic",
    versions=(LLM_LOG, BODIES, DIAGNOSTICS),
    revision=9,
    names={"unified": "azure_openai"},
    required=("conversation_id", "platform.model", "messages[].role", "messages[].content"),
    # Logs are exported from Azure; they have no default location.
    evidence="tables ApiManagementGatewayLlmLog, ApiManagementGatewayLogs and AzureDiagnostics as Microsoft "
    "documents them (July 2026), recorded bodies of API calls, rows with bodies as the mapping to "
    "the unified schema describes them; no rows from the field; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim rows with the columns of one of the logs; a file may mix all kinds of rows."""
    return None if peek.is_folder else detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (each row identifies its own kind)
    """Yield the dialogues that calls belong to, and one conversation per day of calls with only metadata."""
    from agent_journal.readers.azure_openai.log import conversations  # noqa: PLC0415 (imported only to read)

    return conversations(source, note)
