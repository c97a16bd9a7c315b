"""One chat of the composer: a record about it, and its bubbles, inside of it or in rows of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.cursor.bubble import Bubbles
from agent_journal.readers.cursor.names import NAME
from agent_journal.readers.cursor.values import parsed, record, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes
    from agent_journal.readers.cursor.rows import Rows

_CHECKPOINT, _CONTEXT = "checkpointId", "messageRequestContext"
_TOOLS = 15


class Composer:
    """A chat while it is put together."""

    def __init__(self, chat_id: str, data: Bag, rows: Rows, note: Notes) -> None:
        self.id = chat_id
        self.where = f"composerData:{chat_id}"
        self.fields = Fields(data, note, self.where)
        self.bubbles = Bubbles(note)
        self.timeline: list[Entry] = []
        self.missing = 0
        """Bubbles that the record names and that are not there."""
        self.folders: list[Any] = []
        """What bubbles say of the folders that were open."""
        self.contexts: list[Bag] = []
        """What went along with prompts, in their order."""
        self._rows = rows
        self._note = note
        self._used: set[str] = set()
        self._contexts = dict(self.beside(_CONTEXT))
        self._checkpoints = dict(self.beside(_CHECKPOINT))

    def read(self) -> None:
        """Put the bubbles into their order, with what belongs to them."""
        order, inside = self._inside()
        found = dict(inside)
        for bubble_id, raw in self._rows.below(f"bubbleId:{self.id}:"):
            value = record(raw, self._note, f"bubbleId:{self.id}:{bubble_id}")
            if value is not None:
                # Most of a bubble is empty fields; what is held of the whole chat should not be.
                value = said(value)
                found[bubble_id] = {**inside[bubble_id], **value} if bubble_id in inside else value
        self._lend_tools(found)
        for header in order:
            bubble_id = str(header["bubbleId"])
            bubble = found.pop(bubble_id, None)
            self.missing += bubble is None and bubble_id not in self._used
            self._add(bubble_id, bubble, header)
        self._add_unlisted(found, is_all=not order)
        for checkpoint_id in list(self._checkpoints):
            self._put_checkpoint(checkpoint_id)
        for bubble_id, context in self._contexts.items():
            self._put(Event(id=f"{_CONTEXT}:{bubble_id}", name=_CONTEXT, data=context))

    def _inside(self) -> tuple[list[Bag], dict[str, Bag]]:
        """The order of the bubbles, and those that the record itself holds."""
        headers = self.fields.items("fullConversationHeadersOnly") or []
        whole = self.fields.items("conversation") or []
        mapped = self.fields.bag("conversationMap") or {}
        inside = {name: bubble for name, bubble in mapped.items() if isinstance(bubble, dict)}
        if len(inside) < len(mapped):
            self.fields.keep(
                "conversationMap", {name: mapped[name] for name in mapped.keys() - inside.keys()}
            )
        order = [header for header in headers if self._is_header(header)]
        for number, bubble in enumerate(whole):
            if not isinstance(bubble, dict):
                self._note(Kind.WRONG_TYPE, self.where, f"bubble {number} is {type(bubble).__name__}")
                continue
            bubble_id = bubble.get("bubbleId")
            if not isinstance(bubble_id, str) or not bubble_id:
                bubble_id = ids.made(NAME, self.id, number)
                self._note(Kind.MISSING_ID, self.where, f"bubble {number}")
            inside[bubble_id] = bubble
            if not headers:
                order.append({"bubbleId": bubble_id})
        return order, inside

    def _is_header(self, header: Any) -> bool:
        if isinstance(header, dict) and isinstance(header.get("bubbleId"), str):
            return True
        self._note(Kind.WRONG_TYPE, self.where, f"a header is {str(header)[:60]!r}")
        return False

    def _lend_tools(self, found: dict[str, Bag]) -> None:
        """Until 0.46 the uses of tools lay in a capability of the chat, by the ids of their bubbles."""
        capabilities = self.fields.look("capabilities")
        for capability in capabilities if isinstance(capabilities, list) else ():
            data = capability.get("data") if isinstance(capability, dict) else None
            if not isinstance(data, dict) or capability.get("type") != _TOOLS:
                continue
            held = data.get("bubbleDataMap")
            used = parsed(held) if isinstance(held, str) else held
            if not isinstance(used, dict):
                continue
            data["bubbleDataMap"] = {
                bubble_id: use for bubble_id, use in used.items() if not _lend(found.get(bubble_id), use)
            }

    def _add(self, bubble_id: str, bubble: Bag | None, header: Bag) -> None:
        if bubble_id in self._used:
            self._note(Kind.REPEATED_RECORD, self.where, f"bubble {bubble_id}")
            return
        if bubble is None:
            at = timestamps.moment(header.get("createdAt"))
            self._put(Event(id=bubble_id, name="missing bubble", at=at, data=said(header)))
            return
        if "workspaceUris" in bubble:
            self.folders.append(bubble["workspaceUris"])
        if bubble_id in self._contexts:
            bubble[_CONTEXT] = self._contexts.pop(bubble_id)
            self.contexts.append(bubble[_CONTEXT])
        named = [bubble[name] for name in (_CHECKPOINT, "afterCheckpointId") if name in bubble]
        self._put(self.bubbles.entry(bubble_id, bubble, header))
        for checkpoint_id in named:
            if isinstance(checkpoint_id, str) and checkpoint_id in self._checkpoints:
                self._put_checkpoint(checkpoint_id)

    def _add_unlisted(self, found: dict[str, Bag], *, is_all: bool) -> None:
        """Bubbles that the chat no longer shows: what was asked or answered anew. In a lost chat, all."""
        unlisted = sorted(found.items(), key=lambda item: (_epoch(item[1]), item[0]))
        if unlisted and is_all:
            self._note(
                Kind.REORDERED, self.where, "the chat does not tell its order; bubbles are in order of time"
            )
        for bubble_id, bubble in unlisted:
            self._add(bubble_id, bubble, {})
            if not is_all:
                self._hide(bubble_id)

    def _hide(self, bubble_id: str) -> None:
        """Mark a message that was just added; a checkpoint may have followed it."""
        for place in range(len(self.timeline) - 1, -1, -1):
            entry = self.timeline[place]
            if entry.id == bubble_id:
                if isinstance(entry, Message):
                    self.timeline[place] = msgspec.structs.replace(entry, hidden=True)
                return

    def _put_checkpoint(self, checkpoint_id: str) -> None:
        self._put(Event(id=checkpoint_id, name="checkpoint", data=self._checkpoints.pop(checkpoint_id)))

    def _put(self, entry: Entry) -> None:
        if entry.id in self._used:
            self._note(Kind.DUPLICATE_ID, self.where, entry.id[:80])
            made = ids.made(NAME, self.id, entry.id, len(self.timeline))
            entry = msgspec.structs.replace(entry, id=made, made_id=True)
        self._used.add(entry.id)
        self.timeline.append(entry)

    def put_first(self, entries: list[Entry]) -> None:
        """Put what the model was told before all else before all else."""
        said_later, self.timeline = self.timeline, []
        for entry in (*entries, *said_later):
            self._used.discard(entry.id)
        for entry in (*entries, *said_later):
            self._put(entry)

    def beside(self, family: str) -> Iterator[tuple[str, Bag]]:
        """Name and value of each row about the chat whose key begins so."""
        for name, raw in self._rows.below(f"{family}:{self.id}:"):
            value = record(raw, self._note, f"{family}:{self.id}:{name}")
            if value is not None:
                yield name, value

    @property
    def is_empty(self) -> bool:
        """Whether nobody said anything in it, nor began to."""
        is_draft = isinstance(text := self.fields.look("text"), str) and bool(text.strip())
        return not is_draft and not any(isinstance(entry, Message) for entry in self.timeline)


def _lend(bubble: Bag | None, use: Any) -> bool:
    """Give the use of a tool to its bubble, unless that has one."""
    if bubble is None or not isinstance(use, dict) or said(bubble).get("toolFormerData"):
        return False
    bubble["toolFormerData"] = use
    return True


def _epoch(bubble: Bag) -> int:
    return timestamps.epoch_ms(timestamps.moment(bubble.get("createdAt"))) or 0
