"""Passwords and keys, recognized by the name they are assigned to: `DB_PASSWORD=…`, `"apiKey": "…"`."""

from __future__ import annotations

import re

from agent_journal.redaction import decoys
from agent_journal.redaction.rules import Rule

_PASSWORDS = r"passw(?:or)?d|passphrase|passcode|passwort|pwd"
_KEY = (
    r"(?:api|auth|access|private|secret|account|signing|encryption|master|storage|service|license|subscription"
    r"|shared|app|admin|deploy|webhook|session|jwt|hmac)[ _-]?key|secret|token|credentials?|auth"
)
# A personal access token: GITHUB_PAT, ghPat; not a path, a pattern or compat.
_PAT = r"(?:(?<![A-Za-z0-9])(?i:pat)|(?<=[a-z])Pat|(?<=[A-Z])PAT)(?![A-Za-z])"
_SUFFIX = r"(?:[ _-]?(?:access|key|base|value|plain|prod|dev|live|test|staging|new|old|[0-9]{1,2})){0,2}"
_QUOTE = r"""(?:\\*["'`]|&quot;|&#39;)"""
# Between two fields of a record there may be a line break, which is `\n` within JSON, and a boolean field.
_GAP = r"(?:\s|\\+[nrt])"
_SWITCH = rf"""\\*["'][A-Za-z]{{1,20}}\\*["']:[ \t]?(?:true|false|null),{_GAP}{{0,24}}"""
# `= "`, `: `, `\": \"`, `=>`, `:=`, ` [None]: `, `:** ` in Markdown, `: str = ` with a type, `", ` in a call,
# `||`, `??` and `) or` before a default; also `"name": "X", "value": "` and `name: X`, `value: ` on the next
# line, as in the environments of JSON and YAML files.
_SIGN = (
    rf"(?:{_QUOTE}?\]?(?: \[[A-Za-z0-9*]{{0,24}}\])?[ \t]{{0,8}}(?:={{1,3}}>?|:=|:(?:\*\*)?"
    r"|:[ \t]?&?[A-Za-z][A-Za-z.\[\]|]{0,24}[ \t]?=|\|\|=?|\?\?=?"
    rf"""|(?:,|{_GAP}){_GAP}{{0,24}}(?:{_SWITCH})?\\*["']?value\\*["']?[ \t]?[:=])"""
    rf"|{_QUOTE}(?:,|\)[ \t]or))[ \t]{{0,8}}"
)
_QUOTED = r"""[^\s"'`\\<>]"""
# Between double quotes; not where single quotes end a string that continues after a plus sign.
_IN_DOUBLE_QUOTES = r"""(?:(?!'[+.]|[+.]')[^\s"\\])"""
# What a value may contain within JSON before the characters that make it a secret.
_ANY_IN_JSON = r"""(?:[^\s"\\]|\\+[^\snrt])"""
_BARE = r"""[^\s"'`\\<>,;(){}\[\]|&=]"""
_MAX_VALUE_CHARS, _MAX_NAME_CHARS = 600, 40
_MIN_PASSWORD_CHARS, _MIN_SECRET_CHARS, _MIN_KEY_CHARS = 6, 8, 16

_COOKIES = ("cookie", "set-cookie")
_NAME = re.compile(rf"(?:{_PASSWORDS}|pass|{_KEY}|pat|secret_key_base|app_key){_SUFFIX}", re.IGNORECASE)
_FIELD = re.compile(rf"([A-Za-z0-9_.-]{{0,200}}?){_NAME.pattern}", re.IGNORECASE)
_IS_PASSWORD = re.compile(r"pass|pwd", re.IGNORECASE)
_BEFORE_NAME = re.compile(r"[A-Za-z0-9_.-]{0,40}\Z")
# Words before the name that make the value public.
_PUBLIC = re.compile(
    r"(?:page|next|prev|previous|starting|continuation|pagination|cursor|max|min|num|input|output|prompt|completion|total"
    r"|cached?|stop|bos|eos|pad|unk|special|public(?:[_.-]?key)?|publishable|type|(?<!r)sync|lock|cancel|cancellation|design|syntax"
    r"|lexer|parser|idempotency)[_.-]?\Z",
    re.IGNORECASE,
)


_ENDS_WITH_PAT = re.compile("[a-z]pat[0-9]?\\Z")  # compat


