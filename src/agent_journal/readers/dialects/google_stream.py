"""Chunks of a streamed answer of the Gemini API, added up to the response.

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

# What each chunk repeats; the first is what the whole answer has.
_FIRST = frozenset({"responseId", "modelVersion", "createTime"})
_SIGNATURES = ("thoughtSignature", "thought_signature")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d{1,4})\]|\['([^']*)'\]")
_IN_PIECES = frozenset({"willContinue", "partialArgs"})
_VALUES = ("stringValue", "numberValue", "boolValue")


class ContentStream:
    """Adds up chunks; candidates by their index."""

    def __init__(self, note: Notes, where: int | str) -> None:
        self.error: Any = None
        self._note = note
        self._where = where
        self._body: dict[str, Any] = {}
        self._candidates: dict[int, _Candidate] = {}
        self._unknown: list[dict[str, Any]] = []

    def add(self, chunk: dict[str, Any]) -> None:
        """Take in the next chunk."""
        chunk = opened(chunk, "response")
        candidates = chunk.get("candidates")
        if chunk.get("error") is not None:
            self.error = chunk["error"] if self.error is None else self.error
        elif candidates.__class__ is not list and not is_chunk(chunk):
            self._keep(chunk)
            return
        for key, value in chunk.items():
            if key not in ("candidates", "error"):
                self._state(key, value)
        for place, candidate in enumerate(candidates if candidates.__class__ is list else ()):
            if candidate.__class__ is dict:
                self._candidate(candidate, place).add(candidate)
            else:
                self._keep({"candidates": [candidate]})

    def _candidate(self, raw: dict[str, Any], place: int) -> _Candidate:
        index = raw.get("index")
        return self._candidates.setdefault(index if index.__class__ is int else place, _Candidate())

    def _state(self, key: str, value: Any) -> None:
        known = self._body.get(key)
        if key in _FIRST and known:
            return
        if known.__class__ is dict and value.__class__ is dict:
            self._body[key] = {**known, **value}
        elif value is not None:
            self._body[key] = value

    def _keep(self, chunk: dict[str, Any]) -> None:
        if not self._unknown:
            keys = ", ".join(sorted(chunk))[:60]
            self._note(Kind.UNKNOWN_TYPE, self._where, f"a chunk with {keys} in a stream")
        self._unknown.append(chunk)

    def body(self) -> dict[str, Any]:
        """The response so far; nothing if no chunk came."""
        body = dict(self._body)
        if self._candidates:
            body["candidates"] = [
                {**self._candidates[index].whole(), "index": index} for index in sorted(self._candidates)
            ]
        if self._unknown:
            body["events"] = self._unknown
        return body


def opened(envelope: dict[str, Any], name: str) -> dict[str, Any]:
    """What Code Assist puts around a request or a response, and that, as one body; any other as it is.

    Who uses the models by a Google account is served by it; what the envelope says otherwise stays in it.
    """
    inner = envelope.get(name)
    if inner.__class__ is not dict or not ("contents" in inner or _is_bare(inner)):
        return envelope
    beside = {key: value for key, value in envelope.items() if key != name}
    differing = {key: value for key, value in beside.items() if key in inner and inner[key] != value}
    return {**beside, **inner, **({"envelope": differing} if differing else {})}


def is_chunk(value: dict[str, Any]) -> bool:
    """Whether a value is a response of this API, also one without an answer, or in an envelope."""
    return _is_bare(value) or (value.get("response").__class__ is dict and _is_bare(value["response"]))


def _is_bare(value: dict[str, Any]) -> bool:
    return "candidates" in value or "usageMetadata" in value or "promptFeedback" in value


class _Candidate:
    """One of the answers, as its parts arrive."""

    def __init__(self) -> None:
        self._state: dict[str, Any] = {}
        self._content: dict[str, Any] = {}
        self._parts: list[Any] = []
        self._pieces: list[str] = []
        self._call: _Call | None = None

    def add(self, raw: dict[str, Any]) -> None:
        content = raw.get("content")
        for key, value in raw.items():
            if key == "content" and content.__class__ is dict:
                self._content |= {name: told for name, told in content.items() if name != "parts"}
            elif key != "index" and value is not None:
                self._state[key] = _put_together(self._state.get(key), value)
        parts = content.get("parts") if content.__class__ is dict else None
        for part in parts if parts.__class__ is list else [] if parts is None else [parts]:
            self._add_part(part)

    def _add_part(self, part: Any) -> None:
        call = part.get("functionCall") if part.__class__ is dict else None
        if call.__class__ is dict and (self._call is not None or _IN_PIECES & call.keys()):
            self._add_call(part, call)
        elif self._goes_on(part):
            self._pieces.append(part["text"])
            self._parts[-1] |= {name: part[name] for name in _SIGNATURES if name in part}
        else:
            self._close()
            self._parts.append(dict(part) if part.__class__ is dict else part)

    def _goes_on(self, part: Any) -> bool:
        """Whether a part is more of the text before it."""
        last = self._parts[-1] if self._parts and self._call is None else None
        if last.__class__ is not dict or part.__class__ is not dict:
            return False
        if part.get("text").__class__ is not str or last.get("text").__class__ is not str:
            return False
        if not part.keys() <= {"text", "thought", *_SIGNATURES}:
            return False
        # A signature ends what it signs; a last, empty text brings one for the answer before it.
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

    def whole(self) -> dict[str, Any]:
        self._close()
        content = {**self._content, "parts": self._parts} if self._parts else self._content
        return {"content": content, **self._state} if content else self._state


def _put_together(before: Any, after: Any) -> Any:
    """What a candidate says beside its parts: a later object adds to an earlier one."""
    if before.__class__ is dict and after.__class__ is dict:
        return {**before, **after}
    return after


class _Call:
    """A call whose arguments arrive in pieces, each with the path to where it belongs."""

    def __init__(self, part: dict[str, Any]) -> None:
        call = dict(part["functionCall"])
        call.pop("willContinue", None)
        call.pop("partialArgs", None)
        self.part: dict[str, Any] = {**part, "functionCall": call}
        self._call = call

    def add(self, piece: dict[str, Any]) -> bool:
        """Take in a piece; False if it was the last."""
        told = piece.get("partialArgs")
        for argument in told if told.__class__ is list else ():
            if not _set(self._call.setdefault("args", {}), argument):
                self._call.setdefault("partialArgs", []).append(argument)
        return piece.get("willContinue") is True


def _set(args: Any, argument: Any) -> bool:
    """Put a piece where its path leads; False if that cannot be told."""
    path = argument.get("jsonPath") if argument.__class__ is dict else None
    if path.__class__ is not str or not path.startswith("$") or args.__class__ is not dict:
        return False
    steps = [match[1] or match[3] or int(match[2] or 0) for match in _STEP.finditer(path)]
    if not steps or "".join(match[0] for match in _STEP.finditer(path)) != path[1:]:
        return False
    known = next((name for name in _VALUES if name in argument), None)
    value = None if known is None else argument[known]
    if known is None and "nullValue" not in argument:
        return False
    target: Any = args
    for step, following in pairwise(steps):
        target = _entered(target, step, [] if following.__class__ is int else {})
        if target is None:
            return False
    return _put(target, steps[-1], value)


def _entered(target: Any, step: str | int, empty: Any) -> Any:
    """What lies at a step, made if it is not there; None if the step cannot be taken."""
    if target.__class__ is dict and step.__class__ is str:
        return target.setdefault(step, empty)
    if target.__class__ is list and step.__class__ is int and step <= len(target):
        if step == len(target):
            target.append(empty)
        return target[step]
    return None


def _put(target: Any, step: str | int, value: Any) -> bool:
    """Put a value at the last step; a text lengthens the one that is there."""
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
