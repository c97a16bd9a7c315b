"""Gemini's Takeout into the model: each row of the field mappings, critical notes, and what the field has."""

from __future__ import annotations

import copy
import json
from html import unescape
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_journal import readers
from agent_journal.conversion.pipeline import read_all
from agent_journal.decoding.fields import Fields
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import HEAD_BYTES
from agent_journal.model import Conversation, Event, Media, Message, Reasoning, Text, tree
from agent_journal.notes import Kind, Notes
from agent_journal.readers.gemini_takeout import dates, fastpath, log, markup, titles
from agent_journal.readers.gemini_takeout.attachments import ExportFiles
from agent_journal.readers.gemini_takeout.fastpath import SHAPE, CommonRecord, as_record
from agent_journal.readers.gemini_takeout.markup import to_markdown, to_markdown_tag_by_tag
from agent_journal.readers.gemini_takeout.records import entries, time_of
from agent_journal.readers.gemini_takeout.tags import plain_text, unescape_all
from tests.inline import save_document
from tests.memory_source import Bytes

READER = readers.get("gemini-takeout")
AT = "2024-02-17T22:05:10.123Z"
REQUEST, RESPONSE = {"name": "Request", "value": "Hello?"}, {"name": "Response", "value": "Hi."}


def documented(**more: Any) -> dict[str, Any]:
    return {
        "header": "Gemini",
        "title": "Used Gemini Apps",
        "titleUrl": "https://gemini.google.com/app/c/conv_1-A",
        "time": AT,
        "products": ["Gemini Apps"],
        **more,
    }


def interaction(request: Any, response: Any, **more: Any) -> dict[str, Any]:
    inside = {"endpoint": 2, "latencySeconds": 0.0, "request": request, "response": response, **more}
    return {"userInteraction": inside}


def prompted(title: str, time: Any = AT, html: Any = "<p>Yes.</p>", **more: Any) -> dict[str, Any]:
    record = {"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"], **more}
    return record if html is None else {**record, "safeHtmlItem": [{"html": html}]}


def read(folder: Path, *records: Any, note: Notes | None = None) -> list[Conversation]:
    path = save_document(folder, "MyActivity.json", copy.deepcopy([*records]))
    found = [*read_all([str(path)], note or Notes())]
    assert all(isinstance(item, Conversation) for item in found)
    return [item for item in found if isinstance(item, Conversation)]


def only(folder: Path, *records: Any, note: Notes | None = None) -> Conversation:
    (conversation,) = read(folder, *records, note=note)
    return conversation


def messages(conversation: Conversation) -> list[Message]:
    return [entry for entry in conversation.timeline if isinstance(entry, Message)]


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, tree.plain_text(message)) for message in messages(conversation)]


def sniffed(value: Any, name: str = "x.json") -> str | None:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return READER.sniff(Peek(Bytes(data, name)))


# Activity events.


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://gemini.google.com/app/c/conv_1-A", "conv_1-A"),
        ("https://gemini.google.com/app/a1b2c3d4e5f60718", "a1b2c3d4e5f60718"),
        ("https://gemini.google.com/u/2/app/a1b2c3d4e5f60718?hl=de", "a1b2c3d4e5f60718"),
        ("https://gemini.google.com/gem/my-gem/0a1b2c3d4e5f6071", "0a1b2c3d4e5f6071"),
        ("https://bard.google.com/chat/0a1b2c3d4e5f6071", "0a1b2c3d4e5f6071"),
    ],
)
def test_the_conversation_id_is_in_the_title_url(tmp_path: Path, url: str, expected: str) -> None:
    conversation = only(tmp_path, documented(titleUrl=url, details=[REQUEST]))

    assert (expected, False) == (conversation.id, conversation.made_id)
    assert url == messages(conversation)[0].extra["titleUrl"]


