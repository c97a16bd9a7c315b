"""Chat templates: a whole dialogue in one text, as it goes to models that can only complete text.

Each template marks where a turn begins, and most where it ends. A text counts as one only if it begins with
such a mark, or with a system prompt and then has a question and an answer: one that merely quotes a mark is
not taken apart. Known from the models' cards and from programs that fill them in, as of November 2026.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import roles

if TYPE_CHECKING:
    from agent_journal.model import Role


class Turn(NamedTuple):
    """What one side says; `word` is the template's own for who that is."""

    role: Role
    word: str
    text: str


class Dialogue(NamedTuple):
    """The turns of a text, and the name of the template they are in."""

    template: str
    turns: list[Turn]


class _Template(NamedTuple):
    """`sign` is in every such text, `opener` begins a turn, `closing` may end one.

    `preamble` says what may stand before the first turn: nothing (None), or a system prompt that begins so.
    """

    name: str
    sign: str
    opener: str
    closing: tuple[str, ...] = ()
    preamble: str | None = None


# A pattern that begins with the character it looks for is found much faster than one that begins with `^`.
_LINE = r"#(?<![^\n]#)## "
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
        _LINE + r"(?P<role>Instruction|Response):[ ]*\n?",
        ("<|EOT|>", "</s>"),
        "",
    ),
    _Template("phind", "### User Message", _LINE + r"(?P<role>System Prompt|User Message|Assistant)\n"),
    _Template("neural-chat", "### User:", _LINE + r"(?P<role>System|User|Assistant):[ ]*\n?"),
    _Template(
        "vicuna", "USER:", r"(?:\A|(?<=[\s>]))(?P<role>USER|ASSISTANT):[ ]?", ("</s>",), "A chat between"
    ),
    _Template(
        "vicuna-v0",
        "### Human:",
        _LINE + r"(?P<role>Human|Assistant):[ ]*\n?",
        ("</s>",),
        "A chat between",
    ),
    _Template("anthropic", "Human:", r"(?:\A|\n\n)(?P<role>Human|Assistant):[ ]?", (), ""),
    _Template("phi2", "Instruct:", r"(?:\A|\n)(?P<role>Instruct|Output):[ ]?"),
    _Template("granite-code", "Question:", r"(?:\A|\n)(?P<role>System|Question|Answer):\n[ ]?"),
    # How programs show chat messages as a text when no template is needed.
    _Template("tags", "<user>\n", r"<(?<![^\n]<)(?P<role>system|user|assistant|tool|thinking)>\n"),
)
_WORDS: dict[str, Role] = {
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
# What may stand before everything else.
_BEGINNINGS = (
    "<s>",
    "<bos>",
    "<BOS_TOKEN>",
    "<|begin_of_text|>",
    "<|endoftext|>",
    "[gMASK]",
    "<sop>",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
)
_SYSTEM_IN_PROMPT = "<<SYS>>", "<</SYS>>"


# A mark, and what is looked at around it to find it, is never longer than this.
_REACH = 500


class _Mark(NamedTuple):
    """Where a turn begins, where its text does, and whose it is."""

    start: int
    end: int
    word: str


class _Read(NamedTuple):
    """What was found in a text. `others` are the signs of templates that would go before, all absent."""

    text: str
    start: int
    template: _Template
    marks: list[_Mark]
    said: list[list[Turn]]
    turns: list[Turn]
    others: tuple[str, ...] | None


def parsed(text: str) -> Dialogue | None:
    """The turns of a text that is in a known template, without those that say nothing; else None."""
    return Growing().parsed(text)


class Growing:
    """Takes apart texts of which each mostly goes on where the one before ended.

    What two texts have in common is looked at once; it gives the same turns again, not only equal ones.
    """

    def __init__(self) -> None:
        self._last: _Read | None = None

    def parsed(self, text: str) -> Dialogue | None:
        """The turns of a text, as the function of this name finds them."""
        grown = None if self._last is None else _grown(self._last, text)
        self._last = found = grown or _read(text)
        return None if found is None else Dialogue(found.template.name, found.turns)


def _read(text: str) -> _Read | None:
    start = _end_of_beginning(text)
    before: list[_Template] = []
    for template in _TEMPLATES:
        if template.preamble is None and not _opens(text, start, template):
            continue
        if template.sign in text:
            marks = _marks(text, 0, template)
            said = [_said(text, place, marks, template) for place in range(len(marks))]
            if turns := _turns(text[start : marks[0].start] if marks else "", marks, said, template):
                signs = tuple(other.sign for other in before)
                are_absent = not any(sign in text for sign in signs)
                return _Read(text, start, template, marks, said, turns, signs if are_absent else None)
        before.append(template)
    return None


def _grown(last: _Read, text: str) -> _Read | None:
    """What a text is that begins as the last one did; None if that is too little to go on from."""
    common = _common_length(last.text, text)
    kept = [mark for mark in last.marks if mark.start + _REACH <= common]
    template = last.template
    if not kept or last.others is None or template.sign not in text:
        return None
    if any(text.find(sign, max(0, common - len(sign))) >= 0 for sign in last.others):
        return None
    # The last mark that is the same is found again: what is said behind it may have grown.
    marks = kept[:-1] + _marks(text, kept[-1].start, template)
    said = last.said[: len(kept) - 1]
    said += [_said(text, place, marks, template) for place in range(len(said), len(marks))]
    turns = _turns(text[last.start : marks[0].start], marks, said, template)
    return _Read(text, last.start, template, marks, said, turns, last.others) if turns else None


def _common_length(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning, perhaps a few less."""
    if other.startswith(one):
        return len(one)
    least, most = 0, min(len(one), len(other))
    while most - least > _REACH:
        middle = (least + most) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle
    return least


def _opens(text: str, start: int, template: _Template) -> bool:
    """Whether a turn begins where the text does; the mark may have line breaks in it that come before."""
    opener = _opener(template.opener)
    return any(opener.match(text, place) is not None for place in range(max(0, start - 2), start + 1))


def _marks(text: str, start: int, template: _Template) -> list[_Mark]:
    found = _opener(template.opener).finditer(text, start)
    return [_Mark(mark.start(), mark.end(), mark["role"].lower()) for mark in found]


def _said(text: str, place: int, marks: list[_Mark], template: _Template) -> list[Turn]:
    """What is said behind a mark; nothing if that is only white space."""
    end = marks[place + 1].start if place + 1 < len(marks) else len(text)
    said = _without_closing(text[marks[place].end : end], template.closing)
    return [Turn(_role(part), part, body) for part, body in _with_system(marks[place].word, said) if body]


def _turns(preamble: str, marks: list[_Mark], said: list[list[Turn]], template: _Template) -> list[Turn]:
    """The turns, or none if the text only has some marks of the template in it."""
    if not marks:
        return []
    before = preamble.rstrip()
    if before or template.preamble is not None:
        spoken = [_role(mark.word) for mark in marks]
        if "user" not in spoken or "assistant" not in spoken[spoken.index("user") :]:
            return []
        if spoken.index("assistant") < spoken.index("user"):
            return []
        if before and (template.preamble is None or not before.startswith(template.preamble)):
            return []
    first = [Turn("system", "", before)] if before else []
    return first + [turn for turns in said for turn in turns]


@cache
def _opener(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _role(word: str) -> Role:
    return _WORDS.get(word) or roles.role(word) or "user"


def _end_of_beginning(text: str) -> int:
    """Where a text begins behind white space and the marks that only say that it begins."""
    start, end = 0, len(text)
    while start < end:
        mark = next((each for each in _BEGINNINGS if text.startswith(each, start)), None)
        if mark is None and not text[start].isspace():
            break
        start += len(mark or " ")
    return start


def _without_closing(text: str, closing: tuple[str, ...]) -> str:
    """What is said in a turn: without the marks of its end, and without white space there."""
    end = len(text.rstrip())
    while end and text.endswith(closing, 0, end):
        end -= next(len(each) for each in closing if text.endswith(each, 0, end))
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


def _with_system(word: str, text: str) -> list[tuple[str, str]]:
    """The turn, or two: Llama 2 has its system prompt inside of the first question."""
    opening, closing = _SYSTEM_IN_PROMPT
    if word != "inst" or not text.startswith(opening) or closing not in text:
        return [(word, text)]
    inside, _, rest = text.removeprefix(opening).partition(closing)
    return [("system", inside.strip()), (word, rest.strip())]
