"""Chat templates: a dialogue formatted as one text, for models that can only complete text.

Each template marks where a turn begins, and most also mark its end. A text is a dialogue only if it begins
with such a mark, or with a system prompt that a question and an answer follow: a text that merely quotes a
mark is not split. Known from the models' cards and from programs that use the templates, as of November 2026.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import roles

if TYPE_CHECKING:
    from agent_journal.model import Role


class Turn(NamedTuple):
    """A turn of a dialogue; `word` is the template's own name of the role."""

    role: Role
    word: str
    text: str


class Dialogue(NamedTuple):
    """The turns of a text, and the name of their template."""

    template: str
    turns: list[Turn]


class _Template(NamedTuple):
    """`sign` is in every text of the template, `opener` begins a turn, `closing` may end one.

    `preamble` is the beginning of a system prompt allowed before the first turn; None allows no text there.
    """

    name: str
    sign: str
    opener: str
    closing: tuple[str, ...] = ()
    preamble: str | None = None


# A pattern that begins with a literal character is matched much faster than one that begins with `^`.
_HEADING_MARK = r"#(?<![^\n]#)## "
_TEMPLATES = (
    _Template(
        "chatml",
        "<|im_start|>",
        r"<\|im_start\|>(?P<role>[A-Za-z_]{1,20})[^\n<]{0,200}(?:\n|<\|im_sep\|>)",
        ("<|im_end|>", "<|endoftext|>"),
    ),
    _Template(
        "llama3",
        "<|start_header_id|>",
        r"<\|start_header_id\|>(?P<role>[A-Za-z_]{1,20})<\|end_header_id\|>\n{0,2}",
        ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    ),
    _Template(
        "llama4",
        "<|header_start|>",
        r"<\|header_start\|>(?P<role>[A-Za-z_]{1,20})<\|header_end\|>\n{0,2}",
        ("<|eot|>", "<|eom|>"),
    ),
    _Template(
        "gemma",
        "<start_of_turn>",
        r"<start_of_turn>(?P<role>user|model|system)\n",
        ("<end_of_turn>", "<eos>"),
    ),
    _Template(
        "harmony",
        "<|message|>",
        r"<\|start\|>(?P<role>[a-z_]{1,20})(?:[^<]{0,80}<\|(?:channel|constrain)\|>){0,2}[^<]{0,80}<\|message\|>",
        ("<|start|>assistant", "<|end|>", "<|return|>", "<|call|>"),
    ),
    _Template(
        "granite",
        "<|start_of_role|>",
        r"<\|start_of_role\|>(?P<role>[a-z_]{1,20})<\|end_of_role\|>",
        ("<|end_of_text|>",),
    ),
    _Template(
        "command-r",
        "<|START_OF_TURN_TOKEN|>",
        r"<\|START_OF_TURN_TOKEN\|><\|(?P<role>USER|CHATBOT|SYSTEM)_TOKEN\|>",
        ("<|END_OF_TURN_TOKEN|>",),
    ),
    _Template(
        "deepseek",
        "<\uff5cUser\uff5c>",
        "<\uff5c(?P<role>User|Assistant)\uff5c>",
        ("<\uff5cend\u2581of\u2581sentence\uff5c>",),
        "",
    ),
    _Template("phi3", "<|end|>", r"<\|(?P<role>system|user|assistant|tool)\|>[ ]?\n?", ("<|end|>",)),
    _Template(
        "zephyr",
        "<|user|>",
        r"<\|(?P<role>system|user|assistant|tool|observation)\|>[ ]?\n?",
        ("</s>", "<|endoftext|>"),
    ),
    _Template("llama2", "<<SYS>>", r"\[(?P<role>/?INST)\][ ]?", ("<s>", "</s>")),
    _Template("mistral", "[INST]", r"\[(?P<role>/?INST|/?SYSTEM_PROMPT)\][ ]?", ("<s>", "</s>")),
    _Template(
        "codellama-70b",
        "Source: ",
        r"Source: (?P<role>[a-z]{1,20})\n(?:Destination: [a-z]{1,20}\n)?\n[ ]?",
        ("<step>",),
    ),
    _Template(
        "openchat",
        "GPT4 Correct User:",
        r"GPT4 Correct (?P<role>User|Assistant):[ ]?",
        ("<|end_of_turn|>",),
    ),
    _Template("xwin-coder", "<user>: ", r"(?:\A|\n)<(?P<role>system|user|AI)>:[ ]?"),
    _Template(
        "alpaca",
        "### Instruction:",
        _HEADING_MARK + r"(?P<role>Instruction|Response):[ ]*\n?",
        ("<|EOT|>", "</s>"),
        "",
    ),
    _Template(
        "phind", "### User Message", _HEADING_MARK + r"(?P<role>System Prompt|User Message|Assistant)\n"
    ),
    _Template("neural-chat", "### User:", _HEADING_MARK + r"(?P<role>System|User|Assistant):[ ]*\n?"),
    _Template(
        "vicuna", "USER:", r"(?:\A|(?<=[\s>]))(?P<role>USER|ASSISTANT):[ ]?", ("</s>",), "A chat between"
    ),
    _Template(
        "vicuna-v0",
        "### Human:",
        _HEADING_MARK + r"(?P<role>Human|Assistant):[ ]*\n?",
        ("</s>",),
        "A chat between",
    ),
    _Template("anthropic", "Human:", r"(?:\A|\n\n)(?P<role>Human|Assistant):[ ]?", (), ""),
    _Template("phi2", "Instruct:", r"(?:\A|\n)(?P<role>Instruct|Output):[ ]?"),
    _Template("granite-code", "Question:", r"(?:\A|\n)(?P<role>System|Question|Answer):\n[ ]?"),
    # The form in which programs show chat messages as text without a template.
    _Template("tags", "<user>\n", r"<(?<![^\n]<)(?P<role>system|user|assistant|tool|thinking)>\n"),
)
_ROLES_BY_WORD: dict[str, Role] = {
    "inst": "user",
    "/inst": "assistant",
    "system_prompt": "system",
    "/system_prompt": "user",
    "system prompt": "system",
    "instruction": "user",
    "instruct": "user",
    "user message": "user",
    "question": "user",
    "response": "assistant",
    "output": "assistant",
    "answer": "assistant",
    "chatbot": "assistant",
    "thinking": "assistant",
    "ipython": "tool",
    "observation": "tool",
}
# Marks allowed before everything else.
_START_MARKS = (
    "<s>",
    "<bos>",
    "<BOS_TOKEN>",
    "<|begin_of_text|>",
    "<|endoftext|>",
    "[gMASK]",
    "<sop>",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
)
_LLAMA2_SYSTEM_TAGS = "<<SYS>>", "<</SYS>>"


