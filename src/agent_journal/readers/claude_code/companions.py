"""The files beside a session's own: large outputs, a sub-agent's facts, the session that started it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import ToolResult
from agent_journal.notes import Kind, Notes
from agent_journal.readers.claude_code.names import TOOL_KINDS
from agent_journal.readers.dialects import anthropic_blocks as blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Part
    from agent_journal.readers.claude_code.surplus import Answers

_T = TypeVar("_T")
_PLACEHOLDER = "<persisted-output>"
_SAVED_TO = "saved to: "
_FOLDER = "tool-results"
# A sub-agent's file lies beside its parent's (until 2.0), or two or more folders below it.
_DEEPEST = 5
# CPython searches pieces of less than 30,000 bytes faster than larger ones.
_BLOCK = 28_000


class Beside:
    """What lies beside one session file."""

    def __init__(self, source: Source, note: Notes) -> None:
        self._source = source
        self._stem = stem(source)
        self._note = note

    def restore(self, parts: list[Part], where: int | str) -> bool:
        """Put the whole output in the place of each placeholder, kept in `extra`; whether there was one."""
        restored = False
        for place, part in enumerate(parts):
            if (
                part.__class__ is ToolResult
                and part.output.__class__ is str
                and part.output.startswith(_PLACEHOLDER)
            ):
                parts[place] = self._restored(part, part.output, where)
                restored = True
        return restored

    def _restored(self, part: ToolResult, placeholder: str, where: int | str) -> ToolResult:
        saved_to = placeholder.partition(_SAVED_TO)[2].partition("\n")[0].strip()
        found = list(self._candidates(saved_to, part.call_id))
        if not found:
            self._note(Kind.MISSING_FILE, where, saved_to or f"the output of {part.call_id}")
        for file in found:
            output = self._content(file)
            if output is not None:
                block = {"type": "tool_result", "content": output}
                whole = blocks.parts([block], self._note, where, TOOL_KINDS)[0]
                extra = {**part.extra, "persisted_output_preview": placeholder}
                return replace(part, output=whole.output, extra=extra)  # type: ignore[union-attr] # a tool_result
        return part

    def _candidates(self, saved_to: str, call_id: str | None) -> Iterator[Source]:
        """Where an output may lie: its path is of the machine that wrote it, but its last steps hold."""
        steps = saved_to.replace("\\", "/").split("/")
        owner = steps[-3] if len(steps) > 2 and steps[-2] == _FOLDER else self._stem  # noqa: PLR2004
        names = dict.fromkeys((steps[-1], f"{call_id}.txt", f"{call_id}.json"))
        for folder in dict.fromkeys(((self._stem,), (owner,), ("..",), ("..", ".."))):
            for name in names:
                if (found := self._source.companion(*folder, _FOLDER, name)) is not None:
                    yield found

    def _content(self, file: Source) -> Any:
        """A saved output: blocks if it is JSON, else text; None if it cannot be read."""
        note = self._note.about(file.label)
        try:
            if file.name.endswith(".json"):
                value = json_stream.load(file, note)
                return None if value is json_stream.BAD else value
            return text_of(file, note)
        except UnreadableSource as error:
            note(Kind.UNREADABLE_FILE, "", error.reason)
            return None

    def meta(self) -> Any:
        """What `agent-<id>.meta.json` says of a sub-agent, if there is one."""
        file = self._source.companion(f"{self._stem}.meta.json")
        return None if file is None else self._content(file)

    def custom_title(self) -> Any:
        """What `<session>/custom-title.json` says, if there is one: since 2.1.3xx titles are also there."""
        file = self._source.companion(self._stem, "custom-title.json")
        return None if file is None else self._content(file)

    def call_of(self, agent: str, session: str) -> str | None:
        """The id of the call that started a sub-agent, as the session tells that made it."""
        parent = self._above(f"{session}.jsonl")
        if parent is None:
            return None
        try:
            return _call_of(parent, agent)
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, parent.label, "", error.reason)
            return None

    def answers_of_agents(self) -> Answers:
        """The tokens of all answers in the files of a session's subagents."""
        found: Answers = {}
        pending = [*self._source.companions(self._stem, "subagents")]
        while pending:
            file = pending.pop()
            if file.is_folder:
                pending.extend(file.children())
            elif file.name.endswith(".jsonl"):
                found.update(self._read(file, _answers_in))
        return found

    def cost_state_of(self, session: str, before: str) -> Any:
        """The last `cost-state` line of another session that was written before some time."""
        file = self._source.companion(f"{session}.jsonl")
        states = [] if file is None else self._read(file, lambda lines: _states_before(lines, before))
        return states[-1] if states else None

    def _read(self, file: Source, take: Callable[[Iterator[Any]], _T]) -> _T:
        """What can be taken from the lines of another session; what is wrong in them is noted with it."""
        try:
            return take(_records(file))
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
            return take(iter(()))

    def _above(self, name: str) -> Source | None:
        for height in range(_DEEPEST):
            if (found := self._source.companion(*[".."] * height, name)) is not None:
                return found
        return None


