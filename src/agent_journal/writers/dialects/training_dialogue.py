"""Conversations as those who train models have them: turns in a row, results behind their calls."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.model import (
    Code,
    Event,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.writers.dialects.json_bytes import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.model import Conversation
    from agent_journal.writers import Run

_FENCE = "```"
_MUTE = "branch on which the model says nothing"
"""What makes no line: there is nothing to be learned from it."""


class Called(Struct):
    """A call under the id that it has in its line, and what came back."""

    id: str
    call: ToolCall
    result: ToolResult | None = None


class Turn(Struct):
    """What one side did until the other went on."""

    role: str
    said: list[Part] = []
    calls: list[Called] = []
    response_id: str | None = None
    hidden: bool = False
    """Whether a program said it, unseen by the person."""


class Dialogue(Struct):
    """One path through a conversation, and what of it stands in no turn."""

    turns: list[Turn]
    untold: Counter[str]
    messages: set[str]
    """Those that are on the path."""


def dialogues(conversation: Conversation) -> list[Dialogue]:
    """One dialogue per branch, in the order of their last messages; of a list, all of it."""
    if conversation.shape == "list":
        return [_dialogue(list(tree.messages(conversation)))]
    return [_dialogue(path) for path in _Branches(conversation).paths()]


class _Branches:
    """The branches of a tree, without going through the whole timeline for each of them."""

    def __init__(self, conversation: Conversation) -> None:
        self._timeline = conversation.timeline
        self._by_id = {entry.id: entry for entry in conversation.timeline}
        self._order = {entry.id: place for place, entry in enumerate(conversation.timeline)}
        self._answers: dict[str, list[Message]] = {}
        for message in tree.messages(conversation):
            for result in tree.results_in(message):
                if result.call_id is not None:
                    self._answers.setdefault(result.call_id, []).append(message)
        # What a request says before the dialogue stands outside of every branch.
        self._system = {
            entry_id: request.system
            for request in conversation.requests
            for entry_id in (request.prompt_id, *request.response_ids)
            if entry_id is not None
        }
        self._prompts = {prompt for request in conversation.requests for prompt in request.system}

    def paths(self) -> list[list[Message]]:
        """The messages of each branch."""
        leaves = [leaf for leaf in tree.leaves(self._timeline) if leaf.id not in self._prompts]
        covered: set[str | None] = set()
        paths: list[tuple[int, list[Message]]] = []
        # From the last one on, those first that say something: the result of a parallel call hangs beside the
        # branch that goes on from it.
        for leaf in sorted(leaves, key=lambda leaf: (_is_mute(leaf), -self._order[leaf.id])):
            if leaf.id not in covered and not (_is_mute(leaf) and leaf.parent_id in covered):
                path = self._path_to(leaf)
                covered.update(message.id for message in path)
                paths.append((self._order[leaf.id], path))
        return [path for _, path in sorted(paths, key=lambda row: row[0])] or [self._all()]

    def _all(self) -> list[Message]:
        return [entry for entry in self._timeline if isinstance(entry, Message)]

    def _path_to(self, leaf: Message) -> list[Message]:
        chain = list(self._chain_to(leaf))
        on_chain = {message.id for message in chain}
        strays = {
            answer.id: answer
            for message in chain
            for call in tree.calls_in(message)
            for answer in self._answers.get(call.call_id or "", ())
            if answer.id not in on_chain and self._order[answer.id] < self._order[leaf.id]
        }
        path = sorted([*chain, *strays.values()], key=lambda message: self._order[message.id])
        return [*self._said_before(path, on_chain), *path]

    def _said_before(self, path: list[Message], on_chain: set[str]) -> Iterator[Message]:
        requested = (self._system[message.id] for message in reversed(path) if message.id in self._system)
        for prompt in next(requested, ()):
            entry = self._by_id.get(prompt)
            if isinstance(entry, Message) and prompt not in on_chain:
                yield entry

    def _chain_to(self, leaf: Message) -> Iterator[Message]:
        seen: set[str] = set()
        entry: Message | Event | None = leaf
        while entry is not None and entry.id not in seen:
            seen.add(entry.id)
            if isinstance(entry, Message):
                yield entry
            entry = self._by_id.get(entry.parent_id) if entry.parent_id else None


def _is_mute(message: Message) -> bool:
    """Whether it is nothing but what a tool said."""
    return message.role == "tool" or all(isinstance(part, ToolResult) for part in message.parts)


def _dialogue(path: Sequence[Message]) -> Dialogue:
    """The turns of a path, each call with its result; no message of a tool may stand alone."""
    turns: list[Turn] = []
    called: dict[str, Called] = {}
    untold: Counter[str] = Counter()
    for message in path:
        for turn in _turns(message, called, untold):
            if turn.role == "tool":
                untold["text of a tool that answers no call"] += bool(said(turn.said))
            elif turn.said or turn.calls:
                _add(turns, turn)
    _leave_out_unanswered(turns, untold)
    left = [turn for turn in turns if turn.said or turn.calls]
    return Dialogue(left, untold, {message.id for message in path})


def _turns(message: Message, called: dict[str, Called], untold: Counter[str]) -> list[Turn]:
    """The turns of a message: what stands behind the result of a call of its own was said after it."""
    role = "assistant" if any(tree.calls_in(message)) else message.role
    turn = Turn(role, response_id=message.response_id, hidden=message.hidden)
    found = [turn]
    for part in message.parts:
        if isinstance(part, ToolResult):
            if not _answered(part, called):
                untold["tool result that answers no call"] += 1
            continue
        if not message.hidden and _is_injected(part):
            continue
        if _is_answered(turn):
            turn = Turn(role, response_id=message.response_id, hidden=message.hidden)
            found.append(turn)
        if isinstance(part, ToolCall):
            turn.calls.append(_called(part, called))
        else:
            turn.said.append(part)
    # What a program put into a prompt was said before it, by the program.
    injected = [] if message.hidden else [part for part in message.parts if _is_injected(part)]
    return [Turn(role, said=injected, hidden=True), *found] if injected else found


def _is_injected(part: Part) -> bool:
    return isinstance(part, Text) and part.injected


def _called(call: ToolCall, called: dict[str, Called]) -> Called:
    """A call under an id that no other one has."""
    known_as = call.call_id
    if known_as is None or known_as in called:
        known_as = f"unnamed_call_{len(called)}"
    one = called[known_as] = Called(known_as, call)
    return one


def _is_answered(turn: Turn) -> bool:
    return any(one.result is not None for one in turn.calls)


def _answered(result: ToolResult, called: dict[str, Called]) -> bool:
    """Give a result to its call; one without an id belongs to the first such call that waits for one."""
    if result.call_id is None:
        waiting = (one for one in called.values() if one.call.call_id is None and one.result is None)
        one = next(waiting, None)
    else:
        one = called.get(result.call_id)
    if one is None or one.result is not None:
        return False
    one.result = result
    return True


def _add(turns: list[Turn], turn: Turn) -> None:
    """Add a turn; what a source cut out of one answer of a model is one turn again.

    Calls of one answer were made at once, also where a result is in the record before the next of them.
    What is said behind a result may speak of it.
    """
    last = turns[-1] if turns else None
    same = last is not None and last.role == turn.role and last.response_id == turn.response_id is not None
    if last is not None and same and not (turn.said and _is_answered(last)):
        last.said += turn.said
        last.calls += turn.calls
    else:
        turns.append(turn)


def _leave_out_unanswered(turns: list[Turn], untold: Counter[str]) -> None:
    """A call must be answered before the dialogue goes on; at its end, calls may be what is to be learned."""
    for turn in turns:
        answered = [one for one in turn.calls if one.result is not None]
        if answered or turn is not turns[-1]:
            untold["tool call without a result"] += len(turn.calls) - len(answered)
            turn.calls = answered


# ── Texts ──


def text_of(part: Part) -> str:
    """What a part says as text; nothing for what has none."""
    match part:
        case Text():
            return part.text
        case Code():
            return _fenced(part)
        case Media():
            return "\n".join(filter(None, (_placeholder(part), tree.held_text(part))))
    return ""


def _placeholder(media: Media) -> str:
    called = media.name or media.ref
    return f"[{media.kind}: {called}]" if called and not called.startswith("data:") else f"[{media.kind}]"


def _fenced(code: Code) -> str:
    fence = _FENCE
    while fence in code.code:
        fence += "`"
    end = "" if code.code.endswith("\n") else "\n"
    return f"{fence}{code.language or ''}\n{code.code}{end}{fence}"


def said(parts: Iterable[Part]) -> str:
    """What was said, one part below the other."""
    return "\n\n".join(filter(None, map(text_of, parts)))


def thought(parts: Iterable[Part]) -> str:
    """What was thought, one part below the other."""
    thoughts = (part.text or part.summary for part in parts if isinstance(part, Reasoning))
    return "\n\n".join(filter(None, thoughts))


def output_of(result: ToolResult) -> str:
    """What a tool answered, as text."""
    if isinstance(result.output, str):
        return result.output
    return "\n".join(_answer(part) for part in result.output)


def _answer(part: Part) -> str:
    match part:
        case Code():
            return part.code
        case Reasoning():
            return part.text or part.summary or ""
        case Other():
            return encode(part.data).decode()
        case ToolCall() | ToolResult():
            return encode(part).decode()
    return text_of(part)


def arguments_of(call: ToolCall) -> str:
    """The arguments of a call as JSON text, as the model wrote them where that is known."""
    if isinstance(call.input, str) and tree.arguments(call) is not call.input:
        return call.input
    if isinstance(call.input, str):
        return encode({"input": call.input}).decode()
    return "{}" if call.input is None else encode(call.input).decode()


# ── What is left out ──


def put(line: dict[str, Any], out: IO[bytes], untold: Counter[str], *, teaches: bool) -> None:
    """Write a line. One from which nothing can be learned is only counted: a file is refused for it."""
    if not teaches:
        untold[_MUTE] += 1
        return
    out.write(encode(line))
    out.write(b"\n")


def note_untold(conversation: Conversation, lines: Iterable[Dialogue], run: Run, kinds: Counter[str]) -> None:
    """Note what of a conversation is in none of its lines, and what the target has no place for."""
    untold: Counter[str] = kinds + Counter()
    on_a_path: set[str] = set()
    for line in lines:
        untold |= line.untold  # lines share what is before they part
        on_a_path |= line.messages
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            untold["event"] += 1
        elif entry.id not in on_a_path:
            untold["message beside every branch"] += 1
    for what, count in sorted(untold.items()):
        if count:
            run.cannot_say(conversation, "", f"{count} × {what}")


def counted(conversation: Conversation, *kinds: type) -> Counter[str]:
    """How many parts of some kinds there are, by what people call them; media, if no words stand for them."""
    names: dict[type, str] = {Reasoning: "thought", Media: "media", Other: "part of an unknown kind"}
    parts: list[Any] = [part for message in tree.messages(conversation) for part in _all_parts(message)]
    found = [part for part in parts if not (isinstance(part, Media) and tree.held_text(part))]
    return Counter(names[kind] for part in found for kind in kinds if part.__class__ is kind)


def _all_parts(message: Message) -> Iterator[Part]:
    """The parts of a message, and pictures and files that tools gave."""
    for part in message.parts:
        yield part
        if isinstance(part, ToolResult) and not isinstance(part.output, str):
            yield from (given for given in part.output if isinstance(given, Media))
