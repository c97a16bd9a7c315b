"""Read the single parts of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Citation, Text
from agent_journal.readers.vscode_copilot import locations
from agent_journal.readers.vscode_copilot.names import EDITOR_TEXT_KEYS, SIMPLE
from agent_journal.readers.vscode_copilot.rounds import thought_of

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

INVOCATION = "toolInvocationSerialized"


class TextBuilder:
    """Joins consecutive pieces of text to one."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._citations: list[Citation] = []
        self._extras: list[Bag] = []
        self._length = 0

    def add(self, piece: str, rest: Bag) -> None:
        """Append a piece; its other fields are stored unless they repeat those of the previous piece."""
        self._pieces.append(piece)
        self._length += len(piece)
        if rest and (not self._extras or rest != self._extras[-1]):
            self._extras.append(rest)

    def cite(self, label: str, part: Fields) -> None:
        """Append a reference."""
        start = self._length
        self.add(label, {})
        self._citations.append(
            Citation(title=label, url=_reference_url(part), start=start, end=self._length, extra=part.rest())
        )

    def build(self) -> Text:
        """Return the joined text."""
        extra: Bag = {"markdown": self._extras} if self._extras else {}
        if len(self._extras) == 1:
            extra = self._extras[0]
        return Text(text="".join(self._pieces), citations=self._citations, extra=extra)


def take_text(part: Fields) -> str | None:
    """Take the Markdown out of a text part, in any of the forms in which it has been written."""
    kind = part.view("kind")
    if kind is None and isinstance(part.view("value"), str):
        return part.text("value")
    if kind in ("markdownContent", "markdownVuln"):
        inner = part.view("content")
        if isinstance(inner, str):
            part.drop("kind")
            return part.text("content")
        if isinstance(inner, dict) and isinstance(inner.get("value"), str):
            part.drop("kind")
            content = part.nested("content")
            return None if content is None else content.text("value")
    return None


def has_text(part: Fields) -> bool:
    """Whether a part has a text that is not blank."""
    kind = part.view("kind")
    holder = part.view("content") if kind in ("markdownContent", "markdownVuln") else None
    text = part.view("value") if kind is None else holder.get("value") if isinstance(holder, dict) else holder
    return isinstance(text, str) and bool(text.strip())


def thought(part: Fields) -> str | None:
    """Return the thought in a part about the model's reasoning."""
    return thought_of(part.view("value"))


def take_editor_text(part: Fields) -> Text | None:
    """Take a message, question or plan of the editor; the part's other fields go to `extra`."""
    kind = part.view("kind")
    names = EDITOR_TEXT_KEYS.get(kind, ()) if isinstance(kind, str) else ()
    texts = [text for name in names if (text := _take_markdown(part, name)) is not None]
    return Text(text="\n\n".join(texts), extra=part.rest()) if texts else None


def _take_markdown(part: Fields, name: str) -> str | None:
    """Take a field that is a string or a Markdown object."""
    value = part.view(name)
    if isinstance(value, str):
        return part.text(name)
    inner = part.nested(name) if isinstance(value, dict) and isinstance(value.get("value"), str) else None
    return None if inner is None else inner.text("value")


def is_sidechain(part: Fields) -> bool:
    """Whether a part belongs to a subagent: by the call that started it, or in old versions by a flag."""
    return bool(part.view("subAgentInvocationId")) or part.view("fromSubAgent") is True


def _reference_url(part: Fields) -> str | None:
    """Return the target of an inline reference: a file, a range of it, or a symbol in it."""
    target = part.view("inlineReference")
    if isinstance(target, dict) and isinstance(target.get("location"), dict):
        target = target["location"]
    return locations.path_of(target)


def reference_label(part: Fields) -> str:
    """Return the label of an inline reference in the editor: its name, a symbol as code, or a file name."""
    name = part.view("name")
    if isinstance(name, str) and name:
        return name
    target = part.view("inlineReference")
    symbol = target.get("name") if isinstance(target, dict) else None
    if isinstance(symbol, str) and symbol:
        return f"`{symbol}`"
    path = _reference_url(part)
    return "" if path is None else locations.last_component(path) or path


def shown_input(part: Fields) -> Any:
    """Return the arguments of a call, as far as they were shown."""
    specific, details = part.view("toolSpecificData"), part.view("resultDetails")
    if isinstance(specific, dict):
        if "rawInput" in specific:
            return specific["rawInput"]
        if specific.get("kind") == SIMPLE:
            return specific.get("input")
        names = ("commandLine", "command", "cwd", "todoList", "prompt", "description", "agentName")
        if shown_values := {name: specific[name] for name in names if name in specific}:
            return shown_values
    return details.get("input") if isinstance(details, dict) else None


def is_mcp(part: Fields | None) -> bool:
    """Whether a tool belongs to an MCP server."""
    origin = None if part is None else part.view("source")
    return isinstance(origin, dict) and origin.get("type") == "mcp"
