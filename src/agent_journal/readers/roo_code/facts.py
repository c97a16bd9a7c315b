"""Everything known about a task other than its messages."""

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
# UI records that only Cline writes.
_CLINE_RECORDS = ("say:task", "say:checkpoint_created", "say:task_progress", "say:deleted_api_reqs")


class Facts:
    """The contents of the files next to the histories; `rest` returns the fields that no property covers."""

    def __init__(self, files: Files, note: Notes) -> None:
        self._files = files
        own_item = files.load_object(ITEM)
        stated = own_item.get("id")
        self.task_id = stated if stated.__class__ is str and stated else files.task_id
        index_entry = {} if own_item or self.task_id is None else files.load_index_entry(self.task_id)
        self._has_own_item = bool(own_item)
        self.item = Fields(own_item or index_entry, files.note_of(ITEM), "")
        self.metadata = Fields(files.load_object(METADATA), files.note_of(METADATA), "")
        self._modes = settings.custom_modes(files.source, note)
        self._instructions = settings.instructions(files.source, self._modes, note)
        # Only Cline writes these fields.
        self._is_cline_item = self.item.has("ulid") or self.item.has("cwdOnTaskInitialization")
        self.item.drop("id")
        self.task = self.item.text("task")
        self.folder = self.item.text("workspace") or self.item.text("cwdOnTaskInitialization")
        self.mode = self.item.text("mode")
        self.model = self.item.text("modelId")
        self.files_in_context = self.metadata.items("files_in_context")
        self.extension: str | None = None
        self.context_history: list[Any] = []
        self._history_modes: list[str] = []
        self._first_ui_text: str | None = None
        self._note = note

    def title(self, first: Message | None) -> str | None:
        """Return the first line of the task; if the task has more text, all of it stays in `rest`."""
        first_text = None if first is None else plain_text(first)
        title = title_from(filter(None, (self.task, self._first_ui_text, first_text)))
        if self.task is not None and title != self.task:
            self.item.keep("task", self.task)
        return title

    def add_history_facts(self, modes: list[str], folder: str | None, ui_records: Sequence[Record]) -> None:
        """Add what the histories state: the modes of the task, its folder, and the extension."""
        self._history_modes = modes
        self.folder = self.folder or folder
        self.extension = self._files.extension or self._extension_from_records(ui_records)
        self._first_ui_text = ui_records[0].text if ui_records and ui_records[0].name in FIRST else None

    def _extension_from_records(self, ui_records: Sequence[Record]) -> str | None:
        if any(
            "kiloCode" in data
            for record in ui_records
            if (data := record.data.get("metadata")).__class__ is dict
        ):
            return KILO
        files = self.files_in_context or ()
        is_cline = (
            self._is_cline_item
            or self.metadata.has("environment_history")
            or any(file.__class__ is dict and "cline_read_date" in file for file in files)
            or any(record.name in _CLINE_RECORDS for record in ui_records)
        )
        if is_cline:
            return CLINE
        return ROO if self._has_own_item else None

    def started_at(self) -> str | None:
        """Return when the task started, if its id is a timestamp."""
        return (
            timestamps.from_epoch(int(self.task_id)) if self.task_id and _is_epoch_ms(self.task_id) else None
        )

    def updated_at(self) -> str | None:
        """Return when the task was last continued."""
        return self.item.timestamp("ts")

    def environment(self) -> dict[str, str | None]:
        """Return the operating system, editor and version of Cline, as last recorded."""
        history = self.metadata.view("environment_history")
        last = history[-1] if history.__class__ is list and history else None
        if last.__class__ is not dict:
            return {}
        fields = Fields(dict(last), self._note, "environment_history")
        return {name: fields.text(name) for name in ("os_name", "host_name", "cline_version")}

    def models(self) -> list[tuple[int, str]]:
        """Return each timestamp at which a model came into use; Cline records them since April 2025."""
        model_usage = self.metadata.view("model_usage")
        return [
            (ts, model)
            for entry in (model_usage if model_usage.__class__ is list else ())
            if entry.__class__ is dict
            and (ts := entry.get("ts")).__class__ is int
            and (model := entry.get("model_id")).__class__ is str
            and model
        ]

    def platform(self) -> Bag:
        """Return the extension, the current mode, and all modes: used, current and defined by the user."""
        used = self._history_modes
        mode = self.mode or (used[-1] if used else None)
        custom = [slug for definition in self._modes if (slug := definition.get("slug")).__class__ is str]
        available = [known for known in [*used, self.mode, *custom] if known]
        bag: Bag = {
            "extension": self.extension,
            "mode": mode,
            "active_mode": mode,
            "available_modes": list(dict.fromkeys(available)) or None,
            # A task that records its mode continues in it when it is reopened.
            "mode_persistence": True if self.mode else None,
        }
        return {name: value for name, value in bag.items() if value is not None}

    def context(self) -> Bag:
        """Return the files in context and the user's instructions for the model in each mode."""
        bag: Bag = {}
        if self.files_in_context is not None:
            bag["files_in_context"] = self.files_in_context
        if self._modes:
            bag["custom_modes"] = self._modes
        if self._instructions:
            bag["custom_instructions"] = self._instructions
        return bag

    def usage(self, key: str) -> Usage | None:
        """Return the total usage of the task; its fields also stay in `rest`."""
        item = Fields(dict(self.item.rest()), self._note, "")
        # As for tasks before Roo Code 3.30, it is unknown whether the input includes cached tokens.
        usage = request_costs.task_usage(item, key, is_cache_in_input=False)
        return usage if usage is not None and (usage.input or usage.output or usage.cost_usd) else None

    def link(self) -> Link | None:
        """Return the link to the parent task and the call that started this one."""
        parent = self.item.text("parentTaskId")
        if not parent:
            return None
        calls = subagents.Calls()
        for _, record in self._files.parent_history(parent):
            calls.add(record)
        call = None if self.task_id is None else calls.find_by_agent_id(self.task_id)
        return subagents.link_to(parent, call or calls.find_by_task(self.task, None))

    def rest(self) -> Bag:
        """Return the remaining fields under the names of their files."""
        by_file = {
            "history_item": self.item.rest(),
            "task_metadata": self.metadata.rest(),
            "context_history": self.context_history,
        }
        return {name: value for name, value in by_file.items() if value}


