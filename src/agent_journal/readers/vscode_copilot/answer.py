"""What was answered to one prompt, as messages: one for each round of the model, with its tools' results.

The parts that were shown are the thread. Calls get their arguments and results from the rounds, and thoughts
that were not shown come from there too; what the rounds say again is told once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Other, Reasoning, Text, ToolCall
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import response_parts, results, rounds
from agent_journal.readers.vscode_copilot.edits import EDITS, edits
from agent_journal.readers.vscode_copilot.names import MARKS, SHOWN, kind_of
from agent_journal.readers.vscode_copilot.response_parts import INVOCATION, Said

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part, ToolResult
    from agent_journal.readers.vscode_copilot.rounds import Call, Round

# Whoever has looked in vain for so many texts need not look for the others.
_PATIENCE = 200


class Draft:
    """A message that is being put together, and the results of its calls."""

    def __init__(self, *, sidechain: bool) -> None:
        self.parts: list[Part] = []
        self.results: list[ToolResult] = []
        self.marks: list[Any] = []
        self.round: int | None = None
        self.sidechain = sidechain
        self.has_calls = False


class Answer:
    """Takes the parts of a response, then what is left of its rounds; `drafts` is what it came to.

    `given` holds the results that the model was given, by the ids of their calls; what is told leaves it.
    """

    def __init__(self, response: list[Any], found: list[Round], around: Fields, given: Bag) -> None:
        self.drafts: list[Draft] = []
        self._around = around
        self._given = given
        self._rounds = found
        self._parts: list[Fields | None] = []
        self._shown_thoughts: set[str] = set()
        self._is_mute = True
        pairing = rounds.Pairing(rounds.all_calls(found), self._look_through(response))
        self._call_of = pairing.call_of
        self._unshown = deque(pairing.unshown)
        self._ahead = self._rounds_ahead() if self._unshown else []
        self._said: Said | None = None
        self._told: list[str] = []
        self._blank = ""
        self._place = 0
        self._silent = self._looked = 0
        self._next_round = 0
        for self._place, raw in enumerate(response):
            self._add(self._place, raw)
        self._finish()

    def _look_through(self, response: list[Any]) -> dict[int, Fields]:
        """See what all parts are before one is told; gives the invocations among them by their places."""
        invocations: dict[int, Fields] = {}
        for place, raw in enumerate(response):
            if raw.__class__ is not dict:
                self._parts.append(None)
                self._is_mute = self._is_mute and not isinstance(raw, str)
                continue
            part = Fields(raw, self._around.note, self._around.where)
            self._parts.append(part)
            kind = part.look("kind")
            if kind == INVOCATION:
                if not response_parts.is_sidechain(part):
                    invocations[place] = part
            elif kind == "thinking":
                if (thought := response_parts.thought(part)) is not None:
                    self._shown_thoughts.add(thought)
            elif self._is_mute:
                self._is_mute = not response_parts.has_text(part)
        return invocations

    def _rounds_ahead(self) -> list[int]:
        """For each place, the round of the next call that was shown."""
        ahead = [len(self._rounds)] * (len(self._parts) + 1)
        for place in range(len(self._parts) - 1, -1, -1):
            call = self._call_of.get(place)
            ahead[place] = ahead[place + 1] if call is None else call.round
        return ahead

    def _finish(self) -> None:
        self._end_text()
        for call in self._unshown:
            self._call(call, None)
        for place in range(self._next_round, len(self._rounds)):
            self._begin_round(place)
        self._forget_what_is_said_twice()

    # The parts, one by one.

    def _add(self, place: int, raw: Any) -> None:
        part = self._parts[place]
        if part is None:
            self._add_bare(raw)
            return
        kind, sidechain = part.look("kind"), response_parts.is_sidechain(part)
        if kind == INVOCATION:
            self._invoke(place, part, raw, sidechain=sidechain)
        elif (text := response_parts.take_text(part)) is not None:
            self._say(text, part.rest(), sidechain=sidechain)
        elif kind == "inlineReference" and response_parts.words_for(part):
            self._cite(part, sidechain=sidechain)
        elif kind == "thinking" and (thought := response_parts.thought(part)) is not None:
            self._think(thought, part, sidechain=sidechain)
        elif (told := response_parts.told(part)) is not None:
            self._put(told, sidechain=sidechain)
        elif kind == EDITS and (changes := edits(part)) is not None:
            self._put(*changes, sidechain=sidechain)
            if not changes:
                self.drafts[-1].marks.append(raw)
        else:
            self._add_other(kind, raw, sidechain=sidechain)

    def _add_bare(self, raw: Any) -> None:
        if isinstance(raw, str):
            self._say(raw, {}, sidechain=False)
        else:
            self._around.note(Kind.WRONG_TYPE, self._around.where, f"a part is {type(raw).__name__}")
            self._put(Other(data=raw), sidechain=False)

    def _add_other(self, kind: Any, raw: Bag, *, sidechain: bool) -> None:
        name = kind if isinstance(kind, str) else None
        if name in MARKS:
            # Text goes on behind a mark; the mark is kept beside it.
            self._draft(sidechain=sidechain).marks.append(raw)
            return
        if name not in SHOWN:
            self._around.note(Kind.UNKNOWN_TYPE, self._around.where, f"part of a response {str(kind)[:40]!r}")
        self._put(Other(data=raw, name=name), sidechain=sidechain)

    def _say(self, text: str, rest: Bag, *, sidechain: bool) -> None:
        if self._said is None and not text.strip():
            self._blank += text  # between calls the editor puts empty lines, which nobody said
            return
        self._open_text(sidechain=sidechain).add(text, rest)

    def _cite(self, part: Fields, *, sidechain: bool) -> None:
        words = response_parts.words_for(part)
        part.drop("kind")
        self._open_text(sidechain=sidechain).cite(words, part)

    def _think(self, thought: str, part: Fields, *, sidechain: bool) -> None:
        self._call_what_is_due()
        self._fresh_draft(sidechain=sidechain)
        part.drop("kind", "value")
        self._put(Reasoning(text=thought, extra=part.rest()), sidechain=sidechain)

    # Where they go.

    def _draft(self, *, sidechain: bool) -> Draft:
        """The message at hand; another one where a sub-agent begins or ends."""
        if not self.drafts or self.drafts[-1].sidechain != sidechain:
            self._add_draft(sidechain=sidechain)
        return self.drafts[-1]

    def _fresh_draft(self, *, sidechain: bool) -> Draft:
        """A message that has no calls yet: who speaks after calls speaks anew."""
        if self._draft(sidechain=sidechain).has_calls:
            self._add_draft(sidechain=sidechain)
        return self.drafts[-1]

    def _add_draft(self, *, sidechain: bool) -> None:
        self._end_text()
        self.drafts.append(Draft(sidechain=sidechain))

    def _put(self, *parts: Part, sidechain: bool) -> None:
        draft = self._draft(sidechain=sidechain)
        self._end_text()
        draft.parts.extend(parts)

    def _open_text(self, *, sidechain: bool) -> Said:
        if self._said is None:
            self._call_what_is_due()
        self._fresh_draft(sidechain=sidechain)
        if self._said is None:
            self._said = Said()
            if self._blank:
                self._said.add(self._blank, {})
                self._blank = ""
        return self._said

    def _end_text(self) -> None:
        if self._said is not None:
            said, self._said = self._said.text(), None
            self._told.append(said.text)
            self.drafts[-1].parts.append(said)

    # Calls and rounds.

    def _invoke(self, place: int, part: Fields, raw: Bag, *, sidechain: bool) -> None:
        call = self._call_of.get(place)
        if call is not None:
            while self._unshown and self._unshown[0].number < call.number:
                self._call(self._unshown.popleft(), None)
            self._call(call, part)
        elif rounds.is_internal(part):
            self._put(Other(data=raw, name=INVOCATION), sidechain=sidechain)
        else:
            self._call_shown(part, sidechain=sidechain)

    def _call_what_is_due(self) -> None:
        """Tell calls of which nothing was shown, before what was said or thought after them."""
        if not self._unshown or self._looked > _PATIENCE:
            return
        self._looked += 1
        self._end_text()
        told = "".join(self._told)
        while self._silent < len(self._rounds) and (self._rounds[self._silent].text or "").strip() in told:
            self._silent += 1
        due = min(self._silent, self._ahead[self._place])
        while self._unshown and self._unshown[0].round < due:
            self._call(self._unshown.popleft(), None)

    def _call(self, call: Call, part: Fields | None) -> None:
        """Tell a call that the model made; `part` is what was shown of it."""
        for place in range(self._next_round, call.round + 1):
            self._begin_round(place)
        draft = self._draft(sidechain=False)
        if draft.has_calls and draft.round != call.round:
            self._add_draft(sidechain=False)
            draft = self.drafts[-1]
        draft.round, draft.has_calls = call.round, True
        self._end_text()
        draft.parts.append(_tool_call(call, part))
        given = self._take_given(call.call_id)
        if given is not None:
            draft.results.append(results.given(given, self._around, call, part))
        elif part is not None and (result := results.seen(part, call.call_id, call.name)) is not None:
            draft.results.append(result)

    def _take_given(self, call_id: str | None) -> Bag | None:
        """Take what the model was given as the result of a call; what is no object stays where it is."""
        if call_id is None or self._given.get(call_id).__class__ is not dict:
            return None
        found: Bag = self._given.pop(call_id)
        return found

    def _call_shown(self, part: Fields, *, sidechain: bool) -> None:
        """Tell a call of which only what was shown is known."""
        name, call_id = rounds.tool_of(part), part.look("toolCallId")
        call_id = call_id if isinstance(call_id, str) else None
        result = results.seen(part, call_id, name)
        part.drop("kind")
        call = ToolCall(
            name=name,
            call_id=call_id,
            input=response_parts.input_shown(part),
            kind=kind_of(name) or ("mcp" if response_parts.is_mcp(part) else None),
            extra=part.rest(),
        )
        self._put(call, sidechain=sidechain)
        draft = self.drafts[-1]
        draft.has_calls = True
        if result is not None:
            draft.results.append(result)

    def _begin_round(self, place: int) -> None:
        """Tell what the model thought in a round, and said, as far as nothing of it was shown."""
        self._next_round = place + 1
        one = self._rounds[place]
        thought = one.thought
        if thought is not None and thought not in self._shown_thoughts:
            draft = self._fresh_draft(sidechain=False)
            self._end_text()
            draft.parts.insert(0, _reasoning(one, thought))
        if self._is_mute and one.text is not None:
            text = one.fields.take("response")
            self._fresh_draft(sidechain=False).parts.append(Text(text=text))
            self._told.append(text)

    def _forget_what_is_said_twice(self) -> None:
        told = "".join(self._told)
        in_vain = 0
        for one in self._rounds:
            if one.calls:
                one.fields.drop("toolCalls")
            if one.thought in self._shown_thoughts:
                _without_thought(one)
            if one.text is not None and in_vain < _PATIENCE:
                if one.text.strip() in told:
                    one.fields.drop("response")
                else:
                    in_vain += 1


def _without_thought(one: Round) -> None:
    """Leave what else is said about a thought in its round."""
    thinking = one.fields.nested("thinking")
    if thinking is not None:
        thinking.drop("text")
        one.fields.rest()


def _reasoning(one: Round, thought: str) -> Reasoning:
    thinking = one.fields.nested("thinking")
    if thinking is None:
        return Reasoning(text=thought)
    thinking.drop("text")
    encrypted = thinking.text("encrypted")
    rest = thinking.rest()
    one.fields.drop("thinking")
    return Reasoning(text=thought, encrypted=encrypted, extra=rest)


def _tool_call(call: Call, part: Fields | None) -> ToolCall:
    arguments = call.fields.take("arguments")
    if arguments is None and part is not None:
        arguments = response_parts.input_shown(part)
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
        kind=kind_of(call.name) or ("mcp" if response_parts.is_mcp(part) else None),
        extra=extra,
    )
