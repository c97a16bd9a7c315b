"""Conversations as training data: a sequence of turns, with results after their calls."""

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
_SILENT_BRANCH = "branch without a model message"
"""A branch that gets no line, as there is nothing to learn from it."""


class CallWithResult(Struct):
    """A tool call with its unique id in the line, and its result."""

    id: str
    call: ToolCall
    result: ToolResult | None = None


class Turn(Struct):
    """Everything one side contributed before the other side continued."""

    role: str
    parts: list[Part] = []
    calls: list[CallWithResult] = []
    response_id: str | None = None
    hidden: bool = False
    """Whether a program added it, hidden from the user."""


class Dialogue(Struct):
    """One path through a conversation; `losses` counts what is in none of its turns."""

    turns: list[Turn]
    losses: Counter[str]
    message_ids: set[str]
    """The ids of the messages on the path."""


def dialogues(conversation: Conversation) -> list[Dialogue]:
    """One dialogue per branch, in the order of their last messages; a list makes one dialogue."""
    if conversation.shape == "list":
        return [_dialogue(list(tree.messages(conversation)))]
    return [_dialogue(path) for path in _Branches(conversation).paths()]


class _Branches:
    """The branches of a tree, without scanning the timeline for each of them."""

    def __init__(self, conversation: Conversation) -> None:
        self._timeline = conversation.timeline
        self._by_id = {entry.id: entry for entry in conversation.timeline}
        self._order = {entry.id: index for index, entry in enumerate(conversation.timeline)}
        self._result_messages: dict[str, list[Message]] = {}
        for message in tree.messages(conversation):
            for result in tree.results_in(message):
                if result.call_id is not None:
                    self._result_messages.setdefault(result.call_id, []).append(message)
        # The system prompt of a request is outside of every branch.
        self._system = {
            entry_id: request.system
            for request in conversation.requests
            for entry_id in (request.prompt_id, *request.response_ids)
            if entry_id is not None
        }
        self._system_prompt_ids = {prompt for request in conversation.requests for prompt in request.system}

    def paths(self) -> list[list[Message]]:
        """The messages of each branch."""
        leaves = [leaf for leaf in tree.leaves(self._timeline) if leaf.id not in self._system_prompt_ids]
        covered: set[str | None] = set()
        paths: list[tuple[int, list[Message]]] = []
        # From the last leaf on, those with text first: the result of a parallel call can be a separate leaf,
        # although the branch continues after it.
        for leaf in sorted(leaves, key=lambda leaf: (_is_only_tool_output(leaf), -self._order[leaf.id])):
            if leaf.id not in covered and not (_is_only_tool_output(leaf) and leaf.parent_id in covered):
                path = self._path_to(leaf)
                covered.update(message.id for message in path)
                paths.append((self._order[leaf.id], path))
        return [path for _, path in sorted(paths, key=lambda row: row[0])] or [self._all()]

    def _all(self) -> list[Message]:
        return [entry for entry in self._timeline if isinstance(entry, Message)]

    def _path_to(self, leaf: Message) -> list[Message]:
        chain = list(self._chain_to(leaf))
        on_chain = {message.id for message in chain}
        result_messages = {
            message_.id: message_
            for message in chain
            for call in tree.calls_in(message)
            for message_ in self._result_messages.get(call.call_id or "", ())
            if message_.id not in on_chain and self._order[message_.id] < self._order[leaf.id]
        }
        path = sorted([*chain, *result_messages.values()], key=lambda message: self._order[message.id])
        return [*self._system_prompts(path, on_chain), *path]

    def _system_prompts(self, path: list[Message], on_chain: set[str]) -> Iterator[Message]:
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


def _is_only_tool_output(message: Message) -> bool:
    """Whether a message consists of tool output only."""
    return message.role == "tool" or all(isinstance(part, ToolResult) for part in message.parts)


def _dialogue(path: Sequence[Message]) -> Dialogue:
    """The turns of a path, each call with its result; tool output without a call is a loss."""
    turns: list[Turn] = []
    calls: dict[str, CallWithResult] = {}
    losses: Counter[str] = Counter()
    for message in path:
        for turn in _turns(message, calls, losses):
            if turn.role == "tool":
                losses["tool text without a matching call"] += bool(text_of_parts(turn.parts))
            elif turn.parts or turn.calls:
                _append_turn(turns, turn)
    _drop_unanswered(turns, losses)
    nonempty = [turn for turn in turns if turn.parts or turn.calls]
    return Dialogue(nonempty, losses, {message.id for message in path})


def _turns(message: Message, calls: dict[str, CallWithResult], losses: Counter[str]) -> list[Turn]:
    """The turns of a message: text after the result of one of its calls starts a new turn."""
    role = "assistant" if any(tree.calls_in(message)) else message.role
    turn = Turn(role, response_id=message.response_id, hidden=message.hidden)
    turns = [turn]
    for part in message.parts:
        if isinstance(part, ToolResult):
            if not _attach_result(part, calls):
                losses["tool result without a matching call"] += 1
            continue
        if not message.hidden and _is_injected(part):
            continue
        if _has_result(turn):
            turn = Turn(role, response_id=message.response_id, hidden=message.hidden)
            turns.append(turn)
        if isinstance(part, ToolCall):
            turn.calls.append(_add_call(part, calls))
        else:
            turn.parts.append(part)
    # Text that a program injected into a prompt becomes a hidden turn before it.
    injected = [] if message.hidden else [part for part in message.parts if _is_injected(part)]
    return [Turn(role, parts=injected, hidden=True), *turns] if injected else turns


