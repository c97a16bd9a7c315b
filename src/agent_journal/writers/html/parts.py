"""The parts of a message: what was said and thought, code, pictures and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.text import describe
from agent_journal.text.humanize import count, size
from agent_journal.writers.html import tools
from agent_journal.writers.html.blocks import block, first_line, fold, language_of, value
from agent_journal.writers.html.markup import (
    NOTHING,
    Markup,
    Pattern,
    element,
    image,
    is_web,
    joined,
    link,
    text,
)
from agent_journal.writers.html.prose import prose
from agent_journal.writers.rendering.turns import Done

if TYPE_CHECKING:
    from agent_journal.model import Citation, Part
    from agent_journal.writers import Kin
    from agent_journal.writers.rendering.pages import Page


_THOUGHT = Pattern(element("details", "thinking", fold("Thinking")))
_HELD = Pattern(element("details", "other", fold("Text")))


class Anchors:
    """The names of messages within a page; of several that have one id, each has a name of its own."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._used: dict[str, int] = {}

    def of(self, message_id: str) -> Markup:
        """The name of the next message that has this id. Links lead to the first."""
        anchor = self._page.anchor(message_id)
        times = self._used[anchor] = self._used.get(anchor, 0) + 1
        return text(anchor if times == 1 else f"{anchor}-{times}")


class Parts:
    """How the parts of one page are shown."""

    def __init__(self, page: Page, anchors: Anchors) -> None:
        self._page = page
        self._anchors = anchors
        self._answered: set[str] = set()
        self.left_out = 0
        """How many files there were whose bytes have no place on a page."""

    def of(self, part: Part | Done) -> Markup:
        """A part, or a call with its result."""
        match part:
            case Done():
                done = tools.done(part, self._anchor_of(part), self.of)
                started = self._page.started_by(part.call)
                return joined([done, *(subagent(*each) for each in started)]) if started else done
            case Text(injected=True):
                line = element("summary", "", "Added by the tool: the person did not write this")
                return element("details", "hidden", line, prose(part.text))
            case Text():
                said = prose(part.text)
                return joined([said, _sources(part.citations)]) if part.citations else said
            case Reasoning():
                return _thought(part)
            case Code():
                return _code(part)
            case Media():
                return self._media(part)
            case ToolCall():
                return tools.done(Done(part, None, None), None, self.of)
            case ToolResult():
                return tools.result_alone(part, self.of)
            case Other():
                line = element("summary", "", element("span", "name", part.name or "other"))
                return element("details", "other", line, value(part.data))

    def _anchor_of(self, act: Done) -> str | None:
        """The anchor of the message that held a result, at the first of them."""
        if act.answer is None or act.answer.id in self._answered:
            return None
        self._answered.add(act.answer.id)
        return self._anchors.of(act.answer.id)

    def _media(self, media: Media) -> Markup:
        told = describe.media(media)
        if (picture := self._page.picture(media)) is not None:
            return element("div", "picture", image(picture, media.name or told), element("small", "", told))
        held = _held(media)
        name: str = told
        if (path := self._page.file(media)) is not None:
            name = element("a", {"href": path}, told)
        elif media.ref is not None and is_web(media.ref):
            name = link(media.ref, told)
        if media.data and path is None and (media.text or not held):
            self.left_out += 1
        ref = element("small", "", f" {media.ref}") if media.ref and media.name else NOTHING
        return element("div", "file", name, ref, held)


def subagent(kin: Kin, address: str) -> Markup:
    """A link to what a call started, which has a page of its own."""
    return element("p", "started", "Subagent: ", element("a", {"href": address}, kin.title or kin.id))


def _held(media: Media) -> Markup:
    """What a file says in words, folded below its first line."""
    held = tree.held_text(media)
    if held is None:
        return NOTHING
    shown = block(held, language_of(media.name))
    return _HELD(first_line(held), count(describe.lines_in(held), "line"), shown)


def _thought(part: Reasoning) -> Markup:
    """What the model thought, folded below its first line."""
    said = part.text or part.summary or ""
    if not said:
        hidden = f"encrypted, {size(len(part.encrypted))}" if part.encrypted else "not told"
        return element("p", "thinking quiet", f"Thinking ({hidden})")
    blocks = [prose(part.text)] if part.text else []
    if part.summary:
        blocks += [element("p", "quiet", "In short:")] if part.text else []
        blocks.append(prose(part.summary))
    return _THOUGHT(first_line(said), count(describe.lines_in(said), "line"), joined(blocks))


def _code(part: Code) -> Markup:
    place = describe.place(part)
    shown = block(part.code, part.language or language_of(part.file))
    return joined([element("p", "place", place), shown]) if place else shown


def _sources(citations: list[Citation]) -> Markup:
    """What a text cites."""
    return element("ol", "sources", *[element("li", "", *_source(each)) for each in citations])


def _source(citation: Citation) -> list[Markup]:
    told = [link(citation.url, citation.title or citation.url)] if citation.url else []
    if citation.title and not citation.url:
        told.append(element("span", "", citation.title))
    if citation.text:
        told.append(element("blockquote", "", citation.text))
    return told or [element("span", "", describe.citation(citation))]
