"""Messages. A message of the source may become several: each reasoning part and each tool result is separate.

The message with the text has the source's id; the others are its children.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agent_journal.model import Event, Message, Reasoning, Text, ToolCall, ToolResult, ids, tree
from agent_journal.model.leftovers import Leftovers
from agent_journal.writers.pam import content as pam_content
from agent_journal.writers.pam.values import OWN_KEY, raw_metadata, timestamp, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Feedback, Part


_Kind = Literal["text", "reasoning", "result"]
# Parts that become separate messages.
_KINDS: dict[type, _Kind] = {Reasoning: "reasoning", ToolResult: "result"}

_LEFTOVERS = Leftovers(
    Message, represented=("id", "role", "parent_id", "at", "model", "parts", "native", "extra")
)
# A content of one text represents no other field of it.
_PLAIN_TEXT = Leftovers(Text, represented=("text",))


class MessageShare(NamedTuple):
    """The parts of a message that become one message in PAM."""

    kind: _Kind
    parts: Sequence[Part]


def split_message(message: Message) -> list[MessageShare]:
    """Split a message into its PAM messages; nearly all become one."""
    parts = message.parts
    if len(parts) == 1:
        return [MessageShare(_KINDS.get(parts[0].__class__, "text"), parts)]
    text_parts = [part for part in parts if part.__class__ not in _KINDS]
    if len(text_parts) == len(parts):
        return [MessageShare("text", parts)]
    result: list[MessageShare] = []
    has_text_share = not text_parts
    for part in parts:
        if part.__class__ in _KINDS:
            result.append(MessageShare(_KINDS[part.__class__], [part]))
        elif not has_text_share:
            result.append(MessageShare("text", text_parts))
            has_text_share = True
    return result


class _MessagePosition(NamedTuple):
    """The id and the parent of a message."""

    id: str
    parent: str | None


class Messages:
    """Builds the messages of one conversation."""

    def __init__(
        self,
        conversation: Conversation,
        created_at: str,
        provider: str,
        *,
        is_block_source: bool,
        text_field: str = "",
        children_field: str = "",
    ) -> None:
        self.untimed = 0
        self.renamed = 0
        self._conversation = conversation
        self._created_at = created_at
        self._provider = provider
        self._is_block_source = is_block_source
        self._text_field = text_field
        self._children_field = children_field
        self._is_tree = conversation.shape == "tree"
        self._calls, self._results = _calls_and_results(conversation)
        self._feedback = _feedback_by_message(conversation.feedback)
        self._pam_ids: dict[str | None, str | None] = {}
        """The PAM id by entry id; for an event, that of the nearest message above it."""
        self._positions = self._build_positions()
        self._children: dict[str, list[str]] = {}
        for position in self._positions:
            if position.parent is not None:
                self._children.setdefault(position.parent, []).append(position.id)

    def _build_positions(self) -> list[_MessagePosition]:
        """The unique id of each message, and the nearest message above it."""
        pam_ids = self._pam_ids
        used: set[str] = set()
        pending: list[tuple[str, str | None]] = []
        for entry in self._conversation.timeline:
            if entry.__class__ is Event:
                pam_ids.setdefault(entry.id, pam_ids.get(entry.parent_id))
                continue
            id_ = entry.id
            if not id_ or id_ in used:
                self.renamed += 1
                id_ = ids.made(self._conversation.id, id_, len(pending))
            used.add(id_)
            pam_ids.setdefault(entry.id, id_)
            pending.append((id_, entry.parent_id if self._is_tree else None))
        return [
            _MessagePosition(id_, None if parent is None else pam_ids.get(parent)) for id_, parent in pending
        ]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Every message of the conversation, in its order."""
        for message, position in zip(tree.messages(self._conversation), self._positions, strict=True):
            yield from self._split_messages(message, position)

    def _split_messages(self, message: Message, position: _MessagePosition) -> list[dict[str, Any]]:
        shares = split_message(message)
        if len(shares) == 1:
            return [self._main_message(message, shares[0], position, ())]
        main_index = next((index for index, share in enumerate(shares) if share.kind == "text"), 0)
        share_ids = [
            position.id if index == main_index else ids.made(position.id, index)
            for index in range(len(shares))
        ]
        split_children = [id_ for id_ in share_ids if id_ != position.id] if self._is_tree else []
        return [
            self._main_message(message, share, position, split_children, is_split=True)
            if index == main_index
            else self._separate_message(message, share, id_, position)
            for index, (share, id_) in enumerate(zip(shares, share_ids, strict=True))
        ]

    def _main_message(
        self,
        message: Message,
        share: MessageShare,
        position: _MessagePosition,
        split_children: Sequence[str],
        *,
        is_split: bool = False,
    ) -> dict[str, Any]:
        """The message with the source's id, and the fields of the whole message."""
        built = self._base_message(message, share, position.id, position.parent)
        built["children_ids"] = [*self._child_ids(message, position), *split_children]
        usage = message.usage
        if usage is not None and usage.output is not None and usage.output >= 0:
            built["token_count"] = usage.output
        own_fields = self._own_fields(built, message, position)
        if not _is_complete(message.parts):
            own_fields["parts"] = self._entries(message, share, is_split=is_split)
        extra, derived = message.extra, self._derived(message, share)
        if derived:
            extra, own_fields = {**extra, **derived}, {**own_fields, "derived": [*derived]}
        if share.kind == "text" and self._literal(message) is not None:
            # The content contains it. The reader restores it by the name of the field.
            extra = {id_: value for id_, value in extra.items() if id_ != self._text_field}
            own_fields["text_field"] = self._text_field
        if extra or own_fields:
            built["raw_metadata"] = raw_metadata(extra, self._provider, own_fields)
        return built

    def _child_ids(self, message: Message, position: _MessagePosition) -> Sequence[str]:
        """The child messages, in the source's own order if it has one."""
        children = self._children.get(position.id, [])
        if len(children) < 2 or not self._children_field:  # noqa: PLR2004 (one has no order)
            return children
        order: Any = message.extra
        for step in self._children_field.split("."):
            order = order.get(step) if isinstance(order, dict) else None
        if not isinstance(order, list):
            return children
        ranks = self._ranks(order)
        return sorted(children, key=lambda id_: ranks.get(id_, len(ranks)))

    def _ranks(self, order: list[Any]) -> dict[str | None, int]:
        """The rank of each message in a list of entry ids; an event stands for its children."""
        events: dict[str, list[str]] = {}
        for entry in self._conversation.timeline:
            if entry.__class__ is Event:
                events.setdefault(entry.id, [])
            if entry.parent_id in events:
                events[entry.parent_id].append(entry.id)
        ranks: dict[str | None, int] = {}
        pending = [id_ for id_ in reversed(order) if isinstance(id_, str)]
        while pending:
            id_ = pending.pop()
            if id_ in events:
                pending.extend(reversed(events.pop(id_)))
            else:
                ranks.setdefault(self._pam_ids.get(id_), len(ranks))
        return ranks

    def _separate_message(
        self, message: Message, share: MessageShare, id_: str, position: _MessagePosition
    ) -> dict[str, Any]:
        """A reasoning part or a tool result as a separate message."""
        built = self._base_message(message, share, id_, position.id if self._is_tree else None)
        built["children_ids"] = []
        extra = share.parts[0].extra  # type: ignore[union-attr] # a reasoning part or a result
        built["raw_metadata"] = raw_metadata(extra, self._provider, {"part_of": position.id})
        return built

    def _base_message(
        self, message: Message, share: MessageShare, id_: str, parent: str | None
    ) -> dict[str, Any]:
        built: dict[str, Any] = {"id": id_}
        if message.id and not message.made_id:
            built["provider_message_id"] = message.id
        built["role"] = "tool" if share.kind == "result" else message.role
        built["created_at"] = timestamp(message.at) or self._created_at
        built["parent_id"] = parent
        if message.model is not None:
            built["model"] = message.model
        match share.parts:
            case [Text() as only] if not self._is_block_source and _is_complete(share.parts):
                if "content" not in message.extra:  # nearly all messages
                    built["content"] = {"type": "text", "text": only.text}
                    return built
            case [Reasoning() as reasoning]:
                text = reasoning.summary if reasoning.text is None else reasoning.text
                return built | _text_content(text) | {"is_thought": True}
            case [ToolResult() as result]:
                return built | self._result_fields(result)
        return built | self._text_fields(message, share.parts)

    def _text_fields(self, message: Message, parts: Sequence[Part]) -> dict[str, Any]:
        calls = [self._call(part) for part in parts if isinstance(part, ToolCall)]
        return {
            **without_nulls(
                {"content": pam_content.content(parts, self._form(message), self._literal(message))}
            ),
            **_nonempty(
                {
                    "attachments": pam_content.attachments(parts),
                    "citations": pam_content.citations(parts),
                    "tool_calls": calls,
                }
            ),
        }

    def _form(self, message: Message) -> pam_content.Form:
        """The form of the source's content: it always has parts, or its `content` has additional fields."""
        if self._is_block_source and message.extra.get("content", True) in (None, []):
            return "text"
        return "parts" if self._is_block_source or "content" in message.extra else "auto"

    def _literal(self, message: Message) -> str | None:
        """The source's own text of a complete message, if it has one."""
        text = message.extra.get(self._text_field) if self._text_field else None
        return text if isinstance(text, str) else None

    def _call(self, call: ToolCall) -> dict[str, Any]:
        return pam_content.tool_call(call, None if call.call_id is None else self._results.get(call.call_id))

    def _result_fields(self, result: ToolResult) -> dict[str, Any]:
        call = None if result.call_id is None else self._calls.get(result.call_id)
        references = pam_content.result_reference(result, call)
        output = result.output
        if isinstance(output, str):
            return {**_text_content(output), **_nonempty({"tool_calls": references})}
        return {
            **without_nulls({"content": pam_content.content(output, "auto")}),
            **_nonempty(
                {
                    "attachments": pam_content.attachments(output),
                    "citations": pam_content.citations(output),
                    "tool_calls": references,
                }
            ),
        }

    def _entries(self, message: Message, share: MessageShare, *, is_split: bool) -> list[dict[str, Any]]:
        form = self._form(message)
        entries = pam_content.entries(message.parts, form, is_split=is_split)
        if is_split and share.kind != "text":  # it is not a separate message
            index = next(i for i, part in enumerate(message.parts) if part is share.parts[0])
            entries[index] = pam_content.entries(share.parts, form, is_split=False)[0]
        return entries

    def _own_fields(
        self, built: dict[str, Any], message: Message, position: _MessagePosition
    ) -> dict[str, Any]:
        """The fields of the message that PAM lacks."""
        own_fields: dict[str, Any] = {}
        if position.id != message.id:
            own_fields["id"] = message.id
        if position.parent != message.parent_id:
            own_fields["parent_id"] = message.parent_id
        if built["role"] != message.role:
            own_fields["role"] = message.role
        if built["created_at"] != message.at:
            self.untimed += message.at is None
            own_fields["at"] = message.at
        _LEFTOVERS.add(message, own_fields)
        return own_fields

    def _derived(self, message: Message, share: MessageShare) -> dict[str, Any]:
        """Fields that are duplicated for other programs: feedback, and `extra` of a reasoning part."""
        if share.kind != "reasoning" and not self._feedback:
            return {}
        derived: dict[str, Any] = {}
        if message.id in self._feedback:
            derived["feedback"] = self._feedback[message.id]
        if share.kind == "reasoning" and isinstance(share.parts[0], Reasoning):
            derived |= share.parts[0].extra
        return {id_: value for id_, value in derived.items() if id_ not in message.extra and id_ != OWN_KEY}


