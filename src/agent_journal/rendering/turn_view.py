"""One turn of a conversation, or a run of tool calls, as markup."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from agent_journal.rendering.blocks import value_block
from agent_journal.rendering.header import feedback_line
from agent_journal.rendering.markup import (
    ANCHOR_SLOT,
    NOTHING,
    SLOT,
    Markup,
    Template,
    closing,
    element,
    joined,
    opening,
    text,
)
from agent_journal.rendering.parts import Anchors, Parts, subagent
from agent_journal.rendering.time_tags import clock
from agent_journal.rendering.tool_rows import changed_lines
from agent_journal.rendering.turns import ToolRun, ToolUse
from agent_journal.rendering.utc_times import day
from agent_journal.text import describe
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Event, Message, Part, Role
    from agent_journal.rendering.addresses import Addresses
    from agent_journal.rendering.numbers import Costs
    from agent_journal.rendering.turns import Turn

_PERMALINK = element("a", {"class": "here", "href": ANCHOR_SLOT, "aria-label": "Link to this message"}, "#")
_TURN_HEAD = element("div", "head", SLOT, SLOT, SLOT, SLOT)
_TURN = Template(element("article", {"class": SLOT, "id": SLOT}, _TURN_HEAD, SLOT))
# A continuation has the same speaker as the turn before it, so it has no name.
_CONTINUATION = Template(element("article", {"class": SLOT, "id": SLOT}, element("div", "head", SLOT), SLOT))
_ANCHOR_LINK = Template(_PERMALINK)
_COST_SPAN = Template(element("span", "cost", SLOT))
_COST_LINE = Template(element("p", "cost-line", element("span", "cost", SLOT)))
_COMPACTION = element("p", "compaction", "The model got a summary of everything above")
_MAX_NAMED_TOOLS = 4


class TurnView:
    """Renders the turns of one conversation in order, with the days between them."""

    def __init__(self, conversation: Conversation, addresses: Addresses, costs: Costs) -> None:
        self._addresses = addresses
        self._costs = costs
        self._anchors = Anchors(addresses)
        self._parts = Parts(addresses, self._anchors, conversation.cwd)
        self._feedback = [each for each in conversation.feedback if each.message_id is not None]
        self._day = day(describe.span(conversation)[0])

    @property
    def omitted_files(self) -> int:
        """How many files have content that is not on the page."""
        return self._parts.omitted_files

    def anchor_of(self, message_id: str) -> Markup:
        """The anchor of the next message that has this id."""
        return self._anchors.of(message_id)

    def new_day(self, turn: Turn) -> Markup:
        """A line with the date, if a turn is of another day than the one before."""
        today = day(turn.message.at)
        if not today or today == self._day:
            return NOTHING
        self._day = today
        return element("p", "day", element("time", {"datetime": today}, today))

    def turn(self, turn: Turn, anchor: Markup) -> Markup:
        """A turn."""
        message = turn.message
        content = [*self._content(turn)]
        if message.hidden:
            line = element("summary", "", "Hidden from the user")
            content = [element("details", "hidden", line, *content)]
        classes = _turn_classes(
            message.role,
            is_continuation=turn.is_continuation,
            is_sidechain=message.sidechain,
            is_parallel=turn.is_parallel,
        )
        cost = self._costs.of_message(message)
        links = self._links(message, anchor)
        if turn.is_continuation:
            if cost:
                content.append(_COST_LINE(cost))
            return _CONTINUATION(classes, anchor, links, joined(content))
        speaker = _speaker(message.role, message.model)
        cost_span = _COST_SPAN(cost) if cost else NOTHING
        return _TURN(classes, anchor, speaker, clock(message.at), links, cost_span, joined(content))

    def run(self, run: ToolRun, turns: Iterator[Markup]) -> Iterator[Markup]:
        """A run of tool calls, folded below one line that says what was done."""
        uses = run.uses
        names = Counter(use.call.name for use in uses).most_common()
        named = [f"{name} ×{number}" if number > 1 else name for name, number in names[:_MAX_NAMED_TOOLS]]
        if len(names) > _MAX_NAMED_TOOLS:
            named.append("…")
        failed = sum(use.result is not None and use.result.is_error is True for use in uses)
        yield opening("details", "run failed" if failed else "run")
        yield element(
            "summary",
            "",
            element("span", "name", count(len(uses), "tool call")),
            element("span", "preview", ", ".join(named)),
            element("span", "status", *_run_status(uses, failed)),
        )
        yield from turns
        yield closing("details")

    def events(self, events: list[Event]) -> Markup:
        """Consecutive events, folded."""
        if not events:
            return NOTHING
        names = dict.fromkeys(event.name for event in events)
        line = element("summary", "", f"{count(len(events), 'event')}: {', '.join(names)}")
        items = [element("li", {"id": self._anchors.of(event.id)}, *_event(event)) for event in events]
        boundary = _COMPACTION if any(map(describe.is_compaction, names)) else NOTHING
        return joined([element("details", "events", line, element("ul", "", *items)), boundary])

    def _content(self, turn: Turn) -> Iterator[Markup]:
        message = turn.message
        if message.parts:
            yield from self._render_parts(turn.parts, message.role)
        else:
            yield element("p", "quiet", "(empty)")
        for link in self._addresses.started_by_message(message.id):
            yield subagent(link)
        for failure in turn.failures:
            yield element("p", "quiet", "Request failed: ", failure)
        for item in self._feedback:
            if item.message_id == message.id:
                yield feedback_line(item)

    def _render_parts(self, parts: list[Part | ToolUse], role: Role) -> Iterator[Markup]:
        """The parts; tools that were called together are in one bracket."""
        render = self._parts.of_prompt if role == "user" else self._parts.of
        calls: list[Markup] = []
        for part in parts:
            if isinstance(part, ToolUse):
                calls.append(self._parts.of(part))
                continue
            yield from _bracketed(calls)
            calls = []
            yield render(part)
        yield from _bracketed(calls)

    def _links(self, message: Message, anchor: Markup) -> Markup:
        """The link to a message, and to the source's own record of it."""
        if (raw := self._addresses.raw(message.id)) is None:
            return _ANCHOR_LINK(anchor)
        here = {
            "class": "here",
            "href": self._addresses.message(message.id),
            "aria-label": "Link to this message",
        }
        return joined(
            [element("a", here, "#"), element("a", {"class": "here raw", "href": raw}, "Raw")]  # type: ignore[arg-type]
        )


