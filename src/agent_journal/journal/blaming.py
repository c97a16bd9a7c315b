"""Find the edits of a file in a journal, with the prompts before them."""

from __future__ import annotations

import os
import stat
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.blame.answer import Blame, BlamedEdit, CommitOfLines, Rename
from agent_journal.blame.edits import changes_in, moves_in
from agent_journal.blame.git import line_commits, project_root
from agent_journal.blame.lines import attribute_lines
from agent_journal.blame.target import Target
from agent_journal.model import Message, ToolCall, timestamps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from agent_journal.archive.store import Listed, Store
    from agent_journal.blame.edits import Change, Move
    from agent_journal.blame.git import Commit
    from agent_journal.blame.lines import Claim
    from agent_journal.blame.target import LineRange
    from agent_journal.journal.search import FileMessages

    MessageFinder = Callable[[str], FileMessages]

_MAX_RENAMES = 32
_MAX_MESSAGES = 20_000  # that mention the file, the newest ones
_MESSAGES_PER_BATCH = 500
_MAX_FILE_BYTES = 32_000_000
_CLOCK_SLACK_MS = 60_000


class BlameQuestion(NamedTuple):
    """What is asked about a file."""

    path: str
    """Absolute, relative to `folder`, or only the end of a path."""
    lines: LineRange | None = None
    text: str | None = None
    """Only edits that added or removed this text."""
    limit: int = 20
    offset: int = 0
    folder: str = ""
    """What a relative path is relative to."""
    reads_file: bool = True
    """Whether the file on disk may be read, to find where the edits are in it."""
    is_allowed: Callable[[Listed], bool] | None = None
    """Restricts the conversations."""


class _FileChange(NamedTuple):
    """A change of the file, with the message that records it."""

    key: int
    message: Message
    listed: Listed
    change: Change
    at_ms: int | None


class _DatedMove(NamedTuple):
    """A move of the file, with the message that records it."""

    message: Message
    listed: Listed
    move: Move
    at_ms: int | None


class FileOnDisk(NamedTuple):
    """The lines of a file, and the commits that brought them."""

    lines: list[str]
    commits: list[Commit | None] | None


def blame(
    store: Store, find_messages: MessageFinder, question: BlameQuestion, file: FileOnDisk | None
) -> Blame:
    """Return who changed a file, newest first; `file` is what `read_file` returns."""
    target = _target(question)
    history = _History(store, find_messages, question.is_allowed)
    history.collect(target)
    changes = sorted(history.changes, key=lambda each: (each.at_ms or 0, each.key), reverse=True)
    claims = _claims(file, changes)
    wanted = _choose(changes, claims, question)
    page = wanted[question.offset : question.offset + question.limit]
    prompts = _prompts(store, [changes[position] for position in page])
    return Blame(
        path=target.path,
        first=question.lines and question.lines.first,
        last=question.lines and question.lines.last,
        edits=[_edit(position, changes[position], claims, file, prompts) for position in page],
        total=len(wanted),
        line_count=None if file is None else len(file.lines),
        unknown=_ranges(set(range(1, len(file.lines) + 1)) - claims.keys()) if file else [],
        renames=[_rename(each) for each in history.moves],
        git="unused" if file is None else "unavailable" if file.commits is None else "checked",
        notices=[*history.notices(), *_ambiguity(target, changes)],
    )


def read_file(question: BlameQuestion) -> FileOnDisk | None:
    """Read the file of a question; None if it is not on this machine, or no text."""
    return _read(_target(question)) if question.reads_file else None


def _target(question: BlameQuestion) -> Target:
    """Return the file that is meant: one on disk, one that is gone, or whatever has such a name."""
    path = os.path.join(question.folder, os.path.expanduser(question.path))  # noqa: PTH111, PTH118
    is_exact = Path(question.path).is_absolute() or (question.reads_file and os.path.lexists(path))
    if not is_exact:
        return Target.of_name(question.path)
    return Target.of_file(path, project_root(os.path.dirname(path)))  # noqa: PTH120


