"""Cooked traces: every message and tool once, every request with its parent, in one document.

The format of llm-path's `cook` (February 2026). Requests of API traffic are cooked as that program cooks
them. If a source has no requests, each response of the model makes one, and so does each prompt without a
response.
"""

from __future__ import annotations

from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Memory
from agent_journal.notes import Kind
from agent_journal.writers import WriterInfo
from agent_journal.writers.cooked.parents import RequestNode, parents_of
from agent_journal.writers.cooked.remarks import guessed_links, losses
from agent_journal.writers.cooked.requests import ConversationCooker, CookedRequest, NumberedValues, Registry
from agent_journal.writers.dialects.json_bytes import encode, pretty

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from agent_journal.model import Conversation, Item
    from agent_journal.writers import Run
    from agent_journal.writers.cooked.messages import Cooked
    from agent_journal.writers.cooked.requests import CookedTool

INFO = WriterInfo(
    name="cooked",
    title="Cooked trace",
    suffix=".json",
    layout="document",
    loses=(
        "the conversation of a request, with its title, project, summaries and feedback",
        "events",
        "media, except for a placeholder",
        "citations, code languages, signatures and encrypted reasoning",
        "token usage, stop reasons, request parameters, all choices but the first",
        "memories",
        "source-specific fields, kinds of tools and content, hidden and side-chain flags",
    ),
    is_native=True,
    evidence="llm-path's data-spec.md at a77dd67 and its code at b9fa012, February 2026",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write one document with all conversations."""
    registry = Registry(NumberedValues(), NumberedValues())
    files: dict[Hashable, list[CookedRequest]] = {}
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no conversation")
        else:
            run.note_redactions(item)
            _cook(item, files.setdefault(_file_of(item), []), registry, run)
    for requests in files.values():
        requests.sort(key=lambda request: request.index)
    _write(list(chain.from_iterable(files.values())), registry, out)


def _file_of(conversation: Conversation) -> Hashable:
    origin = conversation.origin
    return None if origin is None else (origin.file, origin.sha256)


def _cook(conversation: Conversation, requests: list[CookedRequest], registry: Registry, run: Run) -> None:
    """Add the requests of a conversation to those of its file, and note what is lost."""
    cooker = ConversationCooker(conversation, registry)
    requests.extend(cooker.requests(requests[-1].index + 1 if requests else 0))
    for kind, count in losses(cooker).items():
        run.note_not_preserved(conversation, "", f"{kind}: {count}")
    if links := guessed_links(cooker):
        source_id = f"{conversation.source}:{conversation.id}"
        run.note.add(Kind.GUESSED_LINK, source_id, "", f"results of the only call without an id: {links}")


def _write(requests: list[CookedRequest], registry: Registry, out: IO[bytes]) -> None:
    """Write the document; `requests` are in the order of the files."""
    messages = _Names("m", (chain(request.request, request.response) for request in requests))
    tools = _Names("t", (request.tools for request in requests))
    out.write(b"{\n")
    _write_list("messages", (_message(messages[n], registry.messages.values[n]) for n in messages), out)
    out.write(b",\n")
    _write_list("tools", (_tool(tools[n], registry.tools.values[n]) for n in tools), out)
    out.write(b",\n")
    _write_list("requests", _requests(requests, messages, tools), out)
    out.write(b"\n}\n")


class _Names(dict[int, str]):
    """The names of numbers in the output, in the order of their first use."""

    def __init__(self, letter: str, uses: Iterable[Iterable[int]]) -> None:
        order = dict.fromkeys(chain.from_iterable(uses))
        super().__init__((number, f"{letter}{position}") for position, number in enumerate(order))


def _message(name: str, message: Cooked) -> dict[str, Any]:
    return {"id": name, **message._asdict()}


def _tool(name: str, tool: CookedTool) -> dict[str, Any]:
    return {"id": name, **tool._asdict()}


def _requests(
    requests: list[CookedRequest], messages: dict[int, str], tools: dict[int, str]
) -> Iterator[dict[str, Any]]:
    """The requests in order of time, each with its parent."""
    ordered = sorted(requests, key=lambda request: request.timestamp)
    nodes = (
        RequestNode(request.model, request.request, request.response, frozenset(request.tools))
        for request in ordered
    )
    for request, parent in zip(ordered, parents_of(nodes, len(messages)), strict=True):
        yield {
            "id": request.id,
            "parent_id": None if parent is None else ordered[parent].id,
            "timestamp": request.timestamp,
            "request_messages": [messages[number] for number in request.request],
            "response_messages": [messages[number] for number in request.response],
            "model": request.model,
            "tools": [tools[number] for number in request.tools],
            "duration_ms": request.duration_ms,
        }


def _write_list(name: str, values: Iterable[dict[str, Any]], out: IO[bytes]) -> None:
    out.write(b'  "%s": [' % name.encode())
    end = b"]"
    separator = b"\n    "
    for value in values:
        out.write(separator + _indented(value))
        separator, end = b",\n    ", b"\n  ]"
    out.write(end)


def _indented(value: dict[str, Any]) -> bytes:
    """The value as JSON, indented for the document. Strings are safe: their line breaks are escaped."""
    try:
        text = pretty(value)
    except RecursionError:  # nested as deeply as can be read
        text = encode(value)
    return text.replace(b"\n", b"\n    ")
