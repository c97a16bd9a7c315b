"""A conversation on a page: first what the user saw, in order, then other branches and subagents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import Event, Text, tree
from agent_journal.rendering.blocks import excerpt
from agent_journal.rendering.header import amounts, header
from agent_journal.rendering.markup import NOTHING, Markup, closing, element, joined, opening
from agent_journal.rendering.numbers import Costs
from agent_journal.rendering.turn_view import TurnView
from agent_journal.rendering.turns import (
    ToolRun,
    ToolUse,
    group_tool_turns,
    iter_turns,
    referenced_messages,
    split_sections,
)
from agent_journal.text import describe
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Conversation, Message
    from agent_journal.rendering.addresses import Addresses
    from agent_journal.rendering.context import Context
    from agent_journal.rendering.turns import Section, Turn

_HEADINGS = {"branch": "Another branch", "subagent": "Subagent", "main": ""}
_FORK_PREFIXES = {"branch": "", "subagent": "Subagent: ", "main": ""}
# In a long section, the browser skips rendering of groups that are far from view.
_PIECES_PER_GROUP, _MIN_ENTRIES_TO_GROUP = 50, 400


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
        self._sections = split_sections(conversation)
        self._branches_by_parent = _branches_by_parent(self._sections)
        self._referenced = referenced_messages(conversation, self._sections)
        self._failures = describe.failures(conversation)
        self._costs = Costs(conversation, context.list_price)
        self._view = TurnView(conversation, context.addresses, self._costs)

    def render(self) -> Iterator[Markup]:
        """The conversation, in chunks of markup."""
        name = self._addresses.name
        self._toc.append(TocEntry(name, self._context.title, "title"))
        yield opening("section", {"class": "conversation", "id": name})
        yield header(self._conversation, self._context, amounts(self._conversation, self._costs))
        for number, section in enumerate(self._sections):
            yield from self._section(section, number)
        yield closing("section")

    @property
    def omitted_files(self) -> int:
        """How many files have content that is not on the page."""
        return self._view.omitted_files

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
        """The turns of a section in groups."""
        turns = iter_turns(section.entries, self._failures, self._referenced)
        items = group_tool_turns(turns, self._has_forks)
        css_class = "group" if len(section.entries) > _MIN_ENTRIES_TO_GROUP else "few"
        number = 0
        for piece in self._sequence(items, section):
            if number % _PIECES_PER_GROUP == 0:
                yield closing("div") if number else NOTHING
                yield opening("div", css_class)
            number += 1
            yield piece
        yield closing("div") if number else NOTHING

    def _sequence(self, items: Iterable[Turn | Event | ToolRun], section: Section) -> Iterator[Markup]:
        """Turns and runs of them, one piece each; consecutive events share one line."""
        events: list[Event] = []
        for item in items:
            if isinstance(item, Event):
                events.append(item)
                continue
            line = self._view.events(events)
            events = []
            if isinstance(item, ToolRun):
                inside = self._sequence(item.items, section)
                yield joined([line, *self._view.run(item, inside)])
            else:
                yield joined([line, self._turn(item, section)])
        if events:
            yield self._view.events(events)

    def _turn(self, turn: Turn, section: Section) -> Markup:
        message = turn.message
        anchor = self._view.anchor_of(message.id)
        if message.role == "user" and not message.hidden and section.kind != "subagent":
            self._add_to_toc(message, anchor)
        rendered = [self._view.new_day(turn), self._view.turn(turn, anchor)]
        return joined([*rendered, self._forks_after(turn)] if self._branches_by_parent else rendered)

    def _has_forks(self, turn: Turn) -> bool:
        """Whether links to other branches follow a turn."""
        return any(parent_id in self._branches_by_parent for parent_id in _ids_in(turn))

    def _add_to_toc(self, message: Message, anchor: str) -> None:
        """Add a prompt to the table of contents."""
        words = excerpt(part.text for part in message.parts if isinstance(part, Text) and not part.injected)
        # The excerpt of a branch or the title of the conversation may be the same text.
        if words and not self._toc[-1].words.endswith(words):
            self._toc.append(TocEntry(anchor, words, "prompt", message.at))

    def _forks_after(self, turn: Turn) -> Markup:
        """Links to other branches that continue from a message, or from the results of its tool calls."""
        parent_ids = [parent_id for parent_id in _ids_in(turn) if parent_id in self._branches_by_parent]
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


def _ids_in(turn: Turn) -> dict[str, None]:
    """The ids of a turn's message and of the messages with the results of its tool calls."""
    ids = dict.fromkeys([turn.message.id])
    for part in turn.parts:
        if isinstance(part, ToolUse) and part.result_message is not None:
            ids[part.result_message.id] = None
    return ids


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
