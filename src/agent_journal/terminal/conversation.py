"""A conversation for people: who said what and when, with all that is not talk folded away."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec.structs import replace

from agent_journal.conversion import transforms
from agent_journal.model import Event, Message, Text, ToolCall, ToolResult, timestamps, tree
from agent_journal.model.branches import (
    branch_by_branch,
    leaf_after,
    message_called,
    others,
    said_after,
    speaks,
)
from agent_journal.terminal.header import header
from agent_journal.terminal.local_times import clock, day
from agent_journal.terminal.measure import cut
from agent_journal.terminal.parts import Folding, lines_of
from agent_journal.terminal.view import OURS, View, is_text
from agent_journal.text.describe import compact, failures, unsaid
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.terminal import Sink
    from agent_journal.terminal.header import Child
    from agent_journal.terminal.view import Line

# So many bytes of a conversation are read at once where all of it is too much.
_PIECE_BYTES = 4 << 20
# Somebody who goes on speaking is named again after so long.
_PAUSE_MS = 5 * 60 * 1000
_BRANCHES_NAMED = 3


class Load(Protocol):
    """Whoever reads the entries of a conversation of which there is only an outline."""

    def entries(self, outlined: Sequence[Entry], /) -> Sequence[Entry]:
        """Entries as they are."""

    def size(self, outlined: Entry, /) -> int:
        """How many bytes an entry is."""


def show_conversation(
    conversation: Conversation,
    sink: Sink,
    view: View,
    *,
    source_title: str | None = None,
    children: Sequence[Child] = (),
    load: Load | None = None,
) -> None:
    """Print a conversation as it is read, line by line.

    `children` are conversations that came out of this one: their ids and titles, and what they are to it.
    With `load` the conversation is an outline, and what is shown of it is read when it is its turn.
    """
    for line in lines(
        conversation, view, sink.width, source_title=source_title, children=children, load=load
    ):
        sink.write(*line, "\n")


def lines(
    conversation: Conversation,
    view: View,
    columns: int | None = None,
    *,
    source_title: str | None = None,
    children: Sequence[Child] = (),
    load: Load | None = None,
) -> Iterator[Line]:
    """The lines of a conversation, for a terminal of so many columns or for none."""
    message_id = message_called(conversation, view.message) if view.message is not None else None
    branch = transforms.branch(conversation, _wanted(conversation, view, message_id))
    yield from header(conversation, branch, source_title, children)
    if load is None:
        yield from _Reading(conversation, branch, view, columns, message_id).lines()
    else:
        yield from _Piecemeal(conversation, branch, view, columns, message_id, load=load).lines()


def _wanted(conversation: Conversation, view: View, message_id: str | None) -> str:
    if message_id is not None:
        return leaf_after(conversation, message_id)
    return view.branch if view.branch in {"head", "all"} else message_called(conversation, view.branch)


class _Head(NamedTuple):
    """Who speaks, as far as a change is told."""

    role: Role
    model: str | None
    is_wanted: bool
    is_hidden: bool
    is_aside: bool


def _answer_of(entry: Entry) -> str:
    """What it is told as a part of: messages of one response are one."""
    return (entry.response_id if isinstance(entry, Message) else None) or entry.id


def _place_of(message: Message | None) -> str:
    if message is None:
        return "another beginning"
    words = cut(one_line(" ".join(tree.plain_text(message)[:400].split())), 40)
    told = f" “{words}”" if words else ""
    return f"another branch, after {message.role} {clock(message.at)}{told}"


class _Piecemeal:
    """A conversation of which no more is read than is shown, a piece at a time."""

    def __init__(
        self,
        conversation: Conversation,
        branch: Conversation,
        view: View,
        columns: int | None,
        message_id: str | None,
        *,
        load: Load,
    ) -> None:
        self._given = (view, columns, message_id)
        self._conversation = conversation
        self._branch = branch
        self._view = view
        self._load = load
        self._outlined = _Reading(conversation, branch, *self._given)

    def lines(self) -> Iterator[Line]:
        """All that is shown."""
        timeline = self._outlined.timeline
        if self._given[2] is not None or self._view.last is not None:
            yield from self._around(self._outlined.window())
            return
        first = 0
        while first < len(timeline):
            last = first + 1
            size = self._load.size(timeline[first])
            while last < len(timeline) and size < _PIECE_BYTES:
                size += self._load.size(timeline[last])
                last += 1
            yield from self._read(timeline[first:last]).piece(first, last)
            first = last

    def _around(self, window: tuple[int, int]) -> Iterator[Line]:
        """What is asked for; what an outline takes for a message may be hidden, so more may be needed."""
        timeline = self._outlined.timeline
        first, last = window
        while True:
            reading = self._read(timeline[first:last])
            begin, end = reading.window()
            if first <= begin and end <= last:
                yield from reading.lines()
                return
            first, last = min(first, begin), max(last, end)

    def _read(self, entries: Sequence[Entry]) -> _Reading:
        """The conversation with some of its entries as they are."""
        read = dict(zip(map(id, entries), self._load.entries(entries), strict=True))
        whole, branch = (
            replace(each, timeline=[read.get(id(entry), entry) for entry in each.timeline])
            for each in (self._conversation, self._branch)
        )
        return _Reading(whole, branch, *self._given)


class _Reading:
    """The place in a timeline that is being shown, and what was shown last."""

    def __init__(
        self,
        conversation: Conversation,
        branch: Conversation,
        view: View,
        columns: int | None,
        message_id: str | None,
    ) -> None:
        self._view = view
        self._message_id = message_id
        self._is_whole = view.branch == "all" and message_id is None and conversation.shape == "tree"
        self._timeline = branch_by_branch(branch.timeline) if self._is_whole else branch.timeline
        self._results = tree.results_by_call(conversation.timeline)
        self._failures = failures(conversation)
        named = {*self._failures, message_id or ""}
        self._unsaid = set() if view.everything else unsaid(self._timeline, named)
        self._folding = Folding(
            thinking=view.thinking, tools=view.tools, everything=view.everything, width=columns
        )
        self._forks = {} if self._is_whole else others(conversation, branch.timeline)
        self._after = said_after(self._timeline) if self._is_whole else {}
        self._followed: set[str | None] = set()
        said = [*tree.messages(branch)]
        # A subagent's own history is all aside; there is nothing to fold it under.
        self._all_aside = all(message.sidechain for message in said)
        self._has_models = len({message.model for message in said if message.model}) > 1
        self._called: set[str] = set()
        self._folded: dict[str, int] = {}
        self._head: _Head | None = None
        self._head_ms = 0
        self._day = day(conversation.started_at or tree.span(conversation.timeline)[0])
        self._after_text = self._begins_text = False

    def lines(self) -> Iterator[Line]:
        """All that is shown, and how much stands before and behind it."""
        first, last = self.window()
        before, after = self._timeline[:first], self._timeline[last:]
        self._called.update(call.call_id for entry in before for call in tree.calls_in(entry) if call.call_id)
        if before:
            yield from self._left_out(before, "before")
        yield from self.piece(first, last)
        yield from self._left_out(after, "after")

    def piece(self, first: int, last: int) -> Iterator[Line]:
        """A piece of the timeline."""
        if not first:
            yield from self._fork(None)
        for place, entry in enumerate(self._timeline[first:last], first):
            if place not in self._unsaid:
                yield from self._entry(entry)
            yield from self._failed(entry.id)
            yield from self._fork(entry.id)
        yield from self._unfold()

    @property
    def timeline(self) -> Sequence[Entry]:
        """The entries in the order in which they are shown."""
        return self._timeline

    def window(self) -> tuple[int, int]:
        """Where the part of the timeline begins and ends that is shown."""
        if self._message_id is None:
            return self._last_ones(), len(self._timeline)
        place = next(i for i, entry in enumerate(self._timeline) if entry.id == self._message_id)
        wanted = _answer_of(self._timeline[place])
        told = [
            (i, _answer_of(entry))
            for i, entry in enumerate(self._timeline)
            if self._is_told(entry) or i == place
        ]
        around = max(self._view.context, 0)
        answers = [*dict.fromkeys(answer for _, answer in told)]
        middle = answers.index(wanted)
        near = {*answers[max(middle - around, 0) : middle + around + 1]}
        shown = [i for i, answer in told if answer in near]
        # What tools answered to the last one belongs to it.
        following = (i for i, _ in told if i > shown[-1])
        return shown[0], next(following, len(self._timeline))

    def _last_ones(self) -> int:
        """Where the last messages begin that are asked for."""
        if self._view.last is None:
            return 0
        told = [(i, _answer_of(entry)) for i, entry in enumerate(self._timeline) if self._is_told(entry)]
        near = {*[*dict.fromkeys(answer for _, answer in told)][-self._view.last :]}
        return next((i for i, answer in told if answer in near), 0)

    def _is_told(self, entry: Entry) -> bool:
        return speaks(entry) and self._kind_of(entry) == ""

    def _kind_of(self, entry: Entry) -> str:
        """What it is folded as, if it is."""
        if isinstance(entry, Event):
            return "" if self._view.everything else "event"
        if self._view.everything or entry.id == self._message_id:
            return ""
        if entry.sidechain and not self._all_aside:
            return "message of a subagent"
        return "hidden message" if entry.hidden else ""

    def _entry(self, entry: Entry) -> Iterator[Line]:
        kind = self._kind_of(entry)
        if kind == "event":
            return
        if kind:
            self._folded[kind] = self._folded.get(kind, 0) + 1
            return
        yield from self._unfold()
        if isinstance(entry, Event):
            yield from self._event(entry)
            return
        if self._is_whole:
            yield from self._jump(entry)
        yield from self._message(entry)

    def _is_known(self, part: Part) -> bool:
        """Whether it answers a call that was shown together with how it went."""
        return (
            isinstance(part, ToolResult)
            and part.call_id in self._called
            and self._results.get(part.call_id) is part
        )

    def _unfold(self) -> Iterator[Line]:
        """Say what was left out since something was shown."""
        if self._folded:
            told = " and ".join(
                count(number, kind, kind.replace("message", "messages"))
                for kind, number in self._folded.items()
            )
            them = "it" if sum(self._folded.values()) == 1 else "them"
            yield self._aside(f"{told}; --all shows {them}")
            self._folded = {}

    def _aside(self, text: str) -> Line:
        """Something of ours between what others said."""
        self._after_text = False
        return (("dim", f"{OURS}({text})"),)

    def _message(self, message: Message) -> Iterator[Line]:
        is_named = False
        for line in self._parts(message):
            if not is_named:
                yield from self._speaker(message)
                is_named = True
            yield from (("",), line) if self._begins_text else (line,)
            self._begins_text = False
        if not message.parts:
            yield from self._speaker(message)
            yield self._aside("empty")

    def _parts(self, message: Message) -> Iterator[Line]:
        """What is shown of the parts of a message."""
        folding, is_wanted = self._folding, message.id == self._message_id
        if is_wanted:
            folding = Folding(thinking=True, tools=True, everything=True, width=folding.width)
        for part in message.parts:
            if isinstance(part, ToolResult) and self._is_known(part) and not is_wanted:
                continue
            result = None
            if isinstance(part, ToolCall) and part.call_id is not None:
                self._called.add(part.call_id)
                result = self._results.get(part.call_id)
            is_said = isinstance(part, Text) and not part.injected
            self._begins_text = is_said and self._after_text
            for line in lines_of(part, result, folding):
                yield line
                self._after_text = is_text(line)
            self._begins_text = False

    def _speaker(self, message: Message) -> Iterator[Line]:
        """Who speaks and when, unless it is plain that somebody goes on."""
        at = timestamps.epoch_ms(message.at)
        at = self._head_ms if at is None else at
        head = _Head(
            role=message.role,
            model=message.model if self._has_models else None,
            is_wanted=message.id == self._message_id,
            is_hidden=message.hidden,
            is_aside=message.sidechain and not self._all_aside,
        )
        if head == self._head and abs(at - self._head_ms) < _PAUSE_MS and message.role == "assistant":
            return
        self._head, self._head_ms, self._begins_text = head, at, False
        words = [one_line(head.model or ""), self._when(message.at)]
        words += ["hidden" if head.is_hidden else "", "subagent" if head.is_aside else ""]
        told = "".join(f" · {word}" for word in words if word)
        yield ("",)
        yield (("strong", "> " if head.is_wanted else ""), (head.role, head.role.capitalize()), ("dim", told))

    def _when(self, at: str | None) -> str:
        """The time of the day, with the date if it is another one than before."""
        today = day(at)
        if today and today != self._day:
            self._day = today
            return f"{today} {clock(at)}"
        return clock(at)

    def _event(self, event: Event) -> Iterator[Line]:
        data = compact(event.data) if event.data else ""
        words = (event.name, clock(event.at), data[: 4 * self._folding.room])
        told = one_line(f"{OURS}· {' '.join(filter(None, words))}")
        yield (("dim", cut(told, self._folding.room)),)

    def _failed(self, entry_id: str) -> Iterator[Line]:
        """Say which requests failed that end here."""
        for failure in self._failures.get(entry_id, ()):
            yield from self._unfold()
            yield self._aside(f"request failed: {one_line(failure)}")

    def _fork(self, entry_id: str | None) -> Iterator[Line]:
        """Say which other branches begin here, and how to see them."""
        leaves = self._forks.get(entry_id)
        if not leaves:
            return
        what = ("other beginning",) if entry_id is None else ("other branch", "other branches")
        here = "" if entry_id is None else " from here"
        named = ", ".join(f"--branch {shlex.quote(one_line(leaf))}" for leaf in leaves[-_BRANCHES_NAMED:])
        more = " …" if len(leaves) > _BRANCHES_NAMED else ""
        yield from self._unfold()
        yield self._aside(f"{count(len(leaves), *what)}{here}: {named}{more}")

    def _jump(self, entry: Message) -> Iterator[Line]:
        """In all branches at once: say where one begins that does not go on from what stands before it."""
        if not speaks(entry) or entry.sidechain or (entry.parent_id is None and entry.role == "system"):
            return
        before = self._after[entry.id]
        key = before.id if before else None
        if key in self._followed:
            self._head = None
            yield ("",)
            yield (("dim", f"({_place_of(before)})"),)
        self._followed.add(key)

    def _left_out(self, entries: Sequence[Entry], where: str) -> Iterator[Line]:
        if number := len({_answer_of(entry) for entry in entries if self._is_told(entry)}):
            yield ("",)
            yield (("dim", f"({count(number, 'message')} {where})"),)
