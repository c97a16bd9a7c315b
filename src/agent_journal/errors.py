"""Every exception that callers can meet: each states what happened, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class AgentJournalError(Exception):
    """Base of all; `str()` of it is the line that `aj` prints."""


class UnreadableSource(AgentJournalError):
    """A whole file, folder or zip could not be read."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"Cannot read {where}: {reason}")
        self.where = where
        self.reason = reason


class UnknownFormat(AgentJournalError):
    """No reader recognizes the input."""

    def __init__(self, where: str, reason: str, tried: int) -> None:
        super().__init__(
            f"Unknown format of {where}: {reason}; "
            f"none of {tried} readers recognizes it. Choose a format with -f ('aj formats' lists them)."
        )
        self.where = where
        self.reason = reason


class AmbiguousFormat(AgentJournalError):
    """Several readers recognize the input."""

    def __init__(self, where: str, claims: Sequence[str]) -> None:
        super().__init__(
            f"Ambiguous format of {where}: it could be {' or '.join(claims)}. "
            f"Choose one with -f {claims[0]} or -f NAME@VERSION."
        )
        self.where = where
        self.claims = tuple(claims)


class NoSuchName(AgentJournalError):
    """There is no reader, writer or version with this name."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        super().__init__(f"Unknown {what} {name!r}; choose one of: {', '.join(known)}")
        self.name = name


class NoSuchMessage(AgentJournalError):
    """No message, or more than one, has an id that starts with this."""

    def __init__(self, message_id: str, candidates: Sequence[str] = ()) -> None:
        unknown = (
            f"No message has the id {message_id!r}; "
            "'aj show ID --json' and 'aj convert -t json' show the ids."
        )
        super().__init__(_ambiguous(message_id, candidates) if candidates else unknown)
        self.message_id = message_id


class CannotWrite(AgentJournalError):
    """The output could not be written."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"Cannot write {where}: {reason}")
        self.where = where


class IndexBehind(AgentJournalError):
    """The search index could not be written; the entries that it lacks are archived."""

    def __init__(self, problem: AgentJournalError) -> None:
        super().__init__(
            f"{problem}; everything that was read is archived, and becomes searchable with the next "
            "'aj sync' that can write there"
        )


class MissingExtra(AgentJournalError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"Missing package for {what}; install it with: pip install 'agent-journal[{extra}]'")
        self.extra = extra


class BadPlugin(AgentJournalError):
    """A reader or writer of another package cannot be used."""

    def __init__(self, package: str, what: str, reason: str) -> None:
        super().__init__(
            f"Cannot use {what} of the package {package}: {reason}; update the package, or remove it with: "
            f"pip uninstall {package}"
        )
        self.package = package


class BadConfig(AgentJournalError):
    """A setting has an unknown key or an invalid value, or the file cannot be used."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


class DamagedArchive(AgentJournalError):
    """Part of the journal is damaged."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}; 'aj check --deep' lists all damage")
        self.where = where
        self.reason = reason


class ArchiveInUse(AgentJournalError):
    """Another process is writing to the journal."""

    def __init__(self, where: str, who: str) -> None:
        self.description = f"Another aj is writing to {where}{who}"
        super().__init__(f"{self.description}; try again when it is done.")


class UnusableArchive(AgentJournalError):
    """The journal cannot be opened, or not by this version."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"Cannot use the journal {where}: {reason}")


class NoArchive(UnusableArchive):
    """There is no journal yet."""


class OlderArchive(UnusableArchive):
    """An older version wrote the journal, and it has not been upgraded yet."""

    def __init__(self, where: str) -> None:
        super().__init__(where, "its tables are of an older version; 'aj sync' upgrades them")


class NoSuchConversation(AgentJournalError):
    """No conversation, or more than one, has an id that starts with this."""

    def __init__(self, name: str, candidates: Sequence[str] = (), *, was_forgotten: bool = False) -> None:
        if candidates:
            message = _ambiguous(name, candidates)
        elif was_forgotten:
            message = f"{name!r} is already deleted."
        else:
            message = f"No conversation has the id {name!r}; 'aj list' lists all conversations."
        super().__init__(message)
        self.name = name


def _ambiguous(prefix: str, candidates: Sequence[str]) -> str:
    return f"{prefix!r} is ambiguous: it could be {', '.join(candidates)}; use a longer prefix."


class BadArguments(AgentJournalError):
    """An agent called a tool with arguments that it does not take."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"Cannot call {tool}: {reason}")
        self.tool = tool
        self.reason = reason


class TooManyCalls(AgentJournalError):
    """An agent calls tools faster than any useful work would."""

    def __init__(self, per_minute: int) -> None:
        super().__init__(f"More than {per_minute} calls in a minute; wait before the next one.")


class UnfinishedErasure(AgentJournalError):
    """Something is forgotten, but not yet erased from every file."""

    def __init__(self, cause: AgentJournalError) -> None:
        super().__init__(
            f"Deleted conversations are not erased from every file yet: {cause}; when that is solved, the "
            "next 'aj forget', 'aj sync', 'aj check' or 'aj doctor' finishes it"
        )
        self.cause = cause


class IndexDamaged(AgentJournalError):
    """The search index is missing, broken, or of another version or journal, and must be rebuilt."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"Cannot use the search index in {where}: {reason}; 'aj reindex' rebuilds it")
        self.where = where
        self.reason = reason


class IndexInUse(AgentJournalError):
    """Another process is writing the search index."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"Another process is writing the search index in {where}; try again when it is done."
        )
        self.where = where


class PortInUse(AgentJournalError):
    """Another program listens on the port, or the system does not allow it."""

    def __init__(self, port: int) -> None:
        super().__init__(
            f"Cannot use port {port}: another program uses it, or it is reserved; choose another one with "
            "--port, or leave the option out"
        )
        self.port = port
