"""Read a session: its requests become the timeline of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Event, ids
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import companions, locations
from agent_journal.readers.vscode_copilot.oplog import Replay
from agent_journal.readers.vscode_copilot.request import read_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Feedback, Message, Summary
    from agent_journal.notes import Notes

EDITOR = "vscode"
# Facts in the editor's context for the model: the element, the text before the fact, and the text after it.
_BRANCH = ("repoContext", "Current branch: ", "\n")
_SYSTEM = ("environment_info", "The user's current OS is: ", "\n")
_SHELL = ("environment_info", "The user's default shell is: \"", '"')
_FOLDER = ("workspace_info", "I am working in a workspace with the following folders:\n- ", "\n")

RemovedRequests = list[tuple[int, list[Any]]]


def has_duplicate(source: Input, note: Notes) -> bool:
    """Whether another file has the same session and is read instead of this one."""
    duplicate = companions.find_duplicate(source)
    if duplicate is None:
        return False
    note(Kind.IGNORED_FILE, "", f"{companions.short_name(duplicate)} has the same session")
    return True


def read_log(source: Input, note: Notes, name: str) -> Conversation:
    """Read the conversation from a log of operations."""
    replay = Replay(note)
    replay.read(source)
    if replay.state is None:
        raise UnreadableSource(source.label, "it contains no operation on a session")
    return make_conversation(replay.state, source, note, name, replay.removed_requests)


def read_document(source: Input, note: Notes, name: str) -> Conversation:
    """Read the conversation from one object; from a damaged one, the members that can be read."""
    session = json_stream.load(source, note)
    if not isinstance(session, dict):
        session = _salvage(source, note)
    if not session:
        raise UnreadableSource(source.label, "it is not a session")
    return make_conversation(session, source, note, name, [])


def _salvage(source: Input, note: Notes) -> Bag:
    session: Bag = {}
    for key, index, value in json_stream.members(source, note):
        if index is None:
            session[key] = value
        else:
            session.setdefault(key, []).append(value)
    return session


def make_conversation(
    state: Bag, source: Input, note: Notes, name: str, removed_requests: RemovedRequests
) -> Conversation:
    """Make the conversation of a session, with its companion files."""
    fields = Fields(state, note, "")
    timeline = Timeline(_requests(fields, removed_requests), note)
    stated = fields.text("sessionId") or companions.id_by_name(source)
    session_id = stated or ids.made(name, timeline.first_id or source.name)
    if stated is None:
        note(Kind.MISSING_ID, "", "an export does not name its session")
    index_entry = companions.load_index_entry(source, session_id, note)
    workspace = companions.load_workspace(source, note)
    repository = fields.view("repoData") if isinstance(fields.view("repoData"), dict) else {}
    custom, computed = fields.text("customTitle"), fields.text("computedTitle")
    return Conversation(
        id=session_id,
        made_id=stated is None,
        source=name,
        title=_text(index_entry, "title") or custom or computed,
        started_at=fields.timestamp("creationDate") or timeline.first_at,
        updated_at=fields.timestamp("lastMessageDate") or timeline.last_at,
        app_version=timeline.app_version,
        model=timeline.model,
        cwd=_cwd(fields, index_entry, workspace) or timeline.find_fact(_FOLDER),
        git_branch=_text(repository, "localBranch") or timeline.find_fact(_BRANCH),
        git_commit=_text(repository, "localHeadCommit"),
        account_id=fields.text("requesterUsername"),
        editor=EDITOR,
        os=timeline.find_fact(_SYSTEM),
        shell=timeline.find_fact(_SHELL),
        shape="list",
        timeline=timeline.entries,
        summaries=timeline.summaries,
        feedback=timeline.feedback,
        context={key: value for key, value in (("workspace", workspace), ("index", index_entry)) if value},
        extra=fields.rest() | _unused_titles(index_entry, custom, computed),
    )


class Timeline:
    """The messages of all requests, and the facts about the session in them."""

    def __init__(self, requests: Iterator[tuple[str, Any, bool]], note: Notes) -> None:
        self.entries: list[Message | Event] = []
        self.feedback: list[Feedback] = []
        self.summaries: list[Summary] = []
        self.app_version: str | None = None
        self.model: str | None = None
        self._rendered: list[str] = []
        self._ids: set[str] = set()
        self._note = note
        uncounted = 0
        for where, raw, is_removed in requests:
            if raw.__class__ is dict:
                uncounted += self._add(raw, where, is_removed=is_removed)
            else:
                note(Kind.UNKNOWN_TYPE, where, f"a request is {type(raw).__name__}")
                self.entries.append(
                    Event(id=ids.made(where), made_id=True, name="unknown", data={"value": raw})
                )
        if uncounted:
            note(Kind.PARTIAL_USAGE, "", f"prompts without token counts: {uncounted}")

    def _add(self, raw: Bag, where: str, *, is_removed: bool) -> int:
        prompt, response = read_turn(raw, self._note, where, is_removed=is_removed)
        for message in (prompt, *response.messages):
            is_used = message.id in self._ids
            self.entries.append(self._with_new_id(message, where) if is_used else message)
            self._ids.add(self.entries[-1].id)
        self.feedback += response.feedback
        self.summaries += response.summaries
        self.app_version = self.app_version or response.app_version
        self.model = self.model or response.model
        if response.rendered:
            self._rendered.append(response.rendered)
        return response.uncounted_prompts

    def _with_new_id(self, message: Message, where: str) -> Message:
        """Return a message with a new id, since another one has its id."""
        self._note(Kind.DUPLICATE_ID, where, message.id[:80])
        extra = message.extra | {"id": message.id}
        return replace(message, id=ids.made(message.id, len(self.entries)), made_id=True, extra=extra)

    @property
    def first_id(self) -> str | None:
        """The id of the first prompt."""
        return self.entries[0].id if self.entries else None

    @property
    def first_at(self) -> str | None:
        """The time of the first entry that has one."""
        return next((entry.at for entry in self.entries if entry.at), None)

    @property
    def last_at(self) -> str | None:
        """The time of the last entry that has one."""
        return next((entry.at for entry in reversed(self.entries) if entry.at), None)

    def find_fact(self, pattern: tuple[str, str, str]) -> str | None:
        """Return the first occurrence of a fact in the editor's context for the model."""
        element, prefix, end = pattern
        elements = (_between(text, f"<{element}>", f"</{element}>") for text in self._rendered)
        values = (_between(text, prefix, end).strip() for text in elements)
        return next(filter(None, values), None)


