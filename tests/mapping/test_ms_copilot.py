"""The tables and notes of the Portable AI Memory mapping that concern Microsoft Copilot, one by one."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from agent_journal import Notes, readers, writers
from agent_journal.conversion.output import new_run
from agent_journal.conversion.pipeline import read_all
from agent_journal.model import Conversation, Event, Message
from agent_journal.model.tree import plain_text

A = "Conversation,Time,Author,Message\n"
B = "CreatedAt,MessageContent,Author,ChatName\n"
D = "Timestamp,ClientApp,Prompt\n"


def read(text: str | bytes, folder: Path, name: str = "export.csv") -> tuple[list[Conversation], list[str]]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    notes = Notes()
    found = [item for item in read_all([str(path)], notes) if isinstance(item, Conversation)]
    return found, [f"{note.where} {note.kind}".strip() for note in notes.collected]


def one_message(text: str, folder: Path) -> Message:
    ((conversation,), _) = read(text, folder)
    (message,) = conversation.timeline
    assert isinstance(message, Message)
    return message


def said(conversation: Conversation) -> list[str]:
    return [plain_text(entry) for entry in conversation.timeline if isinstance(entry, Message)]


# The columns of the two conversation layouts.


@pytest.mark.parametrize(
    "text",
    [
        A + "Tea,2026-02-17T14:36:11,user,Green?\n",
        B + "2/17/2026 14:36:11 +00:00,Green?,user,Tea\n",
    ],
)
def test_title_time_role_and_text_are_direct(text: str, tmp_path: Path) -> None:
    (conversation,), noted = read(text, tmp_path)
    (message,) = conversation.timeline

    assert "Tea" == conversation.title
    assert "2026-02-17T14:36:11Z" == message.at == conversation.started_at == conversation.updated_at
    assert isinstance(message, Message)
    assert "user" == message.role
    assert "Green?" == plain_text(message)
    assert [] == noted


def test_targets_call_it_by_the_names_they_have() -> None:
    assert {"pam": "copilot", "record": "ms-copilot"} == readers.get("ms-copilot").INFO.names


@pytest.mark.parametrize(
    ("author", "role"),
    [
        ("user", "user"),
        ("User", "user"),
        ("Human", "user"),
        ("HUMAN", "user"),
        ("AI", "assistant"),
        ("ai", "assistant"),
        ("assistant", "assistant"),
        ("bot", "assistant"),
        ("Copilot", "assistant"),
        ("Microsoft 365 Copilot", "assistant"),
    ],
)
@pytest.mark.parametrize("layout", ["A", "B"])
def test_roles(author: str, role: str, layout: str, tmp_path: Path) -> None:
    row = f"T,2026-02-17T14:36:11Z,{author},x\n" if layout == "A" else f"2026-02-17T14:36:11Z,x,{author},T\n"
    message = one_message((A if layout == "A" else B) + row, tmp_path)

    assert role == message.role
    # A name says more than the role it stands for.
    assert ({"Author": author} if "Copilot" in author else {}) == message.extra


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2026-02-17T14:36:11", "2026-02-17T14:36:11Z"),
        ("2026-02-17T14:36:11+02:00", "2026-02-17T14:36:11+02:00"),
        ("2026-02-17T14:36:11.250Z", "2026-02-17T14:36:11.250Z"),
        ("2/17/2026 14:36:11 +00:00", "2026-02-17T14:36:11Z"),
        ("2/17/2026 2:36:11 PM +00:00", "2026-02-17T14:36:11Z"),
        ("2/17/2026 2:36:11\u202fPM +02:00", "2026-02-17T12:36:11Z"),
        ("1/1/2026 10:00:00 +00:00", "2026-01-01T10:00:00Z"),
        ("2/17/2026 12:05 AM", "2026-02-17T00:05:00Z"),
        ("17.02.2026 14:36:11", "2026-02-17T14:36:11Z"),
        ("05.02.2026 14:36:11", "2026-02-05T14:36:11Z"),
        ("Feb 17, 2026 2:36 PM", "2026-02-17T14:36:00Z"),
    ],
)
@pytest.mark.parametrize("layout", ["A", "B"])
def test_times_are_parsed_defensively_in_every_file(
    written: str, at: str, layout: str, tmp_path: Path
) -> None:
    text = A + f'T,"{written}",user,x\n' if layout == "A" else B + f'"{written}",x,user,T\n'
    message = one_message(text, tmp_path)

    assert at == message.at
    # What a moment in UTC cannot say (no zone, another zone, another order) is kept.
    assert ({} if at == written else {"Time" if layout == "A" else "CreatedAt": written}) == message.extra


def test_one_date_shows_for_the_whole_file_that_the_day_comes_first(tmp_path: Path) -> None:
    found, _ = read(B + "3/2/2026 10:00,a,user,One\n17/2/2026 10:00,b,user,Two\n", tmp_path)

    assert ["2026-02-03T10:00:00Z", "2026-02-17T10:00:00Z"] == [one.started_at for one in found]


def test_a_time_that_is_none_is_preserved_and_noted(tmp_path: Path) -> None:
    (conversation,), noted = read(A + "T,soon,user,x\n", tmp_path)
    (message,) = conversation.timeline

    assert isinstance(message, Message)
    assert message.at is None
    assert {"Time": "soon"} == message.extra
    assert ["line 2 bad-time", f"{conversation.id} missing-time"] == noted


# The files.


@pytest.mark.parametrize(
    ("header", "version"),
    [
        ("Conversation,Time,Author,Message", "activity-history"),
        ("message,AUTHOR,time,Conversation", "activity-history"),
        ('"Conversation","Time","Author","Message","Rating"', "activity-history"),
        ("CreatedAt,MessageContent,Author,ChatName", "chat-activity"),
        ("chatname,author,createdat,messagecontent", "chat-activity"),
        ("Timestamp,ClientApp,Prompt", "windows-prompts"),
        ("PROMPT,TIMESTAMP,CLIENTAPP", "windows-prompts"),
    ],
)
def test_the_header_decides_whatever_the_file_is_called(header: str, version: str, tmp_path: Path) -> None:
    path = tmp_path / "download (1).txt"
    path.write_text(header + "\n" + ",".join("x" for _ in header.split(",")) + "\n", encoding="utf-8")
    notes = Notes()
    (item,) = read_all([str(path)], notes)

    assert item.origin is not None
    assert ("ms-copilot", version) == (item.origin.reader, item.origin.version)


@pytest.mark.parametrize("header", [A, B, D])
def test_an_export_without_rows_is_detected_and_no_error(header: str, tmp_path: Path) -> None:
    assert ([], ["ignored-file"]) == read(header, tmp_path)


def test_windows_apps_have_prompts_alone_which_are_put_together_by_app_and_day(tmp_path: Path) -> None:
    found, _ = read(
        D
        + "2026-02-18T09:30:00,Notepad,third\n2026-02-18T09:10:00,Paint,heron\n"
        + "2/18/2026 9:00:00 AM,Notepad,second\n2026-02-17T23:59:59,Notepad,first\n",
        tmp_path,
    )

    assert [["second", "third"], ["heron"], ["first"]] == [said(one) for one in found]
    assert ["Notepad", "Paint", "Notepad"] == [one.extra["ClientApp"] for one in found]
    assert {"user"} == {entry.role for one in found for entry in one.timeline if isinstance(entry, Message)}


def test_a_folder_may_hold_several_of_the_files(tmp_path: Path) -> None:
    for name, text in (
        ("a", A + "T,2026-02-17T14:36:11,AI,x\n"),
        ("b", B),
        ("d", D + "2026-02-17T01:00:00,W,y\n"),
    ):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    notes = Notes()

    assert [["x"], ["y"]] == [
        said(item) for item in read_all([str(tmp_path)], notes) if isinstance(item, Conversation)
    ]
    assert ["ignored-file"] == [note.kind for note in notes.collected]


# No ids: order, grouping, made ids.


def test_newest_first_becomes_the_order_of_time_with_the_prompt_before_its_answer(tmp_path: Path) -> None:
    rows = [
        "T,2026-02-17T10:05:00,AI,answer 2",
        "T,2026-02-17T10:05:00,Human,prompt 2",
        "T,2026-02-17T10:00:00,AI,answer 1",
        "T,2026-02-17T10:00:00,Human,prompt 1",
    ]
    expected = ["prompt 1", "answer 1", "prompt 2", "answer 2"]
    by_time = [*rows[2:], *rows[:2]]
    for order in (rows, rows[::-1], by_time):
        (conversation,), _ = read(A + "\n".join(order), tmp_path)

        assert expected == said(conversation)
    (conversation,), _ = read(A + "\n".join(row.replace(":05:", ":00:") for row in rows), tmp_path)
    assert expected == said(conversation)


def test_a_conversation_is_a_run_of_one_title_that_a_pause_of_more_than_a_day_ends(tmp_path: Path) -> None:
    found, _ = read(
        A
        + "Tea,2026-02-20T10:00:01,user,e\nTea,2026-02-19T10:00:00,user,d\nTea,2026-02-18T10:00:00,user,c\n"
        + "Milk,2026-02-18T09:00:00,user,b\nTea,2026-02-18T08:00:00,user,a\n",
        tmp_path,
    )

    assert [["e"], ["c", "d"], ["b"], ["a"]] == [said(one) for one in found]
    assert ["Tea", "Tea", "Milk", "Tea"] == [one.title for one in found]


def test_ids_are_made_of_the_content_and_stay_when_the_history_grows(tmp_path: Path) -> None:
    old = "Tea,2026-02-18T10:00:00,AI,b\nTea,2026-02-18T10:00:00,Human,a\n"
    (before,), _ = read(A + old, tmp_path)
    (after,), _ = read(A + "Tea,2026-02-18T10:01:00,Human,c\n" + old, tmp_path, "other name.csv")

    assert before.made_id
    assert all(entry.made_id for entry in before.timeline)
    assert before.id == after.id
    assert [entry.id for entry in before.timeline] == [entry.id for entry in after.timeline][:2]


def test_equal_rows_stay_two_messages_with_ids_of_their_own(tmp_path: Path) -> None:
    row = "Tea,2026-02-18T10:00:00,user,again\n"
    found, _ = read(A + row * 3 + "Milk,2026-02-18T10:00:00,user,x\n" + row, tmp_path)

    assert [["again"] * 3, ["x"], ["again"]] == [said(one) for one in found]
    assert 3 == len({entry.id for entry in found[0].timeline})
    assert 3 == len({one.id for one in found})


# What else a cell may hold.


@pytest.mark.parametrize(
    "cell", ["=1+1", '=HYPERLINK("https://example.com","x")', "@SUM(A1)", "'=x", "+1", "-1"]
)
def test_formulas_are_text(cell: str, tmp_path: Path) -> None:
    quoted = cell.replace('"', '""')

    assert cell == plain_text(one_message(A + f'T,2026-02-18T10:00:00,user,"{quoted}"\n', tmp_path))


def test_a_row_that_does_not_say_who_speaks_is_an_event(tmp_path: Path) -> None:
    (conversation,), noted = read(B + "2026-02-18T10:00:00Z,Hello?,,Tea\n", tmp_path)
    (event,) = conversation.timeline

    assert isinstance(event, Event)
    assert {"MessageContent": "Hello?", "Author": ""} == event.data
    assert "2026-02-18T10:00:00Z" == event.at
    assert ["line 2 unknown-type"] == noted


def test_every_cell_comes_through(tmp_path: Path) -> None:
    cells = ["A title", "2026-02-18T10:00:00", "Someone", " **Text**,\r\nwith\n\n“all” \u0000 of it ", "more"]
    row = ",".join(f'"{cell}"' for cell in cells)
    found, _ = read("Conversation,Time,Author,Message,Further\n" + row + "\n", tmp_path)
    written = json.dumps(json.loads(msgspec.json.encode(found)), ensure_ascii=False)

    assert [] == [cell for cell in cells if json.dumps(cell, ensure_ascii=False)[1:-1] not in written]


def test_the_unified_schema_has_title_roles_and_times(tmp_path: Path) -> None:
    found, _ = read(A + "Tea,2026-02-18T10:00:00,AI,b\nTea,2026-02-18T10:00:00,Human,a\n", tmp_path)
    path = tmp_path / "out.json"
    with path.open("wb") as out:
        writers.get("unified").write(found, out, new_run(Notes()))
    unified = json.loads(path.read_text(encoding="utf-8"))

    assert found[0].id == unified["conversation_id"]
    assert "2026-02-18T10:00:00.000Z" == unified["created_at"]
    assert [("user", "a"), ("assistant", "b")] == [
        (message["role"], message["content"][0]["text"]) for message in unified["messages"]
    ]
