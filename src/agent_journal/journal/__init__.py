"""A journal: the archive and its index together, and everything that keeps them current.

| module | contents |
|---|---|
| `journal` | `Journal`, the facade |
| `sessions`, `search_resources` | what threads borrow for a call, and what they share |
| `paging` | pages of conversations and of messages |
| `importing` | `sync` and `import_files` |
| `erasing` | `forget`, and finishing what was interrupted |
| `upkeep` | `reindex`, `repair`, `embed`, disk usage |
| `index_upkeep`, `embeddings` | keep the word index and the vectors in step with the rows |
| `search`, `semantic` | answer queries |
| `watch`, `export`, `inventory`, `doctor`, `demo` | one verb each |

The names below are imported from their module when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_journal.archive.store import SORTS, Filter, Listed, Sort
    from agent_journal.journal.clock import utc_now
    from agent_journal.journal.erasing import Erased, finish_erasing, finish_forgetting, forget
    from agent_journal.journal.importing import Summary, import_files, sync
    from agent_journal.journal.journal import Journal
    from agent_journal.journal.paging import ConversationOutline, Fork, MessagePage, Page, Prompt
    from agent_journal.journal.sessions import Damage
    from agent_journal.journal.upkeep import (
        describe_rebuilt_index,
        disk_usage,
        embed,
        embed_in_background,
        reindex,
        repair,
        update_index,
    )

_NAMES = {
    "archive.store": "SORTS Filter Listed Sort",
    "journal.clock": "utc_now",
    "journal.erasing": "Erased finish_erasing finish_forgetting forget",
    "journal.importing": "Summary import_files sync",
    "journal.journal": "Journal",
    "journal.paging": "ConversationOutline Fork MessagePage Page Prompt",
    "journal.sessions": "Damage",
    "journal.upkeep": (
        "describe_rebuilt_index disk_usage embed embed_in_background reindex repair update_index"
    ),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

_OLD_NAMES = {"mend": "update_index"}

__all__ = [
    "SORTS",
    "ConversationOutline",
    "Damage",
    "Erased",
    "Filter",
    "Fork",
    "Journal",
    "Listed",
    "MessagePage",
    "Page",
    "Prompt",
    "Sort",
    "Summary",
    "describe_rebuilt_index",
    "disk_usage",
    "embed",
    "embed_in_background",
    "finish_erasing",
    "finish_forgetting",
    "forget",
    "import_files",
    "reindex",
    "repair",
    "sync",
    "update_index",
    "utc_now",
]


if not TYPE_CHECKING:  # a type checker that saw this would accept any name

    def __getattr__(name: str) -> object:
        name = _OLD_NAMES.get(name, name)
        if name in _MODULE_OF:
            from importlib import import_module  # noqa: PLC0415 (only where needed)

            return getattr(import_module(f"agent_journal.{_MODULE_OF[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
