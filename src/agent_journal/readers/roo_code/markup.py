"""Markup in texts: tool calls as XML, headers of their results, tags around the user's text.

Until late 2025 the extensions had no other way to call tools. The tags around and next to the user's text are
still written.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags
from agent_journal.readers.roo_code.names import SPOKEN_PARAMETERS, XML_TOOLS

_NAMES = "|".join(sorted(XML_TOOLS, key=len, reverse=True))
_CALL = re.compile(rf"<({_NAMES})>")
_TAG = re.compile(r"<(/?)(\w+)>")
_ADJACENT_TAG = re.compile(r"\s*<(/?)(\w+)>")
_THOUGHTS, _END_OF_THOUGHTS = "<thinking>", "</thinking>"
# A text with this many opening tags that are never closed does not contain calls.
_MAX_UNCLOSED_TAGS = 100
# `[read_file for 'a.py'] Result:`; the brackets contain the tool's input, possibly on several lines.
_RESULT_HEADER = re.compile(rf"\[({_NAMES})\b.*?\] Result:", re.DOTALL)
# The same at the start of a line: in the middle of one it is a quotation.
_RESULT_HEADER_LINE = re.compile(rf"\n\[({_NAMES})\b[^\n]*?\] Result:")
# The start of Cline's reminder of the to-do list, which follows the results.
_REMINDERS = ("\n\n\n# task_progress ", "\n\n\n# Todo List ", "\n\n\n# TODO LIST ")
_ENVIRONMENT, _END_OF_ENVIRONMENT = "<environment_details>", "</environment_details>"
# Text that the extensions write in the user's turn: in a block of its own, or with this beginning.
_APP_TAGS = Tags(("environment_details", "SYSTEM_NOTICE", *HARNESS_TAGS))
_APP_NOTICES = ("[ERROR] You did not use a tool in your previous response!",)
# The end tag of the environment may be followed by white space, but by little else.
_ENVIRONMENT_TAIL_CHARS = 40
_MODE_HEADING = "# Current Mode\n"
_END_OF_MODEL = "</model>"
_WRAPPER_TAGS = tuple(
    (f"<{tag}>", f"</{tag}>")
    for tag in ("task", "user_message", "feedback", "answer", "new_task", "user_feedback")
)
# Tags around the user's text within a text that the extension wrote; all but the first are replies.
_REPLY_TAGS = ("<user_message>", "<feedback>", "<answer>", "<user_feedback>")
_USER_TEXT_TAGS = ("<task>", *_REPLY_TAGS)
# `<user_input mode="plan">…</user_input>`; after a change of mode, a notice of it is inside or in front.
_NOTICE = re.compile(r"<mode_notice>([^<]*)</mode_notice>")
_ENVELOPE = re.compile(
    rf"(?:{_NOTICE.pattern}\s*)*"
    r"<(?P<tag>user_input|user_command)(?P<attributes>(?: \w+=\"[^\"]*\")*)>(?P<text>.*)</(?P=tag)>",
    re.DOTALL,
)
_ENVELOPE_ENDS = ("</user_input>", "</user_command>")
_ATTRIBUTES = re.compile(r'(\w+)="([^"]*)"')
_FAILURES = (
    "The tool execution failed with the following error",
    "[ERROR]",
    "Error:",
    '{"status":"error"',
)


class Call(Struct, frozen=True, gc=False):
    """A tool call written in a text as XML; `xml` is its source if the values alone cannot restore it."""

    name: str
    values: dict[str, str]
    xml: str | None


class Thought(Struct, frozen=True, gc=False):
    """Reasoning that a model without native reasoning wrote in tags."""

    text: str


class UserText(NamedTuple):
    """The user's text, and the tag that the extension put around it."""

    text: str
    tag: str | None


