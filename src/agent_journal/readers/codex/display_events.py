"""The second track: what the app showed. Mostly it repeats what was said; what it alone has is a message."""

from __future__ import annotations

import re
from typing import Any

from agent_journal.decoding.fields import objects
from agent_journal.model import Event, Message, Part, Reasoning, Role, Text

# Kinds of events that show what was said: who said it, and under which name the words are.
_SHOWN: dict[str, tuple[Role, str]] = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("assistant", "text"),
    "agent_reasoning_raw_content": ("assistant", "text"),
}
_THOUGHTS = ("agent_reasoning", "agent_reasoning_raw_content")
# Since 2026 whole items are shown, and the end of a turn tells why it failed.
_ITEM, _ENDS = "item_completed", ("task_complete", "turn_complete")
_SPEAKERS: dict[str, Role] = {"UserMessage": "user", "AgentMessage": "assistant"}
# What the app takes out of an answer before it shows it: which memories it goes back to, and a plan, which is
# shown by itself. What is not closed goes to the end.
_NOT_SHOWN = re.compile(
    r"<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)"
    r"|^[ \t]*<proposed_plan>[ \t]*$.*?(?:^[ \t]*</proposed_plan>[ \t]*(?:\n|\Z)|\Z)",
    re.DOTALL | re.MULTILINE,
)
# What the app writes around a picture or a sound.
_LABEL = re.compile(r"</?(?:image|audio)(?: name=[^\n]*)?>")
_MARKUP = ("<oai-mem-citation>", "<proposed_plan>")


class Told:
    """Knows which events show words, and which of these no message has."""

    def __init__(self) -> None:
        self._shown: list[tuple[int, str, str | None, str]] = []

    def shown(self, name: str, payload: dict[str, Any], place: int, model: str | None) -> None:
        """Remember that the event at this place of the timeline shows words."""
        if name in _SHOWN or name == _ITEM or name in _ENDS:
            words = _words(name, payload)[1]
            if words.__class__ is str and words.strip():
                self._shown.append((place, name, model, words))

    def completed(self, entries: list[Message | Event]) -> list[Message | Event]:
        """The timeline, with a message in the place of each event whose words no message has."""
        said, thought = _said(entries) if self._shown else (set(), set())
        thoughts = "\0".join(thought)
        for place, name, model, words in self._shown:
            if words.strip() in (thought if name in _THOUGHTS else said):
                continue
            # A thought with several headings is one item, but each heading is shown by itself.
            if name in _THOUGHTS and words.strip() in thoughts:
                continue
            event = entries[place]
            if isinstance(event, Event):
                entries[place] = _as_message(event, name, model, words)
        return entries


def shown_as(name: str, payload: dict[str, Any]) -> str | None:
    """A name for events that show the same, whichever way they do."""
    if name in _SHOWN:
        return "shown-thought" if name in _THOUGHTS else f"shown-{_SHOWN[name][0]}"
    item = payload.get("item") if name == _ITEM else None
    kind = item.get("type") if item.__class__ is dict else None
    if kind == "Reasoning":
        return "shown-thought"
    speaker = _SPEAKERS.get(kind) if kind.__class__ is str else None
    return None if speaker is None else f"shown-{speaker}"


def _said(entries: list[Message | Event]) -> tuple[set[str], set[str]]:
    """The words that all messages say, and those that they think."""
    said: set[str] = set()
    thought: set[str] = set()
    for entry in entries:
        if entry.__class__ is Message and entry.role != "tool":
            texts = [part.text for part in entry.parts if part.__class__ is Text]
            said.update(text.strip() for text in texts)
            said.add(_shown("".join(text for text in texts if not _LABEL.fullmatch(text))))
            for part in entry.parts:
                if part.__class__ is Reasoning:
                    thought.update(text.strip() for text in (part.summary, part.text) if text)
    return said, thought


def _shown(words: str) -> str:
    """The words of a whole message as the app shows them."""
    if any(mark in words for mark in _MARKUP):
        words = _NOT_SHOWN.sub("", words)
    return words.strip()


def _words(name: str, payload: dict[str, Any]) -> tuple[Role, Any, dict[str, Any]]:
    """Who is shown to say what, and the payload without it."""
    if name in _SHOWN:
        role, key = _SHOWN[name]
        return role, payload.get(key), _without(payload, key)
    key = "item" if name == _ITEM else "error"
    inside = payload.get(key)
    if inside.__class__ is not dict:
        return "system", None, payload
    if name == _ITEM:
        kind, content = inside.get("type"), inside.get("content")
        speaker = _SPEAKERS.get(kind) if kind.__class__ is str else None
        if speaker is None:
            return "system", None, payload
        texts = [each["text"] for each in objects(content) if each.get("text").__class__ is str]
        is_all = content.__class__ is list and all(map(_is_plain, content))
        return speaker, "".join(texts), {**payload, key: _without(inside, "content") if is_all else inside}
    return "system", inside.get("message"), {**payload, key: _without(inside, "message")}


def _is_plain(piece: Any) -> bool:
    """Whether a piece of content is its words and nothing else; marks in them may be an empty list."""
    is_text = piece.__class__ is dict and piece.keys() <= {"type", "text", "text_elements"}
    return is_text and not piece.get("text_elements")


def _without(bag: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in bag.items() if name != key}


def _as_message(event: Event, name: str, model: str | None, words: str) -> Message:
    role, _, payload = _words(name, event.data["payload"])
    part: Part = Reasoning(text=words) if name in _THOUGHTS else Text(text=words)
    return Message(
        id=event.id,
        made_id=True,
        role=role,
        at=event.at,
        model=model if role == "assistant" else None,
        parts=[part],
        extra={**event.data, "payload": payload},
    )