class _History:
    """The changes of a file, under all names that it had."""

    def __init__(
        self, store: Store, find_messages: MessageFinder, is_allowed: Callable[[Listed], bool] | None
    ) -> None:
        self.changes: list[_FileChange] = []
        self.moves: list[_DatedMove] = []
        self._store = store
        self._find_messages = find_messages
        self._is_allowed = is_allowed
        self._is_cut = False
        self._is_complete = True

    def notices(self) -> list[str]:
        """Return what is left out."""
        notices = []
        if self._is_cut:
            notices.append(f"Only the newest {_MAX_MESSAGES:,} messages that name the file were read.")
        if not self._is_complete:
            notices.append("The search index is incomplete, and there was not enough time to read all rows.")
        return notices

    def collect(self, target: Target) -> None:
        """Collect the changes of a file and of those that it was before it was moved."""
        pending: list[tuple[Target, int | None]] = [(target, None)]
        seen = set[Target]()
        while pending and len(seen) < _MAX_RENAMES:
            named, until_ms = pending.pop()
            if named in seen or not named.name:
                continue
            seen.add(named)
            moves = list(self._collect(named, until_ms))
            self.moves += moves
            pending += [
                (named.before_move(each.move.old, each.move.new), _earliest(each.at_ms, until_ms))
                for each in moves
            ]

    def _collect(self, target: Target, until_ms: int | None) -> Iterator[_DatedMove]:
        """Collect the changes under one name up to a time; yield the moves to that name."""
        candidates = self._find_messages(target.name)
        keys = sorted(candidates.keys, reverse=True)
        self._is_complete = self._is_complete and candidates.is_complete
        self._is_cut = self._is_cut or len(keys) > _MAX_MESSAGES
        for start in range(0, min(len(keys), _MAX_MESSAGES), _MESSAGES_PER_BATCH):
            for key, message, listed in self._messages(keys[start : start + _MESSAGES_PER_BATCH]):
                at_ms = timestamps.epoch_ms(message.at or listed.updated_at)
                if until_ms is not None and at_ms is not None and at_ms > until_ms:
                    continue
                self.changes += (
                    _FileChange(key, message, listed, change, at_ms)
                    for change in changes_in(message, listed.project)
                    if target.is_meant_by(change.path)
                )
                for move in moves_in(message, listed.project):
                    if move.old != move.new and target.is_meant_by(move.new):
                        yield _DatedMove(message, listed, move, at_ms)

    def _messages(self, keys: list[int]) -> Iterator[tuple[int, Message, Listed]]:
        """Yield messages with their conversations, without the calls that failed."""
        entries = self._store.entries_by_key(keys)
        locations = self._store.entry_locations(keys)
        listed = self._store.listed({each.conversation for each in locations.values()})
        failed = self._store.failed_calls(keys)
        for key in keys:
            entry, location = entries.get(key), locations.get(key)
            if not isinstance(entry, Message) or location is None or location.conversation not in listed:
                continue
            conversation = listed[location.conversation]
            if self._is_allowed is None or self._is_allowed(conversation):
                yield key, _without_calls(entry, failed.get(key, ())), conversation


def _without_calls(message: Message, call_ids: Collection[str]) -> Message:
    if not call_ids:
        return message
    parts = [
        part
        for part in message.parts
        if not isinstance(part, ToolCall) or part.call_id is None or part.call_id not in call_ids
    ]
    return replace(message, parts=parts)


def _earliest(*times: int | None) -> int | None:
    return min((at for at in times if at is not None), default=None)


