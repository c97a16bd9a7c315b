"""Tasks of Codex in the cloud, which exports since 2026 have in a file of their own: turns, without a graph.

Known from several open-source readers of such files of July 2026. Nothing in them has a time, but the ids do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.decoding.json_stream import values
from agent_journal.errors import UnreadableSource
from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Media,
    Message,
    Other,
    Text,
    ids,
    roles,
    timestamps,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.chatgpt.assets import media
from agent_journal.readers.chatgpt.names import ITEMS, SOURCE, has_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Part
    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.assets import Assets
    from agent_journal.readers.chatgpt.sidecars import Sidecars

JsonObject = dict[str, Any]
# `task_e_6a513f0f…~usertrn_e_6a513f0f…`: an id begins with the second in which it was created.
_CREATED = re.compile(r".*_e_([0-9a-f]{8})", re.DOTALL)
_EARLIEST_TASK_EPOCH = 1_735_689_600  # 2025: there were no such tasks before
_TEXT_FIELD_COUNT = 2  # its type and the text


def is_task(record: JsonObject) -> bool:
    """Whether a record is a task: it has turns, which have items."""
    return nonempty_str(record.get("id")) is not None and "mapping" not in record and has_turns(record)


def read_tasks(file: Input, companions: Sidecars, note: Notes) -> Iterator[Conversation]:
    """Yield the tasks of a file; the file of an account without tasks is empty."""
    about = note.about(file.label)
    try:
        for location, record in values(file, about):
            if record.__class__ is dict and is_task(record):
                yield read_task(record, location, companions, about)
            elif record:
                about(Kind.BAD_RECORD, location, "no task with turns")
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def read_task(record: JsonObject, location: str, companions: Sidecars, note: Notes) -> Conversation:
    """Read a task as a conversation."""
    fields = Fields(record, note, location)
    task_id = fields.take("id")
    turns = [*_turns(fields)]
    instructions = [text for turn in turns if (text := nonempty_str(turn.view("custom_instructions")))]
    branches = [name for turn in turns if (name := nonempty_str(turn.view("branch")))]
    timeline = [_message(turn, f"{task_id}:{index}", companions.assets) for index, turn in enumerate(turns)]
    started_at, updated_at = tree.span(timeline)
    return Conversation(
        id=task_id,
        source=SOURCE,
        title=fields.text("title"),
        started_at=started_at or _created_at(task_id),
        updated_at=updated_at,
        git_branch=branches[0] if branches else None,
        account_id=companions.account_id,
        archived=fields.flag("archived"),
        shape="list",
        timeline=[*timeline],
        platform={"product": "codex-cloud"},
        context={"custom_instructions": "\n\n".join(dict.fromkeys(instructions))} if instructions else {},
        extra=fields.rest(),
    )


def _turns(task: Fields) -> Iterator[Fields]:
    for index, turn in enumerate(task.take("turns")):
        location = f"{task.where} turns[{index}]"
        if turn.__class__ is dict:
            yield Fields(turn, task.note, location)
        else:
            task.note(Kind.BAD_RECORD, location, f"the turn is {type(turn).__name__}, not an object")


def _message(turn: Fields, id_base: str, assets: Assets) -> Message:
    stated = turn.text("id") or None
    role = roles.role(turn.view("role"))
    if role is None:
        turn.note(Kind.UNKNOWN_ROLE, turn.where, f"role {str(turn.view('role'))[:40]!r}")
    else:
        turn.drop("role")
    raw = [item for name in ITEMS for item in turn.items(name) or ()]
    return Message(
        id=stated or ids.uuid5(id_base),
        made_id=stated is None,
        role=role or "assistant",
        at=_created_at(stated or ""),
        stop_reason=turn.text("turn_status"),
        parts=[part for item in raw for part in _parts(item, turn, assets)],
        extra=turn.rest(),
    )


def _created_at(id_: str) -> str | None:
    """Get the time in an id."""
    match = _CREATED.match(id_)
    second = int(match[1], 16) if match else 0
    return timestamps.from_epoch(second) if second >= _EARLIEST_TASK_EPOCH else None


def _parts(item: Any, turn: Fields, assets: Assets) -> list[Part]:
    """Convert an item of a turn to parts; context of a prompt becomes a part of an unknown kind."""
    kind = item.get("type") if item.__class__ is dict else None
    if item.__class__ is dict:
        fields = Fields(dict(item), turn.note, turn.where)
        if kind in ("message", None) and fields.view("content").__class__ is list:
            return _message_parts(fields, assets)
        if kind == "partial_repo_snapshot" and fields.view("files").__class__ is list:
            files = [part for file in fields.take("files") for part in _file(file, turn)]
            rest = fields.rest()
            return files if len(rest) == 1 else [*files, Other(data=rest, name=kind)]
        if kind == "pr":
            return _pull_request_parts(fields)
    if kind not in _CONTEXT_KINDS:
        turn.note(Kind.UNKNOWN_TYPE, turn.where, f"item {str(kind)[:40]!r}")
    return [Other(data=item, name=nonempty_str(kind))]


_CONTEXT_KINDS = ("pull_request_info", "ide_context", "prior_conversation")


def _message_parts(item: Fields, assets: Assets) -> list[Part]:
    """Convert text, which comes in pieces with citations in between, and images."""
    pieces: list[str] = []
    citations: list[Citation] = []
    others: list[Part] = []
    length = 0
    item.drop("type", "role")
    for raw in item.take("content"):
        kind = raw.get("content_type") if raw.__class__ is dict else None
        if kind == "text" and raw.get("text").__class__ is str and len(raw) == _TEXT_FIELD_COUNT:
            pieces.append(raw["text"])
            length += len(pieces[-1])
        elif kind == "image_asset_pointer_citation":
            others.append(media("image", Fields(dict(raw), item.note, item.where), assets, None))
        elif kind.__class__ is str and kind.endswith("_citation"):
            remaining = {name: value for name, value in raw.items() if name != "path"}
            citations.append(
                Citation(title=nonempty_str(raw.get("path")), start=length, end=length, extra=remaining)
            )
        else:
            others.append(_other(raw, item))
    text, rest = "".join(pieces), item.rest()
    texts = [Text(text=text, citations=citations, extra=rest)] if text or citations or rest else []
    return [*texts, *others]


def _other(raw: Any, item: Fields) -> Part:
    """Convert a piece that is not only text."""
    kind = raw.get("content_type") if raw.__class__ is dict else None
    if kind == "text" and raw.get("text").__class__ is str:
        remaining = {name: value for name, value in raw.items() if name not in ("content_type", "text")}
        return Text(text=raw["text"], extra=remaining)
    if raw.__class__ is str:
        return Text(text=raw)
    item.note(Kind.UNKNOWN_TYPE, item.where, f"part {str(kind)[:40]!r}")
    return Other(data=raw, name=nonempty_str(kind))


def _file(raw: Any, turn: Fields) -> Iterator[Part]:
    """Convert a file that an answer refers to: its contents, and its line ranges."""
    if raw.__class__ is not dict:
        yield Other(data=raw)
        return
    file = Fields(dict(raw), turn.note, turn.where)
    name, contents = file.text("path"), file.text("contents")
    ranges = [*objects(file.view("line_range_contents"))]
    if all(_is_lines(line_range.get("content")) for line_range in ranges):
        file.drop("line_range_contents")
    else:
        ranges = []
    rest = {key: value for key, value in file.rest().items() if value is not None}
    if contents is not None or rest or not ranges:
        yield Media(kind="document", name=name, text=contents, extra=rest)
    for line_range in ranges:
        remaining = {key: value for key, value in line_range.items() if key != "content"}
        yield Media(kind="document", name=name, text="\n".join(line_range["content"]), extra=remaining)


def _is_lines(content: Any) -> bool:
    return content.__class__ is list and all(line.__class__ is str for line in content)


def _pull_request_parts(fields: Fields) -> list[Part]:
    """Convert a pull request: its description, and the diff if there is one."""
    title, message = fields.text("pr_title"), fields.text("pr_message")
    output = fields.view("output_diff")
    diff = nonempty_str(output.get("diff")) if output.__class__ is dict else None
    if diff is not None:
        fields.keep("output_diff", {name: value for name, value in output.items() if name != "diff"})
    description = Text(text="\n\n".join(filter(None, (title, message))), extra=fields.rest())
    return [description] if diff is None else [description, Code(code=diff, language="diff")]
