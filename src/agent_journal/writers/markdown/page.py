"""A conversation as Markdown: what is known of it, then what was said, branch by branch."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal import redaction
from agent_journal.model import Conversation, Event, Message, tree
from agent_journal.model.branches import is_answer
from agent_journal.text import describe
from agent_journal.text.describe import compact
from agent_journal.text.humanize import count
from agent_journal.writers.markdown.parts import part, subagent
from agent_journal.writers.rendering.safe_markdown import code, fence, folded, in_tags, inline, quote
from agent_journal.writers.rendering.turns import Done, places, sections, turns
from agent_journal.writers.rendering.utc_times import clock, day, short, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item, Memory
    from agent_journal.writers.rendering.pages import Page
    from agent_journal.writers.rendering.turns import Section, Turn

_MUCH = 1 << 20
_WORDS = 60


def page(item: Item, page: Page, out: IO[bytes]) -> None:
    """Write a conversation or memory."""
    blocks = _conversation(item, page) if isinstance(item, Conversation) else _memory(item, page)
    waiting: list[bytes] = []
    size = 0
    for block in blocks:
        # Each by itself: joined first, all would take the room of the widest character among them.
        waiting.append(block.encode("utf-8", "replace"))
        size += len(block)
        if size > _MUCH:
            out.write(b"\n\n".join([*waiting, b""]))
            waiting, size = [], 0
    out.write(b"\n\n".join([*waiting, b""]))


def _memory(memory: Memory, page: Page) -> Iterator[str]:
    yield _title(page)
    told = {
        "Memory": inline(memory.kind),
        "Source": inline(page.run.titles.get(memory.source, memory.source)),
        "Id": code(memory.id),
        "About": inline(memory.about or ""),
        "Time": short(memory.at),
        "Redacted": inline(redaction.told(memory)),
    }
    yield _facts(told)
    yield quote(memory.text)


def _conversation(conversation: Conversation, page: Page) -> Iterator[str]:
    yield _title(page)
    yield _facts(_about(conversation, page))
    for summary in conversation.summaries:
        told = f"Summary, {summary.kind.replace('_', ' ')} {short(summary.at)}".rstrip()
        yield from folded(told, [quote(summary.text)])
    found, failures = sections(conversation), describe.failures(conversation)
    linked = {section.after.id for section in found if section.after is not None}
    named = places(conversation, found)
    is_aside = all(message.sidechain for message in tree.messages(conversation))
    for section in found:
        if section.kind != "main":
            yield "---"
            yield f"# {_beginning(section, page)}"
        reading = _Reading(page, linked, is_aside=is_aside or section.kind == "subagent")
        yield from reading.blocks(turns(section.entries, failures, named))
    for feedback in conversation.feedback:
        about = f" of {code(feedback.message_id)}" if feedback.message_id else ""
        yield f"**Feedback{about}:** {feedback.rating or ''} {inline(feedback.text or '')}".rstrip()


def _title(page: Page) -> str:
    # In one document others may link to it; a page of its own is linked to as a whole.
    anchor = f'<a id="{page.facts.name}"></a>' if page.index is None else ""
    return f"# {anchor}{inline(page.facts.title)}"


def _facts(told: dict[str, str]) -> str:
    return "\n".join(f"- **{name}:** {value}" for name, value in told.items() if value)


def _about(conversation: Conversation, page: Page) -> dict[str, str]:
    facts, run = page.facts, page.run
    source = f"{run.titles.get(conversation.source, conversation.source)} {conversation.app_version or ''}"
    moments = span(facts.begun_at, facts.ended_at)
    return {
        "Source": inline(source.rstrip()),
        "Id": code(conversation.id),
        "Project": code(conversation.cwd or ""),
        "Git": " ".join(
            filter(None, map(code, (conversation.git_branch or "", conversation.git_commit or "")))
        ),
        "Model": ", ".join(map(inline, facts.models)),
        "Time": f"{moments} (UTC)" if moments else "",
        "Messages": f"{facts.messages:,}",
        "Answers": describe.answers(conversation),
        "Tokens": facts.tokens,
        "Parent": _parent(conversation, page),
        "Came out of it": _children(page),
        "Tags": ", ".join(map(inline, conversation.tags)),
        "Redacted": inline(redaction.told(conversation)),
        "Contents": f"[all conversations](<{page.index}>)" if page.index else "",
    }


def _parent(conversation: Conversation, page: Page) -> str:
    link, address = conversation.link, page.parent(conversation, message=False)
    if link is None:
        return ""
    return f"{describe.RELATIONS[link.relation]} [{inline(link.conversation_id)}](<{address}>)"


def _children(page: Page) -> str:
    return ", ".join(
        f"[{inline(kin.title or kin.id)}](<{address}>) ({kin.relation})" for kin, address in page.children()
    )


def _beginning(section: Section, page: Page) -> str:
    what = "Subagent" if section.kind == "subagent" else "Another branch"
    if section.after is None:
        return what if section.kind == "subagent" else "Another beginning"
    words = " ".join(tree.plain_text(section.after)[: 4 * _WORDS].split())[:_WORDS]
    place = f"{section.after.role} {clock(section.after.at)}".rstrip()
    told = f" “{inline(words)}”" if words else ""
    return f"{what}, after [{place}](<#{page.anchor(section.after.id)}>){told}"


class _Reading:
    """The place in a section, and what day it is there."""

    def __init__(self, page: Page, linked: set[str], *, is_aside: bool) -> None:
        self._page = page
        self._linked = linked
        self._is_aside = is_aside
        self._day = ""
        self._models: dict[str | None, str] = {None: ""}

    def blocks(self, found: Iterable[Turn | Event]) -> Iterator[str]:
        """The blocks of Markdown that turns make; what merely happened is told at the end."""
        events: list[Event] = []
        for each in found:
            if isinstance(each, Event):
                events.append(each)
            else:
                yield from self._turn(each)
        if events:
            yield from _happened(events)

    def _turn(self, turn: Turn) -> Iterator[str]:
        message = turn.message
        if message.id in self._linked:
            yield self._anchor(message)
        if message.hidden:
            told = f"{message.role.capitalize()}, hidden {clock(message.at)}".rstrip()
            yield from folded(in_tags(told), self._parts(turn))
            return
        if not turn.goes_on:
            yield f"## {self._speaker(message)}"
        yield from self._parts(turn)

    def _parts(self, turn: Turn) -> Iterator[str]:
        if not turn.message.parts:
            yield "(empty)"
        for each in turn.parts:
            if isinstance(each, Done) and each.answer is not None and each.answer.id in self._linked:
                yield self._anchor(each.answer)
            yield from part(each, turn.message, self._page)
        for kin, address in self._page.started_at(turn.message.id):
            yield subagent(kin, address)
        yield from (f"**Request failed:** {inline(failure)}" for failure in turn.failures)

    def _named(self, model: str | None) -> str:
        if model not in self._models:
            self._models[model] = inline(model or "")
        return self._models[model]

    def _anchor(self, message: Message) -> str:
        return f'<a id="{self._page.anchor(message.id)}"></a>'

    def _speaker(self, message: Message) -> str:
        today = day(message.at)
        at = clock(message.at) if today == self._day else short(message.at)
        self._day = today or self._day
        aside = "subagent" if message.sidechain and not self._is_aside else ""
        who = "Tool" if is_answer(message) else message.role.capitalize()
        words = [who, self._named(message.model), at, aside]
        return " · ".join(word for word in words if word)


def _happened(events: list[Event]) -> Iterator[str]:
    lines = [
        " ".join(filter(None, (short(each.at), each.name, compact(each.data) if each.data else "")))
        for each in events
    ]
    names = ", ".join(dict.fromkeys(each.name for each in events))
    return folded(in_tags(f"{count(len(events), 'event')}: {names[:_WORDS]}"), [fence("\n".join(lines))])
