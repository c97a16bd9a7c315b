"""The context of a prompt: files and other items, their providers, the codebase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Media, Other, Text
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part

_CODEBASE = "codebase"


class Context:
    """Collects the context of a session, in the form of `context.custom`."""

    def __init__(self) -> None:
        self._providers: dict[tuple[str, str | None], Bag] = {}
        self._codebase: list[Bag] = []

    def as_bag(self) -> Bag:
        """Return the distinct providers with their queries, and the results of codebase searches."""
        bag = {"context_providers": [*self._providers.values()], "codebase_context": self._codebase}
        return {name: value for name, value in bag.items() if value}

    def add_mentions(self, editor: Any) -> None:
        """Add the providers that the user mentioned in the prompt, which the editor stores as a tree."""
        pending = [editor]
        while pending:
            node = pending.pop()
            if node.__class__ is list:
                pending.extend(reversed(node))
            elif node.__class__ is dict:
                if node.get("type") == "mention" and node.get("attrs").__class__ is dict:
                    self._add_mention(node["attrs"])
                pending.append(node.get("content"))

    def _add_mention(self, attributes: Bag) -> None:
        kind = attributes.get("itemType")
        name = nonempty_str(attributes.get("id") if kind == "contextProvider" else kind)
        if name is not None:
            self._add_provider(name, nonempty_str(attributes.get("query")))

    def add_item(self, raw: Any, fields: Fields) -> Part:
        """Convert a context item (a file or another text) to a part, and add its provider."""
        if raw.__class__ is not dict:
            fields.note(Kind.WRONG_TYPE, fields.where, f"a context item is {type(raw).__name__}")
            return Other(data=raw, name="contextItem")
        item = Fields(raw, fields.note, fields.where)
        identity, uri = item.view("id"), item.view("uri")
        provider = nonempty_str(identity.get("providerTitle")) if identity.__class__ is dict else None
        item_id = nonempty_str(identity.get("itemId")) if identity.__class__ is dict else None
        address = nonempty_str(uri.get("value")) if uri.__class__ is dict else None
        if provider is not None:
            # The query for a file is its URI.
            self._add_item_provider(provider, item_id if address and item_id == address else None)
        name = item.text("name")
        if provider == _CODEBASE:
            hit = {"name": name, "description": nonempty_str(item.view("description")), "uri": address}
            self._codebase.append({key: value for key, value in hit.items() if value is not None})
        text = item.text("content") or None
        return Media(kind="document", name=name, ref=address or item_id, text=text, extra=item.rest())

    def _add_item_provider(self, provider: str, query: str | None) -> None:
        if query is not None or not any(name == provider for name, _ in self._providers):
            self._add_provider(provider, query)

    def _add_provider(self, name: str, query: str | None) -> None:
        provider = {"name": name} if query is None else {"name": name, "query": query}
        self._providers.setdefault((name, query), provider)


def convert_output(raw: Any) -> tuple[str | list[Any], list[Bag]]:
    """Convert a tool's output of context items to text, and return their other fields."""
    items = [*objects(raw)]
    if raw.__class__ is not list or len(items) < len(raw):
        return [Other(data=raw, name="output")], []
    if not all(item.get("content").__class__ is str for item in items):
        return [Other(data=item, name="output") for item in items], []
    rest = [{name: value for name, value in item.items() if name != "content"} for item in items]
    if len(items) == 1:
        return items[0]["content"], [extra for extra in rest if extra]
    return [Text(text=item["content"], extra=extra) for item, extra in zip(items, rest, strict=True)], []


def as_text(raw: Any) -> str | None:
    """Join context items as the model receives them; None if they are not all text."""
    texts: list[Any] = [item.get("content") for item in objects(raw)]
    return "\n\n".join(texts) if all(text.__class__ is str for text in texts) else None
