"""What a request says about its answer: the messages, what became of it, how the person liked it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, objects
from agent_journal.model import Citation, Feedback, Message, Summary, Text, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import places, rounds, tokens
from agent_journal.readers.vscode_copilot.answer import Answer, Draft

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from agent_journal.readers.vscode_copilot.rounds import Round

# How `modelState` counts what became of an answer; 0 is pending, 1 complete, 4 waits for the person.
_ENDS = {2: "cancelled", 3: "failed"}
_VOTES: dict[int, Literal["up", "down"]] = {0: "down", 1: "up"}
# The vendor's own models; "auto" is a choice that the vendor makes later.
_VENDOR, _NO_MODEL = "copilot/", "auto"
_SIGNATURE = re.compile(r"(\S.*?) • [\d.]+x")


class Response:
    """The answer to one prompt. `messages` is empty if there is none yet."""

    def __init__(self, request: Fields, asked: Message, *, hidden: bool) -> None:
        self._request = request
        self._asked = asked
        self._hidden = hidden
        self._id = request.text("responseId")
        self._result = request.nested("result")
        self._metadata = None if self._result is None else self._result.nested("metadata")
        self._rounds: list[Round] = [] if self._metadata is None else rounds.rounds_of(self._metadata)
        self.app_version = _extension_version(request)
        self.model = _model(request, self._metadata) or _signed(self._result)
        self.rendered = "" if self._metadata is None else _rendered(self._metadata)
        """What else the model was told with the prompt."""
        self._stop_reason = _stop_reason(request)
        self.at = self._answered_at()
        self.messages: list[Message] = []
        self._ids_of_rounds: dict[int | None, str] = {}
        self._is_summed = tokens.totals(request) is not None
        self._usage = tokens.usage(request, self._result, self._metadata)
        self._read()

    def _read(self) -> None:
        drafts = self._drafts()
        self._say_error(drafts)
        self._cite(drafts)
        self.feedback = self._voted()
        self._summaries = list(self._summed_up())
        rest = self._request.rest()
        if drafts or self._usage or self._stop_reason or self._id or rest:
            last = self._tell(drafts or [Draft(sidechain=False)])
            message = self.messages[last]
            self.messages[last] = replace(
                message, usage=self._usage, stop_reason=self._stop_reason, extra=message.extra | rest
            )

    @property
    def uncounted_prompts(self) -> int:
        """How many prompts were sent whose size is not told: only that of the last round is."""
        is_counted = self._usage is not None and self._usage.input is not None
        if self._is_summed:
            return 0
        return max(len(self._rounds) - 1, 0) if is_counted else 0

    @property
    def summaries(self) -> list[Summary]:
        """What took the place of the rounds before."""
        return [
            Summary(text=text, kind="system", at=self.at, message_id=self._ids_of_rounds.get(number))
            for number, text in self._summaries
        ]

    def _answered_at(self) -> str | None:
        """When the answer was whole: as it says, or so long after the prompt as it took."""
        is_object = isinstance(self._request.look("modelState"), dict)
        state = self._request.nested("modelState") if is_object else None
        completed = None if state is None else state.moment("completedAt")
        if completed is not None or self._asked.at is None:
            return completed
        timings = None if self._result is None else self._result.look("timings")
        took = timings.get("totalElapsed") if isinstance(timings, dict) else None
        later = timestamps.plus_ms(self._asked.at, took) if took.__class__ in (int, float) else None
        return later or self._asked.at

    # What it is made of.

    def _drafts(self) -> list[Draft]:
        request, metadata = self._request, self._metadata
        is_text = isinstance(request.look("response"), str)
        response = [request.take("response")] if is_text else request.items("response")
        given = None if metadata is None else metadata.look("toolCallResults")
        left = given if isinstance(given, dict) else {}
        drafts = Answer(response or [], self._rounds, request, left).drafts
        if metadata is not None and given == {}:
            metadata.drop("toolCallResults")
        for call_id in left:
            request.note(Kind.UNLINKED_RESULT, request.where, call_id[:80])
        return drafts

    def _say_error(self, drafts: list[Draft]) -> None:
        """The editor shows why an answer failed in its place."""
        if self._result is None or not isinstance(self._result.look("errorDetails"), dict):
            return
        details = self._result.nested("errorDetails")
        message = None if details is None else details.text("message")
        if message:
            if not drafts or drafts[-1].has_calls or drafts[-1].sidechain:
                drafts.append(Draft(sidechain=False))
            drafts[-1].parts.append(Text(text=message, extra={"kind": "errorDetails"}))

    def _cite(self, drafts: list[Draft]) -> None:
        """Put what the answer refers to beside its last text."""
        for draft in reversed(drafts):
            for place in range(len(draft.parts) - 1, -1, -1):
                part = draft.parts[place]
                if part.__class__ is Text and not draft.sidechain and "kind" not in part.extra:
                    if found := [*_references(self._request), *_code_citations(self._request)]:
                        draft.parts[place] = replace(part, citations=[*part.citations, *found])
                    return

    def _tell(self, drafts: list[Draft]) -> int:
        """Make messages of drafts; gives the place of the last answer among them."""
        base = self._id or ids.made(self._asked.id, "response")
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
        stated = None if draft.round is None else self._rounds[draft.round].fields.look("timestamp")
        return Message(
            id=ids.made(base, number) if number else base,
            made_id=bool(number) or not self._id,
            role="assistant",
            at=timestamps.moment(stated) or self.at,
            model=None if draft.sidechain else self.model,
            hidden=self._hidden,
            sidechain=draft.sidechain,
            parts=draft.parts,
            extra={"response": draft.marks} if draft.marks else {},
        )

    # What else is said about it.

    def _voted(self) -> list[Feedback]:
        request = self._request
        vote = request.look("vote")
        if vote.__class__ is not int or vote not in _VOTES:
            return []
        request.drop("vote")
        liked = self._id or ids.made(self._asked.id, "response")
        return [Feedback(rating=_VOTES[vote], text=request.text("voteDownReason"), message_id=liked)]

    def _summed_up(self) -> Iterator[tuple[int | None, str]]:
        """Round and text of each summary that the model went on with instead of what was before."""
        metadata = self._metadata
        if metadata is not None and isinstance(metadata.look("summary"), dict):
            summary = metadata.nested("summary")
            text = None if summary is None else summary.text("text")
            of_round = None if summary is None else summary.look("toolCallRoundId")
            if text:
                yield self._round_called(of_round), text
        for number, one in enumerate(self._rounds):
            if isinstance(one.fields.look("summary"), str) and (text := one.fields.text("summary")):
                yield number, text

    def _round_called(self, round_id: Any) -> int | None:
        """The last round of that id."""
        if not isinstance(round_id, str):
            return None
        backwards = range(len(self._rounds) - 1, -1, -1)
        return next((place for place in backwards if self._rounds[place].fields.look("id") == round_id), None)


def _model(request: Fields, metadata: Fields | None) -> str | None:
    """The model that answered, else the one that was asked; `modelId` names its provider, and stays."""
    resolved = None if metadata is None else metadata.look("resolvedModel")
    if isinstance(resolved, str) and resolved:
        return resolved
    asked = request.look("modelId")
    if not isinstance(asked, str):
        return None
    model = asked.removeprefix(_VENDOR)
    return model if model and model != _NO_MODEL else _chosen(request)


def _chosen(request: Fields) -> str | None:
    """The model that the vendor chose, as the answer shows it, else as its tokens are counted."""
    parts = objects(request.look("response"))
    resolved = [part.get("resolved") for part in parts if part.get("kind") == "autoModeResolution"]
    named = [model.get("id") for model in objects(resolved)]
    counted = [total.get("model") for total in objects(request.look("modelTotals"))]
    found = next((name for name in (*named, *counted) if isinstance(name, str) and name), None)
    return None if found is None else found.removeprefix(_VENDOR)


def _signed(result: Fields | None) -> str | None:
    """The model as its answer is signed: `Grok Code Fast 1 • 1x`, its name and what it costs."""
    details = None if result is None else result.look("details")
    found = _SIGNATURE.fullmatch(details) if isinstance(details, str) else None
    return None if found is None else found[1]


def _extension_version(request: Fields) -> str | None:
    agent = request.look("agent")
    version = agent.get("extensionVersion") if isinstance(agent, dict) else None
    return version if isinstance(version, str) and version else None


def _stop_reason(request: Fields) -> str | None:
    """Cancelled or failed; an answer that is whole needs no word for it."""
    state = request.look("modelState")
    value = state.get("value") if isinstance(state, dict) else state
    if value.__class__ is int and value in _ENDS:
        return _ENDS[value]
    return _ENDS[2] if request.look("isCanceled") is True else None


def _references(request: Fields) -> Iterator[Citation]:
    """Files and pages that the answer is based on."""
    for item in _objects(request, "contentReferences"):
        yield Citation(url=places.path_of(item.get("reference")), extra=item)


def _code_citations(request: Fields) -> Iterator[Citation]:
    """Public code that the answer resembles, with its licence."""
    for item in _objects(request, "codeCitations"):
        fields = Fields(item, request.note, request.where)
        yield Citation(
            url=places.path_of(fields.look("value")), text=fields.text("snippet"), extra=fields.rest()
        )


def _objects(request: Fields, name: str) -> list[dict[str, Any]]:
    """Move out a list, if it is one of objects."""
    found = request.look(name)
    if not isinstance(found, list) or not all(item.__class__ is dict for item in found):
        return []
    request.drop(name)
    return found


def _rendered(metadata: Fields) -> str:
    """The text that the editor wrote around the prompt: on the machine, the workspace, the repository."""
    found: list[str] = []
    for name in ("renderedGlobalContext", "renderedUserMessage"):
        items = metadata.look(name)
        for item in items if isinstance(items, list) else ():
            text = item.get("text") if isinstance(item, dict) else None
            if isinstance(text, str):
                found.append(text)
    return "\n".join(found)
