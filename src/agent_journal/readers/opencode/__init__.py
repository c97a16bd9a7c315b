"""OpenCode, and Kilo Code since version 5: sessions in a database, in older versions in small JSON files.

A session has messages, and a message has parts. The steps of a model's work are also parts, which become
events. A session that another one started is a separate conversation, linked to the call that started it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.opencode.detect import DATABASE, EXPORT, FILES, STREAM, detect_version
from agent_journal.readers.opencode.names import TOOL_KINDS
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_APP_FILES = (
    "storage/migration",
    "storage/session_diff/*.json",
    "log/*.log",
    "auth.json",
    # Git repositories with copies of the project's files, named by the hash of its first commit.
    "snapshot/????????????????????????????????????????/*",
    "snapshot/global/*",
)

INFO = ReaderInfo(
    name="opencode",
    title="OpenCode",
    products=(
        Product("OpenCode", ("*/opencode/*",)),
        Product("Kilo Code", ("*/kilo/*",)),
        Product("MiMo Code", ("*/mimocode/*",)),
        Product("IcodeMate", ("*/icodemate/*",)),
    ),
    versions=(DATABASE, FILES, EXPORT, STREAM),
    revision=8,
    names={"record": "opencode"},
    config_key="opencode",
    env=("AJ_OPENCODE_PATH", "OPENCODE_DB", "KILO_DB", "XDG_DATA_HOME"),
    # The same in the home directory on Linux, macOS and Windows.
    homes=(
        "~/.local/share/opencode/opencode.db",
        "~/.local/share/opencode/opencode-*.db",
        # A file name in that folder, or a path.
        "~/.local/share/opencode/%OPENCODE_DB%",
        "~/.local/share/opencode/storage/",
        "~/.local/share/opencode/project/*/storage/session/",
        "~/.local/share/kilo/kilo.db",
        "~/.local/share/kilo/kilo-*.db",
        "~/.local/share/kilo/%KILO_DB%",
        "~/.local/share/kilo/storage/",
        *(
            f"~/.local/share/{app}/{name}"
            for app in ("mimocode", "icodemate")
            for name in (f"{app}.db", f"{app}-*.db", "storage/")
        ),
    ),
    companions=(
        "*.db-wal",
        "*.db-shm",
        # The state of the app's migration, its changes of files, its logs and keys.
        *(f"*/{app}/{name}" for app in ("opencode", "kilo", "mimocode", "icodemate") for name in _APP_FILES),
    ),
    tool_kinds=TOOL_KINDS,
    record=RecordForm(
        part_of="messageID",
        parent="parentID",
        call_body="state",
        provider="providerID",
        own_status=True,
        call_at=("state", "time", "start"),
        answer_at=("state", "time", "end"),
        status_at=("state", "status"),
        again_at=("state", "metadata"),
        derived=frozenset({"exit_code"}),
    ),
    resume="opencode --session {id}",
    evidence=(
        "the vendor's public source as of 2026, one stream from 2026 with seven sessions (1.1.53), files of "
        "1.3, and the output of OpenCode 1.18 and Kilo 7.7; verified November 2026. The files of mid-2025 "
        "are known from the source only"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by their tables; session folders, exports and streams by their records."""
    return detect_version(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each session as a conversation, the oldest first."""
    from agent_journal.readers.opencode import (  # noqa: PLC0415 (imported only to read)
        files,
        rows,
        streams,
    )
    from agent_journal.readers.opencode.session import Sessions  # noqa: PLC0415

    sessions = Sessions(note, INFO.name)
    if version == DATABASE:
        yield from rows.read_database(source, sessions, note)
    elif version == FILES:
        yield from files.read_folder(source, sessions, note)
    else:
        yield from streams.read_file(source, version, sessions, note)
