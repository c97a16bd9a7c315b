"""A conversation as plain text."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal import redaction
from agent_journal.model import Conversation, Event, tree
from agent_journal.model.branches import is_answer
from agent_journal.text import describe
from agent_journal.text.describe import compact
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import one_line
from agent_journal.writers.rendering.pages import address_in_index
from agent_journal.writers.rendering.turns import places, sections, turns
from agent_journal.writers.rendering.utc_times import clock, day, short, span
from agent_journal.writers.text.parts import part, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item, Memory, Message
    from agent_journal.writers.rendering.pages import Absent, Book, Facts, Page
    from agent_journal.writers.rendering.turns import Section, Turn

_MUCH = 1 << 20
_RULE = "=" * 80
_WORDS = 60


def page(item: Item, page: Page, out: IO[bytes]) -> None:
    """Write a conversation or memory."""
    lines = _conversation(item, page) if isinstance(item, Conversation) else _memory(item, page)
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line.encode("utf-8", "replace"))
        size += len(line)
        if size > _MUCH:
            out.write(b"\n".join([*waiting, b""]))
            waiting, size = [], 0
    out.write(b"\n".join([*waiting, b"", b""]))


def index(book: Book, out: IO[bytes]) -> None:
    """Write the index of a folder."""
    out.write("\n".join([*_index(book), ""]).encode("utf-8", "replace"))


def absent(missing: Absent, out: IO[bytes]) -> None:
    """Say that a conversation is not here."""
    out.write(f"Not here: {one_line(missing.source)} {one_line(missing.id)}\n".encode("utf-8", "replace"))


def _index(book: Book) -> Iterator[str]:
    memories = book.memories()
    told = count(len(book.facts) - len(memories), "conversation")
    kept = f" and {count(len(memories), 'memory', 'memories')}" if memories else ""
    yield f"{told}{kept}; times are UTC"
    below = book.children()
    for project in book.projects():
        yield f"\n{one_line(project.name)}"
        for day_ in project.days:
            yield f"\n  {day_.date or 'Undated'}"
            for top in day_.entries:
                pending = [(top, 2)]
                while pending:
                    facts, depth = pending.pop()
                    yield f"{'  ' * depth}{_entry(facts, book)}"
                    pending.extend((child, depth + 1) for child in reversed(below.get(facts.name, ())))
    if memories:
        yield "\nMemories\n"
        yield from (f"    {_entry(facts, book)}" for facts in memories)


def _entry(facts: Facts, book: Book) -> str:
    at = short(facts.begun_at) if facts.is_memory else clock(facts.begun_at)
    told = [at, one_line(facts.title), facts.relation or "", address_in_index(facts, book)]
    return "  ".join(filter(None, told))


def _memory(memory: Memory, page: Page) -> Iterator[str]:
    told = {
        "Memory": memory.kind,
        "Source": page.run.titles.get(memory.source, memory.source),
        "Id": memory.id,
        "About": memory.about or "",
        "Time": short(memory.at),
        "Redacted": redaction.told(memory),
    }
    yield from _head(page.facts.title, told)
    yield f"\n{said(memory.text)}"


def _conversation(conversation: Conversation, page: Page) -> Iterator[str]:
    yield from _head(page.facts.title, _about(conversation, page))
    for summary in conversation.summaries:
        yield f"\n  Summary {short(summary.at)}".rstrip()
        yield said(summary.text)
    found, failures = sections(conversation), describe.failures(conversation)
    named = places(conversation, found)
    is_aside = all(message.sidechain for message in tree.messages(conversation))
    for section in found:
        if section.kind != "main":
            yield f"\n{_RULE}\n{_beginning(section)}"
        told = [*turns(section.entries, failures, named)]
        if section.kind == "main" and told and isinstance(told[0], Event):
            yield ""  # a message begins with a line of its own
        yield from _turns(told, page, is_aside=is_aside or section.kind == "subagent")
    for feedback in conversation.feedback:
        words = ("Feedback", feedback.message_id, feedback.rating, feedback.text)
        yield f"\n  {one_line(' '.join(filter(None, words)))}"


def _head(title: str, told: dict[str, str]) -> Iterator[str]:
    yield f"{_RULE}\n{one_line(title)}\n"
    yield from (f"{name + ':':10} {one_line(value)}" for name, value in told.items() if value)


def _about(conversation: Conversation, page: Page) -> dict[str, str]:
    facts, run, link = page.facts, page.run, conversation.link
    moments = span(facts.begun_at, facts.ended_at)
    return {
        "Source": f"{run.titles.get(facts.source, facts.source)} {conversation.app_version or ''}".rstrip(),
        "Id": conversation.id,
        "Project": conversation.cwd or "",
        "Git": " ".join(filter(None, (conversation.git_branch, conversation.git_commit))),
        "Model": ", ".join(facts.models),
        "Time": f"{moments} (UTC)" if moments else "",
        "Messages": f"{facts.messages:,}",
        "Answers": describe.answers(conversation),
        "Tokens": facts.tokens,
        "Parent": f"{describe.RELATIONS[link.relation]} {link.conversation_id}" if link else "",
        "Children": ", ".join(f"{kin.relation} {kin.id}" for kin, _ in page.children()),
        "Tags": ", ".join(conversation.tags),
        "Redacted": redaction.told(conversation),
    }


def _beginning(section: Section) -> str:
    what = "Subagent" if section.kind == "subagent" else "Another branch"
    if section.after is None:
        return what if section.kind == "subagent" else "Another beginning"
    words = " ".join(tree.plain_text(section.after)[: 4 * _WORDS].split())[:_WORDS]
    told = f" “{one_line(words)}”" if words else ""
    return f"{what}, after {section.after.role} {clock(section.after.at)}".rstrip() + told


def _turns(found: Iterable[Turn | Event], page: Page, *, is_aside: bool) -> Iterator[str]:
    today = ""
    for each in found:
        if isinstance(each, Event):
            words = (each.name, clock(each.at), compact(each.data) if each.data else "")
            yield f"  · {one_line(' '.join(filter(None, words)))}"
            continue
        message = each.message
        if not each.goes_on:
            this_day = day(message.at)
            at = clock(message.at) if this_day == today else short(message.at)
            today = this_day or today
            yield f"\n{_speaker(message, at, is_aside=is_aside)}"
        if not each.message.parts:
            yield "  (empty)"
        for one in each.parts:
            yield from part(one, page)
        yield from (f"  ! request failed: {one_line(failure)}" for failure in each.failures)


def _speaker(message: Message, at: str, *, is_aside: bool) -> str:
    who = "Tool" if is_answer(message) else message.role.capitalize()
    marks = ["hidden" if message.hidden else "", "subagent" if message.sidechain and not is_aside else ""]
    return " · ".join(filter(None, [who, one_line(message.model or ""), at, *marks]))
