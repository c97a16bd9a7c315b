"""Parallel tool calls: the calls and results of one response on one chain.

The app writes results as tools finish, each below its own call, and attaches the next answer to the result
that was written last. By parents alone, the other calls and results would be branches of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from agent_journal.model import Event, Message, tree

if TYPE_CHECKING:
    from collections.abc import Sequence

Entry: TypeAlias = Message | Event


def under(entry: Entry, parent: str | None) -> Entry:
    """The entry below another one, or as a root; what the source called its parent stays beside it."""
    native = {"parentUuid": entry.parent_id}
    if isinstance(entry, Message):
        return replace(entry, parent_id=parent, extra=native | entry.extra)
    return replace(entry, parent_id=parent, data=native | entry.data)


def is_aside(entry: Entry) -> bool:
    """Whether a line is a sub-agent's."""
    return entry.sidechain if isinstance(entry, Message) else entry.data.get("isSidechain") is True


def joined(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, those of each response on one chain; what a person went back to stays a branch."""
    parents = [entry.parent_id for entry in entries if entry.parent_id is not None]
    if len(set(parents)) == len(parents):
        return list(entries)
    return _Chains(entries).joined


class _Response:
    """One response: its messages, the results of its calls, and what the app attached to them."""

    def __init__(self, results: list[Message], *, is_aside: bool) -> None:
        self.is_aside = is_aside
        self.is_continued = False
        self.messages: set[str] = set()
        self._results = results
        self._members = 0
        # By entry, how many members are at or above it.
        self._above: dict[str, int] = {}
        self._tail = ""

    def pending(self) -> list[Message]:
        """The results that come later in the file, although they belong to this chain."""
        return [
            result
            for result in self._results
            if result.id not in self._above and result.parent_id in self._above
        ]

    def follows_all(self, entry: Entry) -> bool:
        """Whether an entry already is below all members so far."""
        return self._above[entry.parent_id or ""] == self._members

    def add(self, entry: Entry, *, is_member: bool) -> Entry:
        """Put an entry at the end of the chain."""
        placed = self.follow(entry) if self._above else entry
        self._members += is_member
        self._above[entry.id] = self._members
        self._tail = entry.id
        return placed

    def follow(self, entry: Entry) -> Entry:
        """What goes on after the response, below all of it."""
        return entry if self.follows_all(entry) else under(entry, self._tail)

    def attach(self, entry: Event) -> None:
        """Leave an event where it is; progress does not link the chain."""
        if self.follows_all(entry) and entry.name != "progress":
            self._tail = entry.id
        self._above[entry.id] = self._above[entry.parent_id or ""]

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._above


class _Chains:
    """Goes through the entries once and attaches those of a response to each other."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.joined: list[Entry] = []
        self._response_of: dict[str, str] = {}
        self._results: dict[str, list[Message]] = {}
        self._find_members(entries)
        self._responses: dict[str, _Response] = {}
        # By entry, the response it belongs to or is attached to.
        self._around: dict[str, _Response] = {}
        done: set[str] = set()
        for entry in entries:
            if entry.id not in done:
                done.update(self._place(entry))

    def _find_members(self, entries: Sequence[Entry]) -> None:
        """Find the messages and results of each response; of several results of a call, the last."""
        calls: dict[str, str] = {}
        results: dict[str, Message] = {}
        for entry in entries:
            if not isinstance(entry, Message):
                continue
            for call in tree.calls_in(entry):
                if call.call_id is not None:
                    calls[call.call_id] = entry.response_id or entry.id
            for result in tree.results_in(entry):
                if result.call_id is not None:
                    results[result.call_id] = entry
        with_calls = set(calls.values())
        for entry in entries:
            if isinstance(entry, Message) and entry.role == "assistant":
                response = entry.response_id or entry.id
                if response in with_calls:
                    self._response_of[entry.id] = response
        for call_id, message in results.items():
            if call_id in calls and message.id not in self._response_of:
                self._response_of[message.id] = calls[call_id]
                self._results.setdefault(calls[call_id], []).append(message)

    def _place(self, entry: Entry) -> list[str]:
        """Put an entry into the timeline, after results it must follow; the ids of all that was put there."""
        name = self._response_of.get(entry.id)
        response = None if name is None else self._responses.get(name)
        if name is not None and response is not None:
            if entry.parent_id not in response:
                return self._put(entry)
            return self._add(entry, response, is_member=True)
        before = self._around.get(entry.parent_id or "")
        if before is None or is_aside(entry) != before.is_aside:
            placed = self._put(entry)
        elif isinstance(entry, Event):
            before.attach(entry)
            self._around[entry.id] = before
            placed = self._put(entry)
        elif _goes_on(entry):
            placed = self._continue(entry, before)
        else:
            placed = self._add(entry, before, is_member=False)
        if name is not None and isinstance(entry, Message) and entry.role == "assistant":
            begun = self._responses[name] = _Response(self._results.get(name, []), is_aside=is_aside(entry))
            begun.add(entry, is_member=True)
            begun.messages.add(entry.id)
            self._around[entry.id] = begun
        return placed

    def _put(self, entry: Entry) -> list[str]:
        self.joined.append(entry)
        return [entry.id]

    def _add(self, entry: Entry, response: _Response, *, is_member: bool) -> list[str]:
        self._around[entry.id] = response
        if is_member and isinstance(entry, Message) and entry.role == "assistant":
            response.messages.add(entry.id)
        return self._put(response.add(entry, is_member=is_member))

    def _continue(self, entry: Message, response: _Response) -> list[str]:
        """Put what follows a response below all of it, unless a person went back into the middle of it."""
        is_inside = response.is_continued or entry.parent_id in response.messages
        if entry.role == "user" and is_inside and not response.follows_all(entry):
            return self._put(entry)
        response.is_continued = True
        late = [id_ for result in response.pending() for id_ in self._add(result, response, is_member=True)]
        return [*late, *self._put(response.follow(entry))]


def _goes_on(message: Message) -> bool:
    """Whether somebody speaks who has seen the results: a model, or the person."""
    if message.role == "assistant":
        return True
    return message.role == "user" and not message.hidden and "attachment" not in message.extra
