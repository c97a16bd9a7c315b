"""A secret that is found once is replaced everywhere in its item, in every field, in every form."""

from __future__ import annotations

import base64
import html
import io
import json
import zipfile
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec.structs import replace

from agent_journal import writers
from agent_journal.conversion import transforms
from agent_journal.model import (
    Conversation,
    Event,
    Item,
    Media,
    Memory,
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
)
from agent_journal.notes import Notes
from agent_journal.redaction import Finding, redact
from agent_journal.redaction.walk import walk
from tests import training
from tests.redaction import zoo
from tests.test_writers import kitchen_sink, written

TOKEN = dict(zoo.TOKENS)["github-token"]
PASSWORD = "pa:ss" + '/w&r"d\\4'


def conversation(*texts: str) -> Conversation:
    timeline: list[Message | Event] = [
        Message(id=f"m{number}", role="user", parts=[Text(text=text)]) for number, text in enumerate(texts)
    ]
    return Conversation(id="c", source="x", timeline=timeline)


def texts_of(item: Conversation) -> list[str]:
    messages = [entry for entry in item.timeline if isinstance(entry, Message)]
    return [part.text for message in messages for part in message.parts if isinstance(part, Text)]


def message_of(*parts: Part) -> Conversation:
    return Conversation(id="c", source="x", timeline=[Message(id="m", role="tool", parts=list(parts))])


@pytest.mark.parametrize("cut", [1, 4, 12, len(TOKEN) - 6])
def test_a_secret_is_found_in_adjacent_text_parts(cut: int) -> None:
    parts: list[Part] = [Text(text=f"is {TOKEN[:cut]}"), Text(text=f"{TOKEN[cut:]} and"), Text(text="more")]
    for item in (message_of(*parts), message_of(ToolResult(output=list(parts)))):  # type: ignore[arg-type]
        redacted, findings = redact(item)
        encoded = msgspec.json.encode(redacted).decode()
        assert TOKEN[:cut] + '"' not in encoded
        assert TOKEN[cut:] not in encoded
        assert [finding.kind for finding in findings] == ["github-token"]
        assert '" and"' not in encoded
        assert ' and"' in encoded


def test_a_private_key_is_found_in_adjacent_text_parts() -> None:
    lines = dict(zoo.TOKENS)["private-key"].splitlines()
    redacted, _ = redact(message_of(*(Text(text=line) for line in lines)))
    assert lines[1] not in msgspec.json.encode(redacted).decode()


def test_a_known_secret_is_found_in_adjacent_text_parts() -> None:
    item = message_of(
        ToolCall(name="login", input={"password": PASSWORD}),
        Text(text=PASSWORD[:5]),
        Text(text=PASSWORD[5:]),
    )
    assert PASSWORD[5:] not in texts_of(redact(item).item)


def test_parts_that_are_not_texts_separate_texts() -> None:
    item = message_of(Text(text=TOKEN[:9]), ToolCall(name="x"), Text(text=TOKEN[9:]))
    assert redact(item).item is item


@pytest.mark.parametrize(
    "form",
    [
        TOKEN,
        f"x{TOKEN}x",
        base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(f"a{TOKEN}\n".encode()).decode(),
        base64.b64encode(f"ab{TOKEN} and more".encode()).decode(),
        base64.urlsafe_b64encode(f"???{TOKEN}???".encode()).decode(),
        TOKEN[:10] + "<mark>" + TOKEN[10:20] + "</mark>" + TOKEN[20:],
        TOKEN[:10] + '<span class="hl">' + TOKEN[10:20] + "</span>" + TOKEN[20:],
        TOKEN[:4] + "\x1b[01;31m\x1b[K" + TOKEN[4:] + "\x1b[m",
        TOKEN[:10] + "\u200b" + TOKEN[10:],
        TOKEN[:10] + "**" + TOKEN[10:20] + "**" + TOKEN[20:],
        TOKEN[:10] + "\\\n    " + TOKEN[10:],
        f'"{TOKEN[:10]}" + "{TOKEN[10:]}"',
    ],
)
def test_every_form_of_a_token(form: str) -> None:
    redacted = redact(conversation(f"it is {TOKEN}.", f"here: {form}, see")).item
    first, second = texts_of(redacted)

    assert first == "it is [REDACTED:github-token]."
    assert "[REDACTED:github-token]" in second
    assert second.startswith("here: ")
    assert second.endswith(", see")
    assert TOKEN[4:] not in second
    assert form[2:-2] not in second