def _read(target: Target) -> FileOnDisk | None:
    """Read a file of text; None if there is none."""
    if not target.is_on_disk:
        return None
    try:
        status = os.lstat(target.path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE_BYTES:
            return None
        content = Path(target.path).read_bytes()
    except (OSError, ValueError):
        return None
    if b"\0" in content:
        return None
    lines = [line.removesuffix("\r") for line in content.decode("utf-8", "replace").split("\n")]
    if not lines[-1]:
        lines.pop()
    return FileOnDisk(lines, line_commits(target.path, len(lines)))


def _claims(file: FileOnDisk | None, changes: Sequence[_FileChange]) -> dict[int, Claim]:
    """Return the change that each line of the file comes from."""
    if file is None:
        return {}
    bounds = [commit and commit.at_s * 1000 + _CLOCK_SLACK_MS for commit in file.commits or []]
    return attribute_lines(file.lines, [(each.change, each.at_ms) for each in changes], bounds or None)


def _choose(
    changes: Sequence[_FileChange], claims: Mapping[int, Claim], question: BlameQuestion
) -> list[int]:
    """Return the positions of the changes that were asked for."""
    positions: Iterable[int] = range(len(changes))
    if question.lines is not None:
        first, last = question.lines
        within = {claim.edit for number, claim in claims.items() if first <= number <= last}
        positions = sorted(within)
    return [at for at in positions if not question.text or _mentions(changes[at].change, question.text)]


def _mentions(change: Change, text: str) -> bool:
    """Whether a change added or removed a text."""
    return any(text in line[1:] for line in change.diff.split("\n") if line[:1] in {"+", "-"}) or (
        "\n" in text
        and any(text in "\n".join(side) for hunk in change.hunks for side in (hunk.old, hunk.new))
    )


def _prompts(store: Store, changes: Sequence[_FileChange]) -> dict[int, str]:
    """Return the beginnings of the prompts before changes, by the key of the message."""
    keys_of: dict[int, set[int]] = {}
    for each in changes:
        keys_of.setdefault(each.listed.key, set()).add(each.key)
    prompts: dict[int, str] = {}
    for conversation, keys in keys_of.items():
        prompts |= store.preceding_prompts(conversation, keys)
    return prompts


def _edit(
    position: int,
    file_change: _FileChange,
    claims: Mapping[int, Claim],
    file: FileOnDisk | None,
    prompts: Mapping[int, str],
) -> BlamedEdit:
    key, message, listed, change, _ = file_change
    numbers = sorted(number for number, claim in claims.items() if claim.edit == position)
    is_exact = any(claims[number].match == "exact" for number in numbers)
    diff_lines = change.diff.split("\n")
    return BlamedEdit(
        conversation=listed.id,
        source=listed.source,
        title=listed.title,
        project=listed.project,
        message=message.id,
        call_id=change.call_id,
        at=message.at,
        model=message.model,
        tool=change.tool,
        path=change.path,
        is_new=change.is_new,
        diff=change.diff,
        added=sum(line[:1] == "+" for line in diff_lines),
        removed=sum(line[:1] == "-" for line in diff_lines),
        prompt=prompts.get(key),
        lines=_ranges(numbers),
        match=("exact" if is_exact else "similar") if numbers else None,
        commits=_commits(file, numbers),
    )


def _commits(file: FileOnDisk | None, numbers: Iterable[int]) -> list[CommitOfLines]:
    """Return the commits that brought lines, with most lines first."""
    if file is None or file.commits is None:
        return []
    counts = Counter(commit for number in numbers if (commit := file.commits[number - 1]) is not None)
    return [
        CommitOfLines(
            id=commit.id, at=timestamps.from_seconds(commit.at_s), summary=commit.summary, lines=count
        )
        for commit, count in counts.most_common()
    ]


def _rename(each: _DatedMove) -> Rename:
    return Rename(
        old=each.move.old,
        new=each.move.new,
        at=each.message.at,
        conversation=each.listed.id,
        message=each.message.id,
    )


def _ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Return ranges of consecutive numbers."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def _ambiguity(target: Target, changes: Iterable[_FileChange]) -> list[str]:
    """Return a notice if only a name was given, and several files have it."""
    paths = {each.change.path for each in changes}
    if target.is_on_disk or len(paths) <= 1:
        return []
    return [f"{len(paths)} files have this name; a longer path distinguishes them."]
