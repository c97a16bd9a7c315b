"""One chat of the composer: its record, and its bubbles, in the record or in rows of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor.bubble import Bubbles
from agent_journal.readers.cursor.names import NAME
from agent_journal.readers.cursor.values import decode_object, nonempty_fields, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes
    from agent_journal.readers.cursor.rows import Rows

_CHECKPOINT, _CONTEXT = "checkpointId", "messageRequestContext"
_TOOLS_CAPABILITY_CODE = 15


class Composer:
    """Collects the entries of a chat."""

    def __init__(self, chat_id: str, data: Bag, rows: Rows, note: Notes) -> None:
        self.id = chat_id
        self.where = f"composerData:{chat_id}"
        self.fields = Fields(data, note, self.where)
        self.bubbles = Bubbles(note)
        self.timeline: list[Entry] = []
        self.missing = 0
        """How many bubbles the record names that are not in the database."""
        self.folders: list[Any] = []
        """The open folders that bubbles state."""
        self.contexts: list[Bag] = []
        """The context sent with each prompt, in order."""
        self._rows = rows
        self._note = note
        self._used_ids: set[str] = set()
        self._contexts = dict(self.rows_with_prefix(_CONTEXT))
        self._checkpoints = dict(self.rows_with_prefix(_CHECKPOINT))

    def read(self) -> None:
        """Read the bubbles in order, with their contexts and checkpoints."""
        order, embedded = self._embedded_bubbles()
        bubbles = dict(embedded)
        for bubble_id, raw in self._rows.below(f"bubbleId:{self.id}:"):
            value = decode_object(raw, self._note, f"bubbleId:{self.id}:{bubble_id}")
            if value is not None:
                # Most fields of a bubble are empty, and all bubbles of a chat are in memory.
                value = nonempty_fields(value)
                bubbles[bubble_id] = {**embedded[bubble_id], **value} if bubble_id in embedded else value
        self._assign_tool_uses(bubbles)
        for header in order:
            bubble_id = str(header["bubbleId"])
            bubble = bubbles.pop(bubble_id, None)
            self.missing += bubble is None and bubble_id not in self._used_ids
            self._add(bubble_id, bubble, header)
        self._add_unlisted(bubbles, is_all=not order)
        for checkpoint_id in list(self._checkpoints):
            self._append_checkpoint(checkpoint_id)
        for bubble_id, context in self._contexts.items():
            self._append(Event(id=f"{_CONTEXT}:{bubble_id}", name=_CONTEXT, data=context))

    def _embedded_bubbles(self) -> tuple[list[Bag], dict[str, Bag]]:
        """Return the order of the bubbles, and the bubbles that are in the record itself."""
        headers = self.fields.items("fullConversationHeadersOnly") or []
        listed = self.fields.items("conversation") or []
        mapped = self.fields.bag("conversationMap") or {}
        embedded = {name: bubble for name, bubble in mapped.items() if isinstance(bubble, dict)}
        if len(embedded) < len(mapped):
            self.fields.keep(
                "conversationMap", {name: mapped[name] for name in mapped.keys() - embedded.keys()}
            )
        order = [header for header in headers if self._is_header(header)]
        for number, bubble in enumerate(listed):
            if not isinstance(bubble, dict):
                self._note(Kind.WRONG_TYPE, self.where, f"bubble {number} is {type(bubble).__name__}")
                continue
            bubble_id = bubble.get("bubbleId")
            if not isinstance(bubble_id, str) or not bubble_id:
                bubble_id = ids.made(NAME, self.id, number)
                self._note(Kind.MISSING_ID, self.where, f"bubble {number}")
            embedded[bubble_id] = bubble
            if not headers:
                order.append({"bubbleId": bubble_id})
        return order, embedded

    def _is_header(self, header: Any) -> bool:
        if isinstance(header, dict) and isinstance(header.get("bubbleId"), str):
            return True
        self._note(Kind.WRONG_TYPE, self.where, f"a header is {str(header)[:60]!r}")
        return False

    def _assign_tool_uses(self, bubbles: dict[str, Bag]) -> None:
        """Move tool uses to their bubbles; until 0.46 they were in a capability of the chat, by bubble id."""
        capabilities = self.fields.view("capabilities")
        for capability in capabilities if isinstance(capabilities, list) else ():
            data = capability.get("data") if isinstance(capability, dict) else None
            if not isinstance(data, dict) or capability.get("type") != _TOOLS_CAPABILITY_CODE:
                continue
            raw = data.get("bubbleDataMap")
            tool_uses = parse_json(raw) if isinstance(raw, str) else raw
            if not isinstance(tool_uses, dict):
                continue
            data["bubbleDataMap"] = {
                bubble_id: tool_use
                for bubble_id, tool_use in tool_uses.items()
                if not _assign_tool_use(bubbles.get(bubble_id), tool_use)
            }

    def _add(self, bubble_id: str, bubble: Bag | None, header: Bag) -> None:
        if bubble_id in self._used_ids:
            self._note(Kind.REPEATED_RECORD, self.where, f"bubble {bubble_id}")
            return
        if bubble is None:
            at = timestamps.parse_timestamp(header.get("createdAt"))
            self._append(Event(id=bubble_id, name="missing bubble", at=at, data=nonempty_fields(header)))
            return
        if "workspaceUris" in bubble:
            self.folders.append(bubble["workspaceUris"])
        if bubble_id in self._contexts:
            bubble[_CONTEXT] = self._contexts.pop(bubble_id)
            self.contexts.append(bubble[_CONTEXT])
        checkpoint_ids = [bubble[name] for name in (_CHECKPOINT, "afterCheckpointId") if name in bubble]
        self._append(self.bubbles.entry(bubble_id, bubble, header))
        for checkpoint_id in checkpoint_ids:
            if isinstance(checkpoint_id, str) and checkpoint_id in self._checkpoints:
                self._append_checkpoint(checkpoint_id)

    def _add_unlisted(self, bubbles: dict[str, Bag], *, is_all: bool) -> None:
        """Add bubbles that the chat no longer shows: edited prompts, retried answers; in a lost chat, all."""
        unlisted = sorted(bubbles.items(), key=lambda item: (_epoch(item[1]), item[0]))
        if unlisted and is_all:
            self._note(
                Kind.REORDERED, self.where, "the chat does not state its order; bubbles are sorted by time"
            )
        for bubble_id, bubble in unlisted:
            self._add(bubble_id, bubble, {})
            if not is_all:
                self._hide(bubble_id)

    def _hide(self, bubble_id: str) -> None:
        """Hide a message that was just added; a checkpoint may have followed it."""
        for index in range(len(self.timeline) - 1, -1, -1):
            entry = self.timeline[index]
            if entry.id == bubble_id:
                if isinstance(entry, Message):
                    self.timeline[index] = msgspec.structs.replace(entry, hidden=True)
                return

    def _append_checkpoint(self, checkpoint_id: str) -> None:
        self._append(Event(id=checkpoint_id, name="checkpoint", data=self._checkpoints.pop(checkpoint_id)))

    def _append(self, entry: Entry) -> None:
        if entry.id in self._used_ids:
            self._note(Kind.DUPLICATE_ID, self.where, entry.id[:80])
            unique_id = ids.made(NAME, self.id, entry.id, len(self.timeline))
            entry = msgspec.structs.replace(entry, id=unique_id, made_id=True)
        self._used_ids.add(entry.id)
        self.timeline.append(entry)

    def prepend(self, entries: list[Entry]) -> None:
        """Insert entries before all others."""
        later_entries, self.timeline = self.timeline, []
        for entry in (*entries, *later_entries):
            self._used_ids.discard(entry.id)
        for entry in (*entries, *later_entries):
            self._append(entry)

    def rows_with_prefix(self, prefix: str) -> Iterator[tuple[str, Bag]]:
        """Yield name and value of each row about the chat whose key starts with a prefix."""
        for name, raw in self._rows.below(f"{prefix}:{self.id}:"):
            value = decode_object(raw, self._note, f"{prefix}:{self.id}:{name}")
            if value is not None:
                yield name, value

    @property
    def is_empty(self) -> bool:
        """Whether it has neither a message nor a draft."""
        is_draft = isinstance(text := self.fields.view("text"), str) and bool(text.strip())
        return not is_draft and not any(isinstance(entry, Message) for entry in self.timeline)


def _assign_tool_use(bubble: Bag | None, tool_use: Any) -> bool:
    """Move a tool use to its bubble, unless the bubble has one; return whether it was moved."""
    if bubble is None or not isinstance(tool_use, dict) or nonempty_fields(bubble).get("toolFormerData"):
        return False
    bubble["toolFormerData"] = tool_use
    return True


def _epoch(bubble: Bag) -> int:
    return timestamps.epoch_ms(timestamps.parse_timestamp(bubble.get("createdAt"))) or 0
