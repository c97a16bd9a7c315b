"""What tools have in common that resume a session: one branch, and each tool call followed by its result."""

from __future__ import annotations

import re
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import (
    Conversation,
    Event,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ids,
    timestamps,
    tree,
)
from agent_journal.writers.dialects.training_dialogue import output_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.model import Item
    from agent_journal.writers import Run

NO_RESULT = "No result of this call was recorded."
_SAFE_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNSAFE_NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_TOOL_NAME_CHARS = 64


class Call(Struct):
    """A tool call under an id that any service accepts, and its result."""

    id: str
    call: ToolCall
    result: ToolResult | None = None
    result_at: str | None = None
    result_message: str | None = None
    """The id of the message with the result."""

    @property
    def name(self) -> str:
        """The tool's name in characters that any service accepts."""
        name = _UNSAFE_NAME_CHARACTERS.sub("_", self.call.name)[:_MAX_TOOL_NAME_CHARS]
        return name or "unknown"

    @property
    def arguments(self) -> dict[str, Any]:
        """The input as an object."""
        value = tree.arguments(self.call)
        if isinstance(value, dict):
            return value
        return {} if value is None else {"input": value}

    @property
    def is_failed(self) -> bool:
        """Whether the tool failed, or has no result."""
        return self.result is None or self.result.is_error is True

    @property
    def output(self) -> str:
        """The result as text."""
        result = self.result
        if result is None:
            return NO_RESULT
        if isinstance(result.output, str):
            return result.output
        return output_of(
            replace(result, output=[part for part in result.output if not is_inline_image(part)])
        )

    @property
    def images(self) -> list[Media]:
        """The inline images in the result."""
        if self.result is None or isinstance(self.result.output, str):
            return []
        return [part for part in self.result.output if isinstance(part, Media) and is_inline_image(part)]


class Turn(Struct):
    """What one side contributed before the other side did: texts and files, and for the model its calls."""

    id: str
    role: str
    at: str
    parts: list[Part]
    calls: list[Call]
    model: str | None = None
    response_id: str | None = None
    is_hidden: bool = False
    """Whether a program wrote it, and not a person or a model."""


class Branch(Struct):
    """The branch that a tool continues."""

    turns: list[Turn]
    losses: Counter[str]
    changes: Counter[str]


def obstacle(item: Item, own_source: str = "") -> str:
    """Return why no tool can continue an item; empty if one can. A tool's own sessions need no text."""
    if not isinstance(item, Conversation):
        return "a memory, as it is no conversation"
    if item.only_prompts:
        return "a conversation of which only the prompts are known"
    is_own = item.source == own_source
    if not any(is_own or _says_something(message) for message in tree.messages(item)):
        return "a conversation without messages"
    return ""


def _says_something(message: Message) -> bool:
    return message.role in {"user", "assistant"} and bool(message.parts)


def branch_of(conversation: Conversation, started_at: str) -> Branch:
    """Return the current branch as turns, each call with its result; times that are missing are filled in."""
    losses: Counter[str] = Counter()
    path = _path(conversation, losses)
    branch = Branch([], losses, Counter())
    calls = _Calls()
    at = conversation.started_at or next((entry.at for entry in path if entry.at), None) or started_at
    for message in path:
        if message.hidden and message.role == "assistant":
            losses["message of the model that is hidden"] += 1
            continue
        if message.at is None:
            branch.changes["message without a time, which gets that of the message before it"] += 1
        at = timestamps.parse_timestamp(message.at) or at
        _add_message(branch, message, at, calls)
    for turn in branch.turns:
        losses["reasoning part"] += sum(isinstance(part, Reasoning) for part in turn.parts)
        losses["part of an unknown kind"] += sum(isinstance(part, Other) for part in turn.parts)
    branch.turns = [turn for turn in branch.turns if turn.calls or any(map(is_written, turn.parts))]
    for turn in branch.turns:
        for call in turn.calls:
            if call.result is None:
                branch.changes["call without a result, which gets one that says so"] += 1
    return branch


def _path(conversation: Conversation, losses: Counter[str]) -> list[Message]:
    """Return the messages of the current branch; a subagent's messages are not part of it."""
    timeline: Sequence[Message | Event] = conversation.timeline
    is_all_side = all(message.sidechain for message in tree.messages(conversation))
    if conversation.shape == "tree":
        head = conversation.head_id
        if head is None or not any(entry.id == head for entry in timeline):
            head = tree.newest_leaf(timeline)
        timeline = tree.path_to(timeline, head) if head is not None else []
    path = [
        entry for entry in timeline if isinstance(entry, Message) and (is_all_side or not entry.sidechain)
    ]
    on_path = {message.id for message in path}
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            losses["event"] += 1
        elif entry.id not in on_path:
            losses["message outside of the current branch"] += 1
    return path


