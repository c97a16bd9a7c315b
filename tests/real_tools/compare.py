"""Compares a history with what the model was asked and what it answered, fact by fact."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from agent_journal.model import (
    Conversation,
    Event,
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.model.timestamps import epoch_ms
from agent_journal.notes import Kind
from tests.real_tools.fake_model.exchange import Call, Exchange, Tokens
from tests.real_tools.fake_model.script import SUBAGENT_PROMPTS, TITLE
from tests.real_tools.history import History
from tests.real_tools.tool import Fact, Scenario, Tool, Unrecorded

_CLOCK_SLACK_S = 5.0
_SHOWN_CHARS = 120
_PARTIAL_USAGE = Kind.PARTIAL_USAGE.label


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What really happened: prompts that were typed and exchanges that the server logged."""

    scenario: Scenario
    prompts: list[str]
    exchanges: list[Exchange]
    work: Path
    began: float
    ended: float
    typed_at: Sequence[float] = ()


def differences(tool: Tool, truth: Truth, history: History) -> dict[Fact, list[str]]:
    """Every difference between the truth and the history, by fact."""
    if not history.conversations:
        return {"prompts": ["the journal has no conversation of this tool"]}
    comparison = _Comparison(tool, truth, history)
    return {
        "prompts": comparison.prompts(),
        "calls": comparison.calls(),
        "results": comparison.results(),
        "texts": comparison.texts(),
        "thinking": comparison.thinking(),
        "model": comparison.model(),
        "tokens": comparison.tokens(),
        "folder": comparison.folder(),
        "title": comparison.title(),
        "parent": comparison.parent(),
        "order": comparison.order(),
        "notes": comparison.notes(),
    }