# No mark, with the context that its pattern looks at, is longer than this.
_MAX_MARK_CHARS = 500


class _Mark(NamedTuple):
    """The start of a turn, the start of its text, and its role's name."""

    start: int
    end: int
    word: str


class _ParsedText(NamedTuple):
    """A parsed text. `others` are the signs of templates tried earlier, all absent from the text."""

    text: str
    start: int
    template: _Template
    marks: list[_Mark]
    turns_by_mark: list[list[Turn]]
    turns: list[Turn]
    others: tuple[str, ...] | None


def parse_dialogue(text: str) -> Dialogue | None:
    """Return the non-empty turns of a text in a known template; None for any other text."""
    return TemplateParser().parse_dialogue(text)


class TemplateParser:
    """Parses texts of which each mostly extends the one before.

    The common beginning of two texts is parsed once, and yields the identical turn objects.
    """

    def __init__(self) -> None:
        self._last: _ParsedText | None = None

    def parse_dialogue(self, text: str) -> Dialogue | None:
        """Return the turns of a text, as the module's function does."""
        extended = None if self._last is None else _extend_last(self._last, text)
        self._last = result = extended or _parse_text(text)
        return None if result is None else Dialogue(result.template.name, result.turns)


def _parse_text(text: str) -> _ParsedText | None:
    start = _skip_start_marks(text)
    skipped: list[_Template] = []
    for template in _TEMPLATES:
        if template.preamble is None and not _opens(text, start, template):
            continue
        if template.sign in text:
            marks = _find_marks(text, 0, template)
            turns_by_mark = [_turns_after_mark(text, index, marks, template) for index in range(len(marks))]
            if turns := _turns(text[start : marks[0].start] if marks else "", marks, turns_by_mark, template):
                signs = tuple(other.sign for other in skipped)
                are_absent = not any(sign in text for sign in signs)
                return _ParsedText(
                    text, start, template, marks, turns_by_mark, turns, signs if are_absent else None
                )
        skipped.append(template)
    return None