def kind_of_field(name: str, value: str) -> str | None:
    """Return the kind of secret in a field of a record, going by its name; None if it is not a secret."""
    if name.lower() in _COOKIES:
        return "cookie" if decoys.is_random(value) and _may_be_real(value) else None
    named = _FIELD.fullmatch(name)
    if named is None or _PUBLIC.search(named[1]) or _ENDS_WITH_PAT.search(name):
        return None
    if any(map(str.isspace, value)):
        return "password" if _IS_PASSWORD.search(name) and _is_phrase(value) else None
    if _IS_PASSWORD.search(name) and _is_plain_password(value):
        return "password"
    return _kind(name) if _is_secret(name, value) else None


def _kind(name: str) -> str:
    lower = name.lower()
    if _IS_PASSWORD.search(lower):
        return "password"
    if "aws" in lower and "secret" in lower:
        return "aws-secret-key"
    return "token" if "token" in lower else "api-key" if "key" in lower else "secret"


def _is_secret(name: str, value: str) -> bool:
    """Whether an assigned value is a secret, not a word, a placeholder or a piece of code."""
    if not _may_be_real(value):
        return False
    if _IS_PASSWORD.search(name):
        return len(value) >= _MIN_PASSWORD_CHARS and _is_password(value)
    min_chars = _MIN_SECRET_CHARS if "secret" in name.lower() else _MIN_KEY_CHARS
    return len(value) >= min_chars and decoys.is_random(value)


def _may_be_real(value: str) -> bool:
    return not (decoys.is_reference(value) or decoys.is_word(value)) and decoys.is_not_placeholder(
        None, value
    )


_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.+-]+@[\w-]+\.[\w.]+\Z|[0-9a-z.-]+:[0-9]+\Z", re.IGNORECASE)
_IN_PROGRAM = re.compile(r"[(){}\[\];]|=>|->|::|\|\||&&|==|\w\.[a-z_]+\Z")
_SYMBOLS = frozenset("!@#$%^&*+?~,")
_MIN_CHARACTER_CLASSES = 3


def _is_password(value: str) -> bool:
    """Whether a value may be a password: `hunter2`, `Tr0ub4dor&3`; not a word, a name or a function call."""
    if _ADDRESS.match(value) or _IN_PROGRAM.search(value.rstrip("=")):  # as base64 ends
        return False
    if value.endswith("?") and value[:-1].isalpha():  # `Forgot?`
        return False
    digits, symbols = decoys.has_digit(value), not _SYMBOLS.isdisjoint(value)
    lower, upper = any(map(str.islower, value)), any(map(str.isupper, value))
    if value.isalnum():
        return digits and (lower or upper)
    return (digits or symbols) and sum((lower, upper, digits, symbols)) >= _MIN_CHARACTER_CLASSES


# Words in the place of a password in types, forms, messages and programs, which people do not choose.
_LABELS = re.compile(
    r"accepted|argument|arguments|auth|authenticated|bigint|binary|blank|boolean|buffer|bytearray|bytes"
    r"|cannot|changed|char|character|characters|checked|clear|cleared|column|compare|config|configured"
    r"|confirm|confirmed|correct|creds|data|disabled|email|enabled|encoded|encrypt|encrypted|encryption"
    r"|enter|env|error|expired|external|failed|field|filled|forgot|forgotten|form|generate|generated"
    r"|given|hash|hashed|hashing|hide|ignored|incorrect|input|inputs|integer|interactive|internal"
    r"|invalid|keychain|keyring|length|locked|manual|masked|match|matches|maximum|minimum|missing"
    r"|mismatch|needed|never|nothing|nullable|number|object|omitted|optional|outlined|param|parameter"
    r"|parameters|params|plain|plaintext|please|preview|private|prompt|protected|provided|public|random"
    r"|readonly|recover|remember|removed|repeat|required|reset|rotate|rotated|sensitive|setting|settings"
    r"|shadow|show|stored|strength|strong|submit|success|symbol|unchanged|unknown|unset|update|updated"
    r"|updating|user|valid|validate|validated|validation|value|values|varchar|variable|verified|verify"
    r"|visible|weak|with|without|yes|zeroize"
)
# The word for a password, in English and in forms in other languages, and what stores or names one.
_WORDS_FOR_PASSWORD = re.compile(
    r"pass|pwd|secret|token|credential|login|contrase|clave|senha|palavra|parol|wachtwoord|kennwort|motdepasse|hasl|heslo|jelsz"
    r"|lozink|sala[ns]|adgang|l[oö]senord|[şs]ifre|\u043f\u0430\u0440\u043e\u043b|mật|\u5bc6|\u6697|\u30d1\u30b9|\ube44\ubc00|vault|bcrypt|sha\d|string",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]+(?:[-_.!][^\W\d_]+)*!{0,3}")
