"""Pages for people: nothing that somebody said passes for the page itself, and all of it is there to read."""

from __future__ import annotations

import io
import re
from collections import Counter
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import comrak
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_journal import files, writers
from agent_journal.conversion.output import write_items
from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Event,
    Item,
    Link,
    Media,
    Memory,
    Message,
    Other,
    Reasoning,
    Request,
    Text,
    ToolCall,
    ToolResult,
    tree,
)
from agent_journal.notes import Notes
from agent_journal.rendering.turns import Turn, iter_turns, split_sections
from agent_journal.text.sanitize import safe
from agent_journal.writers import RelatedConversation, Run
from agent_journal.writers.rendering.pages import PageSet, page_name
from agent_journal.writers.rendering.safe_markdown import block_quote, fenced_block
from tests.examples import examples
from tests.hostile import NAMES, hostile
from tests.models import conversations as any_conversations
from tests.test_writers import OF_PAGES, a_run, pages, written

many = settings(max_examples=examples(150), derandomize=True, deadline=None)
some = settings(
    max_examples=examples(25), derandomize=True, deadline=None, suppress_health_check=[*HealthCheck]
)
every_writer_of_pages = pytest.mark.parametrize("name", OF_PAGES)


def extensions() -> comrak.ExtensionOptions:
    found = comrak.ExtensionOptions()
    for name in ("autolink", "table", "strikethrough", "tasklist", "footnotes", "alerts"):
        setattr(found, name, True)
    return found


def rendered(markdown: str) -> str:
    """The page as a site would show it that lets HTML through."""
    options = comrak.RenderOptions()
    options.unsafe_ = True
    return comrak.render_markdown(markdown, extensions(), comrak.ParseOptions(), options)


# What Markdown makes, and what we write ourselves.
TAGS = {
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "p",
    "blockquote",
    "pre",
    "code",
    "ul",
    "ol",
    "li",
    "em",
    "strong",
}
TAGS |= {"del", "a", "br", "hr", "details", "summary"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "input"}
ATTRIBUTES = {
    "a": {"href", "id"},
    "ol": {"start"},
    "code": {"class"},
    "input": {"type", "checked", "disabled"},
    "th": {"align"},
    "td": {"align"},
}
ADDRESSES = re.compile(
    r"(?:https?://|mailto:|ftp://|#|[A-Za-z0-9._~/%-]*$|[A-Za-z0-9._~/%-]*[#?])", re.IGNORECASE
)


