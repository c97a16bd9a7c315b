"""Assembles the chunks of a streamed Gemini API answer into the response.

Each chunk is a response with the next parts; Vertex AI also streams the arguments of calls.
Known from recorded streams up to November 2026.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# Fields that each chunk repeats; the response keeps the first value.
_FIRST_VALUE_FIELDS = frozenset({"responseId", "modelVersion", "createTime"})
_SIGNATURES = ("thoughtSignature", "thought_signature")
_PATH_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]")
_PARTIAL_CALL_FIELDS = frozenset({"willContinue", "partialArgs"})
_VALUE_FIELDS = ("stringValue", "numberValue", "boolValue")


class ContentStream:
    """Assembles chunks into a response, with candidates by their index."""

    def __init__(self, note: Notes, location: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = location
        self._body: dict[str, Any] = {}
        self._candidates: dict[int, _Candidate] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, chunk: dict[str, Any]) -> None:
        """Add the next chunk."""
        chunk = unwrap_envelope(chunk, "response")
        candidates = chunk.get("candidates")
        if chunk.get("error") is not None:
            self.error = chunk["error"] if self.error is None else self.error
        elif candidates.__class__ is not list and not is_chunk(chunk):
            self._add_unknown(chunk)
            return
        for key, value in chunk.items():
            if key not in ("candidates", "error"):
                self._set_field(key, value)
        for position, candidate in enumerate(candidates if candidates.__class__ is list else ()):
            if candidate.__class__ is dict:
                self._candidate(candidate, position).add(candidate)
            else:
                self._add_unknown({"candidates": [candidate]})

    def _candidate(self, raw: dict[str, Any], position: int) -> _Candidate:
        index = raw.get("index")
        return self._candidates.setdefault(index if index.__class__ is int else position, _Candidate())

    def _set_field(self, key: str, value: Any) -> None:
        known = self._body.get(key)
        if key in _FIRST_VALUE_FIELDS and known:
            return
        if known.__class__ is dict and value.__class__ is dict:
            self._body[key] = {**known, **value}
        elif value is not None:
            self._body[key] = value

    def _add_unknown(self, chunk: dict[str, Any]) -> None:
        if not self._unknown:
            keys = ", ".join(sorted(chunk))[:60]
            self._note(Kind.UNKNOWN_TYPE, self._where, f"a chunk with {keys} in a stream")
        self._unknown.append(chunk)

    def body(self) -> dict[str, Any]:
        """Return the response so far; empty if no chunk came."""
        body = dict(self._body)
        if self._candidates:
            body["candidates"] = [
                {**self._candidates[index].assembled(), "index": index} for index in sorted(self._candidates)
            ]
        if self._unknown:
            body["events"] = self._unknown
        return body


def unwrap_envelope(envelope: dict[str, Any], name: str) -> dict[str, Any]:
    """Merge the envelope that Code Assist adds with the request or response in it; return others unchanged.

    Code Assist serves the users who sign in with a Google account. Fields on which the envelope and the inner
    object disagree stay in `envelope`.
    """
    inner = envelope.get(name)
    if inner.__class__ is not dict or not ("contents" in inner or _is_response(inner)):
        return envelope
    outer = {key: value for key, value in envelope.items() if key != name}
    differing = {key: value for key, value in outer.items() if key in inner and inner[key] != value}
    return {**outer, **inner, **({"envelope": differing} if differing else {})}


def is_chunk(value: dict[str, Any]) -> bool:
    """Return whether an object is a response of this API, with or without an answer or an envelope."""
    return _is_response(value) or (
        value.get("response").__class__ is dict and _is_response(value["response"])
    )


def _is_response(value: dict[str, Any]) -> bool:
    return "candidates" in value or "usageMetadata" in value or "promptFeedback" in value


class _Candidate:
    """One of the answers, assembled from its parts."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._content: dict[str, Any] = {}
        self._parts: list[Any] = []
        self._pieces: list[str] = []
        self._call: _Call | None = None

    def add(self, raw: dict[str, Any]) -> None:
        content = raw.get("content")
        for key, value in raw.items():
            if key == "content" and content.__class__ is dict:
                self._content |= {name: inner for name, inner in content.items() if name != "parts"}
            elif key != "index" and value is not None:
                self._fields[key] = _merge(self._fields.get(key), value)
        parts = content.get("parts") if content.__class__ is dict else None
        for part in parts if parts.__class__ is list else [] if parts is None else [parts]:
            self._add_part(part)

    def _add_part(self, part: Any) -> None:
        call = part.get("functionCall") if part.__class__ is dict else None
        if call.__class__ is dict and (self._call is not None or _PARTIAL_CALL_FIELDS & call.keys()):
            self._add_call(part, call)
        elif self._continues_text(part):
            self._pieces.append(part["text"])
            self._parts[-1] |= {name: part[name] for name in _SIGNATURES if name in part}
        else:
            self._close()
            self._parts.append(dict(part) if part.__class__ is dict else part)

    def _continues_text(self, part: Any) -> bool:
        """Return whether a part continues the text before it."""
        last = self._parts[-1] if self._parts and self._call is None else None
        if last.__class__ is not dict or part.__class__ is not dict:
            return False
        if part.get("text").__class__ is not str or last.get("text").__class__ is not str:
            return False
        if not part.keys() <= {"text", "thought", *_SIGNATURES}:
            return False
        # A signature ends the text that it signs; a final empty text has one for the answer before it.
        is_signed = any(name in last for name in _SIGNATURES) and bool(part["text"])
        return part.get("thought") == last.get("thought") and not is_signed

    def _add_call(self, part: dict[str, Any], piece: dict[str, Any]) -> None:
        if self._call is None:
            self._close()
            self._call = _Call(part)
            self._parts.append(self._call.part)
        if not self._call.add(piece):
            self._call = None

    def _close(self) -> None:
        if self._pieces:
            self._parts[-1]["text"] += "".join(self._pieces)
            self._pieces = []

    def assembled(self) -> dict[str, Any]:
        self._close()
        content = {**self._content, "parts": self._parts} if self._parts else self._content
        return {"content": content, **self._fields} if content else self._fields