_CAMEL_CASE = re.compile("[a-z][A-Z]")


def _is_plain_password(value: str) -> bool:
    """Whether a word without digits, as a whole value, is a password: `swordfish`, not `Required`."""
    if len(value) < _MIN_PASSWORD_CHARS or len(value) > _MAX_NAME_CHARS or _LETTERS.fullmatch(value) is None:
        return False
    is_capitalized = value.isupper() or value.istitle()
    is_program = _ADDRESS.match(value) is not None or _IN_PROGRAM.search(value) is not None or "." in value
    is_about_password = (
        _LABELS.fullmatch(value.lower().rstrip("!")) is not None
        or _WORDS_FOR_PASSWORD.search(value) is not None
    )
    return not (is_capitalized or is_program or is_about_password) and _may_be_real(value)


_MIN_PHRASE_CHARS, _MAX_PHRASE_CHARS = 10, 80
# Words of sentences about passwords in forms and messages, and characters that passphrases do not have.
_SENTENCE = re.compile(
    r"pass|pwd|contrase|senha|parol|wachtwoord|парол|密[码碼]|暗証|パス|비밀|secret|[(){}\[\]<>%:;=|…]|\.(?:\s|\Z)|\n"
    r"|\b(?:a|an|and|any|are|at|be|by|can|do|enter|for|from|has|if|in|is|it|least|may|must|new|no|not|of|on|only|or"
    r"|please|set|should|that|the|this|to|type|use|used|was|when|will|with|you|your|characters|digits?|letters?)\b",
    re.IGNORECASE,
)


def _is_phrase(value: str) -> bool:
    """Whether words may be a passphrase, not a sentence about passwords."""
    is_sentence = _SENTENCE.search(value) is not None
    return _MIN_PHRASE_CHARS <= len(value) <= _MAX_PHRASE_CHARS and not is_sentence and _may_be_real(value)


# ── In text ──


def _assigned_name(match: re.Match[str]) -> str:
    """The whole name that a value is assigned to."""
    text, start = match.string, match.start()
    before = _BEFORE_NAME.search(text, max(0, start - _MAX_NAME_CHARS), start)
    named = _NAME.match(text, start)
    return f"{before[0] if before else ''}{named[0] if named else ''}"


def _kind_of_match(match: re.Match[str]) -> str:
    return _kind(_assigned_name(match))


def _is_assigned(match: re.Match[str], value: str) -> bool:
    name = _assigned_name(match)
    field = _FIELD.fullmatch(name)
    if field is None or _PUBLIC.search(field[1]):
        return False
    before = match.string[match.start() : match.start(match.lastgroup or 0)]
    if "," in before and "value" not in before:  # in a call, or in a list of names
        is_quoted = before.endswith(('"', "'", "`"))
        return is_quoted and len(value) >= _MIN_KEY_CHARS and _may_be_real(value) and decoys.is_random(value)
    is_bare = before.endswith("=")
    if is_bare and name.isupper() and _IS_PASSWORD.search(name):
        # As in a shell or an .env file, where any word may be a password.
        return len(value) >= _MIN_PASSWORD_CHARS and _may_be_real(value) and not value.isupper()
    return _is_secret(name, value)


def _is_assigned_phrase(match: re.Match[str], value: str) -> bool:
    """Whether an assigned text is a passphrase: in code only with a digit, as it may be a message there."""
    before = match.string[match.start() : match.start(match.lastgroup or 0)]
    is_in_shell = _assigned_name(match).isupper() and before.rstrip("\\\"'`").endswith("=")
    return "," not in before and _is_phrase(value) and (is_in_shell or decoys.has_digit(value))


# A key mixes letters and digits, a password has a digit or a symbol; after `DB_PASSWORD=` it may be a word.
_TRIGGER = (
    rf"(?i:(?:{_KEY}){_SUFFIX}){_SIGN}{_QUOTE}?{_ANY_IN_JSON}{{0,64}}(?:[A-Za-z][0-9]|[0-9][A-Za-z])"
    rf"|(?i:(?:{_PASSWORDS}|(?:^|[^A-Za-z])pass){_SUFFIX}){_SIGN}{_QUOTE}?{_ANY_IN_JSON}{{0,64}}[0-9!@#$%^&*+?~,]"
    rf"|(?:PASSW(?:OR)?D|PASSPHRASE|PASSCODE|PWD|_PASS)[A-Z0-9_]{{0,12}}={_BARE}{{6}}"
)


