"""Messages. What is one in the source may be several here: each thought and each answer of a tool is one.

The message that keeps the source's id is the one in which something was said; the others hang below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agent_journal.model import Event, Message, Reasoning, Text, ToolCall, ToolResult, ids, tree
from agent_journal.writers.pam import content as said
from agent_journal.writers.pam.values import OURS, moment, raw_metadata, stated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Feedback, Part


_Kind = Literal["speech", "thought", "answer"]
# Parts that are messages of their own.
_KINDS: dict[type, _Kind] = {Reasoning: "thought", ToolResult: "answer"}


class Share(NamedTuple):
    """The parts of a message that are one message in PAM."""

    kind: _Kind
    parts: Sequence[Part]


def shares(message: Message) -> list[Share]:
    """How a message is cut; nearly all are not."""
    parts = message.parts
    if len(parts) == 1:
        return [Share(_KINDS.get(parts[0].__class__, "speech"), parts)]
    spoken = [part for part in parts if part.__class__ not in _KINDS]
    if len(spoken) == len(parts):
        return [Share("speech", parts)]
    found: list[Share] = []
    is_told = not spoken
    for part in parts:
        if part.__class__ in _KINDS:
            found.append(Share(_KINDS[part.__class__], [part]))
        elif not is_told:
            found.append(Share("speech", spoken))
            is_told = True
    return found


class _Place(NamedTuple):
    """Where a message stands."""

    id: str
    parent: str | None


class Messages:
    """Makes the messages of one conversation."""

    def __init__(
        self,
        conversation: Conversation,
        created_at: str,
        provider: str,
        *,
        in_blocks: bool,
        text_field: str = "",
        children_field: str = "",
    ) -> None:
        self.untimed = 0
        self.renamed = 0
        self._conversation = conversation
        self._created_at = created_at
        self._provider = provider
        self._in_blocks = in_blocks
        self._text_field = text_field
        self._children_field = children_field
        self._is_tree = conversation.shape == "tree"
        self._called, self._answers = _calls_and_answers(conversation)
        self._feedback = _by_message(conversation.feedback)
        self._names: dict[str | None, str | None] = {}
        """Each entry's message: its own, or the nearest above an event."""
        self._places = self._placed()
        self._children: dict[str, list[str]] = {}
        for place in self._places:
            if place.parent is not None:
                self._children.setdefault(place.parent, []).append(place.id)

    def _placed(self) -> list[_Place]:
        """Each message's id, which is its own alone, and the nearest message above it."""
        known = self._names
        taken: set[str] = set()
        pending: list[tuple[str, str | None]] = []
        for entry in self._conversation.timeline:
            if entry.__class__ is Event:
                known.setdefault(entry.id, known.get(entry.parent_id))
                continue
            name = entry.id
            if not name or name in taken:
                self.renamed += 1
                name = ids.made(self._conversation.id, name, len(pending))
            taken.add(name)
            known.setdefault(entry.id, name)
            pending.append((name, entry.parent_id if self._is_tree else None))
        return [_Place(name, None if parent is None else known.get(parent)) for name, parent in pending]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every message of the conversation, in its order."""
        for message, place in zip(tree.messages(self._conversation), self._places, strict=True):
            yield from self._shared(message, place)

    def _shared(self, message: Message, place: _Place) -> list[dict[str, Any]]:
        cut = shares(message)
        if len(cut) == 1:
            return [self._main(message, cut[0], place, ())]
        main = next((index for index, share in enumerate(cut) if share.kind == "speech"), 0)
        names = [place.id if index == main else ids.made(place.id, index) for index in range(len(cut))]
        below = [name for name in names if name != place.id] if self._is_tree else []
        return [
            self._main(message, share, place, below, is_apart=True)
            if index == main
            else self._beside(message, share, name, place)
            for index, (share, name) in enumerate(zip(cut, names, strict=True))
        ]

    def _main(
        self, message: Message, share: Share, place: _Place, below: Sequence[str], *, is_apart: bool = False
    ) -> dict[str, Any]:
        """The message that has the source's id, and what concerns the whole."""
        made = self._made(message, share, place.id, place.parent)
        made["children_ids"] = [*self._below(message, place), *below]
        usage = message.usage
        if usage is not None and usage.output is not None and usage.output >= 0:
            made["token_count"] = usage.output
        ours = self._ours(made, message, place)
        if not _is_told(message.parts):
            ours["parts"] = self._entries(message, share, is_apart=is_apart)
        extra, derived = message.extra, self._derived(message, share)
        if derived:
            extra, ours = {**extra, **derived}, {**ours, "derived": [*derived]}
        if share.kind == "speech" and self._literal(message) is not None:
            # The content says it. By its name it is found again.
            extra = {name: value for name, value in extra.items() if name != self._text_field}
            ours["text_field"] = self._text_field
        if extra or ours:
            made["raw_metadata"] = raw_metadata(extra, self._provider, ours)
        return made

    def _below(self, message: Message, place: _Place) -> Sequence[str]:
        """The messages below one, in the order of the source if that has one of its own."""
        found = self._children.get(place.id, [])
        if len(found) < 2 or not self._children_field:  # noqa: PLR2004 (one has no order)
            return found
        listed: Any = message.extra
        for step in self._children_field.split("."):
            listed = listed.get(step) if isinstance(listed, dict) else None
        if not isinstance(listed, list):
            return found
        ranks = self._ranks(listed)
        return sorted(found, key=lambda name: ranks.get(name, len(ranks)))

    def _ranks(self, listed: list[Any]) -> dict[str | None, int]:
        """The place of each message in a list of entries; an event stands for those right below it."""
        events: dict[str, list[str]] = {}
        for entry in self._conversation.timeline:
            if entry.__class__ is Event:
                events.setdefault(entry.id, [])
            if entry.parent_id in events:
                events[entry.parent_id].append(entry.id)
        ranks: dict[str | None, int] = {}
        pending = [name for name in reversed(listed) if isinstance(name, str)]
        while pending:
            name = pending.pop()
            if name in events:
                pending.extend(reversed(events.pop(name)))
            else:
                ranks.setdefault(self._names.get(name), len(ranks))
        return ranks

    def _beside(self, message: Message, share: Share, name: str, place: _Place) -> dict[str, Any]:
        """A thought or an answer that was cut off a message."""
        made = self._made(message, share, name, place.id if self._is_tree else None)
        made["children_ids"] = []
        extra = share.parts[0].extra  # type: ignore[union-attr] # a thought or an answer
        made["raw_metadata"] = raw_metadata(extra, self._provider, {"part_of": place.id})
        return made

    def _made(self, message: Message, share: Share, name: str, parent: str | None) -> dict[str, Any]:
        made: dict[str, Any] = {"id": name}
        if message.id and not message.made_id:
            made["provider_message_id"] = message.id
        made["role"] = "tool" if share.kind == "answer" else message.role
        made["created_at"] = moment(message.at) or self._created_at
        made["parent_id"] = parent
        if message.model is not None:
            made["model"] = message.model
        match share.parts:
            case [Text() as only] if not self._in_blocks and _is_told(share.parts):
                if "content" not in message.extra:  # nearly all messages
                    made["content"] = {"type": "text", "text": only.text}
                    return made
            case [Reasoning() as thought]:
                text = thought.summary if thought.text is None else thought.text
                return made | _content(text) | {"is_thought": True}
            case [ToolResult() as result]:
                return made | self._answer(result)
        return made | self._speech(message, share.parts)

    def _speech(self, message: Message, parts: Sequence[Part]) -> dict[str, Any]:
        calls = [self._call(part) for part in parts if isinstance(part, ToolCall)]
        return {
            **stated({"content": said.content(parts, self._form(message), self._literal(message))}),
            **_present(
                {
                    "attachments": said.attachments(parts),
                    "citations": said.citations(parts),
                    "tool_calls": calls,
                }
            ),
        }

    def _form(self, message: Message) -> said.Form:
        """Whether the source had parts, also where it is one: it always has, or its content says more."""
        if self._in_blocks and message.extra.get("content", True) in (None, []):
            return "text"
        return "parts" if self._in_blocks or "content" in message.extra else "auto"

    def _literal(self, message: Message) -> str | None:
        """All that a message says as one text, where its source tells that beside the parts."""
        text = message.extra.get(self._text_field) if self._text_field else None
        return text if isinstance(text, str) else None

    def _call(self, call: ToolCall) -> dict[str, Any]:
        return said.tool_call(call, None if call.call_id is None else self._answers.get(call.call_id))

    def _answer(self, result: ToolResult) -> dict[str, Any]:
        call = None if result.call_id is None else self._called.get(result.call_id)
        named = said.answered_call(result, call)
        output = result.output
        if isinstance(output, str):
            return {**_content(output), **_present({"tool_calls": named})}
        return {
            **stated({"content": said.content(output, "auto")}),
            **_present(
                {
                    "attachments": said.attachments(output),
                    "citations": said.citations(output),
                    "tool_calls": named,
                }
            ),
        }

    def _entries(self, message: Message, share: Share, *, is_apart: bool) -> list[dict[str, Any]]:
        form = self._form(message)
        found = said.entries(message.parts, form, apart=is_apart)
        if is_apart and share.kind != "speech":  # it has no message of its own
            place = next(index for index, part in enumerate(message.parts) if part is share.parts[0])
            found[place] = said.entries(share.parts, form, apart=False)[0]
        return found

    def _ours(self, made: dict[str, Any], message: Message, place: _Place) -> dict[str, Any]:
        """What the message has and PAM no field for."""
        ours: dict[str, Any] = {}
        if place.id != message.id:
            ours["id"] = message.id
        if place.parent != message.parent_id:
            ours["parent_id"] = message.parent_id
        if made["role"] != message.role:
            ours["role"] = message.role
        if made["created_at"] != message.at:
            self.untimed += message.at is None
            ours["at"] = message.at
        if message.made_id:
            ours["made_id"] = True
        if message.stop_reason is not None:
            ours["stop_reason"] = message.stop_reason
        if message.hidden:
            ours["hidden"] = True
        if message.sidechain:
            ours["sidechain"] = True
        if message.response_id is not None:
            ours["response_id"] = message.response_id
        if message.usage is not None:
            ours["usage"] = message.usage
        return ours

    def _derived(self, message: Message, share: Share) -> dict[str, Any]:
        """What is told here although it is kept elsewhere: ratings, and what belongs to a thought."""
        if share.kind != "thought" and not self._feedback:
            return {}
        found: dict[str, Any] = {}
        if message.id in self._feedback:
            found["feedback"] = self._feedback[message.id]
        if share.kind == "thought" and isinstance(share.parts[0], Reasoning):
            found |= share.parts[0].extra
        return {name: value for name, value in found.items() if name not in message.extra and name != OURS}


