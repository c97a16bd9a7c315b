"""What one exchange with a model says, whatever API it went through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Purpose = Literal["answer", "calls", "title", "summary", "other"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A message of a request, as far as the script needs it."""

    role: str
    text: str = ""
    results: int = 0


@dataclass(frozen=True, kw_only=True)
class OfferedTool:
    """A tool that the client offers; `call_shape` names what is not called as a function."""

    name: str
    schema: dict[str, Any]
    call_shape: Literal["function", "custom", "local_shell"] = "function"
    namespace: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request: its messages, the tools it offers, and the JSON schema that the answer must follow."""

    turns: list[Turn]
    tools: list[OfferedTool]
    system: str = ""
    schema: dict[str, Any] | None = None
    results: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """A tool call that the model will make."""

    tool: OfferedTool
    arguments: Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model answers; with `hang`, the stream stops in the middle of the text and stays open."""

    text: str
    purpose: Purpose
    calls: list[PlannedCall] = field(default_factory=list)
    hang: bool = False


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call as the client received it."""

    call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Token counts in the model's own terms: `input` excludes the cache, `output` includes reasoning."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A request and its response, as facts that a history must hold."""

    number: int
    at: float
    model: str
    purpose: Purpose
    text: str
    thinking: str | None
    calls: list[Call]
    results: dict[str, str]
    tokens: Tokens
    is_interrupted: bool = False
    is_subagent: bool = False


def numbered_tokens(number: int, *, caches_writes: bool) -> Tokens:
    """Different counts for every exchange, so that a total tells which ones were counted."""
    return Tokens(
        input=100 + number,
        output=50 + number,
        cache_read=1000 * (number % 5 + 1),
        cache_write=10 * number if caches_writes else 0,
    )


REASONING_TOKENS = 7


def halves(text: str) -> list[str]:
    """The text in two pieces, as a stream delivers it."""
    middle = len(text) // 2
    return [text[:middle], text[middle:]] if middle else [text]
