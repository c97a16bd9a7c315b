"""A response: what one side said, with all that the service keeps about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Event, Message, Text, ids
from agent_journal.notes import Kind
from agent_journal.readers.grok.assets import attached
from agent_journal.readers.grok.citations import MARK, citations, drawn, found_pictures, shown
from agent_journal.readers.grok.names import SOURCE
from agent_journal.readers.grok.thinking import Thinking
from agent_journal.readers.grok.values import Bag, identifier, take_id

if TYPE_CHECKING:
    from agent_journal.model import Part
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.assets import Assets

# Fields from which parts are made; nearly all responses have them empty.
_THOUGHT = ("thinking_trace", "agent_thinking_traces", "steps")
_SHOWN = (
    *("cited_web_search_results", "card_attachments_json"),
    *("generated_image_urls", "image_attachments", "file_attachments"),
)
_TELLING = (*_THOUGHT, *_SHOWN)
# One of them is what makes an object a response.
_SIGNS = frozenset({"message", "sender", "_id", "response_id"})


def unwrapped(value: Any) -> Bag | None:
    """The response in its wrapper `{response, share_link}`, or one that has none; None if it is neither.

    What else is in the wrapper goes with the response.
    """
    if value.__class__ is not dict:
        return None
    inner = value.get("response")
    if inner.__class__ is not dict:
        return None if _SIGNS.isdisjoint(value) else value
    if _SIGNS.isdisjoint(inner):
        return None
    for name, beside in value.items():
        if beside is not None and name != "response":
            inner[name if name not in inner else f"wrapper.{name}"] = beside
    return inner


def read_response(record: Bag, where: str, conversation_id: str, assets: Assets, note: Notes) -> Message:
    """The message that a response is."""
    fields = Fields(record, note, where)
    look = fields.look
    sender = look("sender")
    is_human = sender.__class__ is str and sender.strip().lower() == "human"
    if not is_human and not words(sender):
        note(Kind.UNKNOWN_TYPE, where, "a response without a sender counts as an answer")
    stated = take_id(fields, "_id", "response_id")
    at = fields.moment("create_time")
    if stated is None:
        note(Kind.MISSING_ID, where, "no _id and no response_id")
    if look("conversation_id") == conversation_id:
        fields.drop("conversation_id")
    if look("thinking_start_time") is not None or look("thinking_end_time") is not None:
        _say_when(fields, "thinking_start_time")
        _say_when(fields, "thinking_end_time")
    model = fields.text("model") or (None if is_human else _model_beside(look("metadata"), sender))
    return Message(
        id=stated or ids.made(SOURCE, conversation_id, at, sender, look("message")),
        made_id=stated is None,
        parent_id=_parent(fields),
        role="user" if is_human else "assistant",
        at=at,
        model=model,
        parts=_parts(fields, assets, is_human=is_human),
        extra=fields.rest(),
    )


def _parent(fields: Fields) -> str | None:
    parent = identifier(fields.look("parent_response_id"))
    if parent is not None or not fields.look("parent_response_id"):
        fields.drop("parent_response_id")
    return parent


def _parts(fields: Fields, assets: Assets, *, is_human: bool) -> list[Part]:
    text = fields.text("message") or ""
    if not any(map(fields.look, _TELLING)) and MARK not in text:
        return [Text(text=text)] if text else []
    parts: list[Part] = []
    if any(map(fields.look, _THOUGHT)):
        parts += Thinking(fields).read()
    cited = citations(fields, text)
    if MARK in text and not is_human and (told := shown(text)) != text:
        fields.keep("message", text)
        text = told
    if text or cited:
        parts.append(Text(text=text, citations=cited))
    return [*parts, *found_pictures(fields), *attached(fields, assets, drawn(fields))]


def _say_when(fields: Fields, name: str) -> None:
    """Put a time that stays among the rest into its usual form."""
    if fields.look(name) is not None and (at := fields.moment(name)) is not None:
        fields.keep(name, at)


def _model_beside(metadata: Any, sender: Any) -> str | None:
    """The model of an answer that does not name one: it was asked for, or is the sender (`grok-3`)."""
    asked = requested_model(metadata)
    name = words(sender)
    return asked or (name if name and name.lower().startswith("grok-") else None)


def requested_model(metadata: Any) -> str | None:
    """The model that the metadata of a response name."""
    if metadata.__class__ is not dict:
        return None
    for name, key in (("request_metadata", "resolved_model"), ("requestModelDetails", "modelId")):
        details = metadata.get(name)
        if details.__class__ is dict and (model := words(details.get(key))):
            return model
    return None


def kept_raw(value: Any, where: str, conversation_id: str) -> Event:
    """Something among the responses that is none."""
    event_id = ids.made(SOURCE, conversation_id, where, value)
    data = value if value.__class__ is dict else {"value": value}
    return Event(id=event_id, made_id=True, name="unknown-response", data=data)
