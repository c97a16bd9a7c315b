"""The requests of a conversation: the recorded ones, or one for each response of the model.

Messages and tools are numbered in the order they appear; the order of the output is determined at the end.
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
# Dialects in which several response messages are alternative choices.
_DIALECTS_WITH_CHOICES = (OPENAI, GEMINI)


class NumberedValues(Generic[T]):
    """Distinct values with numbers: values with the same identity share a number."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, identity: Hashable, value: T) -> int:
        """The number of a value; a new value gets the next number."""
        number = self._numbers.setdefault(identity, len(self.values))
        if number == len(self.values):
            self.values.append(value)
        return number


class CookedTool(NamedTuple):
    """A tool of the target format, before it gets its number."""

    name: str
    description: str
    parameters: Any


class Registry(NamedTuple):
    """All distinct messages and tools so far."""

    messages: NumberedValues[Cooked]
    tools: NumberedValues[CookedTool]


class CookedRequest(Struct, frozen=True, kw_only=True, gc=False):
    """A request with the numbers of its messages, response messages and tools.

    `index` is its position in the file.
    """

    index: int
    id: str
    timestamp: int
    model: str
    duration_ms: int | float
    request: list[int]
    response: list[int]
    tools: list[int]


class ConversationCooker:
    """Cooks one conversation; each message is cooked once per dialect."""

    def __init__(self, conversation: Conversation, registry: Registry) -> None:
        self.conversation = conversation
        self.paths = Paths(conversation)
        self.used_ids: set[str] = set()
        self._registry = registry
        self._sent_numbers: dict[tuple[str, str | None], list[int]] = {}
        # By dialect and entry: the messages a request sent down to it, and the number of its system prompts.
        self._known_prefixes: dict[str | None, dict[str, tuple[list[int], int]]] = {}
        tools = [_tool(tool) for tool in conversation.tools]
        self._tools = [registry.tools.number(_identity(tool), tool) for tool in tools]

    def requests(self, first_index: int) -> Iterator[CookedRequest]:
        """All requests; derived ones are numbered from `first_index`."""
        if self.conversation.requests:
            for request in self.conversation.requests:
                yield self._recorded(request)
            return
        index = first_index
        for response in responses(self.conversation, self.paths):
            yield self._derived(response, index)
            index += 1
        # The last leaf first: in a list all others are above it.
        for leaf in reversed(tree.leaves(self.conversation.timeline)):
            if leaf.id not in self.used_ids:
                yield self._unanswered_prompt(leaf, index)
                index += 1

    def _recorded(self, request: Request) -> CookedRequest:
        return CookedRequest(
            index=request.index,
            id=request.id or "",
            timestamp=timestamps.epoch_ms(request.at) or 0,
            model=self._model(request) or "",
            duration_ms=request.duration_ms or 0,
            request=self._sent_to(request.prompt_id, request.system, request.api, request.since_id),
            response=self._response_of(request),
            tools=[self._tools[index] for index in offered_tools(request, self.conversation.tools)],
        )

    def _model(self, request: Request) -> str | None:
        """The model of a request. Gemini's requests name it in their URL, its responses in their body."""
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
            request=self._numbers_in_view(first),
            response=self._response_numbers(response, None),
            tools=self._tools,
        )

    def _unanswered_prompt(self, leaf: Message, index: int) -> CookedRequest:
        """A request without a response, for a final message that was not answered."""
        return CookedRequest(
            index=index,
            id=leaf.id,
            timestamp=timestamps.epoch_ms(leaf.at or self.conversation.updated_at) or 0,
            model=self.conversation.model or "",
            duration_ms=0,
            request=[*self._numbers_in_view(leaf), *self._number_sent(leaf, None)],
            response=[],
            tools=self._tools,
        )

    def _sent_to(
        self, prompt_id: str | None, system: Iterable[str], api: str | None, since_id: str | None = None
    ) -> list[int]:
        """The numbers of the system messages and of the messages down to the prompt."""
        numbers: list[int] = []
        for entry_id in system:
            message = self.paths.message(entry_id)
            if message is not None:
                numbers += self._number_sent(message, api)
        start = len(numbers)
        if since_id is not None:
            for message in self.paths.messages_between(since_id, prompt_id):
                numbers += self._number_sent(message, api)
            return numbers
        prefixes = self._known_prefixes.setdefault(api, {})
        ancestor, messages = self.paths.messages_down_to(prompt_id, prefixes)
        if ancestor is not None:
            earlier, earlier_start = prefixes[ancestor]
            numbers += earlier[earlier_start:]
        for message in messages:
            numbers += self._number_sent(message, api)
        if prompt_id is not None:
            prefixes[prompt_id] = numbers, start
        return numbers

    def _numbers_in_view(self, first: Message) -> list[int]:
        """The numbers of the messages that the model saw before a response."""
        if not self.paths.has_forks:
            return self._sent_to(self.paths.parent_of(first.id), (), None)
        return [
            number
            for message in self.paths.messages_in_view(first.id)
            for number in self._number_sent(message, None)
        ]

    def _number_sent(self, message: Message, api: str | None) -> list[int]:
        key = message.id, api
        if key not in self._sent_numbers:
            self.used_ids.add(message.id)
            self._sent_numbers[key] = self._numbers(cook.cook_sent(message, api))
        return self._sent_numbers[key]

    def _response_of(self, request: Request) -> list[int]:
        if isinstance(request.error, str) and request.error:
            return self._numbers([cook.cook_error(request.error)])
        candidates = [self.paths.message(entry_id) for entry_id in request.response_ids]
        messages = [message for message in candidates if message is not None]
        # The format has only the first of several choices.
        numbers = self._response_numbers(
            messages[:1] if request.api in _DIALECTS_WITH_CHOICES else messages, request.api
        )
        # The service may report an error after a part of the response.
        return [*numbers, *self._numbers([cook.cook_error(request.error)])] if request.error else numbers

    def _response_numbers(self, messages: list[Message], api: str | None) -> list[int]:
        self.used_ids.update(message.id for message in messages)
        cooked = [part for message in messages for part in cook.cook_response(message, api)]
        return self._numbers(cooked or [cook.EMPTY_RESPONSE] if messages else [])

    def _numbers(self, cooked: Iterable[Cooked]) -> list[int]:
        return [self._registry.messages.number(entry.identity, entry) for entry in cooked]