def _is_epoch_ms(task_id: str) -> bool:
    return task_id.isascii() and task_id.isdigit() and len(task_id) == len("1771000000000")


def summaries(timeline: Sequence[Message | Event]) -> list[Summary]:
    """Return the summaries that replaced earlier messages when those exceeded the model's context."""
    # Both histories contain a summary; the UI record lacks the text put around it for the model.
    with_summary = [
        entry
        for entry in timeline
        if (_is_summary(entry) if entry.__class__ is Message else entry.name == _CONDENSED)  # type: ignore[union-attr] # it is an event
    ]
    if not with_summary:
        return []
    sent = [plain_text(entry) for entry in with_summary if entry.__class__ is Message]
    result: list[Summary] = []
    last_id: str | None = None
    for entry in timeline:
        text = None
        if not isinstance(entry, Message):
            text = _condensed_text(entry) if entry.name == _CONDENSED else None
            text = None if text is None or any(text in longer for longer in sent) else text
        elif _is_summary(entry):
            text = plain_text(entry)
        else:
            last_id = entry.id
        if text:
            result.append(Summary(text=text, kind="system", at=entry.at, message_id=last_id))
    return result


def _is_summary(message: Message) -> bool:
    return is_summary(message.extra.get)


def _condensed_text(event: Event) -> str | None:
    condensed = event.data.get("contextCondense")
    text = condensed.get("summary") if condensed.__class__ is dict else None
    return text if text.__class__ is str and text else None
