"""Markup in texts: tool calls as XML, the heads of their results, tags around what a person said.

Until late 2025 the extensions had no other way to call tools; what they put around a person's words and
beside them they still write.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags
from agent_journal.readers.roo_code.names import WORDS, XML_TOOLS

_NAMES = "|".join(sorted(XML_TOOLS, key=len, reverse=True))
_CALL = re.compile(rf"<({_NAMES})>")
_TAG = re.compile(r"<(/?)(\w+)>")
_TAG_AT_ONCE = re.compile(r"\s*<(/?)(\w+)>")
_THOUGHTS, _END_OF_THOUGHTS = "<thinking>", "</thinking>"
# A text in which so many tags open that nothing closes was not written to be read as calls.
_PATIENCE = 100
# `[read_file for 'a.py'] Result:`; in brackets is what the tool was called with, perhaps in several lines.
_HEAD = re.compile(rf"\[({_NAMES})\b.*?\] Result:", re.DOTALL)
# The same in a line of its own: within one, somebody quotes it.
_LINE_OF_HEAD = re.compile(rf"\n\[({_NAMES})\b[^\n]*?\] Result:")
# How what Cline tells the model of its list of things to do begins, behind the results.
_REMINDERS = ("\n\n\n# task_progress ", "\n\n\n# Todo List ", "\n\n\n# TODO LIST ")
_ENVIRONMENT, _END_OF_ENVIRONMENT = "<environment_details>", "</environment_details>"
# What the extensions write in the person's place: a block of their own, or how it begins.
_OF_THE_APP = Tags(("environment_details", "SYSTEM_NOTICE", *HARNESS_TAGS))
_NOTICES_OF_THE_APP = ("[ERROR] You did not use a tool in your previous response!",)
_NEAR_THE_END = 40
_MODE = "# Current Mode\n"
_END_OF_MODEL = "</model>"
_WRAPPING = tuple(
    (f"<{tag}>", f"</{tag}>")
    for tag in ("task", "user_message", "feedback", "answer", "new_task", "user_feedback")
)
# Where a person's words stand somewhere in a text that the extension wrote; all but the first are replies.
_REPLIES = ("<user_message>", "<feedback>", "<answer>", "<user_feedback>")
_WORDS = ("<task>", *_REPLIES)
# `<user_input mode="plan">…</user_input>`; in or before it, where the mode was changed, a notice of that.
_NOTICE = re.compile(r"<mode_notice>([^<]*)</mode_notice>")
_ENVELOPE = re.compile(
    rf"(?:{_NOTICE.pattern}\s*)*"
    r"<(?P<tag>user_input|user_command)(?P<told>(?: \w+=\"[^\"]*\")*)>(?P<said>.*)</(?P=tag)>",
    re.DOTALL,
)
_ENDS_OF_ENVELOPES = ("</user_input>", "</user_command>")
_ATTRIBUTES = re.compile(r'(\w+)="([^"]*)"')
_FAILURES = (
    "The tool execution failed with the following error",
    "[ERROR]",
    "Error:",
    '{"status":"error"',
)


class Call(Struct, frozen=True, gc=False):
    """A tool call that stands in a text as XML; `xml` is how it does, if its values do not tell that."""

    name: str
    values: dict[str, str]
    xml: str | None


class Thought(Struct, frozen=True, gc=False):
    """What a model without a way of its own to think wrote in tags."""

    text: str


class Words(NamedTuple):
    """What was said, with the tag that was put around it."""

    text: str
    tag: str | None


class Environment:
    """What the extension tells the model of where it works, beside each prompt."""

    __slots__ = ("_mode_at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._mode_at = text.find(_MODE)

    @property
    def section(self) -> str | None:
        """The stretch that tells both the mode and the model, as nearly all versions do."""
        end = self.text.find(_END_OF_MODEL, self._mode_at) if self._mode_at >= 0 else -1
        if end < 0:
            return None
        section = self.text[self._mode_at : end + len(_END_OF_MODEL)]
        alone = Environment(section)
        return section if alone.model is not None and alone.mode is not None else None

    @property
    def model(self) -> str | None:
        """The model that is asked; it is told with the mode. Before that, terminals may show anything."""
        return _between(self.text, "<model>", _END_OF_MODEL, max(self._mode_at, 0))

    @property
    def mode(self) -> str | None:
        """The mode the task is in: in a tag, or in versions before it and in Cline on a line of its own."""
        if self._mode_at < 0:
            return None
        text, start = self.text, self._mode_at + len(_MODE)
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
        """The folder that is worked in."""
        for mark in ("# Current Workspace Directory (", "# Current Working Directory ("):
            if found := _between(self.text, mark, ") Files"):
                return found if not found.startswith("Primary: ") else None
        return None


def repeats(environment: str, section: str) -> bool:
    """Whether it says of the mode and the model what another one did in its `section`."""
    at = environment.find(_MODE)
    return at >= 0 and environment.startswith(section, at)


def _between(text: str, mark: str, end: str, start: int = 0) -> str | None:
    """What stands between two marks on one line. Partitioning would copy all that stands around them."""
    begin = text.find(mark, start) + len(mark)
    if begin < len(mark):
        return None
    stop = text.find(end, begin)
    inner = text[begin:stop] if stop > begin else ""
    return inner if inner and "\n" not in inner else None


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
    while True:
        tag = _TAG_AT_ONCE.match(text, at)
        if tag is None:
            is_plain, tag = False, _TAG.search(text, at)
            if tag is None:
                return None
        slash, parameter = tag.groups()
        if slash:
            if parameter == name:
                xml = None if is_plain else text[opening.start() : tag.end()]
                return Call(name, values, xml), tag.end()
            is_plain, at = False, tag.end()
            continue
        start = tag.end()
        end = _end_of_value(text, name, parameter, start)
        if end < 0:
            return None
        if parameter in values:
            is_plain = False
        values[parameter] = _trimmed(parameter, text, start, end)
        at = end + len(parameter) + 3


def _end_of_value(text: str, name: str, parameter: str, start: int) -> int:
    """Where the value of a parameter ends; a file's content may itself have the tag that ends it."""
    closing = f"</{parameter}>"
    end = text.find(closing, start)
    if end < 0 or parameter != "content":
        return end
    end_of_call = text.find(f"</{name}>", end)
    return end if end_of_call < 0 else text.rfind(closing, end, end_of_call)


