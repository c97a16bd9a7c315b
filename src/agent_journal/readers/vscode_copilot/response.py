"""The response to a request: its messages, how it ended, and the user's feedback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, objects
from agent_journal.model import Citation, Feedback, Message, Summary, Text, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import locations, rounds, tokens
from agent_journal.readers.vscode_copilot.answer import Answer, Draft

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from agent_journal.readers.vscode_copilot.rounds import Round

# The states of an answer in `modelState`; 0 is pending, 1 complete, 4 waits for the user.
_STOP_REASONS = {2: "cancelled", 3: "failed"}
_VOTES: dict[int, Literal["up", "down"]] = {0: "down", 1: "up"}
# The prefix of the vendor's own models; with "auto" the vendor chooses a model later.
_VENDOR_PREFIX, _AUTO = "copilot/", "auto"
_SIGNATURE = re.compile(r"(\S.*?) • [\d.]+x")


class Response:
    """The answer to one prompt. `messages` is empty if there is none yet."""

    def __init__(self, request: Fields, prompt: Message, *, hidden: bool) -> None:
        self._request = request
        self._prompt = prompt
        self._hidden = hidden
        self._id = request.text("responseId")
        self._result = request.nested("result")
        self._metadata = None if self._result is None else self._result.nested("metadata")
        self._rounds: list[Round] = [] if self._metadata is None else rounds.read_rounds(self._metadata)
        self.app_version = _extension_version(request)
        self.model = _model(request, self._metadata) or _model_in_signature(self._result)
        self.rendered = "" if self._metadata is None else _rendered_context(self._metadata)
        """The context that the editor sent with the prompt."""
        self._stop_reason = _stop_reason(request)
        self.at = self._answered_at()
        self.messages: list[Message] = []
        self._ids_of_rounds: dict[int | None, str] = {}
        self._has_totals = tokens.totals(request) is not None
        self._usage = tokens.usage(request, self._result, self._metadata)
        self._read()

    def _read(self) -> None:
        drafts = self._drafts()
        self._add_error(drafts)
        self._add_citations(drafts)
        self.feedback = self._take_feedback()
        self._summaries = list(self._take_summaries())
        rest = self._request.rest()
        if drafts or self._usage or self._stop_reason or self._id or rest:
            last = self._add_messages(drafts or [Draft(sidechain=False)])
            message = self.messages[last]
            self.messages[last] = replace(
                message, usage=self._usage, stop_reason=self._stop_reason, extra=message.extra | rest
            )

    @property
    def uncounted_prompts(self) -> int:
        """How many prompts have no token count: only that of the last round has one."""
        is_counted = self._usage is not None and self._usage.input is not None
        if self._has_totals:
            return 0
        return max(len(self._rounds) - 1, 0) if is_counted else 0

    @property
    def summaries(self) -> list[Summary]:
        """The summaries that replaced earlier rounds."""
        return [
            Summary(text=text, kind="system", at=self.at, message_id=self._ids_of_rounds.get(number))
            for number, text in self._summaries
        ]

    def _answered_at(self) -> str | None:
        """Return when the answer was complete: as stated, or the prompt's time plus the elapsed time."""
        is_object = isinstance(self._request.view("modelState"), dict)
        state = self._request.nested("modelState") if is_object else None
        completed = None if state is None else state.timestamp("completedAt")
        if completed is not None or self._prompt.at is None:
            return completed
        timings = None if self._result is None else self._result.view("timings")
        elapsed = timings.get("totalElapsed") if isinstance(timings, dict) else None
        ended_at = timestamps.plus_ms(self._prompt.at, elapsed) if elapsed.__class__ in (int, float) else None
        return ended_at or self._prompt.at

    # The messages.

    def _drafts(self) -> list[Draft]:
        request, metadata = self._request, self._metadata
        is_text = isinstance(request.view("response"), str)
        response = [request.take("response")] if is_text else request.items("response")
        call_results = None if metadata is None else metadata.view("toolCallResults")
        unlinked = call_results if isinstance(call_results, dict) else {}
        drafts = Answer(response or [], self._rounds, request, unlinked).drafts
        if metadata is not None and call_results == {}:
            metadata.drop("toolCallResults")
        for call_id in unlinked:
            request.note(Kind.UNLINKED_RESULT, request.where, call_id[:80])
        return drafts

    def _add_error(self, drafts: list[Draft]) -> None:
        """Add the error of a failed answer, which the editor shows in its place."""
        if self._result is None or not isinstance(self._result.view("errorDetails"), dict):
            return
        details = self._result.nested("errorDetails")
        message = None if details is None else details.text("message")
        if message:
            if not drafts or drafts[-1].has_calls or drafts[-1].sidechain:
                drafts.append(Draft(sidechain=False))
            drafts[-1].parts.append(Text(text=message, extra={"kind": "errorDetails"}))

    def _add_citations(self, drafts: list[Draft]) -> None:
        """Add the answer's citations to its last text."""
        for draft in reversed(drafts):
            for index in range(len(draft.parts) - 1, -1, -1):
                part = draft.parts[index]
                if part.__class__ is Text and not draft.sidechain and "kind" not in part.extra:
                    if citations := [*_references(self._request), *_code_citations(self._request)]:
                        draft.parts[index] = replace(part, citations=[*part.citations, *citations])
                    return

    def _add_messages(self, drafts: list[Draft]) -> int:
        """Convert drafts to messages; return the index of the last answer."""
        base = self._id or ids.made(self._prompt.id, "response")
        last = 0
        for number, draft in enumerate(drafts):
            last = len(self.messages)
            message = self._message(draft, base, number)
            self.messages.append(message)
            self._ids_of_rounds[draft.round] = message.id
            if draft.results:
                self.messages.append(
                    Message(
                        id=ids.made(base, number, "results"),
                        made_id=True,
                        role="tool",
                        at=message.at,
                        hidden=message.hidden,
                        sidechain=message.sidechain,
                        parts=[*draft.results],
                    )
                )
        return last

    def _message(self, draft: Draft, base: str, number: int) -> Message:
        stated = None if draft.round is None else self._rounds[draft.round].fields.view("timestamp")
        return Message(
            id=ids.made(base, number) if number else base,
            made_id=bool(number) or not self._id,
            role="assistant",
            at=timestamps.parse_timestamp(stated) or self.at,
            model=None if draft.sidechain else self.model,
            hidden=self._hidden,
            sidechain=draft.sidechain,
            parts=draft.parts,
            extra={"response": draft.marks} if draft.marks else {},
        )

    # Feedback and summaries.

    def _take_feedback(self) -> list[Feedback]:
        request = self._request
        vote = request.view("vote")
        if vote.__class__ is not int or vote not in _VOTES:
            return []
        request.drop("vote")
        message_id = self._id or ids.made(self._prompt.id, "response")
        return [Feedback(rating=_VOTES[vote], text=request.text("voteDownReason"), message_id=message_id)]

    def _take_summaries(self) -> Iterator[tuple[int | None, str]]:
        """Yield round and text of each summary that replaced the earlier rounds."""
        metadata = self._metadata
        if metadata is not None and isinstance(metadata.view("summary"), dict):
            summary = metadata.nested("summary")
            text = None if summary is None else summary.text("text")
            round_id = None if summary is None else summary.view("toolCallRoundId")
            if text:
                yield self._find_round(round_id), text
        for number, current in enumerate(self._rounds):
            if isinstance(current.fields.view("summary"), str) and (text := current.fields.text("summary")):
                yield number, text

    def _find_round(self, round_id: Any) -> int | None:
        """Return the number of the last round with an id."""
        if not isinstance(round_id, str):
            return None
        backwards = range(len(self._rounds) - 1, -1, -1)
        return next((index for index in backwards if self._rounds[index].fields.view("id") == round_id), None)


