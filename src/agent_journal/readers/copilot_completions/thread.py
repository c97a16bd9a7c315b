"""One thread: the code around the cursor is what the person says, what is suggested is the answer.

Events of one moment with the same prompt are suggestions to choose from; the thread goes on behind the one
that was accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.model import Bag, Code, Conversation, Event, Message, Usage, ids
from agent_journal.notes import Kind
from agent_journal.readers.copilot_completions.names import (
    ACCOUNT,
    COMPLETION,
    EDITOR,
    EXTENSION,
    FILE,
    LANGUAGE,
    MODEL,
    PLATFORM,
    PROMPT,
    SOURCE,
    TEXT,
    TIME,
    TYPE,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.decoding.fields import Fields
    from agent_journal.notes import Notes
    from agent_journal.readers.copilot_completions.fastpath import UsualEvent

# Tokens are not logged: English text and code have about four characters per token.
_CHARACTERS_PER_TOKEN = 4
_MODEL = ("model",)
# Words in the type of an event that holds only a text: who wrote that.
_OF_PROMPTS = ("prompt", "request")


class _Moment(Struct, frozen=True, gc=False):
    """When an event was: as the source writes it, which ids are made of, and as a time."""

    written: str
    at: str | None


class Thread:
    """Takes the events of a file in order of time."""

    def __init__(self, file: str | None, first: Bag | UsualEvent, told: dict[str, int]) -> None:
        self._file = file
        self._timeline: list[Message | Event] = []
        self._ids: dict[str, int] = {}
        self._facts: dict[tuple[str, ...], str] = {}
        self._head_id: str | None = None
        self._last: tuple[_Moment, str] | None = None
        """When the last prompt was, and what it says."""
        self._prompt_id: str | None = None
        self._is_chosen = self._is_noted = False
        self._id = _free(_seed(first, file), told)

    def add(self, fields: Fields) -> None:
        """Take in an event."""
        moment = _moment(fields)
        file = _text(fields, FILE)
        if file is not None and file != self._file:
            fields.keep(FILE[0], file)
        for names in (EXTENSION, EDITOR, ACCOUNT):
            self._learn(fields, names)
        language = _text(fields, LANGUAGE)
        prompt, completion = _said(fields)
        if prompt is not None:
            is_new = self._last != (moment, prompt)
            if is_new:
                rest = fields.rest() if completion is None else {}
                self._ask(prompt, moment, language, rest)
            if completion is not None:
                usage, model = _usage(fields, prompt if is_new else None, completion), _text(fields, _MODEL)
                self._suggest(completion, moment, language, usage, fields.rest(), model=model)
            elif not is_new:
                # What became of a suggestion is told with the prompt that it was for.
                self._happened(moment, language, fields.rest())
            else:
                self._note_missing_completion(fields)
        elif completion is not None:
            self._prompt_id, self._is_chosen = None, False
            usage, model = _usage(fields, None, completion), _text(fields, _MODEL)
            self._suggest(completion, moment, language, usage, fields.rest(), model=model)
        else:
            self._note_missing_completion(fields)
            self._happened(moment, language, fields.rest())

    def add_usual(self, event: UsualEvent, at: str | None) -> None:
        """Take in a usual event: this makes of it what `add` makes of it."""
        moment, rest = _Moment(event.timestamp, at), event.rest()
        for names, value in ((EXTENSION, event.extensionVersion), (EDITOR, event.editor)):
            if value is not None and self._facts.setdefault(names, value) != value:
                rest[names[0]] = value
        prompt, completion, language = event.promptContext, event.completion, event.language or None
        is_new = self._last != (moment, prompt)
        if is_new:
            self._ask(prompt, moment, language, {})
        self._suggest(completion, moment, language, _estimated(prompt if is_new else None, completion), rest)

    def _learn(self, fields: Fields, names: tuple[str, ...]) -> None:
        """Remember a fact about the thread; where a later event differs from it, that stays there."""
        name = _stated(fields.look, names)
        value = None if name is None else fields.text(name)
        if name is not None and value is not None and self._facts.setdefault(names, value) != value:
            fields.keep(name, value)

    def _ask(self, prompt: str, moment: _Moment, language: str | None, rest: Bag) -> None:
        message = Message(
            id=self._made(moment, "prompt"),
            made_id=True,
            parent_id=self._head_id,
            role="user",
            at=moment.at,
            parts=[Code(code=prompt, language=language, file=self._file)],
            extra=rest,
        )
        self._timeline.append(message)
        self._last = moment, prompt
        self._prompt_id = self._head_id = message.id
        self._is_chosen = False

    def _suggest(
        self,
        completion: str,
        moment: _Moment,
        language: str | None,
        usage: Usage,
        rest: Bag,
        *,
        model: str | None = None,
    ) -> None:
        is_accepted = rest.get("accepted") is True
        message = Message(
            id=self._made(moment, "completion"),
            made_id=True,
            parent_id=self._prompt_id or self._head_id,
            role="assistant",
            at=moment.at,
            model=model,
            parts=[Code(code=completion, language=language)],
            usage=usage,
            extra=rest,
        )
        self._timeline.append(message)
        if is_accepted or not self._is_chosen:
            self._head_id = message.id
        self._is_chosen = self._is_chosen or is_accepted

    def _happened(self, moment: _Moment, language: str | None, rest: Bag) -> None:
        """An event without any new text: what was written is often not logged."""
        name = first_of(rest, TYPE)
        self._timeline.append(
            Event(
                id=self._made(moment, "event"),
                made_id=True,
                parent_id=self._head_id,
                name=name if isinstance(name, str) and name else "completion",
                at=moment.at,
                data=rest if language is None else rest | {LANGUAGE[0]: language},
            )
        )

    def _note_missing_completion(self, fields: Fields) -> None:
        """Note an event without a completion, unless it says that it is an event of another type."""
        if _stated(fields.look, TYPE) is None:
            fields.note(Kind.MISSING_FIELD, fields.where, COMPLETION[0])
            self._is_noted = True

    def note_if_unanswered(self, note: Notes, where: str) -> None:
        """Note a thread in which nothing was suggested, if none of its events was noted for that."""
        if not self._is_noted and not any(
            isinstance(each, Message) and each.role == "assistant" for each in self._timeline
        ):
            note(Kind.MISSING_FIELD, where, COMPLETION[0])

    def _made(self, moment: _Moment, what: str) -> str:
        """An id made of the time and what it is."""
        return _free(ids.uuid5(f"{PLATFORM}-{moment.written}-{what}"), self._ids)

    def conversation(self, head: Bag) -> Conversation:
        """The thread as a whole, with what its file says beside the events."""
        moments = [entry.at for entry in self._timeline if entry.at is not None]
        return Conversation(
            id=self._id,
            made_id=True,
            source=SOURCE,
            started_at=moments[0] if moments else None,
            updated_at=moments[-1] if moments else None,
            app_version=self._facts.get(EXTENSION),
            model=MODEL,
            editor=self._facts.get(EDITOR),
            account_id=self._facts.get(ACCOUNT),
            shape="tree",
            head_id=self._head_id,
            timeline=self._timeline,
            context={} if self._file is None else {FILE[0]: self._file},
            extra=head,
        )


def first_of(record: Bag, names: tuple[str, ...]) -> Any:
    """See the value of the first of some names that has one."""
    name = _stated(record.get, names)
    return None if name is None else record[name]


def _stated(look: Callable[[str], Any], names: tuple[str, ...]) -> str | None:
    """The first of some names that has a value."""
    for name in names:
        if look(name) is not None:
            return name
    return None


def _text(fields: Fields, names: tuple[str, ...]) -> str | None:
    """Move a text out that is under one of some names; nothing if it is empty."""
    name = _stated(fields.look, names)
    return None if name is None else fields.text(name) or None


def _seed(first: Bag | UsualEvent, file: str | None) -> str:
    """The id of a thread: made of when its first event was and the file."""
    written = first_of(first, TIME) if isinstance(first, dict) else first.timestamp
    if isinstance(written, str | int | float):
        return ids.uuid5(f"{PLATFORM}-{written}-{file}")
    return ids.made(SOURCE, file, first)


def _moment(fields: Fields) -> _Moment:
    name = _stated(fields.look, TIME)
    written = None if name is None else fields.look(name)
    at = None if name is None else fields.moment(name)
    return _Moment(str(written) if isinstance(written, str | int | float) else "", at)


def _said(fields: Fields) -> tuple[str | None, str | None]:
    """Prompt and completion. Where an event has only a text, its type tells which of them it is."""
    prompt, completion = _text(fields, PROMPT), _text(fields, COMPLETION)
    if prompt is None and completion is None and (text := _text(fields, TEXT)) is not None:
        kind = first_of(fields.rest(), TYPE)
        is_prompt = isinstance(kind, str) and any(word in kind.lower() for word in _OF_PROMPTS)
        return (text, None) if is_prompt else (None, text)
    return prompt, completion


def _usage(fields: Fields, prompt: str | None, completion: str) -> Usage:
    """The tokens of a suggestion, mostly estimated; suggestions for one prompt count its tokens once."""
    sent, came = (fields.whole(name) for name in ("promptTokens", "completionTokens"))
    if sent is not None or came is not None:
        return Usage(input=sent, output=came)
    return _estimated(prompt, completion)


def _estimated(prompt: str | None, completion: str) -> Usage:
    sent = None if prompt is None else _tokens(prompt)
    came = _tokens(completion)
    return Usage(input=sent, output=came, total=(sent or 0) + came, estimated=True)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def _free(made: str, taken: dict[str, int]) -> str:
    """The id, or one made of it that nobody has; `taken` counts how often each was asked for."""
    found = made
    while found in taken:
        taken[made] += 1
        found = ids.uuid5(f"{made}-{taken[made]}")
    taken[found] = 1
    return found
