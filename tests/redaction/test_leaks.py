"""Every form in which a secret leaves a machine is redacted, in every format; harmless texts stay."""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from agent_journal import writers
from agent_journal.model import Conversation, Event, Media, Memory, Message, Text, ToolCall, ToolResult
from agent_journal.redaction import redact
from tests.redaction import harmless, leaks
from tests.redaction.redacting import redacted_text
from tests.redaction.test_items import content

if TYPE_CHECKING:
    from agent_journal.redaction import ItemT

_MIN_FORMS = 220
PAGE = Path(__file__).parent.parent.parent / "docs" / "redaction.md"


def left(pieces: tuple[str, ...], text: str) -> list[str]:
    """The pieces that are still there, as they were or as JSON has them."""
    return [piece for piece in pieces if piece in text or json.dumps(piece, ensure_ascii=False)[1:-1] in text]


def encoded(item: ItemT) -> str:
    return msgspec.json.encode(redact(item).item).decode()


def named(leak: leaks.Leak | leaks.Split) -> str:
    return leak.name


@pytest.mark.parametrize("leak", leaks.LEAKS, ids=named)
def test_every_form_is_redacted(leak: leaks.Leak) -> None:
    assert list(leak.pieces) == left(leak.pieces, leak.text)

    assert [] == left(leak.pieces, redacted_text(leak.text))


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("is_ascii", [False, True], ids=["unicode", "ascii"])
def test_every_form_is_redacted_within_json_within_json(levels: int, is_ascii: bool) -> None:
    leaked = []
    for leak in leaks.LEAKS:
        text = leak.text
        for _ in range(levels):
            text = json.dumps(text, ensure_ascii=is_ascii)
        leaked += [leak.name] * bool(left(leak.pieces, redacted_text(text)))

    assert [] == leaked


@pytest.mark.parametrize("decoy", harmless.DECOYS)
def test_decoys_of_every_form_stay(decoy: str) -> None:
    assert decoy == redacted_text(decoy)


@pytest.mark.parametrize("decoy", harmless.DECOYS[::7])
def test_decoys_stay_in_every_field(decoy: str) -> None:
    parts = [ToolCall(name="run", call_id="1", input={"command": decoy, "args": decoy.split()})]
    message = Message(id="m", role="assistant", parts=[*parts, ToolResult(call_id="1", output=decoy)])
    item = Conversation(id="c", source="x", title=decoy, timeline=[message])

    assert redact(item).item is item


@pytest.mark.parametrize("is_json", [False, True], ids=["a list", "JSON in a text"])
@pytest.mark.parametrize("split", leaks.SPLIT, ids=named)
def test_a_secret_in_several_strings_is_redacted(split: leaks.Split, is_json: bool) -> None:
    value = json.dumps(split.value) if is_json else split.value
    call = ToolCall(name="run", call_id="1", input={"value": value})
    item = Conversation(id="c", source="x", timeline=[Message(id="m", role="assistant", parts=[call])])

    assert [] == left(split.pieces, encoded(item))


def conversation_of(texts: list[str]) -> Conversation:
    timeline: list[Message | Event] = [
        Message(id=f"m{number}", role="user" if number % 2 else "assistant", parts=[Text(text=text)])
        for number, text in enumerate(texts)
    ]
    return Conversation(id="c", source="kitchen", timeline=timeline)


@pytest.mark.parametrize("name", sorted(writers.discover()))
def test_no_format_lets_any_form_through(name: str) -> None:
    data = content(name, [redact(conversation_of([leak.text for leak in leaks.LEAKS])).item])
    # As a page shows them, and without markup.
    shown = html.unescape(data.decode("utf-8", "replace"))
    readings = (shown, re.sub(r"<[^<>]*>", "", shown), shown.replace("\\n", "\n"))

    assert [] == [
        (leak.name, left(leak.pieces, each))
        for leak in leaks.LEAKS
        for each in readings
        if left(leak.pieces, each)
    ]


PLACES = (
    "title",
    "file name",
    "extra",
    "field name",
    "tool name",
    "event",
    "model",
    "text file",
    "nested JSON",
)


