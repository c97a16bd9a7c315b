"""Joins the calls and results of one response with parallel tool calls to one chain.

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


def with_parent(entry: Entry, parent: str | None) -> Entry:
    """Move an entry below another one, or make it a root; the source's parent id stays in its data."""
    original_parent = {"parentUuid": entry.parent_id}
    if isinstance(entry, Message):
        return replace(entry, parent_id=parent, extra=original_parent | entry.extra)
    return replace(entry, parent_id=parent, data=original_parent | entry.data)


def is_sidechain(entry: Entry) -> bool:
    """Whether an entry belongs to a subagent."""
    return entry.sidechain if isinstance(entry, Message) else entry.data.get("isSidechain") is True


def join_responses(entries: Sequence[Entry]) -> list[Entry]:
    """Put the entries of each response on one chain; what a person went back to stays a branch."""
    parents = [entry.parent_id for entry in entries if entry.parent_id is not None]
    if len(set(parents)) == len(parents):
        return list(entries)
    return _ChainJoiner(entries).entries


class _Response:
    """One response: its messages, the results of its calls, and what the app attached to them."""

    def __init__(self, results: list[Message], *, is_sidechain: bool) -> None:
        self.is_sidechain = is_sidechain
        self.is_continued = False
        self.messages: set[str] = set()
        self._results = results
        self._member_count = 0
        # By entry id, how many members are at or above it.
        self._members_up_to: dict[str, int] = {}
        self._tail = ""

    def pending(self) -> list[Message]:
        """List the results that come later in the file, although they belong to this chain."""
        return [
            result
            for result in self._results
            if result.id not in self._members_up_to and result.parent_id in self._members_up_to
        ]

    def follows_all(self, entry: Entry) -> bool:
        """Whether an entry is already below all members so far."""
        return self._members_up_to[entry.parent_id or ""] == self._member_count

    def add(self, entry: Entry, *, is_member: bool) -> Entry:
        """Put an entry at the end of the chain."""
        placed = self.follow(entry) if self._members_up_to else entry
        self._member_count += is_member
        self._members_up_to[entry.id] = self._member_count
        self._tail = entry.id
        return placed

    def follow(self, entry: Entry) -> Entry:
        """Move an entry that follows the response below all of it."""
        return entry if self.follows_all(entry) else with_parent(entry, self._tail)

    def attach(self, entry: Event) -> None:
        """Leave an event where it is; progress does not extend the chain."""
        if self.follows_all(entry) and entry.name != "progress":
            self._tail = entry.id
        self._members_up_to[entry.id] = self._members_up_to[entry.parent_id or ""]

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._members_up_to


class _ChainJoiner:
    """Goes through the entries once and links those of each response."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries: list[Entry] = []
        self._response_of: dict[str, str] = {}
        self._results: dict[str, list[Message]] = {}
        self._find_members(entries)
        self._responses: dict[str, _Response] = {}
        # By entry id, the response that the entry belongs to or is attached to.
        self._nearest_response: dict[str, _Response] = {}
        placed: set[str] = set()
        for entry in entries:
            if entry.id not in placed:
                placed.update(self._place(entry))

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
        """Put an entry into the timeline, after the results it must follow; return the ids of all of them."""
        response_id = self._response_of.get(entry.id)
        response = None if response_id is None else self._responses.get(response_id)
        if response_id is not None and response is not None:
            if entry.parent_id not in response:
                return self._put(entry)
            return self._add(entry, response, is_member=True)
        nearest = self._nearest_response.get(entry.parent_id or "")
        if nearest is None or is_sidechain(entry) != nearest.is_sidechain:
            placed = self._put(entry)
        elif isinstance(entry, Event):
            nearest.attach(entry)
            self._nearest_response[entry.id] = nearest
            placed = self._put(entry)
        elif _continues_conversation(entry):
            placed = self._continue(entry, nearest)
        else:
            placed = self._add(entry, nearest, is_member=False)
        if response_id is not None and isinstance(entry, Message) and entry.role == "assistant":
            started = self._responses[response_id] = _Response(
                self._results.get(response_id, []), is_sidechain=is_sidechain(entry)
            )
            started.add(entry, is_member=True)
            started.messages.add(entry.id)
            self._nearest_response[entry.id] = started
        return placed

    def _put(self, entry: Entry) -> list[str]:
        self.entries.append(entry)
        return [entry.id]

    def _add(self, entry: Entry, response: _Response, *, is_member: bool) -> list[str]:
        self._nearest_response[entry.id] = response
        if is_member and isinstance(entry, Message) and entry.role == "assistant":
            response.messages.add(entry.id)
        return self._put(response.add(entry, is_member=is_member))

    def _continue(self, entry: Message, response: _Response) -> list[str]:
        """Put what follows a response below all of it, unless a person went back to a message inside it."""
        is_inside = response.is_continued or entry.parent_id in response.messages
        if entry.role == "user" and is_inside and not response.follows_all(entry):
            return self._put(entry)
        response.is_continued = True
        late = [id_ for result in response.pending() for id_ in self._add(result, response, is_member=True)]
        return [*late, *self._put(response.follow(entry))]


def _continues_conversation(message: Message) -> bool:
    """Whether a message comes from one who has seen the results: a model, or the person."""
    if message.role == "assistant":
        return True
    return message.role == "user" and not message.hidden and "attachment" not in message.extra
