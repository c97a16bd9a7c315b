"""Which earlier request each request goes on from: the closest one of the same model.

How far two requests are apart is twice the Levenshtein distance between the earlier one with its response
and the later one, plus the number of tools that only one of them has. The closest is the parent, among
equally close ones the latest, unless it is further away than the later request has messages. (The format
states half of that, negated, as a score.)

The search is exact. Comparing all pairs of 10,000 long requests would take hours, so most are ruled out by
lower bounds: each message of the later request that the earlier one lacks costs an edit, and so does each
message that it has more or less.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extractOne

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Messages as characters, because strings are compared fastest; there are only so many characters.
Spelled: TypeAlias = str | tuple[int, ...]
_CHARACTERS = 0x110000
# What more members have than this says little about any of them.
_FEW = 32


class Exchange(NamedTuple):
    """A request as far as its place among others goes."""

    model: str
    request: Sequence[int]
    response: Sequence[int]
    tools: frozenset[int]


def parents_of(exchanges: Iterable[Exchange], messages: int) -> Iterator[int | None]:
    """For each exchange, in their order in time, the position of its parent.

    `messages` is how many different ones there are; they are numbered from 0.
    """
    families: dict[str, _Family] = {}
    for place, exchange in enumerate(exchanges):
        family = families.get(exchange.model)
        if family is None:
            family = families[exchange.model] = _Family(as_text=messages <= _CHARACTERS)
        yield family.closest(exchange)
        family.add(place, exchange)


class _Family:
    """The earlier requests of one model: its members, numbered from the oldest to the latest."""

    def __init__(self, *, as_text: bool) -> None:
        self.places: list[int] = []
        self.spelled: list[Spelled] = []
        self.tools: list[frozenset[int]] = []
        self.with_message = _Holders()
        self.with_tool = _Holders()
        # Members by how many messages they sent and got, and by how many tools they had: a bit for each.
        self.by_size: dict[int, dict[int, int]] = {}
        self._as_text = as_text

    def spell(self, messages: Sequence[int]) -> Spelled:
        return "".join(map(chr, messages)) if self._as_text else tuple(messages)

    def add(self, place: int, exchange: Exchange) -> None:
        number = len(self.places)
        messages = [*exchange.request, *exchange.response]
        self.places.append(place)
        self.spelled.append(self.spell(messages))
        self.tools.append(exchange.tools)
        self.with_message.add(number, set(messages))
        self.with_tool.add(number, exchange.tools)
        alike = self.by_size.setdefault(len(messages), {})
        alike[len(exchange.tools)] = alike.get(len(exchange.tools), 0) | 1 << number

    def closest(self, exchange: Exchange) -> int | None:
        search = _Search(self, exchange)
        if not search.among_those_with_rare_messages():
            search.among_the_others()
        return None if search.best < 0 else self.places[search.best]


class _Holders:
    """Which members have a thing: the numbers of a few, or a bit for each of many."""

    def __init__(self) -> None:
        self.few: dict[int, list[int]] = {}
        self.many: dict[int, int] = {}

    def add(self, number: int, things: Iterable[int]) -> None:
        bit = 1 << number
        for thing in things:
            if thing in self.many:
                self.many[thing] |= bit
            else:
                self._add_to_few(number, thing)

    def _add_to_few(self, number: int, thing: int) -> None:
        members = self.few.setdefault(thing, [])
        members.append(number)
        if len(members) > _FEW:
            self.many[thing] = self.bits(thing)
            del self.few[thing]

    def bits(self, thing: int) -> int:
        if thing in self.many:
            return self.many[thing]
        return reduce(or_, [1 << member for member in self.few.get(thing, ())], 0)


class _Search:
    """The closest member so far, and how far it is away.

    `lacking` is how many messages of the request every member lacks that was not looked at yet.
    """

    def __init__(self, family: _Family, exchange: Exchange) -> None:
        self.family = family
        self.spelled = family.spell(exchange.request)
        self.length = len(exchange.request)
        self.messages = Counter(exchange.request)
        self.tools = exchange.tools
        self.distance = self.length
        self.best = -1
        self.lacking = 0

    def among_those_with_rare_messages(self) -> bool:
        """Look at members that share a rare message, rarest first; whether no other can be closer."""
        few, many = self.family.with_message.few, self.family.with_message.many
        latest = len(self.family.places) - 1
        rare = [message for message in self.messages if message not in many]
        rare.sort(key=lambda message: len(few.get(message, ())))
        seen: set[int] = set()
        for message in rare:
            for member in reversed(few.get(message, ())):
                if member not in seen:
                    seen.add(member)
                    self._look_at(member)
            self.lacking += self.messages[message]
            if not self._may_win(2 * self.lacking, latest):
                return True
        return False

    def among_the_others(self) -> None:
        """Look at members that share only what many share, those first that may be closest."""
        groups = sorted(self._groups(), key=lambda group: (group.distance, -group.latest))
        if groups:
            lacking = _Lacking(self.family, self.messages, self.tools)
            for group in groups:
                if self._may_win(group.distance, group.latest):
                    self._look_into(group, lacking)

    def _groups(self) -> Iterator[_Group]:
        """Groups of members that may be close enough, as far as their size tells."""
        for length, alike in self.family.by_size.items():
            edits = max(self.lacking + max(0, length - self.length), self.length - length)
            for tools, members in alike.items():
                group = _Group(length, tools, members, 2 * edits + abs(tools - len(self.tools)))
                if self._may_win(group.distance, group.latest):
                    yield group

    def _may_win(self, distance: int, latest: int) -> bool:
        """Whether members up to the latest one would be taken at that distance."""
        return distance < self.distance or (distance == self.distance and latest > self.best)

    def _look_into(self, group: _Group, lacking: _Lacking) -> None:
        """Look at the latest member that may be close enough, then at all the rest in one go."""
        members = lacking.at_most(self._may_lack(group), group.members)
        if members:
            self._look_at(members.bit_length() - 1)
            members ^= 1 << members.bit_length() - 1
            members = lacking.at_most(self._may_lack(group), members)
        if members:
            self._look_at_all(_numbers(members))

    def _may_lack(self, group: _Group) -> int:
        """How many common messages and tools a member may lack and still win.

        A tool that it lacks counts twice: once as lacking, and once as one more that only it has, since the
        number of tools is given.
        """
        spare = self.distance - (group.latest <= self.best) - (group.tools - len(self.tools))
        return spare // 2 - self.lacking - max(0, group.length - self.length)

    def _look_at(self, member: int) -> None:
        penalty = len(self.family.tools[member] ^ self.tools)
        limit = self._edits_to_win(penalty, member)
        if limit < abs(len(self.family.spelled[member]) - self.length):
            return
        edits = Levenshtein.distance(self.family.spelled[member], self.spelled, score_cutoff=limit)
        if edits <= limit:
            self.distance, self.best = 2 * edits + penalty, member

    def _edits_to_win(self, penalty: int, member: int) -> int:
        """The most edits with which a member wins that has a penalty for its tools."""
        return (self.distance - penalty - (member <= self.best)) // 2

    def _look_at_all(self, members: list[int]) -> None:
        """The same for many members, the latest first."""
        by_tools: dict[frozenset[int], list[int]] = {}
        for member in members:
            by_tools.setdefault(self.family.tools[member], []).append(member)
        for tools, alike in by_tools.items():
            self._look_at_alike(alike, len(tools ^ self.tools))

    def _look_at_alike(self, members: list[int], penalty: int) -> None:
        limit = self._edits_to_win(penalty, members[0])
        if limit < 0:
            return
        spelled = [self.family.spelled[member] for member in members]
        # Of equally close ones this finds the first, which is the latest.
        found = extractOne(self.spelled, spelled, scorer=Levenshtein.distance, score_cutoff=limit)
        if found is not None:
            _, edits, position = found
            distance = 2 * int(edits) + penalty
            if self._may_win(distance, members[position]):
                self.distance, self.best = distance, members[position]


class _Group(NamedTuple):
    """Members of one length with one number of tools, and what each of them is at least away."""

    length: int
    tools: int
    members: int
    distance: int

    @property
    def latest(self) -> int:
        return self.members.bit_length() - 1


class _Lacking:
    """How many of the common messages and of the tools each member lacks, counted for all members at once.

    The counts stand in columns: bit n of the i-th integer is the i-th binary digit of what member n lacks.
    """

    def __init__(self, family: _Family, messages: Mapping[int, int], tools: Iterable[int]) -> None:
        self._everyone = (1 << len(family.places)) - 1
        self._digits: list[int] = []
        self._within: dict[int, int] = {}
        for message, times in messages.items():
            if message in family.with_message.many:
                self._count(self._everyone ^ family.with_message.many[message], times)
        for tool in tools:
            self._count(self._everyone ^ family.with_tool.bits(tool), 1)

    def _count(self, members: int, times: int) -> None:
        for place in range(times.bit_length()):
            if times >> place & 1:
                self._add(members, place)

    def _add(self, members: int, place: int) -> None:
        """Add one at a binary place, and carry."""
        while members:
            while len(self._digits) <= place:
                self._digits.append(0)
            carried = self._digits[place] & members
            self._digits[place] ^= members
            members = carried
            place += 1

    def at_most(self, limit: int, members: int) -> int:
        """Those of the members that lack at most so many."""
        if limit < 0:
            return 0
        if limit not in self._within:
            self._within[limit] = self._everyone_within(limit)
        return members & self._within[limit]

    def _everyone_within(self, limit: int) -> int:
        if limit >= 1 << len(self._digits):
            return self._everyone
        less, equal = 0, self._everyone
        for place in reversed(range(len(self._digits))):
            digit = self._digits[place]
            if limit >> place & 1:
                less |= equal & ~digit
                equal &= digit
            else:
                equal &= ~digit
        return less | equal


def _numbers(members: int) -> list[int]:
    """The numbers of the bits that are set, highest first."""
    digits = f"{members:b}"
    found: list[int] = []
    position = digits.find("1")
    while position >= 0:
        found.append(len(digits) - 1 - position)
        position = digits.find("1", position + 1)
    return found
