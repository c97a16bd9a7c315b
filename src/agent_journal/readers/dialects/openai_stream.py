"""Assembles the chunks of a streamed chat completion into the completion.

Known from recorded streams up to November 2026: OpenAI, Azure, DeepSeek, Mistral, Perplexity, xAI.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# Texts that arrive in pieces.
_TEXT_FIELDS = ("refusal", "reasoning_content", "reasoning")
# Fields that each chunk repeats or regenerates; the completion keeps the first value.
_FIRST_VALUE_FIELDS = frozenset({"id", "model", "created", "object"})
# Handled elsewhere; `obfuscation` is OpenAI's padding that hides the length of chunks.
_OTHER_FIELDS = frozenset({"choices", "error", "obfuscation"})


class CompletionStream:
    """Assembles chunks into a completion, with choices and tool calls by their indexes."""

    def __init__(self, note: Notes, location: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = location
        self._body: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, chunk: dict[str, Any]) -> None:
        """Add the next chunk."""
        choices = chunk.get("choices")
        if chunk.get("error") is not None:
            self.error = chunk["error"] if self.error is None else self.error
        elif choices.__class__ is not list:
            self._add_unknown(chunk)
            return
        for key, value in chunk.items():
            if value is not None and value != "" and key not in _OTHER_FIELDS:
                self._set_field(key, value)
        for position, choice in enumerate(choices if choices.__class__ is list else ()):
            if choice.__class__ is dict:
                self._choice(choice, position).add(choice)
            else:
                self._add_unknown({"choices": [choice]})

    def _choice(self, raw: dict[str, Any], position: int) -> _Choice:
        index = raw.get("index")
        return self._choices.setdefault(index if index.__class__ is int else position, _Choice())

    def _set_field(self, key: str, value: Any) -> None:
        if key not in _FIRST_VALUE_FIELDS or not self._body.get(key):
            self._body[key] = value

    def _add_unknown(self, chunk: dict[str, Any]) -> None:
        if not self._unknown:
            kind = chunk.get("type") or chunk.get("object")
            self._note(Kind.UNKNOWN_TYPE, self._where, f"event {str(kind)[:60]!r} in a stream")
        self._unknown.append(chunk)

    def body(self) -> dict[str, Any]:
        """Return the completion so far; empty if no choice came."""
        body = dict(self._body)
        if self._choices:
            body["choices"] = [
                {"index": index, **choice.assembled()} for index, choice in sorted(self._choices.items())
            ]
        if self._unknown:
            body["events"] = self._unknown
        return body


class _Choice:
    """One of the answers, assembled from its deltas."""

    def __init__(self) -> None:
        self._state: dict[str, Any] = {}
        self._logprobs = _MergedObject()
        self._role = "assistant"
        self._content: list[Any] = []
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._calls = _Calls()
        self._function = _MergedObject()
        self._audio = _MergedObject()
        self._rest: dict[str, list[Any]] = {}

    def add(self, raw: dict[str, Any]) -> None:
        for key, value in raw.items():
            if key == "delta" and value.__class__ is dict:
                self._add_delta(value)
            elif key == "logprobs" and value.__class__ is dict:
                self._logprobs.add(value)
            elif value is not None and key not in {"index", "delta"}:
                self._state[key] = value

    def _add_delta(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            match key, value:
                case (_, None) | ("index", _):
                    continue
                case "role", str():
                    self._role = value or self._role
                case "content", str() | list():
                    self._content.extend([value] if isinstance(value, str) else value)
                case "tool_calls", list():
                    self._calls.add(value)
                case "function_call", dict():
                    self._function.add(value)
                case "audio", dict():
                    self._audio.add(value)
                case "reasoning_details" | "annotations" | "images", list():
                    self._lists.setdefault(key, []).extend(value)
                case _, str() if key in _TEXT_FIELDS:
                    self._texts.setdefault(key, []).append(value)
                case _:
                    self._rest.setdefault(key, []).append(value)

    def assembled(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": self._role, "content": _content(self._content)}
        message |= {key: text for key, pieces in self._texts.items() if (text := "".join(pieces))}
        message |= {
            key: _join_details(listed) if key == "reasoning_details" else listed
            for key, listed in self._lists.items()
        }
        if calls := self._calls.assembled():
            message["tool_calls"] = calls
        if function := self._function.assembled():
            message["function_call"] = function
        if audio := self._audio.assembled():
            message["audio"] = audio
        for key, values in self._rest.items():
            message[key] = values if any(value != values[0] for value in values) else values[0]
        logprobs = self._logprobs.assembled()
        return {"message": message, **self._state, **({"logprobs": logprobs} if logprobs else {})}


def _content(pieces: list[Any]) -> str | list[Any] | None:
    """Return content as without streaming: null if empty, a list if it had parts (Mistral)."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces) or None
    runs: list[list[Any]] = []
    for piece in pieces:
        part = {"type": "text", "text": piece} if isinstance(piece, str) else piece
        if runs and (kind := _part_type(part)) in ("text", "thinking") and kind == _part_type(runs[-1][0]):
            runs[-1].append(part)
        elif part != {"type": "text", "text": ""}:
            runs.append([part])
    return [run[0] if len(run) == 1 else run[0] | _MergedObject(*run).assembled() for run in runs]


