"""Sessions of a tool as files: which conversations become one, their lines, and paths that are free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.files import is_safe_name, safe_name
from agent_journal.model import Conversation, timestamps
from agent_journal.writers.dialects.agent_sessions import branch_of, note_losses, obstacle
from agent_journal.writers.dialects.json_bytes import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.model import Item
    from agent_journal.writers import Bundle, Run
    from agent_journal.writers.dialects.agent_sessions import Branch

    Record = dict[str, Any]


def sessions(
    items: Iterable[Item],
    run: Run,
    name: str,
    own_records: Callable[[Conversation], Iterable[Record]],
    foreign_records: Callable[[Conversation, Branch], Iterable[Record]],
) -> Iterator[tuple[Conversation, list[Record]]]:
    """Yield conversations with the records of their sessions; note those that cannot become one.

    Conversations of the tool itself, whose source has the `name`, keep all of their records; of others, the
    current branch is written.
    """
    for item in items:
        records: list[Record] = []
        why = obstacle(item, name)
        if isinstance(item, Conversation) and not why:
            records = [*_records(item, run, name, own_records, foreign_records)]
            why = "" if records else "a conversation without text and tool calls"
        if isinstance(item, Conversation) and not why:
            yield item, records
            continue
        run.note_not_preserved(item, "", why)
        if not isinstance(item, Conversation):
            run.note_redactions(item)


def _records(
    conversation: Conversation,
    run: Run,
    name: str,
    own_records: Callable[[Conversation], Iterable[Record]],
    foreign_records: Callable[[Conversation, Branch], Iterable[Record]],
) -> Iterable[Record]:
    if conversation.source == name:
        run.note_redactions(conversation)
        return own_records(conversation)
    branch = branch_of(conversation, run.started_at)
    note_losses(conversation, branch, run)
    return foreign_records(conversation, branch)


def write_lines(out: Bundle, path: str, records: Iterable[Record]) -> None:
    """Write a file of one record per line."""
    with out.file(path) as file:
        for record in records:
            file.write(encode(record) + b"\n")


def path_time(conversation: Conversation, started_at: str) -> tuple[str, str]:
    """Return when a session began, for paths: `2026/02/10` and `2026-02-10T17-24-23`."""
    known = (conversation.started_at, *(entry.at for entry in conversation.timeline), started_at)
    times = (timestamps.parse_timestamp(at) for at in known if at)
    began = next((time for time in times if time), "1970-01-01T00:00:00Z")[:19]
    return began[:10].replace("-", "/"), began.replace(":", "-")


def free_path(path: str, suffix: str, taken: set[str]) -> str:
    """Return a path that no other conversation of this run has."""
    number, free = 1, path
    while free in taken:
        number += 1
        free = f"{path}-{number}"
    taken.add(free)
    return free + suffix


def path_name(text: str) -> str:
    """Return a text as the name of a file or folder: the text itself, if it can be one."""
    return text if is_safe_name(text) else safe_name(text, text)
