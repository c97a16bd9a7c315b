"""Reads a response: a message of either side, with the service's data about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Event, Message, Text, ids
from agent_journal.notes import Kind
from agent_journal.readers.grok.assets import attachments
from agent_journal.readers.grok.citations import MARK, citations, generated_images, web_images, without_marks
from agent_journal.readers.grok.names import SOURCE
from agent_journal.readers.grok.thinking import ThinkingReader
from agent_journal.readers.grok.values import JsonObject, identifier, take_id

if TYPE_CHECKING:
    from agent_journal.model import Part
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.assets import Assets

# Fields that become parts; they are empty in nearly all responses.
_REASONING_FIELDS = ("thinking_trace", "agent_thinking_traces", "steps")
_DISPLAY_FIELDS = (
    *("cited_web_search_results", "card_attachments_json"),
    *("generated_image_urls", "image_attachments", "file_attachments"),
)
_PART_FIELDS = (*_REASONING_FIELDS, *_DISPLAY_FIELDS)
# An object with any of these is a response.
_RESPONSE_FIELDS = frozenset({"message", "sender", "_id", "response_id"})


def unwrap(value: Any) -> JsonObject | None:
    """Take a response out of its wrapper `{response, share_link}`, if it has one; None if it is no response.

    The wrapper's other fields go into the response.
    """
    if value.__class__ is not dict:
        return None
    inner = value.get("response")
    if inner.__class__ is not dict:
        return None if _RESPONSE_FIELDS.isdisjoint(value) else value
    if _RESPONSE_FIELDS.isdisjoint(inner):
        return None
    for name, other in value.items():
        if other is not None and name != "response":
            inner[name if name not in inner else f"wrapper.{name}"] = other
    return inner


def read_response(
    record: JsonObject, location: str, conversation_id: str, assets: Assets, note: Notes
) -> Message:
    """Convert a response to a message."""
    fields = Fields(record, note, location)
    view = fields.view
    sender = view("sender")
    is_human = sender.__class__ is str and sender.strip().lower() == "human"
    if not is_human and not nonempty_str(sender):
        note(Kind.UNKNOWN_TYPE, location, "a response without a sender is read as an answer")
    stated = take_id(fields, "_id", "response_id")
    at = fields.timestamp("create_time")
    if stated is None:
        note(Kind.MISSING_ID, location, "no _id and no response_id")
    if view("conversation_id") == conversation_id:
        fields.drop("conversation_id")
    if view("thinking_start_time") is not None or view("thinking_end_time") is not None:
        _normalize_time(fields, "thinking_start_time")
        _normalize_time(fields, "thinking_end_time")
    model = fields.text("model") or (None if is_human else _model_from_metadata(view("metadata"), sender))
    return Message(
        id=stated or ids.made(SOURCE, conversation_id, at, sender, view("message")),
        made_id=stated is None,
        parent_id=_parent(fields),
        role="user" if is_human else "assistant",
        at=at,
        model=model,
        parts=_parts(fields, assets, is_human=is_human),
        extra=fields.rest(),
    )


def _parent(fields: Fields) -> str | None:
    parent = identifier(fields.view("parent_response_id"))
    if parent is not None or not fields.view("parent_response_id"):
        fields.drop("parent_response_id")
    return parent


def _parts(fields: Fields, assets: Assets, *, is_human: bool) -> list[Part]:
    text = fields.text("message") or ""
    if not any(map(fields.view, _PART_FIELDS)) and MARK not in text:
        return [Text(text=text)] if text else []
    parts: list[Part] = []
    if any(map(fields.view, _REASONING_FIELDS)):
        parts += ThinkingReader(fields).read()
    sources = citations(fields, text)
    if MARK in text and not is_human and (plain_text := without_marks(text)) != text:
        fields.keep("message", text)
        text = plain_text
    if text or sources:
        parts.append(Text(text=text, citations=sources))
    return [*parts, *web_images(fields), *attachments(fields, assets, generated_images(fields))]


def _normalize_time(fields: Fields, name: str) -> None:
    """Normalize a time that stays in the remaining fields."""
    if fields.view(name) is not None and (at := fields.timestamp(name)) is not None:
        fields.keep(name, at)


def _model_from_metadata(metadata: Any, sender: Any) -> str | None:
    """Get the model of an answer that names none: the requested one, or the sender (`grok-3`)."""
    requested = requested_model(metadata)
    name = nonempty_str(sender)
    return requested or (name if name and name.lower().startswith("grok-") else None)


def requested_model(metadata: Any) -> str | None:
    """Get the model that the metadata of a response names."""
    if metadata.__class__ is not dict:
        return None
    for name, key in (("request_metadata", "resolved_model"), ("requestModelDetails", "modelId")):
        details = metadata.get(name)
        if details.__class__ is dict and (model := nonempty_str(details.get(key))):
            return model
    return None


def raw_event(value: Any, location: str, conversation_id: str) -> Event:
    """Convert a value among the responses that is no response to an event."""
    event_id = ids.made(SOURCE, conversation_id, location, value)
    data = value if value.__class__ is dict else {"value": value}
    return Event(id=event_id, made_id=True, name="unknown-response", data=data)
