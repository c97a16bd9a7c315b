"""Where a conversation's links lead: the one thing about a page that its frame decides.

An export links files with each other; a server has URLs. The renderer asks for each address and inserts it as
it is, so an implementation encodes whatever an id may contain.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.model import Conversation, Media, Relation, ToolCall

_PLAIN_ANCHOR = re.compile(r"[A-Za-z0-9_-]{1,64}")


def message_anchor(message_id: str) -> str:
    """The anchor of a message within its page."""
    return f"m-{message_id if _PLAIN_ANCHOR.fullmatch(message_id) else short_hash(message_id)}"


def short_hash(*words: str) -> str:
    """A short hash of some words, for names that must be unique."""
    joined = "\0".join(words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:12]


class RelatedLink(NamedTuple):
    """A link to a conversation that this one started, or that continues it."""

    title: str
    address: str
    relation: Relation


class Addresses(Protocol):
    """The addresses that a page of one conversation uses."""

    @property
    def name(self) -> str:
        """The anchor of the conversation itself."""

    @property
    def index(self) -> str | None:
        """The address of the list of all conversations; None if there is none."""

    def anchor(self, message_id: str) -> str:
        """The anchor of a message, unique among the conversations of a page."""

    def message(self, message_id: str) -> str:
        """The address of a message of this conversation."""

    def raw(self, message_id: str) -> str | None:
        """The address of the source's own record of a message; None if it is not available."""

    def section_anchor(self, number: int) -> str:
        """The anchor of another branch or of a subagent's work."""

    def section(self, number: int) -> str:
        """The address of another branch or of a subagent's work."""

    def parent(self, conversation: Conversation) -> str | None:
        """The address of the conversation that this one came from; None without one."""

    def related(self) -> Sequence[RelatedLink]:
        """The conversations that came from this one."""

    def started_by_call(self, call: ToolCall) -> Sequence[RelatedLink]:
        """The subagents that a tool call started."""

    def started_by_message(self, message_id: str) -> Sequence[RelatedLink]:
        """The subagents that a message started, if the tool call is unknown."""

    def image(self, media: Media) -> str | None:
        """The address of an image: embedded (`data:`) or by name; None if it can't be shown."""

    def file(self, media: Media) -> str | None:
        """The address of a file; None if it is not available."""
