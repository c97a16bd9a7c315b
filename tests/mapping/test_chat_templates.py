"""Each chat template, and texts that are in none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.readers.dialects import chat_templates
from agent_journal.readers.dialects.chat_templates import TemplateParser, parse_dialogue

ASKED, ANSWERED, AGAIN, SYSTEM = "Why is\nthe sky blue?", "It scatters.\n\n    more", "And red?", "Be brief."
WHOLE = [("system", SYSTEM), ("user", ASKED), ("assistant", ANSWERED), ("user", AGAIN)]
ALPACA = "Below is an instruction that describes a task. Write a response that completes the request."
VICUNA = (
    "A chat between a curious user and an artificial intelligence assistant. "
    "The assistant gives helpful, detailed, and polite answers to the user's questions."
)

# What each template makes of the same dialogue, which ends where the model is to answer.
SAMPLES: dict[str, str] = {
    "chatml": (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{ASKED}<|im_end|>\n"
        f"<|im_start|>assistant\n{ANSWERED}<|im_end|>\n<|im_start|>user\n{AGAIN}<|im_end|>\n"
        "<|im_start|>assistant\n"
    ),
    "llama3": (
        f"<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{SYSTEM}<|eot_id|>"
        f"<|start_header_id|>user<|end_header_id|>\n\n{ASKED}<|eot_id|>"
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{ANSWERED}<|eot_id|>"
        f"<|start_header_id|>user<|end_header_id|>\n\n{AGAIN}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "llama4": (
        f"<|begin_of_text|><|header_start|>system<|header_end|>\n\n{SYSTEM}<|eot|>"
        f"<|header_start|>user<|header_end|>\n\n{ASKED}<|eot|>"
        f"<|header_start|>assistant<|header_end|>\n\n{ANSWERED}<|eot|>"
        f"<|header_start|>user<|header_end|>\n\n{AGAIN}<|eot|><|header_start|>assistant<|header_end|>\n\n"
    ),
    "gemma": (
        f"<bos><start_of_turn>user\n{ASKED}<end_of_turn>\n<start_of_turn>model\n{ANSWERED}<end_of_turn>\n"
        f"<start_of_turn>user\n{AGAIN}<end_of_turn>\n<start_of_turn>model\n"
    ),
    "harmony": (
        f"<|start|>system<|message|>{SYSTEM}<|end|><|start|>user<|message|>{ASKED}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{ANSWERED}<|end|>"
        f"<|start|>user<|message|>{AGAIN}<|end|><|start|>assistant"
    ),
    "granite": (
        f"<|start_of_role|>system<|end_of_role|>{SYSTEM}<|end_of_text|>\n"
        f"<|start_of_role|>user<|end_of_role|>{ASKED}<|end_of_text|>\n"
        f"<|start_of_role|>assistant<|end_of_role|>{ANSWERED}<|end_of_text|>\n"
        f"<|start_of_role|>user<|end_of_role|>{AGAIN}<|end_of_text|>\n"
        "<|start_of_role|>assistant<|end_of_role|>"
    ),
    "command-r": (
        f"<BOS_TOKEN><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>{SYSTEM}<|END_OF_TURN_TOKEN|>"
        f"<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{ASKED}<|END_OF_TURN_TOKEN|>"
        f"<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{ANSWERED}<|END_OF_TURN_TOKEN|>"
        f"<|START_OF_TURN_TOKEN|><|USER_TOKEN|>{AGAIN}<|END_OF_TURN_TOKEN|>"
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
    ),
    "deepseek": (
        f"<\uff5cbegin\u2581of\u2581sentence\uff5c>{SYSTEM}<\uff5cUser\uff5c>{ASKED}<\uff5cAssistant\uff5c>"
        f"{ANSWERED}<\uff5cend\u2581of\u2581sentence\uff5c><\uff5cUser\uff5c>{AGAIN}<\uff5cAssistant\uff5c>"
    ),
    "phi3": (
        f"<|system|>\n{SYSTEM}<|end|>\n<|user|>\n{ASKED}<|end|>\n<|assistant|>\n{ANSWERED}<|end|>\n"
        f"<|user|>\n{AGAIN}<|end|>\n<|assistant|>\n"
    ),
    "zephyr": (
        f"<|system|>\n{SYSTEM}</s>\n<|user|>\n{ASKED}</s>\n<|assistant|>\n{ANSWERED}</s>\n"
        f"<|user|>\n{AGAIN}</s>\n<|assistant|>\n"
    ),
    "llama2": (
        f"<s>[INST] <<SYS>>\n {SYSTEM}\n<</SYS>>\n\n {ASKED} [/INST] {ANSWERED} </s><s>[INST] {AGAIN} [/INST]"
    ),
    "mistral": (
        f"<s>[SYSTEM_PROMPT] {SYSTEM}[/SYSTEM_PROMPT][INST] {ASKED}[/INST] "
        f"{ANSWERED}</s>[INST] {AGAIN}[/INST]"
    ),
    "codellama-70b": (
        f"<s>Source: system\n\n {SYSTEM} <step> Source: user\n\n {ASKED} <step> Source: assistant\n\n "
        f"{ANSWERED} <step> Source: user\n\n {AGAIN} <step> Source: assistant\nDestination: user\n\n"
    ),
    "openchat": (
        f"GPT4 Correct User: {ASKED}<|end_of_turn|>GPT4 Correct Assistant: {ANSWERED}<|end_of_turn|>"
        f"GPT4 Correct User: {AGAIN}<|end_of_turn|>GPT4 Correct Assistant:"
    ),
    "xwin-coder": (f"<system>: {SYSTEM}\n<user>: {ASKED}\n<AI>: {ANSWERED}\n<user>: {AGAIN}\n<AI>: "),
    "alpaca": (
        f"{ALPACA}\n\n### Instruction:\n{ASKED}\n\n### Response:\n{ANSWERED}\n\n"
        f"### Instruction:\n{AGAIN}\n\n### Response:\n"
    ),
    "phind": (
        f"### System Prompt\n{SYSTEM}\n\n### User Message\n{ASKED}\n### Assistant\n{ANSWERED}\n"
        f"### User Message\n{AGAIN}\n### Assistant\n"
    ),
    "neural-chat": (
        f"### System:\n{SYSTEM}\n### User:\n{ASKED}\n### Assistant:\n{ANSWERED}\n"
        f"### User:\n{AGAIN}\n### Assistant:\n"
    ),
    "vicuna": (f"{VICUNA} USER: {ASKED} ASSISTANT: {ANSWERED}</s>USER: {AGAIN} ASSISTANT:"),
    "vicuna-v0": (
        f"{VICUNA}\n### Human: {ASKED}\n### Assistant: {ANSWERED}\n### Human: {AGAIN}\n### Assistant:"
    ),
    "anthropic": (f"{SYSTEM}\n\nHuman: {ASKED} \n\nAssistant: {ANSWERED}\n\nHuman: {AGAIN} \n\nAssistant:"),
    "phi2": (f"\n\nInstruct: {ASKED} \n\nOutput: {ANSWERED} \n\nInstruct: {AGAIN} \n\nOutput: "),
    "granite-code": (
        f"\n\nSystem:\n {SYSTEM}\n\nQuestion:\n{ASKED}\n\nAnswer:\n{ANSWERED}"
        f"\n\nQuestion:\n{AGAIN}\n\nAnswer:\n"
    ),
    "tags": (f"<system>\n{SYSTEM}\n\n<user>\n{ASKED}\n\n<assistant>\n{ANSWERED}\n\n<user>\n{AGAIN}\n\n"),
}
# Those that have no system prompt, or one of their own.
EXPECTED: dict[str, list[tuple[str, str]]] = {
    "gemma": WHOLE[1:],
    "openchat": WHOLE[1:],
    "alpaca": [("system", ALPACA), *WHOLE[1:]],
    "vicuna": [("system", VICUNA), *WHOLE[1:]],
    "vicuna-v0": [("system", VICUNA), *WHOLE[1:]],
    "phi2": WHOLE[1:],
}


def test_every_template_has_a_sample() -> None:
    assert set(SAMPLES) == {template.name for template in chat_templates._TEMPLATES}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_template_is_detected_and_taken_apart(name: str) -> None:
    found = parse_dialogue(SAMPLES[name])

    assert found is not None
    assert found.template == name
    assert [(turn.role, turn.text) for turn in found.turns] == EXPECTED.get(name, WHOLE)


def test_the_documented_example() -> None:
    found = parse_dialogue(
        "<|im_start|>user\nHow are you<|im_end|>\n<|im_start|>assistant\nI am doing well!<|im_end|>"
    )

    assert found is not None
    assert [tuple(turn) for turn in found.turns] == [
        ("user", "user", "How are you"),
        ("assistant", "assistant", "I am doing well!"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello, how are you?",
        "In ChatML a turn begins with <|im_start|>user\nand ends with <|im_end|>.",
        "Llama 2 wants [INST] question [/INST] around a question.",
        "[INST]",
        "<|im_start|>user\n",
        "The log says USER: root logged in, and ASSISTANT: none.",
        "USER: root",
        "### Instruction:\nonly a heading of my notes",
        "### Response:\nfirst\n### Instruction:\nthen",
        "My notes\n\nHuman: is a noun",
        "Question:",
        "a <user>\n in the middle",
        "Source: the internet",
        "def f():\n    return '<|start_header_id|>user<|end_header_id|>'",
    ],
)
def test_other_texts_are_in_no_template(text: str) -> None:
    assert parse_dialogue(text) is None


def test_words_for_tools_and_thoughts() -> None:
    llama = parse_dialogue("<|start_header_id|>ipython<|end_header_id|>\n\n{}<|eot_id|>")
    tags = parse_dialogue("<user>\nhi\n\n<thinking>\nhm\n\n<tool>\n42\n\n")

    assert llama is not None
    assert [tuple(turn) for turn in llama.turns] == [("tool", "ipython", "{}")]
    assert tags is not None
    assert [tuple(turn) for turn in tags.turns] == [
        ("user", "user", "hi"),
        ("assistant", "thinking", "hm"),
        ("tool", "tool", "42"),
    ]


@pytest.mark.parametrize("name", SAMPLES)
def test_marks_without_end_do_not_take_for_ever(name: str) -> None:
    text = SAMPLES[name]
    template = next(each for each in chat_templates._TEMPLATES if each.name == name)
    for hostile in (template.sign * 100_000, "<s>" * 200_000 + template.sign, text + " " * 10**6):
        parse_dialogue(hostile)
    assert parse_dialogue(text * 2000) is not None


@given(
    st.lists(
        st.sampled_from(
            ["<|im_start|>", "user", "\n", "<|im_end|>", "[INST]", "[/INST]", "<<SYS>>", "x", " "]
        )
    )
)
def test_any_mixture_of_marks_gives_turns_that_say_something(pieces: list[str]) -> None:
    found = parse_dialogue("".join(pieces))

    assert found is None or (found.turns and all(turn.text for turn in found.turns))


PIECES = st.sampled_from(
    (
        *(
            "<user>\n",
            "<assistant>\n",
            "<system>\n",
            "<|im_start|>user\n",
            "<|im_start|>assistant\n",
            "<|im_end|>\n",
        ),
        *("\n\nHuman: ", "\n\nAssistant: ", "### Instruction:\n", "### Response:\n", "USER: ", "ASSISTANT: "),
        *("<|user|>\n", "<|assistant|>\n", "<|end|>\n", "[INST] ", "[/INST] ", "<<SYS>>a<</SYS>>"),
        *("word ", "\n", "é", "x" * 600, "y" * 300),
    )
)


@given(
    st.lists(st.lists(PIECES, max_size=8), max_size=6), st.lists(st.integers(0, 3000), min_size=6, max_size=6)
)
def test_texts_that_grow_are_taken_apart_as_each_would_be(pieces: list[list[str]], kept: list[int]) -> None:
    parser = TemplateParser()
    text = ""
    for more, length in zip(pieces, kept, strict=False):
        text = text[:length] + "".join(more)

        assert parser.parse_dialogue(text) == parse_dialogue(text)


def test_turns_that_were_stated_before_are_the_same_again() -> None:
    parser = TemplateParser()
    first = parser.parse_dialogue("<user>\n" + "a" * 900 + "\n\n<assistant>\nb\n\n<user>\n" + "c" * 900)
    again = parser.parse_dialogue(
        "<user>\n" + "a" * 900 + "\n\n<assistant>\nb\n\n<user>\n" + "c" * 900 + "\n\n<tool>\nd"
    )

    assert first is not None
    assert again is not None
    assert [turn.text[0] for turn in again.turns] == ["a", "b", "c", "d"]
    assert all(new is old for new, old in zip(again.turns[:2], first.turns, strict=False))