def _add_message(branch: Branch, message: Message, at: str, calls: _Calls) -> None:
    """Add a message to the turns: results go to their calls, pieces of one response are joined."""
    has_calls = any(isinstance(part, ToolCall) for part in message.parts)
    role = "assistant" if has_calls else message.role
    shown: list[Part] = []
    injected: list[Part] = []
    added: list[Call] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            if not calls.attach(part, message, at):
                branch.changes["result without a call, which becomes text"] += 1
                injected.append(Text(text=output_of(part)))
        elif isinstance(part, ToolCall):
            added.append(calls.add(part))
        elif isinstance(part, Text) and part.injected:
            injected.append(part)
        else:
            shown.append(part)
    if role == "tool":
        injected, shown, role = [*injected, *shown], [], "user"
    if injected:
        hidden_role = "system" if role == "system" else "user"
        turn = Turn(f"{message.id}-injected", hidden_role, at, injected, [], is_hidden=True)
        branch.turns.append(turn)
    turn = Turn(message.id, role, at, shown, added, message.model, message.response_id, message.hidden)
    last = branch.turns[-1] if branch.turns else None
    if last is not None and _continues(last, turn):
        last.parts += turn.parts
        last.calls += turn.calls
    elif shown or added:
        branch.turns.append(turn)


def _continues(last: Turn, turn: Turn) -> bool:
    """Whether a turn is another piece of the same response; text after a result may refer to it."""
    if last.role != "assistant" or turn.role != "assistant" or last.response_id is None:
        return False
    has_result = any(call.result is not None for call in last.calls)
    return last.response_id == turn.response_id and not (turn.parts and has_result)


class _Calls:
    """The calls of a branch by the ids that the source gave them."""

    def __init__(self) -> None:
        self._by_source_id: dict[str, Call] = {}
        self._without_id: deque[Call] = deque()
        self._ids: set[str] = set()

    def add(self, call: ToolCall) -> Call:
        """Add a call, under its own id if a service accepts it and no other call has it."""
        id_ = call.call_id or ""
        if not _SAFE_CALL_ID.fullmatch(id_) or id_ in self._ids:
            id_ = "call_" + ids.made(call.call_id, len(self._ids)).replace("-", "")[:24]
        self._ids.add(id_)
        added = Call(id_, call)
        if call.call_id is None:
            self._without_id.append(added)
        else:
            self._by_source_id.setdefault(call.call_id, added)
        return added

    def attach(self, result: ToolResult, message: Message, at: str) -> bool:
        """Attach a result to its call; one without an id goes to the first call without id and result."""
        if result.call_id is not None:
            target = self._by_source_id.get(result.call_id)
        else:
            target = self._without_id.popleft() if self._without_id else None
        if target is None or target.result is not None:
            return False
        target.result, target.result_at, target.result_message = result, at, message.id
        return True


def is_inline_image(part: Part) -> bool:
    """Whether a part is an image with its bytes."""
    return isinstance(part, Media) and part.kind == "image" and bool(part.data)


def is_written(part: Part) -> bool:
    """Whether a session has this part: as text, or as an image."""
    return is_inline_image(part) or bool(text_of(part))


def texts_of(parts: Iterable[Part]) -> Iterator[str]:
    """Yield the texts of parts: also code, and placeholders and texts of files."""
    for part in parts:
        if not is_inline_image(part) and (text := text_of(part)):
            yield text


def note_losses(conversation: Conversation, branch: Branch, run: Run) -> None:
    """Note what of a conversation is not written, and what is written in another form."""
    for what, count in sorted(branch.losses.items()):
        if count:
            run.note_not_preserved(conversation, "", f"{count} × {what}")
    for what, count in sorted(branch.changes.items()):
        run.note_changed(conversation, "", f"{count} × {what}")
    run.note_redactions(conversation)


def session_uuid(conversation: Conversation) -> str:
    """Return the id of the session: the conversation's own if it is a UUID, else one that is made of it."""
    if ids.is_uuid(conversation.id):
        return conversation.id
    return ids.made("session", conversation.source, conversation.id)


def entry_uuid(session: str, entry_id: str) -> str:
    """Return a UUID for an entry of a session."""
    return entry_id if ids.is_uuid(entry_id) else ids.made(session, entry_id)


def data_url(media: Media) -> str:
    """Return the address of an image: its bytes as a data URL, else where it is."""
    if media.data:
        return f"data:{media.mime or 'image/png'};base64,{media.data}"
    return media.ref or ""