def offered_tools(request: Request, tools: list[Tool]) -> list[int]:
    """The indexes of a request's tools that the format can represent: of OpenAI's only functions."""
    known = [index for index in request.tools if 0 <= index < len(tools)]
    if request.api != OPENAI:
        return known
    return [index for index in known if tools[index].extra.get("type", "function") == "function"]


def responses(conversation: Conversation, paths: Paths) -> list[list[Message]]:
    """The model's messages by response: those with the same response id, or consecutive ones without ids."""
    by_response: dict[tuple[str, str], list[Message]] = {}
    response_of: dict[str, tuple[str, str]] = {}
    for message in tree.messages(conversation):
        if message.role != "assistant":
            continue
        if message.response_id is not None:
            key = "response", message.response_id
        else:
            key = _continued_response(message, paths, by_response, response_of) or ("message", message.id)
            response_of[message.id] = key
        by_response.setdefault(key, []).append(message)
    return list(by_response.values())


def _continued_response(
    message: Message,
    paths: Paths,
    by_response: dict[tuple[str, str], list[Message]],
    response_of: dict[str, tuple[str, str]],
) -> tuple[str, str] | None:
    """The key of the response that a message continues: the response ends right before it."""
    previous = paths.message_before(message.id)
    key = response_of.get(previous.id) if previous is not None else None
    return (
        key if previous is not None and key is not None and by_response[key][-1].id == previous.id else None
    )


def _tool(tool: Tool) -> CookedTool:
    return CookedTool(tool.name, tool.description or "", {} if tool.parameters is None else tool.parameters)


def _identity(tool: CookedTool) -> Hashable:
    return tool.name, tool.description, sorted_json(tool.parameters)
