"""What happens where in a conversation: prompts, errors, changed files, tools and models."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.model import Code, Media, Message, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.rendering.blocks import excerpt
from agent_journal.rendering.figures import ConversationFigures
from agent_journal.rendering.file_edits import Edit, file_edits
from agent_journal.text import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Event, Part
    from agent_journal.rendering.context import ListPrice

_CHANGING_KINDS = frozenset({"edit", "write", "shell", None})  # patches are applied by many tools


class Mark(NamedTuple):
    """An entry and its position on its branch."""

    position: int
    message_id: str


class Prompt(NamedTuple):
    """A prompt with its first words."""

    position: int
    message_id: str
    words: str
    at: str | None


class FileChange(NamedTuple):
    """A change of a file by a tool call."""

    position: int
    message_id: str
    at: str | None
    edit: Edit

    @property
    def changed_lines(self) -> tuple[int, int]:
        """How many lines it adds and removes."""
        starts = [line[:1] for line in self.edit.diff.split("\n")]
        return starts.count("+"), starts.count("-")


class ChangedFile(NamedTuple):
    """All changes of a file, in order."""

    path: str
    changes: list[FileChange]
    added: int
    removed: int


class ConversationOutline:
    """Collects what happens on a branch, entry by entry."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.errors: list[Mark] = []
        self.edits: list[Mark] = []
        self.tools: Counter[str] = Counter()
        self.models: Counter[str] = Counter()
        self.messages = 0
        self.figures = ConversationFigures()
        self._changes: dict[str, list[FileChange]] = {}
        self._answers: dict[object, Message] = {}

    def add(self, position: int, entry: Message | Event) -> None:
        """Add the next entry."""
        self.figures.add(entry)
        if not isinstance(entry, Message):
            return
        self.messages += 1
        mark = Mark(position, entry.id)
        if entry.role == "user" and not entry.hidden:
            texts = (part.text for part in entry.parts if isinstance(part, Text) and not part.injected)
            if words := excerpt(texts):
                self.prompts.append(Prompt(*mark, words, entry.at))
        if entry.model:
            self.models[entry.model] += 1
        if entry.usage is not None:
            key = entry.usage.key if entry.usage.key is not None else entry.id
            self._answers[key] = replace(entry, parts=[], native=None, extra={})
        if any(result.is_error for result in tree.results_in(entry)):
            self.errors.append(mark)
        self._add_calls(mark, entry)

    def _add_calls(self, mark: Mark, message: Message) -> None:
        edits: list[Edit] = []
        for call in tree.calls_in(message):
            self.tools[call.name] += 1
            if call.kind in _CHANGING_KINDS:
                edits += file_edits(call)
        if edits:
            self.edits.append(mark)
        for edit in edits:
            self._changes.setdefault(edit.path or "", []).append(FileChange(*mark, message.at, edit))

    @property
    def tokens(self) -> str:
        """The numbers of tokens, and their cost if the source states it."""
        return describe.tokens([each.usage for each in self._answers.values() if each.usage is not None])

    def list_price(self, source: str, list_price: ListPrice) -> float | None:
        """What the vendors' APIs would have charged, as far as prices are known; None without any."""
        prices = [list_price(source, answer) for answer in self._answers.values()]
        known = [price for price in prices if price is not None]
        return sum(known) if known else None

    @property
    def files(self) -> list[ChangedFile]:
        """The changed files, by path."""
        changed = []
        for path, changes in sorted(self._changes.items()):
            lines = [change.changed_lines for change in changes]
            added, removed = (sum(numbers) for numbers in zip(*lines, strict=True))
            changed.append(ChangedFile(path, changes, added, removed))
        return changed


def count_matches(entry: Message | Event, needle: str) -> int:
    """How often a text, in lower case, is in an entry, also where a page folds it."""
    if not isinstance(entry, Message):
        return 0
    return sum(text.lower().count(needle) for part in entry.parts for text in _texts(part))


def _texts(part: Part) -> Iterator[str]:
    """All texts of a part that a page shows."""
    match part:
        case Text():
            yield part.text
        case Code():
            yield part.code
        case Reasoning():
            yield from filter(None, (part.text, part.summary))
        case ToolCall():
            yield part.name
            yield from _strings(tree.arguments(part))
        case ToolResult():
            if isinstance(part.output, str):
                yield part.output
            else:
                for inner in part.output:
                    yield from _texts(inner)
        case Media():
            yield from filter(None, (part.name, tree.held_text(part)))
        case Other():
            yield describe.compact(part.data)


def _strings(value: object) -> Iterable[str]:
    """The texts in the arguments of a call; those of nested values as JSON."""
    if isinstance(value, dict):
        return (each if isinstance(each, str) else describe.compact(each) for each in value.values())
    return [value if isinstance(value, str) else describe.compact(value)]