def _calls_and_answers(conversation: Conversation) -> tuple[dict[str, ToolCall], dict[str, ToolResult]]:
    """The calls that have a name, and the results, by the ids of calls; the last of each id."""
    called: dict[str, ToolCall] = {}
    answers: dict[str, ToolResult] = {}
    for message in tree.messages(conversation):
        for part in message.parts:
            if isinstance(part, ToolCall):
                if part.name and part.call_id is not None:
                    called[part.call_id] = part
            elif isinstance(part, ToolResult) and part.call_id is not None:
                answers[part.call_id] = part
    return called, answers


def _is_told(parts: Sequence[Part]) -> bool:
    """Whether the content of a message says all about its parts."""
    match parts:
        case []:
            return True
        case [Text() as only]:
            return not only.citations and not only.extra and not only.injected
    return False


def _content(text: str | None) -> dict[str, Any]:
    return {} if text is None else {"content": {"type": "text", "text": text}}


def _present(values: dict[str, Any]) -> dict[str, Any]:
    """The values that hold something."""
    return {name: value for name, value in values.items() if value}


def _by_message(feedback: list[Feedback]) -> dict[str | None, dict[str, Any]]:
    """The last rating of each message."""
    return {
        each.message_id: stated({"rating": each.rating, "text": each.text, "tags": each.extra.get("tags")})
        for each in feedback
        if each.message_id is not None
    }
