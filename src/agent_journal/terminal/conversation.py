"""A conversation as text for people, with everything that is not dialogue folded."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec.structs import replace

from agent_journal.conversion import transforms
from agent_journal.model import Event, Message, Text, ToolCall, ToolResult, timestamps, tree
from agent_journal.model.branches import (
    branch_by_branch,
    leaf_after,
    message_id_for,
    others,
    previous_messages,
    speaks,
)
from agent_journal.terminal.header import header
from agent_journal.terminal.local_times import clock, day
from agent_journal.terminal.measure import cut
from agent_journal.terminal.parts import Folding, lines_of
from agent_journal.terminal.view import REMARK_INDENT, View, is_text
from agent_journal.text.describe import compact, failures, insignificant_entries
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.terminal import Sink
    from agent_journal.terminal.header import Child
    from agent_journal.terminal.view import Line

# A large conversation is loaded in pieces of this size.
_PIECE_BYTES = 4 << 20
# The name of a speaker is repeated after a pause of this length.
_PAUSE_MS = 5 * 60 * 1000
_MAX_NAMED_BRANCHES = 3
_MAX_EXCERPT_COLUMNS = 40


class Load(Protocol):
    """Loads the entries of a conversation of which there is only an outline."""

    def entries(self, outlined: Sequence[Entry], /) -> Sequence[Entry]:
        """The complete entries."""

    def size(self, outlined: Entry, /) -> int:
        """The size of an entry in bytes."""


def show_conversation(
    conversation: Conversation,
    sink: Sink,
    view: View,
    *,
    source_title: str | None = None,
    children: Sequence[Child] = (),
    load: Load | None = None,
) -> None:
    """Print a conversation line by line.

    `children` are conversations that started from this one. With `load`, the conversation is an outline, and
    each part of it that is shown is loaded just before it is printed.
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
    """The lines of a conversation; `columns` is the width of the terminal, if there is one."""
    message_id = message_id_for(conversation, view.message) if view.message is not None else None
    branch = transforms.branch(conversation, _branch_name(conversation, view, message_id))
    yield from header(conversation, branch, source_title, children)
    if load is None:
        yield from _Transcript(conversation, branch, view, columns, message_id).lines()
    else:
        yield from _LoadedTranscript(conversation, branch, view, columns, message_id, load=load).lines()


def _branch_name(conversation: Conversation, view: View, message_id: str | None) -> str:
    if message_id is not None:
        return leaf_after(conversation, message_id)
    return view.branch if view.branch in {"head", "all"} else message_id_for(conversation, view.branch)


class _Speaker(NamedTuple):
    """What the line above a message states of its author; the line is repeated if this changes."""

    role: Role
    model: str | None
    is_requested: bool
    is_hidden: bool
    is_subagent: bool


def _response_of(entry: Entry) -> str:
    """The id that identifies a response: its messages count as one."""
    return (entry.response_id if isinstance(entry, Message) else None) or entry.id


def _describe_branch(parent: Message | None) -> str:
    if parent is None:
        return "another first message"
    words = cut(one_line(" ".join(tree.plain_text(parent)[:400].split())), _MAX_EXCERPT_COLUMNS)
    quoted = f" “{words}”" if words else ""
    return f"another branch, after {parent.role} {clock(parent.at)}{quoted}"


class _LoadedTranscript:
    """The lines of a large conversation, of which only the part that is shown is loaded, piece by piece."""

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
        self._view = view
        self._columns = columns
        self._message_id = message_id
        self._conversation = conversation
        self._branch = branch
        self._load = load
        self._outlined = _Transcript(conversation, branch, view, columns, message_id)

    def lines(self) -> Iterator[Line]:
        """All lines that are shown."""
        timeline = self._outlined.timeline
        if self._message_id is not None or self._view.last is not None:
            yield from self._window_lines(self._outlined.window())
            return
        first = 0
        while first < len(timeline):
            last = first + 1
            size = self._load.size(timeline[first])
            while last < len(timeline) and size < _PIECE_BYTES:
                size += self._load.size(timeline[last])
                last += 1
            yield from self._with_loaded(timeline[first:last]).piece(first, last)
            first = last

    def _window_lines(self, window: tuple[int, int]) -> Iterator[Line]:
        """The lines of a window, which is widened if a message of the outline turns out to be hidden."""
        timeline = self._outlined.timeline
        first, last = window
        while True:
            transcript = self._with_loaded(timeline[first:last])
            start, end = transcript.window()
            if first <= start and end <= last:
                yield from transcript.lines()
                return
            first, last = min(first, start), max(last, end)

    def _with_loaded(self, entries: Sequence[Entry]) -> _Transcript:
        """The transcript with some of its entries loaded."""
        loaded = dict(zip(map(id, entries), self._load.entries(entries), strict=True))
        conversation, branch = (
            replace(each, timeline=[loaded.get(id(entry), entry) for entry in each.timeline])
            for each in (self._conversation, self._branch)
        )
        return _Transcript(conversation, branch, self._view, self._columns, self._message_id)