def test_the_title_is_the_first_line_of_the_first_user_message(tmp_path: Path) -> None:
    later = documented(time="2024-02-17T23:00:00Z", details=[{"name": "Request", "value": "Later"}])
    first = documented(details=[{"name": "Request", "value": f"{'long ' * 40}\nsecond line"}])

    assert f"{('long ' * 16)[:79].rstrip()}…" == only(tmp_path, later, first).title


def test_no_user_message_no_title(tmp_path: Path) -> None:
    assert only(tmp_path, documented(details=[RESPONSE])).title is None


def test_time_is_taken_as_it_is(tmp_path: Path) -> None:
    conversation = only(tmp_path, documented(details=[REQUEST, RESPONSE]))

    assert [AT, AT] == [message.at for message in messages(conversation)]
    assert (AT, AT) == (conversation.started_at, conversation.updated_at)


def test_the_provider_is_gemini() -> None:
    assert "gemini" == READER.INFO.names["pam"]


# Variant A.


@pytest.mark.parametrize(
    ("name", "role"),
    [("Request", "user"), ("Response", "assistant"), ("REQUEST", "user"), ("response", "assistant")],
)
def test_details_are_messages_whose_name_is_the_role(tmp_path: Path, name: str, role: str) -> None:
    conversation = only(tmp_path, documented(details=[{"name": name, "value": "Words"}, REQUEST]))

    assert (role, "Words") == said(conversation)[0]


def test_what_is_not_mapped_is_preserved_with_the_message(tmp_path: Path) -> None:
    record = documented(
        details=[{**REQUEST, "locale": "en"}, RESPONSE], activityControls=["Gemini Apps Activity"]
    )
    first, second = messages(only(tmp_path, record))

    assert ["Gemini Apps"] == first.extra["products"]
    assert ["Gemini Apps Activity"] == first.extra["activityControls"]
    assert "Gemini" == first.extra["header"]
    assert {"locale": "en"} == first.extra["details"]
    assert {} == second.extra


# Variant B.


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('[{"text": "Hello?"}]', "Hello?"),
        ('[{"parts": [{"text": "One"}, {"text": "Two"}]}]', "One\nTwo"),
        ('{"content": {"parts": ["Deep"]}, "score": "no text"}', "Deep"),
        ('"just words"', "just words"),
        ("[{...}]", "[{...}]"),
        ("plain words", "plain words"),
        ('[{"id": 5}]', '[{"id": 5}]'),
    ],
)
def test_requests_and_responses_are_json_whose_text_is_taken(tmp_path: Path, raw: str, text: str) -> None:
    conversation = only(tmp_path, documented(userInteractions=[interaction(raw, raw)]))

    assert [("user", text), ("assistant", text)] == said(conversation)
    assert [None if raw == text else raw] * 2 == [message.native for message in messages(conversation)]


def test_other_fields_of_an_interaction_are_preserved(tmp_path: Path) -> None:
    first, _ = messages(only(tmp_path, documented(userInteractions=[interaction("a", "b", shown=True)])))

    assert {"endpoint": 2, "latencySeconds": 0.0, "shown": True} == first.extra["userInteractions"][
        "userInteraction"
    ]


# Critical notes.


def test_entries_are_grouped_by_conversation_and_sorted_by_time(tmp_path: Path) -> None:
    def entry(conversation: str, minute: int) -> dict[str, Any]:
        url = f"https://gemini.google.com/app/c/{conversation}"
        detail = {"name": "Request", "value": f"{conversation}{minute}"}
        return documented(titleUrl=url, time=f"2024-02-17T22:{minute:02}:00Z", details=[detail])

    found = read(tmp_path, entry("b", 9), entry("a", 8), entry("b", 1), entry("a", 3), entry("b", 2))

    assert {"b": ["b1", "b2", "b9"], "a": ["a3", "a8"]} == {
        each.id: [text for _, text in said(each)] for each in found
    }


