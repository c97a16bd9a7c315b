"""Lists of prompts that outlive the sessions in which they were asked: one conversation for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import ids, times
from agent_journal.model import Conversation, Message
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Part
    from agent_journal.notes import Notes

# Older lists do not tell sessions apart. Who asks nothing in a folder for so long has mostly ended one there.
_PAUSE_MS = 60 * 60 * 1000


class _Asked:
    """The prompts of one session, or of one stretch of work."""

    def __init__(self, id_: str, folder: str | None, *, made_id: bool) -> None:
        self.id = id_
        self.folder = folder
        self.made_id = made_id
        self.timeline: list[Message] = []
        self.times: dict[str | None, int] = {}
        """How many prompts there are of each moment."""


class PromptList:
    """Prompts in the order of a list, by session."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._sessions: dict[str, _Asked] = {}
        self._stretches: list[_Asked] = []
        self._last: dict[str | None, _Asked] = {}

    def add(
        self,
        session: str | None,
        at: str | None,
        parts: list[Part],
        extra: dict[str, Any],
        folder: str | None = None,
    ) -> None:
        """Take the next prompt. A list may lose its beginning: the time tells a prompt, not its place."""
        asked = self._stretch(folder, at) if session is None else self._session(session, folder)
        number = asked.times[at] = asked.times.get(at, -1) + 1
        if folder is not None and folder != asked.folder:
            extra["project"] = folder
        asked.timeline.append(
            Message(
                id=ids.made(self._source, asked.id, "prompt", at, number),
                made_id=True,
                role="user",
                at=at,
                parts=parts,
                extra=extra,
            )
        )

    def _session(self, session: str, folder: str | None) -> _Asked:
        asked = self._sessions.get(session)
        if asked is None:
            asked = self._sessions[session] = _Asked(session, folder, made_id=False)
        return asked

    def _stretch(self, folder: str | None, at: str | None) -> _Asked:
        """The stretch of work in a folder that a prompt of no session belongs to."""
        asked = self._last.get(folder)
        if asked is None or _is_long_after(at, asked.timeline[-1].at):
            made = ids.made(self._source, "prompts", folder, at)
            asked = self._last[folder] = _Asked(made, folder, made_id=True)
            self._stretches.append(asked)
        return asked

    def conversations(self, note: Notes) -> Iterator[Conversation]:
        """One for each session, then those of no session, in the order in which they begin."""
        if self._stretches:
            prompts = sum(len(asked.timeline) for asked in self._stretches)
            note(Kind.MISSING_ID, "", f"{prompts:,} × prompt of no session, by folder and pauses")
        for asked in (*self._sessions.values(), *self._stretches):
            yield Conversation(
                id=asked.id,
                made_id=asked.made_id,
                source=self._source,
                started_at=asked.timeline[0].at,
                updated_at=asked.timeline[-1].at,
                cwd=asked.folder,
                only_prompts=True,
                shape="list",
                timeline=[*asked.timeline],
            )


def _is_long_after(at: str | None, before: str | None) -> bool:
    now, then = times.epoch_ms(at), times.epoch_ms(before)
    return now is not None and then is not None and now - then > _PAUSE_MS
