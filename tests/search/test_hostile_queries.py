"""Whatever is typed is a query: an answer comes, and no exception."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal.search.entry import Entry
from agent_journal.search.lexical import Index
from agent_journal.search.marking import Highlighter
from agent_journal.search.query import Filters, Query, Term, parse
from agent_journal.search.questions import describe_group
from agent_journal.search.scanning import Scan
from tests.examples import examples

TEXTS = [
    "when to retry a request: parseHttpHeader(text) in src/http/header.py",
    "私は東京大学に行きました test",
    "NUL \0 and \ud800 and AND OR NOT text:word [a TO b] (c) ^2 ~1 /re/ \\ {} <>",
]

ENTRIES = [Entry(key, 1, "user", "one", "/p", "m", key, text=text) for key, text in enumerate(TEXTS, 1)]

HOSTILE = [
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udc80 word",
    '"',
    '""',
    '"""',
    '"unbalanced',
    "'",
    "-",
    "--",
    '-"',
    '-""',
    "*",
    "**",
    "a*",
    "*a",
    "OR",
    "OR OR",
    "a OR",
    "OR a",
    "-OR",
    "AND NOT OR",
    "text:word",
    "key:[0 TO 99]",
    "mark:1",
    "(((((((",
    "a AND (b OR",
    "/(a+)+$/",
    "word^1000000",
    "word~2",
    "\\",
    "{!}",
    "<script>alert(1)</script>",
    "' OR 1=1; DROP TABLE messages; --",
    "\u202e\u200b\ufeff",
    "\U0010ffff",
    "́",
    "İ",
    "ﷺ",
    "x" * 1_000_000,
    "x " * 500_000,
    '"' * 1_000_000,
    '"' + "x " * 500_000,
    "- " * 100_000,
    "東" * 300_000,
    "-x OR " * 100_000,
    "aB" * 100_000,
    "a*b* " * 1000,
    "_" * 100_000,
    " ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz") * 4,
    "source:" * 5000,
    "source:a," * 5000,
    "-source:x project: model:, role:tool in:text,tool,title has:error since:1 until:9999-99-99",
    'title:"' * 1000,
    "since:0000-00-00 until:99999999999y before:-1d after:1e9",
    'project:"../../etc/passwd" branch:\0 tool:\ud800',
    "\n".join(f'  File "/x/{number}.py", line {number}, in f' for number in range(2000)),
    "aaaaaaaaaa " + "recieve" * 500,
    "zzzzzzzz yyyyyyyy xxxxxxxx wwwwwwww vvvvvvvv uuuuuuuu tttttttt ssssssss rrrrrrrr",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    index = Index.open(Path(tmp_path_factory.mktemp("hostile")) / "words")
    index.add(ENTRIES)
    index.commit(len(TEXTS))
    return index


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile(index: Index, text: str) -> None:
    query, _ = index.correct(parse(text, now=1e9))
    index.rank(query, 10)
    check_counts(index, query)
    Highlighter(query).snippet([("text", text) for text in TEXTS])
    assert Scan(lambda: ENTRIES, lambda _: ["one"]).rank(query, 10) is not None
    index.search(parse(text, Filters(sources=(text,), fields=("tool", text))), limit=10)


@given(st.text())
@settings(deadline=None)
def test_any_text(index: Index, text: str) -> None:
    index.search(parse(text), limit=10)


WORDS = [
    "retry",
    "parse",
    "HttpHeader",
    "東京",
    "大",
    "header.py",
    "tes",
    "é",
    "\0",
    "\ud800",
    "OR",
    "text:",
    "TO",
    "source:one",
    "-role:user",
    "since:2d",
    "title:",
    "has:error",
    "requst",
]
PIECES = st.sampled_from([*WORDS, *" \"-*:/_()[]^~\\{}\n'1"])


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(deadline=None, max_examples=examples(150))
def test_any_grammar(index: Index, text: str) -> None:
    everything_takes(index, text)


def check_counts(index: Index, query: Query) -> None:
    """Facets count what matches, and what is missing is in no entry."""
    facets, keys = index.facets(query), set(index.matching_keys(query, 10))
    if keys:
        assert (len(keys), len(keys), True) == (
            facets.total,
            sum(each.matches for each in facets.values["source"]),
            facets.has_all_words,
        )
    assert index.keys_with_words(query, [1, 2, 3]) <= {1, 2, 3}
    for group in index.read_question(query).absent:
        assert describe_group(group)
        assert (
            [] == index.search(Query((group,), filters=Filters(fields=query.filters.fields)), limit=1).entries
        )