def test_the_variant_is_detected_for_each_entry(tmp_path: Path) -> None:
    one = documented(details=[REQUEST, RESPONSE])
    two = documented(time="2024-02-17T22:06:00Z", userInteractions=[interaction('[{"text": "B"}]', "C")])
    three = prompted("Prompted D", "2024-02-17T22:07:00Z", titleUrl=one["titleUrl"])
    conversation = only(tmp_path, three, two, one)

    assert ["Hello?", "Hi.", "B", "C", "D", "Yes."] == [text for _, text in said(conversation)]


def test_an_empty_export_is_noted(tmp_path: Path) -> None:
    folder = tmp_path / "Gemini Apps"
    folder.mkdir()
    (folder / "MyActivity.json").write_text("[]", encoding="utf-8")
    notes = Notes()

    assert [] == [*read_all([str(tmp_path)], notes)]
    assert [Kind.IGNORED_FILE.label] == [note.kind for note in notes.collected]


@pytest.mark.parametrize(
    ("html", "is_noted"),
    [
        (None, True),
        ("<p>It ends with…</p>", True),
        ("<p>It ends he", True),
        ("<p>Whole.</p>", False),
        ("Bare", False),
    ],
)
def test_answers_that_are_missing_or_cut_are_noted(tmp_path: Path, html: str | None, is_noted: bool) -> None:
    notes = Notes()
    read(tmp_path, prompted("Prompted X", html=html), note=notes)

    assert is_noted == bool(notes.counts[Kind.CUT_AT_SOURCE])


# Detection.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"header": "Gemini", "time": AT, "title": "x", "details": [REQUEST]}], "documented"),
        ([{"header": "Gemini", "time": AT, "title": "x", "userInteractions": []}], "documented"),
        ([{"header": "Anything", "time": AT, "details": [REQUEST]}], "documented"),
        ([{"header": "Gemini", "details": [REQUEST]}], "documented"),
        ([{"header": "Gemini", "userInteractions": []}], "documented"),
        ([{"header": "Gemini", "details": [{"name": "From Ads"}]}], None),
        ([prompted("Prompted x")], "activity"),
        ([{"header": "Gemini 앱", "title": "x", "time": AT}], "activity"),
        ([{"title": "x", "time": AT, "products": ["Bard"]}], "activity"),
        ([{"title": "x", "time": AT, "titleUrl": "https://gemini.google.com/app/1"}], "activity"),
        ([{"header": "YouTube", "title": "Watched x", "time": AT, "products": ["YouTube"]}], None),
        ([{"header": "Search", "title": "x", "time": AT, "details": [{"name": "From Ads"}]}], None),
        ([{"header": "Gemini Apps", "title": "x"}], None),
        ([{"mapping": {}, "title": "x"}], None),
        ({"conversation_turns": [{"user_turn": {}}], "title": "x"}, "workspace"),
        ({"conversation_turns": "many"}, None),
        ([], None),
        (b"<div><b>Name:</b>A<br><b>Instructions:</b>B</div>", "settings"),
        (b"<html><body>Sign in</body></html>", None),
    ],
)
def test_files_are_identified_by_what_is_in_them(value: Any, expected: str | None) -> None:
    assert expected == sniffed(value)


def page(product: str, preamble: int = 0) -> bytes:
    style = f"<html><style>.mdl-grid{{}}{' ' * preamble}</style><body>"
    cell = '<div class="outer-cell mdl-cell"><div class="header-cell mdl-cell"><p>{}<br></p></div>'
    said = "Prompted&nbsp;A<br>Jul 4, 2026, 1:02:03 PM UTC<br>B"
    content = f'<div class="content-cell mdl-typography--body-1">{said}</div>'
    return (style + cell.format(product) + content + "</div></body></html>").encode()


def test_the_page_of_another_product_is_not_ours() -> None:
    assert "page" == sniffed(page("Gemini Apps"), "MyActivity.html")
    assert sniffed(page("YouTube"), "MyActivity.html") is None


