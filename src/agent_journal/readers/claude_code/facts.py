"""Facts about a session, from its finished timeline: title, tags, summaries, origin, head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import nonempty_str
from agent_journal.model import Event, Link, Message, Summary, tree

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from agent_journal.readers.claude_code.lines import Entry


def first_folder(desktop: Any) -> str | None:
    """Return the first folder that the user gave to a session of the desktop app."""
    folders = desktop.get("userSelectedFolders") if desktop.__class__ is dict else None
    return next(filter(None, map(nonempty_str, folders)), None) if folders.__class__ is list else None


def text_in(value: Any, name: str) -> str | None:
    """Get a nonempty text of an object by its name."""
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) and text else None


def title(events: Sequence[Event], known: Container[object]) -> str | None:
    """Get the person's title, else the model's, else a summary; of each kind, the last one counts.

    A summary often names a leaf in another file; it belongs to that conversation.
    """
    stated = _last_text(events, "custom-title", "customTitle") or _last_text(events, "ai-title", "aiTitle")
    if stated:
        return stated
    own = [event for event in events if event.name == "summary" and text_in(event.data, "leafUuid") in known]
    return _last_text(own, "summary", "summary")


def tags(events: Sequence[Event]) -> list[str]:
    """List the session's tag: there is at most one, and an empty one removes it."""
    tag = _last_text(events, "tag", "tag")
    return [tag] if tag else []


def _last_text(events: Sequence[Event], name: str, key: str) -> str | None:
    last = next((event for event in reversed(events) if event.name == name), None)
    return None if last is None else text_in(last.data, key)


def summaries(entries: Sequence[Entry]) -> list[Summary]:
    """List the summaries of whole sessions, and those that replace messages after a compaction."""
    result: list[Summary] = []
    boundaries: dict[str, str | None] = {}
    candidates = [
        entry for entry in entries if not isinstance(entry, Message) or "isCompactSummary" in entry.extra
    ]
    for entry in candidates:
        if isinstance(entry, Message):
            if entry.extra["isCompactSummary"] is True:
                result.append(_compaction(entry, boundaries))
        elif entry.name == "system":
            boundaries[entry.id] = entry.parent_id
        elif entry.name == "summary" and (text := text_in(entry.data, "summary")):
            result.append(Summary(text=text, at=entry.at, message_id=text_in(entry.data, "leafUuid")))
    return result


def _compaction(message: Message, boundaries: dict[str, str | None]) -> Summary:
    covers = boundaries.get(message.parent_id or "")
    return Summary(text=tree.plain_text(message), kind="system", at=message.at, message_id=covers)


def origin_link(messages: Sequence[Message]) -> Link | None:
    """Get the session that this one was forked from or continues."""
    for message in reversed([message for message in messages if "forkedFrom" in message.extra]):
        forked = message.extra["forkedFrom"]
        if session := text_in(forked, "sessionId"):
            return Link(conversation_id=session, relation="fork", message_id=text_in(forked, "messageUuid"))
    return _copied_fork(messages) or _continued(messages)


def _copied_fork(messages: Sequence[Message]) -> Link | None:
    """Link to the original of `--fork-session`: the answers among the copied lines name its session.

    In a fork of a fork they name either one; the last of them is nearest.
    """
    copied = [message for message in messages if "requestSessionId" in message.extra]
    original = text_in(copied[-1].extra, "requestSessionId") if copied else None
    if original is None:
        return None
    return Link(conversation_id=original, relation="fork", message_id=copied[-1].id)


def _continued(messages: Sequence[Message]) -> Link | None:
    """Link a resumed copy to the older session; the copied lines at its beginning still name it."""
    link = None
    for message in messages:
        if "sessionId" not in message.extra:
            return link
        if older := text_in(message.extra, "sessionId"):
            link = Link(conversation_id=older, relation="continues", message_id=message.id)
    return None


def head(entries: Sequence[Entry], messages: Sequence[Message], updated_at: str | None) -> str | None:
    """Get the last message: the leaf that the app noted, unless the conversation went on; else the newest."""
    if not messages:
        return None
    noted = _noted_leaf(entries)
    if noted is not None and any(leaf.id == noted for leaf in tree.leaves(entries)):
        return noted
    last = messages[-1]
    # In a subagent's own file everything is a side chain.
    is_newest = last.at == updated_at and (
        not last.sidechain or all(message.sidechain for message in messages)
    )
    return last.id if is_newest else tree.newest_leaf(entries)


def _noted_leaf(entries: Sequence[Entry]) -> str | None:
    """Get the message at or above the leaf that `last-prompt` names, if no message follows that line."""
    for entry in reversed(entries):
        if isinstance(entry, Message):
            if not entry.sidechain:
                return None
        elif entry.name == "last-prompt" and (leaf := text_in(entry.data, "leafUuid")):
            chain = tree.chain_to(entries, leaf)
            return next((entry.id for entry in reversed(chain) if isinstance(entry, Message)), None)
    return None
