"""What a search returns: hits, and what is to be known about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    from agent_journal.archive.store import EntryView, Listed
    from agent_journal.search.marking import Snippet
    from agent_journal.search.query import RejectedFilter
    from agent_journal.search.spelling import Correction

Mode: TypeAlias = Literal["lexical", "semantic", "hybrid"]
MODES: tuple[Mode, ...] = get_args(Mode)

_SCORE_DIGITS = 4


class Page(NamedTuple):
    """Which hits to return, and how many messages around each."""

    limit: int = 20
    offset: int = 0
    context: int = 0
    whole: bool = False
    """Whether each hit needs all texts of its message, also reasoning, attachments and tool calls."""
    related_snippets: int = 0
    """How many of the other hits in each conversation need a snippet."""


class RelatedHit(NamedTuple):
    """One more hit in a conversation or its subagents."""

    conversation: str
    message: str
    role: str
    at: str | None
    score: float
    key: int
    """Of the conversation, in this journal."""
    entry_key: int = 0
    snippet: Snippet | None = None
    """Only if it was requested."""
    field: str = ""
    """The field of the snippet."""


class Hit(NamedTuple):
    """The best hit in a conversation (which is None for a memory)."""

    entry: EntryView
    conversation: Listed | None
    score: float
    before: list[EntryView]
    after: list[EntryView]
    snippet: Snippet
    field: str
    """The field of the snippet: `text`, `title`, `thinking`, `tool` (input), `output`, `attached`."""
    others: list[RelatedHit]
    """More hits in the conversation, best first."""
    copies: list[str]
    """Ids of other conversations that have the same message."""
    is_semantic_only: bool = False
    """Whether it has none of the words, and is only similar in meaning."""

    @property
    def behind(self) -> list[EntryView]:
        """Another name of `after`."""
        return self.after

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        listed, entry = self.conversation, self.entry
        return {
            "conversation": listed.id if listed else None,
            "message": entry.message or None,
            "source": listed.source if listed else entry.source or None,
            "product": listed.product if listed else None,
            "title": listed.title if listed else None,
            "project": listed.project if listed else None,
            "role": entry.role or None,
            "at": entry.at,
            "score": round(self.score, _SCORE_DIGITS),
            "field": self.field,
            "snippet": self.snippet.text,
            "marks": self.snippet.marks,
            "text": entry.text,
            "context": [
                {"message": each.message, "role": each.role, "at": each.at, "text": each.text, "place": place}
                for place, side in (("before", self.before), ("behind", self.after))
                for each in side
            ],
            "others": [
                {
                    "conversation": each.conversation,
                    "message": each.message or None,
                    "role": each.role or None,
                    "at": each.at,
                    "score": round(each.score, _SCORE_DIGITS),
                }
                for each in self.others
            ],
            "copies": self.copies,
            "semantic_only": self.is_semantic_only,
        }


class Answer(NamedTuple):
    """The hits of a search, and how complete they are."""

    hits: list[Hit]
    is_whole: bool
    """Whether all entries were searched, or all since `since`."""
    has_more: bool = False
    """Whether there are more hits after the last one."""
    corrections: list[Correction] = []
    """Words that hardly any entry has, and their replacements."""
    problem: str = ""
    """Why the index could not be used, if so: the rows were scanned instead."""
    unindexed_count: int = 0
    """The number of newest entries that are missing in the index."""
    is_empty: bool = False
    """Whether the journal is empty."""
    semantic_problem: str = ""
    """Why semantic search was not possible or incomplete; empty if all is well or it was not requested."""
    unembedded_count: int = 0
    """About how many entries a semantic search could not find, because they have no embeddings yet."""

    @property
    def behind(self) -> int:
        """Another name of `unindexed_count`."""
        return self.unindexed_count

    since: int | None = None
    """For very common words: the time since which messages were searched, in seconds since 1970."""
    is_semantic_only: bool = False
    """Whether no hit has the words: all are only semantically similar."""
    unknown: list[tuple[str, str]] = []
    """If there are no hits: filter values that nothing has, such as `("source", "claud")`."""
    misfits: tuple[RejectedFilter, ...] = ()
    """What looks like a filter, but has an invalid value and was searched literally."""
    missing: tuple[str, ...] = ()
    """What no message has, as typed: words without stop words, names and quoted phrases."""

    @property
    def by_meaning(self) -> bool:
        """Another name of `is_semantic_only`."""
        return self.is_semantic_only

    @property
    def meaning(self) -> str:
        """Another name of `semantic_problem`."""
        return self.semantic_problem

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            **self._asdict(),
            "hits": [hit.to_dict() for hit in self.hits],
            "corrections": [each._asdict() for each in self.corrections],
            "misfits": [each._asdict() for each in self.misfits],
        }