def test_a_page_is_detected_after_its_long_style_sheet() -> None:
    assert "page" == sniffed(page("Applications Gemini", 3 * HEAD_BYTES), "MonActivité.html")
    assert sniffed(page("Search", 3 * HEAD_BYTES), "MyActivity.html") is None


def test_a_folder_of_downloads_is_not_claimed_for_the_log_in_it(tmp_path: Path) -> None:
    save_document(tmp_path, "MyActivity.json", [prompted("Prompted x")])
    save_document(tmp_path, "conversations.json", [{"uuid": "1", "chat_messages": []}])
    notes = Notes()

    assert {"gemini-takeout", "claude-ai"} == {item.source for item in read_all([str(tmp_path)], notes)}


# The log of the field.


@pytest.mark.parametrize(
    ("title", "product", "verb", "prompt"),
    [
        ("Prompted all of it\nand more", "Gemini Apps", "Prompted", "all of it\nand more"),
        ("Prompted\u00a0x", "Gemini Apps", "Prompted", "x"),
        ("Prompted", "Gemini Apps", "Prompted", ""),
        ("Asked Gemini: x", "Gemini Apps", "Asked Gemini:", "x"),
        ("Branched x", "Gemini Apps", "Branched", "x"),
        ("Answered x", "Gemini Apps", "Answered", "x"),
        ("Answered survey question", "Gemini Apps", "Answered survey question", None),
        ("Used Gemini Apps", "Gemini Apps", "Used Gemini Apps", None),
        ("Created Gemini Canvas titled x", "Gemini Apps", "Created Gemini Canvas titled x", None),
        ("Promptedly", "Gemini Apps", "Promptedly", None),
        ("Eingegebener Prompt: x", "Gemini-Apps", "Eingegebener Prompt:", "x"),
        ("送信したメッセージ: x", "Gemini アプリ", "送信したメッセージ:", "x"),
        ("분기된 x", "Gemini 앱", "분기된", "x"),
        ("Created by whom?", "Gemini 앱", "", "Created by whom?"),
        ("Prompt\u00a0: x", "Applications\u00a0Gemini", "Prompt\u00a0:", "x"),
        ("Gav instruktionen x", "Gemini-appar", "Gav instruktionen", "x"),
        ("Fez uma pergunta x", "Apps do Gemini", "Fez uma pergunta", "x"),
        ("Kysyi x", "Gemini-sovellukset", "", "Kysyi x"),
    ],
)
def test_verbs_are_cut_in_the_language_of_the_product(
    title: str, product: str, verb: str, prompt: str | None
) -> None:
    assert (verb, prompt) == titles.split_title(title, titles.language_of(product), has_answer=False)


def test_a_title_without_a_known_verb_is_a_prompt_if_it_was_answered(tmp_path: Path) -> None:
    assert ("user", "Frobbed x") == said(only(tmp_path, prompted("Frobbed x")))[0]
    assert isinstance(only(tmp_path, prompted("Frobbed x", html=None)).timeline[0], Event)


def test_the_html_of_an_answer_stays_next_to_its_text(tmp_path: Path) -> None:
    _, answer = messages(only(tmp_path, prompted("Prompted X", html="<p>a <b>b</b></p>")))

    assert [Text(text="a **b**")] == answer.parts
    assert [{"html": "<p>a <b>b</b></p>"}] == answer.native


def test_a_branched_turn_is_in_each_conversation_it_names(tmp_path: Path) -> None:
    urls = [{"url": f"https://gemini.google.com/app/{name}"} for name in ("aaaa", "bbbb", "cccc")]

    assert ["aaaa", "bbbb", "cccc"] == [
        each.id for each in read(tmp_path, prompted("Branched X", details=urls))
    ]


