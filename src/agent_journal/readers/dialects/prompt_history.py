"""Prompt histories, which outlive their sessions: one conversation per session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.decoding.spill import Grouped
from agent_journal.model import Conversation, Media, Message, Text, ids, timestamps
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Part
    from agent_journal.notes import Notes

# Older histories have no session ids: a prompt after such a pause usually begins a session.
_MAX_PAUSE_MS = 60 * 60 * 1000
_PROMPT_OVERHEAD_BYTES = 200  # estimated size of a prompt without its text


def entries(records: Iterable[tuple[int | str, Any]], note: Notes) -> Iterator[Fields]:
    """Yield the entries of a prompt history with their locations; values other than objects are noted."""
    for location, raw in records:
        if raw.__class__ is dict:
            yield Fields(raw, note, location)
        else:
            note(Kind.WRONG_TYPE, location, f"a prompt is {type(raw).__name__}")


class _Session:
    """A session, recorded or inferred from pauses, and its last prompt."""

    def __init__(self, id_: str, folder: str | None, *, made_id: bool) -> None:
        self.id = id_
        self.folder = folder
        self.made_id = made_id
        self.at: str | None = None
        self._same = self._untimed = -1

    def next_number(self, at: str | None) -> int:
        """Return the number of a prompt among those of the same time; a history is in order of time."""
        if at is None:
            self._untimed += 1
            return self._untimed
        self._same = self._same + 1 if at == self.at else 0
        self.at = at
        return self._same


class PromptList:
    """The prompts of a history by session. Memory holds a small history, or one session of a large one."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._sessions: dict[str, _Session] = {}
        self._last_by_folder: dict[str | None, _Session] = {}
        self._prompts = Grouped(is_owner=True, shape=Message)
        self._prompts_without_session = 0

    def add(
        self,
        session: str | None,
        at: str | None,
        parts: list[Part],
        extra: dict[str, Any],
        folder: str | None = None,
    ) -> None:
        """Add the next prompt, identified by its time: histories may lose their beginning."""
        owner = self._inferred_session(folder, at) if session is None else self._session(session, folder)
        if folder is not None and folder != owner.folder:
            extra["project"] = folder
        number = owner.next_number(at)
        prompt = Message(
            id=ids.made(self._source, owner.id, "prompt", at, number),
            made_id=True,
            role="user",
            at=at,
            parts=parts,
            extra=extra,
        )
        text_chars = sum(len(part.text or "") for part in parts if isinstance(part, Text | Media))
        self._prompts.add_whole(owner.id, None, prompt, text_chars + _PROMPT_OVERHEAD_BYTES)

    def _session(self, session: str, folder: str | None) -> _Session:
        known = self._sessions.get(session)
        if known is None:
            known = self._sessions[session] = _Session(session, folder, made_id=False)
        return known

    def _inferred_session(self, folder: str | None, at: str | None) -> _Session:
        """Return the inferred session in a folder that a prompt without a session id belongs to."""
        self._prompts_without_session += 1
        last = self._last_by_folder.get(folder)
        if last is None or _is_long_after(at, last.at):
            session_id = ids.made(self._source, "prompts", folder, at)
            last = self._last_by_folder[folder] = self._sessions[session_id] = _Session(
                session_id, folder, made_id=True
            )
        return last

    def conversations(self, note: Notes) -> Iterator[Conversation]:
        """Yield a conversation for each recorded or inferred session, in the order of their beginnings."""
        if self._prompts_without_session:
            detail = (
                f"{self._prompts_without_session:,} × prompt without a session, grouped by folder and pauses"
            )
            note(Kind.MISSING_ID, "", detail)
        for id_, timeline in self._prompts.groups():
            session = self._sessions[id_]
            yield Conversation(
                id=id_,
                made_id=session.made_id,
                source=self._source,
                started_at=timeline[0].at,
                updated_at=timeline[-1].at,
                cwd=session.folder,
                only_prompts=True,
                shape="list",
                timeline=timeline,
            )


def _is_long_after(at: str | None, previous_at: str | None) -> bool:
    now, previous = timestamps.epoch_ms(at), timestamps.epoch_ms(previous_at)
    return now is not None and previous is not None and now - previous > _MAX_PAUSE_MS
