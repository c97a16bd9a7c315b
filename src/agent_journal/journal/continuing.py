"""Continue a conversation in another tool: write it where that tool looks for its sessions."""

from __future__ import annotations

import io
import os
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal import readers, writers
from agent_journal.conversion.output import new_run
from agent_journal.errors import CannotWrite, NoSuchName
from agent_journal.files import make_folder, whole_file
from agent_journal.model import Conversation, ids
from agent_journal.notes import Notes
from agent_journal.writers.dialects.agent_sessions import obstacle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent_journal.writers import Writer

_MAX_COPIES = 100


class WrittenSession(NamedTuple):
    """A session that a tool can resume."""

    id: str
    root: str
    """The folder in which the tool looks for sessions."""
    paths: list[str]
    """Its files; none of them was there before, unless `is_new` says otherwise."""
    is_new: bool
    """Whether it was written now; otherwise the same files were there already."""
    variable: str | None
    """The environment variable that must name the folder, if it is not the default one."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"id": self.id, "files": self.paths, "is_new": self.is_new}


class _MemoryBundle:
    """The files of a bundle in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    @contextmanager
    def file(self, path: str) -> Iterator[IO[bytes]]:
        out = io.BytesIO()
        yield out
        self.files[path] = out.getvalue()


def tools() -> list[str]:
    """Return the names of the tools in which a conversation can be continued."""
    return sorted(name for name, writer in writers.discover().items() if writer.INFO.homes)


def tool_called(name: str) -> Writer:
    """Return what writes sessions for a tool."""
    if name not in tools():
        raise NoSuchName("tool", name, tools())
    return writers.get(name)


def title_of(source: str) -> str:
    """Return how people call a source."""
    reader = readers.discover().get(source)
    return reader.INFO.title if reader else source


def write_session(
    conversation: Conversation,
    subagents: Sequence[Conversation],
    tool: str,
    *,
    project: str,
    folder: str | None,
    environ: Mapping[str, str],
    notes: Notes,
) -> WrittenSession:
    """Write a conversation as a session of a tool in a project folder; nothing is overwritten.

    It goes to where the tool looks for its sessions, or below `folder`. Raises CannotWrite, and leaves
    no file, if the tool cannot have it.
    """
    writer = tool_called(tool)
    if why := obstacle(conversation):
        where = f"{conversation.source}:{conversation.id} as a session of {writer.INFO.title}"
        raise CannotWrite(where, f"it is {why}")
    root, variable = _root(writer, folder, environ)
    for number in range(_MAX_COPIES):
        session = _session_id(conversation, writer, number)
        given = notes if number == 0 else Notes()  # a second copy loses what the first one did
        files = _files(conversation, subagents, writer, session, project=project, notes=given)
        if relocate := getattr(writer, "relocate", None):
            files = relocate(files, root, project)
        paths = {os.path.join(root, *path.split("/")): data for path, data in files.items()}
        existing = [path for path in paths if os.path.lexists(path)]
        if not existing:
            _write_all(paths)
            return WrittenSession(session, root, [*paths], is_new=True, variable=variable)
        if all(_has(path, data) for path, data in paths.items()):
            return WrittenSession(session, root, [*paths], is_new=False, variable=variable)
    raise CannotWrite(root, f"it already has {_MAX_COPIES} copies of this conversation")


def resume_command(tool: str) -> str:
    """Return the command that resumes a session of a tool, with `{id}` for its id."""
    reader = readers.get(writers.get(tool).INFO.reader or tool)
    return reader.INFO.resume


def _root(writer: Writer, folder: str | None, environ: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the folder of a tool's sessions, and the variable that must name it if it is another one."""
    variables = [home.strip("%") for home in writer.INFO.homes if home.startswith("%")]
    if folder is not None:
        return os.path.abspath(folder), next(iter(variables), None)
    for variable in variables:
        if environ.get(variable):
            return os.path.abspath(environ[variable]), None
    default = next(home for home in writer.INFO.homes if not home.startswith("%"))
    return os.path.expanduser(default), None


def _session_id(conversation: Conversation, writer: Writer, number: int) -> str:
    own: str = writer.session_id(conversation)  # type: ignore[attr-defined] # all that have homes have it
    return ids.made("copy", own, number) if number else own


def _files(
    conversation: Conversation,
    subagents: Sequence[Conversation],
    writer: Writer,
    session: str,
    *,
    project: str,
    notes: Notes,
) -> dict[str, bytes]:
    items = [replace(conversation, id=session, cwd=project, made_id=False)]
    for each in subagents:
        if each.link is not None and not obstacle(each):
            link = replace(each.link, conversation_id=session)
            name = each.id.rpartition("/")[2]
            own_id = f"{session}/{name}" if each.source == writer.INFO.name else each.id
            items.append(replace(each, id=own_id, cwd=project, link=link))
    bundle = _MemoryBundle()
    writer.write(items, bundle, new_run(notes))
    if not bundle.files:
        where = f"{conversation.source}:{conversation.id} as a session of {writer.INFO.title}"
        raise CannotWrite(where, "it has neither text nor tool calls")
    return bundle.files


def _write_all(files: Mapping[str, bytes]) -> None:
    """Write files that do not exist yet; if one fails, those before it are removed."""
    written: list[str] = []
    try:
        for path, data in files.items():
            make_folder(os.path.dirname(path))
            with whole_file(path, replaces=False) as out:
                out.write(data)
            written.append(path)
    except BaseException:
        for path in written:
            with suppress(OSError):
                os.unlink(path)
        raise


def _has(path: str, data: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read() == data
    except OSError:
        return False