@pytest.mark.parametrize(("seconds", "count"), [(1800, 1), (1801, 2)])
def test_a_pause_of_more_than_half_an_hour_ends_a_conversation(
    tmp_path: Path, seconds: int, count: int
) -> None:
    later = f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
    notes = Notes()
    found = read(
        tmp_path, prompted("Prompted 2", later), prompted("Prompted 1", "2026-01-01T00:00:00Z"), note=notes
    )

    assert count == len(found)
    assert all(each.made_id for each in found)
    assert 1 == notes.counts[Kind.MISSING_ID]


def test_ids_stay_when_the_log_grows(tmp_path: Path) -> None:
    older = prompted("Prompted 1", "2026-01-01T00:00:00Z")
    newer = prompted("Prompted 2", "2026-01-01T00:01:00Z")
    before, after = only(tmp_path, older), only(tmp_path, newer, older)

    assert before.id == after.id
    assert before.timeline == after.timeline[:2]


def test_files_that_are_next_to_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "Gemini Apps"
    folder.mkdir()
    (folder / "a-0123456789abcdef.png").write_bytes(b"\x89PNG")
    record = prompted("Prompted X", attachedFiles=["a-0123456789abcdef.png", "b.pdf"])
    save_document(folder, "MyActivity.json", [record])
    notes = Notes()
    (conversation,) = read_all([str(tmp_path)], notes)
    assert isinstance(conversation, Conversation)

    media = [part for part in messages(conversation)[0].parts if isinstance(part, Media)]
    assert [("image", "a-0123456789abcdef.png"), ("document", "b.pdf")] == [
        (each.kind, each.ref) for each in media
    ]
    assert ["b.pdf"] == [note.detail for note in notes.collected if note.kind == Kind.MISSING_FILE.label]


def test_a_picture_that_was_made_is_not_attached_to_the_prompt(tmp_path: Path) -> None:
    given = {"name": "-  a.jpg", "url": "a-0123456789abcdef.jpg"}
    record = prompted(
        "Prompted X",
        html="<p>Here.<img alt='' src='1-0123456789abcdef.png'></p>",
        subtitles=[{"name": "1 generated image."}, {"name": "Attached 1 file."}, given],
        imageFile=given["url"],
        attachedFiles=["1-0123456789abcdef.png", given["url"]],
    )
    asked, answered = messages(only(tmp_path, record))

    assert [given["url"]] == [part.ref for part in asked.parts if isinstance(part, Media)]
    assert ["1-0123456789abcdef.png"] == [part.ref for part in answered.parts if isinstance(part, Media)]


def test_thoughts_of_workspace_are_summaries(tmp_path: Path) -> None:
    turn = {
        "system_turn": {"text": [{"data": "A"}], "model_thoughts": [{"headline": "H", "description": "D"}]}
    }
    path = save_document(tmp_path, "conversation_1.txt", {"title": "T", "conversation_turns": [turn]})
    (conversation,) = read_all([str(path)], Notes())
    assert isinstance(conversation, Conversation)

    assert [Reasoning(summary="H\n\nD"), Text(text="A")] == messages(conversation)[0].parts


# Usual records are decoded straight into their fields; what comes of that is what comes of care.

DETAILS = [
    {"url": "https://gemini.google.com/app/1"},
    {"name": "Request", "value": "Hi"},
    {"name": "From"},
    {},
]
RECORDS = st.fixed_dictionaries(
    {
        "header": st.sampled_from(["Gemini Apps", "Gemini-Apps", "Bard", "Maps"]),
        "title": st.sampled_from(
            ["Prompted a", "Prompted", "Prompted with: b Attached 2 files.", "Used c", "Said\u00a0d", "e"]
        )
        | st.text(),
        "time": st.sampled_from([AT, "Jan 1, 2026, 12:00:00 AM UTC", "2026-01-01 00:00", ""]),
        "products": st.lists(st.sampled_from(["Gemini Apps", "Maps"])),
    },
    optional={
        "safeHtmlItem": st.tuples(
            st.fixed_dictionaries(
                {"html": st.sampled_from(["<p>a</p>", "<p>a", "b...", "<img src='c'>", " ", ""])}
            )
        ),
        "titleUrl": st.text(),
        "details": st.lists(st.sampled_from(DETAILS)),
        "activityControls": st.lists(st.text()),
        "subtitles": st.lists(st.sampled_from([{"name": "a"}, {"name": "-  b", "url": "b.png"}])),
        "attachedFiles": st.lists(st.sampled_from(["b.png", "c.pdf"])),
        "imageFile": st.just("b.png"),
    },
)