class _Comparison:
    def __init__(self, tool: Tool, truth: Truth, history: History) -> None:
        self.tool = tool
        self.truth = truth
        self.history = history
        self.unrecorded = [
            each for each in tool.unrecorded if each.scenarios is None or truth.scenario in each.scenarios
        ]
        self.shown = {each.id: _shown_messages(each) for each in history.conversations}

    def prompts(self) -> list[str]:
        found = []
        for prompt in self._prompts():
            shown = [
                message
                for message in self._shown("user")
                if prompt in tree.plain_text(message) and not message.sidechain
            ]
            found += self._count_problem(f"prompt {_short(prompt)}", shown, "prompts")
            found += [
                f"prompt {_short(prompt)} has other text around it: {_short(tree.plain_text(message))}"
                for message in shown
                if self._typed(message) != prompt and not self._gap("prompts")
            ]
        if self.truth.scenario == "image" and not self._has_picture():
            found.append("the picture is missing")
        typed = [*self.truth.prompts, *SUBAGENT_PROMPTS.values()]
        found += [
            f"shown as the user's words: {_short(tree.plain_text(message))}"
            for message in self._shown("user")
            if self._typed(message) and not any(each in tree.plain_text(message) for each in typed)
        ]
        return found

    def _typed(self, message: Message) -> str:
        """The text of a message without what the tool itself writes among the person's words."""
        text = tree.plain_text(message)
        for pattern in self.tool.own_words:
            text = re.sub(pattern, "", text, flags=re.DOTALL)
        return text.strip()

    def _has_picture(self) -> bool:
        if any(each.fact == "prompts" and each.span == "picture" for each in self.unrecorded):
            return True
        return any(isinstance(part, Media) for message in self._shown("user") for part in message.parts)

    def calls(self) -> list[str]:
        made = [call for exchange in self._exchanges("calls") for call in exchange.calls]
        found = []
        for call in made:
            matching = [part for part in self._shown_parts(ToolCall) if _is_same_call(part, call)]
            found += self._count_problem(f"call {call.name} {_short(call.arguments)}", matching, "calls")
        known = sum(len(list(tree.calls_in(each))) for each in self._all_messages())
        if self.truth.scenario != "forked" and known > len(made):
            found.append(f"{known} calls in the history, {len(made)} made")
        return found

    def results(self) -> list[str]:
        sent: dict[str, str] = {}
        for exchange in self.truth.exchanges:
            sent |= exchange.results
        made = (call for exchange in self._exchanges("results") for call in exchange.calls)
        return [
            problem
            for call in made
            if call.call_id in sent
            for problem in self._result_problem(call, sent[call.call_id])
        ]

    def _result_problem(self, call: Call, text: str) -> list[str]:
        ids = {part.call_id for part in self._shown_parts(ToolCall) if _is_same_call(part, call)}
        results = [part for part in self._shown_parts(ToolResult) if part.call_id in ids]
        name = f"result of {call.name} {_short(call.arguments)}"
        if problem := self._count_problem(name, results, "results"):
            return problem
        recorded = _squeezed(_result_text(results[0]))
        expected = _squeezed(text)
        in_json = _squeezed(json.dumps(_result_text(results[0]).strip(), ensure_ascii=False)[1:-1])
        if recorded in expected or expected in recorded or in_json in expected:
            return [] if recorded or not expected else [f"{name} is empty, sent was {_short(text)}"]
        return [f"{name} is {_short(_result_text(results[0]))}, sent was {_short(text)}"]

    def texts(self) -> list[str]:
        found = []
        for exchange in self._exchanges("texts"):
            if exchange.purpose in ("answer", "calls", "other") and not exchange.is_interrupted:
                shown = [
                    part
                    for part in self._shown_parts(Text, "assistant")
                    if exchange.text.strip() == part.text.strip()
                ]
                found += self._count_problem(f"text {_short(exchange.text)}", shown, "texts")
        summaries = [
            each.text.split("\n")[1] for each in self._exchanges("texts") if each.purpose == "summary"
        ]
        # A tool may ask twice and take the second.
        if summaries and not any(map(self._is_anywhere, summaries)):
            found.append(f"the summary of the compaction is missing: {_short(summaries)}")
        return found

    def thinking(self) -> list[str]:
        found = []
        for exchange in self._exchanges("thinking"):
            if (
                exchange.thinking
                and exchange.purpose in ("answer", "calls", "other")
                and not exchange.is_interrupted
            ):
                shown = [
                    part
                    for part in self._shown_parts(Reasoning)
                    if _without_heading(exchange.thinking) in f"{part.text}\n{part.summary}"
                ]
                found += self._count_problem(f"thinking {_short(exchange.thinking)}", shown, "thinking")
        return found

    def model(self) -> list[str]:
        found = []
        for exchange in self._exchanges("model"):
            for conversation, message in self._messages_with(exchange.text):
                model = message.model or conversation.model
                # The tool may put the name of its provider in front.
                if model != exchange.model and not (model or "").endswith(f"/{exchange.model}"):
                    found.append(f"model {model}, asked was {exchange.model}")
        return found

    def tokens(self) -> list[str]:
        exchanges = self._exchanges("tokens")
        expected = sum((each.tokens for each in exchanges if not each.is_interrupted), Tokens())
        # The first event of a stream may state the input, before any output is counted.
        begun = [each.tokens for each in exchanges if each.is_interrupted]
        possible = [sum((replace(each, output=count) for each in begun), expected) for count in (0, 1)]
        got = self.history.tokens
        if got in (expected, *possible) or self._gap("tokens"):
            return []
        return [f"{got}, the server says {expected}"]

    def folder(self) -> list[str]:
        if self._gap("folder"):
            return []
        folders = {each.cwd for each in self.history.conversations}
        return [] if folders == {str(self.truth.work)} else [f"{folders} instead of {self.truth.work}"]

    def title(self) -> list[str]:
        agents = [
            each for each in self.history.conversations if each.link and each.link.relation == "subagent"
        ]
        if len(self.history.listed) < len(self.history.conversations) - len(agents):
            return ["`aj list` does not list every conversation"]
        beginnings = [*self.truth.prompts, *SUBAGENT_PROMPTS.values(), TITLE, "Do a little thing"]
        return [
            f"title {_short(row.get('title'))}"
            for row in self.history.listed
            if not any(_is_beginning(row.get("title"), text) for text in beginnings)
            and not self._gap("title")
        ]

    def parent(self) -> list[str]:
        if self._gap("parent"):
            return []
        if self.truth.scenario == "subagent":
            return self._subagent_problems()
        links = [each.link for each in self.history.conversations if each.link]
        ids = {each.id for each in self.history.conversations}
        if self.truth.scenario == "forked":
            forks = [link for link in links if link.relation == "fork"]
            if len(forks) == 1 and forks[0].conversation_id in ids:
                return []
            return [f"links {links}, expected was one fork among {sorted(ids)}"]
        return self._run_problems(ids)

    def _run_problems(self, ids: set[str]) -> list[str]:
        """One conversation, or one for each run where each but the first continues another."""
        links = [each.link for each in self.history.conversations if each.link]
        found = [
            f"unexpected link {link}"
            for link in links
            if link.relation != "continues" or link.conversation_id not in ids
        ]
        alone = len(ids) - len(links)
        return found + ([] if alone == 1 else [f"{alone} conversations that continue no other instead of 1"])

    def _subagent_problems(self) -> list[str]:
        delegating = {
            part.call_id
            for exchange in self.truth.exchanges
            for call in exchange.calls
            if _is_delegation(call)
            for part in self._shown_parts(ToolCall)
            if _is_same_call(part, call)
        }
        if any(message.sidechain for message in self._all_messages()):
            return self._sidechain_problems()
        links = [each.link for each in self.history.conversations if each.link]
        if len(links) != 1 or links[0].relation != "subagent":
            return [f"links {links}, expected was one subagent"]
        found = [] if links[0].call_id in delegating else [f"call_id {links[0].call_id}, not in {delegating}"]
        parents = {each.id for each in self.history.conversations if not each.link}
        return (
            found if links[0].conversation_id in parents else [*found, f"parent {links[0].conversation_id}"]
        )

    def _sidechain_problems(self) -> list[str]:
        """Where a subagent is a side chain of the same conversation, that is all it says and nothing else."""
        return [
            f"{_short(exchange.text)} is{'' if message.sidechain else ' not'} in a side chain"
            for exchange in self._exchanges("parent")
            for _, message in self._messages_with(exchange.text)
            if exchange.text and message.sidechain != exchange.is_subagent
        ]

    def order(self) -> list[str]:
        if self._gap("order"):
            return []
        found = []
        for conversation_id, messages in self.shown.items():
            dated = (
                message for message in messages if message.role == "assistant" or self._is_prompt(message)
            )
            times = [at / 1000 for message in dated if (at := epoch_ms(message.at)) is not None]
            if times != sorted(times):
                found.append(f"{conversation_id}: times go back")
            if not times:
                found.append(f"{conversation_id}: no times")
            elif (
                times[0] < self.truth.began - _CLOCK_SLACK_S or times[-1] > self.truth.ended + _CLOCK_SLACK_S
            ):
                found.append(f"{conversation_id}: times outside of the run")
        return found

    def _is_prompt(self, message: Message) -> bool:
        return any(prompt in tree.plain_text(message) for prompt in self.truth.prompts)

    def notes(self) -> list[str]:
        """What was not understood: an unknown record may hold any of the other facts."""
        if self._gap("notes"):
            return []
        # An answer that was cut off states only its first tokens, and a reader has to say so.
        is_cut = any(exchange.is_interrupted for exchange in self.truth.exchanges)
        expected = (*self.tool.notes, *([_PARTIAL_USAGE] if is_cut else []))
        return [note for note in self.history.notes if not any(each in note for each in expected)]

    def _gap(self, fact: Fact) -> Unrecorded | None:
        """Why the tool writes nothing of this fact, for whatever purpose."""
        gaps = (each for each in self.unrecorded if each.fact == fact and each.span == "everything")
        return next((each for each in gaps if "answer" in each.purposes), None)

    def _exchanges(self, fact: Fact) -> list[Exchange]:
        """The exchanges of which the tool writes this fact."""
        gaps = [each for each in self.unrecorded if each.fact == fact]
        return [
            exchange
            for exchange in self.truth.exchanges
            if not any(exchange.purpose in gap.purposes and self._spans(gap, exchange) for gap in gaps)
        ]

    def _spans(self, gap: Unrecorded, exchange: Exchange) -> bool:
        if gap.span == "subagent":
            return exchange.is_subagent
        is_before = gap.span == "before the summary" and exchange.at < self._summarized_at()
        return gap.span == "everything" or is_before

    def _summarized_at(self) -> float:
        summaries = [each.at for each in self.truth.exchanges if each.purpose == "summary"]
        return max(summaries, default=0.0)

    def _prompts(self) -> list[str]:
        """The prompts that the tool has not removed from the disk."""
        gaps = (each for each in self.unrecorded if each.fact == "prompts")
        if not any(each.span == "before the summary" for each in gaps):
            return self.truth.prompts
        typed = zip(self.truth.prompts, self.truth.typed_at, strict=True)
        return [prompt for prompt, at in typed if at > self._summarized_at()]

    def _shown(self, role: str | None = None) -> Iterator[Message]:
        """Messages that a person sees; those that a fork copied count once."""
        seen: set[str] = set()
        for messages in self.shown.values():
            keys = [self._copy_key(message) for message in messages]
            pairs = zip(keys, messages, strict=True)
            yield from (each for key, each in pairs if role in (None, each.role) and key not in seen)
            seen.update(keys)

    def _copy_key(self, message: Message) -> str:
        """What a copy in a fork shares with its original: not always the id, but all that it says."""
        if self.truth.scenario != "forked":
            return message.id
        return f"{message.role} {[_content(part) for part in message.parts]}"

    def _shown_parts(self, kind: type[Any], role: str | None = None) -> list[Any]:
        return [part for message in self._shown(role) for part in message.parts if isinstance(part, kind)]

    def _all_messages(self) -> Iterator[Message]:
        for conversation in self.history.conversations:
            yield from tree.messages(conversation)

    def _messages_with(self, text: str) -> Iterator[tuple[Conversation, Message]]:
        for conversation in self.history.conversations:
            for message in tree.messages(conversation):
                if message.role == "assistant" and text in tree.plain_text(message):
                    yield conversation, message

    def _is_anywhere(self, text: str) -> bool:
        return any(text in repr(conversation) for conversation in self.history.conversations)

    def _count_problem(self, name: str, found: list[Any], fact: Fact) -> list[str]:
        if len(found) == 1 or self._gap(fact):
            return []
        return [f"{name} is there {len(found)} times"]


