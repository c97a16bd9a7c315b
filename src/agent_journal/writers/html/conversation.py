"""A conversation on a page: what the person saw, in order, then other branches and what subagents did."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import Event, Text, tree
from agent_journal.text import describe
from agent_journal.text.humanize import count
from agent_journal.writers.html.blocks import value, words_of
from agent_journal.writers.html.costs import Bill
from agent_journal.writers.html.header import header, opinion
from agent_journal.writers.html.markup import (
    NOTHING,
    PLACE,
    PLACE_ON_PAGE,
    Markup,
    Pattern,
    closing,
    element,
    joined,
    opening,
    text,
)
from agent_journal.writers.html.parts import Anchors, Parts, subagent
from agent_journal.writers.html.time_tags import clock
from agent_journal.writers.rendering.turns import Done, places, sections, turns
from agent_journal.writers.rendering.utc_times import day

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Message, Role
    from agent_journal.writers.rendering.pages import Page
    from agent_journal.writers.rendering.turns import Section, Turn

_HEADINGS = {"branch": "Another branch", "subagent": "What a subagent did", "main": ""}
_FORKS = {"branch": "", "subagent": "Subagent: ", "main": ""}
_HERE = element("a", {"class": "here", "href": PLACE_ON_PAGE, "aria-label": "Link to this message"}, "#")
_HEAD = element("div", "head", PLACE, PLACE, _HERE, PLACE)
_TURN = Pattern(element("article", {"class": PLACE, "id": PLACE}, _HEAD, PLACE))
# Where somebody goes on, it is plain who speaks.
_MORE = Pattern(element("article", {"class": PLACE, "id": PLACE}, element("div", "head", _HERE), PLACE))
_COST = Pattern(element("span", "cost", PLACE))
_TOOK = Pattern(element("p", "took", element("span", "cost", PLACE)))
# Of a long section, a browser skips what is far from view one group at a time.
_GROUP, _LONG = 50, 400


class Entry(NamedTuple):
    """A line of the table of contents."""

    anchor: str
    words: str
    kind: str
    at: str | None = None


class Reading:
    """One conversation while it is written; what it comes upon is added to the contents."""

    def __init__(self, conversation: Conversation, page: Page, contents: list[Entry]) -> None:
        self._conversation = conversation
        self._page = page
        self._contents = contents
        self._anchors = Anchors(page)
        self._parts = Parts(page, self._anchors)
        self._sections = sections(conversation)
        self._branches = _by_place(self._sections)
        self._named = places(conversation, self._sections)
        self._failures = describe.failures(conversation)
        self._bill = Bill(conversation, page.run)
        self._opinions = [each for each in conversation.feedback if each.message_id is not None]
        self._day = day(describe.span(conversation)[0])

    def pieces(self) -> Iterator[Markup]:
        """The conversation, piece by piece."""
        name = self._page.facts.name
        self._contents.append(Entry(name, self._page.facts.title, "title"))
        yield opening("section", {"class": "conversation", "id": name})
        yield header(self._conversation, self._page, self._bill)
        for number, section in enumerate(self._sections):
            yield from self._section(section, number)
        yield closing("section")
        if self._parts.left_out:
            what = f"{count(self._parts.left_out, 'file')} in full"
            self._page.run.cannot_say(self._conversation, "", what)

    def _section(self, section: Section, number: int) -> Iterator[Markup]:
        if section.kind == "main":
            yield self._fork(None)
            yield from self._turns(section)
            return
        anchor = self._branch_anchor(number)
        words = _words_of(section)
        self._contents.append(Entry(anchor, f"{_HEADINGS[section.kind]}: {words}", "branch"))
        yield opening("section", {"class": section.kind, "id": anchor})
        yield element("h2", "parting", _HEADINGS[section.kind], _goes_on_from(section, self._page))
        if section.kind == "subagent":
            yield opening("details", "aside")
            yield element("summary", "", words, f" · {count(len(section.entries), 'entry', 'entries')}")
            yield from self._turns(section)
            yield closing("details")
        else:
            yield from self._turns(section)
        yield closing("section")

    def _branch_anchor(self, number: int) -> str:
        return f"{self._page.facts.name}-branch-{number}"

    def _turns(self, section: Section) -> Iterator[Markup]:
        """The turns of a section in groups; events that follow each other are one line."""
        events: list[Event] = []
        number = 0
        kind = "group" if len(section.entries) > _LONG else "few"
        for turn in turns(section.entries, self._failures, self._named):
            if isinstance(turn, Event):
                events.append(turn)
                continue
            if number % _GROUP == 0:
                yield closing("div") if number else NOTHING
                yield opening("div", kind)
            number += 1
            if events:
                yield self._events(events)
                events = []
            today = day(turn.message.at)
            if today and today != self._day:
                self._day = today
                yield element("p", "day", element("time", {"datetime": today}, today))
            yield self._turn(turn, section)
            if self._branches:
                yield self._forks_after(turn)
        yield self._events(events)
        yield closing("div") if number else NOTHING

    def _turn(self, turn: Turn, section: Section) -> Markup:
        message = turn.message
        anchor = self._anchors.of(message.id)
        if message.role == "user" and not message.hidden and section.kind != "subagent":
            self._list(message, anchor)
        content: list[Markup] = [self._parts.of(part) for part in turn.parts]
        if not message.parts:
            content.append(element("p", "quiet", "(empty)"))
        content += [subagent(*each) for each in self._page.started_at(message.id)]
        content += [element("p", "quiet", "Request failed: ", failure) for failure in turn.failures]
        if self._opinions:
            content += [opinion(each) for each in self._opinions if each.message_id == message.id]
        if message.hidden:
            line = element("summary", "", "Hidden: the person did not see this")
            content = [element("details", "hidden", line, *content)]
        kind = _kind(message.role, goes_on=turn.goes_on, is_aside=message.sidechain)
        cost = self._bill.of(message)
        if turn.goes_on:
            if cost:
                content.append(_TOOK(cost))
            return _MORE(kind, anchor, anchor, joined(content))
        who = _speaker(message.role, message.model)
        told = _COST(cost) if cost else NOTHING
        return _TURN(kind, anchor, who, clock(message.at), anchor, told, joined(content))

    def _list(self, message: Message, anchor: str) -> None:
        """Put what the person said into the contents."""
        texts = [part.text for part in message.parts if isinstance(part, Text) and not part.injected]
        words = words_of(texts)
        # What begins a branch, or gave the conversation its title, is there already.
        if words and not self._contents[-1].words.endswith(words):
            self._contents.append(Entry(anchor, words, "said", message.at))

    def _events(self, events: list[Event]) -> Markup:
        """Events that happened one after the other."""
        if not events:
            return NOTHING
        names = dict.fromkeys(event.name for event in events)
        line = element("summary", "", f"{count(len(events), 'event')}: {', '.join(names)}")
        listed = [element("li", {"id": self._anchors.of(each.id)}, *_event(each)) for each in events]
        return element("details", "events", line, element("ul", "", *listed))

    def _forks_after(self, turn: Turn) -> Markup:
        """Links to what else goes on from a message, or from what its tools answered."""
        acts = [part.answer.id for part in turn.parts if isinstance(part, Done) and part.answer is not None]
        places = [place for place in dict.fromkeys((turn.message.id, *acts)) if place in self._branches]
        return joined([self._fork(place) for place in places]) if places else NOTHING

    def _fork(self, place: str | None) -> Markup:
        found = self._branches.pop(place, [])
        links = [
            element(
                "a", {"href": f"#{self._branch_anchor(number)}"}, _FORKS[section.kind], _words_of(section)
            )
            for number, section in found
        ]
        if not links:
            return NOTHING
        is_work = all(section.kind == "subagent" for _, section in found)
        what = "Other ways from here" if place is not None else "Other beginnings"
        what = "Sent off from here" if is_work else what
        listed = [element("li", "", each) for each in links]
        return element(
            "nav", {"class": "fork", "aria-label": what}, element("p", "", what), element("ul", "", *listed)
        )


@cache
def _kind(role: Role, *, goes_on: bool, is_aside: bool) -> Markup:
    return text(f"turn {role}{' more' if goes_on else ''}{' aside' if is_aside else ''}")


@lru_cache
def _speaker(role: Role, model: str | None) -> Markup:
    """Who speaks."""
    name = element("h2", "", role.capitalize())
    return joined([name, element("span", "model", model)]) if model else name


def _by_place(found: list[Section]) -> dict[str | None, list[tuple[int, Section]]]:
    """Sections beside the main one, by the message that they go on from."""
    places: dict[str | None, list[tuple[int, Section]]] = {}
    for number, section in enumerate(found):
        if section.kind != "main":
            places.setdefault(section.after.id if section.after else None, []).append((number, section))
    return places


def _words_of(section: Section) -> str:
    """How a branch begins."""
    said = (tree.plain_text(entry) for entry in section.entries if not isinstance(entry, Event))
    calls = (call.name for entry in section.entries for call in tree.calls_in(entry))
    return words_of(said) or words_of(calls) or "(nothing said)"


def _goes_on_from(section: Section, page: Page) -> Markup:
    after = section.after
    if after is None:
        return NOTHING
    words = words_of([tree.plain_text(after)]) or after.role
    return element("span", "", " after ", element("a", {"href": f"#{page.anchor(after.id)}"}, words))


def _event(event: Event) -> list[Markup]:
    told = [element("code", "", event.name), clock(event.at)]
    return [*told, value(event.data)] if event.data else told