@given(RECORDS)
def test_the_fast_path_reads_what_the_slow_path_reads(raw: dict[str, Any]) -> None:
    record = SHAPE.one(json.dumps(raw).encode())
    notes = Notes()
    fast = fastpath.entries(record, ExportFiles(), Notes(), "")
    slow = [*entries(Fields(as_record(record), notes, ""), time_of(record.time), ExportFiles())]

    assert json.loads(json.dumps(raw)) == as_record(record)
    assert fast is None or [*fast] == slow
    assert fast is None or not notes.collected


@pytest.mark.parametrize(
    "raw",
    [
        prompted("Prompted X"),
        prompted("Prompted X", activityControls=["x"], details=DETAILS[:1], titleUrl="u"),
        prompted("Prompted X", subtitles=[{"name": "Attached 1 file."}], attachedFiles=["a"], imageFile="a"),
        prompted("Used X", html=None),
    ],
)
def test_what_logs_have_takes_the_fast_path(raw: dict[str, Any]) -> None:
    record = SHAPE.one(json.dumps(raw).encode())

    assert isinstance(record, CommonRecord)
    assert raw == as_record(record)
    assert fastpath.entries(record, ExportFiles(), Notes(), "") is not None


@pytest.mark.parametrize(
    "raw",
    [
        prompted("Prompted X", html=None),
        prompted("Prompted X", html=""),
        {**prompted("Prompted X"), "safeHtmlItem": [{"html": "<p>a</p>"}, {"html": "<p>b</p>"}]},
    ],
)
def test_other_fields_of_logs_are_decoded_as_on_the_fast_path(raw: dict[str, Any]) -> None:
    record = SHAPE.one(json.dumps(raw).encode())

    assert raw == as_record(record)
    assert fastpath.entries(record, ExportFiles(), Notes(), "") is None


def test_the_same_activity_is_known_though_it_is_decoded_otherwise() -> None:
    notes, raw = Notes(), prompted("Prompted X")
    records = [("[0]", SHAPE.one(json.dumps(raw).encode())), ("[1]", raw)]
    (session,) = log._ActivityLog(records, notes).sessions()

    assert ["[0]"] == [timed.location for timed in session]
    assert 1 == notes.counts[Kind.REPEATED_RECORD]


def test_many_records_of_one_moment_take_no_longer(tmp_path: Path) -> None:
    records = [prompted(f"Prompted {number}") for number in range(4000)]
    started = process_time()
    conversation = only(tmp_path, *records, *records[:2])

    assert process_time() - started < 5
    assert 2 * len(records) == len(messages(conversation))


