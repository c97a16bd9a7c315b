"""A journal: the archive and its index together, and everything that keeps them current.

| module | contents |
|---|---|
| `journal`, `changes`, `access` | `Journal`: verbs that read, verbs that change, what both need |
| `sessions`, `search_resources` | what threads borrow for a call, and what they share |
| `paging`, `recent` | pages of conversations and of messages; what was asked lately |
| `importing`, `import_totals` | `sync` and `import_files`, and what they did |
| `erasing` | `forget`, and finishing what was interrupted |
| `upkeep` | `reindex`, `repair`, `embed`, disk usage |
| `index_upkeep`, `embeddings` | keep the word index and the vectors in step with the rows |
| `search`, `semantic` | answer queries |
| `shown` | a conversation as people read it |
| `watch`, `export`, `inventory`, `doctor`, `demo` | one verb each |

The names below are imported from their module when they are first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_journal.archive.backup import Copied
    from agent_journal.archive.candidates import Result
    from agent_journal.archive.checking import Problem
    from agent_journal.archive.repairing import Lost, Repaired, RepairOutcome
    from agent_journal.archive.restoring import RestoredFile
    from agent_journal.archive.store import (
        SORTS,
        Counts,
        EntryView,
        Filter,
        Listed,
        Sort,
        Status,
        UsageConversation,
    )
    from agent_journal.archive.vault_checks import CheckOutcome
    from agent_journal.blame.answer import Blame, BlamedEdit
    from agent_journal.discovery import EncryptedFiles
    from agent_journal.journal.answer import MODES, Answer, Hit, Mode, RelatedHit
    from agent_journal.journal.clock import utc_now
    from agent_journal.journal.doctor import Finding
    from agent_journal.journal.embeddings import State
    from agent_journal.journal.erasing import Erased, finish_erasing, finish_forgetting, forget
    from agent_journal.journal.export import ExportChoice, ExportOptions, ExportReport, ExportTarget
    from agent_journal.journal.forgetting import FinishedForget, ForgetPlan, Forgotten
    from agent_journal.journal.import_totals import ImportTotals
    from agent_journal.journal.importing import Summary, import_files, sync
    from agent_journal.journal.inventory import Inventory, SourceInventory
    from agent_journal.journal.journal import Journal
    from agent_journal.journal.loading import ConversationLoader
    from agent_journal.journal.paging import ConversationOutline, Fork, MessagePage, Page, Prompt
    from agent_journal.journal.recent import RecentConversation
    from agent_journal.journal.sessions import Damage
    from agent_journal.journal.shown import ShownConversation, ShownEntries, ShownPart
    from agent_journal.journal.status import Activity, JournalStatus, UnreadFile
    from agent_journal.journal.upkeep import (
        describe_rebuilt_index,
        disk_usage,
        embed,
        embed_in_background,
        is_part_of_journal,
        reindex,
        repair,
        update_index,
    )
    from agent_journal.journal.verification import CheckReport
    from agent_journal.journal.watch import Watcher
    from agent_journal.search.facets import Facets, FacetValue
    from agent_journal.search.marking import Snippet
    from agent_journal.search.query import Query, RejectedFilter
    from agent_journal.search.spelling import Correction
    from agent_journal.usage import GROUPINGS, By, Notices, Report, Row, TokenTotals

_NAMES = {
    "archive.backup": "Copied",
    "archive.candidates": "Result",
    "archive.checking": "Problem",
    "archive.repairing": "Lost Repaired RepairOutcome",
    "archive.store": "SORTS Counts EntryView Filter Listed Sort Status UsageConversation",
    "archive.vault_checks": "CheckOutcome",
    "blame.answer": "Blame BlamedEdit",
    "archive.restoring": "RestoredFile",
    "discovery": "EncryptedFiles",
    "journal.clock": "utc_now",
    "journal.doctor": "Finding",
    "journal.embeddings": "State",
    "journal.erasing": "Erased finish_erasing finish_forgetting forget",
    "journal.export": "ExportChoice ExportOptions ExportReport ExportTarget",
    "journal.forgetting": "FinishedForget ForgetPlan Forgotten",
    "journal.import_totals": "ImportTotals",
    "journal.importing": "Summary import_files sync",
    "journal.inventory": "Inventory SourceInventory",
    "journal.journal": "Journal",
    "journal.loading": "ConversationLoader",
    "journal.paging": "ConversationOutline Fork MessagePage Page Prompt",
    "journal.recent": "RecentConversation",
    "journal.answer": "MODES Answer Hit Mode RelatedHit",
    "journal.sessions": "Damage",
    "journal.shown": "ShownConversation ShownEntries ShownPart",
    "journal.status": "Activity JournalStatus UnreadFile",
    "journal.upkeep": (
        "describe_rebuilt_index disk_usage embed embed_in_background is_part_of_journal reindex repair "
        "update_index"
    ),
    "journal.verification": "CheckReport",
    "journal.watch": "Watcher",
    "search.facets": "Facets FacetValue",
    "search.marking": "Snippet",
    "search.query": "Query RejectedFilter",
    "search.spelling": "Correction",
    "usage": "GROUPINGS By Notices Report Row TokenTotals",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

_OLD_NAMES = {"mend": "update_index"}

__all__ = [
    "GROUPINGS",
    "MODES",
    "SORTS",
    "Activity",
    "Answer",
    "Blame",
    "BlamedEdit",
    "By",
    "CheckOutcome",
    "CheckReport",
    "ConversationLoader",
    "ConversationOutline",
    "Copied",
    "Correction",
    "Counts",
    "Damage",
    "EncryptedFiles",
    "EntryView",
    "Erased",
    "ExportChoice",
    "ExportOptions",
    "ExportReport",
    "ExportTarget",
    "FacetValue",
    "Facets",
    "Filter",
    "Finding",
    "FinishedForget",
    "ForgetPlan",
    "Forgotten",
    "Fork",
    "Hit",
    "ImportTotals",
    "Inventory",
    "Journal",
    "JournalStatus",
    "Listed",
    "Lost",
    "MessagePage",
    "Mode",
    "Notices",
    "Page",
    "Problem",
    "Prompt",
    "Query",
    "RecentConversation",
    "RejectedFilter",
    "RelatedHit",
    "RepairOutcome",
    "Repaired",
    "Report",
    "RestoredFile",
    "Result",
    "Row",
    "ShownConversation",
    "ShownEntries",
    "ShownPart",
    "Snippet",
    "Sort",
    "SourceInventory",
    "State",
    "Status",
    "Summary",
    "TokenTotals",
    "UnreadFile",
    "UsageConversation",
    "Watcher",
    "describe_rebuilt_index",
    "disk_usage",
    "embed",
    "embed_in_background",
    "finish_erasing",
    "finish_forgetting",
    "forget",
    "import_files",
    "is_part_of_journal",
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
