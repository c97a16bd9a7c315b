"""The requests of a conversation: those it has, or one for each response of the model.

Messages and tools get numbers as they come; the order of the output is made when everything has been read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from agent_journal.model import timestamps, tree
from agent_journal.writers.cooked import messages as cook
from agent_journal.writers.cooked.messages import GEMINI, OPENAI, Cooked, sorted_json
from agent_journal.writers.cooked.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from agent_journal.model import Conversation, Message, Request, Tool

T = TypeVar("T")
# Dialects in which several messages of a response are choices.
_OF_CHOICES = (OPENAI, GEMINI)


class Distinct(Generic[T]):
    """Each value once, with a number: what has the same identity has the same number."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, identity: Hashable, value: T) -> int:
        """The number of a value, a new one if it is new."""
        number = self._numbers.setdefault(identity, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


class CookedTool(NamedTuple):
    """A tool as the target has it, before it gets its number."""

    name: str
    description: str
    parameters: Any


class Stock(NamedTuple):
    """Every message and every tool so far."""

    messages: Distinct[Cooked]
    tools: Distinct[CookedTool]


class CookedRequest(Struct, frozen=True, kw_only=True, gc=False):
    """A request with the numbers of what it sent, what came back, and its tools.

    `index` is its place in the file.
    """

    index: int
    id: str
    timestamp: int
    model: str
    duration_ms: int | float
    request: list[int]
    response: list[int]
    tools: list[int]


class Kitchen:
    """One conversation while it is cooked: no message of it is cooked twice in the same way."""

    def __init__(self, conversation: Conversation, stock: Stock) -> None:
        self.conversation = conversation
        self.paths = Paths(conversation)
        self.used: set[str] = set()
        self._stock = stock
        self._sent: dict[tuple[str, str | None], list[int]] = {}
        # What a request sent down to an entry, and how much of it was before the conversation.
        self._known: dict[str | None, dict[str, tuple[list[int], int]]] = {}
        tools = [_tool(tool) for tool in conversation.tools]
        self._tools = [stock.tools.number(_identity(tool), tool) for tool in tools]

    def requests(self, first_index: int) -> Iterator[CookedRequest]:
        """All requests; where the source tells of none, they count from `first_index`."""
        if self.conversation.requests:
            for request in self.conversation.requests:
                yield self._told(request)
            return
        index = first_index
        for response in responses(self.conversation, self.paths):
            yield self._derived(response, index)
            index += 1
        # The last one first: in a list it has all others in view.
        for leaf in reversed(tree.leaves(self.conversation.timeline)):
            if leaf.id not in self.used:
                yield self._unanswered(leaf, index)
                index += 1

    def _told(self, request: Request) -> CookedRequest:
        return CookedRequest(
            index=request.index,
            id=request.id or "",
            timestamp=timestamps.epoch_ms(request.at) or 0,
            model=self._model(request) or "",
            duration_ms=request.duration_ms or 0,
            request=self._sent_to(request.prompt_id, request.system, request.api, request.since_id),
            response=self._answer(request),
            tools=[self._tools[place] for place in offered(request, self.conversation.tools)],
        )

    def _model(self, request: Request) -> str | None:
        """The model that was asked; Gemini's requests name it in their URL, its answers say it themselves."""
        if request.api == GEMINI:
            for message in map(self.paths.message, request.response_ids):
                if message is not None and message.model:
                    return message.model
        return request.model

    def _derived(self, response: list[Message], index: int) -> CookedRequest:
        first = response[0]
        model = next((message.model for message in response if message.model), self.conversation.model)
        at = next((message.at for message in response if message.at), None)
        return CookedRequest(
            index=index,
            id=first.response_id or first.id,
            timestamp=timestamps.epoch_ms(at) or 0,
            model=model or "",
            duration_ms=0,
            request=self._in_view(first),
            response=self._said(response, None),
            tools=self._tools,
        )

    def _unanswered(self, leaf: Message, index: int) -> CookedRequest:
        """What was said last and got no answer: a request without a response."""
        return CookedRequest(
            index=index,
            id=leaf.id,
            timestamp=timestamps.epoch_ms(leaf.at or self.conversation.updated_at) or 0,
            model=self.conversation.model or "",
            duration_ms=0,
            request=[*self._in_view(leaf), *self._number_sent(leaf, None)],
            response=[],
            tools=self._tools,
        )

    def _sent_to(
        self, prompt_id: str | None, system: Iterable[str], api: str | None, since_id: str | None = None
    ) -> list[int]:
        """The numbers of the system messages and of the chain down to the prompt."""
        numbers: list[int] = []
        for entry_id in system:
            message = self.paths.message(entry_id)
            if message is not None:
                numbers += self._number_sent(message, api)
        start = len(numbers)
        if since_id is not None:
            for message in self.paths.between(since_id, prompt_id):
                numbers += self._number_sent(message, api)
            return numbers
        known = self._known.setdefault(api, {})
        above, messages = self.paths.down_to(prompt_id, known)
        if above is not None:
            earlier, its_start = known[above]
            numbers += earlier[its_start:]
        for message in messages:
            numbers += self._number_sent(message, api)
        if prompt_id is not None:
            known[prompt_id] = numbers, start
        return numbers

    def _in_view(self, first: Message) -> list[int]:
        """The numbers of what the model saw before it said this."""
        if not self.paths.forks:
            return self._sent_to(self.paths.parent_of(first.id), (), None)
        return [
            number for message in self.paths.before(first.id) for number in self._number_sent(message, None)
        ]

    def _number_sent(self, message: Message, api: str | None) -> list[int]:
        key = message.id, api
        if key not in self._sent:
            self.used.add(message.id)
            self._sent[key] = self._numbers(cook.sent(message, api))
        return self._sent[key]

    def _answer(self, request: Request) -> list[int]:
        if isinstance(request.error, str) and request.error:
            return self._numbers([cook.failed(request.error)])
        found = [self.paths.message(entry_id) for entry_id in request.response_ids]
        messages = [message for message in found if message is not None]
        # Of several choices the format has the first.
        said = self._said(messages[:1] if request.api in _OF_CHOICES else messages, request.api)
        # An error that the service told of may come after a part of the answer.
        return [*said, *self._numbers([cook.failed(request.error)])] if request.error else said

    def _said(self, messages: list[Message], api: str | None) -> list[int]:
        self.used.update(message.id for message in messages)
        cooked = [part for message in messages for part in cook.answered(message, api)]
        return self._numbers(cooked or [cook.EMPTY_ANSWER] if messages else [])

    def _numbers(self, cooked: Iterable[Cooked]) -> list[int]:
        return [self._stock.messages.number(one.identity, one) for one in cooked]


def offered(request: Request, tools: list[Tool]) -> list[int]:
    """Those of a request's tools that the format has: of OpenAI's the functions, not what servers run."""
    known = [place for place in request.tools if 0 <= place < len(tools)]
    if request.api != OPENAI:
        return known
    return [place for place in known if tools[place].extra.get("type", "function") == "function"]


def responses(conversation: Conversation, paths: Paths) -> list[list[Message]]:
    """The model's messages by response: those with one response id, else those that follow each other."""
    found: dict[tuple[str, str], list[Message]] = {}
    part_of: dict[str, tuple[str, str]] = {}
    for message in tree.messages(conversation):
        if message.role != "assistant":
            continue
        if message.response_id is not None:
            key = "response", message.response_id
        else:
            key = _continued(message, paths, found, part_of) or ("message", message.id)
            part_of[message.id] = key
        found.setdefault(key, []).append(message)
    return list(found.values())


def _continued(
    message: Message,
    paths: Paths,
    found: dict[tuple[str, str], list[Message]],
    part_of: dict[str, tuple[str, str]],
) -> tuple[str, str] | None:
    """The run of messages that this one goes on with: its end is right before it."""
    before = paths.message_before(message.id)
    key = part_of.get(before.id) if before is not None else None
    return key if before is not None and key is not None and found[key][-1].id == before.id else None


def _tool(tool: Tool) -> CookedTool:
    return CookedTool(tool.name, tool.description or "", {} if tool.parameters is None else tool.parameters)


def _identity(tool: CookedTool) -> Hashable:
    return tool.name, tool.description, sorted_json(tool.parameters)
