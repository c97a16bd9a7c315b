"""One line of a session file: a message if somebody said it, else an event."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from agent_journal import ids
from agent_journal.fields import Fields
from agent_journal.model import Event, Message, Role, ToolKind, Usage
from agent_journal.notes import Kind
from agent_journal.readers import _blocks_anthropic as blocks

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.claude_code.beside import Beside

Entry: TypeAlias = Message | Event

TOOL_KINDS: dict[str, ToolKind] = {
    "Bash": "shell",
    "BashOutput": "shell",
    "KillBash": "shell",
    "KillShell": "shell",
    "PowerShell": "shell",
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "web_search": "web",
    "web_fetch": "web",
    "Task": "agent",
    "Agent": "agent",
    "AgentOutputTool": "agent",
    "TaskOutput": "agent",
    "SendMessage": "agent",
    "TodoRead": "plan",
    "TodoWrite": "plan",
    "TaskCreate": "plan",
    "TaskUpdate": "plan",
    "TaskList": "plan",
    "TaskGet": "plan",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "ListMcpResourcesTool": "mcp",
    "ReadMcpResourceTool": "mcp",
}
_ROLES: dict[Any, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
# The app does not show these to the person, or only in its full transcript.
_HIDING = ("isMeta", "isVisibleInTranscriptOnly", "isSynthetic")
# Markers between what was compacted and what follows; their text only says so.
_BOUNDARIES = frozenset({"compact_boundary", "microcompact_boundary"})
# The app writes this model's name on what it says itself, such as errors; no tokens were spent.
_NO_MODEL = "<synthetic>"
# Versions 2.1.3x wrote the usage of a response's first moment on all its lines: one to eight tokens.
_FIRST_MOMENT = 8


class Lines:
    """Makes an entry of each line. What every line repeats is said once: `session`, `cwd`, `version`, `branch`.

    A line whose value differs from the first one keeps its own.
    """

    def __init__(self, session: str | None, beside: Beside, note: Notes) -> None:
        self.session = session
        self.cwd: str | None = None
        self.version: str | None = None
        self.branch: str | None = None
        self.undercounted: set[str | None] = set()
        self.missing_ids = 0
        self._beside = beside
        self._note = note
        self._usage: Usage | None = None
        self._without_id: Counter[str] = Counter()

    def entry(self, record: Any, where: int | str, line: bytes) -> Entry:
        """The message or event that a line is; `line` is its bytes."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, where, f"a line that is {type(record).__name__}, not an object")
            return Event(id=self._made_id(line), made_id=True, name="unknown", data={"value": record})
        fields = Fields(record, self._note, where)
        self._say_once(fields)
        kind = fields.take("type")
        body = fields.nested("message") if record.get("message").__class__ is dict else None
        if body is not None:
            role = _ROLES.get(body.look("role")) or _ROLES.get(kind)
            ...
