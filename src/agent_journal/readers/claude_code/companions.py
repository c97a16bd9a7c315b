"""The files next to a session file: large outputs, a subagent's metadata, the session that started it."""

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

    from agent_journal.inputs.input import Input
    from agent_journal.model import Part
    from agent_journal.readers.claude_code.surplus import UsageByKey

_T = TypeVar("_T")
_PLACEHOLDER = "<persisted-output>"
_SAVED_TO = "saved to: "
_OUTPUT_FOLDER = "tool-results"
# The desktop app's sessions, each with files `<session>/.claude/projects/<folder>/<id>.jsonl`.
_DESKTOP_FOLDER, _DESKTOP_DEPTH = "local-agent-mode-sessions", 5
# A subagent's file is in the folder of its parent's file (until 2.0), or two or more folders below it.
_MAX_PARENT_FOLDERS = 5
# CPython searches pieces of less than 30,000 bytes faster than larger ones.
_BLOCK_BYTES = 28_000


class Companions:
    """The companion files of one session file."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._source = source
        self._stem = stem(source)
        self._note = note

    def restore(self, parts: list[Part], location: int | str) -> bool:
        """Replace each placeholder with the full output, which it moves to `extra`; return if it did."""
        restored = False
        for index, part in enumerate(parts):
            if (
                part.__class__ is ToolResult
                and part.output.__class__ is str
                and part.output.startswith(_PLACEHOLDER)
            ):
                parts[index] = self._restored(part, part.output, location)
                restored = True
        return restored

    def _restored(self, part: ToolResult, placeholder: str, location: int | str) -> ToolResult:
        saved_to = placeholder.partition(_SAVED_TO)[2].partition("\n")[0].strip()
        candidates = list(self._candidates(saved_to, part.call_id))
        if not candidates:
            self._note(Kind.MISSING_FILE, location, saved_to or f"the output of {part.call_id}")
        for file in candidates:
            output = self._content(file)
            if output is not None:
                block = {"type": "tool_result", "content": output}
                complete = blocks.parse_blocks([block], self._note, location, TOOL_KINDS)[0]
                extra = {**part.extra, "persisted_output_preview": placeholder}
                return replace(part, output=complete.output, extra=extra)  # type: ignore[union-attr] # a tool_result
        return part

    def _candidates(self, saved_to: str, call_id: str | None) -> Iterator[Input]:
        """Find files that may have an output; of its path on another machine, only the end is the same."""
        steps = saved_to.replace("\\", "/").split("/")
        owner = steps[-3] if len(steps) > 2 and steps[-2] == _OUTPUT_FOLDER else self._stem  # noqa: PLR2004
        names = dict.fromkeys((steps[-1], f"{call_id}.txt", f"{call_id}.json"))
        for folder in dict.fromkeys(((self._stem,), (owner,), ("..",), ("..", ".."))):
            for name in names:
                if (file := self._source.companion(*folder, _OUTPUT_FOLDER, name)) is not None:
                    yield file

    def _content(self, file: Input) -> Any:
        """Read a saved output: blocks if it is JSON, else text; None if it cannot be read."""
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
        """Read a subagent's `agent-<id>.meta.json`, if there is one."""
        file = self._source.companion(f"{self._stem}.meta.json")
        return None if file is None else self._content(file)

    def custom_title(self) -> Any:
        """Read `<session>/custom-title.json`, if there is one: since 2.1.3xx it also has the title."""
        file = self._source.companion(self._stem, "custom-title.json")
        return None if file is None else self._content(file)

    def desktop_session(self) -> dict[str, Any] | None:
        """Read what the desktop app states about a session that it runs: its title and its folders.

        The session's own folder is one of the virtual machine, `<session>/.claude/projects/<folder>`.
        """
        steps = self._source.label.replace("\\", "/").split("/")
        if len(steps) < _DESKTOP_DEPTH or _DESKTOP_FOLDER not in steps[:-_DESKTOP_DEPTH]:
            return None
        file = self._source.companion(*[".."] * (_DESKTOP_DEPTH - 1), f"{steps[-_DESKTOP_DEPTH]}.json")
        value = None if file is None else self._content(file)
        return value if value.__class__ is dict else None

    def starting_call(self, agent: str, session: str) -> str | None:
        """Get the id of the call that started a subagent from the session that made it."""
        parent_file = self._find_in_parent_folders(f"{session}.jsonl")
        if parent_file is None:
            return None
        try:
            return _find_starting_call(parent_file, agent)
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, parent_file.label, "", error.reason)
            return None

    def subagent_usage(self) -> UsageByKey:
        """Collect the tokens of all answers in the files of a session's subagents."""
        usage_by_key: UsageByKey = {}
        pending = [*self._source.companions(self._stem, "subagents")]
        while pending:
            file = pending.pop()
            if file.is_folder:
                pending.extend(file.children())
            elif file.name.endswith(".jsonl"):
                usage_by_key.update(self._read(file, _usage_in))
        return usage_by_key

    def last_cost_state(self, session: str, before: str) -> Any:
        """Get the last `cost-state` line that another session wrote before some time."""
        file = self._source.companion(f"{session}.jsonl")
        states = [] if file is None else self._read(file, lambda lines: _states_before(lines, before))
        return states[-1] if states else None

    def _read(self, file: Input, extract: Callable[[Iterator[Any]], _T]) -> _T:
        """Apply a function to the records of another session; an unreadable file is noted and has none."""
        try:
            return extract(_records(file))
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
            return extract(iter(()))

    def _find_in_parent_folders(self, name: str) -> Input | None:
        for height in range(_MAX_PARENT_FOLDERS):
            if (file := self._source.companion(*[".."] * height, name)) is not None:
                return file
        return None


