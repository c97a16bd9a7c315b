"""A conversation as plain text."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal import redaction
from agent_journal.model import Conversation, Event, tree
from agent_journal.model.branches import is_answer
from agent_journal.rendering.turns import iter_turns, referenced_messages, split_sections
from agent_journal.rendering.utc_times import clock, date_and_time, day, span
from agent_journal.text import describe
from agent_journal.text.describe import compact
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line
from agent_journal.writers.rendering.pages import index_link
from agent_journal.writers.text.parts import indented, part_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item, Memory, Message
    from agent_journal.rendering.turns import Section, Turn
    from agent_journal.writers.rendering.pages import IndexEntry, MissingPage, Page, PageSet

_BUFFER_CHARS = 1 << 20
_RULE = "=" * 80
_MAX_EXCERPT_CHARS = 60


def write_page(item: Item, page: Page, out: IO[bytes]) -> None:
    """Write a conversation or memory."""
    lines = _conversation(item, page) if isinstance(item, Conversation) else _memory(item, page)
    buffered: list[bytes] = []
    buffered_chars = 0
    for line in lines:
        buffered.append(line.encode("utf-8", "replace"))
        buffered_chars += len(line)
        if buffered_chars > _BUFFER_CHARS:
            out.write(b"\n".join([*buffered, b""]))
            buffered, buffered_chars = [], 0
    out.write(b"\n".join([*buffered, b"", b""]))


def write_index(pages: PageSet, out: IO[bytes]) -> None:
    """Write the index of a folder."""
    out.write("\n".join([*_index_lines(pages), ""]).encode("utf-8", "replace"))


def write_missing(missing: MissingPage, out: IO[bytes]) -> None:
    """Write a page for a conversation that is linked to but not in this export."""
    out.write(
        f"Not in this export: {one_line(missing.source)} {one_line(missing.id)}\n".encode("utf-8", "replace")
    )


def _index_lines(pages: PageSet) -> Iterator[str]:
    memories = pages.memories()
    conversations = count(len(pages.entries) - len(memories), "conversation")
    memory_count = f" and {count(len(memories), 'memory', 'memories')}" if memories else ""
    yield f"{conversations}{memory_count}. Times are UTC."
    children = pages.children()
    for project in pages.projects():
        yield f"\n{one_line(project.name)}"
        for day_ in project.days:
            yield f"\n  {day_.date or 'Undated'}"
            for top in day_.entries:
                pending = [(top, 2)]
                while pending:
                    entry, depth = pending.pop()
                    yield f"{'  ' * depth}{_entry_line(entry, pages)}"
                    pending.extend((child, depth + 1) for child in reversed(children.get(entry.name, ())))
    if memories:
        yield "\nMemories\n"
        yield from (f"    {_entry_line(entry, pages)}" for entry in memories)


def _entry_line(entry: IndexEntry, pages: PageSet) -> str:
    time = date_and_time(entry.started_at) if entry.is_memory else clock(entry.started_at)
    columns = [time, one_line(entry.title), entry.relation or "", index_link(entry, pages)]
    return "  ".join(filter(None, columns))


def _memory(memory: Memory, page: Page) -> Iterator[str]:
    metadata = {
        "Memory": memory.kind,
        "Source": page.run.titles.get(memory.source, memory.source),
        "ID": memory.id,
        "About": memory.about or "",
        "Time": date_and_time(memory.at),
        "Redacted": redaction.describe_redactions(memory),
    }
    yield from _header(page.entry.title, metadata)
    yield f"\n{indented(memory.text)}"


def _conversation(conversation: Conversation, page: Page) -> Iterator[str]:
    yield from _header(page.entry.title, _metadata(conversation, page))
    for summary in conversation.summaries:
        yield f"\n  Summary {date_and_time(summary.at)}".rstrip()
        yield indented(summary.text)
    sections, failures = split_sections(conversation), describe.failures(conversation)
    referenced = referenced_messages(conversation, sections)
    is_sidechain = all(message.sidechain for message in tree.messages(conversation))
    for section in sections:
        if section.kind != "main":
            yield f"\n{_RULE}\n{_section_heading(section)}"
        turns = [*iter_turns(section.entries, failures, referenced)]
        if section.kind == "main" and turns and isinstance(turns[0], Event):
            yield ""  # a message starts with an empty line of its own
        yield from _turn_lines(turns, page, is_sidechain=is_sidechain or section.kind == "subagent")
    for feedback in conversation.feedback:
        words = ("Feedback", feedback.message_id, feedback.rating, feedback.text)
        yield f"\n  {one_line(' '.join(filter(None, words)))}"


def _header(title: str, metadata: dict[str, str]) -> Iterator[str]:
    yield f"{_RULE}\n{one_line(title)}\n"
    yield from (f"{name + ':':10} {one_line(value)}" for name, value in metadata.items() if value)


def _metadata(conversation: Conversation, page: Page) -> dict[str, str]:
    entry, run, link = page.entry, page.run, conversation.link
    time_range = span(entry.started_at, entry.ended_at)
    product = conversation.product or run.titles.get(entry.source, entry.source)
    return {
        "Source": f"{product} {conversation.app_version or ''}".rstrip(),
        "ID": conversation.id,
        "Project": conversation.cwd or "",
        "Git": " ".join(filter(None, (conversation.git_branch, conversation.git_commit))),
        "Model": ", ".join(entry.models),
        "Time": f"{time_range} (UTC)" if time_range else "",
        "Messages": f"{entry.messages:,}",
        "Answers": describe.answers(conversation),
        "Tokens": entry.tokens,
        "Parent": f"{describe.RELATIONS[link.relation]} {link.conversation_id}" if link else "",
        "Children": ", ".join(f"{child.relation} {child.id}" for child, _ in page.children()),
        "Tags": ", ".join(conversation.tags),
        "Redacted": redaction.describe_redactions(conversation),
    }


def _section_heading(section: Section) -> str:
    kind = "Subagent" if section.kind == "subagent" else "Another branch"
    if section.after is None:
        return kind if section.kind == "subagent" else "Another starting point"
    excerpt = " ".join(tree.plain_text(section.after)[: 4 * _MAX_EXCERPT_CHARS].split())[:_MAX_EXCERPT_CHARS]
    quoted_excerpt = f" “{one_line(excerpt)}”" if excerpt else ""
    return f"{kind}, after {section.after.role} {clock(section.after.at)}".rstrip() + quoted_excerpt


def _turn_lines(turns: Iterable[Turn | Event], page: Page, *, is_sidechain: bool) -> Iterator[str]:
    current_day = ""
    for turn in turns:
        if isinstance(turn, Event):
            words = (turn.name, clock(turn.at), compact(turn.data) if turn.data else "")
            yield f"  · {one_line(' '.join(filter(None, words)))}"
            continue
        message = turn.message
        if not turn.is_continuation:
            day_ = day(message.at)
            time = clock(message.at) if day_ == current_day else date_and_time(message.at)
            current_day = day_ or current_day
            yield f"\n{_speaker(message, time, is_sidechain=is_sidechain)}"
        if not turn.message.parts:
            yield "  (empty)"
        for part in turn.parts:
            yield from part_lines(part, page)
        yield from (f"  ! Request failed: {one_line(failure)}" for failure in turn.failures)


def _speaker(message: Message, time: str, *, is_sidechain: bool) -> str:
    name = "Tool" if is_answer(message) else message.role.capitalize()
    labels = [
        "hidden" if message.hidden else "",
        "subagent" if message.sidechain and not is_sidechain else "",
    ]
    return " · ".join(filter(None, [name, one_line(message.model or ""), time, *labels]))