class Environment:
    """The extension's description of the working environment, sent with each prompt."""

    __slots__ = ("_mode_at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._mode_at = text.find(_MODE_HEADING)

    @property
    def section(self) -> str | None:
        """The excerpt that states both the mode and the model, as nearly all versions write it."""
        end = self.text.find(_END_OF_MODEL, self._mode_at) if self._mode_at >= 0 else -1
        if end < 0:
            return None
        section = self.text[self._mode_at : end + len(_END_OF_MODEL)]
        alone = Environment(section)
        return section if alone.model is not None and alone.mode is not None else None

    @property
    def model(self) -> str | None:
        """The current model, stated after the mode; the terminal output before it may contain any text."""
        return _between(self.text, "<model>", _END_OF_MODEL, max(self._mode_at, 0))

    @property
    def mode(self) -> str | None:
        """The current mode: in a tag, or on a line of its own in older versions and in Cline."""
        if self._mode_at < 0:
            return None
        text, start = self.text, self._mode_at + len(_MODE_HEADING)
        if text.startswith("<", start):
            slug = _between(text, "<slug>", "</slug>", start)
        else:
            end = text.find("\n", start)
            slug = text[start:] if end < 0 else text[start:end]
        if slug in ("PLAN MODE", "ACT MODE"):
            return slug[:-5].lower()
        return slug.strip() or None if slug else None

    @property
    def folder(self) -> str | None:
        """The working directory."""
        for heading in ("# Current Workspace Directory (", "# Current Working Directory ("):
            if folder := _between(self.text, heading, ") Files"):
                return folder if not folder.startswith("Primary: ") else None
        return None


def has_section(environment: str, section: str) -> bool:
    """Whether an environment states the same mode and model as the `section` of another one."""
    at = environment.find(_MODE_HEADING)
    return at >= 0 and environment.startswith(section, at)


def _between(text: str, opening: str, closing: str, start: int = 0) -> str | None:
    """Return the text between two markers on one line."""
    # Faster than `partition`, which copies the text around the markers.
    begin = text.find(opening, start) + len(opening)
    if begin < len(opening):
        return None
    end = text.find(closing, begin)
    inner = text[begin:end] if end > begin else ""
    return inner if inner and "\n" not in inner else None


def split_markup(text: str) -> list[str | Call | Thought]:
    """Split a model's text into prose, reasoning in tags and tool calls in XML, without surrounding space."""
    pieces: list[str | Call | Thought] = []
    done = searched = failures = 0
    while failures < _MAX_UNCLOSED_TAGS and (opening := _CALL.search(text, searched)) is not None:
        parsed = _parse_call(text, opening)
        if parsed is None:  # cut off, or not a call
            searched, failures = opening.end(), failures + 1
            continue
        call, end = parsed
        _add_prose(pieces, text[done : opening.start()])
        pieces.append(call)
        done = searched = end
    if not done and _THOUGHTS not in text:
        return [text]
    _add_prose(pieces, text[done:])
    return pieces


def _add_prose(pieces: list[str | Call | Thought], text: str) -> None:
    """Append prose and the reasoning within it."""
    done = 0
    while (start := text.find(_THOUGHTS, done)) >= 0:
        end = text.find(_END_OF_THOUGHTS, start)
        if end < 0:
            break
        if before := text[done:start].strip():
            pieces.append(before)
        pieces.append(Thought(text[start + len(_THOUGHTS) : end].strip()))
        done = end + len(_END_OF_THOUGHTS)
    if rest := text[done:].strip():
        pieces.append(rest)


def _parse_call(text: str, opening: re.Match[str]) -> tuple[Call, int] | None:
    """Return the call that starts at a tag and its end position; None if it is never closed."""
    name, at = opening[1], opening.end()
    values: dict[str, str] = {}
    is_exact = True
    while True:
        tag = _ADJACENT_TAG.match(text, at)
        if tag is None:
            is_exact, tag = False, _TAG.search(text, at)
            if tag is None:
                return None
        slash, parameter = tag.groups()
        if slash:
            if parameter == name:
                xml = None if is_exact else text[opening.start() : tag.end()]
                return Call(name, values, xml), tag.end()
            is_exact, at = False, tag.end()
            continue
        start = tag.end()
        end = _end_of_value(text, name, parameter, start)
        if end < 0:
            return None
        if parameter in values:
            is_exact = False
        values[parameter] = _trimmed(parameter, text, start, end)
        at = end + len(parameter) + 3


def _end_of_value(text: str, name: str, parameter: str, start: int) -> int:
    """Return where the value of a parameter ends; a file's content may itself contain the end tag."""
    closing = f"</{parameter}>"
    end = text.find(closing, start)
    if end < 0 or parameter != "content":
        return end
    end_of_call = text.find(f"</{name}>", end)
    return end if end_of_call < 0 else text.rfind(closing, end, end_of_call)


def _trimmed(parameter: str, text: str, start: int, end: int) -> str:
    """Trim a value as the extensions do: a file's content loses only the line breaks next to its tags."""
    if parameter != "content":
        return text[start:end].strip()
    if start < end and text[start] == "\n":
        start += 1
    if start < end and text[end - 1] == "\n":
        end -= 1
    return text[start:end]


def split_result_header(text: str) -> tuple[str, str, str] | None:
    """Split a text that begins as a tool result into the tool's name, the header, and the remaining text."""
    header = _RESULT_HEADER.match(text) if text.startswith("[") else None
    return None if header is None else (header[1], header[0], text[header.end() :])


def tool_outputs(request: str) -> list[str]:
    """Return the outputs of tools in the full text of a request, without the user's replies."""
    content = f"\n{split_environment(request)[0]}"
    reminder_at = max(content.rfind(reminder) for reminder in _REMINDERS)
    end = len(content) if reminder_at < 0 else reminder_at
    outputs: list[str] = []
    for header in reversed(list(_RESULT_HEADER_LINE.finditer(content, 0, end))):
        if header[1] not in SPOKEN_PARAMETERS:
            outputs.append(content[header.end() : end].strip())
        end = header.start()
    return outputs[::-1]


def is_failure(output: str) -> bool | None:
    """Return True if an output reports that the tool failed, else None (unknown)."""
    return True if output.startswith(_FAILURES) else None


def has_environment(text: str) -> bool:
    """Whether a text ends with the extension's description of the environment."""
    return text.endswith(_END_OF_ENVIRONMENT) or _END_OF_ENVIRONMENT in text[-_ENVIRONMENT_TAIL_CHARS:]


def is_injected(text: str) -> bool:
    """Whether the extension wrote all of a text in a prompt."""
    return text.startswith(_APP_NOTICES) or _APP_TAGS.is_all(text)


def split_environment(text: str) -> tuple[str, str | None]:
    """Split a text into the text without the environment at its end, and the environment."""
    start = text.find(_ENVIRONMENT)
    end = text.rfind(_END_OF_ENVIRONMENT)
    if start < 0 or end < start:
        return text, None
    environment = text[start + len(_ENVIRONMENT) : end].strip()
    rest_at = end + len(_END_OF_ENVIRONMENT)
    if not start and rest_at == len(text):
        return "", environment  # in a block of its own, as nearly always
    return text[:start].rstrip() + text[rest_at:].rstrip(), environment


def unwrap_user_text(text: str) -> UserText:
    """Return the user's text without the tag around it."""
    inside = text.strip()
    if inside[:1] == "<":
        for opening, closing in _WRAPPER_TAGS:
            if inside.startswith(opening) and inside.endswith(closing):
                inner = inside[len(opening) : -len(closing)].removeprefix("\n").removesuffix("\n")
                return UserText(inner, opening[1:-1])
    return UserText(text, None)


def unwrap_envelope(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the user's text and the attributes of Cline's envelope (since 2026); None without one."""
    envelope = _ENVELOPE.fullmatch(text.strip()) if text.rstrip().endswith(_ENVELOPE_ENDS) else None
    if envelope is None:
        return None
    inner = envelope["text"]
    attributes = {"tag": envelope["tag"], **dict(_ATTRIBUTES.findall(envelope["attributes"]))}
    if notices := _NOTICE.findall(text):
        inner, attributes["mode_notice"] = _NOTICE.sub("", inner), "\n".join(notices)
    return inner.strip(), attributes


def find_quoted_reply(text: str) -> tuple[str, str, str] | None:
    """Find the user's reply quoted in a text; return the text around it, the reply and its tag."""
    start, opening = min(((at, tag) for tag in _REPLY_TAGS if (at := text.find(tag)) >= 0), default=(0, ""))
    closing = f"</{opening[1:]}"
    end = text.rfind(closing) if opening else -1
    if end < start:
        return None
    reply = text[start + len(opening) : end].removeprefix("\n").removesuffix("\n")
    around = (text[:start].rstrip(), text[end + len(closing) :].strip())
    return "\n".join(filter(None, around)), reply, opening[1:-1]


def has_user_text(text: str) -> bool:
    """Whether a text contains tags around the user's text."""
    return any(tag in text for tag in _USER_TEXT_TAGS)