def _between(text: str, start: str, end: str) -> str:
    """Return the text between two others, or up to the end; empty if the first does not occur."""
    return text.partition(start)[2].partition(end)[0]


def _requests(fields: Fields, removed_requests: RemovedRequests) -> Iterator[tuple[str, Any, bool]]:
    """Yield location and value of each request, and whether the user removed it."""
    requests = fields.items("requests") or []
    known = {key for request in requests if (key := _id_of(request)) is not None}
    removed_at: dict[int, list[Any]] = {}
    for index, removed in removed_requests:
        for request in removed:
            key = _id_of(request)
            if key is not None and key not in known:
                known.add(key)
                removed_at.setdefault(min(index, len(requests)), []).append(request)
    for index in range(len(requests) + 1):
        for request in removed_at.get(index, ()):
            yield f"requests[{index}], taken back", request, True
        if index < len(requests):
            yield f"requests[{index}]", requests[index], False


def _id_of(request: Any) -> str | None:
    return _text(request, "requestId") if isinstance(request, dict) else None


def _cwd(fields: Fields, index_entry: Bag, workspace: Bag) -> str | None:
    """Return the folder of the session if it has its own, else that of the window."""
    for folder in (fields.view("workingDirectory"), index_entry.get("workingDirectory")):
        path = locations.remote_path_of(folder) if isinstance(folder, str) else locations.path_of(folder)
        if path:
            return path
    return companions.workspace_folder(workspace)


def _unused_titles(index_entry: Bag, custom: str | None, computed: str | None) -> Bag:
    """Return the titles other than the used one."""
    used = _text(index_entry, "title") or custom or computed
    titles = {"customTitle": custom, "computedTitle": computed}
    return {name: title for name, title in titles.items() if title is not None and title != used}


def _text(bag: Bag, name: str) -> str | None:
    value = bag.get(name)
    return value if isinstance(value, str) and value else None