def _trimmed(parameter: str, text: str, start: int, end: int) -> str:
    """As the extensions do it: a file's content loses only the line breaks next to its tags."""
    if parameter != "content":
        return text[start:end].strip()
    if start < end and text[start] == "\n":
        start += 1
    if start < end and text[end - 1] == "\n":
        end -= 1
    return text[start:end]


def head_of_result(text: str) -> tuple[str, str, str] | None:
    """Of a text that begins as the result of a tool: the tool, this beginning, and what follows it."""
    found = _HEAD.match(text) if text.startswith("[") else None
    return None if found is None else (found[1], found[0], text[found.end() :])


def results_in(request: str) -> list[str]:
    """What tools gave, in a text that tells all that a request went with; not what a person answered."""
    told = f"\n{without_environment(request)[0]}"
    reminded = max(told.rfind(reminder) for reminder in _REMINDERS)
    end = len(told) if reminded < 0 else reminded
    outputs: list[str] = []
    for head in reversed(list(_LINE_OF_HEAD.finditer(told, 0, end))):
        if head[1] not in WORDS:
            outputs.append(told[head.end() : end].strip())
        end = head.start()
    return outputs[::-1]


def is_failure(output: str) -> bool | None:
    """True if an output says that the tool failed; else nothing is known."""
    return True if output.startswith(_FAILURES) else None


def tells_environment(text: str) -> bool:
    """Whether a text ends with what the extension tells of the environment."""
    return text.endswith(_END_OF_ENVIRONMENT) or _END_OF_ENVIRONMENT in text[-_NEAR_THE_END:]


def is_injected(text: str) -> bool:
    """Whether a text of a prompt is the extension's own, and nothing else."""
    return text.startswith(_NOTICES_OF_THE_APP) or _OF_THE_APP.is_all(text)


def without_environment(text: str) -> tuple[str, str | None]:
    """A text without what the extension tells of the environment at its end, and that."""
    start = text.find(_ENVIRONMENT)
    end = text.rfind(_END_OF_ENVIRONMENT)
    if start < 0 or end < start:
        return text, None
    told = text[start + len(_ENVIRONMENT) : end].strip()
    behind = end + len(_END_OF_ENVIRONMENT)
    if not start and behind == len(text):
        return "", told  # a block of its own, as nearly always
    return text[:start].rstrip() + text[behind:].rstrip(), told


def unwrapped(text: str) -> Words:
    """What a person said, without the tag around it."""
    inside = text.strip()
    if inside[:1] == "<":
        for opening, closing in _WRAPPING:
            if inside.startswith(opening) and inside.endswith(closing):
                said = inside[len(opening) : -len(closing)].removeprefix("\n").removesuffix("\n")
                return Words(said, opening[1:-1])
    return Words(text, None)


def in_envelope(text: str) -> tuple[str, dict[str, str]] | None:
    """What a person said to Cline since 2026, and what the envelope around it says; None without one."""
    found = _ENVELOPE.fullmatch(text.strip()) if text.rstrip().endswith(_ENDS_OF_ENVELOPES) else None
    if found is None:
        return None
    said, told = found["said"], {"tag": found["tag"], **dict(_ATTRIBUTES.findall(found["told"]))}
    if notices := _NOTICE.findall(text):
        said, told["mode_notice"] = _NOTICE.sub("", said), "\n".join(notices)
    return said.strip(), told


def quoted(text: str) -> tuple[str, str, str] | None:
    """Of a text that quotes a person's reply: what stands around it, what they said, and in which tag."""
    start, mark = min(((at, mark) for mark in _REPLIES if (at := text.find(mark)) >= 0), default=(0, ""))
    closing = f"</{mark[1:]}"
    end = text.rfind(closing) if mark else -1
    if end < start:
        return None
    said = text[start + len(mark) : end].removeprefix("\n").removesuffix("\n")
    around = (text[:start].rstrip(), text[end + len(closing) :].strip())
    return "\n".join(filter(None, around)), said, mark[1:-1]


def has_words(text: str) -> bool:
    """Whether a person's words are marked in a text."""
    return any(mark in text for mark in _WORDS)