@pytest.mark.parametrize(
    "form",
    [
        PASSWORD,
        json.dumps(PASSWORD)[1:-1],
        json.dumps(json.dumps(PASSWORD)[1:-1])[1:-1],
        quote(PASSWORD, safe=""),
        quote(PASSWORD, safe="").lower(),
        html.escape(PASSWORD),
        base64.b64encode(f"ana:{PASSWORD}".encode()).decode(),
    ],
)
def test_every_form_of_a_password(form: str) -> None:
    login = Message(id="m", role="user", parts=[ToolCall(name="login", input={"password": PASSWORD})])
    redacted = redact(
        replace(conversation(f"here: {form}, see"), timeline=[login, *conversation(form).timeline])
    )

    assert "[REDACTED:password]" == texts_of(replace(redacted.item, timeline=redacted.item.timeline[1:]))[0]
    assert 2 == sum(finding.count for finding in redacted.findings)


def test_markup_within_a_secret_stays_whole() -> None:
    split = f"<p>{TOKEN[:10]}<b>{TOKEN[10:]}</b></p>"

    assert ["<p>[REDACTED:github-token]<b></b></p>"] == texts_of(redact(conversation(split)).item)


def test_short_secrets_within_words_stay() -> None:
    item = redact(
        conversation("password: hunter" + "2", "hunter" + "2, but hunter" + "20 and xhunter" + "2")
    ).item

    assert "[REDACTED:password], but hunter20 and xhunter2" == texts_of(item)[1]


@pytest.mark.parametrize("odd", ['"', "\\", "'", "<", "`"])
def test_a_password_may_have_what_json_escapes(odd: str) -> None:
    call = ToolCall(name="login", call_id="1", input={"password": f"ab{odd}c1" + "Xyz!"})
    redacted = redact(
        Conversation(id="c", source="x", timeline=[Message(id="m1", role="user", parts=[call])])
    )

    assert [Finding(kind="password", message="m1", field="parts.0.input.password")] == redacted.findings


@pytest.mark.parametrize("is_output", [False, True])
def test_attached_texts_are_redacted(is_output: bool) -> None:
    def file(text: str) -> Media:
        return Media(kind="file", name=".env", data=base64.b64encode(text.encode()).decode())

    picture = Media(kind="image", data=base64.b64encode(TOKEN.encode()).decode())
    files = [file(f"SHOP={TOKEN}\n"), file("tea\n"), picture]
    parts: list[Part] = [ToolResult(output=[*files])] if is_output else [*files]
    timeline: list[Message | Event] = [
        Message(id="m1", role="user", parts=parts, native={"file": files[0].data}),
        Message(id="m2", role="user", parts=[Text(text="tea")]),
    ]
    redacted = redact(Conversation(id="c", source="x", timeline=timeline))
    message = redacted.item.timeline[0]
    assert isinstance(message, Message)
    (first, *_) = message.parts
    got = first.output if isinstance(first, ToolResult) else message.parts

    assert [file("SHOP=[REDACTED:github-token]\n"), file("tea\n")] == [*got[:2]]
    assert {"file": "[REDACTED:github-token]"} == message.native
    assert timeline[1] is redacted.item.timeline[1]


def test_findings_have_kind_and_place_but_not_the_secret() -> None:
    call = ToolCall(
        name="login", call_id="1", input={"env": [{"name": "DB_PASSWORD", "value": "hunter" + "22"}]}
    )
    answer = ToolResult(call_id="1", output=f"ok {TOKEN} {TOKEN}", native={"raw": [TOKEN]})
    timeline: list[Message | Event] = [
        Message(id="m1", role="assistant", parts=[call]),
        Event(id="e1", name="shell", data={"out": TOKEN, TOKEN: 1}),
        Message(id="m2", role="user", parts=[answer]),
    ]
    redacted = redact(Conversation(id="c", source="x", title=f"use {TOKEN}", timeline=timeline))

    assert [
        Finding(kind="github-token", field="title"),
        Finding(kind="password", message="m1", field="parts.0.input.env.0.value"),
        Finding(kind="github-token", message="e1", field="data.out"),
        Finding(kind="github-token", message="e1", field="data"),
        Finding(kind="github-token", message="m2", field="parts.0.output", count=2),
        Finding(kind="github-token", message="m2", field="parts.0.native.raw.0"),
    ] == redacted.findings
    assert {"github-token": 6, "password": 1} == redacted.item.extra["redactions"]
    assert TOKEN not in repr(redacted.findings)


def test_two_fields_named_by_secrets_both_stay() -> None:
    other = dict(reversed(zoo.TOKENS))["github-token"]
    item = redact(Memory(id="1", source="x", kind="k", text="", extra={TOKEN: 1, other: 2})).item

    expected = {
        "[REDACTED:github-token]": 1,
        "[REDACTED:github-token] (2)": 2,
        "redactions": {"github-token": 2},
    }
    assert expected == item.extra


