"""The parts that a response shows, each read by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Citation, Text
from agent_journal.readers.vscode_copilot import places
from agent_journal.readers.vscode_copilot.names import SIMPLE, TOLD
from agent_journal.readers.vscode_copilot.rounds import thought_of

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

INVOCATION = "toolInvocationSerialized"


class Said:
    """Pieces of text that were shown one behind the other: they are one text."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._citations: list[Citation] = []
        self._rests: list[Bag] = []
        self._length = 0

    def add(self, piece: str, rest: Bag) -> None:
        """Put a piece behind the others; what it has beside its text is kept once."""
        self._pieces.append(piece)
        self._length += len(piece)
        if rest and (not self._rests or rest != self._rests[-1]):
            self._rests.append(rest)

    def cite(self, words: str, part: Fields) -> None:
        """Put a reference in its place in the text."""
        start = self._length
        self.add(words, {})
        self._citations.append(
            Citation(title=words, url=referred(part), start=start, end=self._length, extra=part.rest())
        )

    def text(self) -> Text:
        """All of it."""
        extra = self._rests[0] if len(self._rests) == 1 else {"markdown": self._rests} if self._rests else {}
        return Text(text="".join(self._pieces), citations=self._citations, extra=extra)


def take_text(part: Fields) -> str | None:
    """Move the text out of a part that is one: Markdown, in each of the forms it has been written in."""
    kind = part.look("kind")
    if kind is None and isinstance(part.look("value"), str):
        return part.text("value")
    if kind in ("markdownContent", "markdownVuln"):
        inner = part.look("content")
        if isinstance(inner, str):
            part.drop("kind")
            return part.text("content")
        if isinstance(inner, dict) and isinstance(inner.get("value"), str):
            part.drop("kind")
            content = part.nested("content")
            return None if content is None else content.text("value")
    return None


def has_text(part: Fields) -> bool:
    """Whether a part says something."""
    kind = part.look("kind")
    holder = part.look("content") if kind in ("markdownContent", "markdownVuln") else None
    text = part.look("value") if kind is None else holder.get("value") if isinstance(holder, dict) else holder
    return isinstance(text, str) and bool(text.strip())


def thought(part: Fields) -> str | None:
    """What the model thought, if a part that is about it tells."""
    return thought_of(part.look("value"))


def told(part: Fields) -> Text | None:
    """What the editor says or asks, or the plan that it shows: its words, with what else the part has."""
    kind = part.look("kind")
    names = TOLD.get(kind, ()) if isinstance(kind, str) else ()
    words = [said for name in names if (said := _take_words(part, name)) is not None]
    return Text(text="\n\n".join(words), extra=part.rest()) if words else None


def _take_words(part: Fields, name: str) -> str | None:
    """Move words out of a part, which are text or Markdown."""
    said = part.look(name)
    if isinstance(said, str):
        return part.text(name)
    inner = part.nested(name) if isinstance(said, dict) and isinstance(said.get("value"), str) else None
    return None if inner is None else inner.text("value")


def is_sidechain(part: Fields) -> bool:
    """Whether a sub-agent is concerned: by the call that started it, or at first by a flag."""
    return bool(part.look("subAgentInvocationId")) or part.look("fromSubAgent") is True


def referred(part: Fields) -> str | None:
    """Where an inline reference leads: to a file, a stretch of it, or a symbol in it."""
    place = part.look("inlineReference")
    if isinstance(place, dict) and isinstance(place.get("location"), dict):
        place = place["location"]
    return places.path_of(place)


def words_for(part: Fields) -> str:
    """How the editor writes an inline reference: by its name, a symbol as code, a file by its last step."""
    name = part.look("name")
    if isinstance(name, str) and name:
        return name
    place = part.look("inlineReference")
    symbol = place.get("name") if isinstance(place, dict) else None
    if isinstance(symbol, str) and symbol:
        return f"`{symbol}`"
    path = referred(part)
    return "" if path is None else places.name_of(path) or path


def input_shown(part: Fields) -> Any:
    """The arguments of a call, as far as they were shown."""
    specific, details = part.look("toolSpecificData"), part.look("resultDetails")
    if isinstance(specific, dict):
        if "rawInput" in specific:
            return specific["rawInput"]
        if specific.get("kind") == SIMPLE:
            return specific.get("input")
        names = ("commandLine", "command", "cwd", "todoList", "prompt", "description", "agentName")
        if said := {name: specific[name] for name in names if name in specific}:
            return said
    return details.get("input") if isinstance(details, dict) else None


def is_mcp(part: Fields | None) -> bool:
    """Whether a tool is one of an MCP server."""
    origin = None if part is None else part.look("source")
    return isinstance(origin, dict) and origin.get("type") == "mcp"
