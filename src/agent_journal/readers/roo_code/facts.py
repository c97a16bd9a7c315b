"""What is known about a task beside what was said in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Link, Message, Summary, timestamps
from agent_journal.model.tree import plain_text, title_from
from agent_journal.readers.roo_code import request_costs, settings, subagents
from agent_journal.readers.roo_code.detect import ITEM, METADATA
from agent_journal.readers.roo_code.history import is_summary
from agent_journal.readers.roo_code.names import CLINE, KILO, ROO
from agent_journal.readers.roo_code.ui_messages import FIRST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.model import Bag, Event, Usage
    from agent_journal.notes import Notes
    from agent_journal.readers.roo_code.files import Files
    from agent_journal.readers.roo_code.ui_messages import Record

_CONDENSED = "say:condense_context"
# Records that only Cline shows.
_CLINES = ("say:task", "say:checkpoint_created", "say:task_progress", "say:deleted_api_reqs")


class Facts:
    """What the files beside the histories say; what nobody takes of them stays in `rest`."""

    def __init__(self, files: Files, note: Notes) -> None:
        self._files = files
        own = files.whole(ITEM)
        stated = own.get("id")
        self.task_id = stated if stated.__class__ is str and stated else files.task_id
        listed = {} if own or self.task_id is None else files.listed(self.task_id)
        self._has_own_item = bool(own)
        self.item = Fields(own or listed, files.note_of(ITEM), "")
        self.metadata = Fields(files.whole(METADATA), files.note_of(METADATA), "")
        self._modes = settings.custom_modes(files.source, note)
        self._instructions = settings.instructions(files.source, self._modes, note)
        # Only Cline writes down these, or lists its tasks in a file.
        self._is_clines = self.item.has("ulid") or self.item.has("cwdOnTaskInitialization")
        self.item.drop("id")
        self.task = self.item.text("task")
        self.folder = self.item.text("workspace") or self.item.text("cwdOnTaskInitialization")
        self.mode = self.item.text("mode")
        self.model = self.item.text("modelId")
        self.files_in_context = self.metadata.items("files_in_context")
        self.extension: str | None = None
        self.context_history: list[Any] = []
        self._seen: list[str] = []
        self._first_shown: str | None = None
        self._note = note

    def title(self, first: Message | None) -> str | None:
        """The first line of what the task is; where that is not all, the whole stays."""
        said = None if first is None else plain_text(first)
        title = title_from(filter(None, (self.task, self._first_shown, said)))
        if self.task is not None and title != self.task:
            self.item.keep("task", self.task)
        return title

    def learn(self, modes: list[str], folder: str | None, shown: Sequence[Record]) -> None:
        """Take in what the histories tell: the modes the task was in, its folder, who wrote it."""
        self._seen = modes
        self.folder = self.folder or folder
        self.extension = self._files.extension or self._by_structure(shown)
        self._first_shown = shown[0].text if shown and shown[0].name in FIRST else None

    def _by_structure(self, shown: Sequence[Record]) -> str | None:
        if any(
            "kiloCode" in data for record in shown if (data := record.data.get("metadata")).__class__ is dict
        ):
            return KILO
        files = self.files_in_context or ()
        is_clines = (
            self._is_clines
            or self.metadata.has("environment_history")
            or any(file.__class__ is dict and "cline_read_date" in file for file in files)
            or any(record.name in _CLINES for record in shown)
        )
        if is_clines:
            return CLINE
        return ROO if self._has_own_item else None

    def began_at(self) -> str | None:
        """When the task began, if its id is that moment."""
        return timestamps.from_epoch(int(self.task_id)) if self.task_id and _is_moment(self.task_id) else None

    def touched_at(self) -> str | None:
        """When the task was last gone on with."""
        return self.item.moment("ts")

    def environment(self) -> dict[str, str | None]:
        """What Cline says of the machine and the editor, as of last."""
        history = self.metadata.look("environment_history")
        last = history[-1] if history.__class__ is list and history else None
        if last.__class__ is not dict:
            return {}
        stated = Fields(dict(last), self._note, "environment_history")
        return {name: stated.text(name) for name in ("os_name", "host_name", "cline_version")}

    def models(self) -> list[tuple[int, str]]:
        """Which models were asked from which moments on, as Cline writes it down since April 2025."""
        told = self.metadata.look("model_usage")
        return [
            (ts, model)
            for one in (told if told.__class__ is list else ())
            if one.__class__ is dict
            and (ts := one.get("ts")).__class__ is int
            and (model := one.get("model_id")).__class__ is str
            and model
        ]

    def platform(self) -> Bag:
        """The extension and the modes: the one that the task is in, those it was in, those of the person."""
        seen = self._seen
        mode = self.mode or (seen[-1] if seen else None)
        own = [slug for known in self._modes if (slug := known.get("slug")).__class__ is str]
        stated = [known for known in [*seen, self.mode, *own] if known]
        bag: Bag = {
            "extension": self.extension,
            "mode": mode,
            "active_mode": mode,
            "available_modes": list(dict.fromkeys(stated)) or None,
            # A task that has its mode written down goes on in it when it is opened again.
            "mode_persistence": True if self.mode else None,
        }
        return {name: value for name, value in bag.items() if value is not None}

    def context(self) -> Bag:
        """Files that were looked at, and what the person has the model told in each mode."""
        bag: Bag = {}
        if self.files_in_context is not None:
            bag["files_in_context"] = self.files_in_context
        if self._modes:
            bag["custom_modes"] = self._modes
        if self._instructions:
            bag["custom_instructions"] = self._instructions
        return bag

    def total(self, key: str) -> Usage | None:
        """The sums of the task; they are kept as well."""
        stated = Fields(dict(self.item.rest()), self._note, "")
        # Whether they include what was cached is as unknown as it is of tasks before that was settled.
        usage = request_costs.total(stated, key, is_inclusive=False)
        return usage if usage is not None and (usage.input or usage.output or usage.cost_usd) else None

    def link(self) -> Link | None:
        """The task that this one is a part of, and the call that began it."""
        parent = self.item.text("parentTaskId")
        if not parent:
            return None
        calls = subagents.Calls()
        for _, record in self._files.of_parent(parent):
            calls.add(record)
        call = None if self.task_id is None else calls.naming(self.task_id)
        return subagents.link_to(parent, call or calls.beginning(self.task, None))

    def rest(self) -> Bag:
        """What nobody took, under the names of the files."""
        left = {
            "history_item": self.item.rest(),
            "task_metadata": self.metadata.rest(),
            "context_history": self.context_history,
        }
        return {name: value for name, value in left.items() if value}


def _is_moment(task_id: str) -> bool:
    return task_id.isascii() and task_id.isdigit() and len(task_id) == len("1771000000000")


def summaries(timeline: Sequence[Message | Event]) -> list[Summary]:
    """What stood in for all that was said before, when that became too much for the model."""
    # Both histories tell a summary; what is shown lacks what is put around it for the model.
    telling = [
        entry
        for entry in timeline
        if (_is_summary(entry) if entry.__class__ is Message else entry.name == _CONDENSED)  # type: ignore[union-attr] # it is an event
    ]
    if not telling:
        return []
    sent = [plain_text(entry) for entry in telling if entry.__class__ is Message]
    found: list[Summary] = []
    last: str | None = None
    for entry in timeline:
        text = None
        if not isinstance(entry, Message):
            text = _condensed(entry) if entry.name == _CONDENSED else None
            text = None if text is None or any(text in longer for longer in sent) else text
        elif _is_summary(entry):
            text = plain_text(entry)
        else:
            last = entry.id
        if text:
            found.append(Summary(text=text, kind="system", at=entry.at, message_id=last))
    return found


def _is_summary(message: Message) -> bool:
    return is_summary(message.extra.get)


def _condensed(event: Event) -> str | None:
    told = event.data.get("contextCondense")
    text = told.get("summary") if told.__class__ is dict else None
    return text if text.__class__ is str and text else None
