"""Roo Code, and its relatives Cline and Kilo Code (up to version 4): one folder per task.

A task has two histories. The messages exchanged with the model become messages. The records shown to the user
become events, and also messages where the other history lacks them; they state the times and the costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.roo_code.detect import DOCUMENTED, SESSION, TASK, detect_version
from agent_journal.readers.roo_code.names import COMPANIONS, HOMES, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="roo-code",
    title="Roo Code, Cline, Kilo Code",
    category="editors",
    products=(
        Product("Roo Code", ("*/rooveterinaryinc.roo-*/*",)),
        Product("Cline", ("*/saoudrizwan.claude-dev/*", "*/.cline/*")),
        Product("Kilo Code", ("*/kilocode.kilo-code/*", "*/.kilocode/*")),
        Product("IBM Bob", ("*/ibm.bob-code/*",)),
        Product("Zoo Code", ("*/zoocodeorganization.zoo-code/*",)),
    ),
    versions=(TASK, SESSION, DOCUMENTED),
    revision=9,
    names={"unified": "roo_code", "pam": "roo-code", "record": "roo-code"},
    config_key="roo_code",
    # The editor setting `roo-cline.customStoragePath` moves tasks too, but it is not an environment variable.
    env=("AJ_ROO_PATH", "CLINE_DATA_DIR", "CLINE_DIR"),
    homes=HOMES,
    companions=COMPANIONS,
    tool_kinds=TOOL_KINDS,
    required=("conversation_id", "platform.metadata.mode|platform.metadata.active_mode", "messages"),
    evidence=(
        "the public sources of Roo Code up to 3.52, Cline up to 4.1 and Kilo Code up to 5, and samples from "
        "the field; verified November 2026. The documented form is known from its description only"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim task folders, single files of a task, Cline sessions, and sessions in the documented form."""
    return detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversations of a unit: one per task, or one per agent of a session."""
    if version == SESSION:
        from agent_journal.readers.roo_code import sessions  # noqa: PLC0415 (imported only to read)

        yield from sessions.read_session(source, note, INFO.name)
    elif version == DOCUMENTED:
        from agent_journal.readers.roo_code import documented  # noqa: PLC0415 (imported only to read)

        yield from documented.read_sessions(source, note, INFO.name)
    else:
        from agent_journal.readers.roo_code import task  # noqa: PLC0415 (imported only to read)

        yield task.read_task(source, note, INFO.name)
