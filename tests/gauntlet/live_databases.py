"""Another program's database, which it writes while it is read."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any, Self

import apsw

from tests.gauntlet.corpus import session_id, word
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, Truth, holds, said

_CHAT = session_id(77)


class Editor:
    """An editor that writes a chat into its database, and minds whoever is in its way."""

    def __init__(self, path: Path, busy_ms: int = 0) -> None:
        path.parent.mkdir(parents=True)
        self._db = apsw.Connection(str(path))
        self._db.set_busy_timeout(busy_ms)
        self._db.pragma("journal_mode", "wal")
        for table in ("ItemTable", "cursorDiskKV"):
            self._db.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        self._stop = Event()
        self._thread = Thread(target=self._run)
        self.truth: Truth = {_CHAT: []}
        self.blocked = self.writes = 0
        self.write()

    def write(self) -> None:
        number = len(self.truth[_CHAT])
        text = f"{word(77, number)} said in an editor"
        bubbles = [{"bubbleId": f"b{each}", "type": 1 + each % 2} for each in range(number + 1)]
        about = {"_v": 16, "composerId": _CHAT, "fullConversationHeadersOnly": bubbles}
        bubble = {**bubbles[-1], "text": text}
        try:
            with self._db:
                self._put(f"bubbleId:{_CHAT}:b{number}", bubble)
                self._put(f"composerData:{_CHAT}", about)
        except apsw.BusyError:
            self.blocked += 1
            return
        self.truth[_CHAT].append(text)
        self.writes += 1

    def _put(self, key: str, value: dict[str, Any]) -> None:
        self._db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))

    def _run(self) -> None:
        while not self._stop.is_set():
            self.write()
            time.sleep(0.02)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@drill(rounds=20, few=2)
def live_database(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """None of its writes is blocked, none of its files is touched, none is left beside them."""
    folder = lab.home / ".config" / "Cursor" / "User" / "globalStorage"
    editor = Editor(folder / "state.vscdb")
    with editor:
        for _ in range(rounds):
            lab.good("sync")
    before = _state(folder)
    lab.good("sync")
    assert before == _state(folder)
    assert not editor.blocked
    holds(lab, editor.truth)
    return {"writes": editor.writes, "blocked": editor.blocked}


@drill(rounds=200, few=2)
def replaced_database(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Compacted at any moment, so that rows move: what is read is of one moment, or read later."""
    path = lab.home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    editor = Editor(path, busy_ms=5_000)
    for _ in range(30):
        editor.write()
    with Restless(path, chance) as restless:
        for _ in range(rounds):
            editor.write()
            done = lab.aj("sync")  # not here: a file that is closed here would let go of the editor's locks
            assert done.is_clear, done.err
            assert "damaged" not in done.err, done.err
            got = [text for _, text in said(lab)]
            assert got == editor.truth[_CHAT][: len(got)], "a mixed reading"
    lab.good("sync")
    holds(lab, editor.truth)
    return {"moved": restless.count}


class Restless:
    """Somebody who fills and compacts a database all the time."""

    def __init__(self, path: Path, chance: Random) -> None:
        self._path = path
        self._chance = Random(chance.random())  # noqa: S311
        self._stop = Event()
        self._thread = Thread(target=self._run)
        self.count = 0

    def _run(self) -> None:
        while not self._stop.is_set():
            database = apsw.Connection(str(self._path))
            database.set_busy_timeout(1_000)
            try:
                if self._chance.random() < 0.5:
                    database.execute("VACUUM")
                    database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                else:
                    database.execute("CREATE TABLE IF NOT EXISTS filling (text)")
                    database.execute("INSERT INTO filling VALUES (?)", ("x" * self._chance.randrange(9_999),))
                self.count += 1
            except apsw.BusyError:
                pass
            finally:
                database.close()
            time.sleep(self._chance.random() / 100)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def _state(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
        if not path.name.endswith("-shm")  # SQLite's own memory of who reads; the editor has it open
    } | {"names": (" ".join(sorted(path.name for path in folder.iterdir())), 0)}