def stem(source: Source) -> str:
    """The file's name without its suffix."""
    return source.name.rpartition(".")[0] or source.name


def _records(file: Source) -> Iterator[dict[str, Any]]:
    quiet = Notes()
    for number, line, _ in json_stream.raw_lines(file, quiet):
        record = json_stream.decode(line, quiet, number)
        if isinstance(record, dict):
            yield record


def _answers_in(records: Iterator[dict[str, Any]]) -> Answers:
    found: Answers = {}
    for record in records:
        fields = Fields(record, Notes(), "")
        body = fields.nested("message") if fields.look("type") == "assistant" else None
        if body is None:
            continue
        response, request, model = body.text("id"), fields.look("requestId"), body.text("model")
        usage = blocks.usage(body.look("usage"), response_key(response, request))
        if model is not None and usage is not None:
            found[usage.key or fields.text("uuid") or ""] = model, usage
    return found


def response_key(response: str | None, request: Any) -> str | None:
    """What the tokens of a response are counted by; the same id may come for several requests."""
    return response if response is None or request is None else f"{response}:{request}"


def _states_before(records: Iterator[dict[str, Any]], before: str) -> list[Any]:
    """The sums among lines that end at a time; their own lines have none."""
    found: list[Any] = []
    for record in records:
        fields = Fields(record, Notes(), "")
        if fields.look("type") == "cost-state":
            found.append(record)
        elif (at := fields.moment("timestamp")) is not None and at >= before:
            break
    return found


def _call_of(parent: Source, agent: str) -> str | None:
    mark = f'"{agent}"'.encode("utf-8", "replace")
    if not _mentions(parent, mark):
        return None
    quiet = Notes()
    for number, line, _ in json_stream.raw_lines(parent, quiet):
        if mark in line and (call := _call_in(json_stream.decode(line, quiet, number), agent)):
            return call
    return None


def _mentions(file: Source, mark: bytes) -> bool:
    """Whether the bytes are somewhere in a file; much faster than going through its lines."""
    end = b""
    with file.open() as stream:
        while block := stream.read(_BLOCK):
            if mark in block or mark in end + block[: len(mark)]:
                return True
            end = block[-len(mark) :]
    return False


def _call_in(record: Any, agent: str) -> str | None:
    """The call that a line names as the sub-agent's: its result has come, or its progress is told."""
    if not isinstance(record, dict):
        return None
    fields = Fields(record, Notes(), "")
    progress = fields.nested("data")
    if progress is not None and progress.look("agentId") == agent:
        return fields.text("parentToolUseID")
    result, body = fields.nested("toolUseResult"), fields.nested("message")
    if result is None or body is None or result.look("agentId") != agent:
        return None
    for block in body.items("content") or ():
        if isinstance(block, dict) and (call := Fields(block, Notes(), "").text("tool_use_id")):
            return call
    return None


def text_of(file: Source, note: Notes) -> str | None:
    """A file's text to the letter; it is no JSON, so nothing in it is a comment."""
    data = bytearray()
    with file.open() as stream:
        while block := stream.read(_BLOCK):
            data += block
            if len(data) > json_stream.MAX_RECORD_BYTES:
                note(Kind.TOO_LARGE, "", f"an output of more than {json_stream.MAX_RECORD_BYTES:,} bytes")
                return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        note(Kind.BAD_ENCODING, "", "not UTF-8")
        return data.decode("utf-8", "replace")
