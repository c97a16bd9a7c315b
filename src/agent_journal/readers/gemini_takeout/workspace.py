"""Gemini in Workspace: one conversation with all its turns as one document, `conversation_<N>.txt`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Event, Media, Message, Other, Part, Reasoning, Role, Text, ids
from agent_journal.notes import Kind
from agent_journal.readers.gemini_takeout.detect import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_ROLES: dict[str, Role] = {"user_turn": "user", "system_turn": "assistant"}
# Pictures are named without the suffix that their files may have.
_SUFFIXES = ("", ".png", ".jpg", ".jpeg", ".webp")


def conversations(source: Source, note: Notes) -> Iterator[Conversation]:
    """Yield the one conversation of a document; turns that were edited or made again follow each other."""
    for index, document in json_stream.elements(source, note):
        if document.__class__ is not dict:
            note(Kind.BAD_RECORD, f"[{index}]", "a conversation is an object")
            continue
        yield _conversation(Fields(document, note, ""), source)


def _conversation(fields: Fields, source: Source) -> Conversation:
    made = fields.look("creation_time")
    turns = fields.items("conversation_turns") or []
    conversation_id = ids.made(SOURCE, made, _first_prompt(turns) if turns else fields.look("title"))
    started, updated = fields.moment("creation_time"), fields.moment("last_modification_time")
    reader = _Turns(conversation_id, source, fields.note)
    timeline = [entry for place, turn in enumerate(turns) for entry in reader.entries(place, turn)]
    return Conversation(
        id=conversation_id,
        made_id=True,
        source=SOURCE,
        title=fields.text("title"),
        started_at=started,
        updated_at=updated,
        shape="list",
        timeline=timeline,
        extra=fields.rest(),
    )


def _first_prompt(turns: list[Any]) -> Any:
    first = turns[0]
    inside = first.get("user_turn") if first.__class__ is dict else None
    return inside.get("prompt") if inside.__class__ is dict else first


class _Turns:
    """The turns of a conversation, whose numbers come again where a turn was edited or made again."""

    def __init__(self, conversation_id: str, source: Source, note: Notes) -> None:
        self._id = conversation_id
        self._source = source
        self._note = note
        self._told: Counter[tuple[str, str]] = Counter()

    def entries(self, place: int, turn: Any) -> Iterator[Message | Event]:
        """The message of a turn; what is none is kept as an event."""
        where = f"conversation_turns[{place}]"
        sides = [name for name in _ROLES if turn.__class__ is dict and turn.get(name).__class__ is dict]
        if not sides:
            self._note(Kind.UNKNOWN_TYPE, where, "neither a user_turn nor a system_turn")
            yield Event(id=ids.made(self._id, where), made_id=True, name="turn", data={"turn": turn})
            return
        around = {name: value for name, value in turn.items() if name not in sides}
        for name in sides:
            yield self._message(Fields({**turn[name], **around}, self._note, f"{where}.{name}"), name, where)
            around = {}

    def _message(self, fields: Fields, name: str, where: str) -> Message:
        key = name, str(fields.look("turn_index") if fields.has("turn_index") else where)
        self._told[key] += 1
        return Message(
            id=ids.made(self._id, *key, self._told[key]),
            made_id=True,
            role=_ROLES[name],
            at=fields.moment("turn_last_modified"),
            parts=_asked(fields) if name == "user_turn" else _answered(fields, self._source),
            extra=fields.rest(),
        )


def _asked(fields: Fields) -> list[Part]:
    prompt = fields.text("prompt")
    return [Text(text=prompt)] if prompt else []


def _answered(fields: Fields, source: Source) -> list[Part]:
    thoughts = [_thought(each) for each in fields.items("model_thoughts") or []]
    said = [part for each in fields.items("text") or [] for part in _said(each)]
    pictures = [_picture(each, fields, source) for each in fields.items("images") or []]
    return [*thoughts, *said, *pictures]


def _thought(thought: Any) -> Part:
    """A thought has a headline and a description: it is the summary of what was thought."""
    if thought.__class__ is not dict:
        return Other(data=thought, name="model_thoughts")
    words = [thought.get(name) for name in ("headline", "description")]
    told = [each for each in words if each.__class__ is str and each]
    rest = {key: value for key, value in thought.items() if not any(value is each for each in told)}
    return Reasoning(summary="\n\n".join(told) or None, extra=rest)


def _said(piece: Any) -> Iterator[Part]:
    """The text of a piece, or of the cards in it."""
    if piece.__class__ is not dict:
        yield Text(text=piece) if piece.__class__ is str else Other(data=piece, name="text")
        return
    rest = {key: value for key, value in piece.items() if key not in ("data", "cards")}
    data, cards = piece.get("data"), piece.get("cards")
    if data.__class__ is str:
        yield Text(text=data, extra=rest)
        rest = {}
    elif data is not None:
        rest["data"] = data
    for card in cards if cards.__class__ is list else ():
        content = card.get("content") if card.__class__ is dict else None
        if content.__class__ is str:
            yield Text(text=content, extra={key: value for key, value in card.items() if key != "content"})
        else:
            yield Other(data=card, name="cards")
    if cards is not None and cards.__class__ is not list:
        rest["cards"] = cards
    if rest:
        yield Other(data=rest, name="text")


def _picture(name: Any, fields: Fields, source: Source) -> Part:
    """A picture, which lies beside the document."""
    if name.__class__ is not str:
        return Other(data=name, name="images")
    try:
        found = next((file for suffix in _SUFFIXES if (file := source.companion(name + suffix))), None)
    except (UnreadableSource, ValueError):
        found = None
    if found is None:
        fields.note(Kind.MISSING_FILE, fields.where, name[:200])
    return Media(
        kind="image", ref=found.name if found else name, name=name if found and found.name != name else None
    )
