"""Calls tools: checks the arguments, limits the rate, and logs each call."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any

from agent_journal.crash_reports import FOLDER, CrashReports
from agent_journal.errors import AgentJournalError, TooManyCalls
from agent_journal.inputs.closeable import Closing
from agent_journal.journal import Journal, utc_now
from agent_journal.mcp.answers import Call, Envelope, encode, envelope
from agent_journal.mcp.log import LogEntry, QueryLog

if TYPE_CHECKING:
    from agent_journal.config import Config
    from agent_journal.mcp.scope import Scope

_MAX_CALLS_PER_MINUTE = 240
_MINUTE_S = 60.0


class Service(Closing):
    """The tools on one journal, which is opened when it is first needed. Threads may share it."""

    def __init__(self, config: Config, scope: Scope) -> None:
        self.scope = scope
        self._config = config
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._log = QueryLog(config.home)
        self._times: deque[float] = deque()

    def call(
        self, tool: str, arguments: dict[str, Any], client: str = "", *, logged_as: str = ""
    ) -> Envelope:
        """Return the answer of a tool; raises AgentJournalError with what to report.

        `logged_as` names in the log what was asked for by other means than the tool.
        """
        from agent_journal.mcp.arguments import check_arguments  # noqa: PLC0415 (the server starts faster without)

        began = time.monotonic()
        entry = LogEntry(at=utc_now(), client=client, tool=logged_as or tool, arguments=arguments, ms=0)
        try:
            self._count_call(began)
            check_arguments(tool, arguments)
            answer = envelope(self._answer(tool, arguments))
            entry.bytes = len(encode(answer.data))
        except AgentJournalError as error:
            entry.error = type(error).__name__
            raise
        finally:
            entry.ms = int((time.monotonic() - began) * 1000)
            self._log.append(entry)
        return answer

    def close(self) -> None:
        """Close the journal."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()

    def _answer(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        from agent_journal.mcp.tools import ANSWERS  # noqa: PLC0415 (likewise)

        try:
            return ANSWERS[tool](Call(tool, arguments, self._opened(), self.scope))
        except AgentJournalError:
            raise
        except Exception as error:  # a bug, which costs one answer and not the agent's connection
            CrashReports(str(self._config.home / FOLDER)).write(error, f"mcp-{tool}")
            raise AgentJournalError(f"Unexpected error, a bug in aj: {type(error).__name__}") from error

    def _opened(self) -> Journal:
        with self._lock:
            if self._journal is None:
                self._journal = Journal(self._config)
            return self._journal

    def _count_call(self, now: float) -> None:
        with self._lock:
            while self._times and self._times[0] <= now - _MINUTE_S:
                self._times.popleft()
            if len(self._times) >= _MAX_CALLS_PER_MINUTE:
                raise TooManyCalls(_MAX_CALLS_PER_MINUTE)
            self._times.append(now)
