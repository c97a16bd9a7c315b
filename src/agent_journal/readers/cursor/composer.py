"""One chat of the composer: a record about it, and its bubbles, inside of it or in rows of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import ids, times
from agent_journal.fields import Fields
from agent_journal.model import Conversation, Event, Link, Message, Summary
from agent_journal.notes import Kind
from agent_journal.readers.cursor import spoken
from agent_journal.readers.cursor.bubble import Bubbles
from agent_journal.readers.cursor.names import NAME
from agent_journal.readers.cursor.values import parsed, path_of, record, said
from agent_journal.readers.cursor.workspace import folder_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.readers.cursor.rows import Rows
    from agent_journal.tree import Entry

# Rows about a chat that are not messages, kept under the name their keys begin with.
_BESIDE = ("codeBlockDiff", "codeBlockPartialInlineDiffFates")
_CHECKPOINT, _CONTEXT = "checkpointId", "messageRequestContext"
# Keys to what the vendor's servers keep; they are no part of a chat, and nobody's business.
_SECRETS = ("blobEncryptionKey", "speculativeSummarizationEncryptionKey")
_TOOLS = 15
# "2026-03-01T10:00:00.000Z": among texts of this form alone, alphabetical order is order in time.
_UTC_LENGTH = 24


class Composer:
    """A chat while it is put together."""

    def __init__(self, chat_id: str, data: Bag, rows: Rows, note: Notes) -> None:
        self.id = chat_id
        self.where = f"composerData:{chat_id}"
        self.fields = Fields(data, note, self.where)
        self.bubbles = Bubbles(note)
        self.missing = 0
        self._rows = rows
        self._note = note
        self._timeline: list[Entry] = []
        self._used: set[str] = set()
        self._folders: list[Any] = []
        self.fields.drop("composerId", *_SECRETS)

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
        contexts = dict(self._beside(_CONTEXT))
        checkpoints = dict(self._beside(_CHECKPOINT))
        self._lend_tools(found)
        for header in order:
            bubble_id = str(header["bubbleId"])
            bubble = found.pop(bubble_id, None)
            self.missing += bubble is None and bubble_id not in self._used
            self._add(bubble_id, bubble, header, contexts, checkpoints)
        self._add_unlisted(found, contexts, checkpoints, is_all=not order)
        for checkpoint_id, value in checkpoints.items():
            self._put(Event(id=checkpoint_id, name="checkpoint", data=value))
        for bubble_id, context in contexts.items():
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

    def _add(
        self,
        bubble_id: str,
        bubble: Bag | None,
        header: Bag,
        contexts: dict[str, Bag],
        checkpoints: dict[str, Bag],
    ) -> None:
        if bubble_id in self._used:
            self._note(Kind.REPEATED_RECORD, self.where, f"bubble {bubble_id}")
            return
        if bubble is None:
            at = times.moment(header.get("createdAt"))
            self._put(Event(id=bubble_id, name="missing bubble", at=at, data=said(header)))
            return
        if "workspaceUris" in bubble:
            self._folders.append(bubble["workspaceUris"])
        if bubble_id in contexts:
            bubble[_CONTEXT] = contexts.pop(bubble_id)
        named = [bubble[name] for name in (_CHECKPOINT, "afterCheckpointId") if name in bubble]
        self._put(self.bubbles.entry(bubble_id, bubble, header))
        for checkpoint_id in named:
            if isinstance(checkpoint_id, str) and checkpoint_id in checkpoints:
                self._put(Event(id=checkpoint_id, name="checkpoint", data=checkpoints.pop(checkpoint_id)))

    def _add_unlisted(
        self, found: dict[str, Bag], contexts: dict[str, Bag], checkpoints: dict[str, Bag], *, is_all: bool
    ) -> None:
        """Bubbles that the chat no longer shows: what was asked or answered anew. In a lost chat, all."""
        unlisted = sorted(found.items(), key=lambda item: (_epoch(item[1]), item[0]))
        if unlisted and is_all:
            self._note(
                Kind.REORDERED, self.where, "the chat does not tell its order; bubbles are in order of time"
            )
        for bubble_id, bubble in unlisted:
            self._add(bubble_id, bubble, {}, contexts, checkpoints)
            if not is_all and isinstance(entry := self._timeline[-1], Message) and entry.id == bubble_id:
                self._timeline[-1] = msgspec.structs.replace(entry, hidden=True)

    def _put(self, entry: Entry) -> None:
        if entry.id in self._used:
            self._note(Kind.DUPLICATE_ID, self.where, entry.id[:80])
            made = ids.made(NAME, self.id, entry.id, len(self._timeline))
            entry = msgspec.structs.replace(entry, id=made, made_id=True)
        self._used.add(entry.id)
        self._timeline.append(entry)

    def put_first(self, entries: list[Entry]) -> None:
        """Put what the model was told before all else before all else."""
        said_later, self._timeline = self._timeline, []
        for entry in (*entries, *said_later):
            self._used.discard(entry.id)
        for entry in (*entries, *said_later):
            self._put(entry)

    def _beside(self, family: str) -> Iterator[tuple[str, Bag]]:
        for name, raw in self._rows.below(f"{family}:{self.id}:"):
            value = record(raw, self._note, f"{family}:{self.id}:{name}")
            if value is not None:
                yield name, value

    @property
    def is_empty(self) -> bool:
        """Whether nobody said anything in it, nor began to."""
        is_draft = isinstance(text := self.fields.look("text"), str) and bool(text.strip())
        return not is_draft and not any(isinstance(entry, Message) for entry in self._timeline)

    def window(self) -> Any:
        """The id of the window that the record names."""
        identifier = self.fields.look("workspaceIdentifier")
        return identifier.get("id") if isinstance(identifier, dict) else None

    def folder(self) -> str | None:
        """The folder that the record or the first message names."""
        identifier = self.fields.look("workspaceIdentifier")
        if isinstance(identifier, dict) and (path := path_of(identifier.get("uri"))) is not None:
            return path
        for uris in self._folders:
            if isinstance(uris, list) and len(uris) == 1 and (path := path_of(uris[0])) is not None:
                return path
        return None

    def _told_folder(self) -> str | None:
        """The folder that the agent told the model."""
        told = (spoken.facts(e.parts) for e in self._timeline if isinstance(e, Message) and e.hidden)
        return next((facts["cwd"] for facts in told if "cwd" in facts), None)

    def conversation(self, place: Bag, head: Bag, parent: str | None) -> Conversation:
        """The chat, with what is known of it from elsewhere: its window's place, its head, who started it."""
        fields = self.fields
        folder = self.folder() or folder_in(place) or self._told_folder()
        link = self._link(head, parent)
        summaries = self._summaries()
        model = fields.nested("modelConfig")
        worktree = fields.look("gitWorktree")
        worktree = worktree if isinstance(worktree, dict) else {}
        started = fields.moment("createdAt") or times.moment(head.get("createdAt"))
        if started is None:
            started = next((entry.at for entry in self._timeline if entry.at is not None), None)
        updated = fields.moment("lastUpdatedAt") or times.moment(head.get("lastUpdatedAt"))
        archived = fields.flag("isArchived")
        return Conversation(
            id=self.id,
            source=NAME,
            title=fields.text("name") or _text(head, "name"),
            started_at=started,
            updated_at=_later(updated, self._timeline),
            model=model.text("modelName") if model else None,
            cwd=folder,
            git_branch=_text(worktree, "branchName")
            or fields.text("createdOnBranch")
            or _text(head, "createdOnBranch"),
            git_commit=_text(worktree, "commitHash"),
            archived=archived if archived is not None else _flag(head, "isArchived"),
            shape="list",
            link=link,
            timeline=self._timeline,
            summaries=summaries,
            extra=self._extra(head, place),
        )

    def _extra(self, head: Bag, place: Bag) -> Bag:
        looked_at = self.fields.look
        more = {
            name: value for name, value in head.items() if name != "composerId" and looked_at(name) != value
        }
        extra = said(self.fields.rest())
        for family in _BESIDE:
            if held := dict(self._beside(family)):
                extra[family] = held
        if more := said(more):
            extra["head"] = more
        if place:
            extra["workspace"] = place
        return extra

    def _link(self, head: Bag, parent: str | None) -> Link | None:
        """The chat whose agent started this one."""
        info = self.fields.look("subagentInfo") or head.get("subagentInfo")
        info = info if isinstance(info, dict) else {}
        parent = _text(info, "parentComposerId") or parent
        if parent is None or parent == self.id:
            return None
        return Link(conversation_id=parent, relation="subagent", call_id=_text(info, "toolCallId"))

    def _summaries(self) -> list[Summary]:
        told = self.fields.look("latestConversationSummary")
        inner = told.get("summary") if isinstance(told, dict) else None
        text = _text(inner, "summary") if isinstance(inner, dict) else inner
        if not isinstance(text, str) or not text:
            return []
        last = _text(inner, "truncationLastBubbleIdInclusive") if isinstance(inner, dict) else None
        return [Summary(text=text, message_id=last)]


def _lend(bubble: Bag | None, use: Any) -> bool:
    """Give the use of a tool to its bubble, unless that has one."""
    if bubble is None or not isinstance(use, dict) or said(bubble).get("toolFormerData"):
        return False
    bubble["toolFormerData"] = use
    return True


def _epoch(bubble: Bag) -> int:
    return times.epoch_ms(times.moment(bubble.get("createdAt"))) or 0


def _later(updated: str | None, timeline: list[Entry]) -> str | None:
    """The end of a chat: what it states is often when it was begun."""
    moments = [at for at in (updated, *(entry.at for entry in timeline)) if at is not None]
    if set(map(len, moments)) == {_UTC_LENGTH}:
        return max(moments)
    dated = [(epoch, at) for at in moments if (epoch := times.epoch_ms(at)) is not None]
    return max(dated)[1] if dated else updated


def _text(bag: Bag, name: str) -> str | None:
    value = bag.get(name)
    return value if isinstance(value, str) and value else None


def _flag(bag: Bag, name: str) -> bool | None:
    value = bag.get(name)
    return value if isinstance(value, bool) else None