# Times of the page.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Jul 26, 2026, 8:07:57\u202fPM EDT", "2026-07-27T00:07:57Z"),
        ("Jan 1, 2026, 12:00:00 AM UTC", "2026-01-01T00:00:00Z"),
        ("Jan 1, 2026, 12:00:00 PM UTC", "2026-01-01T12:00:00Z"),
        ("26.04.2026, 10:11:12 MESZ", "2026-04-26T08:11:12Z"),
        ("2 de mar. de 2026, 10:11:12 BRT", "2026-03-02T13:11:12Z"),
        ("28 févr. 2026, 22:30:00 UTC+1", "2026-02-28T21:30:00Z"),
        ("4 juli 2026 09:15:00 CEST", "2026-07-04T07:15:00Z"),
        ("2026/05/21 17:47:55 JST", "2026-05-21T08:47:55Z"),
        ("2026. 8. 1. 오후 3:22:10 KST", "2026-08-01T06:22:10Z"),
        ("2026年3月2日 10:11:12 CST", "2026-03-02T02:11:12Z"),
        ("Mar 2, 2026, 10:11:12 AM CST", "2026-03-02T16:11:12Z"),
        ("5 дек. 2026 г., 10:11:12 MSK", "2026-12-05T07:11:12Z"),
        ("12.10.2026 10.11.12 EEST", "2026-10-12T07:11:12Z"),
        ("3/4/2026, 10:11:12 GMT+05:30", "2026-04-03T04:41:12Z"),
    ],
)
def test_times_of_pages_in_several_languages(text: str, expected: str) -> None:
    written = dates.parse_time(text)

    assert written is not None
    assert (expected, None) == written


@pytest.mark.parametrize(
    "text", ["", "10:11:12", "2026", "Meet me at 10:11:12 in 2026", "99.99.2026, 10:11:12 UTC"]
)
def test_what_is_no_time(text: str) -> None:
    assert dates.parse_time(text) is None


# HTML as text.


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>A</h2><p>b</p>", "## A\n\nb"),
        ("<ol start='3'><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<a href='https://x.y/?a&amp;b'>z</a>", "[z](https://x.y/?a&b)"),
        ("<a href='https://x.y/'>https://x.y/</a>", "https://x.y/"),
        (
            "<pre><code class='language-c'>a &lt; b\n\n\n  c</code></pre><p>d</p>",
            "```c\na < b\n\n\n  c\n```\n\nd",
        ),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<table><tr><th>a|b</th></tr><tr><td><p>c</p>d</td></tr></table>", "| a\\|b |\n| --- |\n| c d |"),
        ("<p>a<br>b</p>\n\n<p>c</p>", "a\nb\n\nc"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("<style>p{}</style><!-- x --><P CLASS='y'>a</P>", "a"),
        ("<custom-tag>kept</custom-tag>", "kept"),
        ("<p>cut <stro", "cut <stro"),
        ("<a href='/?a=1&amp;lt=2'>b</a>", "[b](/?a=1&lt=2)"),
        ("<img src='c.png?a&amp;lt;' alt='d'>", "![d](c.png?a&lt;)"),
        ("<p>&amp;lt; &#39;&eacute;&notit; & &;</p>", "&lt; 'é¬it; & &;"),
        ("<pre>x<li>\n<p>a</pre>", "```\nx\na\n```"),
        (f"<p>a &#{'1' * 5000}; b</p>", f"a &#{'1' * 5000}; b"),
        ("<blockquote><a href='x'>a</blockquote>b</a>", "> a\n\nb"),
    ],
)
def test_html_becomes_markdown(html: str, text: str) -> None:
    assert text == to_markdown(html).text


TAGS = "p /p ul /ul ol /ol li /li pre /pre a /a table tr td /td blockquote /blockquote br b /b img"
PIECES = ["a", "b", "&lt;", "<", ">", *(f"<{tag}>" for tag in TAGS.split())]


@given(st.lists(st.sampled_from(PIECES)))
def test_no_word_of_any_html_is_lost(pieces: list[str]) -> None:
    words_in = [piece for piece in pieces if piece in {"a", "b"}]
    text = to_markdown(" ".join(pieces)).text

    assert words_in == [c for c in text if c in "ab"]