def _shown_messages(conversation: Conversation) -> list[Message]:
    """The messages of the branch that a person sees, without those that are hidden."""
    timeline: Iterable[Message | Event] = conversation.timeline
    if conversation.shape == "tree" and conversation.head_id:
        timeline = tree.path_to(conversation.timeline, conversation.head_id)
    return [
        entry
        for entry in timeline
        if isinstance(entry, Message) and not entry.hidden and entry.role != "system"
    ]


def _content(part: Part) -> dict[str, Any]:
    """A part without what its source has beside it, such as an id."""
    return {
        name: value for name, value in msgspec.to_builtins(part).items() if name not in ("extra", "native")
    }


def _without_heading(thinking: str) -> str:
    """A thought without its bold heading, which some tools keep apart."""
    return thinking.rpartition("**")[2].strip()


def _is_same_call(part: ToolCall, call: Call) -> bool:
    """By id; tools that give calls ids of their own keep at least the name and the arguments."""
    if part.call_id == call.call_id:
        return part.name == call.name and _is_same_value(tree.arguments(part), call.arguments)
    is_foreign = not (part.call_id or "").startswith(call.call_id[:8])
    return is_foreign and part.name == call.name and _is_same_value(tree.arguments(part), call.arguments)


def _is_same_value(recorded: Any, given: Any) -> bool:
    return _squeezed(_plain(recorded)) == _squeezed(_plain(given))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _is_delegation(call: Call) -> bool:
    return any(prompt in _plain_values(call.arguments) for prompt in SUBAGENT_PROMPTS.values())


def _plain_values(arguments: Any) -> list[str]:
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    nested = (each if isinstance(each, list) else [each] for each in values)
    return [str(each) for group in nested for each in group]


def _result_text(result: ToolResult) -> str:
    if isinstance(result.output, str):
        return result.output
    return "\n".join(part.text for part in result.output if isinstance(part, Text))


def _is_beginning(title: str | None, text: str) -> bool:
    title = (title or "").rstrip("….")
    return bool(title) and (_squeezed(text).startswith(_squeezed(title)) or title.startswith(text))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _short(value: Any) -> str:
    text = repr(value if isinstance(value, str) else _plain(value))
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
