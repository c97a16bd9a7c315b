"""The URLs of the page. Ids are percent-encoded, so that any character of an id stays within its segment."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from agent_journal.model import Media, Message, ToolResult
from agent_journal.rendering.addresses import RelatedLink, message_anchor
from agent_journal.rendering.markup import ServerAddress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agent_journal.model import Conversation, Event, Part, ToolCall
    from agent_journal.web.journal_access import Related

_MAX_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif")


class Urls:
    """Builds the URLs of the page below its prefix."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix

    def of(self, view: str, name: str = "", parameters: Mapping[str, object] | None = None) -> ServerAddress:
        """The URL of a view, of a conversation if it is named; parameters without a value are left out."""
        pairs = [
            (key, each)
            for key, value in (parameters or {}).items()
            for each in (value if isinstance(value, tuple) else (value,))
            if each not in {None, ""}
        ]
        query = "&".join(f"{key}={_encode(str(value))}" for key, value in pairs)
        path = "/".join(filter(None, (self._prefix, view, _encode(name))))
        return ServerAddress(f"{'' if self._prefix else '/'}{path}{f'?{query}' if query else ''}")

    def home(self) -> ServerAddress:
        """The start page."""
        return ServerAddress(f"{self._prefix}/")

    def static(self, name: str) -> ServerAddress:
        """A file of the page itself."""
        return ServerAddress(f"{self._prefix}/static/{name}")

    def conversation(
        self, name: str, message_id: str | None = None, parameters: Mapping[str, object] | None = None
    ) -> ServerAddress:
        """A conversation (`source:id`), at a message if that is named."""
        values = {**(parameters or {}), "message": message_id}
        anchor = f"#{message_anchor(message_id)}" if message_id is not None else ""
        return ServerAddress(f"{self.of('c', name, values)}{anchor}")


def _encode(value: str) -> str:
    return quote(value, safe="", errors="replace")


class ConversationAddresses:
    """The addresses that the renderer asks for while it renders one conversation."""

    def __init__(
        self, urls: Urls, name: str, parameters: Mapping[str, object], related: Sequence[Related] = ()
    ) -> None:
        self._urls = urls
        self._name = name
        self._parameters = parameters
        self._related = related
        self._media: dict[int, tuple[str, int]] = {}
        self.name = "top"
        self.index: str | None = None

    def add_media(self, entries: Iterable[Message | Event]) -> None:
        """Give the images and files of entries addresses: the id of their message, and a number in it."""
        for entry in entries:
            if isinstance(entry, Message):
                for number, media in enumerate(iter_media(entry.parts)):
                    self._media[id(media)] = entry.id, number

    def anchor(self, message_id: str) -> str:
        """The anchor of a message."""
        return message_anchor(message_id)

    def message(self, message_id: str) -> str:
        """The permalink of a message."""
        return self._urls.conversation(self._name, message_id, self._parameters)

    def raw(self, message_id: str) -> str | None:
        """The source's own record of a message."""
        return self._urls.of("raw", self._name, {"message": message_id})

    def section_anchor(self, number: int) -> str:
        """The anchor of another branch."""
        return f"branch-{number}"

    def section(self, number: int) -> str:
        """The address of another branch."""
        return f"#{self.section_anchor(number)}"

    def parent(self, conversation: Conversation) -> str | None:
        """The conversation that this one came from."""
        link = conversation.link
        if link is None:
            return None
        return self._urls.conversation(f"{conversation.source}:{link.conversation_id}", link.message_id)

    def related(self) -> list[RelatedLink]:
        """The conversations that came from this one."""
        return [self._link(each) for each in self._related]

    def started_by_call(self, call: ToolCall) -> list[RelatedLink]:
        """The subagents that a tool call started."""
        if call.call_id is None:
            return []
        return [self._link(each) for each in self._related if each.call_id == call.call_id]

    def started_by_message(self, message_id: str) -> list[RelatedLink]:
        """The subagents that a message started, if the tool call is unknown."""
        related = [each for each in self._related if each.call_id is None]
        return [self._link(each) for each in related if each.message_id == message_id]

    def image(self, media: Media) -> str | None:
        """An image, by its message and its number in that; None if it is not one that a page shows."""
        is_shown = media.kind == "image" and (media.mime is None or media.mime in _MAX_IMAGE_TYPES)
        is_elsewhere = not media.data and (media.ref or "").startswith(("http://", "https://"))
        return self._media_address(media) if is_shown and not is_elsewhere else None

    def file(self, media: Media) -> str | None:
        """A file to download."""
        return self._media_address(media) if media.data else None

    def _media_address(self, media: Media) -> str | None:
        place = self._media.get(id(media))
        if place is None:
            return None
        return self._urls.of("media", self._name, {"message": place[0], "number": place[1]})

    def _link(self, related: Related) -> RelatedLink:
        address = self._urls.conversation(f"{related.source}:{related.id}")
        return RelatedLink(related.title or related.id, address, related.relation)


def iter_media(parts: Iterable[Part]) -> Iterator[Media]:
    """The images and files of a message, in order."""
    for part in parts:
        if isinstance(part, Media):
            yield part
        elif isinstance(part, ToolResult) and not isinstance(part.output, str):
            yield from (each for each in part.output if isinstance(each, Media))
