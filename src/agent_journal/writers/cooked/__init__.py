"""Cooked traces: every message and tool once, every request with its parent, in one document.

The format of llm-path's `cook` (February 2026). Requests of API traffic are cooked as that program cooks
them; of a source that tells of no requests, each response of the model makes one, and so does
what got no response.
"""

from __future__ import annotations

from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from agent_journal.model import Memory
from agent_journal.notes import Kind
from agent_journal.writers import WriterInfo
from agent_journal.writers.cooked.parents import Exchange, parents_of
from agent_journal.writers.cooked.remarks import guessed_links, losses
from agent_journal.writers.cooked.requests import CookedRequest, Distinct, Kitchen, Stock
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
        "which conversation a request belongs to, and all about it: title, project, summaries, feedback",
        "events",
        "media, except for a placeholder",
        "citations, languages of code, signatures and encrypted thoughts",
        "token counts, stop reasons, parameters of requests, all choices but the first",
        "memories",
    ),
    is_native=True,
    evidence="llm-path's data-spec.md at a77dd67 and its code at b9fa012, February 2026",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write one document about all conversations."""
    stock = Stock(Distinct(), Distinct())
    files: dict[Hashable, list[CookedRequest]] = {}
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
        else:
            run.cannot_say_what_was_redacted(item)
            _cook(item, files.setdefault(_file_of(item), []), stock, run)
    for requests in files.values():
        requests.sort(key=lambda request: request.index)
    _write(list(chain.from_iterable(files.values())), stock, out)


def _file_of(conversation: Conversation) -> Hashable:
    origin = conversation.origin
    return None if origin is None else (origin.file, origin.sha256)


def _cook(conversation: Conversation, requests: list[CookedRequest], stock: Stock, run: Run) -> None:
    """Add the requests of a conversation to those of its file, and tell what they leave out."""
    kitchen = Kitchen(conversation, stock)
    requests.extend(kitchen.requests(requests[-1].index + 1 if requests else 0))
    for what, count in losses(kitchen).items():
        run.cannot_say(conversation, "", f"{what}: {count}")
    if links := guessed_links(kitchen):
        where = f"{conversation.source}:{conversation.id}"
        run.note.add(Kind.GUESSED_LINK, where, "", f"results of the only call without an id: {links}")


def _write(requests: list[CookedRequest], stock: Stock, out: IO[bytes]) -> None:
    """Write what was cooked; `requests` are in the order of the files."""
    messages = _Names("m", (chain(request.request, request.response) for request in requests))
    tools = _Names("t", (request.tools for request in requests))
    out.write(b"{\n")
    _write_list("messages", (_message(messages[n], stock.messages.values[n]) for n in messages), out)
    out.write(b",\n")
    _write_list("tools", (_tool(tools[n], stock.tools.values[n]) for n in tools), out)
    out.write(b",\n")
    _write_list("requests", _requests(requests, messages, tools), out)
    out.write(b"\n}\n")


class _Names(dict[int, str]):
    """What each number is called in the output, in the order in which they are first met."""

    def __init__(self, letter: str, met: Iterable[Iterable[int]]) -> None:
        order = dict.fromkeys(chain.from_iterable(met))
        super().__init__((number, f"{letter}{place}") for place, number in enumerate(order))


def _message(name: str, message: Cooked) -> dict[str, Any]:
    return {"id": name, **message._asdict()}


def _tool(name: str, tool: CookedTool) -> dict[str, Any]:
    return {"id": name, **tool._asdict()}


def _requests(
    requests: list[CookedRequest], messages: dict[int, str], tools: dict[int, str]
) -> Iterator[dict[str, Any]]:
    """The requests in the order of time, each with its parent."""
    in_time = sorted(requests, key=lambda request: request.timestamp)
    exchanges = (
        Exchange(request.model, request.request, request.response, frozenset(request.tools))
        for request in in_time
    )
    for request, parent in zip(in_time, parents_of(exchanges, len(messages)), strict=True):
        yield {
            "id": request.id,
            "parent_id": None if parent is None else in_time[parent].id,
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
    before = b"\n    "
    for value in values:
        out.write(before + _indented(value))
        before, end = b",\n    ", b"\n  ]"
    out.write(end)


def _indented(value: dict[str, Any]) -> bytes:
    """The value as JSON, indented for its place in the document: in strings every line break is escaped."""
    try:
        text = pretty(value)
    except RecursionError:  # nested as deeply as can be read
        text = encode(value)
    return text.replace(b"\n", b"\n    ")