@pytest.mark.parametrize("place", PLACES)
def test_a_form_is_redacted_in_every_field(place: str) -> None:
    for leak in leaks.LEAKS[::11]:
        file = base64.b64encode(leak.text.encode()).decode()
        message = Message(id="m", role="user", parts=[Text(text="tea")])
        changes: dict[str, Conversation] = {
            "title": Conversation(id="c", source="x", title=leak.text),
            "file name": conversation_with(Media(kind="file", name=leak.text, data="AAAA")),
            "extra": Conversation(id="c", source="x", extra={"a": [{"b": leak.text}]}),
            "field name": Conversation(id="c", source="x", extra={leak.text: 1}),
            "tool name": conversation_with(ToolCall(name=leak.text, call_id="1", input={})),
            "event": Conversation(
                id="c", source="x", timeline=[message, Event(id="e", name="n", data={"d": leak.text})]
            ),
            "model": Conversation(
                id="c", source="x", timeline=[Message(id="m", role="user", model=leak.text)]
            ),
            "text file": conversation_with(Media(kind="file", name="a.txt", data=file)),
            "nested JSON": conversation_with(
                ToolCall(name="t", call_id="1", input={"j": json.dumps({"k": leak.text})})
            ),
        }
        result = encoded(changes[place])
        files = [
            base64.b64decode(each).decode("utf-8", "replace")
            for each in re.findall('"data":"([^"]+)"', result)
        ]

        assert [] == left(leak.pieces, "\n".join((result, *files))), leak.name


def conversation_with(part: Media | ToolCall) -> Conversation:
    return Conversation(id="c", source="x", timeline=[Message(id="m", role="user", parts=[part])])


def test_several_phrases_of_wallets_are_all_redacted() -> None:
    phrases = [
        " ".join(leaks.seed_phrase(f"file {number}", 12 if number % 2 else 24)) for number in range(20)
    ]
    redacted = redacted_text("\n".join(phrases))

    assert ["[REDACTED:seed-phrase]"] * 20 == redacted.splitlines()


def test_the_lines_around_a_key_stay() -> None:
    key = leaks.prefixed("docker compose logs", leaks.pem("around"))
    redacted = redacted_text(f"web-1  | starting\n{key}\nweb-1  | ready on port 8080\n")

    assert "web-1  | starting\nweb-1  | [REDACTED:private-key]\nweb-1  | ready on port 8080\n" == redacted


def test_the_lines_around_a_truncated_key_stay() -> None:
    key = leaks.prefixed("diff added", leaks.pem("cut around")[:-2])
    redacted = redacted_text(f"+a = 1\n{key}\n+b = 2\n+c = 3\n")

    assert "+a = 1\n+[REDACTED:private-key]\n+b = 2\n+c = 3\n" == redacted


def test_a_line_after_a_token_stays() -> None:
    token = leaks.github("line behind")
    behind = "PORT=8080\nHOST=db1.example.org\n"

    assert f"export GITHUB_TOKEN=[REDACTED:github-token]\n{behind}" == redacted_text(
        f"export GITHUB_TOKEN={token}\n{behind}"
    )


def test_a_secret_in_a_list_is_counted_once_at_its_place() -> None:
    secret = leaks.word("counted")
    call = ToolCall(
        name="run", call_id="1", input={"args": ["mysql", "--password", secret, leaks.github("x")]}
    )
    redacted = redact(conversation_with(call))

    assert [("password", "parts.0.input.args"), ("github-token", "parts.0.input.args.3")] == [
        (finding.kind, finding.field) for finding in redacted.findings
    ]
    assert {"password": 1, "github-token": 1} == redacted.item.extra["redactions"]


def test_colors_around_a_token_stay() -> None:
    token = leaks.github("colors stay")

    assert "\x1b[32m[REDACTED:github-token]\x1b[0m" == redacted_text(f"\x1b[32m{token}\x1b[0m")


def test_the_page_states_how_many_forms_are_tested() -> None:
    """docs/redaction.md names the numbers; it is wrong if a form was added or removed."""
    assert min(len(leaks.LEAKS), len(harmless.DECOYS)) >= _MIN_FORMS
    page = PAGE.read_text(encoding="utf-8")

    for count, what in (
        (len(leaks.LEAKS) + len(leaks.SPLIT), "forms of secrets"),
        (len(harmless.DECOYS), "harmless texts"),
        (len(leaks.LINE_PREFIXES), "ways in which programs show the lines of a file"),
    ):
        assert f"{count} {what}" in page


def test_memories_are_redacted_too() -> None:
    leak = leaks.LEAKS[0]

    assert [] == left(leak.pieces, encoded(Memory(id="1", source="x", kind="k", text=leak.text)))
