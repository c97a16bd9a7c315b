"""A conversation on a page: first what the user saw, in order, then other branches and subagents."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import Event, Text, tree
from agent_journal.rendering.blocks import excerpt, value_block
from agent_journal.rendering.header import feedback_line, header
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
from agent_journal.rendering.numbers import Costs
from agent_journal.rendering.parts import Anchors, Parts, subagent
from agent_journal.rendering.time_tags import clock
from agent_journal.rendering.turns import ToolUse, iter_turns, referenced_messages, split_sections
from agent_journal.rendering.utc_times import day
from agent_journal.text import describe
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Message, Role
    from agent_journal.rendering.addresses import Addresses
    from agent_journal.rendering.context import Context
    from agent_journal.rendering.turns import Section, Turn

_HEADINGS = {"branch": "Another branch", "subagent": "Subagent", "main": ""}
_FORK_PREFIXES = {"branch": "", "subagent": "Subagent: ", "main": ""}
_PERMALINK = element("a", {"class": "here", "href": ANCHOR_SLOT, "aria-label": "Link to this message"}, "#")
_TURN_HEAD = element("div", "head", SLOT, SLOT, _PERMALINK, SLOT)
_TURN = Template(element("article", {"class": SLOT, "id": SLOT}, _TURN_HEAD, SLOT))
# A continuation has the same speaker as the turn before it, so it has no name.
_CONTINUATION = Template(
    element("article", {"class": SLOT, "id": SLOT}, element("div", "head", _PERMALINK), SLOT)
)
_COST_SPAN = Template(element("span", "cost", SLOT))
_COST_LINE = Template(element("p", "cost-line", element("span", "cost", SLOT)))
# In a long section, the browser skips rendering of groups that are far from view.
_TURNS_PER_GROUP, _MIN_ENTRIES_TO_GROUP = 50, 400


class TocEntry(NamedTuple):
    """An entry of the table of contents."""

    anchor: str
    words: str
    kind: str
    at: str | None = None


class ConversationView:
    """Renders one conversation, and adds its entries to the table of contents."""

    def __init__(
        self, conversation: Conversation, context: Context, table_of_contents: list[TocEntry]
    ) -> None:
        self._conversation = conversation
        self._context = context
        self._addresses = context.addresses
        self._toc = table_of_contents
        self._anchors = Anchors(context.addresses)
        self._parts = Parts(context.addresses, self._anchors)
        self._sections = split_sections(conversation)
        self._branches_by_parent = _branches_by_parent(self._sections)
        self._referenced = referenced_messages(conversation, self._sections)
        self._failures = describe.failures(conversation)
        self._costs = Costs(conversation, context.list_price)
        self._message_feedback = [each for each in conversation.feedback if each.message_id is not None]
        self._day = day(describe.span(conversation)[0])

    def render(self) -> Iterator[Markup]:
        """The conversation, in chunks of markup."""
        name = self._addresses.name
        self._toc.append(TocEntry(name, self._context.title, "title"))
        yield opening("section", {"class": "conversation", "id": name})
        yield header(self._conversation, self._context, self._costs)
        for number, section in enumerate(self._sections):
            yield from self._section(section, number)
        yield closing("section")

    @property
    def omitted_files(self) -> int:
        """How many files have content that is not on the page."""
        return self._parts.omitted_files

    def _section(self, section: Section, number: int) -> Iterator[Markup]:
        if section.kind == "main":
            yield self._fork(None)
            yield from self._turns(section)
            return
        anchor = self._addresses.section_anchor(number)
        words = _section_excerpt(section)
        self._toc.append(TocEntry(anchor, f"{_HEADINGS[section.kind]}: {words}", "branch"))
        yield opening("section", {"class": section.kind, "id": anchor})
        yield element("h2", "parting", _HEADINGS[section.kind], _link_to_parent(section, self._addresses))
        if section.kind == "subagent":
            yield opening("details", "sidechain")
            yield element("summary", "", words, f" · {count(len(section.entries), 'entry', 'entries')}")
            yield from self._turns(section)
            yield closing("details")
        else:
            yield from self._turns(section)
        yield closing("section")

    def _turns(self, section: Section) -> Iterator[Markup]:
        """The turns of a section in groups; consecutive events share one line."""
        events: list[Event] = []
        number = 0
        css_class = "group" if len(section.entries) > _MIN_ENTRIES_TO_GROUP else "few"
        for turn in iter_turns(section.entries, self._failures, self._referenced):
            if isinstance(turn, Event):
                events.append(turn)
                continue
            if number % _TURNS_PER_GROUP == 0:
                yield closing("div") if number else NOTHING
                yield opening("div", css_class)
            number += 1
            if events:
                yield self._events(events)
                events = []
            today = day(turn.message.at)
            if today and today != self._day:
                self._day = today
                yield element("p", "day", element("time", {"datetime": today}, today))
            yield self._turn(turn, section)
            if self._branches_by_parent:
                yield self._forks_after(turn)
        yield self._events(events)
        yield closing("div") if number else NOTHING

    def _turn(self, turn: Turn, section: Section) -> Markup:
        message = turn.message
        anchor = self._anchors.of(message.id)
        if message.role == "user" and not message.hidden and section.kind != "subagent":
            self._add_to_toc(message, anchor)
        content: list[Markup] = [self._parts.of(part) for part in turn.parts]
        if not message.parts:
            content.append(element("p", "quiet", "(empty)"))
        content += [subagent(link) for link in self._addresses.started_by_message(message.id)]
        content += [element("p", "quiet", "Request failed: ", failure) for failure in turn.failures]
        if self._message_feedback:
            content += [
                feedback_line(item) for item in self._message_feedback if item.message_id == message.id
            ]
        if message.hidden:
            line = element("summary", "", "Hidden from the user")
            content = [element("details", "hidden", line, *content)]
        css_class = _turn_classes(
            message.role, is_continuation=turn.is_continuation, is_sidechain=message.sidechain
        )
        cost = self._costs.of_message(message)
        if turn.is_continuation:
            if cost:
                content.append(_COST_LINE(cost))
            return _CONTINUATION(css_class, anchor, anchor, joined(content))
        speaker = _speaker(message.role, message.model)
        cost_span = _COST_SPAN(cost) if cost else NOTHING
        return _TURN(css_class, anchor, speaker, clock(message.at), anchor, cost_span, joined(content))

    def _add_to_toc(self, message: Message, anchor: str) -> None:
        """Add a prompt to the table of contents."""
        words = excerpt(part.text for part in message.parts if isinstance(part, Text) and not part.injected)
        # The excerpt of a branch or the title of the conversation may be the same text.
        if words and not self._toc[-1].words.endswith(words):
            self._toc.append(TocEntry(anchor, words, "prompt", message.at))

    def _events(self, events: list[Event]) -> Markup:
        """Consecutive events, folded."""
        if not events:
            return NOTHING
        names = dict.fromkeys(event.name for event in events)
        line = element("summary", "", f"{count(len(events), 'event')}: {', '.join(names)}")
        items = [element("li", {"id": self._anchors.of(event.id)}, *_event(event)) for event in events]
        return element("details", "events", line, element("ul", "", *items))

    def _forks_after(self, turn: Turn) -> Markup:
        """Links to other branches that continue from a message, or from the results of its tool calls."""
        result_ids = [
            part.result_message.id
            for part in turn.parts
            if isinstance(part, ToolUse) and part.result_message is not None
        ]
        parent_ids = [
            parent_id
            for parent_id in dict.fromkeys((turn.message.id, *result_ids))
            if parent_id in self._branches_by_parent
        ]
        return joined([self._fork(parent_id) for parent_id in parent_ids]) if parent_ids else NOTHING

    def _fork(self, parent_id: str | None) -> Markup:
        branches = self._branches_by_parent.pop(parent_id, [])
        links = [
            element(
                "a",
                {"href": self._addresses.section(number)},
                _FORK_PREFIXES[section.kind],
                _section_excerpt(section),
            )
            for number, section in branches
        ]
        if not links:
            return NOTHING
        is_subagents = all(section.kind == "subagent" for _, section in branches)
        label = "Other branches from here" if parent_id is not None else "Other starting points"
        label = "Subagents started here" if is_subagents else label
        items = [element("li", "", link) for link in links]
        return element(
            "nav", {"class": "fork", "aria-label": label}, element("p", "", label), element("ul", "", *items)
        )


@cache
def _turn_classes(role: Role, *, is_continuation: bool, is_sidechain: bool) -> Markup:
    return text(f"turn {role}{' more' if is_continuation else ''}{' sidechain' if is_sidechain else ''}")


@lru_cache
def _speaker(role: Role, model: str | None) -> Markup:
    """The heading of a turn: its role and model."""
    name = element("h2", "", role.capitalize())
    return joined([name, element("span", "model", model)]) if model else name


def _branches_by_parent(sections: list[Section]) -> dict[str | None, list[tuple[int, Section]]]:
    """Sections other than the main one, by the id of the message they continue from."""
    branches: dict[str | None, list[tuple[int, Section]]] = {}
    for number, section in enumerate(sections):
        if section.kind != "main":
            branches.setdefault(section.after.id if section.after else None, []).append((number, section))
    return branches


def _section_excerpt(section: Section) -> str:
    """The first words of a branch, or the first tools it called."""
    texts = (tree.plain_text(entry) for entry in section.entries if not isinstance(entry, Event))
    calls = (call.name for entry in section.entries for call in tree.calls_in(entry))
    return excerpt(texts) or excerpt(calls) or "(no text)"


def _link_to_parent(section: Section, addresses: Addresses) -> Markup:
    after = section.after
    if after is None:
        return NOTHING
    words = excerpt([tree.plain_text(after)]) or after.role
    return element("span", "", " after ", element("a", {"href": addresses.message(after.id)}, words))


def _event(event: Event) -> list[Markup]:
    parts = [element("code", "", event.name), clock(event.at)]
    return [*parts, value_block(event.data)] if event.data else parts