def test_without_findings_the_item_is_the_same_object() -> None:
    for item in kitchen_sink():
        assert redact(item) == (item, [])
        assert redact(item).item is item


def test_counts_add_up_over_redactions() -> None:
    once = redact(conversation(TOKEN)).item
    again = replace(once, title=TOKEN)

    assert {"github-token": 2} == redact(again).item.extra["redactions"]


def test_findings_become_notes() -> None:
    notes = Notes()
    item = transforms.redacted(conversation(f"{TOKEN} {TOKEN}"), notes)

    assert ["x:c m0 parts.0.text: redacted: github-token × 2"] == [str(note) for note in notes.collected]
    assert "[REDACTED:github-token] [REDACTED:github-token]" == texts_of(item)[0]


def test_deeply_nested_values_are_redacted() -> None:
    value: Any = TOKEN
    for _ in range(900):
        value = [value]
    message = Message(id="1", role="user", native=value)
    redacted = redact(Conversation(id="1", source="x", timeline=[message]))

    assert 1 == len(redacted.findings)


# ── Whatever is written ──


def everywhere(item: Item, secret: str) -> Item:
    """The item with a secret in every text that is no id."""

    def edit(text: str, path: tuple[str, ...], name: str = "") -> str:  # noqa: ARG001 (an Edit)
        return f"{text} {secret}"

    changed: Item = walk(item, edit)
    return changed


def content(name: str, items: list[Item]) -> bytes:
    data, _ = written(name, items)
    if name == "parquet":
        return training.parquet_rows(data).replace(b"\\", b"")
    if writers.get(name).INFO.layout != "bundle":
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        return b"\n".join(bundle.read(member) for member in bundle.namelist())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252"])
def test_text_files_are_redacted_in_any_encoding(encoding: str) -> None:
    def item(text: str, **native: str) -> Conversation:
        data = base64.b64encode(text.encode(encoding)).decode()
        part = Media(kind="file", name=".env", data=data)
        message = Message(id="m", role="user", parts=[part], native=native)
        return Conversation(id="c", source="x", shape="list", timeline=[message])

    written = f"# Schl\u00fcssel\r\nKEY={TOKEN}\r\n"
    redacted = redact(item(written, file=base64.b64encode(written.encode(encoding)).decode()))

    expected = item("# Schl\u00fcssel\r\nKEY=[REDACTED:github-token]\r\n", file="[REDACTED:github-token]")
    assert expected.timeline == redacted.item.timeline


@pytest.mark.parametrize("name", sorted(writers.discover()))
def test_no_writer_lets_a_secret_through(name: str) -> None:
    planted = [everywhere(item, TOKEN) for item in kitchen_sink()]

    assert TOKEN.encode() in content(name, planted)
    redacted = [redact(item).item for item in planted]
    assert TOKEN.encode() not in content(name, redacted)
    assert b"[REDACTED:github-token]" in content(name, redacted)


@pytest.mark.parametrize("name", sorted(writers.discover()))
def test_no_writer_lets_any_of_the_zoo_through(name: str) -> None:
    texts = [credential.text for credential in (*zoo.STANDING_ALONE[::5], *zoo.IN_CONTEXT)]
    timeline: list[Message | Event] = [
        Message(id=f"m{number}", role="user" if number % 2 else "assistant", parts=[Text(text=text)])
        for number, text in enumerate(texts)
    ]
    data = content(name, [redact(Conversation(id="c", source="kitchen", timeline=timeline)).item])
    secrets = [credential.secret for credential in (*zoo.STANDING_ALONE, *zoo.IN_CONTEXT)]

    assert [] == [secret for secret in secrets if secret.encode() in data]


@pytest.mark.parametrize("name", ["json", "unified", "agent-record", "agent-record-v3", "pam", "parquet"])
def test_the_counts_are_part_of_the_output(name: str) -> None:
    data = content(name, [redact(conversation(f"it is {TOKEN}")).item])

    assert b'"redactions":{"github-token":1}' in data.replace(b" ", b"").replace(b"\n", b"").replace(
        b'"{', b"{"
    )


def test_every_field_of_the_model_is_searched() -> None:
    """Every text of every struct, but ids and words of the model's own."""
    for item in kitchen_sink():
        planted = everywhere(item, TOKEN)
        count = msgspec.json.encode(planted).count(TOKEN.encode())

        assert count == sum(finding.count for finding in redact(planted).findings)
