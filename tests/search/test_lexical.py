"""The index of words, on disk as it is in use."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from agent_journal.errors import IndexDamaged, IndexInUse
from agent_journal.search import lexical, matching, reach
from agent_journal.search.entry import Entry
from agent_journal.search.folder import discard
from agent_journal.search.lexical import Index
from agent_journal.search.query import Filters, Query, parse

NONE = Filters()


def entry(
    key: int,
    text: str = "",
    *,
    conversation: int = 1,
    role: str = "user",
    source: str = "one",
    project: str = "/p",
    model: str = "m",
    at: int = 0,
    thinking: str = "",
    tool: str = "",
    output: str = "",
    title: str = "",
    branch: str = "",
    tools: tuple[str, ...] = (),
    has_error: bool = False,
) -> Entry:
    return Entry(
        key,
        conversation,
        role,
        source,
        project,
        model,
        at,
        text=text,
        thinking=thinking,
        tool=tool,
        output=output,
        title=title,
        branch=branch,
        tools=tools,
        has_error=has_error,
    )


def found(index: Index, text: str, filters: Filters = NONE) -> list[int]:
    return [hit.key for hit in index.search(parse(text, filters), limit=20).entries]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "words"


def filled(folder: Path, *texts: str) -> Index:
    index = Index.open(folder)
    index.add(entry(key, text) for key, text in enumerate(texts, 1))
    index.commit(len(texts))
    return index


FINDS = [
    ("retry", "when to Retry a request"),
    ("request when", "when to retry a request"),
    ('"retry a request"', "when to retry a request"),
    ("http_header", "def parse_http_header(text):"),
    ("http_header", "function parseHttpHeader(text)"),
    ("parse_http_header", "function parseHttpHeader(text)"),
    ("UserAccount", "select * from user_account"),
    ("user_account", "class UserAccount:"),
    ("useraccount", "class UserAccount:"),
    ("account", "class UserAccount:"),
    ("user", "class UserAccount:"),
    ("server", "a HTTPServer that listens"),
    ("encoder", "new Base64Encoder()"),
    ("http/header.py", "in src/http/header.py line 3"),
    ("src/http/header.py", "in ./src/http/header.py:3"),
    ("header", "in src/http/header.py line 3"),
    ("file:///srv/notes.txt", "see file:///srv/notes.txt"),
    ("2.0.1", "released as v2.0.1 today"),
    ("v2.0.1", "released as 2.0.1 today"),
    ("V2.0.1-rc.1", "pip install lamp==2.0.1-rc.1"),
    ("~=2.0.1,", "released as v2.0.1 today"),
    ("2.0.*", "released as v2.0.1 today"),
    ("os.path.join", "call os.path.join(a, b)"),
    ("path", "call os.path.join(a, b)"),
    ("TypeError: 'NoneType' object is not iterable", "TypeError: 'NoneType' object is not iterable\n"),
    ("cafe", "ein Café in Zürich"),
    ("CAFÉ zurich", "ein Café in Zürich"),
    ("cafe\u0301", "ein Café"),
    ("Café", "ein Cafe\u0301"),
    ("東京", "私は東京大学に行きました"),
    ("大学", "私は東京大学に行きました"),
    ("東京大学", "私は東京大学に行きました"),
    ("京", "私は東京大学に行きました"),
    ("た", "私は東京大学に行きました"),
    ("数据库", "请检查数据库连接"),
    ("连接", "请检查数据库连接test失败"),
    ("test", "请检查数据库连接test失败"),
    ("连接test", "请检查数据库连接test失败"),
    ("데이터", "데이터베이스 연결"),
    ("ข้อความ", "การค้นหาข้อความภาษาไทย"),
    ("हिन्दी", "यह हिन्दी में है"),
    ("step 1", "step 1\ufe0f\u20e3 done"),
    ("أصلح", "أُصلِحُ الخطأ"),
    ("اصلح", "أُصلِحُ الخطأ"),
    ("کتاب", "كتـــاب جديد"),
    ("שלום", "שָׁלוֹם לכולם"),
    ("Dampfschifffahrt", "die Dampf\u00adschiff\u00adfahrt"),
    ("Dampf\u00adschiff", "das Dampfschiff"),
    ("naive", "a nai\u0308ve x\u0302y"),
    ("xy", "a nai\u0308ve x\u0302y"),
    ("ภาษาไทย", "การค้นหาข้อความภาษาไทย"),
    ("ນທະນາ", "ຊອກຫາການສົນທະນາ"),
    ("ភាសា", "ស្វែងរកភាសាខ្មែរ"),
    ("ဘာသာ", "မြန်မာဘာသာစကား"),
    ("привет", "Привет, мир"),
    ("елка", "Ёлка"),
    ("κειμενο", "το κείμενο"),
    ("λόγος", "Ο ΛΟΓΟΣ"),
    ("diyarbakir", "DİYARBAKIR ve Iğdır"),
    ("Diyarbakır iğdır", "DİYARBAKIR ve IĞDIR"),
    ('"error no route"', "\x1b[1;31merror\x1b[0m: no \x1b[4mroute"),
    ('"\x1b[1;31merror\x1b[0m: no route"', "error: no route to host"),
    ("\x1b[1;31merror\x1b[0m \x1b[4mroute\x1b[0m", "\x1b[31merror\x1b[0m: no route to host"),
    ("holst*", "the Holsteiner"),
    ("parse_ht*", "def parse_http_header(text):"),
    ("rare OR missing", "a rare word"),
    ("“retry a request”", "when to retry a request"),
    ("4f2a9c0e1b7d4f2a9c0e1b7d4f2a9c0e1b7d4f2a", "at 4f2a9c0e1b7d4f2a9c0e1b7d4f2a9c0e1b7d4f2a"),
    ("9c0e1b7d" * 16, f"its SHA-512 is {'9c0e1b7d' * 16}."),
    ("9c0e1b*", f"its SHA-512 is {'9c0e1b7d' * 16}."),
    (f'"key {"aB3+/x9_" * 40} is"', f"the key {'aB3+/x9_' * 40} is new"),
    ("bad\udc80bytes", "some bad\udc80bytes here"),
    ("after", "x" * 3000 + " after"),
]


@pytest.mark.parametrize(("query", "text"), FINDS)
def test_hits(folder: Path, query: str, text: str) -> None:
    index = filled(folder, "nothing of the kind", text, "something else")
    assert [2] == found(index, query)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ('"request retry"', "when to retry a request"),
        ("retry missing", "when to retry a request"),
        ("retry -request", "when to retry a request"),
        ('retry -"a request"', "when to retry a request"),
        ("UserAccount", "getUser, AccountInfo"),  # the humps of two names are no neighbours
        ('"text parse"', "parseHttp(text)"),
        ("header_http", "parse_http_header"),
        ("京東", "私は東京大学に行きました"),
        ("ความข้อ", "การค้นหาข้อความภาษาไทย"),
        ("दी", "यह हिन्दी में है"),
        ("", "anything"),
        ("- * \" ' --", "anything"),
    ],
)
def test_does_not_find(folder: Path, query: str, text: str) -> None:
    assert [] == found(filled(folder, text), query)


def test_what_people_wrote_comes_before_what_tools_printed(folder: Path) -> None:
    index = Index.open(folder)
    index.add(
        [
            entry(1, tool="the deadline is fixed"),
            entry(2, thinking="the deadline is fixed"),
            entry(3, title="the deadline is fixed"),
            entry(4, "the deadline is fixed"),
        ]
    )
    index.commit(4)
    assert [4, 3, 2, 1] == found(index, "deadline")
    assert [2, 1] == found(index, "deadline", Filters(fields=("thinking", "tool")))
    assert [4, 3, 2, 1] == found(index, '"deadline is fixed"')


def test_a_word_is_no_rarer_in_titles_because_titles_are_few(folder: Path) -> None:
    index = Index.open(folder)
    index.add(entry(key, f"the deadline of {key} is near") for key in range(1, 50))
    index.add([entry(50, title="the deadline"), entry(51, tool="deadline")])
    index.add(entry(key, tool=f"error {key} in a line of a log") for key in range(52, 90))
    index.commit(89)
    assert {50, 51}.isdisjoint(found(index, "deadline"))
    assert [51] == found(index, "deadline", Filters(fields=("tool",)))


def test_a_pasted_message_is_found_though_a_part_of_it_reads_otherwise(folder: Path) -> None:
    text = "2026-03-01 ERROR worker 17: could not connect to the database server on port 5432: time is up"
    index = filled(folder, text, "could not connect", "the server is at the port of the database")
    assert [1] == found(index, text.replace("17", "99").replace("03-01", "04-02"))
    assert [] == found(index, "could not connect to port 99")


@pytest.mark.parametrize(
    ("filters", "keys"),
    [
        (Filters(sources=("two",)), {2}),
        (Filters(sources=("one", "two")), {1, 2, 3}),
        (Filters(projects=("/q",)), {3}),
        (Filters(models=("n",)), {1}),
        (Filters(roles=("assistant",)), {2}),
        (Filters(since=20), {2, 3}),
        (Filters(until=20), {1}),
        (Filters(since=10, until=30), {1, 2}),
        (Filters(conversations=(7,)), {3}),
        (Filters(sources=("none",)), set()),
        (Filters(sources=("TW",)), {2}),
        (Filters(sources=("o",)), {1, 2, 3}),
        (Filters(projects=("Q",)), {3}),
        (Filters(projects=("",)), {1, 2, 3}),
        (Filters(branches=("main",)), {2}),
        (Filters(branches=("mai",)), {1, 2}),
        (Filters(tools=("shell",)), {1, 3}),
        (Filters(tools=("bash",)), {1}),
        (Filters(has_error=True), {3}),
    ],
)
def test_filters(folder: Path, filters: Filters, keys: set[int]) -> None:
    index = Index.open(folder)
    index.add(
        [
            entry(1, "word", at=10, model="n", branch="maintenance", tools=("Bash", "shell")),
            entry(2, "word", at=20, source="two", role="assistant", branch="main", tools=("Edit", "edit")),
            entry(3, "word", at=30, project="/q", conversation=7, tools=("Sh", "shell"), has_error=True),
        ]
    )
    index.commit(3)
    assert keys == set(found(index, "word", filters))
    assert keys == set(found(index, "-other", filters))
    assert keys == set(found(index, "", filters))
    query = parse("", filters)
    assert keys == set(index.allowed_keys(query, 5) or ())
    assert keys - {1} == index.filter_keys(query, [2, 3, 99])
    unlike = Query(excluded=filters)
    assert {1, 2, 3} - keys == {hit.key for hit in index.search(unlike, limit=9).entries}


def test_what_has_no_time_is_neither_before_nor_after(folder: Path) -> None:
    index = filled(folder, "word")
    assert [1] == found(index, "word")
    assert [] == found(index, "word", Filters(until=1000)) + found(index, "word", Filters(since=0))


def test_too_many_to_name(folder: Path) -> None:
    index = filled(folder, *["word"] * 9)
    query = parse("-other", Filters(sources=("one",)))
    assert index.allowed_keys(query, 8) is None
    assert list(range(1, 10)) == sorted(index.allowed_keys(query, 9) or ())
    assert index.allowed_keys(parse("word"), 99) is None
    assert {1, 2} == index.filter_keys(parse("word"), [1, 2])


def test_removed_is_not_found(folder: Path) -> None:
    index = filled(folder, "one word", "two word")
    assert not index.has_leftovers
    index.remove([1])
    assert {1, 2} == set(found(index, "word"))
    index.commit(2)
    assert [2] == found(index, "word")
    assert index.count == 1


def test_is_there_when_opened_again(folder: Path) -> None:
    with filled(folder, "one word", "two word"):
        pass
    index = Index.open(folder)
    assert (index.upto, index.count) == (2, 2)
    assert {1, 2} == set(found(index, "word"))
    assert index.check() == []


def test_what_is_not_committed_is_gone_and_comes_again_once(folder: Path) -> None:
    with filled(folder, "one word") as index:
        index.add([entry(2, "two word")])
        assert index._writer is not None
        index._flush(index._writer)  # as it happens by itself when much waits: on disk, and not counted
    index = Index.open(folder)
    assert index.upto == 1
    index.add([entry(2, "two word")])
    index.commit(2)
    assert index.count == 2
    assert {1, 2} == set(found(index, "word"))


def test_reads_while_another_writes(folder: Path) -> None:
    with filled(folder, "one word") as writer:
        reader = Index.open(folder, make=False)
        writer.add([entry(2, "two word")])
        assert [1] == found(reader, "word")
        writer.commit(2)
        assert {1, 2} == set(found(reader, "word"))
        with pytest.raises(IndexInUse):
            reader.add([entry(3, "three")])
    reader.add([entry(3, "three")])
    reader.commit(3)
    assert (reader.upto, reader.count) == (3, 3)


def test_is_of_one_journal(folder: Path) -> None:
    Index.open(folder, journal="mine").close()
    assert Index.open(folder, journal="mine").journal == "mine"
    with pytest.raises(IndexDamaged, match="another journal"):
        Index.open(folder, journal="theirs")


def test_is_not_made_when_only_looked_for(folder: Path) -> None:
    with pytest.raises(IndexDamaged, match="it does not exist"):
        Index.open(folder, make=False)
    assert not folder.exists()


def test_keeps_to_its_owner(folder: Path) -> None:
    with filled(folder, "a word"):
        pass
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_pages_follow_each_other(folder: Path) -> None:
    index = filled(folder, *["same word"] * 30)
    pages = [index.search(parse("word"), limit=7, offset=offset).entries for offset in range(0, 35, 7)]
    keys = [hit.key for page in pages for hit in page]
    assert sorted(keys) == list(range(1, 31))


def test_holds_no_text(folder: Path) -> None:
    with filled(folder, "an unmistakable sentence about lighthouses"):
        pass
    assert not any(b"unmistakable sentence" in path.read_bytes() for path in folder.iterdir())


def test_discarded_is_gone(folder: Path) -> None:
    filled(folder, "word").close()
    discard(folder)
    assert Index.open(folder).count == 0


def test_importing_search_does_not_import_the_index() -> None:
    code = "import sys; from agent_journal.search import lexical, query; print('tantivy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "False"


def parts(folder: Path) -> int:
    return len(json.loads((folder / "meta.json").read_bytes())["segments"])


def test_the_parts_of_many_small_changes_are_joined(folder: Path) -> None:
    for key in range(1, 41):
        with Index.open(folder) as index:
            index.add([entry(key, f"a lantern of the {key}th day")])
            index.commit(key)

    assert 8 > parts(folder)
    assert 40 == Index.open(folder).count
    assert [] == Index.open(folder).check()


def test_what_was_not_committed_is_dropped_when_it_is_closed(folder: Path) -> None:
    with filled(folder, "one lantern") as index:
        index.add([entry(2, "another lantern")])

    assert [1] == found(Index.open(folder), "lantern")


def test_fields_count_in_their_order_however_many_entries_have_them(folder: Path) -> None:
    said = "the lantern by the door"
    index = Index.open(folder)
    index.add(
        entry(key, f"nothing of the kind {key}", tool="look there", output="a door") for key in range(300)
    )
    index.add(entry(key, thinking="hm, that is another door") for key in range(300, 340))
    index.add(
        [
            entry(901, output=said),
            entry(902, tool=said),
            entry(903, thinking=said),
            entry(904, title=said),
            entry(905, said),
        ]
    )
    index.commit(905)

    assert [905, 904, 903, 902, 901] == found(index, "lantern")


@pytest.mark.parametrize("query", ["lantern", "lantern door", "the lant*", '"the lantern"', "lantern_by*"])
def test_what_is_short_counts_for_no_more_than_what_was_written_where_few_have_its_field(
    folder: Path, query: str
) -> None:
    said = "this is the lantern by the door, and here is what else there is to say of it"
    index = Index.open(folder)
    index.add(entry(key, f"nothing of the kind {key}, but some words of no use") for key in range(900))
    index.add([entry(901, said, at=1), entry(902, output="a line of the log\n" * 2_000)])
    index.add([entry(903, output="the lantern by the door", at=2)])
    index.add([entry(904, tool="the lantern by the door", at=2), entry(905, tool="a file " * 2_000)])
    index.commit(905)

    assert [901, 904, 903] == found(index, query)


def test_without_words_the_newest_comes_first(folder: Path) -> None:
    index = Index.open(folder)
    index.add(entry(key, "word", at=at) for key, at in ((1, 500), (2, 900), (3, 0), (4, 700), (5, 900)))
    index.commit(5)

    assert [5, 2, 4, 1, 3] == found(index, "", Filters(roles=("user",)))
    assert [5, 2, 4, 1, 3] == found(index, "role:user -missing")
    pages = [index.search(parse("role:user"), limit=2, offset=offset).entries for offset in (0, 2, 4)]
    assert [[5, 2], [4, 1], [3]] == [[hit.key for hit in page] for page in pages]


def test_a_prefix_stands_for_many_words(folder: Path) -> None:
    index = filled(folder, *(f"pre{number}fix" for number in range(150)))

    assert 150 == len(index.search(parse("pre*"), limit=200).entries)


@pytest.mark.parametrize("in_a_row", [2_000, 151])
def test_the_last_word_of_a_row_may_be_any_that_begins_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, in_a_row: int
) -> None:
    monkeypatch.setattr(matching, "_MAX_PHRASE_EXPANSIONS", in_a_row)
    hashes = (f"ac{number:04x} open_ac{number:04x}" for number in range(150))
    index = filled(folder, *hashes, "user_account", "userAccount", "account user", "x東京")

    assert [152, 151] == found(index, "user_ac*")
    assert [152, 151] == found(index, "userAc*")
    assert 150 == len(index.search(parse("open_ac*"), limit=200).entries)
    assert [154] == found(index, "x東")


def test_a_word_in_a_row_that_goes_on_counts_for_more_where_it_was_written(folder: Path) -> None:
    index = Index.open(folder)
    index.add([entry(1, "user_account", at=1), entry(2, output="user_account", at=2)])
    index.commit(2)

    assert [1, 2] == found(index, "user_ac*")


def test_a_rare_word_is_found_by_its_beginning_whatever_else_is_asked_for(folder: Path) -> None:
    index = Index.open(folder)
    index.add(entry(key, f"get{key % 250}") for key in range(1, 501))
    index.add([entry(501, "getaway weekend", conversation=2), entry(502, "weekend", conversation=2)])
    index.commit(502)

    assert [501] == found(index, "weekend get*")
    assert [501] == found(index, "get*", Filters(conversations=(2,)))
    assert [502] == found(index, "-get*", Filters(conversations=(2,)))


@pytest.mark.parametrize(("text", "limit"), [("lantern", 200), ('"old lantern"', 50), ("lant*", 200)])
def test_of_what_matches_alike_the_newest_comes_first_however_many_there_are(
    folder: Path, text: str, limit: int
) -> None:
    index = Index.open(folder)
    index.add(entry(key, "an old lantern", at=DAY * key) for key in range(1, 1001))
    index.commit(1000)

    every = [hit.key for hit in index.search(parse(text), limit=1000).entries]
    assert every == list(range(1000, 0, -1))
    assert every[:limit] == [hit.key for hit in index.search(parse(text), limit=limit).entries]


def test_whoever_wants_more_of_what_is_in_quotes_gets_the_same_first(folder: Path) -> None:
    index = Index.open(folder)
    index.add(
        entry(key, "old lantern" + " word" * (key % 90), at=DAY * (key * 37 % 300)) for key in range(1, 301)
    )
    index.commit(300)

    pages = [index.search(parse('"old lantern"'), limit=limit).entries for limit in (50, 200, 300)]
    assert pages[0] == pages[1][:50]
    assert pages[1] == pages[2][:200]


DAY = 86_400
WEEK = 7 * DAY


@pytest.fixture
def years(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    """Three hundred weeks with two entries each, where a few are enough."""
    monkeypatch.setattr(reach, "_MAX_CHEAP_ENTRIES", 100)
    monkeypatch.setattr(reach, "_MAX_FIRST_ENTRIES", 40)
    monkeypatch.setattr(reach, "_MIN_HITS", 20)
    monkeypatch.setattr(reach, "_NEARLY_ALL_SHARE", 0.25)
    index = Index.open(folder)
    index.add(entry(week * 2, "the usual word and more of it", at=week * WEEK) for week in range(1, 301))
    index.add(
        entry(week * 2 + 1, "it of word", role="assistant", at=week * WEEK + 9) for week in range(1, 301)
    )
    index.add([entry(1000, "the word it is at last usual", at=9 * WEEK), entry(1001, "word without a time")])
    index.commit(1001)
    return index


def test_what_is_everywhere_is_ranked_among_the_newest(years: Index) -> None:
    ranking = years.search(parse("word"), limit=10)

    assert 281 * WEEK == ranking.since
    assert all(hit.key > 2 * 280 for hit in ranking.entries)


def test_whoever_wants_more_of_what_is_in_quotes_gets_it_from_further_back(
    years: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "_MIN_EXACT_HITS", 5)
    pages = [years.search(parse('"of word"'), limit=limit).entries for limit in (5, 20, 80, 300)]

    assert all(fewer == more[: len(fewer)] for fewer, more in pairwise(pages))
    assert [5, 20, 80, 300] == [len(page) for page in pages]


def test_nothing_is_reported_of_what_is_older_than_what_was_asked_for(years: Index) -> None:
    ranking = years.search(parse("word", Filters(since=290 * WEEK)), limit=10)
    older = years.search(parse("word", Filters(since=270 * WEEK)), limit=10)

    assert (10, None) == (len(ranking.entries), ranking.since)
    assert 281 * WEEK == older.since


def test_a_pasted_line_is_found_however_old_it_is(years: Index) -> None:
    """The newest have enough of its words: those that are everywhere."""
    everywhere = "one of the many words that nobody can do without"
    line = f"{everywhere}, at the harbour"
    years.add(entry(2000 + week, everywhere, at=(400 + week) * WEEK) for week in range(100))
    years.add([entry(3000, f"Long ago {line}.", at=3 * WEEK)])
    years.commit(3000)
    ranking = years.search(parse(line), limit=10)

    assert 3000 == ranking.entries[0].key
    assert ranking.since is not None
    assert 10 == len({hit.key for hit in ranking.entries})
    assert [hit.key for hit in ranking.entries[4:]] == [
        hit.key for hit in years.search(parse(line), limit=6, offset=4).entries
    ]


def test_whoever_wants_more_gets_more(years: Index) -> None:
    ranking = years.search(parse("word"), limit=60)

    assert 60 == len(ranking.entries)
    assert ranking.since is not None
    assert ranking.since < 281 * WEEK
    everything = years.search(parse("word"), limit=1000)
    assert (602, None) == (len(everything.entries), everything.since)


@pytest.mark.parametrize(
    "query",
    [
        "word",
        "the usual word",
        '"usual word"',
        "usu*",
        "role:user",
        "at the harbour again",
        "at the harbour again one of the many that nobody can do without",
    ],
)
def test_whoever_wants_more_gets_the_same_first(
    years: Index, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    """Also where more of them are sought further back, or match alike, or are of the same moment."""
    monkeypatch.setattr(lexical, "_MAX_RECENCY_SORTED_HITS", 20)
    line = "at the harbour again, one of the many that nobody can do without"
    years.add(entry(2000 + each, line, at=(each % 7) * WEEK) for each in range(100))
    years.add(entry(3000 + each, f"no way to the {line[7:]}", at=500 * WEEK) for each in range(30))
    years.commit(3030)
    few, more, every = (
        [hit.key for hit in years.search(parse(query), limit=limit).entries] for limit in (20, 80, 1000)
    )

    assert (20, 80) == (len(few), len(more))
    assert (few, more) == (more[:20], every[:80])
    assert len(set(every)) == len(every)


def test_the_newest_are_enough_that_have_what_is_in_quotes(
    years: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All have it as it was asked for; of those with words, many are ranked."""
    monkeypatch.setattr(reach, "_MIN_HITS", 1000)
    row, words = (years.search(parse(text), limit=10) for text in ('"usual word"', "usual word"))

    assert 281 * WEEK == row.since
    assert words.since is None


@pytest.mark.parametrize(
    "query", ['"at last usual"', "at last word", '"word without"', "the usual before:1970-03-12"]
)
def test_frequent_words_that_are_seldom_together_are_found_wherever_they_are(
    years: Index, query: str
) -> None:
    ranking = years.search(parse(query), limit=10)

    assert ranking.since is None
    assert {1000, 1001} & {hit.key for hit in ranking.entries}


def test_the_newest_come_first_though_not_all_were_looked_at(years: Index) -> None:
    ranking = years.search(parse("role:assistant"), limit=3)

    assert [601, 599, 597] == [hit.key for hit in ranking.entries]
    assert ranking.since is None


def test_nothing_is_reported_of_what_follows_those_with_all_words(years: Index) -> None:
    few = years.rank(parse("the word it is at last"), 10)
    assert (1000, None) == (few.entries[0].key, few.since)
    assert len(few.entries) > 1
    none = years.rank(parse("the harbour it is nowhere of"), 10)
    assert none.since is None, "the rarer words are looked for everywhere"
