"""One thread: the code around the cursor is the prompt, a suggestion is the answer.

Events with the same time and prompt are alternative suggestions; the thread continues after the accepted one.
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
    from agent_journal.readers.copilot_completions.fastpath import CommonEvent

# Tokens are not logged: English text and code have about four characters per token.
_CHARS_PER_TOKEN = 4
_MODEL = ("model",)
# Words in the type of an event whose only text is a prompt.
_PROMPT_WORDS = ("prompt", "request")


class _EventTime(Struct, frozen=True, gc=False):
    """The time of an event: in the source's form, from which ids are generated, and as a timestamp."""

    original: str
    at: str | None


class Thread:
    """Collects the events of a file in the order of time."""

    def __init__(self, file: str | None, first: Bag | CommonEvent, id_counts: dict[str, int]) -> None:
        self._file = file
        self._timeline: list[Message | Event] = []
        self._ids: dict[str, int] = {}
        self._facts: dict[tuple[str, ...], str] = {}
        self._head_id: str | None = None
        self._last_prompt: tuple[_EventTime, str] | None = None
        """The time and the text of the last prompt."""
        self._prompt_id: str | None = None
        self._is_chosen = self._is_noted = False
        self._id = _unique(_seed(first, file), id_counts)

    def add(self, fields: Fields) -> None:
        """Add an event."""
        time = _event_time(fields)
        file = _text(fields, FILE)
        if file is not None and file != self._file:
            fields.keep(FILE[0], file)
        for names in (EXTENSION, EDITOR, ACCOUNT):
            self._take_fact(fields, names)
        language = _text(fields, LANGUAGE)
        prompt, completion = _prompt_and_completion(fields)
        if prompt is not None:
            is_new = self._last_prompt != (time, prompt)
            if is_new:
                rest = fields.rest() if completion is None else {}
                self._add_prompt(prompt, time, language, rest)
            if completion is not None:
                usage, model = _usage(fields, prompt if is_new else None, completion), _text(fields, _MODEL)
                self._add_suggestion(completion, time, language, usage, fields.rest(), model=model)
            elif not is_new:
                # The outcome of a suggestion is logged with its prompt.
                self._add_event(time, language, fields.rest())
            else:
                self._note_missing_completion(fields)
        elif completion is not None:
            self._prompt_id, self._is_chosen = None, False
            usage, model = _usage(fields, None, completion), _text(fields, _MODEL)
            self._add_suggestion(completion, time, language, usage, fields.rest(), model=model)
        else:
            self._note_missing_completion(fields)
            self._add_event(time, language, fields.rest())

    def add_common(self, event: CommonEvent, at: str | None) -> None:
        """Add an event of the fast path, with the same result as `add`."""
        time, rest = _EventTime(event.timestamp, at), event.rest()
        for names, value in ((EXTENSION, event.extensionVersion), (EDITOR, event.editor)):
            if value is not None and self._facts.setdefault(names, value) != value:
                rest[names[0]] = value
        prompt, completion, language = event.promptContext, event.completion, event.language or None
        is_new = self._last_prompt != (time, prompt)
        if is_new:
            self._add_prompt(prompt, time, language, {})
        self._add_suggestion(
            completion, time, language, _estimated(prompt if is_new else None, completion), rest
        )

    def _take_fact(self, fields: Fields, names: tuple[str, ...]) -> None:
        """Take a fact about the thread; a different one of a later event stays in that event."""
        name = _first_name(fields.view, names)
        value = None if name is None else fields.text(name)
        if name is not None and value is not None and self._facts.setdefault(names, value) != value:
            fields.keep(name, value)

    def _add_prompt(self, prompt: str, time: _EventTime, language: str | None, rest: Bag) -> None:
        message = Message(
            id=self._generate_id(time, "prompt"),
            made_id=True,
            parent_id=self._head_id,
            role="user",
            at=time.at,
            parts=[Code(code=prompt, language=language, file=self._file)],
            extra=rest,
        )
        self._timeline.append(message)
        self._last_prompt = time, prompt
        self._prompt_id = self._head_id = message.id
        self._is_chosen = False

    def _add_suggestion(
        self,
        completion: str,
        time: _EventTime,
        language: str | None,
        usage: Usage,
        rest: Bag,
        *,
        model: str | None = None,
    ) -> None:
        is_accepted = rest.get("accepted") is True
        message = Message(
            id=self._generate_id(time, "completion"),
            made_id=True,
            parent_id=self._prompt_id or self._head_id,
            role="assistant",
            at=time.at,
            model=model,
            parts=[Code(code=completion, language=language)],
            usage=usage,
            extra=rest,
        )
        self._timeline.append(message)
        if is_accepted or not self._is_chosen:
            self._head_id = message.id
        self._is_chosen = self._is_chosen or is_accepted

    def _add_event(self, time: _EventTime, language: str | None, rest: Bag) -> None:
        """Add an event without any new text; texts are often not logged."""
        name = first_of(rest, TYPE)
        self._timeline.append(
            Event(
                id=self._generate_id(time, "event"),
                made_id=True,
                parent_id=self._head_id,
                name=name if isinstance(name, str) and name else "completion",
                at=time.at,
                data=rest if language is None else rest | {LANGUAGE[0]: language},
            )
        )

    def _note_missing_completion(self, fields: Fields) -> None:
        """Note an event without a completion, unless it states a type."""
        if _first_name(fields.view, TYPE) is None:
            fields.note(Kind.MISSING_FIELD, fields.where, COMPLETION[0])
            self._is_noted = True

    def note_if_unanswered(self, note: Notes, where: str) -> None:
        """Note a thread without suggestions, unless one of its events was noted for that."""
        if not self._is_noted and not any(
            isinstance(each, Message) and each.role == "assistant" for each in self._timeline
        ):
            note(Kind.MISSING_FIELD, where, COMPLETION[0])

    def _generate_id(self, time: _EventTime, kind: str) -> str:
        """Generate an id from the time and the kind of entry."""
        return _unique(ids.uuid5(f"{PLATFORM}-{time.original}-{kind}"), self._ids)

    def conversation(self, head: Bag) -> Conversation:
        """Build the conversation; `head` has the fields of the file around its events."""
        times = [entry.at for entry in self._timeline if entry.at is not None]
        return Conversation(
            id=self._id,
            made_id=True,
            source=SOURCE,
            started_at=times[0] if times else None,
            updated_at=times[-1] if times else None,
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
    """Look up the first name that has a value, and return the value."""
    name = _first_name(record.get, names)
    return None if name is None else record[name]


def _first_name(look: Callable[[str], Any], names: tuple[str, ...]) -> str | None:
    """Get the first name that has a value."""
    for name in names:
        if look(name) is not None:
            return name
    return None


def _text(fields: Fields, names: tuple[str, ...]) -> str | None:
    """Take the text of the first name that has a value; None if it is empty."""
    name = _first_name(fields.view, names)
    return None if name is None else fields.text(name) or None


def _seed(first: Bag | CommonEvent, file: str | None) -> str:
    """Generate the id of a thread from the time of its first event and the file."""
    original = first_of(first, TIME) if isinstance(first, dict) else first.timestamp
    if isinstance(original, str | int | float):
        return ids.uuid5(f"{PLATFORM}-{original}-{file}")
    return ids.made(SOURCE, file, first)


def _event_time(fields: Fields) -> _EventTime:
    name = _first_name(fields.view, TIME)
    original = None if name is None else fields.view(name)
    at = None if name is None else fields.timestamp(name)
    return _EventTime(str(original) if isinstance(original, str | int | float) else "", at)


def _prompt_and_completion(fields: Fields) -> tuple[str | None, str | None]:
    """Take prompt and completion. If an event has only one text, its type decides which of them it is."""
    prompt, completion = _text(fields, PROMPT), _text(fields, COMPLETION)
    if prompt is None and completion is None and (text := _text(fields, TEXT)) is not None:
        kind = first_of(fields.rest(), TYPE)
        is_prompt = isinstance(kind, str) and any(word in kind.lower() for word in _PROMPT_WORDS)
        return (text, None) if is_prompt else (None, text)
    return prompt, completion


def _usage(fields: Fields, prompt: str | None, completion: str) -> Usage:
    """Get the tokens of a suggestion, mostly estimated; the tokens of a prompt are counted once."""
    input_tokens, output_tokens = (fields.whole(name) for name in ("promptTokens", "completionTokens"))
    if input_tokens is not None or output_tokens is not None:
        return Usage(input=input_tokens, output=output_tokens)
    return _estimated(prompt, completion)


def _estimated(prompt: str | None, completion: str) -> Usage:
    input_tokens = None if prompt is None else _tokens(prompt)
    output_tokens = _tokens(completion)
    total = (input_tokens or 0) + output_tokens
    return Usage(input=input_tokens, output=output_tokens, total=total, estimated=True)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)


def _unique(seed_id: str, id_counts: dict[str, int]) -> str:
    """Return the id, or a new one generated from it; `id_counts` counts how often each was requested."""
    unique_id = seed_id
    while unique_id in id_counts:
        id_counts[seed_id] += 1
        unique_id = ids.uuid5(f"{seed_id}-{id_counts[seed_id]}")
    id_counts[unique_id] = 1
    return unique_id