def _is_injected(part: Part) -> bool:
    return isinstance(part, Text) and part.injected


def _add_call(call: ToolCall, calls: dict[str, CallWithResult]) -> CallWithResult:
    """Add a call under a unique id."""
    call_id = call.call_id
    if call_id is None or call_id in calls:
        call_id = f"unnamed_call_{len(calls)}"
    added = calls[call_id] = CallWithResult(call_id, call)
    return added


def _has_result(turn: Turn) -> bool:
    return any(call.result is not None for call in turn.calls)


def _attach_result(result: ToolResult, calls: dict[str, CallWithResult]) -> bool:
    """Attach a result to its call; one without an id goes to the first call without id and result."""
    if result.call_id is None:
        pending = (
            target for target in calls.values() if target.call.call_id is None and target.result is None
        )
        target = next(pending, None)
    else:
        target = calls.get(result.call_id)
    if target is None or target.result is not None:
        return False
    target.result = result
    return True


def _append_turn(turns: list[Turn], turn: Turn) -> None:
    """Append a turn, or merge it with the last one if both are pieces of one response.

    The calls of one response were made at once, even if the source has a result before the next of them.
    Text after a result is not merged, as it may refer to it.
    """
    last = turns[-1] if turns else None
    same = last is not None and last.role == turn.role and last.response_id == turn.response_id is not None
    if last is not None and same and not (turn.parts and _has_result(last)):
        last.parts += turn.parts
        last.calls += turn.calls
    else:
        turns.append(turn)


def _drop_unanswered(turns: list[Turn], losses: Counter[str]) -> None:
    """Drop calls without a result, except at the end: there the calls may be what is to be learned."""
    for turn in turns:
        answered = [call for call in turn.calls if call.result is not None]
        if answered or turn is not turns[-1]:
            losses["tool call without a result"] += len(turn.calls) - len(answered)
            turn.calls = answered


# ── Texts ──


def text_of(part: Part) -> str:
    """The text of a part; empty if it has none."""
    match part:
        case Text():
            return part.text
        case Code():
            return _fenced(part)
        case Media():
            return "\n".join(filter(None, (_placeholder(part), tree.held_text(part))))
    return ""


def _placeholder(media: Media) -> str:
    label = media.name or media.ref
    return f"[{media.kind}: {label}]" if label and not label.startswith("data:") else f"[{media.kind}]"


def _fenced(code: Code) -> str:
    fence = _FENCE
    while fence in code.code:
        fence += "`"
    end = "" if code.code.endswith("\n") else "\n"
    return f"{fence}{code.language or ''}\n{code.code}{end}{fence}"


def text_of_parts(parts: Iterable[Part]) -> str:
    """The texts of parts, separated by blank lines."""
    return "\n\n".join(filter(None, map(text_of, parts)))


def reasoning_of_parts(parts: Iterable[Part]) -> str:
    """The reasoning in parts, separated by blank lines."""
    thoughts = (part.text or part.summary for part in parts if isinstance(part, Reasoning))
    return "\n\n".join(filter(None, thoughts))


def output_of(result: ToolResult) -> str:
    """The output of a tool as text."""
    if isinstance(result.output, str):
        return result.output
    return "\n".join(_output_text(part) for part in result.output)


def _output_text(part: Part) -> str:
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
    """The arguments of a call as JSON text, exactly as the model wrote them if that is known."""
    if isinstance(call.input, str) and tree.arguments(call) is not call.input:
        return call.input
    if isinstance(call.input, str):
        return encode({"input": call.input}).decode()
    return "{}" if call.input is None else encode(call.input).decode()


# ── Losses ──


def write_line(line: dict[str, Any], out: IO[bytes], losses: Counter[str], *, has_model_turn: bool) -> None:
    """Write a line. A line without anything to learn is only counted, as trainers reject files with one."""
    if not has_model_turn:
        losses[_SILENT_BRANCH] += 1
        return
    out.write(encode(line))
    out.write(b"\n")


def note_losses(
    conversation: Conversation, lines: Iterable[Dialogue], run: Run, other_losses: Counter[str]
) -> None:
    """Note what is in none of a conversation's lines, and other `losses` of the target."""
    losses: Counter[str] = other_losses + Counter()
    on_a_path: set[str] = set()
    for line in lines:
        losses |= line.losses  # lines share what precedes the fork
        on_a_path |= line.message_ids
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            losses["event"] += 1
        elif entry.id not in on_a_path:
            losses["message outside of every branch"] += 1
    for kind, count in sorted(losses.items()):
        if count:
            run.note_not_preserved(conversation, "", f"{count} × {kind}")


def count_parts(conversation: Conversation, *kinds: type) -> Counter[str]:
    """The number of parts of some kinds, by display name; media counts only if it has no text."""
    names: dict[type, str] = {
        Reasoning: "reasoning part",
        Media: "media part",
        Other: "part of an unknown kind",
    }
    parts: list[Any] = [part for message in tree.messages(conversation) for part in _all_parts(message)]
    counted = [part for part in parts if not (isinstance(part, Media) and tree.held_text(part))]
    return Counter(names[kind] for part in counted for kind in kinds if part.__class__ is kind)


def _all_parts(message: Message) -> Iterator[Part]:
    """The parts of a message, including images and files in tool results."""
    for part in message.parts:
        yield part
        if isinstance(part, ToolResult) and not isinstance(part.output, str):
            yield from (output_part for output_part in part.output if isinstance(output_part, Media))
