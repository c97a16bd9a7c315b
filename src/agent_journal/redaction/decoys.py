"""What looks like a secret and is none: placeholders, references to elsewhere, words, examples."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

# Each is long or set off, so that it is not met by chance in random characters.
_PLACEHOLDER = re.compile(
    r"example|placeholder|redacted|change[_-]?me|replace[_-]?(?:me|with|this)|to[_-]?be[_-]?replaced"
    r"|your[_-]|[_-]your|insert[_-]|[_-]here\b|x{6}|\*{3}|\.\.\.|…|•{3}|#{4}|_{5}"
    r"|(?:^|[_.-])(?:fake|dummy|sample|mock|demo|foobar|todo|tbd)(?:$|[_.-])",
    re.IGNORECASE,
)
# A value that is looked up when it is needed: $NAME, ${NAME}, {{ name }}, %NAME%, <name>, op://vault/item.
_REFERENCE = re.compile(
    r"[$<\[]|\{\{|\{[A-Za-z_]|%[A-Za-z_(]|@@|op://|vault:|arn:|ssm:|projects/|file:|/|~/|\./"
    r"|(?:process|os|import\.meta|std|System|Deno|Bun)\.|env[.(\[:]|ENV[.\[]|secrets?[.(\[]|config[.(\[]|vars?[.(]",
)
_WORDS = re.compile(
    r"(?:my[_-]?)?(?:password|passwd|pass|pwd|secret|token|key|api[_-]?key|secret[_-]?key|credentials?)[0-9]?s?"
    r"|user(?:name)?|admin|root|guest|test(?:ing)?|none|null|nil|true|false|undefined|empty|default|strings?|text"
    r"|str|bytes|number|boolean|object|any|required|optional|hidden|unknown|invalid|missing|incorrect|wrong"
    r"|postgres(?:ql)?|mysql|mongo(?:db)?|redis|rabbitmq|minioadmin|localhost|letmein|qwerty|basic|bearer"
    r"|authorization|oauth2?|digest|ntlm|negotiate|kerberos|base64|sha1|sha256|sha512|md5|argon2(?:id)?|bcrypt|pbkdf2|scrypt|utf8",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[-_./:=+~]+")
MIXED = re.compile("[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_SEEN = 64
_LONGER_THAN_WORDS = 40
_RANDOM_PIECE = 8


def is_no_placeholder(_match: re.Match[str] | None, found: str) -> bool:
    """Whether it may be real: it does not say that it is an example."""
    return _PLACEHOLDER.search(found) is None


def is_mixed(match: re.Match[str] | None, found: str) -> bool:
    """Whether it has letters and digits, or is longer than any word, and may be real."""
    body = found[3:]
    is_token = len(body) >= _LONGER_THAN_WORDS or (has_digit(body) and any(map(str.isalpha, body)))
    return is_token and is_no_placeholder(match, found)


def has_digit(text: str) -> bool:
    """Whether there is a digit in it."""
    return any("0" <= character <= "9" for character in text)


def is_reference(text: str) -> bool:
    """Whether it says where the secret is kept, rather than the secret."""
    return _REFERENCE.match(text) is not None


def is_word(text: str) -> bool:
    """Whether it is one of the words that stand where a secret would."""
    return _WORDS.fullmatch(text.rstrip(".!?:")) is not None


def is_random(text: str) -> bool:
    """Whether no person made it up: some piece of it goes to and fro between letters and digits."""
    if MIXED.search(text, 0, _SEEN) is None or entropy(text) <= _least_entropy(len(text)):
        return False
    pieces = (piece for piece in _SEPARATORS.split(text) if len(piece) >= _RANDOM_PIECE)
    return any(len(MIXED.findall(piece)) >= _changes(len(piece)) for piece in pieces)


def _changes(length: int) -> int:
    """How often letters and digits change at least: `base64url` is a word, 20 characters are none."""
    return 3 if length < 16 else 2 if length < 20 else 1  # noqa: PLR2004 (as above)


def _least_entropy(length: int) -> float:
    """Sixteen hexadecimal digits at random have 3.1 bits per character on average, 40 of them 3.7."""
    return 2.5 if length < 24 else 2.9  # noqa: PLR2004 (as above)


def entropy(text: str) -> float:
    """Bits per character, by how often each occurs in it."""
    size = len(text)
    return -sum(count / size * log2(count / size) for count in Counter(text).values()) if text else 0.0
