"""Answers of bounded size, in an envelope that says that they quote what others wrote."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agent_journal.mcp.definitions import DEFAULT_MAX_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.journal import Journal
    from agent_journal.mcp.scope import Scope

_BYTES_PER_TOKEN = 4
_NONCE_BYTES = 6
_MIN_TEXT_CHARS = 40
_CUT_FACTOR = 0.7
_CURSOR_BYTES = 40


class Call(NamedTuple):
    """A call of a tool, with checked arguments."""

    tool: str
    arguments: dict[str, Any]
    journal: Journal
    scope: Scope

    @property
    def max_bytes(self) -> int:
        """How long the data of the answer may be; it is sent twice, as text and as structured content."""
        tokens: int = self.arguments.get("max_tokens", DEFAULT_MAX_TOKENS)
        return tokens * _BYTES_PER_TOKEN


class Envelope(NamedTuple):
    """An answer as data, and as text between marks that no transcript can guess."""

    data: dict[str, Any]
    text: str


def envelope(data: dict[str, Any]) -> Envelope:
    """Mark data as untrusted."""
    data = {"untrusted": True, **data}
    mark = f"quoted-{secrets.token_hex(_NONCE_BYTES)}"
    return Envelope(data, f'<{mark} untrusted="true">\n{encode(data).decode()}\n</{mark}>')


def encode(value: Any) -> bytes:
    """Return a value as JSON."""
    return msgspec.json.encode(value)


def fitting(call: Call, data: dict[str, Any], name: str, items: Iterable[dict[str, Any]]) -> int:
    """Put as many items into `data[name]` as fit, and return how many; the first one is cut if it must be."""
    fitted: list[dict[str, Any]] = []
    data[name] = fitted
    left = call.max_bytes - len(encode({"untrusted": True, **data})) - _CURSOR_BYTES
    for item in items:
        size = len(encode(item)) + 1
        if size > left and not fitted:
            item = shrunk(item, left)  # noqa: PLW2901
            size = len(encode(item)) + 1
        elif size > left:
            break
        fitted.append(item)
        left -= size
    return len(fitted)


def shrunk(item: dict[str, Any], max_bytes: int) -> dict[str, Any]:
    """Return an item whose longest texts are cut until it fits."""
    item = dict(item)
    while len(encode(item)) > max_bytes:
        name = max(item, key=lambda each: len(item[each]) if isinstance(item[each], str) else 0)
        text = item[name]
        if not isinstance(text, str) or len(text) <= _MIN_TEXT_CHARS:
            break
        item[name] = f"{text[: int(len(text) * _CUT_FACTOR)]}…"
    return item


def fit_text(text: str, max_bytes: int) -> str:
    """Return a text, or as much of its beginning as fits into so many bytes of JSON."""
    while len(encode(text)) > max_bytes and len(text) > 1:
        text = text[: max(int(len(text) * max_bytes / len(encode(text)) * 0.95), 1)]
    return text


def without_empty(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item without the fields that say nothing."""
    return {name: value for name, value in item.items() if value not in (None, "", [], False)}
