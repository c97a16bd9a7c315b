"""Reads conversations of Gemini in Workspace, one document each: `conversation_<N>.txt`."""

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

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_ROLES: dict[str, Role] = {"user_turn": "user", "system_turn": "assistant"}
# Images are named without the suffix that their files may have.
_SUFFIXES = ("", ".png", ".jpg", ".jpeg", ".webp")


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield the conversation of a document; edited or regenerated turns follow each other."""
    for index, document in json_stream.elements(source, note):
        if document.__class__ is not dict:
            note(Kind.BAD_RECORD, f"[{index}]", "the conversation is not an object")
            continue
        yield _conversation(Fields(document, note, ""), source)


def _conversation(fields: Fields, source: Input) -> Conversation:
    created = fields.view("creation_time")
    turns = fields.items("conversation_turns") or []
    conversation_id = ids.made(SOURCE, created, _first_prompt(turns) if turns else fields.view("title"))
    started, updated = fields.timestamp("creation_time"), fields.timestamp("last_modification_time")
    reader = _TurnReader(conversation_id, source, fields.note)
    timeline = [entry for index, turn in enumerate(turns) for entry in reader.entries(index, turn)]
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
    user_turn = first.get("user_turn") if first.__class__ is dict else None
    return user_turn.get("prompt") if user_turn.__class__ is dict else first


class _TurnReader:
    """Reads the turns of a conversation; an edited or regenerated turn has the number of the first one."""

    def __init__(self, conversation_id: str, source: Input, note: Notes) -> None:
        self._id = conversation_id
        self._source = source
        self._note = note
        self._key_counts: Counter[tuple[str, str]] = Counter()

    def entries(self, index: int, turn: Any) -> Iterator[Message | Event]:
        """Yield the messages of a turn; anything else becomes an event."""
        location = f"conversation_turns[{index}]"
        sides = [name for name in _ROLES if turn.__class__ is dict and turn.get(name).__class__ is dict]
        if not sides:
            self._note(Kind.UNKNOWN_TYPE, location, "neither a user_turn nor a system_turn")
            yield Event(id=ids.made(self._id, location), made_id=True, name="turn", data={"turn": turn})
            return
        other_fields = {name: value for name, value in turn.items() if name not in sides}
        for name in sides:
            yield self._message(
                Fields({**turn[name], **other_fields}, self._note, f"{location}.{name}"), name, location
            )
            other_fields = {}

    def _message(self, fields: Fields, name: str, location: str) -> Message:
        key = name, str(fields.view("turn_index") if fields.has("turn_index") else location)
        self._key_counts[key] += 1
        return Message(
            id=ids.made(self._id, *key, self._key_counts[key]),
            made_id=True,
            role=_ROLES[name],
            at=fields.timestamp("turn_last_modified"),
            parts=_prompt_parts(fields) if name == "user_turn" else _answer_parts(fields, self._source),
            extra=fields.rest(),
        )


def _prompt_parts(fields: Fields) -> list[Part]:
    prompt = fields.text("prompt")
    return [Text(text=prompt)] if prompt else []


def _answer_parts(fields: Fields, source: Input) -> list[Part]:
    reasoning = [_reasoning(value) for value in fields.items("model_thoughts") or []]
    texts = [part for value in fields.items("text") or [] for part in _text_parts(value)]
    images = [_image(value, fields, source) for value in fields.items("images") or []]
    return [*reasoning, *texts, *images]


def _reasoning(thought: Any) -> Part:
    """Convert a thought, whose headline and description summarize the reasoning."""
    if thought.__class__ is not dict:
        return Other(data=thought, name="model_thoughts")
    values = [thought.get(name) for name in ("headline", "description")]
    texts = [value for value in values if value.__class__ is str and value]
    rest = {key: value for key, value in thought.items() if not any(value is text for text in texts)}
    return Reasoning(summary="\n\n".join(texts) or None, extra=rest)


def _text_parts(piece: Any) -> Iterator[Part]:
    """Yield the text of a piece, or of the cards in it."""
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


def _image(name: Any, fields: Fields, source: Input) -> Part:
    """Convert an image, whose file is next to the document."""
    if name.__class__ is not str:
        return Other(data=name, name="images")
    try:
        file = next(
            (candidate for suffix in _SUFFIXES if (candidate := source.companion(name + suffix))), None
        )
    except (UnreadableSource, ValueError):
        file = None
    if file is None:
        fields.note(Kind.MISSING_FILE, fields.where, name[:200])
    return Media(
        kind="image", ref=file.name if file else name, name=name if file and file.name != name else None
    )