def everything_takes(index: Index, text: str) -> None:
    """Index, snippets and rows make something of a text, and agree on what must not be found."""
    query, _ = index.correct(parse(text, now=1e9))
    found = {each.key for each in index.rank(query, 10).entries}
    assert found <= set(range(1, len(TEXTS) + 1))
    check_counts(index, query)
    Highlighter(query).snippet(("text", each) for each in TEXTS)
    scan = Scan(lambda: ENTRIES, lambda _: ["one"])
    scanned = {each.key for each in scan.rank(query._replace(groups=()), 10).entries}
    assert found <= scanned or scanned == set()


@pytest.mark.skipif("AJ_FUZZ" not in os.environ, reason="takes minutes; AJ_FUZZ=1 runs it")
@given(st.lists(PIECES | st.text(max_size=5), max_size=80).map("".join))
@settings(deadline=None, max_examples=20_000)
def test_any_grammar_for_long(index: Index, text: str) -> None:
    everything_takes(index, text)


TERMS = st.builds(Term, st.text(), quoted=st.booleans(), prefix=st.booleans())
NAMES = st.lists(st.text(max_size=9), max_size=2).map(tuple)
CONVERSATIONS = st.lists(st.integers(), max_size=2).map(tuple)
MOMENTS = st.none() | st.integers()


@given(
    st.builds(
        Query,
        st.lists(st.lists(TERMS, max_size=3).map(tuple), max_size=4).map(tuple),
        st.lists(TERMS, max_size=3).map(tuple),
        st.builds(Filters, NAMES, NAMES, NAMES, NAMES, MOMENTS, MOMENTS, CONVERSATIONS),
        st.none() | st.integers(),
    )
)
@settings(deadline=None)
def test_any_query(index: Index, query: Query) -> None:
    """Also one that nobody can type, from a program."""
    index.search(query, limit=10)


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (2**62, 0), (5, 2**62), (2**100, 2**100)])
def test_any_page(index: Index, limit: int, offset: int) -> None:
    index.search(parse("retry"), limit=limit, offset=offset)


@given(st.text(), st.sampled_from(["retry", "東京大学", "parseHttpHeader", '"to retry"']))
@settings(deadline=None)
def test_what_is_unwanted_only_takes_away(index: Index, text: str, word: str) -> None:
    query = parse(text)
    less = Query(query.groups, (*query.negated, *(term for group in parse(word).groups for term in group)))
    if query.groups:
        all_of_them = {hit.key for hit in index.search(query, limit=10).entries}
        assert {hit.key for hit in index.search(less, limit=10).entries} <= all_of_them


@given(st.text(min_size=1))
@settings(deadline=None)
def test_reading_a_query_is_the_same_every_time(text: str) -> None:
    assert parse(text) == parse(text)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("two words", ((Term("two"),), (Term("words"),)), ()),
        ("two two", ((Term("two"),),), ()),
        ('"a phrase" word', ((Term("a phrase", quoted=True),), (Term("word"),)), ()),
        ('say "not closed', ((Term("say"),), (Term("not closed", quoted=True),)), ()),
        ("this -that", ((Term("this"),),), (Term("that"),)),
        ("this -t", ((Term("this"),), (Term("t"),)), ()),
        ('this -"t" -表', ((Term("this"),),), (Term("t", quoted=True), Term("表"))),
        ('-"this one"', (), (Term("this one", quoted=True),)),
        ("a-b", ((Term("a-b"),),), ()),
        ("pre*", ((Term("pre", prefix=True),),), ()),
        ("this OR that other", ((Term("this"), Term("that")), (Term("other"),)), ()),
        ("this AND that", ((Term("this"),), (Term("that"),)), ()),
        (
            'AND this "AND" and',
            ((Term("AND"),), (Term("this"),), (Term("AND", quoted=True),), (Term("and"),)),
            (),
        ),
        ("OR this", ((Term("OR"),), (Term("this"),)), ()),
        ("this or that", ((Term("this"),), (Term("or"),), (Term("that"),)), ()),
        ("– ... !", (), ()),
    ],
)
def test_parse(text: str, wanted: tuple[tuple[Term, ...], ...], unwanted: tuple[Term, ...]) -> None:
    assert parse(text) == Query(wanted, unwanted)