def _calls_and_results(conversation: Conversation) -> tuple[dict[str, ToolCall], dict[str, ToolResult]]:
    """The named calls and the results by call id; the last one of each id."""
    calls: dict[str, ToolCall] = {}
    results: dict[str, ToolResult] = {}
    for message in tree.messages(conversation):
        for part in message.parts:
            if isinstance(part, ToolCall):
                if part.name and part.call_id is not None:
                    calls[part.call_id] = part
            elif isinstance(part, ToolResult) and part.call_id is not None:
                results[part.call_id] = part
    return calls, results


def _is_complete(parts: Sequence[Part]) -> bool:
    """Whether the content of a message represents its parts completely."""
    match parts:
        case []:
            return True
        case [Text() as only]:
            return not _PLAIN_TEXT.exist_in(only)
    return False


def _text_content(text: str | None) -> dict[str, Any]:
    return {} if text is None else {"content": {"type": "text", "text": text}}


def _nonempty(values: dict[str, Any]) -> dict[str, Any]:
    """The non-empty values."""
    return {name: value for name, value in values.items() if value}


def _feedback_by_message(feedback: list[Feedback]) -> dict[str | None, dict[str, Any]]:
    """The last feedback on each message."""
    return {
        item.message_id: without_nulls(
            {"rating": item.rating, "text": item.text, "tags": item.extra.get("tags")}
        )
        for item in feedback
        if item.message_id is not None
    }
