"""Tasks of Codex in the cloud, which exports since 2026 have in a file of their own: turns, without a graph.

Known from several open readers of such files of July 2026; nothing in them has a time but the ids do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, objects, words
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

    from agent_journal.inputs.input import Source
    from agent_journal.model import Part
    from agent_journal.notes import Notes
    from agent_journal.readers.chatgpt.assets import Assets
    from agent_journal.readers.chatgpt.sidecars import Sidecars

Bag = dict[str, Any]
# `task_e_6a513f0f…~usertrn_e_6a513f0f…`: an id begins with the second in which it was made.
_SECOND = re.compile(r".*_e_([0-9a-f]{8})", re.DOTALL)
_EARLIEST = 1_735_689_600  # 2025: before, there was no such task
_ONLY_TEXT = 2  # its type and the text


def is_task(record: Bag) -> bool:
    """Whether a record is a task: it has turns, which have items."""
    return words(record.get("id")) is not None and "mapping" not in record and has_turns(record)


def read_tasks(file: Source, beside: Sidecars, note: Notes) -> Iterator[Conversation]:
    """The tasks of a file; an account without any has an empty one."""
    about = note.about(file.label)
    try:
        for place, record in values(file, about):
            if record.__class__ is dict and is_task(record):
                yield read_task(record, place, beside, about)
            elif record:
                about(Kind.BAD_RECORD, place, "no task with turns")
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def read_task(record: Bag, place: str, beside: Sidecars, note: Notes) -> Conversation:
    """The conversation that a task is."""
    fields = Fields(record, note, place)
    task_id = fields.take("id")
    turns = [*_turns(fields)]
    told = [text for turn in turns if (text := words(turn.look("custom_instructions")))]
    branches = [name for turn in turns if (name := words(turn.look("branch")))]
    timeline = [_message(turn, f"{task_id}:{index}", beside.assets) for index, turn in enumerate(turns)]
    started_at, updated_at = tree.span(timeline)
    return Conversation(
        id=task_id,
        source=SOURCE,
        title=fields.text("title"),
        started_at=started_at or _moment(task_id),
        updated_at=updated_at,
        git_branch=branches[0] if branches else None,
        account_id=beside.account_id,
        archived=fields.flag("archived"),
        shape="list",
        timeline=[*timeline],
        platform={"product": "codex-cloud"},
        context={"custom_instructions": "\n\n".join(dict.fromkeys(told))} if told else {},
        extra=fields.rest(),
    )


def _turns(task: Fields) -> Iterator[Fields]:
    for index, turn in enumerate(task.take("turns")):
        where = f"{task.where} turns[{index}]"
        if turn.__class__ is dict:
            yield Fields(turn, task.note, where)
        else:
            task.note(Kind.BAD_RECORD, where, f"it is {type(turn).__name__}, not an object")


def _message(turn: Fields, place: str, assets: Assets) -> Message:
    stated = turn.text("id") or None
    role = roles.role(turn.look("role"))
    if role is None:
        turn.note(Kind.UNKNOWN_ROLE, turn.where, f"role {str(turn.look('role'))[:40]!r}")
    else:
        turn.drop("role")
    raw = [item for name in ITEMS for item in turn.items(name) or ()]
    return Message(
        id=stated or ids.uuid5(place),
        made_id=stated is None,
        role=role or "assistant",
        at=_moment(stated or ""),
        stop_reason=turn.text("turn_status"),
        parts=[part for item in raw for part in _parts(item, turn, assets)],
        extra=turn.rest(),
    )


def _moment(made_id: str) -> str | None:
    """When an id was made."""
    found = _SECOND.match(made_id)
    second = int(found[1], 16) if found else 0
    return timestamps.from_epoch(second) if second >= _EARLIEST else None


def _parts(item: Any, turn: Fields, assets: Assets) -> list[Part]:
    """What an item of a turn says; what was given along with a prompt has no part of its own."""
    kind = item.get("type") if item.__class__ is dict else None
    if item.__class__ is dict:
        fields = Fields(dict(item), turn.note, turn.where)
        if kind in ("message", None) and fields.look("content").__class__ is list:
            return _said(fields, assets)
        if kind == "partial_repo_snapshot" and fields.look("files").__class__ is list:
            files = [part for file in fields.take("files") for part in _file(file, turn)]
            rest = fields.rest()
            return files if len(rest) == 1 else [*files, Other(data=rest, name=kind)]
        if kind == "pr":
            return _proposed(fields)
    if kind not in _GIVEN:
        turn.note(Kind.UNKNOWN_TYPE, turn.where, f"item {str(kind)[:40]!r}")
    return [Other(data=item, name=words(kind))]


_GIVEN = ("pull_request_info", "ide_context", "prior_conversation")


def _said(item: Fields, assets: Assets) -> list[Part]:
    """Prose that came in pieces, between which it is told what each refers to; and pictures."""
    pieces: list[str] = []
    cited: list[Citation] = []
    others: list[Part] = []
    length = 0
    item.drop("type", "role")
    for raw in item.take("content"):
        kind = raw.get("content_type") if raw.__class__ is dict else None
        if kind == "text" and raw.get("text").__class__ is str and len(raw) == _ONLY_TEXT:
            pieces.append(raw["text"])
            length += len(pieces[-1])
        elif kind == "image_asset_pointer_citation":
            others.append(media("image", Fields(dict(raw), item.note, item.where), assets, None))
        elif kind.__class__ is str and kind.endswith("_citation"):
            left = {name: value for name, value in raw.items() if name != "path"}
            cited.append(Citation(title=words(raw.get("path")), start=length, end=length, extra=left))
        else:
            others.append(_other(raw, item))
    text, rest = "".join(pieces), item.rest()
    said = [Text(text=text, citations=cited, extra=rest)] if text or cited or rest else []
    return [*said, *others]


def _other(raw: Any, item: Fields) -> Part:
    """A piece that is more than text, or something else."""
    kind = raw.get("content_type") if raw.__class__ is dict else None
    if kind == "text" and raw.get("text").__class__ is str:
        left = {name: value for name, value in raw.items() if name not in ("content_type", "text")}
        return Text(text=raw["text"], extra=left)
    if raw.__class__ is str:
        return Text(text=raw)
    item.note(Kind.UNKNOWN_TYPE, item.where, f"part {str(kind)[:40]!r}")
    return Other(data=raw, name=words(kind))


def _file(raw: Any, turn: Fields) -> Iterator[Part]:
    """A file that an answer refers to: the stretches of it that are there, each with its lines."""
    if raw.__class__ is not dict:
        yield Other(data=raw)
        return
    file = Fields(dict(raw), turn.note, turn.where)
    name, whole = file.text("path"), file.text("contents")
    stretches = [*objects(file.look("line_range_contents"))]
    if all(_is_lines(stretch.get("content")) for stretch in stretches):
        file.drop("line_range_contents")
    else:
        stretches = []
    rest = {key: value for key, value in file.rest().items() if value is not None}
    if whole is not None or rest or not stretches:
        yield Media(kind="document", name=name, text=whole, extra=rest)
    for stretch in stretches:
        left = {key: value for key, value in stretch.items() if key != "content"}
        yield Media(kind="document", name=name, text="\n".join(stretch["content"]), extra=left)


def _is_lines(content: Any) -> bool:
    return content.__class__ is list and all(line.__class__ is str for line in content)


def _proposed(fields: Fields) -> list[Part]:
    """A change that the answer proposes: how it is described, and the change if it is there."""
    title, message = fields.text("pr_title"), fields.text("pr_message")
    made = fields.look("output_diff")
    diff = words(made.get("diff")) if made.__class__ is dict else None
    if diff is not None:
        fields.keep("output_diff", {name: value for name, value in made.items() if name != "diff"})
    described = Text(text="\n\n".join(filter(None, (title, message))), extra=fields.rest())
    return [described] if diff is None else [described, Code(code=diff, language="diff")]
