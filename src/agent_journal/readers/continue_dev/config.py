"""The models that the user has configured: sessions refer to them by title.

`config.yaml`, or `config.json` before 2025. Nothing else is read from it, as it contains API keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream, yaml_text
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

YAML, JSON = "config.yaml", "config.json"


class Configured(NamedTuple):
    """A configured model."""

    name: str | None
    provider: str | None
    model: str
    is_for_chats: bool

    def as_bag(self) -> Bag:
        """Return its known fields."""
        bag = {"name": self.name, "provider": self.provider, "model": self.model}
        return {key: value for key, value in bag.items() if value is not None}


class Models:
    """The models of a configuration."""

    def __init__(self, configured: list[Configured]) -> None:
        self.configured = configured
        self._by_name = {model.name: model.model for model in reversed(configured) if model.name}

    def id_of(self, title: str | None) -> str | None:
        """Return the model with a title; the title itself if no such model is configured."""
        return None if title is None else self._by_name.get(title, title)

    @property
    def default(self) -> str | None:
        """The model that answers if the user chooses none: the first one for chats."""
        return next((model.model for model in self.configured if model.is_for_chats), None)


def load(file: Input, note: Notes) -> Models:
    """Load the models of a configuration file; none if it cannot be read."""
    if file.name == YAML:
        return models_in(yaml_text.load(file, note))
    about = note.about(file.label)
    try:
        return models_in(json_stream.load(file, about, may_have_comments=True))
    except UnreadableSource as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
        return Models([])


def models_in(config: Any) -> Models:
    """Return the models of a configuration."""
    listed = config.get("models") if config.__class__ is dict else None
    return Models([model for raw in objects(listed) if (model := _model(raw)) is not None])


def _model(raw: Bag) -> Configured | None:
    model = nonempty_str(raw.get("model"))
    if model is None:
        return None  # `uses: anthropic/claude-4-sonnet`: a block that is defined elsewhere
    roles = raw.get("roles")
    return Configured(
        name=nonempty_str(raw.get("name")) or nonempty_str(raw.get("title")),
        provider=nonempty_str(raw.get("provider")),
        model=model,
        is_for_chats=roles.__class__ is not list or "chat" in roles,
    )
