"""Chat templates: a whole dialogue in one text, as it goes to models that can only complete text.

Each template marks where a turn begins, and most where it ends. A text counts as one only if it begins with
such a mark, or with a system prompt and then has a question and an answer: one that merely quotes a mark is
not taken apart. Known from the models' cards and from programs that fill them in, as of November 2026.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from agent_journal import roles

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        r"(?m:^)### (?P<role>Instruction|Response):[ ]*\n?",
        ("<|EOT|>", "</s>"),
        "",
    ),
    _Template("phind", "### User Message", r"(?m:^)### (?P<role>System Prompt|User Message|Assistant)\n"),
    _Template("neural-chat", "### User:", r"(?m:^)### (?P<role>System|User|Assistant):[ ]*\n?"),
    _Template(
        "vicuna", "USER:", r"(?:\A|(?<=[\s>]))(?P<role>USER|ASSISTANT):[ ]?", ("</s>",), "A chat between"
    ),
    _Template(
        "vicuna-v0", "### Human:", r"(?m:^)### (?P<role>Human|Assistant):[ ]*\n?", ("</s>",), "A chat between"
    ),
    _Template("anthropic", "Human:", r"(?:\A|\n\n)(?P<role>Human|Assistant):[ ]?", (), ""),
    _Template("phi2", "Instruct:", r"(?:\A|\n)(?P<role>Instruct|Output):[ ]?"),
    _Template("granite-code", "Question:", r"(?:\A|\n)(?P<role>System|Question|Answer):\n[ ]?"),
    # How programs show chat messages as a text when no template is needed.
    _Template("tags", "<user>\n", r"(?m:^)<(?P<role>system|user|assistant|tool|thinking)>\n"),
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


def parsed(text: str) -> Dialogue | None:
    """The turns of a text that is in a known template, without those that say nothing; else None."""
    for template in _TEMPLATES:
        if template.sign in text and (turns := _turns(text, template)):
            return Dialogue(template.name, turns)
    return None


def _turns(text: str, template: _Template) -> list[Turn]:
    """The turns, or none if the text only has some marks of the template in it."""
    marks = list(_opener(template.opener).finditer(text))
    if not marks:
        return []
    before = _without_beginning(text[: marks[0].start()])
    words = [mark["role"].lower() for mark in marks]
    if before or template.preamble is not None:
        asked = [place for place, word in enumerate(words) if _role(word) == "user"]
        answered = [place for place, word in enumerate(words) if _role(word) == "assistant"]
        if not asked or not answered or asked[0] > answered[0]:
            return []
        if before and (template.preamble is None or not before.startswith(template.preamble)):
            return []
    found = [Turn("system", "", before)] if before else []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    for mark, word, end in zip(marks, words, ends, strict=True):
        said = _without_closing(text[mark.end() : end], template.closing)
        found += [Turn(_role(part), part, body) for part, body in _with_system(word, said) if body]
    return found


@cache
def _opener(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _role(word: str) -> Role:
    return _WORDS.get(word) or roles.role(word) or "user"


def _without_beginning(text: str) -> str:
    """What stands before the first turn, without the marks that begin a text."""
    start, end = 0, len(text)
    while start < end:
        mark = next((each for each in _BEGINNINGS if text.startswith(each, start)), None)
        if mark is None and not text[start].isspace():
            break
        start += len(mark or " ")
    return text[start:].rstrip()


def _without_closing(text: str, closing: tuple[str, ...]) -> str:
    """What is said in a turn: without the marks of its end, and without white space there."""
    end = len(text)
    while end:
        mark = next((each for each in closing if text.endswith(each, 0, end)), None)
        if mark is None and not text[end - 1].isspace():
            break
        end -= len(mark or " ")
    return text[:end]


def _with_system(word: str, text: str) -> Iterator[tuple[str, str]]:
    """The turn, or two: Llama 2 has its system prompt inside of the first question."""
    opening, closing = _SYSTEM_IN_PROMPT
    inside, found, rest = text.partition(closing)
    if word == "inst" and found and inside.startswith(opening):
        yield "system", inside.removeprefix(opening).strip()
        yield word, rest.strip()
    else:
        yield word, text