ROWS = "<table><tr><th>a</th><th> <b>b</b></th></tr><tr><td>x | y</td><td></td></tr></table>"
LISTS = "<ol><li>a</li><li><p>b</p><ul><li>a</li></ul></li></ol>"
LINKS = ["<a href='u'>b</a>", "<a href='v'> </a>", "<a class='x' href='/?a&amp;b'>\n"]
CODE = "<pre><code class='language-c'>a\n\n\nb</code></pre>"
CODE_IN_A_LIST = "<ul>\n<li>a\n<pre><code>b\n\n\na</code></pre>\n</li>\n</ul>\n"
ALIGNED = '<table><tr><td align="left">a</td><td><a href="u">b</a></td></tr></table>'
PICTURES = ['<img alt="" src="c.png">', "<img src='&quot;c&quot;' alt='a|b'>", "<img alt='d'>"]
UNUSUAL = ["\x02", "\x03", "\x04", "\x06", "\x08", "<!--", "-->", "<script>", "</script>", "<p class='x'>"]
UNUSUAL += ["<ol start='3'>", "<p title='>'>", "<li class='x'>", "<a>", "<pre class='x'>", "<img src='c'>"]
COLOURED = [
    "<span class='lang-x'>",
    "<span>\n</span>",
    "<pre>\n<code class='language-c++'>",
    "</code></pre>",
    "```",
]
# White space that is no ASCII's, references for a line break and what is often referred to.
SPACED = [
    "\u00a0",
    "\u3000\n",
    "\x1c",
    "\u2028",
    "&#10;",
    "\n&NewLine;",
    "&quot;",
    "&#39;",
    "&amp;quot;",
    "–",
]
HTML = [
    *PIECES,
    *SPACED,
    ROWS,
    LISTS,
    *LINKS,
    *PICTURES,
    CODE,
    CODE_IN_A_LIST,
    ALIGNED,
    *UNUSUAL,
    *COLOURED,
    "\n",
    " ",
    "|",
    "<h2>",
    "</h2>",
    "/tr",
    "/table",
    "<th>",
]


@given(st.lists(st.sampled_from(HTML)))
@example([CODE, "&#10;&quot;b&quot;", "\n&NewLine;", CODE])
@example(["<p>", "a", "&#10;&#10;&#10;", "b", "</p>\n", "\n\n\n", "<p>"])
@example(["<p>", "a", "</p>", "\u3000\n", "<p>", "\u00a0", "b", "</p>", "\u2028\n"])
@example(["<table><tr><td>", "\x1ca\u00a0 |", "</td></tr></table>", "<a href='&quot;'>", "&quot;", "</a>"])
def test_what_is_looked_up_means_what_is_understood(pieces: list[str]) -> None:
    html = "".join(pieces)

    assert to_markdown_tag_by_tag(html) == to_markdown(html)


def test_what_answers_have_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(markup, "to_markdown_tag_by_tag")
    said = f"<p>b &amp; <em>c</em></p>{LISTS}{CODE_IN_A_LIST}<p>{LINKS[0]}</p>"
    common = f"<h2>a</h2>{said}{CODE}{ROWS}{ALIGNED}<hr>\n<p>{PICTURES[0]}d</p>"

    text, images = to_markdown(common)

    assert text.endswith("![](c.png)d")
    assert ["c.png"] == [image.ref for image in images]


@pytest.mark.parametrize(
    "opened",
    ["<", "<p ", "<p <a href='u'> ", "<a href='u'>", "x<a href='u'>", "<pre>", "x<ol>", "> <", "<b>\n"],
)
def test_much_that_is_opened_and_never_closed_takes_no_longer(opened: str) -> None:
    started = process_time()
    to_markdown(opened * 300_000)

    assert process_time() - started < 5


@given(
    st.lists(
        st.sampled_from(["&", "&amp;", "&lt", "&#39;", "&quot;", "&qu", "#", "x", ";", "&notit;", " ", "é"])
    )
)
def test_references_are_those_of_html(pieces: list[str]) -> None:
    assert unescape("".join(pieces)) == unescape_all("".join(pieces))


@given(st.text())
def test_any_text_is_read_without_an_exception(text: str) -> None:
    to_markdown(text)
    plain_text(text)
    dates.parse_time(text)
    titles.split_title(text, titles.language_of(text), has_answer=True)
