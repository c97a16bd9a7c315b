"""Lists of prompts that outlive the sessions in which they were asked: one conversation for each session."""

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

# Older lists do not tell sessions apart. Who asks nothing in a folder for so long has mostly ended one there.
_PAUSE_MS = 60 * 60 * 1000
_ALL_ELSE = 200  # bytes of a prompt beside what it says, about


def entries(found: Iterable[tuple[int | str, Any]], note: Notes) -> Iterator[Fields]:
    """The entries of a list with their places; what is no object is noted."""
    for where, raw in found:
        if raw.__class__ is dict:
            yield Fields(raw, note, where)
        else:
            note(Kind.WRONG_TYPE, where, f"a prompt is {type(raw).__name__}")


class _Asked:
    """One session, or one stretch of work, and the last prompt in it."""

    def __init__(self, id_: str, folder: str | None, *, made_id: bool) -> None:
        self.id = id_
        self.folder = folder
        self.made_id = made_id
        self.at: str | None = None
        self._same = self._untimed = -1

    def numbered(self, at: str | None) -> int:
        """The how manieth prompt of its moment one is; a list is in the order of time."""
        if at is None:
            self._untimed += 1
            return self._untimed
        self._same = self._same + 1 if at == self.at else 0
        self.at = at
        return self._same


class PromptList:
    """Prompts in the order of a list, by session. Memory holds a small list, or a session of a large one."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._asked: dict[str, _Asked] = {}
        self._last: dict[str | None, _Asked] = {}
        self._prompts = Grouped(is_owner=True, shape=Message)
        self._of_no_session = 0

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
        if folder is not None and folder != asked.folder:
            extra["project"] = folder
        number = asked.numbered(at)
        prompt = Message(
            id=ids.made(self._source, asked.id, "prompt", at, number),
            made_id=True,
            role="user",
            at=at,
            parts=parts,
            extra=extra,
        )
        said = sum(len(part.text or "") for part in parts if isinstance(part, Text | Media))
        self._prompts.add_whole(asked.id, None, prompt, said + _ALL_ELSE)

    def _session(self, session: str, folder: str | None) -> _Asked:
        asked = self._asked.get(session)
        if asked is None:
            asked = self._asked[session] = _Asked(session, folder, made_id=False)
        return asked

    def _stretch(self, folder: str | None, at: str | None) -> _Asked:
        """The stretch of work in a folder that a prompt of no session belongs to."""
        self._of_no_session += 1
        asked = self._last.get(folder)
        if asked is None or _is_long_after(at, asked.at):
            made = ids.made(self._source, "prompts", folder, at)
            asked = self._last[folder] = self._asked[made] = _Asked(made, folder, made_id=True)
        return asked

    def conversations(self, note: Notes) -> Iterator[Conversation]:
        """One for each session and each stretch of work, in the order in which they begin."""
        if self._of_no_session:
            told = f"{self._of_no_session:,} × prompt of no session, by folder and pauses"
            note(Kind.MISSING_ID, "", told)
        for id_, timeline in self._prompts.groups():
            asked = self._asked[id_]
            yield Conversation(
                id=id_,
                made_id=asked.made_id,
                source=self._source,
                started_at=timeline[0].at,
                updated_at=timeline[-1].at,
                cwd=asked.folder,
                only_prompts=True,
                shape="list",
                timeline=timeline,
            )


def _is_long_after(at: str | None, before: str | None) -> bool:
    now, then = timestamps.epoch_ms(at), timestamps.epoch_ms(before)
    return now is not None and then is not None and now - then > _PAUSE_MS
