"""A whole session: its requests become a timeline, and the conversation they are is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Event, ids
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import companions, places
from agent_journal.readers.vscode_copilot.oplog import Replay
from agent_journal.readers.vscode_copilot.request import turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Feedback, Message, Summary
    from agent_journal.notes import Notes

EDITOR = "vscode"
# What the editor tells the model with each prompt: in which element, behind which words, up to what.
_BRANCH = ("repoContext", "Current branch: ", "\n")
_SYSTEM = ("environment_info", "The user's current OS is: ", "\n")
_SHELL = ("environment_info", "The user's default shell is: \"", '"')
_FOLDER = ("workspace_info", "I am working in a workspace with the following folders:\n- ", "\n")

TakenBack = list[tuple[int, list[Any]]]


def has_twin(source: Source, note: Notes) -> bool:
    """Whether another file has the same session, and counts instead of this one."""
    twin = companions.twin(source)
    if twin is None:
        return False
    note(Kind.IGNORED_FILE, "", f"{companions.short_name(twin)} has the same session")
    return True


def from_log(source: Source, note: Notes, name: str) -> Conversation:
    """The conversation that a log of operations comes to."""
    replay = Replay(note)
    replay.read(source)
    if replay.state is None:
        raise UnreadableSource(source.label, "no line in it is an operation on a session")
    return conversation(replay.state, source, note, name, replay.taken_back)


def from_document(source: Source, note: Notes, name: str) -> Conversation:
    """The conversation that one object is; of a damaged one, what is left."""
    whole = json_stream.load(source, note)
    if not isinstance(whole, dict):
        whole = _salvaged(source, note)
    if not whole:
        raise UnreadableSource(source.label, "it is no session")
    return conversation(whole, source, note, name, [])


def _salvaged(source: Source, note: Notes) -> Bag:
    whole: Bag = {}
    for key, place, value in json_stream.members(source, note):
        if place is None:
            whole[key] = value
        else:
            whole.setdefault(key, []).append(value)
    return whole


def conversation(state: Bag, source: Source, note: Notes, name: str, taken_back: TakenBack) -> Conversation:
    """The conversation of a session, with what lies beside it."""
    fields = Fields(state, note, "")
    story = Story(_requests(fields, taken_back), note)
    stated = fields.text("sessionId") or companions.id_by_name(source)
    session_id = stated or ids.made(name, story.first_id or source.name)
    if stated is None:
        note(Kind.MISSING_ID, "", "an export does not name its session")
    entry = companions.index_entry(source, session_id, note)
    around = companions.workspace(source, note)
    repository = fields.look("repoData") if isinstance(fields.look("repoData"), dict) else {}
    custom, computed = fields.text("customTitle"), fields.text("computedTitle")
    return Conversation(
        id=session_id,
        made_id=stated is None,
        source=name,
        title=_text(entry, "title") or custom or computed,
        started_at=fields.moment("creationDate") or story.first_at,
        updated_at=fields.moment("lastMessageDate") or story.last_at,
        app_version=story.app_version,
        model=story.model,
        cwd=_cwd(fields, entry, around) or story.told(_FOLDER),
        git_branch=_text(repository, "localBranch") or story.told(_BRANCH),
        git_commit=_text(repository, "localHeadCommit"),
        account_id=fields.text("requesterUsername"),
        editor=EDITOR,
        os=story.told(_SYSTEM),
        shell=story.told(_SHELL),
        shape="list",
        timeline=story.timeline,
        summaries=story.summaries,
        feedback=story.feedback,
        context={key: value for key, value in (("workspace", around), ("index", entry)) if value},
        extra=fields.rest() | _titles_unused(entry, custom, computed),
    )


class Story:
    """The messages of all requests, and what these say about the whole."""

    def __init__(self, requests: Iterator[tuple[str, Any, bool]], note: Notes) -> None:
        self.timeline: list[Message | Event] = []
        self.feedback: list[Feedback] = []
        self.summaries: list[Summary] = []
        self.app_version: str | None = None
        self.model: str | None = None
        self._rendered: list[str] = []
        self._known: set[str] = set()
        self._note = note
        uncounted = 0
        for where, raw, taken_back in requests:
            if raw.__class__ is dict:
                uncounted += self._add(raw, where, taken_back=taken_back)
            else:
                note(Kind.UNKNOWN_TYPE, where, f"a request is {type(raw).__name__}")
                self.timeline.append(
                    Event(id=ids.made(where), made_id=True, name="unknown", data={"value": raw})
                )
        if uncounted:
            note(Kind.PARTIAL_USAGE, "", f"prompts whose size is not told: {uncounted}")

    def _add(self, raw: Bag, where: str, *, taken_back: bool) -> int:
        asked, response = turn(raw, self._note, where, taken_back=taken_back)
        for message in (asked, *response.messages):
            known = message.id in self._known
            self.timeline.append(self._renamed(message, where) if known else message)
            self._known.add(self.timeline[-1].id)
        self.feedback += response.feedback
        self.summaries += response.summaries
        self.app_version = self.app_version or response.app_version
        self.model = self.model or response.model
        if response.rendered:
            self._rendered.append(response.rendered)
        return response.uncounted_prompts

    def _renamed(self, message: Message, where: str) -> Message:
        """A message whose id another one has, with one of its own."""
        self._note(Kind.DUPLICATE_ID, where, message.id[:80])
        extra = message.extra | {"id": message.id}
        return replace(message, id=ids.made(message.id, len(self.timeline)), made_id=True, extra=extra)

    @property
    def first_id(self) -> str | None:
        """The id of the first prompt."""
        return self.timeline[0].id if self.timeline else None

    @property
    def first_at(self) -> str | None:
        """When the first thing was said."""
        return next((entry.at for entry in self.timeline if entry.at), None)

    @property
    def last_at(self) -> str | None:
        """When the last thing was said."""
        return next((entry.at for entry in reversed(self.timeline) if entry.at), None)

    def told(self, words: tuple[str, str, str]) -> str | None:
        """What the model was first told in these words."""
        element, before, behind = words
        elements = (_between(text, f"<{element}>", f"</{element}>") for text in self._rendered)
        found = (_between(text, before, behind).strip() for text in elements)
        return next(filter(None, found), None)


def _between(text: str, before: str, behind: str) -> str:
    """What stands between two texts, or up to the end; nothing if the first is not there."""
    return text.partition(before)[2].partition(behind)[0]


def _requests(fields: Fields, taken_back: TakenBack) -> Iterator[tuple[str, Any, bool]]:
    """Place and value of each request, and whether the person took it back: it then stands where it was."""
    requests = fields.items("requests") or []
    known = {key for request in requests if (key := _id_of(request)) is not None}
    gone: dict[int, list[Any]] = {}
    for place, removed in taken_back:
        for request in removed:
            key = _id_of(request)
            if key is not None and key not in known:
                known.add(key)
                gone.setdefault(min(place, len(requests)), []).append(request)
    for place in range(len(requests) + 1):
        for request in gone.get(place, ()):
            yield f"requests[{place}], taken back", request, True
        if place < len(requests):
            yield f"requests[{place}]", requests[place], False


def _id_of(request: Any) -> str | None:
    return _text(request, "requestId") if isinstance(request, dict) else None


def _cwd(fields: Fields, entry: Bag, around: Bag) -> str | None:
    """The folder of the session if it has its own, else that of the window."""
    for said in (fields.look("workingDirectory"), entry.get("workingDirectory")):
        path = places.remote_path_of(said) if isinstance(said, str) else places.path_of(said)
        if path:
            return path
    return companions.folder_of(around)


def _titles_unused(entry: Bag, custom: str | None, computed: str | None) -> Bag:
    """Titles that another one went before."""
    used = _text(entry, "title") or custom or computed
    titles = {"customTitle": custom, "computedTitle": computed}
    return {name: title for name, title in titles.items() if title is not None and title != used}


def _text(bag: Bag, name: str) -> str | None:
    value = bag.get(name)
    return value if isinstance(value, str) and value else None
