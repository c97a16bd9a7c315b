"""`read`: messages of a conversation, around one or from a position on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.mcp.answers import fit_text, fitting, without_empty
from agent_journal.mcp.arguments import offsets
from agent_journal.mcp.excerpts import one_line, position_of_cut, relative, text_of
from agent_journal.mcp.tools.list import shown_project
from agent_journal.model import Conversation, Message
from agent_journal.redaction import redact, redact_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.journal import Listed
    from agent_journal.mcp.answers import Call
    from agent_journal.model import Event

_DEFAULT_BEFORE, _DEFAULT_AFTER = 2, 8
_MAX_PAGE_ENTRIES = 60
_MAX_TITLE_CHARS = 120
_MAX_TEXT_BYTES = 1200
_MAX_TARGET_BYTES = 2800
_MAX_OUTPUT_CHARS = 500
_TARGET_SHARE = 0.5
"""Of the answer, for the message that was asked for."""
_TEXT_SHARE = 0.22


def read(call: Call) -> dict[str, Any]:
    """Return some messages of a conversation, with a cursor if more follow."""
    given = call.arguments
    listed = call.scope.find(call.journal, given["conversation"])
    target = given.get("message")
    shown = call.journal.shown(listed)
    if "cursor" in given:
        part, start = offsets(call.tool, given, 2)
        limit, target = _MAX_PAGE_ENTRIES, None
    elif target is not None:
        part, position = shown.locate(_full_id(shown.places, target))
        if "offset" in given:
            return _rest(call, listed, part, position)
        start = max(position - given.get("before", _DEFAULT_BEFORE), 0)
        limit = position - start + 1 + given.get("after", _DEFAULT_AFTER)
    else:
        part, start, limit = 0, 0, given.get("after", _MAX_PAGE_ENTRIES)
    total = shown.parts[part].total if part < len(shown.parts) else 0
    entries = call.journal.shown_entries(listed, part, start, limit).entries if total else []
    data = {**_head(call, listed), "total": total}
    messages = [*_messages(call, listed, entries, start, target)]
    count = fitting(call, data, "messages", (item for _, item in messages))
    following = messages[count][0] if count < len(messages) else start + len(entries)
    if following < total:
        data["next_cursor"] = f"{part}.{following}"
    return data


def _full_id(places: dict[str, tuple[int, int]], name: str) -> str:
    """Return the id of the only message whose id begins with a text, or the text."""
    if name in places:
        return name
    matches = [each for each in places if each.startswith(name)]
    return matches[0] if len(matches) == 1 else name


def _head(call: Call, listed: Listed) -> dict[str, Any]:
    (title,) = redact_texts([listed.title or ""])
    project = listed.project if call.arguments.get("absolute_paths") else shown_project(call, listed.project)
    return without_empty(
        {
            "conversation": listed.id,
            "source": listed.source,
            "title": one_line(title, _MAX_TITLE_CHARS),
            "project": project,
            "parent": None if call.scope.is_limited else listed.parent_id,
        }
    )


def _redacted(entries: list[Message | Event]) -> list[Message | Event]:
    """Return entries without secrets: what is found in one is replaced in all."""
    return redact(Conversation(id="", source="", shape="list", timeline=entries)).item.timeline


def _messages(
    call: Call, listed: Listed, entries: list[Message | Event], start: int, target: str | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what is worth reading, with its position."""
    for position, entry in enumerate(_redacted(entries), start):
        if not isinstance(entry, Message) or (entry.hidden and entry.id != target):
            continue
        is_target = target is not None and entry.id.startswith(target)
        share, most = (_TARGET_SHARE, _MAX_TARGET_BYTES) if is_target else (_TEXT_SHARE, _MAX_TEXT_BYTES)
        full = _with_paths(call, listed, text_of(entry, max_output_chars=None))
        brief = _with_paths(call, listed, text_of(entry, max_output_chars=_MAX_OUTPUT_CHARS))
        brief = fit_text(brief, max(min(most, int(call.max_bytes * share)), 80))
        if not brief:
            continue
        item: dict[str, Any] = {"message": entry.id, "role": entry.role, "at": entry.at, "text": brief}
        if brief != full:
            item |= {"cut_at": position_of_cut(brief, full), "chars": len(full)}
        yield position, {name: value for name, value in item.items() if value is not None}


def _with_paths(call: Call, listed: Listed, text: str) -> str:
    return text if call.arguments.get("absolute_paths") else relative(text, listed.project)


def _rest(call: Call, listed: Listed, part: int, position: int) -> dict[str, Any]:
    """Return one message from a character on."""
    offset: int = call.arguments["offset"]
    entries = _redacted(call.journal.shown_entries(listed, part, position, 1).entries)
    data = _head(call, listed)
    items = []
    for entry in entries:
        full = _with_paths(call, listed, text_of(entry, max_output_chars=None))
        text = fit_text(full[offset:], int(call.max_bytes * 0.8))
        role = entry.role if isinstance(entry, Message) else "system"
        item: dict[str, Any] = {"message": entry.id, "role": role, "text": text, "offset": offset}
        if offset + len(text) < len(full):
            item |= {"cut_at": offset + len(text), "chars": len(full)}
        items.append(item)
    fitting(call, data, "messages", items)
    return data
