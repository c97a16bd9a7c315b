"""Every exception a person can meet: each says what, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class AgentJournalError(Exception):
    """Base of all; `str()` of it is the one line that is shown."""


class UnreadableSource(AgentJournalError):
    """A whole file, folder or archive could not be read."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"cannot read {where}: {reason}")
        self.where = where
        self.reason = reason


class UnknownFormat(AgentJournalError):
    """No reader claims the input."""

    def __init__(self, where: str, reason: str, tried: int) -> None:
        super().__init__(
            f"cannot tell what {where} is: {reason}; "
            f"tried {tried} formats, name one with -f ('aj formats' lists them)"
        )
        self.where = where
        self.reason = reason


class AmbiguousFormat(AgentJournalError):
    """Several readers claim the input."""

    def __init__(self, where: str, claims: Sequence[str]) -> None:
        super().__init__(
            f"{where} could be {' or '.join(claims)}; say which with -f {claims[0]} or -f NAME@VERSION"
        )
        self.where = where
        self.claims = tuple(claims)


class NoSuchName(AgentJournalError):
    """A reader, writer or version that does not exist was asked for."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no {what} is called {name!r}; known: {', '.join(known)}")
        self.name = name


class NoSuchMessage(AgentJournalError):
    """No message, or more than one, is called so."""

    def __init__(self, message_id: str, candidates: Sequence[str] = ()) -> None:
        several = f"{message_id!r} begins several ids: {', '.join(candidates)}; say more of it"
        shown = "'aj show ID --json' and 'aj convert -t json' show the ids"
        super().__init__(several if candidates else f"no message is called {message_id!r}; {shown}")
        self.message_id = message_id


class CannotWrite(AgentJournalError):
    """The output could not be written."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"cannot write {where}: {reason}")
        self.where = where


class IndexBehind(AgentJournalError):
    """The index of words could not be written; what it lacks is archived."""

    def __init__(self, problem: AgentJournalError) -> None:
        super().__init__(
            f"{problem}; all that was read is archived, and the next 'aj sync' that can write there makes it "
            "searchable"
        )


class MissingExtra(AgentJournalError):
    """Something needs a package that is installed only if asked for."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs a package that is not installed; pip install 'agent-journal[{extra}]'"
        )
        self.extra = extra


class BadPlugin(AgentJournalError):
    """What another package offers cannot be used."""

    def __init__(self, package: str, what: str, reason: str) -> None:
        super().__init__(
            f"the package {package} offers {what}, which cannot be used: {reason}; "
            f"update or remove it: pip uninstall {package}"
        )
        self.package = package


class BadConfig(AgentJournalError):
    """The configuration says something that cannot be done."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


class DamagedArchive(AgentJournalError):
    """Something in the journal is not what was put there."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}; 'aj check --deep' tells what else is damaged")
        self.where = where
        self.reason = reason


class ArchiveInUse(AgentJournalError):
    """Another process is writing to the journal."""

    def __init__(self, where: str, who: str) -> None:
        self.said = f"another aj is writing to {where}{who}"
        super().__init__(f"{self.said}; try again when it is done")


class UnusableArchive(AgentJournalError):
    """The journal cannot be opened, or not by this version."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"cannot use the journal {where}: {reason}")


class OlderArchive(UnusableArchive):
    """An older version wrote the journal, and nobody has brought it up yet."""

    def __init__(self, where: str) -> None:
        super().__init__(where, "its tables are of an older version; 'aj sync' brings them up")


class NoSuchConversation(AgentJournalError):
    """No conversation, or more than one, is called so."""

    def __init__(self, name: str, candidates: Sequence[str] = (), *, was_forgotten: bool = False) -> None:
        several = f"{name!r} begins several ids: {', '.join(candidates)}; say more of it"
        none = f"no conversation is called {name!r}; 'aj list' shows them"
        if was_forgotten:
            none = f"{name!r} was forgotten already, and nothing of it is left"
        super().__init__(several if candidates else none)
        self.name = name


class UnfinishedErasure(AgentJournalError):
    """Something is forgotten, and not yet erased from every file."""

    def __init__(self, cause: AgentJournalError) -> None:
        super().__init__(
            f"what was forgotten is not erased from every file yet: {cause}; when that is mended, the next "
            "'aj forget', 'aj sync', 'aj check' or 'aj doctor' finishes it"
        )
        self.cause = cause


class IndexDamaged(AgentJournalError):
    """The index of words is missing, broken, or of another version or journal: it must be made again."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"cannot use the search index in {where}: {reason}; 'aj reindex' makes it again")
        self.where = where
        self.reason = reason


class IndexInUse(AgentJournalError):
    """Another process writes the index of words."""

    def __init__(self, where: str) -> None:
        super().__init__(f"another process writes the search index in {where}; try again when it is done")
        self.where = where
