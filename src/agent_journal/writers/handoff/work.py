"""What was done in a conversation, gathered for whoever goes on with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import Event, Media, Text, tree
from agent_journal.text import describe
from agent_journal.writers.handoff.plan import Plan
from agent_journal.writers.rendering.file_edits import PATHS, edits, text_in
from agent_journal.writers.rendering.turns import Done, sections, turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Message, ToolCall, ToolResult

# Commands that say whether it works.
_TESTS = re.compile(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest"
    r"|(?:npm|pnpm|yarn|bun|deno|cargo|go|mvn|gradle|gradlew|dotnet|swift|mix|make|just|rake|bazel)"
    r"(?: run)? (?:test|check)\w*)\b|(?:^|[\s;&])\./(?:test|check)\b"
)


class Manner(NamedTuple):
    """How people and models speak when they settle something."""

    hints: tuple[str, ...]
    """In lower case; where none of them is, there is no such sentence. They are found much faster."""
    like: re.Pattern[str]


_SETTLES = Manner(
    (
        *("decide", "deciding ", " go with", " going with", " went with", "settled on", "instead of"),
        *("rather than", "chose to", "opted ", "the reason ", "agreed "),
    ),
    re.compile(
        r"\b(?:decid(?:e|ed|ing) (?:to|on|against)|(?:I|we)(?:'ll| will| should)? (?:go|going|went) with"
        r"|settled on|instead of|rather than|chose to|opted (?:to|for)|the reason (?:is|was)"
        r"|agreed (?:to|on|that))\b",
        re.IGNORECASE,
    ),
)
_FORBIDS = Manner(
    ("must", "do not", "don't", "never", "always", "only", "stop"),
    re.compile(r"\b(?:must(?: not)?|do not|don't|never|always|only|stop)\b", re.IGNORECASE),
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_PERSON, _AGENT = "the person", "the agent"
_MANNERS = {_PERSON: (_SETTLES, _FORBIDS), _AGENT: (_SETTLES,)}
_LONGEST_SENTENCE, _SHORTEST_SENTENCE = 300, 20
_DONE_REASONS = {"", "end_turn", "stop", "stop_sequence", "completed", "finished_successfully"}


class File(Struct):
    """A file that was changed, and how much."""

    path: str
    edits: int = 0
    added: int = 0
    removed: int = 0
    is_new: bool = False


class Deed(NamedTuple):
    """A call, what it was about, and how it went; `failed` is None if nobody knows."""

    name: str
    what: str
    failed: bool | None
    output: str
    at: str | None


def asked_in(message: Message) -> str:
    """What the person said, and which files and pictures they gave along with it."""
    given = [f"[{describe.media(part)}]" for part in message.parts if isinstance(part, Media)]
    return "\n".join(filter(None, (tree.plain_text(message), *given)))


class Work:
    """All that is told of a conversation, on the way to where the person is."""

    def __init__(self, conversation: Conversation) -> None:
        self.asked: list[Message] = []
        self.answered: Message | None = None
        self.files: dict[str, File] = {}
        self.looked_at: dict[str, int] = {}
        self.commands: list[Deed] = []
        self.failures: dict[tuple[str, str], Deed] = {}
        """Calls that failed and did not succeed later, by tool and what it was about."""
        self.unanswered: list[Deed] = []
        self.helpers: list[str] = []
        self.plan = Plan()
        self.calls = 0
        self._last: Message | None = None
        self._said: list[tuple[str, str]] = []
        self._cwd = (conversation.cwd or "").rstrip("/")
        aside = all(message.sidechain for message in tree.messages(conversation))
        for turn in turns(sections(conversation)[0].entries):
            if isinstance(turn, Event) or turn.message.hidden or (turn.message.sidechain and not aside):
                continue
            self._take_words(turn.message)
            for part in turn.parts:
                if isinstance(part, Done):
                    self._take_call(part, turn.message)

    @property
    def tests(self) -> Deed | None:
        """The last command that told whether it works."""
        return next((each for each in reversed(self.commands) if _TESTS.search(each.what)), None)

    @property
    def is_unanswered(self) -> bool:
        """Whether the person spoke last."""
        return self._last is not None and self._last.role == "user"

    @property
    def broke_off(self) -> str | None:
        """Why the model stopped, if it was not done."""
        last = self._last
        reason = (last.stop_reason or "") if last is not None and last.role == "assistant" else ""
        # Vendors write STOP and stop, and some name the list that it is of: `StatusEnum.COMPLETED`.
        return None if reason.rpartition(".")[2].lower() in _DONE_REASONS else reason

    def _take_words(self, message: Message) -> None:
        said = tree.plain_text(message).strip()
        if not said:
            self._take_given(message)
            return
        self._last = message
        if message.role == "user":
            if self.asked:  # the first request is told as a whole
                self._said.append((_PERSON, said))
            self.asked.append(message)
        elif message.role == "assistant":
            self._said.append((_AGENT, said))
            self.answered = message

    def _take_given(self, message: Message) -> None:
        """Take files and pictures that come without words: they belong to what the person asked before."""
        given = [part for part in message.parts if isinstance(part, Media)]
        if not given or message.role != "user":
            return
        if self.asked and self._last is self.asked[-1]:
            message = replace(self._last, parts=[*self._last.parts, *given])
            self.asked.pop()
        self.asked.append(message)
        self._last = message

    def settled(self, most: int) -> list[tuple[str, str]]:
        """The last sentences in which somebody settled something, and who it was, in order."""
        found: dict[str, str] = {}
        for who, said in reversed(self._said):
            if len(found) >= most:
                break
            for sentence in reversed([*_sentences(said, _MANNERS[who])]):
                found.setdefault(sentence, who)
        return [*found.items()][:most][::-1]

    def _take_call(self, done: Done, message: Message) -> None:
        call, result = done.call, done.result
        self.calls += 1
        output = _text_of(result)
        failed = None if result is None else result.is_error
        deed = Deed(call.name, describe.call(call), failed, output, message.at)
        if result is None:
            self.unanswered.append(deed)
        match call.kind:
            case "shell":
                self.commands.append(deed)
            case "plan":
                self.plan.take(call, output)
            case "agent":
                self.helpers.append(deed.what)
            case "read":
                if path := _path(call):
                    path = self._near(path)
                    self.looked_at[path] = self.looked_at.get(path, 0) + 1
        if failed:
            self.failures[call.name, deed.what] = deed
        elif result is not None:
            self.failures.pop((call.name, deed.what), None)
            self._take_edits(call)

    def _take_edits(self, call: ToolCall) -> None:
        found = edits(call)
        for edit in found:
            file = self._file(edit.path or "(a file without a name)")
            file.edits += 1
            file.is_new = file.is_new or edit.is_new
            lines = edit.diff.split("\n")
            file.added += sum(line.startswith("+") for line in lines)
            file.removed += sum(line.startswith("-") for line in lines)
        if not found and call.kind in {"edit", "write"} and (path := _path(call)):
            self._file(path).edits += 1

    def _file(self, path: str) -> File:
        near = self._near(path)
        return self.files.setdefault(near, File(near))

    def _near(self, path: str) -> str:
        """A path from the working folder on, if it is below it."""
        return path.removeprefix(f"{self._cwd}/") if self._cwd else path


def _path(call: ToolCall) -> str | None:
    given = tree.arguments(call)
    return text_in(given, PATHS) if isinstance(given, dict) else None


def _text_of(result: ToolResult | None) -> str:
    if result is None:
        return ""
    if isinstance(result.output, str):
        return result.output
    return "\n".join(part.text for part in result.output if isinstance(part, Text))


def _sentences(text: str, manners: Sequence[Manner]) -> Iterator[str]:
    """Sentences that are spoken in one of these manners."""
    lower = text.lower()
    likely = [manner.like for manner in manners if any(hint in lower for hint in manner.hints)]
    for sentence in _SENTENCES.split(text) if likely else ():
        plain = sentence.strip(" -*>#|")
        if _SHORTEST_SENTENCE <= len(plain) <= _LONGEST_SENTENCE and any(
            like.search(plain) for like in likely
        ):
            yield plain
