"""Markup in texts: tool calls as XML, the heads of their results, tags around what a person said.

Until late 2025 the extensions had no other way to call tools; what they put around a person's words and
beside them they still write.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agent_journal.readers.roo_code.names import XML_TOOLS

_NAMES = "|".join(sorted(XML_TOOLS, key=len, reverse=True))
_CALL = re.compile(rf"<({_NAMES})>")
_TAG = re.compile(r"<(/?)(\w+)>")
_THOUGHTS, _END_OF_THOUGHTS = "<thinking>", "</thinking>"
# A text in which so many tags open that nothing closes was not written to be read as calls.
_PATIENCE = 100
# `[read_file for 'a.py'] Result:`; in brackets is what the tool was called with, perhaps in several lines.
_HEAD = re.compile(rf"\[({_NAMES})\b.*?\] Result:", re.DOTALL)
_ENVIRONMENT, _END_OF_ENVIRONMENT = "<environment_details>", "</environment_details>"
_NEAR_THE_END = 40
_WRAPPED = re.compile(
    r"\s*<(task|user_message|feedback|answer|new_task|user_feedback)>\n?(.*?)\n?</\1>\s*", re.DOTALL
)
# Where a person's words stand somewhere in a text that the extension wrote.
_WORDS = ("<task>", "<user_message>", "<feedback>", "<answer>", "<user_feedback>")
_FAILURES = (
    "The tool execution failed with the following error",
    "[ERROR]",
    "Error:",
    '{"status":"error"',
)


class Call(NamedTuple):
    """A tool call that stands in a text as XML; `xml` is how it does, if its values do not tell that."""

    name: str
    values: dict[str, str]
    xml: str | None


class Thought(NamedTuple):
    """What a model without a way of its own to think wrote in tags."""

    text: str


class Words(NamedTuple):
    """What was said, with the tag that was put around it."""

    text: str
    tag: str | None


class Environment(NamedTuple):
    """What the extension tells the model of where it works, beside each prompt."""

    text: str

    @property
    def model(self) -> str | None:
        """The model that is asked."""
        return _between(self.text, "<model>", "</model>")

    @property
    def mode(self) -> str | None:
        """The mode the task is in: in a tag, or in versions before it and in Cline on a line of its own."""
        behind = self.text.partition("# Current Mode\n")[2]
        if not behind:
            return None
        slug = _between(behind, "<slug>", "</slug>") if behind.startswith("<") else behind.partition("\n")[0]
        if slug in ("PLAN MODE", "ACT MODE"):
            return slug[:-5].lower()
        return slug.strip() or None if slug else None

    @property
    def folder(self) -> str | None:
        """The folder that is worked in."""
        for mark in ("# Current Workspace Directory (", "# Current Working Directory ("):
            if found := _between(self.text, mark, ") Files"):
                return found if not found.startswith("Primary: ") else None
        return None


def _between(text: str, mark: str, end: str) -> str | None:
    _, found, behind = text.partition(mark)
    inner, closed, _ = behind.partition(end)
    return inner if found and closed and inner and "\n" not in inner else None


def pieces(text: str) -> list[str | Call | Thought]:
    """What a model's text consists of: prose, thoughts in tags, and tool calls as XML. White space may go."""
    found: list[str | Call | Thought] = []
    done = searched = failures = 0
    while failures < _PATIENCE and (opening := _CALL.search(text, searched)) is not None:
        read = _call(text, opening)
        if read is None:  # it was cut off, or is no call
            searched, failures = opening.end(), failures + 1
            continue
        call, end = read
        _add_prose(found, text[done : opening.start()])
        found.append(call)
        done = searched = end
    if not done and _THOUGHTS not in text:
        return [text]
    _add_prose(found, text[done:])
    return found


def _add_prose(found: list[str | Call | Thought], text: str) -> None:
    """Put prose at the end, and thoughts that stand in it."""
    done = 0
    while (start := text.find(_THOUGHTS, done)) >= 0:
        end = text.find(_END_OF_THOUGHTS, start)
        if end < 0:
            break
        if before := text[done:start].strip():
            found.append(before)
        found.append(Thought(text[start + len(_THOUGHTS) : end].strip()))
        done = end + len(_END_OF_THOUGHTS)
    if rest := text[done:].strip():
        found.append(rest)


def _call(text: str, opening: re.Match[str]) -> tuple[Call, int] | None:
    """The call that opens here and where it ends; None if it does not."""
    name, at = opening[1], opening.end()
    values: dict[str, str] = {}
    is_plain = True
    while (tag := _TAG.search(text, at)) is not None:
        is_plain = is_plain and not text[at : tag.start()].strip()
        if tag[1]:
            if tag[2] == name:
                xml = None if is_plain else text[opening.start() : tag.end()]
                return Call(name, values, xml), tag.end()
            is_plain, at = False, tag.end()
            continue
        end = _end_of_value(text, name, tag)
        if end < 0:
            return None
        is_plain = is_plain and tag[2] not in values
        values[tag[2]] = _trimmed(tag[2], text[tag.end() : end])
        at = end + len(tag[2]) + 3
    return None


def _end_of_value(text: str, name: str, tag: re.Match[str]) -> int:
    """Where the value of a parameter ends; a file's content may itself have the tag that ends it."""
    closing = f"</{tag[2]}>"
    end = text.find(closing, tag.end())
    if end < 0 or tag[2] != "content":
        return end
    end_of_call = text.find(f"</{name}>", end)
    return end if end_of_call < 0 else text.rfind(closing, end, end_of_call)


def _trimmed(parameter: str, value: str) -> str:
    """As the extensions do it: a file's content loses only the line breaks next to its tags."""
    return value.removeprefix("\n").removesuffix("\n") if parameter == "content" else value.strip()


def head_of_result(text: str) -> tuple[str, str, str] | None:
    """Of a text that begins as the result of a tool: the tool, this beginning, and what follows it."""
    found = _HEAD.match(text) if text.startswith("[") else None
    return None if found is None else (found[1], found[0], text[found.end() :])


def is_failure(output: str) -> bool | None:
    """True if an output says that the tool failed; else nothing is known."""
    return True if output.startswith(_FAILURES) else None


def tells_environment(text: str) -> bool:
    """Whether a text ends with what the extension tells of the environment."""
    return _END_OF_ENVIRONMENT in text[-_NEAR_THE_END:]


def without_environment(text: str) -> tuple[str, Environment | None]:
    """A text without what the extension tells of the environment, and that."""
    start = text.find(_ENVIRONMENT)
    end = text.rfind(_END_OF_ENVIRONMENT)
    if start < 0 or end < start:
        return text, None
    told = text[start + len(_ENVIRONMENT) : end].strip()
    rest = text[:start].rstrip() + text[end + len(_END_OF_ENVIRONMENT) :].rstrip()
    return rest, Environment(told)


def unwrapped(text: str) -> Words:
    """What a person said, without the tag around it."""
    found = _WRAPPED.fullmatch(text) if text.lstrip()[:1] == "<" else None
    return Words(text, None) if found is None else Words(found[2], found[1])


def has_words(text: str) -> bool:
    """Whether a person's words are marked in a text."""
    return any(mark in text for mark in _WORDS)
