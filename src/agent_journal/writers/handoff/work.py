"""The work done in a conversation, collected for whoever continues it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import Event, Media, Text, tree
from agent_journal.rendering.file_edits import PATHS, file_edits, first_text
from agent_journal.rendering.turns import ToolUse, iter_turns, split_sections
from agent_journal.text import describe
from agent_journal.writers.handoff.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Message, ToolCall, ToolResult

# Commands that run tests.
_TEST_COMMAND = re.compile(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest"
    r"|(?:npm|pnpm|yarn|bun|deno|cargo|go|mvn|gradle|gradlew|dotnet|swift|mix|make|just|rake|bazel)"
    r"(?: run)? (?:test|check)\w*)\b|(?:^|[\s;&])\./(?:test|check)\b"
)


class Phrases(NamedTuple):
    """Phrases that people and models use for decisions or rules."""

    hints: tuple[str, ...]
    """Lower-case substrings, one of which every match contains. They are much faster to search for."""
    pattern: re.Pattern[str]


_DECISIONS = Phrases(
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
_RULES = Phrases(
    ("must", "do not", "don't", "never", "always", "only", "stop"),
    re.compile(r"\b(?:must(?: not)?|do not|don't|never|always|only|stop)\b", re.IGNORECASE),
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_USER, _AGENT = "user", "agent"
_PHRASES_BY_SPEAKER = {_USER: (_DECISIONS, _RULES), _AGENT: (_DECISIONS,)}
_MAX_SENTENCE_CHARS, _MIN_SENTENCE_CHARS = 300, 20
_NORMAL_STOP_REASONS = {"", "end_turn", "stop", "stop_sequence", "completed", "finished_successfully"}


class File(Struct):
    """A changed file, with the size of its changes."""

    path: str
    edits: int = 0
    added: int = 0
    removed: int = 0
    is_new: bool = False


class Action(NamedTuple):
    """A tool call with its subject and outcome; `failed` is None if unknown."""

    name: str
    subject: str
    failed: bool | None
    output: str
    at: str | None


def prompt_text(message: Message) -> str:
    """The text of a prompt, and the names of its attachments."""
    attachments = [f"[{describe.media(part)}]" for part in message.parts if isinstance(part, Media)]
    return "\n".join(filter(None, (tree.plain_text(message), *attachments)))


class Work:
    """The work on the current branch of a conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self.prompts: list[Message] = []
        self.last_answer: Message | None = None
        self.files: dict[str, File] = {}
        self.read_counts: dict[str, int] = {}
        self.commands: list[Action] = []
        self.failures: dict[tuple[str, str], Action] = {}
        """Calls that failed and did not succeed later, by tool and subject."""
        self.without_result: list[Action] = []
        self.subagent_tasks: list[str] = []
        self.plan = Plan()
        self.calls = 0
        self._last_message: Message | None = None
        self._texts: list[tuple[str, str]] = []
        self._cwd = (conversation.cwd or "").rstrip("/")
        is_all_sidechain = all(message.sidechain for message in tree.messages(conversation))
        for turn in iter_turns(split_sections(conversation)[0].entries):
            if (
                isinstance(turn, Event)
                or turn.message.hidden
                or (turn.message.sidechain and not is_all_sidechain)
            ):
                continue
            self._add_message(turn.message)
            for part in turn.parts:
                if isinstance(part, ToolUse):
                    self._add_call(part, turn.message)

    @property
    def tests(self) -> Action | None:
        """The last command that ran tests."""
        return next(
            (command for command in reversed(self.commands) if _TEST_COMMAND.search(command.subject)), None
        )

    @property
    def is_waiting_for_answer(self) -> bool:
        """Whether the last message is from the user."""
        return self._last_message is not None and self._last_message.role == "user"

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped, if it was not finished."""
        message = self._last_message
        reason = (message.stop_reason or "") if message is not None and message.role == "assistant" else ""
        # Vendors write STOP and stop, and some prefix the name of an enum: `StatusEnum.COMPLETED`.
        return None if reason.rpartition(".")[2].lower() in _NORMAL_STOP_REASONS else reason

    def _add_message(self, message: Message) -> None:
        text = tree.plain_text(message).strip()
        if not text:
            self._add_attachments(message)
            return
        self._last_message = message
        if message.role == "user":
            if self.prompts:  # the first request is quoted separately
                self._texts.append((_USER, text))
            self.prompts.append(message)
        elif message.role == "assistant":
            self._texts.append((_AGENT, text))
            self.last_answer = message

    def _add_attachments(self, message: Message) -> None:
        """Add attachments without text: they belong to the user's previous prompt."""
        attachments = [part for part in message.parts if isinstance(part, Media)]
        if not attachments or message.role != "user":
            return
        if self.prompts and self._last_message is self.prompts[-1]:
            message = replace(self._last_message, parts=[*self._last_message.parts, *attachments])
            self.prompts.pop()
        self.prompts.append(message)
        self._last_message = message

    def decisions(self, max_sentences: int) -> list[tuple[str, str]]:
        """The last sentences with a decision or rule, and who wrote them, in order."""
        speaker_of: dict[str, str] = {}
        for speaker, text in reversed(self._texts):
            if len(speaker_of) >= max_sentences:
                break
            for sentence in reversed([*_sentences(text, _PHRASES_BY_SPEAKER[speaker])]):
                speaker_of.setdefault(sentence, speaker)
        return [*speaker_of.items()][:max_sentences][::-1]

    def _add_call(self, use: ToolUse, message: Message) -> None:
        call, result = use.call, use.result
        self.calls += 1
        output = _output_text(result)
        failed = None if result is None else result.is_error
        action = Action(call.name, describe.call(call), failed, output, message.at)
        if result is None:
            self.without_result.append(action)
        match call.kind:
            case "shell":
                self.commands.append(action)
            case "plan":
                self.plan.apply_call(call, output)
            case "agent":
                self.subagent_tasks.append(action.subject)
            case "read":
                if path := _path_argument(call):
                    path = self._relative(path)
                    self.read_counts[path] = self.read_counts.get(path, 0) + 1
        if failed:
            self.failures[call.name, action.subject] = action
        elif result is not None:
            self.failures.pop((call.name, action.subject), None)
            self._add_edits(call)

    def _add_edits(self, call: ToolCall) -> None:
        changes = file_edits(call)
        for change in changes:
            file = self._file(change.path or "(unnamed file)")
            file.edits += 1
            file.is_new = file.is_new or change.is_new
            lines = change.diff.split("\n")
            file.added += sum(line.startswith("+") for line in lines)
            file.removed += sum(line.startswith("-") for line in lines)
        if not changes and call.kind in {"edit", "write"} and (path := _path_argument(call)):
            self._file(path).edits += 1

    def _file(self, path: str) -> File:
        relative = self._relative(path)
        return self.files.setdefault(relative, File(relative))

    def _relative(self, path: str) -> str:
        """A path, relative to the working folder if it is below it."""
        return path.removeprefix(f"{self._cwd}/") if self._cwd else path


def _path_argument(call: ToolCall) -> str | None:
    arguments = tree.arguments(call)
    return first_text(arguments, PATHS) if isinstance(arguments, dict) else None


def _output_text(result: ToolResult | None) -> str:
    if result is None:
        return ""
    if isinstance(result.output, str):
        return result.output
    return "\n".join(part.text for part in result.output if isinstance(part, Text))


def _sentences(text: str, phrases: Sequence[Phrases]) -> Iterator[str]:
    """The sentences that contain one of these kinds of phrases."""
    lower = text.lower()
    patterns = [kind.pattern for kind in phrases if any(hint in lower for hint in kind.hints)]
    for sentence in _SENTENCE_END.split(text) if patterns else ():
        stripped = sentence.strip(" -*>#|")
        if _MIN_SENTENCE_CHARS <= len(stripped) <= _MAX_SENTENCE_CHARS and any(
            pattern.search(stripped) for pattern in patterns
        ):
            yield stripped
