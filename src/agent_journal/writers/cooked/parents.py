"""The parent of each request: the closest earlier request of the same model.

The distance of two requests is twice the Levenshtein distance between the messages of the earlier one with
its response and those of the later one, plus the number of tools that only one of them has. The closest
request is the parent, or the latest of several equally close ones, unless its distance exceeds the number of
messages of the later request. (The format states half of the distance, negated, as a score.)

The search is exact. Comparing all pairs of 10,000 long requests would take hours, so most are ruled out by
lower bounds: each message of the later request that the earlier one lacks costs an edit, and so does each
message by which their lengths differ.
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

# Messages encoded as characters, because strings are compared fastest, unless there are too many messages.
EncodedMessages: TypeAlias = str | tuple[int, ...]
_MAX_CODE_POINTS = 0x110000
# A message that more members share than this is not rare.
_MAX_LISTED_MEMBERS = 32


class RequestNode(NamedTuple):
    """The attributes of a request that determine its parent."""

    model: str
    request: Sequence[int]
    response: Sequence[int]
    tools: frozenset[int]


def parents_of(nodes: Iterable[RequestNode], messages: int) -> Iterator[int | None]:
    """Yield the position of each request's parent; the requests are in order of time.

    `messages` is the number of distinct messages, which are numbered from 0.
    """
    families: dict[str, _Family] = {}
    for position, node in enumerate(nodes):
        family = families.get(node.model)
        if family is None:
            family = families[node.model] = _Family(as_text=messages <= _MAX_CODE_POINTS)
        yield family.closest(node)
        family.add(position, node)


class _Family:
    """The earlier requests of one model, its members, numbered from the oldest to the latest."""

    def __init__(self, *, as_text: bool) -> None:
        self.positions: list[int] = []
        self.encoded: list[EncodedMessages] = []
        self.tools: list[frozenset[int]] = []
        self.with_message = _MembersByKey()
        self.with_tool = _MembersByKey()
        # Bit sets of members by their number of messages and of tools.
        self.by_size: dict[int, dict[int, int]] = {}
        self._as_text = as_text

    def encode(self, messages: Sequence[int]) -> EncodedMessages:
        return "".join(map(chr, messages)) if self._as_text else tuple(messages)

    def add(self, position: int, node: RequestNode) -> None:
        number = len(self.positions)
        messages = [*node.request, *node.response]
        self.positions.append(position)
        self.encoded.append(self.encode(messages))
        self.tools.append(node.tools)
        self.with_message.add(number, set(messages))
        self.with_tool.add(number, node.tools)
        by_tool_count = self.by_size.setdefault(len(messages), {})
        by_tool_count[len(node.tools)] = by_tool_count.get(len(node.tools), 0) | 1 << number

    def closest(self, node: RequestNode) -> int | None:
        search = _Search(self, node)
        if not search.check_sharing_rare():
            search.check_others()
        return None if search.best < 0 else self.positions[search.best]


class _MembersByKey:
    """The members that have a message or tool: a list of numbers if they are few, else a bit set."""

    def __init__(self) -> None:
        self.listed: dict[int, list[int]] = {}
        self.bit_sets: dict[int, int] = {}

    def add(self, number: int, keys: Iterable[int]) -> None:
        bit = 1 << number
        for key in keys:
            if key in self.bit_sets:
                self.bit_sets[key] |= bit
            else:
                self._add_listed(number, key)

    def _add_listed(self, number: int, key: int) -> None:
        members = self.listed.setdefault(key, [])
        members.append(number)
        if len(members) > _MAX_LISTED_MEMBERS:
            self.bit_sets[key] = self.bits(key)
            del self.listed[key]

    def bits(self, key: int) -> int:
        if key in self.bit_sets:
            return self.bit_sets[key]
        return reduce(or_, [1 << member for member in self.listed.get(key, ())], 0)


class _Search:
    """The search for the closest member, with the best one so far and its distance.

    `lacking` is the number of messages of the request that every unchecked member lacks.
    """

    def __init__(self, family: _Family, node: RequestNode) -> None:
        self.family = family
        self.encoded = family.encode(node.request)
        self.length = len(node.request)
        self.messages = Counter(node.request)
        self.tools = node.tools
        self.distance = self.length
        self.best = -1
        self.lacking = 0

    def check_sharing_rare(self) -> bool:
        """Check members that share a rare message, rarest first; returns whether no other can be closer."""
        listed, bit_sets = self.family.with_message.listed, self.family.with_message.bit_sets
        latest = len(self.family.positions) - 1
        rare = [message for message in self.messages if message not in bit_sets]
        rare.sort(key=lambda message: len(listed.get(message, ())))
        checked: set[int] = set()
        for message in rare:
            for member in reversed(listed.get(message, ())):
                if member not in checked:
                    checked.add(member)
                    self._check(member)
            self.lacking += self.messages[message]
            if not self._may_win(2 * self.lacking, latest):
                return True
        return False

    def check_others(self) -> None:
        """Check members that share only common messages, the potentially closest first."""
        groups = sorted(self._groups(), key=lambda group: (group.distance, -group.latest))
        if groups:
            lacking = _Lacking(self.family, self.messages, self.tools)
            for group in groups:
                if self._may_win(group.distance, group.latest):
                    self._check_group(group, lacking)

    def _groups(self) -> Iterator[_Group]:
        """Groups of members that may be close enough, judging by their size."""
        for length, by_tool_count in self.family.by_size.items():
            edits = max(self.lacking + max(0, length - self.length), self.length - length)
            for tools, members in by_tool_count.items():
                group = _Group(length, tools, members, 2 * edits + abs(tools - len(self.tools)))
                if self._may_win(group.distance, group.latest):
                    yield group

    def _may_win(self, distance: int, latest: int) -> bool:
        """Whether a member up to `latest` would win at that distance."""
        return distance < self.distance or (distance == self.distance and latest > self.best)

    def _check_group(self, group: _Group, lacking: _Lacking) -> None:
        """Check the latest member that may be close enough, then all others at once."""
        members = lacking.at_most(self._max_lacking(group), group.members)
        if members:
            self._check(members.bit_length() - 1)
            members ^= 1 << members.bit_length() - 1
            members = lacking.at_most(self._max_lacking(group), members)
        if members:
            self._check_all(_set_bits(members))

    def _max_lacking(self, group: _Group) -> int:
        """How many common messages and tools a member may lack and still win.

        A tool that it lacks counts twice: as missing, and as an additional one that only it has, since the
        number of its tools is fixed.
        """
        spare = self.distance - (group.latest <= self.best) - (group.tools - len(self.tools))
        return spare // 2 - self.lacking - max(0, group.length - self.length)

    def _check(self, member: int) -> None:
        penalty = len(self.family.tools[member] ^ self.tools)
        limit = self._max_edits(penalty, member)
        if limit < abs(len(self.family.encoded[member]) - self.length):
            return
        edits = Levenshtein.distance(self.family.encoded[member], self.encoded, score_cutoff=limit)
        if edits <= limit:
            self.distance, self.best = 2 * edits + penalty, member

    def _max_edits(self, penalty: int, member: int) -> int:
        """The maximum number of edits with which a member wins, given the penalty for its tools."""
        return (self.distance - penalty - (member <= self.best)) // 2

    def _check_all(self, members: list[int]) -> None:
        """Check many members, the latest first."""
        by_tools: dict[frozenset[int], list[int]] = {}
        for member in members:
            by_tools.setdefault(self.family.tools[member], []).append(member)
        for tools, group in by_tools.items():
            self._check_same_tools(group, len(tools ^ self.tools))

    def _check_same_tools(self, members: list[int], penalty: int) -> None:
        limit = self._max_edits(penalty, members[0])
        if limit < 0:
            return
        encoded = [self.family.encoded[member] for member in members]
        # Of several equally close ones this returns the first, which is the latest.
        match = extractOne(self.encoded, encoded, scorer=Levenshtein.distance, score_cutoff=limit)
        if match is not None:
            _, edits, position = match
            distance = 2 * int(edits) + penalty
            if self._may_win(distance, members[position]):
                self.distance, self.best = distance, members[position]


class _Group(NamedTuple):
    """Members with the same numbers of messages and tools, and a lower bound of their distance."""

    length: int
    tools: int
    members: int
    distance: int

    @property
    def latest(self) -> int:
        return self.members.bit_length() - 1


class _Lacking:
    """How many of the common messages and tools each member lacks, counted for all members at once.

    The counts are bit-sliced: bit n of the i-th integer is the i-th binary digit of the count of member n.
    """

    def __init__(self, family: _Family, messages: Mapping[int, int], tools: Iterable[int]) -> None:
        self._everyone = (1 << len(family.positions)) - 1
        self._digits: list[int] = []
        self._within: dict[int, int] = {}
        for message, count in messages.items():
            if message in family.with_message.bit_sets:
                self._count(self._everyone ^ family.with_message.bit_sets[message], count)
        for tool in tools:
            self._count(self._everyone ^ family.with_tool.bits(tool), 1)

    def _count(self, members: int, count: int) -> None:
        for digit in range(count.bit_length()):
            if count >> digit & 1:
                self._add(members, digit)

    def _add(self, members: int, digit: int) -> None:
        """Add one at a binary digit for all `members`, with carry."""
        while members:
            while len(self._digits) <= digit:
                self._digits.append(0)
            carried = self._digits[digit] & members
            self._digits[digit] ^= members
            members = carried
            digit += 1

    def at_most(self, limit: int, members: int) -> int:
        """The members that lack at most `limit`."""
        if limit < 0:
            return 0
        if limit not in self._within:
            self._within[limit] = self._everyone_within(limit)
        return members & self._within[limit]

    def _everyone_within(self, limit: int) -> int:
        if limit >= 1 << len(self._digits):
            return self._everyone
        less, equal = 0, self._everyone
        for digit in reversed(range(len(self._digits))):
            digit_bits = self._digits[digit]
            if limit >> digit & 1:
                less |= equal & ~digit_bits
                equal &= digit_bits
            else:
                equal &= ~digit_bits
        return less | equal


def _set_bits(members: int) -> list[int]:
    """The positions of the set bits, highest first."""
    digits = f"{members:b}"
    positions: list[int] = []
    position = digits.find("1")
    while position >= 0:
        positions.append(len(digits) - 1 - position)
        position = digits.find("1", position + 1)
    return positions
