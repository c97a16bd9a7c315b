"""What was put beside a prompt: files and other items, the providers they came from, the codebase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.model import Media, Other, Text
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part

_CODEBASE = "codebase"


class Context:
    """The context of a whole session, in the terms of `context.custom`."""

    def __init__(self) -> None:
        self._providers: dict[tuple[str, str | None], Bag] = {}
        self._codebase: list[Bag] = []

    def told(self) -> Bag:
        """Each provider with its query once, and what of the codebase was found."""
        told = {"context_providers": [*self._providers.values()], "codebase_context": self._codebase}
        return {name: value for name, value in told.items() if value}

    def add_mentions(self, editor: Any) -> None:
        """Take the providers that a person named while writing; the editor keeps its text as a tree."""
        pending = [editor]
        while pending:
            node = pending.pop()
            if node.__class__ is list:
                pending.extend(reversed(node))
            elif node.__class__ is dict:
                if node.get("type") == "mention" and node.get("attrs").__class__ is dict:
                    self._mention(node["attrs"])
                pending.append(node.get("content"))

    def _mention(self, attributes: Bag) -> None:
        kind = attributes.get("itemType")
        name = words(attributes.get("id") if kind == "contextProvider" else kind)
        if name is not None:
            self._provider(name, words(attributes.get("query")))

    def part(self, raw: Any, fields: Fields) -> Part:
        """An item that went with a prompt: a file or something else that is text."""
        if raw.__class__ is not dict:
            fields.note(Kind.WRONG_TYPE, fields.where, f"a context item is {type(raw).__name__}")
            return Other(data=raw, name="contextItem")
        item = Fields(raw, fields.note, fields.where)
        identity, uri = item.look("id"), item.look("uri")
        provider = words(identity.get("providerTitle")) if identity.__class__ is dict else None
        own = words(identity.get("itemId")) if identity.__class__ is dict else None
        place = words(uri.get("value")) if uri.__class__ is dict else None
        if provider is not None:
            # A file is asked for by its address.
            self._came_from(provider, own if place and own == place else None)
        name = item.text("name")
        if provider == _CODEBASE:
            found = {"name": name, "description": words(item.look("description")), "uri": place}
            self._codebase.append({key: value for key, value in found.items() if value is not None})
        text = item.text("content") or None
        return Media(kind="document", name=name, ref=place or own, text=text, extra=item.rest())

    def _came_from(self, provider: str, query: str | None) -> None:
        if query is not None or not any(name == provider for name, _ in self._providers):
            self._provider(provider, query)

    def _provider(self, name: str, query: str | None) -> None:
        told = {"name": name} if query is None else {"name": name, "query": query}
        self._providers.setdefault((name, query), told)


def output(raw: Any) -> tuple[str | list[Any], list[Bag]]:
    """What a tool gave as items of context: their text, and what else they say."""
    items = [*objects(raw)]
    if raw.__class__ is not list or len(items) < len(raw):
        return [Other(data=raw, name="output")], []
    if not all(item.get("content").__class__ is str for item in items):
        return [Other(data=item, name="output") for item in items], []
    rest = [{name: value for name, value in item.items() if name != "content"} for item in items]
    if len(items) == 1:
        return items[0]["content"], [each for each in rest if each]
    return [Text(text=item["content"], extra=left) for item, left in zip(items, rest, strict=True)], []


def as_text(raw: Any) -> str | None:
    """The items as the model gets them: one below the other; None if they are not all text."""
    texts: list[Any] = [item.get("content") for item in objects(raw)]
    return "\n\n".join(texts) if all(text.__class__ is str for text in texts) else None
