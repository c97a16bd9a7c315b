"""The second track: what the app displayed. Text that no message has becomes a message."""

from __future__ import annotations

import re
from typing import Any

from agent_journal.decoding.fields import objects
from agent_journal.model import Event, Message, Part, Reasoning, Role, Text

# Events that display a message: its role, and the field of its text.
_DISPLAYED: dict[str, tuple[Role, str]] = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("assistant", "text"),
    "agent_reasoning_raw_content": ("assistant", "text"),
}
_REASONING_EVENTS = ("agent_reasoning", "agent_reasoning_raw_content")
# Since 2026 whole items are displayed, and the end of a turn states why it failed.
_ITEM, _TURN_ENDS = "item_completed", ("task_complete", "turn_complete")
_ROLE_BY_ITEM: dict[str, Role] = {"UserMessage": "user", "AgentMessage": "assistant"}
# The app removes these from an answer before it displays it: the memories it is based on, and a plan, which
# is displayed separately. A tag that is not closed extends to the end.
_NOT_DISPLAYED = re.compile(
    r"<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)"
    r"|^[ \t]*<proposed_plan>[ \t]*$.*?(?:^[ \t]*</proposed_plan>[ \t]*(?:\n|\Z)|\Z)",
    re.DOTALL | re.MULTILINE,
)
# The app writes these around an image or audio.
_MEDIA_TAG = re.compile(r"</?(?:image|audio)(?: name=[^\n]*)?>")
_HIDDEN_TAGS = ("<oai-mem-citation>", "<proposed_plan>")


class DisplayEvents:
    """Collects the events that display text, and turns those whose text no message has into messages."""

    def __init__(self) -> None:
        self._displayed: list[tuple[int, str, str | None, str]] = []

    def add(self, name: str, payload: dict[str, Any], index: int, model: str | None) -> None:
        """Remember that the event at this index of the timeline displays text."""
        if name in _DISPLAYED or name == _ITEM or name in _TURN_ENDS:
            text = _displayed_text(name, payload)[1]
            if text.__class__ is str and text.strip():
                self._displayed.append((index, name, model, text))

    def replace_unmatched(self, entries: list[Message | Event]) -> list[Message | Event]:
        """Replace each event whose text no message has with a message."""
        texts, reasoning = _message_texts(entries) if self._displayed else (set(), set())
        all_reasoning = "\0".join(reasoning)
        for index, name, model, text in self._displayed:
            if text.strip() in (reasoning if name in _REASONING_EVENTS else texts):
                continue
            # Reasoning with several headings is one item, but each heading is displayed separately.
            if name in _REASONING_EVENTS and text.strip() in all_reasoning:
                continue
            event = entries[index]
            if isinstance(event, Event):
                entries[index] = _as_message(event, name, model, text)
        return entries


def display_kind(name: str, payload: dict[str, Any]) -> str | None:
    """Get one name for all events that display the same kind of text."""
    if name in _DISPLAYED:
        return "shown-thought" if name in _REASONING_EVENTS else f"shown-{_DISPLAYED[name][0]}"
    item = payload.get("item") if name == _ITEM else None
    kind = item.get("type") if item.__class__ is dict else None
    if kind == "Reasoning":
        return "shown-thought"
    role = _ROLE_BY_ITEM.get(kind) if kind.__class__ is str else None
    return None if role is None else f"shown-{role}"


def _message_texts(entries: list[Message | Event]) -> tuple[set[str], set[str]]:
    """Collect the texts of all messages, and those of their reasoning."""
    all_texts: set[str] = set()
    reasoning: set[str] = set()
    for entry in entries:
        if entry.__class__ is Message and entry.role != "tool":
            texts = [part.text for part in entry.parts if part.__class__ is Text]
            all_texts.update(text.strip() for text in texts)
            all_texts.add(_as_displayed("".join(text for text in texts if not _MEDIA_TAG.fullmatch(text))))
            for part in entry.parts:
                if part.__class__ is Reasoning:
                    reasoning.update(text.strip() for text in (part.summary, part.text) if text)
    return all_texts, reasoning


def _as_displayed(text: str) -> str:
    """Reduce the text of a whole message to what the app displays."""
    if any(tag in text for tag in _HIDDEN_TAGS):
        text = _NOT_DISPLAYED.sub("", text)
    return text.strip()


def _displayed_text(name: str, payload: dict[str, Any]) -> tuple[Role, Any, dict[str, Any]]:
    """Get the role and text that an event displays, and the payload without the text."""
    if name in _DISPLAYED:
        role, key = _DISPLAYED[name]
        return role, payload.get(key), _without(payload, key)
    key = "item" if name == _ITEM else "error"
    value = payload.get(key)
    if value.__class__ is not dict:
        return "system", None, payload
    if name == _ITEM:
        kind, content = value.get("type"), value.get("content")
        speaker = _ROLE_BY_ITEM.get(kind) if kind.__class__ is str else None
        if speaker is None:
            return "system", None, payload
        texts = [piece["text"] for piece in objects(content) if piece.get("text").__class__ is str]
        is_all = content.__class__ is list and all(map(_is_plain, content))
        return speaker, "".join(texts), {**payload, key: _without(value, "content") if is_all else value}
    return "system", value.get("message"), {**payload, key: _without(value, "message")}


def _is_plain(piece: Any) -> bool:
    """Whether a piece of content is text and nothing else; its list of elements may be empty."""
    is_text = piece.__class__ is dict and piece.keys() <= {"type", "text", "text_elements"}
    return is_text and not piece.get("text_elements")


def _without(fields: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != key}


def _as_message(event: Event, name: str, model: str | None, text: str) -> Message:
    role, _, payload = _displayed_text(name, event.data["payload"])
    part: Part = Reasoning(text=text) if name in _REASONING_EVENTS else Text(text=text)
    return Message(
        id=event.id,
        made_id=True,
        role=role,
        at=event.at,
        model=model if role == "assistant" else None,
        parts=[part],
        extra={**event.data, "payload": payload},
    )