def _extend_last(last: _ParsedText, text: str) -> _ParsedText | None:
    """Parse a text that begins like the last one; None if they have too little in common."""
    common = _common_length(last.text, text)
    unchanged = [mark for mark in last.marks if mark.start + _MAX_MARK_CHARS <= common]
    template = last.template
    if not unchanged or last.others is None or template.sign not in text:
        return None
    if any(text.find(sign, max(0, common - len(sign))) >= 0 for sign in last.others):
        return None
    # The last common mark is matched again, because the text after it may have grown.
    marks = unchanged[:-1] + _find_marks(text, unchanged[-1].start, template)
    turns_by_mark = last.turns_by_mark[: len(unchanged) - 1]
    turns_by_mark += [
        _turns_after_mark(text, index, marks, template) for index in range(len(turns_by_mark), len(marks))
    ]
    turns = _turns(text[last.start : marks[0].start], marks, turns_by_mark, template)
    return (
        _ParsedText(text, last.start, template, marks, turns_by_mark, turns, last.others) if turns else None
    )


def _common_length(left: str, right: str) -> int:
    """Return the length of the common beginning of two texts, perhaps slightly less."""
    if right.startswith(left):
        return len(left)
    low, high = 0, min(len(left), len(right))
    while high - low > _MAX_MARK_CHARS:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _opens(text: str, start: int, template: _Template) -> bool:
    """Return whether a turn begins at the start of the text; its mark may include preceding line breaks."""
    opener = _opener(template.opener)
    return any(opener.match(text, position) is not None for position in range(max(0, start - 2), start + 1))


def _find_marks(text: str, start: int, template: _Template) -> list[_Mark]:
    matches = _opener(template.opener).finditer(text, start)
    return [_Mark(match.start(), match.end(), match["role"].lower()) for match in matches]


def _turns_after_mark(text: str, index: int, marks: list[_Mark], template: _Template) -> list[Turn]:
    """Return the turns after a mark; an empty list if there is only white space."""
    end = marks[index + 1].start if index + 1 < len(marks) else len(text)
    text_after = _without_closing(text[marks[index].end : end], template.closing)
    return [
        Turn(_role(part), part, body)
        for part, body in _split_system_prompt(marks[index].word, text_after)
        if body
    ]


def _turns(
    preamble: str, marks: list[_Mark], turns_by_mark: list[list[Turn]], template: _Template
) -> list[Turn]:
    """Return all turns; an empty list if the text merely contains some of the template's marks."""
    if not marks:
        return []
    system_text = preamble.rstrip()
    if system_text or template.preamble is not None:
        spoken_roles = [_role(mark.word) for mark in marks]
        if "user" not in spoken_roles or "assistant" not in spoken_roles[spoken_roles.index("user") :]:
            return []
        if spoken_roles.index("assistant") < spoken_roles.index("user"):
            return []
        if system_text and (template.preamble is None or not system_text.startswith(template.preamble)):
            return []
    first = [Turn("system", "", system_text)] if system_text else []
    return first + [turn for turns in turns_by_mark for turn in turns]


@cache
def _opener(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _role(word: str) -> Role:
    return _ROLES_BY_WORD.get(word) or roles.role(word) or "user"


def _skip_start_marks(text: str) -> int:
    """Return the position after white space and start marks."""
    start, end = 0, len(text)
    while start < end:
        mark = next((start_mark for start_mark in _START_MARKS if text.startswith(start_mark, start)), None)
        if mark is None and not text[start].isspace():
            break
        start += len(mark or " ")
    return start


def _without_closing(text: str, closing: tuple[str, ...]) -> str:
    """Return the text of a turn without closing marks and trailing white space."""
    end = len(text.rstrip())
    while end and text.endswith(closing, 0, end):
        end -= next(len(mark) for mark in closing if text.endswith(mark, 0, end))
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


def _split_system_prompt(word: str, text: str) -> list[tuple[str, str]]:
    """Return the turn, or two turns: Llama 2 puts the system prompt inside the first question."""
    opening, closing = _LLAMA2_SYSTEM_TAGS
    if word != "inst" or not text.startswith(opening) or closing not in text:
        return [(word, text)]
    system_text, _, rest = text.removeprefix(opening).partition(closing)
    return [("system", system_text.strip()), (word, rest.strip())]
