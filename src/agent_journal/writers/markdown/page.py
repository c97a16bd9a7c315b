"""A conversation as Markdown: its metadata, then its messages, branch by branch."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal import redaction
from agent_journal.model import Conversation, Event, Message, tree
from agent_journal.model.branches import is_answer
from agent_journal.rendering.turns import ToolUse, iter_turns, referenced_messages, split_sections
from agent_journal.rendering.utc_times import clock, date_and_time, day, span
from agent_journal.text import describe
from agent_journal.text.describe import compact
from agent_journal.text.humanize import count
from agent_journal.writers.markdown.parts import part_blocks, subagent_link
from agent_journal.writers.rendering.safe_markdown import (
    block_quote,
    details_block,
    escape_html,
    escape_inline,
    fenced_block,
    inline_code,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item, Memory
    from agent_journal.rendering.turns import Section, Turn
    from agent_journal.writers.rendering.pages import Page

_BUFFER_CHARS = 1 << 20
_MAX_EXCERPT_CHARS = 60


def write_page(item: Item, page: Page, out: IO[bytes]) -> None:
    """Write a conversation or memory."""
    blocks = _conversation(item, page) if isinstance(item, Conversation) else _memory(item, page)
    buffered: list[bytes] = []
    buffered_chars = 0
    for block in blocks:
        # Encode each block alone: a joined str takes as many bytes per character as its widest character.
        buffered.append(block.encode("utf-8", "replace"))
        buffered_chars += len(block)
        if buffered_chars > _BUFFER_CHARS:
            out.write(b"\n\n".join([*buffered, b""]))
            buffered, buffered_chars = [], 0
    out.write(b"\n\n".join([*buffered, b""]))


def _memory(memory: Memory, page: Page) -> Iterator[str]:
    yield _title(page)
    metadata = {
        "Memory": escape_inline(memory.kind),
        "Source": escape_inline(page.run.titles.get(memory.source, memory.source)),
        "ID": inline_code(memory.id),
        "About": escape_inline(memory.about or ""),
        "Time": date_and_time(memory.at),
        "Redacted": escape_inline(redaction.describe_redactions(memory)),
    }
    yield _metadata_list(metadata)
    yield block_quote(memory.text)


def _conversation(conversation: Conversation, page: Page) -> Iterator[str]:
    yield _title(page)
    yield _metadata_list(_metadata(conversation, page))
    for summary in conversation.summaries:
        heading = f"Summary, {summary.kind.replace('_', ' ')} {date_and_time(summary.at)}".rstrip()
        yield from details_block(heading, [block_quote(summary.text)])
    sections, failures = split_sections(conversation), describe.failures(conversation)
    linked = {section.after.id for section in sections if section.after is not None}
    referenced = referenced_messages(conversation, sections)
    is_sidechain = all(message.sidechain for message in tree.messages(conversation))
    for section in sections:
        if section.kind != "main":
            yield "---"
            yield f"# {_section_heading(section, page)}"
        section_writer = _SectionWriter(page, linked, is_sidechain=is_sidechain or section.kind == "subagent")
        yield from section_writer.blocks(iter_turns(section.entries, failures, referenced))
    for feedback in conversation.feedback:
        about = f" of {inline_code(feedback.message_id)}" if feedback.message_id else ""
        yield f"**Feedback{about}:** {feedback.rating or ''} {escape_inline(feedback.text or '')}".rstrip()


def _title(page: Page) -> str:
    # In a single document other conversations link to this anchor; they link to a separate page as a whole.
    anchor = f'<a id="{page.entry.name}"></a>' if page.index_address is None else ""
    return f"# {anchor}{escape_inline(page.entry.title)}"


def _metadata_list(metadata: dict[str, str]) -> str:
    return "\n".join(f"- **{name}:** {value}" for name, value in metadata.items() if value)


def _metadata(conversation: Conversation, page: Page) -> dict[str, str]:
    entry, run = page.entry, page.run
    product = conversation.product or run.titles.get(conversation.source, conversation.source)
    source = f"{product} {conversation.app_version or ''}"
    time_range = span(entry.started_at, entry.ended_at)
    return {
        "Source": escape_inline(source.rstrip()),
        "ID": inline_code(conversation.id),
        "Project": inline_code(conversation.cwd or ""),
        "Git": " ".join(
            filter(None, map(inline_code, (conversation.git_branch or "", conversation.git_commit or "")))
        ),
        "Model": ", ".join(map(escape_inline, entry.models)),
        "Time": f"{time_range} (UTC)" if time_range else "",
        "Messages": f"{entry.messages:,}",
        "Answers": describe.answers(conversation),
        "Tokens": entry.tokens,
        "Parent": _parent(conversation, page),
        "Children": _children(page),
        "Tags": ", ".join(map(escape_inline, conversation.tags)),
        "Redacted": escape_inline(redaction.describe_redactions(conversation)),
        "Index": f"[All conversations](<{page.index_address}>)" if page.index_address else "",
    }


def _parent(conversation: Conversation, page: Page) -> str:
    link, address = conversation.link, page.parent_address(conversation, message=False)
    if link is None:
        return ""
    return f"{describe.RELATIONS[link.relation]} [{escape_inline(link.conversation_id)}](<{address}>)"


def _children(page: Page) -> str:
    return ", ".join(
        f"[{escape_inline(child.title or child.id)}](<{address}>) ({child.relation})"
        for child, address in page.children()
    )


def _section_heading(section: Section, page: Page) -> str:
    kind = "Subagent" if section.kind == "subagent" else "Another branch"
    if section.after is None:
        return kind if section.kind == "subagent" else "Another starting point"
    excerpt = " ".join(tree.plain_text(section.after)[: 4 * _MAX_EXCERPT_CHARS].split())[:_MAX_EXCERPT_CHARS]
    location = f"{section.after.role} {clock(section.after.at)}".rstrip()
    quoted_excerpt = f" “{escape_inline(excerpt)}”" if excerpt else ""
    return f"{kind}, after [{location}](<#{page.anchor(section.after.id)}>){quoted_excerpt}"


class _SectionWriter:
    """Renders the turns of one section; only the first turn of a day shows its date."""

    def __init__(self, page: Page, linked: set[str], *, is_sidechain: bool) -> None:
        self._page = page
        self._linked = linked
        self._is_sidechain = is_sidechain
        self._current_day = ""
        self._model_names: dict[str | None, str] = {None: ""}

    def blocks(self, turns: Iterable[Turn | Event]) -> Iterator[str]:
        """The Markdown blocks of turns, with all events in one block at the end."""
        events: list[Event] = []
        for turn in turns:
            if isinstance(turn, Event):
                events.append(turn)
            else:
                yield from self._turn(turn)
        if events:
            yield from _event_block(events)

    def _turn(self, turn: Turn) -> Iterator[str]:
        message = turn.message
        if message.id in self._linked:
            yield self._anchor(message)
        if message.hidden:
            summary = f"{message.role.capitalize()}, hidden {clock(message.at)}".rstrip()
            yield from details_block(escape_html(summary), self._parts(turn))
            return
        if not turn.is_continuation:
            yield f"## {self._speaker(message)}"
        yield from self._parts(turn)

    def _parts(self, turn: Turn) -> Iterator[str]:
        if not turn.message.parts:
            yield "(empty)"
        for part in turn.parts:
            if (
                isinstance(part, ToolUse)
                and part.result_message is not None
                and part.result_message.id in self._linked
            ):
                yield self._anchor(part.result_message)
            yield from part_blocks(part, turn.message, self._page)
        for child, address in self._page.subagents_of_message(turn.message.id):
            yield subagent_link(child, address)
        yield from (f"**Request failed:** {escape_inline(failure)}" for failure in turn.failures)

    def _model_name(self, model: str | None) -> str:
        if model not in self._model_names:
            self._model_names[model] = escape_inline(model or "")
        return self._model_names[model]

    def _anchor(self, message: Message) -> str:
        return f'<a id="{self._page.anchor(message.id)}"></a>'

    def _speaker(self, message: Message) -> str:
        today = day(message.at)
        time = clock(message.at) if today == self._current_day else date_and_time(message.at)
        self._current_day = today or self._current_day
        sidechain_label = "subagent" if message.sidechain and not self._is_sidechain else ""
        name = "Tool" if is_answer(message) else message.role.capitalize()
        labels = [name, self._model_name(message.model), time, sidechain_label]
        return " · ".join(label for label in labels if label)


def _event_block(events: list[Event]) -> Iterator[str]:
    lines = [
        " ".join(
            filter(None, (date_and_time(event.at), event.name, compact(event.data) if event.data else ""))
        )
        for event in events
    ]
    names = ", ".join(dict.fromkeys(event.name for event in events))
    return details_block(
        escape_html(f"{count(len(events), 'event')}: {names[:_MAX_EXCERPT_CHARS]}"),
        [fenced_block("\n".join(lines))],
    )