class _Transcript:
    """The lines of a conversation; knows what was shown last, so as not to repeat it."""

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
        self._shows_all_branches = (
            view.branch == "all" and message_id is None and conversation.shape == "tree"
        )
        self._timeline = branch_by_branch(branch.timeline) if self._shows_all_branches else branch.timeline
        self._results = tree.results_by_call(conversation.timeline)
        self._failures = failures(conversation)
        named = {*self._failures, message_id or ""}
        self._skipped = set() if view.everything else insignificant_entries(self._timeline, named)
        self._folding = Folding(
            thinking=view.thinking, tools=view.tools, everything=view.everything, width=columns
        )
        self._forks = {} if self._shows_all_branches else others(conversation, branch.timeline)
        self._parents = previous_messages(self._timeline) if self._shows_all_branches else {}
        self._continued: set[str | None] = set()
        messages = [*tree.messages(branch)]
        # In a subagent's own conversation, all messages are in a side chain; there is nothing to fold them
        # under.
        self._is_all_sidechain = all(message.sidechain for message in messages)
        self._has_several_models = len({message.model for message in messages if message.model}) > 1
        self._shown_calls: set[str] = set()
        self._folded: dict[str, int] = {}
        self._speaker: _Speaker | None = None
        self._speaker_ms = 0
        self._day = day(conversation.started_at or tree.span(conversation.timeline)[0])
        self._is_after_text = self._starts_text = False

    def lines(self) -> Iterator[Line]:
        """All lines that are shown, and how many messages precede and follow."""
        first, last = self.window()
        before, after = self._timeline[:first], self._timeline[last:]
        self._shown_calls.update(
            call.call_id for entry in before for call in tree.calls_in(entry) if call.call_id
        )
        if before:
            yield from self._omitted(before, "before")
        yield from self.piece(first, last)
        yield from self._omitted(after, "after")

    def piece(self, first: int, last: int) -> Iterator[Line]:
        """The lines of a part of the timeline."""
        if not first:
            yield from self._fork(None)
        for index, entry in enumerate(self._timeline[first:last], first):
            if index not in self._skipped:
                yield from self._entry(entry)
            yield from self._failed_requests(entry.id)
            yield from self._fork(entry.id)
        yield from self._folded_line()

    @property
    def timeline(self) -> Sequence[Entry]:
        """The entries in the order in which they are shown."""
        return self._timeline

    def window(self) -> tuple[int, int]:
        """The start and end of the part of the timeline that is shown."""
        if self._message_id is None:
            return self._start_of_last(), len(self._timeline)
        requested = next(i for i, entry in enumerate(self._timeline) if entry.id == self._message_id)
        visible = [
            (i, _response_of(entry))
            for i, entry in enumerate(self._timeline)
            if self._is_visible_message(entry) or i == requested
        ]
        context = max(self._view.context, 0)
        responses = [*dict.fromkeys(response for _, response in visible)]
        middle = responses.index(_response_of(self._timeline[requested]))
        nearby = {*responses[max(middle - context, 0) : middle + context + 1]}
        shown = [i for i, response in visible if response in nearby]
        # Results of the tools that the last message called belong to it.
        following = (i for i, _ in visible if i > shown[-1])
        return shown[0], next(following, len(self._timeline))

    def _start_of_last(self) -> int:
        """The index of the first message that `last` includes."""
        if self._view.last is None:
            return 0
        visible = [
            (i, _response_of(entry))
            for i, entry in enumerate(self._timeline)
            if self._is_visible_message(entry)
        ]
        included = {*[*dict.fromkeys(response for _, response in visible)][-self._view.last :]}
        return next((i for i, response in visible if response in included), 0)

    def _is_visible_message(self, entry: Entry) -> bool:
        return speaks(entry) and self._folded_kind(entry) == ""

    def _folded_kind(self, entry: Entry) -> str:
        """What an entry is counted as if it is folded; empty if it is shown."""
        if isinstance(entry, Event):
            return "" if self._view.everything else "event"
        if self._view.everything or entry.id == self._message_id:
            return ""
        if entry.sidechain and not self._is_all_sidechain:
            return "message of a subagent"
        return "hidden message" if entry.hidden else ""

    def _entry(self, entry: Entry) -> Iterator[Line]:
        kind = self._folded_kind(entry)
        if kind == "event":
            return
        if kind:
            self._folded[kind] = self._folded.get(kind, 0) + 1
            return
        yield from self._folded_line()
        if isinstance(entry, Event):
            yield from self._event(entry)
            return
        if self._shows_all_branches:
            yield from self._branch_start(entry)
        yield from self._message(entry)

    def _was_shown_with_call(self, part: Part) -> bool:
        """Whether a part is the result of a call that was shown together with its outcome."""
        return (
            isinstance(part, ToolResult)
            and part.call_id in self._shown_calls
            and self._results.get(part.call_id) is part
        )

    def _folded_line(self) -> Iterator[Line]:
        """The number of entries that were folded since something was shown."""
        if self._folded:
            counts = " and ".join(
                count(number, kind, kind.replace("message", "messages"))
                for kind, number in self._folded.items()
            )
            them = "it" if sum(self._folded.values()) == 1 else "them"
            yield self._remark(f"{counts}; --all shows {them}")
            self._folded = {}

    def _remark(self, text: str) -> Line:
        """A remark of ours between messages."""
        self._is_after_text = False
        return (("dim", f"{REMARK_INDENT}({text})"),)

    def _message(self, message: Message) -> Iterator[Line]:
        has_speaker_line = False
        for line in self._parts(message):
            if not has_speaker_line:
                yield from self._speaker_line(message)
                has_speaker_line = True
            yield from (("",), line) if self._starts_text else (line,)
            self._starts_text = False
        if not message.parts:
            yield from self._speaker_line(message)
            yield self._remark("empty")

    def _parts(self, message: Message) -> Iterator[Line]:
        """The lines of the parts of a message."""
        folding, is_requested = self._folding, message.id == self._message_id
        if is_requested:
            folding = Folding(thinking=True, tools=True, everything=True, width=folding.width)
        for part in message.parts:
            if isinstance(part, ToolResult) and self._was_shown_with_call(part) and not is_requested:
                continue
            result = None
            if isinstance(part, ToolCall) and part.call_id is not None:
                self._shown_calls.add(part.call_id)
                result = self._results.get(part.call_id)
            is_own_text = isinstance(part, Text) and not part.injected
            self._starts_text = is_own_text and self._is_after_text
            for line in lines_of(part, result, folding):
                yield line
                self._is_after_text = is_text(line)
            self._starts_text = False

    def _speaker_line(self, message: Message) -> Iterator[Line]:
        """Who speaks and when, unless the assistant just continues."""
        at = timestamps.epoch_ms(message.at)
        at = self._speaker_ms if at is None else at
        speaker = _Speaker(
            role=message.role,
            model=message.model if self._has_several_models else None,
            is_requested=message.id == self._message_id,
            is_hidden=message.hidden,
            is_subagent=message.sidechain and not self._is_all_sidechain,
        )
        is_same = speaker == self._speaker and message.role == "assistant"
        if is_same and abs(at - self._speaker_ms) < _PAUSE_MS:
            return
        self._speaker, self._speaker_ms, self._starts_text = speaker, at, False
        facts = [one_line(speaker.model or ""), self._time(message.at)]
        facts += ["hidden" if speaker.is_hidden else "", "subagent" if speaker.is_subagent else ""]
        details = "".join(f" · {fact}" for fact in facts if fact)
        role: tuple[Role, str] = (speaker.role, speaker.role.capitalize())
        yield ("",)
        yield (("strong", "> " if speaker.is_requested else ""), role, ("dim", details))

    def _time(self, at: str | None) -> str:
        """The time of day, with the date if that has changed."""
        date = day(at)
        if date and date != self._day:
            self._day = date
            return f"{date} {clock(at)}"
        return clock(at)

    def _event(self, event: Event) -> Iterator[Line]:
        data = compact(event.data) if event.data else ""
        facts = (event.name, clock(event.at), data[: 4 * self._folding.line_width])
        line = one_line(f"{REMARK_INDENT}· {' '.join(filter(None, facts))}")
        yield (("dim", cut(line, self._folding.line_width)),)

    def _failed_requests(self, entry_id: str) -> Iterator[Line]:
        """A line for each failed request that ends with this entry."""
        for failure in self._failures.get(entry_id, ()):
            yield from self._folded_line()
            yield self._remark(f"request failed: {one_line(failure)}")

    def _fork(self, entry_id: str | None) -> Iterator[Line]:
        """The other branches that start here, and how to show them."""
        leaves = self._forks.get(entry_id)
        if not leaves:
            return
        what = ("other first message",) if entry_id is None else ("other branch", "other branches")
        here = "" if entry_id is None else " from here"
        named = ", ".join(f"--branch {shlex.quote(one_line(leaf))}" for leaf in leaves[-_MAX_NAMED_BRANCHES:])
        more = " …" if len(leaves) > _MAX_NAMED_BRANCHES else ""
        yield from self._folded_line()
        yield self._remark(f"{count(len(leaves), *what)}{here}: {named}{more}")

    def _branch_start(self, entry: Message) -> Iterator[Line]:
        """With all branches: where a branch starts that does not continue from the entry above it."""
        if not speaks(entry) or entry.sidechain or (entry.parent_id is None and entry.role == "system"):
            return
        parent = self._parents[entry.id]
        key = parent.id if parent else None
        if key in self._continued:
            self._speaker = None
            yield ("",)
            yield (("dim", f"({_describe_branch(parent)})"),)
        self._continued.add(key)

    def _omitted(self, entries: Sequence[Entry], where: str) -> Iterator[Line]:
        if number := len({_response_of(entry) for entry in entries if self._is_visible_message(entry)}):
            yield ("",)
            yield (("dim", f"({count(number, 'message')} {where})"),)
