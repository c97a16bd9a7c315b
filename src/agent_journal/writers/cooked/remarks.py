"""The losses and guesses of a cooked conversation, counted by kind, for its notes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agent_journal.model import Code, Media, Message, Reasoning, Text, ToolResult, tree
from agent_journal.writers.cooked.messages import CLAUDE, OPENAI, omitted_blocks
from agent_journal.writers.cooked.requests import offered_tools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Part, Request
    from agent_journal.writers.cooked.requests import ConversationCooker


def losses(cooker: ConversationCooker) -> Counter[str]:
    """What of a cooked conversation is not in the output, counted by kind."""
    conversation = cooker.conversation
    api = next((request.api for request in conversation.requests if request.api), None)
    response_ids = {answer for request in conversation.requests for answer in request.response_ids}
    counts = Counter(summaries=len(conversation.summaries), feedback=len(conversation.feedback))
    for entry in conversation.timeline:
        if not isinstance(entry, Message):
            counts["events"] += 1
        elif entry.id not in cooker.used_ids:
            counts["messages outside of requests"] += 1
        else:
            counts.update(_message_losses(entry, api, is_response=entry.id in response_ids))
    for request in conversation.requests:
        counts.update(_request_losses(request, cooker))
    return +counts


def _message_losses(message: Message, api: str | None, *, is_response: bool) -> Iterator[str]:
    has_blocks = isinstance(message.native, list)
    for part in _all_parts(message, api):
        match part:
            case Text() if part.citations:
                yield "texts with citations"
            # A response of blocks is Claude's, whatever the request: its thinking is cooked.
            case Reasoning() if api == OPENAI and not (is_response and has_blocks):
                yield "reasoning outside of the content"
            # In requests it is included as JSON; in responses it counts as a block without a role.
            case Reasoning(encrypted=str()) if api == CLAUDE and has_blocks:
                pass
            case Reasoning() if not (part.text or part.summary):
                yield "encrypted reasoning parts"
            case Media() if _is_replaced(part, api):
                yield "media parts"
            case Code() if part.language or part.file:
                yield "code languages and locations"


def _all_parts(message: Message, api: str | None) -> Iterator[Part]:
    for part in message.parts:
        yield part
        # In a request of a known dialect the output of tools is included unchanged.
        if api is None and isinstance(part, ToolResult) and not isinstance(part.output, str):
            yield from part.output


def _is_replaced(media: Media, api: str | None) -> bool:
    """Whether it is replaced by a placeholder; other media of the dialects are included as JSON."""
    if api not in (OPENAI, CLAUDE):
        return True
    return media.kind == "image" and (api == CLAUDE or media.ref is None)


def _request_losses(request: Request, cooker: ConversationCooker) -> Counter[str]:
    tools = len(request.tools) - len(offered_tools(request, cooker.conversation.tools))
    response_ids = [] if request.error or request.api != CLAUDE else request.response_ids
    messages = [cooker.paths.message(entry_id) for entry_id in response_ids]
    blocks = sum(omitted_blocks(message.native) for message in messages if message is not None)
    return Counter({"tools other than functions": tools, "response blocks without a role": blocks})


def guessed_links(cooker: ConversationCooker) -> int:
    """The number of results without an id that follow a message with exactly one call, also without an id."""
    open_calls: dict[str | None, int] = {}
    links = 0
    for entry in cooker.conversation.timeline:
        pending = open_calls.get(cooker.paths.parent_of(entry.id), 0)
        if isinstance(entry, Message):
            if entry.role == "assistant":
                pending = sum(call.call_id is None for call in tree.calls_in(entry))
            elif pending == 1 and any(result.call_id is None for result in tree.results_in(entry)):
                links += entry.id in cooker.used_ids
                pending = 0
        open_calls[entry.id] = pending
    return links