class Seen(HTMLParser):
    """What a browser makes of a page: headings that are not quoted, texts of code, and what must not be."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.headings: Counter[str] = Counter()
        self.code: list[str] = []
        self.open: Counter[str] = Counter()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[tag] += tag not in {"br", "hr", "input", "img"}
        if tag in {"h1", "h2"} and not self.open["blockquote"]:
            self.headings[tag] += 1
        if tag == "pre":
            self.code.append("")
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES.get(tag, ()):
                self.wrong.append(f"<{tag} {name}>")
            elif name == "href" and not ADDRESSES.match(value or ""):
                self.wrong.append(f"{tag} {name}={value}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self.open[tag] -= 1
        if self.open[tag] < 0:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.open["pre"]:
            self.code[-1] += data

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"<!{decl}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"<?{data}")


@many
@given(text=hostile, lines=st.booleans())
def test_a_text_stays_in_its_quote(text: str, lines: bool) -> None:
    page = rendered(f"## Before\n\n{block_quote(text, hard_breaks=lines)}\n\n## Behind\n")

    assert page.startswith("<h2>Before</h2>\n<blockquote>")
    assert page.endswith("</blockquote>\n<h2>Behind</h2>\n")
    assert [] == Seen(page).wrong


@many
@given(text=hostile, language=hostile)
def test_what_was_printed_stays_in_its_fence(text: str, language: str) -> None:
    seen = Seen(page := rendered(f"## Before\n\n{fenced_block(text, language)}\n\n## Behind\n"))
    shown = safe(text.replace("\r\n", "\n"))

    assert page.startswith("<h2>Before</h2>\n<pre>")
    assert page.endswith("</pre>\n<h2>Behind</h2>\n")
    assert [] == seen.wrong
    assert [shown if shown.endswith("\n") or not shown else f"{shown}\n"] == seen.code


maybe = st.none() | hostile
citations = st.builds(Citation, title=maybe, url=maybe, text=maybe)
media = st.builds(
    Media, kind=st.sampled_from(["image", "file"]), name=maybe, mime=maybe, ref=maybe, data=maybe
)
edits = st.fixed_dictionaries({"old_string": hostile, "new_string": hostile, "path": hostile})
call_ids = st.sampled_from([None, "1", "2"])
parts = st.one_of(
    st.builds(Text, text=hostile, citations=st.lists(citations, max_size=1)),
    st.builds(Reasoning, text=maybe, summary=maybe),
    st.builds(Code, code=hostile, language=maybe, file=maybe),
    st.builds(
        ToolCall,
        name=hostile,
        call_id=call_ids,
        input=hostile | st.dictionaries(hostile, hostile, max_size=2) | edits,
        kind=st.sampled_from([None, "shell", "edit", "write", "agent"]),
    ),
    st.builds(
        ToolResult,
        call_id=call_ids,
        output=hostile | st.lists(st.builds(Text, text=hostile) | media, max_size=2),
        name=maybe,
        is_error=st.none() | st.booleans(),
    ),
    media,
    st.builds(Other, data=hostile, name=maybe),
)
messages = st.builds(
    Message,
    id=st.sampled_from(["1", "2", "3", "4", "../x", "<b>"]),
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    parent_id=st.sampled_from([None, "1", "2", "3"]),
    model=maybe,
    hidden=st.booleans(),
    sidechain=st.booleans(),
    parts=st.lists(parts, max_size=3),
)
events = st.builds(
    Event, id=st.sampled_from(["e1", "e2"]), name=hostile, data=st.dictionaries(hostile, hostile, max_size=1)
)
hostile_conversations = st.builds(
    Conversation,
    id=hostile | st.sampled_from(NAMES),
    source=hostile,
    title=maybe,
    cwd=maybe,
    git_branch=maybe,
    app_version=maybe,
    tags=st.lists(hostile, max_size=2),
    shape=st.sampled_from(["list", "tree"]),
    link=st.none() | st.builds(Link, conversation_id=hostile, relation=st.just("fork"), message_id=maybe),
    timeline=st.lists(messages | events, max_size=5),
)


@some
@given(conversation=hostile_conversations)
def test_a_page_of_markdown_has_no_part_that_it_was_not_given(conversation: Conversation) -> None:
    data, _ = written("markdown", [conversation])
    seen = Seen(rendered(data.decode()))
    found = split_sections(conversation)
    named = [
        turn
        for section in found
        for turn in iter_turns(section.entries)
        if isinstance(turn, Turn) and not turn.is_continuation and not turn.message.hidden
    ]
    link = conversation.link
    missing = link is not None and link.conversation_id != conversation.id

    assert [] == seen.wrong
    assert +seen.open == Counter()
    assert {"h1": len(found) + missing, "h2": len(named)} == {
        "h1": seen.headings["h1"],
        "h2": seen.headings["h2"],
    }


def words_of(conversation: Conversation) -> list[str]:
    """What was said and printed, line by line."""
    found: list[str] = []
    for message in tree.messages(conversation):
        for part in message.parts:
            match part:
                case Text():
                    found.append(part.text)
                case Code():
                    found.append(part.code)
                case Reasoning():
                    found += [part.text or "", part.summary or ""]
                case ToolResult():
                    found += [part.output] if isinstance(part.output, str) else []
    return [
        line.strip()
        for text in found
        for line in safe(text.replace("\r\n", "\n")).split("\n")
        if line.strip()
    ]


@some
@given(conversation=hostile_conversations)
def test_all_words_are_there_to_read(conversation: Conversation) -> None:
    for name in ("markdown", "text"):
        data, _ = written(name, [conversation])
        page = data.decode().replace("\\", "").replace("&lt;", "<")
        lost = [
            line for line in words_of(conversation) if line.replace("\\", "").replace("&lt;", "<") not in page
        ]

        assert [] == lost, name


@some
@given(conversation=hostile_conversations)
def test_nothing_in_plain_text_stands_where_our_words_do(conversation: Conversation) -> None:
    data, _ = written("text", [conversation])
    text = data.decode()
    ours = re.compile(r"(?:User|Assistant|System|Tool)\b.*|=+|Another .*|Subagent.*|(?:[A-Z][a-z]+|ID): .*|")

    assert safe(text) == text
    body = text.partition("\n\n")[2].split("\n")
    assert [] == [line for line in body if not line.startswith(" ") and not ours.fullmatch(line)]


# Names, links and the index.


@given(first=st.text(), second=st.text())
def test_names_of_pages_differ_as_ids_do(first: str, second: str) -> None:
    assert (page_name("s", first).lower() == page_name("s", second).lower()) == (first == second)


@pytest.mark.parametrize("id_", [*NAMES, "x" * 10_000_000], ids=lambda id_: repr(id_[:20]))
def test_any_file_system_takes_the_name_of_a_page(id_: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,80}", page_name("source", id_))
    assert files.is_safe_name(page_name("source", id_))


@every_writer_of_pages
def test_nothing_is_written_outside_of_the_folder(name: str, tmp_path: Path) -> None:
    items: list[Item] = [
        Conversation(
            id=id_,
            source=NAMES[-number],
            title=id_,
            cwd=id_,
            link=Link(conversation_id=NAMES[-number], relation="fork"),
            timeline=[
                Message(id=id_, role="user", parts=[Text(text=id_), Media(kind="image", name=id_, ref=id_)])
            ],
        )
        for number, id_ in enumerate(NAMES)
    ]
    items += [Memory(id=id_, source="s", kind=id_, text=id_) for id_ in NAMES]
    folder = tmp_path / "deep" / "down" / "out"
    folder.parent.mkdir(parents=True)
    write_items(items, name, f"{folder}/", Notes())

    assert [folder] == [*folder.parent.iterdir()]
    assert [folder.parent] == [*folder.parent.parent.iterdir()]
    assert all(path.is_file() or path.name in {"conversations", "media"} for path in folder.rglob("*"))
    index = (folder / f"index{writers.get(name).INFO.suffix}").read_text(encoding="utf-8")
    told = sum(1 for path in (folder / "conversations").iterdir() if path.stem in index)
    assert told >= len(NAMES)


def conversation(id_: str, **more: Any) -> Conversation:
    said = Message(id="m", role="user", parts=[Text(text=f"said in {id_}")])
    return Conversation(id=id_, source="s", timeline=[said], **more)


def linked(parent: str, relation: Any = "subagent") -> Link:
    return Link(conversation_id=parent, relation=relation, message_id="m")


@every_writer_of_pages
def test_links_lead_somewhere(name: str) -> None:
    """To what comes later, to what came before, and to what never comes."""
    items = [
        conversation("child", link=linked("parent")),
        conversation("parent"),
        conversation("fork", link=linked("parent", "fork")),
        conversation("alone", link=linked("gone")),
    ]
    suffix = writers.get(name).INFO.suffix
    run = a_run(Notes())
    run.children["s", "parent"] = (
        RelatedConversation(id="child", relation="subagent"),
        RelatedConversation(id="fork", relation="fork"),
    )
    found = pages(name, items, run)

    for path, data in found.items():
        links = re.findall(rf"[a-z0-9/.-]+{re.escape(suffix)}", data.decode())
        base = path.rpartition("/")[0]
        for link in links:
            place = f"{base}/{link}".lstrip("/").replace("conversations/../", "")
            assert place in found or link in found, (path, link)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("Connection refused", "Connection refused"),
        ({"error": {"code": "429", "message": "Slow down"}}, "Slow down (429)"),
        ({"message": "Overloaded", "type": "overloaded_error"}, "Overloaded (overloaded_error)"),
        ({"message": "Overloaded", "code": None}, "Overloaded"),
    ],
)
@pytest.mark.parametrize("name", ["html", "markdown", "text"])
def test_a_failed_request_is_shown_after_its_prompt(name: str, error: Any, words: str) -> None:
    timeline = [
        Message(id="1", role="user", parts=[Text(text="Is it late?")]),
        Message(id="2", parent_id="1", role="assistant", parts=[ToolCall(name="clock", call_id="k")]),
        # It stands with its call, and makes no turn of its own.
        Message(id="3", parent_id="2", role="tool", parts=[ToolResult(call_id="k", output="Noon.")]),
        Message(id="4", parent_id="3", role="assistant", parts=[Text(text="No.")]),
    ]
    failed = [Request(prompt_id="3", error=error), Request(prompt_id="3", error=error)]
    answered = Request(prompt_id="3", response_ids=["4"])
    asked = Conversation(id="c", source="s", timeline=[*timeline], requests=[*failed, answered])
    page, _ = written(name, [asked])

    before, _, after = page.decode().replace("\\", "").partition("equest failed:")
    assert "Noon." in before
    assert f"{words} (2 times)" in after.split("No.")[0]
    assert "No." in after


@every_writer_of_pages
def test_two_of_the_same_id_are_two_pages(name: str) -> None:
    found = pages(name, [conversation("a"), conversation("a"), conversation("A")])

    assert 4 == len(found)


@every_writer_of_pages
def test_items_are_written_as_they_come(name: str) -> None:
    out = io.BytesIO()
    sizes: list[int] = []

    def watched() -> Any:
        for number in range(3):
            sizes.append(out.tell())
            yield conversation(str(number))

    with closing(files.ZipBundle(out)) as bundle:
        writers.get(name).write_pages(watched(), bundle, a_run(Notes()))  # type: ignore[attr-defined] # it has

    assert 0 == sizes[0] < sizes[1] < sizes[2]


def test_the_index_is_by_project_and_day() -> None:
    book = PageSet(a_run(Notes()), ".md")
    for id_, cwd, at in (
        ("1", "/old", "2026-01-01T10:00:00Z"),
        ("2", "/new", "2026-03-01T10:00:00Z"),
        ("3", "/old", "2026-02-01T23:30:00-02:00"),
        ("4", "/old", "2026-02-02T09:00:00Z"),
    ):
        book.add_page(conversation(id_, cwd=cwd, started_at=at))
    told = [
        (project.name, [(day.date, [facts.id for facts in day.entries]) for day in project.days])
        for project in book.projects()
    ]

    assert told == [
        ("/new", [("2026-03-01", ["2"])]),
        ("/old", [("2026-02-02", ["4", "3"]), ("2026-01-01", ["1"])]),
    ]


def test_what_came_out_of_a_conversation_stands_below_it() -> None:
    book = PageSet(a_run(Notes()), ".md")
    for item in (
        conversation("c", link=linked("b")),
        conversation("a"),
        conversation("b", link=linked("a")),
        conversation("x", link=linked("y")),
        conversation("y", link=linked("x")),
    ):
        book.add_page(item)
    below = book.children()
    tops = [facts.id for project in book.projects() for day in project.days for facts in day.entries]

    assert ["b"] == [facts.id for facts in below[page_name("s", "a")]]
    assert ["c"] == [facts.id for facts in below[page_name("s", "b")]]
    assert ["a", "x", "y"] == sorted(tops)


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def pictured(data: str, **more: Any) -> Conversation:
    picture = Media(kind="image", mime="image/png", name="dot.png", data=data, **more)
    return Conversation(id="p", source="s", timeline=[Message(id="m", role="user", parts=[picture])])


def with_images(wanted: Any) -> Run:
    return Run(note=Notes(), started_at="2026-11-01T12:00:00Z", program="p/1", images=wanted)


def test_images_are_next_to_pages_inside_of_them_or_nowhere() -> None:
    found = {
        wanted: pages("markdown", [pictured(PIXEL)], with_images(wanted))
        for wanted in ("auto", "embed", "none")
    }
    page = page_name("s", "p")
    texts = {wanted: found[wanted][f"conversations/{page}.md"].decode() for wanted in found}

    (image,) = [path for path in found["auto"] if path.startswith("media/")]
    assert image.endswith(".png")
    assert found["auto"][image].startswith(b"\x89PNG")
    assert f"](<../{image}>)" in texts["auto"]
    assert f"](<data:image/png;base64,{PIXEL}>)" in texts["embed"]
    assert not [path for path in found["embed"] | found["none"] if path.startswith("media/")]
    assert "](<" not in texts["none"].partition("##")[2]
    assert all("dot.png" in text for text in texts.values())


def test_an_image_is_what_its_bytes_say() -> None:
    """A page of HTML or a drawing with a script in it gets no name that a browser opens."""
    for evil in ("PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"):
        found = pages("markdown", [pictured(evil, ref="evil.html")])

        assert ["bin"] == [path.rpartition(".")[2] for path in found if path.startswith("media/")]
        assert b"![" not in found[f"conversations/{page_name('s', 'p')}.md"]


def test_what_is_no_base64_is_no_file() -> None:
    for broken in ("iVBORw0KGgo=>)<script>", "not base64", "é"):
        found = pages("markdown", [pictured(broken)])

        assert not [path for path in found if path.startswith("media/")]


# How a conversation is cut.


@some
@given(conversation=any_conversations)
def test_each_entry_is_in_one_section(conversation: Conversation) -> None:
    found = split_sections(conversation)

    assert sorted(map(id, conversation.timeline)) == sorted(
        id(entry) for part in found for entry in part.entries
    )
    assert "main" == found[0].kind
    assert all(part.kind != "main" and part.entries for part in found[1:])


@some
@given(conversation=any_conversations)
def test_each_part_is_in_one_turn(conversation: Conversation) -> None:
    given_parts = [part for message in tree.messages(conversation) for part in message.parts]
    told: list[Any] = []
    for section in split_sections(conversation):
        for turn in iter_turns(section.entries):
            for part in turn.parts if isinstance(turn, Turn) else ():
                is_done = part.__class__.__name__ == "Done"
                told += [part.call, *([part.result] if part.result else [])] if is_done else [part]  # type: ignore[union-attr]

    assert len(given_parts) == len(told)