def stem(source: Input) -> str:
    """Get the file's name without its suffix."""
    return source.name.rpartition(".")[0] or source.name


def _records(file: Input) -> Iterator[dict[str, Any]]:
    quiet = Notes()
    for number, line, _ in json_stream.raw_lines(file, quiet):
        record = json_stream.decode(line, quiet, number)
        if isinstance(record, dict):
            yield record


def _usage_in(records: Iterator[dict[str, Any]]) -> UsageByKey:
    usage_by_key: UsageByKey = {}
    for record in records:
        fields = Fields(record, Notes(), "")
        body = fields.nested("message") if fields.view("type") == "assistant" else None
        if body is None:
            continue
        response, request, model = body.text("id"), fields.view("requestId"), body.text("model")
        usage = blocks.parse_usage(body.view("usage"), response_key(response, request))
        if model is not None and usage is not None:
            usage_by_key[usage.key or fields.text("uuid") or ""] = model, usage
    return usage_by_key


def response_key(response: str | None, request: Any) -> str | None:
    """Make the key by which a response's tokens count once; several requests may share a response id."""
    return response if response is None or request is None else f"{response}:{request}"


def _states_before(records: Iterator[dict[str, Any]], before: str) -> list[Any]:
    """List the `cost-state` lines before a time; they have no time of their own."""
    states: list[Any] = []
    for record in records:
        fields = Fields(record, Notes(), "")
        if fields.view("type") == "cost-state":
            states.append(record)
        elif (at := fields.timestamp("timestamp")) is not None and at >= before:
            break
    return states


def _find_starting_call(parent: Input, agent: str) -> str | None:
    mark = f'"{agent}"'.encode("utf-8", "replace")
    if not _mentions(parent, mark):
        return None
    quiet = Notes()
    for number, line, _ in json_stream.raw_lines(parent, quiet):
        if mark in line and (call := _call_in(json_stream.decode(line, quiet, number), agent)):
            return call
    return None


def _mentions(file: Input, mark: bytes) -> bool:
    """Whether a file contains the bytes; much faster than going through its lines."""
    tail = b""
    with file.open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            if mark in block or mark in tail + block[: len(mark)]:
                return True
            tail = block[-len(mark) :]
    return False


def _call_in(record: Any, agent: str) -> str | None:
    """Get the call that started a subagent from a line with its result or its progress."""
    if not isinstance(record, dict):
        return None
    fields = Fields(record, Notes(), "")
    progress = fields.nested("data")
    if progress is not None and progress.view("agentId") == agent:
        return fields.text("parentToolUseID")
    result, body = fields.nested("toolUseResult"), fields.nested("message")
    if result is None or body is None or result.view("agentId") != agent:
        return None
    for block in body.items("content") or ():
        if isinstance(block, dict) and (call := Fields(block, Notes(), "").text("tool_use_id")):
            return call
    return None


def text_of(file: Input, note: Notes) -> str | None:
    """Read a file's exact text; it is not JSON, so nothing in it is a comment."""
    data = bytearray()
    with file.open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            data += block
            if len(data) > json_stream.MAX_RECORD_BYTES:
                note(Kind.TOO_LARGE, "", f"an output has more than {json_stream.MAX_RECORD_BYTES:,} bytes")
                return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        note(Kind.BAD_ENCODING, "", "not UTF-8")
        return data.decode("utf-8", "replace")