def _merge(earlier: Any, later: Any) -> Any:
    """Merge two values of a candidate's field: objects are combined, others are replaced."""
    if earlier.__class__ is dict and later.__class__ is dict:
        return {**earlier, **later}
    return later


class _Call:
    """A call whose arguments arrive in pieces, each with its JSON path."""

    def __init__(self, part: dict[str, Any]) -> None:
        call = dict(part["functionCall"])
        call.pop("willContinue", None)
        call.pop("partialArgs", None)
        self.part: dict[str, Any] = {**part, "functionCall": call}
        self._call = call

    def add(self, piece: dict[str, Any]) -> bool:
        """Add a piece; return False if it was the last."""
        arguments = piece.get("partialArgs")
        for argument in arguments if arguments.__class__ is list else ():
            if not _set_argument(self._call.setdefault("args", {}), argument):
                self._call.setdefault("partialArgs", []).append(argument)
        return piece.get("willContinue") is True


def _set_argument(args: Any, argument: Any) -> bool:
    """Set a piece of the arguments at its path; return False if the path or value is not valid."""
    path = argument.get("jsonPath") if argument.__class__ is dict else None
    if path.__class__ is not str or not path.startswith("$") or args.__class__ is not dict:
        return False
    steps = [match[1] or match[3] or int(match[2] or 0) for match in _PATH_STEP.finditer(path)]
    if not steps or "".join(match[0] for match in _PATH_STEP.finditer(path)) != path[1:]:
        return False
    value_field = next((name for name in _VALUE_FIELDS if name in argument), None)
    value = None if value_field is None else argument[value_field]
    if value_field is None and "nullValue" not in argument:
        return False
    target: Any = args
    for step, following in pairwise(steps):
        target = _descend(target, step, [] if following.__class__ is int else {})
        if target is None:
            return False
    return _set_value(target, steps[-1], value)


def _descend(target: Any, step: str | int, empty: Any) -> Any:
    """Return the value at a step of a path, created if missing; None if the step is not possible."""
    if target.__class__ is dict and step.__class__ is str:
        return target.setdefault(step, empty)
    if target.__class__ is list and step.__class__ is int and step <= len(target):
        if step == len(target):
            target.append(empty)
        return target[step]
    return None


def _set_value(target: Any, step: str | int, value: Any) -> bool:
    """Set a value at the last step of a path; a text is appended to an existing text."""
    if target.__class__ is dict and step.__class__ is str:
        known = target.get(step)
        target[step] = known + value if known.__class__ is str and value.__class__ is str else value
        return True
    if target.__class__ is not list or step.__class__ is not int or step > len(target):
        return False
    if step == len(target):
        target.append(value)
    else:
        known = target[step]
        target[step] = known + value if known.__class__ is str and value.__class__ is str else value
    return True
