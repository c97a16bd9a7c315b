"""A journal: the archive and its index together, and everything that keeps them current.

The names below are those of `facade`, which is imported when one of them is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_journal.journal.facade import (
        Journal,
        Summary,
        describe_rebuilt_index,
        disk_usage,
        embed,
        embed_in_background,
        finish_erasing,
        finish_forgetting,
        forget,
        import_files,
        mend,
        reindex,
        repair,
        sync,
        utc_now,
    )

__all__ = [
    "Journal",
    "Summary",
    "describe_rebuilt_index",
    "disk_usage",
    "embed",
    "embed_in_background",
    "finish_erasing",
    "finish_forgetting",
    "forget",
    "import_files",
    "mend",
    "reindex",
    "repair",
    "sync",
    "utc_now",
]


if not TYPE_CHECKING:  # a type checker that saw this would take any name for a public one

    def __getattr__(name: str) -> object:
        if name in __all__:
            from agent_journal.journal import facade  # noqa: PLC0415 (its parts must not import all of it)

            return getattr(facade, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