def _bracketed(calls: list[Markup]) -> list[Markup]:
    if len(calls) <= 1:
        return calls
    return [element("div", {"class": "parallel", "title": f"{len(calls)} tools called at once"}, *calls)]


def _run_status(uses: list[ToolUse], failed: int) -> list[str]:
    added, removed = (sum(lines) for lines in zip(*(changed_lines(use.call) for use in uses), strict=True))
    pieces = [element("span", "plus", f"+{added:,}")] if added else []
    pieces += [element("span", "minus", f"−{removed:,}")] if removed else []
    pieces += [element("span", "fails", f"{failed:,} failed")] if failed else []
    return [piece for each in pieces for piece in (" ", each)][1:]


@cache
def _turn_classes(role: Role, *, is_continuation: bool, is_sidechain: bool, is_parallel: bool) -> Markup:
    flags = {"more": is_continuation, "sidechain": is_sidechain, "at-once": is_parallel}
    return text(" ".join(["turn", role, *(name for name, is_set in flags.items() if is_set)]))


@lru_cache
def _speaker(role: Role, model: str | None) -> Markup:
    """The heading of a turn: its role and model."""
    name = element("h2", "", role.capitalize())
    return joined([name, element("span", "model", model)]) if model else name


def _event(event: Event) -> list[Markup]:
    parts = [element("code", "", event.name), clock(event.at)]
    return [*parts, value_block(event.data)] if event.data else parts
