"""What the entries of a session say about it as a whole: functions on a finished timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Event, Link, Message, Summary, tree

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from agent_journal.readers.claude_code.lines import Entry


def text_in(bag: Any, name: str) -> str | None:
    """The text that an object has under a name, if it has one there."""
    value = bag.get(name) if isinstance(bag, dict) else None
    return value if isinstance(value, str) and value else None


def title(events: Sequence[Event], known: Container[object]) -> str | None:
    """The person's title, else the model's, else a summary's; within a kind the last one counts.

    A summary often names a leaf in another file; then it is not this conversation's.
    """
    given = _last_text(events, "custom-title", "customTitle") or _last_text(events, "ai-title", "aiTitle")
    if given:
        return given
    own = [event for event in events if event.name == "summary" and text_in(event.data, "leafUuid") in known]
    return _last_text(own, "summary", "summary")


def tags(events: Sequence[Event]) -> list[str]:
    """The session's tag: there is one at most, and an empty one takes it away."""
    tag = _last_text(events, "tag", "tag")
    return [tag] if tag else []


def _last_text(events: Sequence[Event], name: str, key: str) -> str | None:
    last = next((event for event in reversed(events) if event.name == name), None)
    return None if last is None else text_in(last.data, key)


def summaries(entries: Sequence[Entry]) -> list[Summary]:
    """Summaries of whole sessions, and those that compactions put in the place of what came before."""
    found: list[Summary] = []
    boundaries: dict[str, str | None] = {}
    telling = [
        entry for entry in entries if not isinstance(entry, Message) or "isCompactSummary" in entry.extra
    ]
    for entry in telling:
        if isinstance(entry, Message):
            if entry.extra["isCompactSummary"] is True:
                found.append(_compaction(entry, boundaries))
        elif entry.name == "system":
            boundaries[entry.id] = entry.parent_id
        elif entry.name == "summary" and (text := text_in(entry.data, "summary")):
            found.append(Summary(text=text, at=entry.at, message_id=text_in(entry.data, "leafUuid")))
    return found


def _compaction(message: Message, boundaries: dict[str, str | None]) -> Summary:
    covers = boundaries.get(message.parent_id or "")
    return Summary(text=tree.plain_text(message), kind="system", at=message.at, message_id=covers)


def came_from(messages: Sequence[Message]) -> Link | None:
    """The session that this one was forked from, or that it began as a copy of."""
    for message in reversed([message for message in messages if "forkedFrom" in message.extra]):
        forked = message.extra["forkedFrom"]
        if session := text_in(forked, "sessionId"):
            return Link(conversation_id=session, relation="fork", message_id=text_in(forked, "messageUuid"))
    return _forked(messages) or _continued(messages)


def _forked(messages: Sequence[Message]) -> Link | None:
    """Where `--fork-session` copied from: of the lines it copies, answers name the session that asked.

    In a fork of a fork they name either one; the last of them is nearest.
    """
    last = next((each for each in reversed(messages) if "requestSessionId" in each.extra), None)
    original = None if last is None else text_in(last.extra, "requestSessionId")
    if last is None or original is None:
        return None
    return Link(conversation_id=original, relation="fork", message_id=last.id)


def _continued(messages: Sequence[Message]) -> Link | None:
    """A resumed copy begins with lines of the older session; only those still name a session."""
    link = None
    for message in messages:
        if "sessionId" not in message.extra:
            return link
        if older := text_in(message.extra, "sessionId"):
            link = Link(conversation_id=older, relation="continues", message_id=message.id)
    return None


def head(entries: Sequence[Entry], messages: Sequence[Message], updated_at: str | None) -> str | None:
    """The message seen last: the leaf that the app noted, unless the talk went on since; else the newest."""
    if not messages:
        return None
    noted = _noted_leaf(entries)
    if noted is not None and any(leaf.id == noted for leaf in tree.leaves(entries)):
        return noted
    last = messages[-1]
    # In a sub-agent's own file everything is a side chain.
    is_newest = last.at == updated_at and (
        not last.sidechain or all(message.sidechain for message in messages)
    )
    return last.id if is_newest else tree.newest_leaf(entries)


def _noted_leaf(entries: Sequence[Entry]) -> str | None:
    """The message at or above the leaf that the last `last-prompt` names, if nothing was said after it."""
    for entry in reversed(entries):
        if isinstance(entry, Message):
            if not entry.sidechain:
                return None
        elif entry.name == "last-prompt" and (leaf := text_in(entry.data, "leafUuid")):
            chain = tree.chain_to(entries, leaf)
            return next((above.id for above in reversed(chain) if isinstance(above, Message)), None)
    return None
