"""What a person is told about a cooked conversation: what of it is not in the output, counted by kind."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent_journal.model import Code, Media, Message, Reasoning, Text, ToolResult, tree
from agent_journal.writers.cooked.messages import CLAUDE, OPENAI, left_out
from agent_journal.writers.cooked.requests import offered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Part, Request
    from agent_journal.writers.cooked.requests import Kitchen


def losses(kitchen: Kitchen) -> Counter[str]:
    """How much of a conversation that was cooked is not in the output."""
    conversation = kitchen.conversation
    api = next((request.api for request in conversation.requests if request.api), None)
    answers = {answer for request in conversation.requests for answer in request.response_ids}
    found = Counter(summaries=len(conversation.summaries), feedback=len(conversation.feedback))
    for entry in conversation.timeline:
        if not isinstance(entry, Message):
            found["events"] += 1
        elif entry.id not in kitchen.used:
            found["messages that are in no request"] += 1
        else:
            found.update(_of_message(entry, api, is_answer=entry.id in answers))
    for request in conversation.requests:
        found.update(_of_request(request, kitchen))
    return +found


def _of_message(message: Message, api: str | None, *, is_answer: bool) -> Iterator[str]:
    has_blocks = isinstance(message.native, list)
    for part in _all_parts(message, api):
        match part:
            case Text() if part.citations:
                yield "texts with citations"
            # An answer of blocks is Claude's, whatever the request: its thoughts are cooked.
            case Reasoning() if api == OPENAI and not (is_answer and has_blocks):
                yield "thoughts beside the content"
            # What was sent is kept as JSON, and of what was answered each block without a role counts.
            case Reasoning(encrypted=str()) if api == CLAUDE and has_blocks:
                pass
            case Reasoning() if not (part.text or part.summary):
                yield "encrypted thoughts"
            case Media() if _is_replaced(part, api):
                yield "media"
            case Code() if part.language or part.file:
                yield "languages and places of code"


def _all_parts(message: Message, api: str | None) -> Iterator[Part]:
    for part in message.parts:
        yield part
        # In a request of a known dialect what tools answered is kept as it was.
        if api is None and isinstance(part, ToolResult) and not isinstance(part.output, str):
            yield from part.output


def _is_replaced(media: Media, api: str | None) -> bool:
    """Whether only a placeholder stands for it; other media of the dialects are kept as JSON."""
    if api not in (OPENAI, CLAUDE):
        return True
    return media.kind == "image" and (api == CLAUDE or media.ref is None)


def _of_request(request: Request, kitchen: Kitchen) -> Counter[str]:
    tools = len(request.tools) - len(offered(request, kitchen.conversation.tools))
    answers = [] if request.error or request.api != CLAUDE else request.response_ids
    found = [kitchen.paths.message(entry_id) for entry_id in answers]
    blocks = sum(left_out(message.native) for message in found if message is not None)
    return Counter({"tools that are no functions": tools, "blocks of responses without a role": blocks})


def guessed_links(kitchen: Kitchen) -> int:
    """How many results without a call id follow a message with exactly one call, which has no id either."""
    open_calls: dict[str | None, int] = {}
    links = 0
    for entry in kitchen.conversation.timeline:
        pending = open_calls.get(kitchen.paths.parent_of(entry.id), 0)
        if isinstance(entry, Message):
            if entry.role == "assistant":
                pending = sum(call.call_id is None for call in tree.calls_in(entry))
            elif pending == 1 and any(result.call_id is None for result in tree.results_in(entry)):
                links += entry.id in kitchen.used
                pending = 0
        open_calls[entry.id] = pending
    return links
