"""The parts of a message: text, reasoning, code, images and files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.rendering import tool_rows
from agent_journal.rendering.blocks import block, first_line, folded, language_of, value_block
from agent_journal.rendering.markdown import prose
from agent_journal.rendering.markup import (
    NOTHING,
    Markup,
    Template,
    element,
    image,
    is_web,
    joined,
    link,
    text,
)
from agent_journal.rendering.turns import ToolUse
from agent_journal.text import describe
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from agent_journal.model import Citation, Part
    from agent_journal.rendering.addresses import Addresses, RelatedLink


_MAX_PROMPT_LINES, _MAX_PROMPT_CHARS = 40, 4000
_REASONING = Template(element("details", "thinking", folded("Thinking")))
_MEDIA_TEXT = Template(element("details", "other", folded("Text")))


class Anchors:
    """The anchors of messages within a page. Messages that share an id get different anchors."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._used: dict[str, int] = {}

    def of(self, message_id: str) -> Markup:
        """The anchor of the next message that has this id. Links lead to the first."""
        anchor = self._addresses.anchor(message_id)
        uses = self._used[anchor] = self._used.get(anchor, 0) + 1
        return text(anchor if uses == 1 else f"{anchor}-{uses}")


class Parts:
    """Renders the parts of one page."""

    def __init__(self, addresses: Addresses, anchors: Anchors, folder: str | None = None) -> None:
        self._addresses = addresses
        self._anchors = anchors
        self._folder = folder
        self._anchored: set[str] = set()
        self.omitted_files = 0
        """The number of files whose content is not on the page."""

    def of_prompt(self, part: Part | ToolUse) -> Markup:
        """A part of a user's message: what is very long, such as a pasted log, is folded."""
        if not isinstance(part, Text) or part.injected or part.citations or not _is_long(part.text):
            return self.of(part)
        lines = count(part.text.count("\n") + 1, "line")
        button = element("button", {"class": "unfold", "type": "button"}, f"Show all {lines}")
        return element("div", "long", prose(part.text), button)

    def of(self, part: Part | ToolUse) -> Markup:
        """A part, or a tool call with its result."""
        match part:
            case ToolUse():
                call = tool_rows.tool_call(part, self._anchor_of(part), self.of, self._folder)
                subagents = self._addresses.started_by_call(part.call)
                return joined([call, *(subagent(each) for each in subagents)]) if subagents else call
            case Text(injected=True):
                line = element("summary", "", "Added by the tool, not written by the user")
                return element("details", "hidden", line, prose(part.text))
            case Text():
                rendered = prose(part.text)
                return joined([rendered, _citations(part.citations)]) if part.citations else rendered
            case Reasoning():
                return _reasoning(part)
            case Code():
                return _code(part)
            case Media():
                return self._media(part)
            case ToolCall():
                return tool_rows.tool_call(ToolUse(part, None, None), None, self.of, self._folder)
            case ToolResult():
                return tool_rows.orphan_result(part, self.of)
            case Other():
                line = element("summary", "", element("span", "name", part.name or "other"))
                return element("details", "other", line, value_block(part.data))

    def _anchor_of(self, use: ToolUse) -> str | None:
        """The anchor of the message that contained a result; None after its first result."""
        if use.result_message is None or use.result_message.id in self._anchored:
            return None
        self._anchored.add(use.result_message.id)
        return self._anchors.of(use.result_message.id)

    def _media(self, media: Media) -> Markup:
        description = describe.media(media)
        if (address := self._addresses.image(media)) is not None:
            return element(
                "div", "picture", image(address, media.name or description), element("small", "", description)
            )
        text_block = _media_text(media)
        name: str = description
        if (path := self._addresses.file(media)) is not None:
            name = element("a", {"href": path}, description)
        elif media.ref is not None and is_web(media.ref):
            name = link(media.ref, description)
        if media.data and path is None and (media.text or not text_block):
            self.omitted_files += 1
        ref = element("small", "", f" {media.ref}") if media.ref and media.name else NOTHING
        return element("div", "file", name, ref, text_block)


def _is_long(text: str) -> bool:
    return len(text) > _MAX_PROMPT_CHARS or text.count("\n") >= _MAX_PROMPT_LINES


def subagent(link: RelatedLink) -> Markup:
    """A link to the page of a subagent."""
    return element("p", "started", "Subagent: ", element("a", {"href": link.address}, link.title))


def _media_text(media: Media) -> Markup:
    """The text of a file, folded below its first line."""
    text = tree.held_text(media)
    if text is None:
        return NOTHING
    code_block = block(text, language_of(media.name))
    return _MEDIA_TEXT(first_line(text), count(describe.lines_in(text), "line"), code_block)


def _reasoning(part: Reasoning) -> Markup:
    """Reasoning of the model, folded below its first line."""
    first_text = part.text or part.summary or ""
    if not first_text:
        reason = f"encrypted, {size(len(part.encrypted))}" if part.encrypted else "not recorded"
        return element("p", "thinking quiet", f"Thinking ({reason})")
    blocks = [prose(part.text)] if part.text else []
    if part.summary:
        blocks += [element("p", "quiet", "Summary:")] if part.text else []
        blocks.append(prose(part.summary))
    return _REASONING(first_line(first_text), count(describe.lines_in(first_text), "line"), joined(blocks))


def _code(part: Code) -> Markup:
    location = describe.code_location(part)
    code_block = block(part.code, part.language or language_of(part.file))
    return joined([element("p", "place", location), code_block]) if location else code_block


def _citations(citations: list[Citation]) -> Markup:
    """The sources that a text cites."""
    return element("ol", "sources", *[element("li", "", *_citation(each)) for each in citations])


def _citation(citation: Citation) -> list[Markup]:
    items = [link(citation.url, citation.title or citation.url)] if citation.url else []
    if citation.title and not citation.url:
        items.append(element("span", "", citation.title))
    if citation.text:
        items.append(element("blockquote", "", citation.text))
    return items or [element("span", "", describe.citation(citation))]
