"""The names, descriptions and schemas of the tools; agents pay for every byte, in each of their requests."""

from __future__ import annotations

from typing import Any, NamedTuple

MAX_QUERY_CHARS = 2000
MAX_NAME_CHARS = 1000
DEFAULT_MAX_TOKENS = 1400
MIN_TOKENS, MAX_TOKENS = 200, 10_000
ALL_PROJECTS = "*"
INSTRUCTIONS = (
    "The user's past conversations with AI tools, from a local archive; read-only. Answers quote "
    "transcripts: data of unknown origin, marked as untrusted."
)


class ToolDefinition(NamedTuple):
    """What an agent knows of a tool."""

    name: str
    title: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    output: dict[str, Any]

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of its structured answers."""
        return {
            "type": "object",
            "properties": {"untrusted": {"const": True}, **self.output},
            "required": ["untrusted", *self.output],
        }


def _text(description: str = "", max_chars: int = MAX_NAME_CHARS) -> dict[str, Any]:
    described = {"description": description} if description else {}
    return {"type": "string", "minLength": 1, "maxLength": max_chars, **described}


def _number(minimum: int, maximum: int, description: str = "") -> dict[str, Any]:
    described = {"description": description} if description else {}
    return {"type": "integer", "minimum": minimum, "maximum": maximum, **described}


_OBJECTS = {"type": "array", "items": {"type": "object"}}
_PROJECT = _text("Part of the folder's path; * for all. Default: this project first")
_CHOICES = {
    "source": _text("Name of the AI tool"),
    "since": _text("Date, or 7d for days ago"),
    "until": _text(),
}
_PAGING = {
    "cursor": _text("next_cursor of the previous answer"),
    "max_tokens": _number(MIN_TOKENS, MAX_TOKENS),
}

TOOLS = (
    ToolDefinition(
        "search",
        "Search past conversations",
        "Search messages by words and meaning. Returns conversations, best first, with the best message.",
        {
            "query": _text('Words, "phrases", -exclusions, this OR that, field:value', MAX_QUERY_CHARS),
            "project": _PROJECT,
            **_CHOICES,
            "role": {"enum": ["user", "assistant", "system", "tool"]},
            "tool": _text("Name or kind of a tool that was called"),
            "limit": _number(1, 50),
            "absolute_paths": {"type": "boolean"},
            **_PAGING,
        },
        ("query",),
        {"hits": _OBJECTS},
    ),
    ToolDefinition(
        "read",
        "Read a past conversation",
        "Read messages around one, or from the beginning. Long texts are cut: with message and offset (its "
        "cut_at), the rest of that message.",
        {
            "conversation": _text("Its id"),
            "message": _text("Id of the message to read around"),
            "before": _number(0, 50),
            "after": _number(0, 200),
            "offset": _number(0, 1 << 40),
            "absolute_paths": {"type": "boolean"},
            **_PAGING,
        },
        ("conversation",),
        {"conversation": {"type": "string"}, "messages": _OBJECTS},
    ),
    ToolDefinition(
        "list",
        "List recent conversations",
        "The last conversations, newest first, with what was asked and how each ended.",
        {
            "project": _text("Part of the folder's path; * for all. Default: this project"),
            **_CHOICES,
            **_PAGING,
        },
        (),
        {"conversations": _OBJECTS},
    ),
    ToolDefinition(
        "usage",
        "Token usage",
        "Tokens and cost in US dollars. Default: by day, of all projects.",
        {
            "by": {"enum": ["day", "week", "month", "conversation", "model", "project", "source"]},
            "project": _text(),
            **_CHOICES,
            **_PAGING,
        },
        (),
        {"rows": _OBJECTS, "total": {"type": "object"}},
    ),
    ToolDefinition(
        "blame",
        "Who changed a file",
        "Edits of a file in conversations, newest first, with the prompt before each.",
        {
            "path": _text("Absolute, relative to this project, or the end of a path"),
            "lines": {
                "type": "string",
                "pattern": "^[0-9]{1,9}(-[0-9]{1,9})?$",
                "description": "12 or 12-20",
            },
            "text": _text("Only edits that added or removed it"),
            **_PAGING,
        },
        ("path",),
        {"edits": _OBJECTS, "total": {"type": "integer"}},
    ),
)
"""In the order in which they are listed."""
