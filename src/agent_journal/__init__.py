"""Agent Journal: read, archive, search and convert conversations with AI tools."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing for its constant would add 10 ms to every start
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from agent_journal.api import convert, open_archive, open_journal, read, write
    from agent_journal.errors import (
        AgentJournalError,
        AmbiguousFormat,
        ArchiveInUse,
        BadArguments,
        BadConfig,
        BadPlugin,
        CannotWrite,
        DamagedArchive,
        IndexBehind,
        IndexDamaged,
        IndexInUse,
        MissingExtra,
        NoArchive,
        NoSuchConversation,
        NoSuchMessage,
        NoSuchName,
        OlderArchive,
        PortInUse,
        TooManyCalls,
        UnfinishedErasure,
        UnknownFormat,
        UnreadableSource,
        UnusableArchive,
    )
    from agent_journal.journal import Journal
    from agent_journal.model import (
        Citation,
        Code,
        Conversation,
        Event,
        Feedback,
        Link,
        Media,
        Memory,
        Message,
        Origin,
        Other,
        Reasoning,
        Request,
        Summary,
        Text,
        Tool,
        ToolCall,
        ToolResult,
        Usage,
    )
    from agent_journal.notes import Kind, Note, Notes
    from agent_journal.search.query import Filters

__version__ = "0.2.0"

__all__ = [
    "AgentJournalError",
    "AmbiguousFormat",
    "ArchiveInUse",
    "BadArguments",
    "BadConfig",
    "BadPlugin",
    "CannotWrite",
    "Citation",
    "Code",
    "Conversation",
    "DamagedArchive",
    "Event",
    "Feedback",
    "Filters",
    "IndexBehind",
    "IndexDamaged",
    "IndexInUse",
    "Journal",
    "Kind",
    "Link",
    "Media",
    "Memory",
    "Message",
    "MissingExtra",
    "NoArchive",
    "NoSuchConversation",
    "NoSuchMessage",
    "NoSuchName",
    "Note",
    "Notes",
    "OlderArchive",
    "Origin",
    "Other",
    "PortInUse",
    "Reasoning",
    "Request",
    "Summary",
    "Text",
    "TooManyCalls",
    "Tool",
    "ToolCall",
    "ToolResult",
    "UnfinishedErasure",
    "UnknownFormat",
    "UnreadableSource",
    "UnusableArchive",
    "Usage",
    "__version__",
    "convert",
    "open_archive",
    "open_journal",
    "read",
    "write",
]


if not TYPE_CHECKING:  # a type checker that saw this would accept any name

    def __getattr__(name: str) -> object:
        """A public name, imported from its module on first use, so that importing the package is fast."""
        if name in __all__:
            from importlib import import_module  # noqa: PLC0415 (only where needed)

            for module in ("model", "notes", "errors", "api", "search.query", "journal"):
                value = getattr(import_module(f"{__name__}.{module}"), name, None)
                if value is not None:
                    globals()[name] = value
                    return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


_OLD_NAMES = frozenset(
    """
    amounts blocks by_meaning canonical closing counts database demo embedding encoding exporting fields
    forks health homes ids indexing inflating jsonstream jsontext jsonvalue jsonwindow output peek
    pipeline redact roles searching signing source spill survey tables telling times tomltext transforms
    tree validate visible watching yamltext zipped
    """.split()  # noqa: SIM905 (a list would take fifty lines)
)


class _OldPaths:
    """Imports modules of the package by the paths that they had until version 0.1; see `moved`.

    It is the first finder, because the folder of an old path may still exist, without its modules.
    """

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if not name.startswith("agent_journal."):
            return None
        steps = name.split(".", 2)
        if steps[1] not in _OLD_NAMES and not name.startswith("agent_journal.readers._"):
            return None
        from agent_journal.moved import spec_of  # noqa: PLC0415 (only where needed)

        return spec_of(name)


sys.meta_path.insert(0, _OldPaths())
