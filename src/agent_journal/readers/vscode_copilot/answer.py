"""The answer to one prompt, as messages: one for each round with the model, with the results of its tools.

The shown parts give the order. Calls get their arguments and results from the rounds, as does reasoning that
was not shown; content that is in both occurs once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Other, Reasoning, Text, ToolCall
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import response_parts, results, rounds
from agent_journal.readers.vscode_copilot.edits import EDITS, take_edits
from agent_journal.readers.vscode_copilot.names import MARKS, SHOWN, tool_kind
from agent_journal.readers.vscode_copilot.response_parts import INVOCATION, TextBuilder

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part, ToolResult
    from agent_journal.readers.vscode_copilot.rounds import Call, Round

# Searching for repeated texts is quadratic: after this many failures, the other texts are not searched for.
_MAX_FAILED_SEARCHES = 200


class Draft:
    """A message under construction, and the results of its calls."""

    def __init__(self, *, sidechain: bool) -> None:
        self.parts: list[Part] = []
        self.results: list[ToolResult] = []
        self.marks: list[Any] = []
        self.round: int | None = None
        self.sidechain = sidechain
        self.has_calls = False


class Answer:
    """Converts the parts of a response, then the remaining rounds, to `drafts`.

    `model_results` has the results that the model received, by call id; converted results are removed.
    """

    def __init__(
        self, response: list[Any], model_rounds: list[Round], request: Fields, model_results: Bag
    ) -> None:
        self.drafts: list[Draft] = []
        self._request = request
        self._model_results = model_results
        self._rounds = model_rounds
        self._parts: list[Fields | None] = []
        self._shown_thoughts: set[str] = set()
        self._has_no_text = True
        pairing = rounds.Pairing(rounds.all_calls(model_rounds), self._scan(response))
        self._call_of = pairing.call_of
        self._hidden_calls = deque(pairing.hidden_calls)
        self._next_shown_rounds = self._find_next_shown_rounds() if self._hidden_calls else []
        self._open: TextBuilder | None = None
        self._texts: list[str] = []
        self._blank = ""
        self._index = 0
        self._matched_rounds = self._search_count = 0
        self._next_round = 0
        for self._index, raw in enumerate(response):
            self._add(self._index, raw)
        self._finish()

    def _scan(self, response: list[Any]) -> dict[int, Fields]:
        """Scan all parts before the first is converted; return the invocations among them by index."""
        invocations: dict[int, Fields] = {}
        for index, raw in enumerate(response):
            if raw.__class__ is not dict:
                self._parts.append(None)
                self._has_no_text = self._has_no_text and not isinstance(raw, str)
                continue
            part = Fields(raw, self._request.note, self._request.where)
            self._parts.append(part)
            kind = part.view("kind")
            if kind == INVOCATION:
                if not response_parts.is_sidechain(part):
                    invocations[index] = part
            elif kind == "thinking":
                if (thought := response_parts.thought(part)) is not None:
                    self._shown_thoughts.add(thought)
            elif self._has_no_text:
                self._has_no_text = not response_parts.has_text(part)
        return invocations

    def _find_next_shown_rounds(self) -> list[int]:
        """Return, for each index, the round of the next call that was shown."""
        next_rounds = [len(self._rounds)] * (len(self._parts) + 1)
        for index in range(len(self._parts) - 1, -1, -1):
            call = self._call_of.get(index)
            next_rounds[index] = next_rounds[index + 1] if call is None else call.round
        return next_rounds

    def _finish(self) -> None:
        self._end_text()
        for call in self._hidden_calls:
            self._add_call(call, None)
        for index in range(self._next_round, len(self._rounds)):
            self._begin_round(index)
        self._drop_repeated_fields()

    # Converting the parts.

    def _add(self, index: int, raw: Any) -> None:
        part = self._parts[index]
        if part is None:
            self._add_bare(raw)
            return
        kind, sidechain = part.view("kind"), response_parts.is_sidechain(part)
        if kind == INVOCATION:
            self._add_invocation(index, part, raw, sidechain=sidechain)
        elif (text := response_parts.take_text(part)) is not None:
            self._add_text(text, part.rest(), sidechain=sidechain)
        elif kind == "inlineReference" and response_parts.reference_label(part):
            self._add_reference(part, sidechain=sidechain)
        elif kind == "thinking" and (thought := response_parts.thought(part)) is not None:
            self._add_thought(thought, part, sidechain=sidechain)
        elif (editor_text := response_parts.take_editor_text(part)) is not None:
            self._append(editor_text, sidechain=sidechain)
        elif kind == EDITS and (edits := take_edits(part)) is not None:
            self._append(*edits, sidechain=sidechain)
            if not edits:
                self.drafts[-1].marks.append(raw)
        else:
            self._add_other(kind, raw, sidechain=sidechain)

    def _add_bare(self, raw: Any) -> None:
        if isinstance(raw, str):
            self._add_text(raw, {}, sidechain=False)
        else:
            self._request.note(Kind.WRONG_TYPE, self._request.where, f"a part is {type(raw).__name__}")
            self._append(Other(data=raw), sidechain=False)

    def _add_other(self, kind: Any, raw: Bag, *, sidechain: bool) -> None:
        name = kind if isinstance(kind, str) else None
        if name in MARKS:
            # A mark does not end the text; it is stored in `extra` of the message.
            self._draft(sidechain=sidechain).marks.append(raw)
            return
        if name not in SHOWN:
            detail = f"part of a response {str(kind)[:40]!r}"
            self._request.note(Kind.UNKNOWN_TYPE, self._request.where, detail)
        self._append(Other(data=raw, name=name), sidechain=sidechain)

    def _add_text(self, text: str, rest: Bag, *, sidechain: bool) -> None:
        if self._open is None and not text.strip():
            self._blank += text  # the editor puts empty lines between calls
            return
        self._open_text(sidechain=sidechain).add(text, rest)

    def _add_reference(self, part: Fields, *, sidechain: bool) -> None:
        label = response_parts.reference_label(part)
        part.drop("kind")
        self._open_text(sidechain=sidechain).cite(label, part)

    def _add_thought(self, thought: str, part: Fields, *, sidechain: bool) -> None:
        self._add_earlier_hidden_calls()
        self._draft_without_calls(sidechain=sidechain)
        part.drop("kind", "value")
        self._append(Reasoning(text=thought, extra=part.rest()), sidechain=sidechain)

    # The drafts.

    def _draft(self, *, sidechain: bool) -> Draft:
        """Return the current message; a new one where a subagent begins or ends."""
        if not self.drafts or self.drafts[-1].sidechain != sidechain:
            self._add_draft(sidechain=sidechain)
        return self.drafts[-1]

    def _draft_without_calls(self, *, sidechain: bool) -> Draft:
        """Return a message without calls: text after calls begins a new message."""
        if self._draft(sidechain=sidechain).has_calls:
            self._add_draft(sidechain=sidechain)
        return self.drafts[-1]

    def _add_draft(self, *, sidechain: bool) -> None:
        self._end_text()
        self.drafts.append(Draft(sidechain=sidechain))

    def _append(self, *parts: Part, sidechain: bool) -> None:
        draft = self._draft(sidechain=sidechain)
        self._end_text()
        draft.parts.extend(parts)

    def _open_text(self, *, sidechain: bool) -> TextBuilder:
        if self._open is None:
            self._add_earlier_hidden_calls()
        self._draft_without_calls(sidechain=sidechain)
        if self._open is None:
            self._open = TextBuilder()
            if self._blank:
                self._open.add(self._blank, {})
                self._blank = ""
        return self._open

    def _end_text(self) -> None:
        if self._open is not None:
            text, self._open = self._open.build(), None
            self._texts.append(text.text)
            self.drafts[-1].parts.append(text)

    # Calls and rounds.

    def _add_invocation(self, index: int, part: Fields, raw: Bag, *, sidechain: bool) -> None:
        call = self._call_of.get(index)
        if call is not None:
            while self._hidden_calls and self._hidden_calls[0].number < call.number:
                self._add_call(self._hidden_calls.popleft(), None)
            self._add_call(call, part)
        elif rounds.is_internal(part):
            self._append(Other(data=raw, name=INVOCATION), sidechain=sidechain)
        else:
            self._add_shown_call(part, sidechain=sidechain)

    def _add_earlier_hidden_calls(self) -> None:
        """Add calls that were not shown, before the text or reasoning that follows them."""
        if not self._hidden_calls or self._search_count > _MAX_FAILED_SEARCHES:
            return
        self._search_count += 1
        self._end_text()
        shown_text = "".join(self._texts)
        while (
            self._matched_rounds < len(self._rounds)
            and (self._rounds[self._matched_rounds].text or "").strip() in shown_text
        ):
            self._matched_rounds += 1
        end = min(self._matched_rounds, self._next_shown_rounds[self._index])
        while self._hidden_calls and self._hidden_calls[0].round < end:
            self._add_call(self._hidden_calls.popleft(), None)

    def _add_call(self, call: Call, part: Fields | None) -> None:
        """Add a call of the model; `part` is the shown invocation, if there is one."""
        for index in range(self._next_round, call.round + 1):
            self._begin_round(index)
        draft = self._draft(sidechain=False)
        if draft.has_calls and draft.round != call.round:
            self._add_draft(sidechain=False)
            draft = self.drafts[-1]
        draft.round, draft.has_calls = call.round, True
        self._end_text()
        draft.parts.append(_tool_call(call, part))
        model_result = self._take_model_result(call.call_id)
        if model_result is not None:
            draft.results.append(results.from_model(model_result, self._request, call, part))
        elif part is not None and (result := results.from_shown(part, call.call_id, call.name)) is not None:
            draft.results.append(result)

    def _take_model_result(self, call_id: str | None) -> Bag | None:
        """Take the result of a call that the model received; a value that is not an object stays."""
        if call_id is None or self._model_results.get(call_id).__class__ is not dict:
            return None
        result: Bag = self._model_results.pop(call_id)
        return result

    def _add_shown_call(self, part: Fields, *, sidechain: bool) -> None:
        """Add a call that is only known from its shown invocation."""
        name, call_id = rounds.model_tool_name(part), part.view("toolCallId")
        call_id = call_id if isinstance(call_id, str) else None
        result = results.from_shown(part, call_id, name)
        part.drop("kind")
        call = ToolCall(
            name=name,
            call_id=call_id,
            input=response_parts.shown_input(part),
            kind=tool_kind(name) or ("mcp" if response_parts.is_mcp(part) else None),
            extra=part.rest(),
        )
        self._append(call, sidechain=sidechain)
        draft = self.drafts[-1]
        draft.has_calls = True
        if result is not None:
            draft.results.append(result)

    def _begin_round(self, index: int) -> None:
        """Add the reasoning and text of a round that were not shown."""
        self._next_round = index + 1
        current = self._rounds[index]
        thought = current.thought
        if thought is not None and thought not in self._shown_thoughts:
            draft = self._draft_without_calls(sidechain=False)
            self._end_text()
            draft.parts.insert(0, _reasoning(current, thought))
        if self._has_no_text and current.text is not None:
            text = current.fields.take("response")
            self._draft_without_calls(sidechain=False).parts.append(Text(text=text))
            self._texts.append(text)

    def _drop_repeated_fields(self) -> None:
        """Drop the fields of rounds that the drafts already contain."""
        shown_text = "".join(self._texts)
        failures = 0
        for current in self._rounds:
            if current.calls:
                current.fields.drop("toolCalls")
            if current.thought in self._shown_thoughts:
                _drop_thought(current)
            if current.text is not None and failures < _MAX_FAILED_SEARCHES:
                if current.text.strip() in shown_text:
                    current.fields.drop("response")
                else:
                    failures += 1


def _drop_thought(current: Round) -> None:
    """Drop the text of a round's thought; the thought's other fields stay."""
    thinking = current.fields.nested("thinking")
    if thinking is not None:
        thinking.drop("text")
        current.fields.rest()


def _reasoning(current: Round, thought: str) -> Reasoning:
    thinking = current.fields.nested("thinking")
    if thinking is None:
        return Reasoning(text=thought)
    thinking.drop("text")
    encrypted = thinking.text("encrypted")
    rest = thinking.rest()
    current.fields.drop("thinking")
    return Reasoning(text=thought, encrypted=encrypted, extra=rest)


def _tool_call(call: Call, part: Fields | None) -> ToolCall:
    arguments = call.fields.take("arguments")
    if arguments is None and part is not None:
        arguments = response_parts.shown_input(part)
    extra: Bag = {}
    if part is not None:
        part.drop("kind")
        extra = part.rest()
    if rest := call.fields.rest():
        extra = extra | {"call": rest}
    return ToolCall(
        name=call.name,
        call_id=call.call_id,
        input=arguments,
        kind=tool_kind(call.name) or ("mcp" if response_parts.is_mcp(part) else None),
        extra=extra,
    )