def _part_type(part: Any) -> Any:
    return part.get("type") if isinstance(part, dict) else None


class _MergedObject:
    """An object that arrives in pieces: texts and lists are joined, anything else is replaced.

    They are joined only once, as a spoken answer has thousands of pieces and several megabytes.
    """

    def __init__(self, *pieces: dict[str, Any]) -> None:
        self._values: dict[str, list[Any]] = {}
        for piece in pieces:
            self.add(piece)

    def add(self, piece: dict[str, Any]) -> None:
        """Add the next piece."""
        for key, value in piece.items():
            known = self._values.get(key)
            if value is None or (key in {"type", "id", "name"} and known is not None and any(known)):
                continue
            if known is not None and value.__class__ in {str, list} and known[0].__class__ is value.__class__:
                known.append(value)
            else:
                self._values[key] = [value]

    def assembled(self) -> dict[str, Any]:
        """Return all pieces as one object."""
        return {key: _join_values(values) for key, values in self._values.items()}


def _join_values(values: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    return "".join(values) if values[0].__class__ is str else [*chain.from_iterable(values)]


def _join_details(pieces: list[Any]) -> list[Any]:
    """Join OpenRouter's reasoning: consecutive pieces with the same type and index belong together."""
    runs: list[list[Any]] = []
    for piece in pieces:
        if runs and isinstance(piece, dict) and _is_same_detail(runs[-1][0], piece):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [run[0] if len(run) == 1 else _join_detail(run) for run in runs]


def _join_detail(run: list[dict[str, Any]]) -> dict[str, Any]:
    constant = {key: piece[key] for piece in run for key in ("format", "index") if key in piece}
    texts = [{key: value for key, value in piece.items() if key not in constant} for piece in run]
    return run[0] | _MergedObject(*texts).assembled() | constant


def _is_same_detail(one: Any, other: dict[str, Any]) -> bool:
    names = ("type", "index")
    return isinstance(one, dict) and all(one.get(name) == other.get(name) for name in names)


class _Calls:
    """Tool calls assembled from fragments: id and name come first, arguments in pieces."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._invalid_fragments: list[Any] = []

    def add(self, fragments: list[Any]) -> None:
        for fragment in fragments:
            if fragment.__class__ is dict:
                self._call_of(fragment).add(fragment)
            else:
                self._invalid_fragments.append(fragment)

    def _call_of(self, fragment: dict[str, Any]) -> _Call:
        index, call_id = fragment.get("index"), fragment.get("id")
        call: _Call | None
        if index.__class__ is int:
            call = self._by_index.get(index)
        elif call_id:
            call = next((call for call in self._calls if call.id == call_id), None)
        else:
            call = self._calls[-1] if self._calls and not _function_name(fragment) else None
        # Some services give each whole call the same index; a new id with a name is a new call.
        if call is None or (call_id and call.id and call_id != call.id and _function_name(fragment)):
            call = _Call(index if index.__class__ is int else None)
            self._calls.append(call)
            if call.index is not None:
                self._by_index[call.index] = call
        return call

    def assembled(self) -> list[Any]:
        """The calls in the order of their index."""
        last = len(self._calls)
        ordered = sorted(self._calls, key=lambda call: last if call.index is None else call.index)
        return [*(call.assembled() for call in ordered), *self._invalid_fragments]


class _Call:
    def __init__(self, index: int | None) -> None:
        self.index = index
        self._raw: dict[str, Any] = {}
        self._part_type: str | None = None
        self._inner: dict[str, Any] = {}
        self._pieces: list[Any] = []

    @property
    def id(self) -> Any:
        return self._raw.get("id")

    def add(self, fragment: dict[str, Any]) -> None:
        for key, value in fragment.items():
            if key in {"function", "custom"} and isinstance(value, dict):
                self._part_type = key
                self._add_inner(value)
            elif key != "index" and value is not None and not self._raw.get(key):
                self._raw[key] = value

    def _add_inner(self, inner: dict[str, Any]) -> None:
        for key, value in inner.items():
            if key in {"arguments", "input"} and value is not None:
                self._pieces.append(value)
            elif value is not None and not self._inner.get(key):
                self._inner[key] = value

    def assembled(self) -> dict[str, Any]:
        if self._part_type is None:
            return self._raw
        is_text = all(isinstance(piece, str) for piece in self._pieces)
        arguments = "".join(self._pieces) if is_text else self._pieces[-1]
        inner = {**self._inner, "input" if self._part_type == "custom" else "arguments": arguments}
        return {"type": self._part_type, **self._raw, self._part_type: inner}


def _function_name(fragment: dict[str, Any]) -> Any:
    inner = fragment.get("function") or fragment.get("custom")
    return inner.get("name") if isinstance(inner, dict) else None
