"""Rows of a gateway's log, and bodies as a gateway's policy writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, array, dumped, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ROW: dict[str, Any] = {
    "TenantId": "t",
    "OperationName": "Microsoft.ApiManagement/GatewayLlmLogs",
    "Region": "West Europe",
    "IsStreamCompletion": None,
    "DeploymentName": "",
    "ModelName": "",
    "PromptTokens": None,
    "CompletionTokens": None,
    "TotalTokens": None,
    "RequestMessages": None,
    "ResponseMessages": None,
    "Type": "ApiManagementGatewayLlmLog",
}


def _calls(scribe: Scribe) -> Iterator[tuple[list[dict[str, str]], dict[str, str]]]:
    while True:
        said = [{"role": "system", "content": scribe.text(900)}]
        for _ in range(scribe.random.randrange(1, 6)):
            said.append({"role": "user", "content": scribe.prompt()})
            answer = {"role": "assistant", "content": scribe.answer()}
            yield [*said], answer
            said.append(answer)


def _rows(scribe: Scribe) -> Iterator[dict[str, Any]]:
    for said, answer in _calls(scribe):
        row = _ROW | {"CorrelationId": scribe.id(), "TimeGenerated": scribe.time()}
        about = {"DeploymentName": "gpt-4o", "ModelName": "gpt-4o-2024-11-20", "PromptTokens": 100}
        yield row | about | {"SequenceNumber": 0, "CompletionTokens": 50, "TotalTokens": 150}
        text = dumped(said)
        pieces = [text[start : start + 32_000] for start in range(0, len(text), 32_000)]
        for place, piece in enumerate(pieces):
            yield row | {"SequenceNumber": place + 1, "RequestMessages": piece}
        yield row | {"SequenceNumber": len(pieces) + 1, "ResponseMessages": dumped([answer])}


def _bodies(scribe: Scribe) -> Iterator[dict[str, Any]]:
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    for said, answer in _calls(scribe):
        choices = [{"index": 0, "message": answer, "finish_reason": "stop"}]
        response = {"id": scribe.id(), "model": "gpt-4o-2024-11-20", "choices": choices, "usage": usage}
        yield {
            "requestId": scribe.id(),
            "apiVersion": "2024-10-21",
            "deploymentName": "gpt-4o",
            "timestamp": scribe.time(),
            "durationMs": 1234,
            "requestBody": dumped({"messages": said, "temperature": 0.1}),
            "responseBody": dumped(response),
        }


def rows(folder: Path, megabytes: int) -> list[Path]:
    """Rows as they are exported from a workspace."""
    return array(folder / "query_data.json", megabytes, _rows(Scribe()))


def bodies(folder: Path, megabytes: int) -> list[Path]:
    """Bodies, one call to a line."""
    return lines(folder / "apim.jsonl", megabytes, _bodies(Scribe()))


KINDS = {"rows": rows, "bodies": bodies}
