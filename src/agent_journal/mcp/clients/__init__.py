"""The configuration of agents: add the server to it, and remove it again."""

from __future__ import annotations

import difflib
import json
import os
import sys
import tomllib
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal import files
from agent_journal.errors import CannotWrite, UnreadableSource
from agent_journal.mcp.clients import json_edit, toml_edit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SERVER_NAME = "agent-journal"
_UNUSUAL = f"it is written in an unusual way; edit {SERVER_NAME!r} by hand"
_MAX_FILE_BYTES = 64_000_000


class Client(NamedTuple):
    """An agent, and where its configuration is."""

    name: str
    title: str
    path: Path
    is_present: bool
    container: str
    template: dict[str, Any]

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        """Return the entry that starts a command."""
        values = {"COMMAND": command[0], "ARGUMENTS": [*command[1:]], "WHOLE": [*command]}
        return {
            key: values.get(value, value) if isinstance(value, str) else value
            for key, value in self.template.items()
        }


class Change(NamedTuple):
    """What a file is and what it will be."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        """The difference, as people read it."""
        before, after = self.before.splitlines(), self.after.splitlines()
        return "\n".join(difflib.unified_diff(before, after, str(self.path), str(self.path), lineterm=""))

    def write(self) -> None:
        """Write the file, unless it was changed meanwhile."""
        if _read(self.path) != self.before:
            raise CannotWrite(str(self.path), "another program has just changed it; try again")
        path = os.path.realpath(self.path)
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else None  # noqa: PTH110, PTH116
        files.private_folder(os.path.dirname(path))  # noqa: PTH120
        files.write_regular(path, self.after.encode())
        if mode is not None:
            os.chmod(path, mode)  # noqa: PTH101


def known_clients(environ: Mapping[str, str]) -> dict[str, Client]:
    """Return the agents that can be configured, by name."""
    text = resources(__package__).joinpath("clients.toml").read_text(encoding="utf-8")
    return {
        name: Client(
            name=name,
            title=data["title"],
            path=_first_path(data.get(f"files_{sys.platform}", data["files"]), environ),
            is_present=any(path.exists() for path in _paths(data["present"], environ)),
            container=data["list"],
            template=data["entry"],
        )
        for name, data in tomllib.loads(text).items()
    }


def plan_install(client: Client, command: Sequence[str]) -> Change:
    """Return how the server is added; a different entry for it is replaced."""
    before = _read(client.path)
    entry = client.entry(command)
    edit = _editor(client)
    if _parsed(client, lambda: edit.entry_in(before, client.container, SERVER_NAME)) == entry:
        return Change(client.path, before, before)
    after = _parsed(client, lambda: edit.with_entry(before, client.container, SERVER_NAME, entry))
    _check(client, before, after, entry)
    return Change(client.path, before, after)


def plan_uninstall(client: Client) -> Change:
    """Return how the server is removed."""
    before = _read(client.path)
    if not before.strip():
        return Change(client.path, before, before)
    edit = _editor(client)
    after = _parsed(client, lambda: edit.without_entry(before, client.container, SERVER_NAME))
    _check(client, before, after, None)
    return Change(client.path, before, after)


def _editor(client: Client) -> Any:
    return toml_edit if client.path.suffix == ".toml" else json_edit


def _parsed(client: Client, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except ValueError as error:
        raise UnreadableSource(str(client.path), f"{error}; correct it first") from error


def _check(client: Client, before: str, after: str, entry: dict[str, Any] | None) -> None:
    """Raise CannotWrite if anything else would change."""
    load = tomllib.loads if client.path.suffix == ".toml" else json.loads
    try:
        old, new = load(before) if before.strip() else {}, load(after) if after.strip() else {}
    except ValueError as error:
        if load is json.loads:
            return  # there are comments in it; only the member was touched
        raise CannotWrite(str(client.path), _UNUSUAL) from error
    for values in (old, new):
        if isinstance(values.get(client.container), dict):
            values[client.container].pop(SERVER_NAME, None)
            if not values[client.container]:
                del values[client.container]
    written = load(after).get(client.container, {}).get(SERVER_NAME) if after.strip() else None
    if old != new or written != entry:
        raise CannotWrite(str(client.path), _UNUSUAL)


def _read(path: Path) -> str:
    try:
        with files.open_regular(str(path)) as file:
            return file.read(_MAX_FILE_BYTES).decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise UnreadableSource(str(path), str(error)) from error


def _first_path(texts: list[str], environ: Mapping[str, str]) -> Path:
    return _paths(texts, environ)[0]


def _paths(texts: list[str], environ: Mapping[str, str]) -> list[Path]:
    """Return paths; those that begin with a variable that is not set are left out, unless all do."""
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    paths = []
    for text in texts:
        first, separator, rest = text.partition("/")
        base = home if first == "~" else environ.get(first.removeprefix("$"), "")
        if base:
            paths.append(Path(base + separator + rest))
    return paths or [Path(home)]
