"""`aj export`: what is chosen, what is done to it, where it goes, and what is left when it fails."""

from __future__ import annotations

import base64
import gc
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from agent_journal import config, journal, redaction
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.store import Listed
from agent_journal.cli._run import run as run_verb
from agent_journal.conversion import transforms
from agent_journal.conversion.output import write_items
from agent_journal.errors import CannotWrite, UnusableArchive
from agent_journal.journal import Journal
from agent_journal.model import Conversation, Item, Media, Message, Text, ToolCall
from agent_journal.notes import Notes
from tests.test_pages import PIXEL

CASES = Path(__file__).parent / "readers"


def message(
    id_: str, role: str, *parts: dict[str, Any], parent: str | None = None, **more: Any
) -> dict[str, Any]:
    return {"type": "message", "id": id_, "role": role, "parent_id": parent, "parts": [*parts], **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def chat(id_: str, *timeline: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "conversation", "id": id_, "source": "tea", "timeline": [*timeline], **more}


KETTLE = chat(
    "kettle",
    message("m1", "user", text("boil the kettle")),
    message(
        "m2",
        "assistant",
        {"type": "reasoning", "text": "water first"},
        {"type": "tool_call", "call_id": "1", "name": "pour", "input": {"cups": 2}, "kind": "shell"},
        parent="m1",
    ),
    message("m3", "tool", {"type": "tool_result", "call_id": "1", "output": "poured"}, parent="m2"),
    message("m4", "assistant", text("it boils"), parent="m3"),
    message("m5", "user", text("now milk"), parent="m4"),
    message("m6", "user", text("no, lemon"), parent="m4"),
    title="Tea at four",
    cwd="/home/ana/tea",
    head_id="m6",
    started_at="2026-03-01T16:00:00Z",
)
HELPER = chat(
    "kettle/helper",
    message("h1", "assistant", text("spoons are clean")),
    link={"conversation_id": "kettle", "relation": "subagent", "message_id": "m2"},
)
WASHER = chat(
    "kettle/washer",
    message("w1", "assistant", text("cups are clean")),
    link={"conversation_id": "kettle", "relation": "subagent", "call_id": "1"},
    title="Cups",
)
BILL = chat(
    "bill",
    message("b1", "user", text("what is it?")),
    message("b2", "assistant", text("ta"), parent="b1", model="brew-1", usage={"input": 1000, "output": 100}),
    message("b3", "assistant", text("ta"), parent="b2", model="new-1", usage={"input": 1000, "output": 100}),
)
CAKE = chat("cake", message("c1", "user", text("bake a cake with lemon")), title="Cake", cwd="/home/ana/cake")
PICTURE = chat(
    "picture",
    message("p1", "user", {"type": "media", "kind": "image", "ref": "pics/dot.png", "mime": "image/png"}),
)

# Made up; in two pieces, so that nobody takes it for one that is in use.
KEY = "sk-ant-api03-" + "q7Rk2vXw9LmZt4Bd8NcY1pHs6FjG3aUe5Vo0KiTlJxQyMrWn" * 2
DOOR = chat("door", message("d1", "user", text(f"the key is {KEY}, keep it")))


class Done(NamedTuple):
    """What a run of the verb did."""

    code: int
    out: bytes
    said: str

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Export = Callable[..., Done]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("ana")
    history = top / "tea.jsonl"
    (top / "pics").mkdir()
    (top / "pics" / "dot.png").write_bytes(base64.b64decode(PIXEL))
    memory = {"type": "memory", "id": "mem", "source": "tea", "kind": "context", "text": "likes lemon"}
    lines = [json.dumps(each) for each in (KETTLE, HELPER, CAKE, PICTURE, DOOR, memory)]
    history.write_text("\n".join([*lines, ""]), encoding="utf-8")
    settled = config.load(top / "journal", {})
    journal.import_files(settled, [ImportCandidate(str(history))], lambda _: None)
    case = CASES / "claude-code"
    session = next(case.glob("*/*.jsonl"))
    journal.import_files(settled, [ImportCandidate(str(session))], lambda _: None)
    return top / "journal"


@pytest.fixture
def export(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Iterator[Export]:
    monkeypatch.setenv("AJ_HOME", str(home))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        code = run_verb("export", [*arguments])
        out, said = capsysbinary.readouterr()
        return Done(code, out, said.decode())

    yield run
    gc.enable()


def titles(page: bytes) -> list[str]:
    return re.findall(r'^# (?:<a id="[^"]*"></a>)?(.*)$', page.decode(), re.MULTILINE)


@pytest.mark.parametrize("fixed", ["tomorrow", "99999999999999", "²"])
def test_an_impossible_time_is_reported(export: Export, monkeypatch: pytest.MonkeyPatch, fixed: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", fixed)
    done = export("cak", "-t", "pam", "-o", "bundle/")

    said = f"aj: SOURCE_DATE_EPOCH: it is '{fixed}', but must be a number of seconds since 1970\n"
    assert (1, said) == (done.code, done.said)


# What is chosen.


def test_one_by_the_beginning_of_its_id(export: Export) -> None:
    done = export("cak", "-t", "markdown")

    assert (0, ["Cake"], "") == (done.code, titles(done.out), done.said)


def test_several_in_the_order_they_are_named(export: Export) -> None:
    done = export("cake", "tea:kettle", "cake", "-t", "json")

    assert ["cake", "kettle"] == [each["id"] for each in done.told]


def test_an_unknown_id_is_reported_and_nothing_is_written(export: Export, tmp_path: Path) -> None:
    done = export("cake", "coffee", "-t", "markdown", "-o", "out/")

    assert (4, b"") == (done.code, done.out)
    assert "No conversation has the id 'coffee'" in done.said
    assert [] == [*tmp_path.iterdir()]


def test_by_filters(export: Export) -> None:
    assert ["cake"] == [each["id"] for each in export("--project", "cake", "-t", "json").told]
    assert ["kettle", "kettle/helper"] == [
        each["id"] for each in export("--title", "four", "-t", "json").told
    ]
    assert ["kettle"] == [
        each["id"] for each in export("--title", "four", "--no-subagents", "-t", "json").told
    ]


def test_by_the_hits_of_a_search(export: Export) -> None:
    found = {each["id"] for each in export("--search", "lemon", "-t", "json").told}
    some = export("--search", "lemon", "--project", "cake", "-t", "json").told
    one = export("--search", "lemon", "--max", "1", "--no-subagents", "-t", "json").told

    assert {"cake", "kettle", "kettle/helper"} == found
    assert ["cake"] == [each["id"] for each in some]
    assert 1 == len(one)


def test_everything_has_memories_too(export: Export) -> None:
    told = export("--all", "-t", "json").told

    assert {"kettle", "kettle/helper", "cake", "picture", "mem"} <= {each["id"] for each in told}


def test_nothing_is_like_that(export: Export, tmp_path: Path) -> None:
    done = export("--title", "coffee", "-t", "markdown", "-o", "out.md")

    assert (1, b"") == (done.code, done.out)
    assert "No conversation matches these filters." in done.said
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "wrong", [[], ["cake", "--all"], ["--all", "--search", "x"], ["cake", "--title", "x"]]
)
def test_one_way_to_choose_must_be_named(export: Export, wrong: list[str]) -> None:
    done = export(*wrong, "-t", "markdown")

    assert 2 == done.code
    assert "Choose what to export" in done.said


def test_what_was_written_is_shown_only_where_that_is_not_in_the_way(export: Export) -> None:
    assert 2 == export("cake", "-t", "markdown", "--json").code
    assert 2 == export("cake", "-t", "coffee").code


# What is done to it.


def test_the_last_messages_of_what_the_person_sees(export: Export) -> None:
    (told,) = export("kettle", "--last", "2", "-t", "json").told
    (whole,) = export("kettle", "--last", "99", "--branch", "all", "-t", "json").told

    assert ["m4", "m6"] == [entry["id"] for entry in told["timeline"]]
    assert "parent_id" not in told["timeline"][0]
    assert 6 == len(whole["timeline"])


def test_answers_of_tools_go_with_the_last_messages(export: Export) -> None:
    (told,) = export("kettle", "--last", "3", "-t", "json").told

    assert ["m2", "m3", "m4", "m6"] == [entry["id"] for entry in told["timeline"]]


def test_a_branch(export: Export) -> None:
    (told,) = export("kettle", "--branch", "m5", "-t", "json").told

    assert "m5" == told["timeline"][-1]["id"]
    assert 4 == export("kettle", "--branch", "nowhere", "-t", "json").code


@pytest.mark.parametrize(("without", "gone"), [("thinking", "water first"), ("tools", "poured")])
def test_what_is_left_out(export: Export, without: str, gone: str) -> None:
    assert gone in export("kettle", "-t", "markdown").out.decode()
    assert gone not in export("kettle", "-t", "markdown", "--without", without).out.decode()


def test_secrets_are_left_out_unless_they_are_wanted(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_lemon(item: Item, *, personal: bool = False) -> redaction.Redacted[Item]:
        del personal
        data = msgspec.json.encode(item)
        if b"lemon" not in data:
            return redaction.Redacted(item, [])
        changed = msgspec.json.decode(data.replace(b"lemon", b"[fruit]"), type=type(item))
        return redaction.Redacted(
            changed, [redaction.Finding(kind="fruit", message="c1", field="parts.0.text")]
        )

    monkeypatch.setattr(redaction, "redact", without_lemon)
    done, raw = export("cake", "-t", "markdown"), export("cake", "-t", "markdown", "--include-secrets")

    assert b"lemon" not in done.out
    assert b"[fruit]" in done.out
    assert "note: tea:cake c1 parts.0.text: redacted: fruit" == done.said.splitlines()[0]
    assert "Redacted 1 secret, see above; --include-secrets turns this off." in done.said
    assert b"lemon" in raw.out
    assert "" == raw.said
    assert b"lemon" not in export("--all", "-t", "json").out


def test_personal_data_is_left_out_if_asked(export: Export) -> None:
    assert 2 == export("cake", "-t", "json", "--include-secrets", "--redact-personal").code
    assert 0 == export("cake", "-t", "json", "--redact-personal").code


@pytest.mark.parametrize("name", ["html", "markdown", "text", "handoff", "json"])
def test_a_key_stays_at_home(export: Export, name: str) -> None:
    done, raw = export("door", "-t", name), export("door", "-t", name, "--include-secrets")

    assert KEY not in done.out.decode()
    assert "redacted" in done.said
    assert KEY in raw.out.decode()


def test_content_as_the_source_had_it(export: Export, home: Path) -> None:
    with Journal(config.load(home, {})) as opened:
        listed = next(each for each in opened.conversations() if each.source != "tea")
        exact = opened.read(listed, exact=True)
    (told,) = export(f"{listed.source}:{listed.id}", "-t", "json", "--include-secrets").told

    assert any(entry.native is not None for entry in exact.timeline if isinstance(entry, Message))
    assert json.loads(msgspec.json.encode(exact)) == told


def test_what_cannot_be_read_is_named_and_the_rest_is_written(
    export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Journal.get

    def broken(self: Journal, listed: Listed, **how: Any) -> Conversation:
        if listed.id == "kettle":
            raise UnusableArchive("journal.db", "a row is damaged")
        return read(self, listed, **how)

    monkeypatch.setattr(Journal, "get", broken)
    done = export("kettle", "cake", "-t", "json")

    assert (3, ["cake"]) == (done.code, [each["id"] for each in done.told])
    assert "note: tea:kettle: bad-record: Cannot use the journal journal.db: a row is damaged\n" == done.said


# Where it goes.


def test_a_folder_with_an_index(export: Export, tmp_path: Path) -> None:
    done = export("kettle", "-t", "markdown", "-o", "out/")
    pages = [*(tmp_path / "out" / "conversations").iterdir()]

    assert (0, b"") == (done.code, done.out)
    assert "aj: Wrote 2 conversations to out/ as Markdown.\n" == done.said
    assert 2 == len(pages)
    index = (tmp_path / "out" / "index.md").read_text(encoding="utf-8")
    assert all(page.name in index for page in pages)
    parent = next(page for page in pages if "helper" not in page.name)
    assert "Children:** [" in parent.read_text(encoding="utf-8")
    assert all(page.stat().st_mode & 0o777 == 0o600 for page in pages)


def test_a_zip(export: Export, tmp_path: Path) -> None:
    export("cake", "-t", "markdown", "-o", "out.zip")
    export("cake", "-t", "markdown", "-o", "again.zip")

    with zipfile.ZipFile(tmp_path / "out.zip") as packed:
        assert ["conversations/", "index.md"] == [re.sub(r"/.*", "/", name) for name in packed.namelist()]
    assert (tmp_path / "out.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()


def test_a_zip_of_a_format_that_has_a_line_each_has_a_file_each(export: Export, tmp_path: Path) -> None:
    """It was the lines alone, under the name of a zip that nothing could open."""
    assert 0 == export("cake", "kettle", "--no-subagents", "-t", "json", "-o", "out.zip").code
    with zipfile.ZipFile(tmp_path / "out.zip") as packed:
        names = packed.namelist()
        assert ["cake", "kettle"] == [json.loads(packed.read(name))["id"] for name in names]

    assert ["cake-", "kettle-"] == [re.sub(r"-\w{8}\.json$", "-", name) for name in names]


def test_a_folder_that_is_there_is_not_written_over(export: Export, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    done = export("cake", "-t", "markdown", "-o", "out")

    assert 1 == done.code
    assert "it already exists" in done.said
    assert ["mine.txt"] == [path.name for path in (tmp_path / "out").iterdir()]


def test_what_was_written_is_reported_to_programs(export: Export) -> None:
    done = export("kettle", "cake", "-t", "text", "-o", "out.txt", "--json")

    assert "" == done.said
    assert done.told == [
        {"id": "kettle", "source": "tea", "title": "Tea at four", "messages": 6},
        {"id": "cake", "source": "tea", "title": "Cake", "messages": 1},
        {
            "total": True,
            "conversations": 2,
            "memories": 0,
            "format": "text",
            "output": "out.txt",
            "redacted": 0,
        },
    ]


def test_stored_images_come_along(export: Export, tmp_path: Path) -> None:
    export("picture", "-t", "markdown", "-o", "beside/")
    export("picture", "-t", "markdown", "-o", "inside.md", "--images", "embed")
    export("picture", "-t", "markdown", "-o", "none/", "--images", "none")
    (image,) = (tmp_path / "beside" / "media").iterdir()

    assert base64.b64decode(PIXEL) == image.read_bytes()
    assert f"data:image/png;base64,{PIXEL}" in (tmp_path / "inside.md").read_text(encoding="utf-8")
    assert not (tmp_path / "none" / "media").exists()


def test_images_in_files_need_a_folder(export: Export) -> None:
    done = export("picture", "-t", "markdown", "-o", "one.md", "--images", "beside")

    assert 2 == done.code
    assert "a folder or zip" in done.said


def test_images_of_an_export_are_found_by_its_own_names(tmp_path: Path) -> None:
    settled = config.load(tmp_path / "journal", {})
    case = CASES / "chatgpt" / "export_2023" / "input"
    journal.import_files(settled, [ImportCandidate(str(case))], lambda _: None)
    with Journal(settled) as opened:
        filled = [
            part.data
            for listed in opened.conversations()
            for entry in opened.read(listed, media=True).timeline
            for part in (entry.parts if isinstance(entry, Message) else ())
            if isinstance(part, Media) and part.data
        ]

    assert base64.b64encode((case / "file-Harbour01-harbour.png").read_bytes()).decode() in filled


def journal_of(*chats: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal that holds nothing else, which is the one that is used."""
    (folder / "tea.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in chats), encoding="utf-8")
    settled = config.load(folder / "other", {})
    journal.import_files(settled, [ImportCandidate(str(folder / "tea.jsonl"))], lambda _: None)
    monkeypatch.setenv("AJ_HOME", str(settled.home))
    return settled.home


@pytest.mark.parametrize("target", ["html", "markdown"])
def test_subagents_are_linked_where_they_were_started(
    target: str, export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal_of(KETTLE, HELPER, WASHER, folder=tmp_path, monkeypatch=monkeypatch)
    assert 0 == export("kettle", "-t", target, "-o", f"{tmp_path}/pages/").code
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "pages" / "conversations").iterdir()]
    (page,) = [page for page in pages if "boil the kettle" in page]
    at_the_call = page.partition("cups")[2].partition("it boils")[0]

    assert "Cups" in at_the_call
    assert {"helper", "washer"} == {*re.findall("kettle-(helper|washer)", at_the_call)}


@pytest.mark.parametrize("target", ["html", "markdown", "text"])
@pytest.mark.parametrize("order", [("kettle", "kettle/washer"), ("kettle/washer", "kettle")])
def test_the_title_of_a_subagent_is_without_its_secrets_on_other_pages(
    target: str, order: tuple[str, str], export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The password is told by another message of the subagent, not by its title."""
    told = message("w2", "user", text("TEAPOT_PASSWORD=lapsang9souchong"))
    washer = {**WASHER, "title": "Try lapsang9souchong", "timeline": [*WASHER["timeline"], told]}
    journal_of(KETTLE, washer, folder=tmp_path, monkeypatch=monkeypatch)
    done = export(*order, "--subagents", "-t", target, "-o", f"{tmp_path}/pages/", "--json")
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "pages").rglob("*.*")]

    assert 3 == len(pages)
    assert not [page for page in pages if "lapsang9souchong" in page]
    assert b"lapsang9souchong" not in done.out


def test_what_has_no_title_is_called_by_what_was_asked_without_its_secrets(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = message("w0", "user", text("log in with lapsang9souchong"))
    told = message("w2", "user", text("TEAPOT_PASSWORD=lapsang9souchong"), parent="w0")
    washer = {**WASHER, "title": None, "timeline": [asked, told]}
    journal_of(KETTLE, washer, folder=tmp_path, monkeypatch=monkeypatch)
    done = export("kettle", "--subagents", "-t", "markdown", "-o", f"{tmp_path}/pages/", "--json")
    (page,) = (tmp_path / "pages").rglob("kettle-????????????.md")

    assert r"[log in with \[REDACTED:password\]]" in page.read_text(encoding="utf-8")
    assert b'"title": "log in with [REDACTED:password]"' in done.out


def test_list_prices_are_shown_in_pages(
    export: Export, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What has no price is not passed over."""
    home = journal_of(BILL, folder=tmp_path, monkeypatch=monkeypatch)
    (home / "config.toml").write_text("[prices.brew-1]\ninput = 10\noutput = 100\n", encoding="utf-8")
    page = export("bill", "-t", "html").out.decode()

    assert "API list price: $0.02, 1 answer not priced" in page
    assert ["1,000 in, 100 out, list price $0.02", "1,000 in, 100 out"] == re.findall(
        'class="cost">(.*?)<', page
    )


def test_two_of_the_same_id_are_two_files(tmp_path: Path) -> None:
    same = [Conversation(id="1", source="s", title=title) for title in ("one", "two")]
    write_items(same, "json", f"{tmp_path}/out/", Notes())

    written = [json.loads(path.read_bytes())["title"] for path in tmp_path.glob("out/*")]
    assert ["one", "two"] == sorted(written)


@pytest.mark.parametrize("name", ["markdown", "text", "handoff", "pam"])
@pytest.mark.parametrize("place", ["out/", "out.zip", "out.md"])
def test_an_interrupted_run_leaves_nothing(name: str, place: str, tmp_path: Path) -> None:
    def stopped() -> Iterator[Item]:
        yield Conversation(
            id="1", source="s", timeline=[Message(id="m", role="user", parts=[Text(text="x" * 10**6)])]
        )
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_items(stopped(), name, f"{tmp_path}/{place}", Notes())

    assert [] == [*tmp_path.iterdir()]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(CannotWrite):
        write_items([Conversation(id="1", source="s")], "markdown", f"{tmp_path}/file/out/", Notes())


# Transforms.


def test_the_last_of_nothing_and_of_everything() -> None:
    said = [Message(id=str(number), role="user", parts=[Text(text="x")]) for number in range(3)]
    conversation = Conversation(id="1", source="s", shape="list", timeline=[*said], head_id="2")

    assert transforms.last(conversation, 3) is conversation
    assert [said[2]] == transforms.last(conversation, 1).timeline
    assert "2" == transforms.last(conversation, 1).head_id
    called = Message(id="9", role="assistant", parts=[ToolCall(name="x", call_id="1")])
    assert [called] == transforms.last(
        msgspec.structs.replace(conversation, timeline=[*said, called]), 1
    ).timeline
