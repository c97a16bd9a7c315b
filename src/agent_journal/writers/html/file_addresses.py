"""The addresses of pages that are files of an export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.rendering.addresses import RelatedLink

if TYPE_CHECKING:
    from agent_journal.model import Conversation, Media, ToolCall
    from agent_journal.writers import RelatedConversation
    from agent_journal.writers.rendering.pages import Page


class FileAddresses:
    """The addresses on one page of an export: anchors, and names of files next to it."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.name = page.entry.name
        self.index = page.index_address

    def anchor(self, message_id: str) -> str:
        """The anchor of a message."""
        return self._page.anchor(message_id)

    def message(self, message_id: str) -> str:
        """The address of a message: its anchor, as the page has all of them."""
        return f"#{self._page.anchor(message_id)}"

    def raw(self, _message_id: str) -> str | None:
        """An export has no records of sources."""
        return None

    def section_anchor(self, number: int) -> str:
        """The anchor of another branch."""
        return f"{self.name}-branch-{number}"

    def section(self, number: int) -> str:
        """The address of another branch."""
        return f"#{self.section_anchor(number)}"

    def parent(self, conversation: Conversation) -> str | None:
        """The page that this one came from."""
        # In a single document, the parent's messages have anchors only if the parent is in it, too.
        return self._page.parent_address(conversation, message=self.index is not None)

    def related(self) -> list[RelatedLink]:
        """The pages that came from this one."""
        return [_link(*child) for child in self._page.children()]

    def started_by_call(self, call: ToolCall) -> list[RelatedLink]:
        """The pages of the subagents that a tool call started."""
        return [_link(*child) for child in self._page.subagents_of_call(call)]

    def started_by_message(self, message_id: str) -> list[RelatedLink]:
        """The pages of the subagents that a message started, if the tool call is unknown."""
        return [_link(*child) for child in self._page.subagents_of_message(message_id)]

    def image(self, media: Media) -> str | None:
        """An image: embedded, or the path of its file."""
        return self._page.image_address(media)

    def file(self, media: Media) -> str | None:
        """The path of a file; None if it was not written."""
        return self._page.file_path(media)


def _link(child: RelatedConversation, address: str) -> RelatedLink:
    return RelatedLink(child.title or child.id, address, child.relation)
