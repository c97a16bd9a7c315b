"""What looks like a secret but is not: placeholders, references, words, examples."""

from __future__ import annotations

import re
from collections import Counter
from math import log2

# Each is long or delimited, so that random characters do not contain it by chance.
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
LETTER_DIGIT_CHANGE = re.compile("[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_EXAMINED_CHARS = 64
_MIN_DIGITLESS_CHARS = 40
_MIN_RANDOM_CHARS = 8


def is_not_placeholder(_match: re.Match[str] | None, value: str) -> bool:
    """Whether a value does not say that it is an example."""
    return _PLACEHOLDER.search(value) is None


def is_mixed(match: re.Match[str] | None, value: str) -> bool:
    """Whether a token has letters and digits, or is longer than any word, and is not a placeholder."""
    body = value[3:]
    is_token = len(body) >= _MIN_DIGITLESS_CHARS or (has_digit(body) and any(map(str.isalpha, body)))
    return is_token and is_not_placeholder(match, value)


def has_digit(text: str) -> bool:
    """Whether a text contains an ASCII digit."""
    return any("0" <= character <= "9" for character in text)


def is_reference(text: str) -> bool:
    """Whether a value says where the secret is stored, rather than being the secret."""
    return _REFERENCE.match(text) is not None


def is_word(text: str) -> bool:
    """Whether a value is a word that programs and manuals put where a secret would be."""
    return _WORDS.fullmatch(text.rstrip(".!?:")) is not None


def is_random(text: str) -> bool:
    """Whether a machine made a value: some piece of it alternates between letters and digits."""
    if LETTER_DIGIT_CHANGE.search(text, 0, _EXAMINED_CHARS) is None or entropy(text) <= _min_entropy_bits(
        len(text)
    ):
        return False
    pieces = (piece for piece in _SEPARATORS.split(text) if len(piece) >= _MIN_RANDOM_CHARS)
    return any(len(LETTER_DIGIT_CHANGE.findall(piece)) >= _min_changes(len(piece)) for piece in pieces)


def _min_changes(length: int) -> int:
    """How often letters and digits alternate at least: `base64url` is a word, 20 characters are not."""
    return 3 if length < 16 else 2 if length < 20 else 1  # noqa: PLR2004 (as above)


def _min_entropy_bits(length: int) -> float:
    """Bits per character: 16 random hexadecimal digits have 3.1 on average, 40 of them 3.7."""
    return 2.5 if length < 24 else 2.9  # noqa: PLR2004 (as above)


def entropy(text: str) -> float:
    """Shannon entropy of a text in bits per character."""
    size = len(text)
    return -sum(count / size * log2(count / size) for count in Counter(text).values()) if text else 0.0