def _rule(before_value: str, value: str, after: str, edge: str = "(?<![A-Za-z])") -> Rule:
    return Rule(
        kind="secret",
        before=rf"(?i:(?:{_PASSWORDS}|{edge}pass|{_KEY}){_SUFFIX}){_SIGN}{before_value}",
        pattern=value,
        after=after,
        trigger=_TRIGGER,
        check=_is_assigned,
        find_kind=_kind_of_match,
    )


def _repeated(character: str) -> str:
    return f"{character}{{{_MIN_PASSWORD_CHARS},{_MAX_VALUE_CHARS}}}+={{0,2}}"


def _is_pat(_match: re.Match[str], value: str) -> bool:
    return _may_be_real(value) and decoys.is_random(value)


_PASSWORD_NAME = rf"[A-Za-z0-9_.-]{{0,60}}?(?i:{_PASSWORDS}|(?<![A-Za-z])pass){_SUFFIX}"
_PASSWORD_NAME_TRIGGER = rf"(?i:{_PASSWORDS}|[^A-Za-z]pass){_SUFFIX}"
_LINE_END = r"(?:[ \t]{1,4}#[^\n\\]{0,120})?(?:\r?\n|\\{1,4}[rn]|\\{0,4}[\"']|$)"


def _is_in_record(_match: re.Match[str], value: str) -> bool:
    return _is_plain_password(value)


def _is_in_yaml(_match: re.Match[str], value: str) -> bool:
    """Whether it is a plain password but not the name of a variable: a line of code may look the same."""
    return _is_plain_password(value) and _CAMEL_CASE.search(value) is None and "_" not in value


ASSIGNMENTS = (
    Rule(
        kind="token",  # a personal access token
        before=rf"{_PAT}{_SIGN}(?:{_QUOTE})?",
        pattern=r"[A-Za-z0-9_.~+/=-]{16,}+",
        trigger=rf"(?:(?i:[^A-Za-z0-9]pat)|(?:^|[a-z])Pat|^pat|PAT){_SIGN}(?:{_QUOTE})?[A-Za-z0-9_.~+/=-]{{16}}",
        check=_is_pat,
    ),
    _rule(
        r'\\*"',
        rf"{_QUOTED}{_IN_DOUBLE_QUOTES}{{{_MIN_PASSWORD_CHARS - 2},{_MAX_VALUE_CHARS}}}(?<!['`])",
        r'(?=\\*")',
    ),
    _rule(_QUOTE, _repeated(_QUOTED), rf"(?=\\|{_QUOTE})"),
    _rule("", _repeated(_BARE), r"(?![(\[{])", "(?<=[_-])"),
    Rule(
        kind="password",  # of several words
        before=rf"(?i:(?:{_PASSWORDS}){_SUFFIX}){_SIGN}{_QUOTE}",
        pattern=r"""[^\s"'`\\<>]{1,40}(?: [^\s"'`\\<>]{1,40}){1,8}""",
        after=rf"(?=\\|{_QUOTE})",
        trigger=rf"""(?i:(?:{_PASSWORDS}){_SUFFIX}){_SIGN}{_QUOTE}[^\s"'`\\<>]{{1,40}} [^\s"'`\\<>]""",
        check=_is_assigned_phrase,
    ),
)

_ASSIGNED = rf"(?:{_QUOTE})?\]?[ \t]{{0,4}}(?::=|=>?|:)[ \t]{{0,4}}{_QUOTE}"
# In a group of its own, because a value that is not a plain word may still match the rules above.
PLAIN_PASSWORDS = (
    Rule(
        kind="password",  # of letters alone, between quotes
        before=rf"(?<![A-Za-z0-9_.-]){_PASSWORD_NAME}{_ASSIGNED}",
        pattern=r"[^\s\"'`\\<>&]{6,40}",
        after=rf"(?={_QUOTE})",
        trigger=rf"{_PASSWORD_NAME_TRIGGER}{_ASSIGNED}[^\s\"'`\\<>&]{{6,40}}{_QUOTE}",
        check=_is_in_record,
    ),
    Rule(
        kind="password",  # of letters alone, in YAML
        before=rf"(?:(?<![^\n])|(?<=\\n)|(?<=[\"']))[ \t]{{0,40}}(?:-[ \t]+)?{_PASSWORD_NAME}:[ \t]{{1,8}}",
        pattern=r"[^\s\"'`\\<>]{6,40}",
        after=rf"(?={_LINE_END.replace('$', chr(92) + 'Z')})",
        trigger=rf"{_PASSWORD_NAME_TRIGGER}:[ \t]{{1,8}}[^\s\"'`\\<>]{{6,40}}(?:{_LINE_END}|\")",
        check=_is_in_yaml,
    ),
)
