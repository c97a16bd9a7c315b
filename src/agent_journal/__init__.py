"""Agent Journal: every conversation with an AI, read from where it lies, written in any format."""

from __future__ import annotations

TYPE_CHECKING = False  # typing's own is worth 10 ms of every start
if TYPE_CHECKING:
    from agent_journal.api import convert, open_archive, read, write
    from agent_journal.errors import (
        AgentJournalError,
        AmbiguousFormat,
        ArchiveInUse,
        BadConfig,
        BadPlugin,
        CannotWrite,
        DamagedArchive,
        IndexBehind,
        IndexDamaged,
        IndexInUse,
        MissingExtra,
        NoSuchConversation,
        NoSuchMessage,
        NoSuchName,
        OlderArchive,
        UnfinishedErasure,
        UnknownFormat,
        UnreadableSource,
        UnusableArchive,
    )
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

__version__ = "0.1.0"

__all__ = [
    "AgentJournalError",
    "AmbiguousFormat",
    "ArchiveInUse",
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
    "Kind",
    "Link",
    "Media",
    "Memory",
    "Message",
    "MissingExtra",
    "NoSuchConversation",
    "NoSuchMessage",
    "NoSuchName",
    "Note",
    "Notes",
    "OlderArchive",
    "Origin",
    "Other",
    "Reasoning",
    "Request",
    "Summary",
    "Text",
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
    "read",
    "write",
]


if not TYPE_CHECKING:  # a type checker that saw this would take any name for a public one

    def __getattr__(name: str) -> object:
        """A public name, from the module that has it: importing the package alone imports nothing else."""
        if name in __all__:
            from importlib import import_module  # noqa: PLC0415 (only where needed)

            for module in ("model", "notes", "errors", "api", "search.query"):
                found = getattr(import_module(f"{__name__}.{module}"), name, None)
                if found is not None:
                    globals()[name] = found
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
