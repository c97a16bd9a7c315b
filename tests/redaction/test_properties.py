"""Properties of redaction for any text: no exceptions, only findings change, idempotent, linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from agent_journal.model import Item, Memory
from agent_journal.redaction import redact
from agent_journal.redaction.assignments import ASSIGNMENTS, PLAIN_PASSWORDS
from agent_journal.redaction.contexts import CONTEXTS
from agent_journal.redaction.network import NETWORK
from agent_journal.redaction.personal import PERSONAL
from agent_journal.redaction.rules import EDGE, Rule
from agent_journal.redaction.scan import scanner
from agent_journal.redaction.tokens import TOKENS
from agent_journal.redaction.wallets import PHRASES
from tests.examples import examples
from tests.models import items as any_items
from tests.redaction import leaks, zoo
from tests.redaction.redacting import redacted_text

RULES = [*TOKENS, *PHRASES, *NETWORK, *CONTEXTS, *ASSIGNMENTS, *PLAIN_PASSWORDS, *PERSONAL]
MARK = re.compile(r"\[REDACTED:[a-z0-9-]+\]")
credentials = st.sampled_from([*zoo.STANDING_ALONE, *zoo.IN_CONTEXT, *zoo.PERSONAL]).map(
    lambda each: each.text
)
pieces = st.one_of(
    credentials,
    st.sampled_from(zoo.DECOYS),
    st.text(max_size=20),
    st.sampled_from(
        ["password", "=", ": ", '"', "\\", "\n", "://", "@", "<b>", "**", "token", "sk-", "AKIA", "eyJ"]
    ),
)
texts = st.lists(pieces, max_size=6).map("".join)
many_examples = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@many_examples
@given(text=texts)
@example(text="password=[REDACTED:password]1")
@example(text="token: token: token: ")
def test_redaction_is_idempotent(text: str) -> None:
    for personal in (False, True):
        once = redacted_text(text, personal=personal)

        assert once == redacted_text(once, personal=personal)


@many_examples
@given(text=texts)
def test_nothing_but_findings_changes(text: str) -> None:
    place = 0
    for unchanged in MARK.split(redacted_text(text, personal=True)):
        start = text.find(unchanged, place)
        assert start >= 0
        place = start + len(unchanged)


@settings(
    max_examples=examples(60), derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(item=any_items)
def test_any_item(item: Item) -> None:
    redacted = redact(item, personal=True)

    assert bool(redacted.findings) == (redacted.item is not item)
    assert [] == redact(redacted.item, personal=True).findings


@many_examples
@given(
    credential=st.sampled_from([*zoo.STANDING_ALONE, *zoo.IN_CONTEXT]),
    before=st.integers(0, 700),
    cut=st.text(" \n", min_size=1, max_size=1),
)
def test_a_secret_is_found_anywhere_in_a_long_text(credential: zoo.Credential, before: int, cut: str) -> None:
    words = "lorem ipsum dolor sit amet " * 40
    text = f"{words[:before]}{cut}{credential.text}{cut}{words}"

    assert credential.secret not in redacted_text(text)


TOKENS_ALONE = [rule for rule in RULES if rule.before == EDGE and "+)" not in rule.pattern]


@pytest.mark.parametrize("rule", TOKENS_ALONE, ids=lambda rule: f"{rule.kind} {rule.pattern[:12]}")
@settings(max_examples=5, derandomize=True, deadline=None, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_whatever_a_pattern_matches_is_found(rule: Rule, data: st.DataObject) -> None:
    """Texts made of the pattern itself: no trigger dismisses them, no other rule takes a part only."""
    secret = data.draw(st.from_regex(re.compile(rule.pattern, re.ASCII), fullmatch=True))
    match = re.fullmatch(rule.pattern, secret)
    assume(match is not None and rule.check(match, secret))

    assert MARK.fullmatch(redacted_text(f" {secret} ").strip())


def test_the_zoo_covers_every_rule_that_needs_a_context() -> None:
    texts = [credential.text for credential in (*zoo.STANDING_ALONE, *zoo.IN_CONTEXT, *zoo.PERSONAL)]
    texts += [leak.text for leak in leaks.LEAKS]
    contextual = [rule for rule in RULES if rule not in TOKENS_ALONE]
    unmet = [
        rule.kind
        for rule in contextual
        if not any(re.search(f"{rule.before}(?:{rule.pattern}){rule.after}", text) for text in texts)
    ]

    assert [] == unmet


ENDLESS = (
    *("a", "1", "A1", "aB3", "-", "=", "\\", '"', "<", "/", "@", ":", "é"),
    *(
        "sk-",
        "sk-a1",
        "AKIA",
        "xoxb-a1-",
        "eyJ",
        ".eyJ",
        "eyJaaaaaaaaaaaa.",
        "ghp_",
        "hv",
        "glpat-",
        "SG.",
        "dapi",
    ),
    *(
        "password=",
        "password: ",
        'password="',
        "password: token: ",
        "secret=a1",
        "_pass=",
        "token_key_",
        "auth",
    ),
    *(
        "://",
        "://a:",
        "://a:b@",
        "Bearer ",
        "Basic ",
        "cookie: a=",
        "--password ",
        "-u a:",
        "mysql -p ",
        "login a ",
        "QUJD",
        "QUJD/",
        "htpasswd -b a ",
        "echo a | sudo -S ",
        "a:5432:b:c:",
        'password="a b',
        "Authorization: ",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEAMIIEpA\n",
        "Private-Lines: 1\n",
    ),
    *("<b>", "a<b>", "\x1b[m", "a\x1b[1m", "**", "a**", "\\\n", 'a" + "', "\u200b"),
    *(
        "abandon ",
        "abandon ability ",
        "word, ",
        "a1\n",
        '["a","',
        "abandon\n1. ",
        "\\n",
        "\\u003d",
        "=3D",
        "=\n",
        "%3D",
    ),
    *(
        "password%3D",
        "password\\u003d",
        "&quot;",
        "&amp;#61;",
        "%25",
        "\\x1b[32m",
        "\\033[",
        "\x1b]8;;",
        "^[[1m",
        "[1m",
    ),
    *("ghp_a1B2\n", "eyJabcdA1\n", "sk-ant-api03-aB1\n> ", 'ghp_a1B2c3D4","', "ghp_aB1 \\\n", "A1b2C3d4\n"),
    *(
        "-----BEGIN PRIVATE KEY-----\n+",
        "-----END PRIVATE KEY-----\n",
        "MIIEpAIBAAKCAQEAMIIEpA\n-----END PRIVATE KEY-----",
    ),
    *(
        "---- BEGIN ",
        "-----BEGIN RSA ",
        "Private-Lines: 1\nMIIEpAIBAAKCAQEA\n",
        "RWRTY0Iy",
        "-----BEGIN PRIVATE KEY-----\nx\n",
    ),
    *(
        "TRUE\t/\tTRUE\t0\ta\t",
        "curl -b a=",
        "curl ",
        "cookies={",
        "psk=",
        "auth=('a','",
        "define('DB_PASSWORD','",
        "AUTH_KEY='",
    ),
    *(
        "https://a1b2c3d4e5f6g7h8",
        "bot12345678:",
        "5KJvsngHeMpm884wtkJNzQ",
        "xprv9s21ZrQH",
        "_PAT=a1",
        "_salt=a1",
        '"d":"a1',
        '"kty":',
    ),
    *(
        '"password": "sword',
        "password: sword\n",
        "  password:  ",
        "x_password",
        "wpa_passphrase a ",
        '["-p","',
    ),
    *("a@a.", "a@", "+1 ", "0171 ", "4111 ", "DE89 ", "1.1.1.", "123-45-"),
)


@pytest.mark.parametrize("unit", ENDLESS)
def test_endless_repetition_takes_linear_time(unit: str) -> None:
    """An expression that tries again and again would take minutes for this."""
    text = (unit * 20_000)[:20_000]

    assert redacted_text(text, personal=True)


BEFORE = ["", " ", "\n", "\t", "\r", '"', "\\", "\x1b", "\x7f", "é ", "（", "\n\n> "]


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("secret", sorted({each.secret for each in zoo.PERSONAL}))
def test_personal_data_is_found_after_any_character(before: str, secret: str) -> None:
    """Also where JSON, in which an item is looked at first, has letters for it."""
    memory = Memory(id="1", source="x", kind="k", text=f"{before}{secret} is it")

    assert 1 == len(redact(memory, personal=True).findings)


def test_ids_pass_the_prefilter() -> None:
    """Otherwise most of the time goes to texts in which nothing is but an id that is full of digits."""
    ids = (
        "68088320-148c-44ac-8060-8717f1cdc91a",
        "47e97401-0813-4877-4058-601639029384",
        "00229b67f1aa269574983576e67cfd3e",
    )

    assert all(
        scanner(personal=True).is_trivially_clean(f'{{"id":"{each}","parent_id":"{each}"}}') for each in ids
    )
