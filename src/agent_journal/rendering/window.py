"""Part of a long conversation: some consecutive entries of a branch, rendered like the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.model import Event, Message
from agent_journal.rendering.markup import Markup, joined
from agent_journal.rendering.numbers import Costs
from agent_journal.rendering.turn_view import TurnView
from agent_journal.rendering.turns import ToolRun, Turn, group_tool_turns, iter_turns
from agent_journal.text import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent_journal.model import Conversation
    from agent_journal.rendering.context import Context

_MAX_CHARS = 400_000
"""What is rendered at once; the rest of a window is another one."""


class RenderedWindow(NamedTuple):
    """Markup, and how many of the requested entries it covers."""

    content: list[Markup]
    covered: int


class WindowView:
    """Renders some entries of a conversation.

    `entries` begin a few before the first one that is shown and end a few after the last one, so that tool
    results meet their calls.
    """

    def __init__(
        self,
        conversation: Conversation,
        context: Context,
        entries: Sequence[Message | Event],
        shown: range,
        after_turn: Callable[[Turn], Markup],
    ) -> None:
        self._entries = entries
        self._shown = shown
        self._positions = {id(entries[index]): index for index in shown}
        self._after_turn = after_turn
        window = replace(conversation, timeline=[*entries])
        self._failures = describe.failures(window)
        first = entries[shown.start - 1] if shown.start else None
        self._view = TurnView(
            replace(conversation, started_at=first.at) if first is not None and first.at else conversation,
            context.addresses,
            Costs(window, context.list_price),
        )

    def render(self) -> RenderedWindow:
        """The entries, until the page would become too large."""
        turns = iter_turns([*self._entries], self._failures, self._referenced())
        shown = (item for item in turns if self._position(item) is not None)
        content: list[Markup] = []
        chars = 0
        for item in group_tool_turns(shown, lambda turn: bool(self._after_turn(turn))):
            if chars > _MAX_CHARS:
                first = item.items[0] if isinstance(item, ToolRun) else item
                return RenderedWindow(content, (self._position(first) or 0) - self._shown.start)
            content.extend(self._item(item))
            chars += len(content[-1])
        return RenderedWindow(content, len(self._shown))

    def _referenced(self) -> set[str]:
        return {entry.id for entry in self._entries if isinstance(entry, Message) and entry.usage is not None}

    def _position(self, item: Turn | Event) -> int | None:
        return self._positions.get(id(item.message if isinstance(item, Turn) else item))

    def _item(self, item: Turn | Event | ToolRun) -> Iterable[Markup]:
        if isinstance(item, Event):
            return [self._view.events([item])]
        if isinstance(item, ToolRun):
            return [joined([*self._view.run(item, self._inside(item))])]
        return [self._turn(item)]

    def _inside(self, run: ToolRun) -> Iterator[Markup]:
        for item in run.items:
            yield self._view.events([item]) if isinstance(item, Event) else self._turn(item)

    def _turn(self, turn: Turn) -> Markup:
        anchor = self._view.anchor_of(turn.message.id)
        return joined([self._view.new_day(turn), self._view.turn(turn, anchor), self._after_turn(turn)])