def _model(request: Fields, metadata: Fields | None) -> str | None:
    """Return the model that answered, else the requested one; `modelId` names its provider, and stays."""
    resolved = None if metadata is None else metadata.view("resolvedModel")
    if isinstance(resolved, str) and resolved:
        return resolved
    requested = request.view("modelId")
    if not isinstance(requested, str):
        return None
    model = requested.removeprefix(_VENDOR_PREFIX)
    return model if model and model != _AUTO else _auto_model(request)


def _auto_model(request: Fields) -> str | None:
    """Return the model that the vendor chose, according to the answer, else to the token counts."""
    parts = objects(request.view("response"))
    resolved = [part.get("resolved") for part in parts if part.get("kind") == "autoModeResolution"]
    resolved_ids = [model.get("id") for model in objects(resolved)]
    counted_ids = [total.get("model") for total in objects(request.view("modelTotals"))]
    model = next((name for name in (*resolved_ids, *counted_ids) if isinstance(name, str) and name), None)
    return None if model is None else model.removeprefix(_VENDOR_PREFIX)


def _model_in_signature(result: Fields | None) -> str | None:
    """Return the model in the signature of an answer: `Grok Code Fast 1 • 1x`, its name and its cost."""
    details = None if result is None else result.view("details")
    signature = _SIGNATURE.fullmatch(details) if isinstance(details, str) else None
    return None if signature is None else signature[1]


def _extension_version(request: Fields) -> str | None:
    agent = request.view("agent")
    version = agent.get("extensionVersion") if isinstance(agent, dict) else None
    return version if isinstance(version, str) and version else None


def _stop_reason(request: Fields) -> str | None:
    """Return whether the answer was cancelled or failed; None for a complete answer."""
    state = request.view("modelState")
    value = state.get("value") if isinstance(state, dict) else state
    if value.__class__ is int and value in _STOP_REASONS:
        return _STOP_REASONS[value]
    return _STOP_REASONS[2] if request.view("isCanceled") is True else None


def _references(request: Fields) -> Iterator[Citation]:
    """Take the files and pages that the answer is based on."""
    for item in _take_objects(request, "contentReferences"):
        yield Citation(url=locations.path_of(item.get("reference")), extra=item)


def _code_citations(request: Fields) -> Iterator[Citation]:
    """Take the public code that the answer resembles, with its license."""
    for item in _take_objects(request, "codeCitations"):
        fields = Fields(item, request.note, request.where)
        yield Citation(
            url=locations.path_of(fields.view("value")), text=fields.text("snippet"), extra=fields.rest()
        )


def _take_objects(request: Fields, name: str) -> list[dict[str, Any]]:
    """Take a list, if all its values are objects."""
    values = request.view(name)
    if not isinstance(values, list) or not all(item.__class__ is dict for item in values):
        return []
    request.drop(name)
    return values


def _rendered_context(metadata: Fields) -> str:
    """Return the editor's text around the prompt: about the machine, the workspace, the repository."""
    texts: list[str] = []
    for name in ("renderedGlobalContext", "renderedUserMessage"):
        items = metadata.view(name)
        for item in items if isinstance(items, list) else ():
            text = item.get("text") if isinstance(item, dict) else None
            if isinstance(text, str):
                texts.append(text)
    return "\n".join(texts)
