"""Roo Code, and its relatives Cline and Kilo Code (up to version 4): one folder per task.

A task has two histories. What went to and from the model becomes messages; what the person was shown becomes
events, and messages where nothing else tells it. It gives the times and what each request cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.roo_code.detect import DOCUMENTED, SESSION, TASK, version_of
from agent_journal.readers.roo_code.names import COMPANIONS, HOMES, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="roo-code",
    title="Roo Code, Cline, Kilo Code",
    versions=(TASK, SESSION, DOCUMENTED),
    revision=8,
    names={"unified": "roo_code", "pam": "roo-code", "record": "roo-code"},
    config_key="roo_code",
    # The setting `roo-cline.customStoragePath` of an editor moves tasks too; it is no variable.
    env=("AJ_ROO_PATH", "CLINE_DATA_DIR", "CLINE_DIR"),
    homes=HOMES,
    companions=COMPANIONS,
    tool_kinds=TOOL_KINDS,
    required=("conversation_id", "platform.metadata.mode|platform.metadata.active_mode", "messages"),
    evidence=(
        "the public sources of Roo Code up to 3.52, of Cline up to 4.1 and of Kilo Code up to 5, and samples "
        "from the field; verified November 2026. The documented form is known from its description alone"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim folders of tasks, their single files, sessions of Cline, and sessions in the documented form."""
    return version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversations of a unit: one of a task, one of each agent of a session."""
    if version == SESSION:
        from agent_journal.readers.roo_code import sessions  # noqa: PLC0415 (imported when something is read)

        yield from sessions.conversations(source, note, INFO.name)
    elif version == DOCUMENTED:
        from agent_journal.readers.roo_code import documented  # noqa: PLC0415 (imported when something is read)

        yield from documented.conversations(source, note, INFO.name)
    else:
        from agent_journal.readers.roo_code import task  # noqa: PLC0415 (imported when something is read)

        yield task.conversation(source, note, INFO.name)
