"""Credentials in calls and settings of programs: cookies, Wi-Fi keys, pairs, tokens in URLs, salts."""

from __future__ import annotations

import re

from agent_journal.redaction import decoys
from agent_journal.redaction.rules import Rule

_QUOTE = r"""\\{0,8}["'`]"""
_OPAQUE = r"[A-Za-z0-9_.~+/=-]"
_BLANKS = r"(?:\\{0,4}[\t ]{1,8}|\\{1,4}t)"
_MIN_COOKIE_CHARS = 16
# The key of a Sentry DSN identifies a project and is part of every page that reports errors.
_PUBLIC_HOST = re.compile(r":?@[A-Za-z0-9.-]*(?:\bsentry\b|\bingest\b)")


def _is_real(match: re.Match[str], value: str) -> bool:
    return (
        decoys.is_not_placeholder(match, value)
        and not decoys.is_reference(value)
        and not decoys.is_word(value)
    )


def _is_random(match: re.Match[str], value: str) -> bool:
    return _is_real(match, value) and decoys.is_random(value)


def _is_cookie(match: re.Match[str], value: str) -> bool:
    """Whether a cookie is a secret, not a setting such as `theme=dark` or a page number."""
    value = value.rpartition("=")[2] if value.count("=") == 1 else value
    is_long = len(value) >= _MIN_COOKIE_CHARS and decoys.has_digit(value)
    return _is_real(match, value) and (is_long or decoys.is_random(value))


def _is_token_of_url(match: re.Match[str], value: str) -> bool:
    return _is_random(match, value) and _PUBLIC_HOST.match(match.string, match.end()) is None


_KEY_TYPE = re.compile(rf"{_QUOTE}kty{_QUOTE}[ \t]{{0,2}}:")
_MAX_WEB_KEY_CHARS = 4096


def _is_in_web_key(match: re.Match[str], _value: str) -> bool:
    """Whether the surrounding object has the `kty` of a JSON Web Key."""
    start, end = max(0, match.start() - _MAX_WEB_KEY_CHARS), match.end() + _MAX_WEB_KEY_CHARS
    return _KEY_TYPE.search(match.string, start, end) is not None


def _is_salt(match: re.Match[str], value: str) -> bool:
    """Whether a salt is set, not `put your unique phrase here`."""
    is_phrase = all(part.isalpha() for part in value.split())
    return not is_phrase and decoys.is_not_placeholder(match, value)


_COOKIE_OPTION = r"curl[^\n|;]{0,120}?[ \t](?:-[A-Za-z]{0,4}b|--cookie)"
_COOKIE_JAR = (
    rf"(?:TRUE|FALSE){_BLANKS}/[^\s\\]{{0,80}}{_BLANKS}(?:TRUE|FALSE){_BLANKS}[0-9]{{1,19}}{_BLANKS}"
    rf"[^\s\\\"]{{1,80}}{_BLANKS}"
)
_PSK = (
    r"(?:(?i:(?:wpa|wifi|wlan|ipsec|vpn)[_-]?psk|psk|wpa[_-]passphrase|pre-?shared-?key)"
    rf"(?:{_QUOTE})?[ \t]{{0,4}}[=:][ \t]{{0,4}}"
    r"|(?:wifi-sec|wireless-security)\.psk:?[ \t]+|wpa_passphrase[ \t]+[^\s]{1,40}[ \t]+"
    r"|pre-shared-key[ \t]+(?:(?:ascii-text|hexadecimal|local|remote)[ \t]+)?|:[ \t]+PSK[ \t]+)"
)
_USER = rf"{_QUOTE}[^\s\"'`\\]{{1,64}}{_QUOTE}"
_PAIR = (
    rf"(?:(?i:auth)(?:{_QUOTE})?[ \t]{{0,2}}[=:][ \t]{{0,2}}[(\[][ \t]{{0,2}}"
    r"|(?:HTTP(?:Basic|Digest|Proxy)Auth|BasicAuth|basic_auth|basicAuth|SetBasicAuth|\.login)\([ \t]{0,2}"
    r"(?:(?:username|user|login)=)?)"
    rf"{_USER}[ \t]{{0,2}},[ \t]{{0,2}}(?:(?:password|passwd|pass)=)?(?:Some\()?{_QUOTE}"
)
_SALT_NAME = r"(?:AUTH|SECURE_AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)"
_SALT = rf"{_SALT_NAME}(?:{_QUOTE})?[ \t]{{0,8}}(?:,|=>?)[ \t]{{0,12}}"
_DEFINE = (
    rf"(?i:define)\([ \t]{{0,2}}{_QUOTE}[A-Z0-9_]{{0,40}}(?:PASSWORD|PASSWD|PASS){_QUOTE}"
    rf"[ \t]{{0,2}},[ \t]{{0,4}}{_QUOTE}"
)
_COOKIES = rf"(?i:cookies)(?:{_QUOTE})?[ \t]{{0,2}}[=:][ \t]{{0,2}}\{{"
_SALT_SETTING = rf"(?i:[_-]salt)(?:{_QUOTE})?\]?[ \t]{{0,4}}(?:=>?|:)[ \t]{{0,4}}(?:{_QUOTE})?"
_SCHEME = r"(?i:https?|git\+https?|git|wss?)://"

NETWORK = (
    Rule(
        kind="url-token",  # https://TOKEN@host, https://TOKEN:x-oauth-basic@host
        before=_SCHEME,
        pattern=r"[A-Za-z0-9_.~%+-]{16,255}",
        after=r"(?=(?::(?:x-oauth-basic)?)?@[A-Za-z0-9\[])",
        trigger=rf"{_SCHEME}[A-Za-z0-9_.~%+-]{{16,128}}(?::(?:x-oauth-basic)?)?@",
        check=_is_token_of_url,
    ),
    Rule(
        kind="cookie",  # curl -b 'a=b; c=d'
        before=rf"{_COOKIE_OPTION}[ \t=]{{0,4}}{_QUOTE}",
        pattern=r"[^\s\"'`\\<>=;]{1,64}=[^\r\n\"'`\\<>]{8,4096}",
        trigger=rf"{_COOKIE_OPTION}[ \t=]{{0,4}}(?:{_QUOTE})?[^\s\"'`\\<>=;]{{1,64}}=",
        check=_is_cookie,
    ),
    Rule(
        kind="cookie",  # curl -b a=b
        before=rf"{_COOKIE_OPTION}[ \t=]{{0,4}}",
        pattern=r"[^\s\"'`\\<>=;]{1,64}=[^\s\"'`\\<>|&;]{8,4096}",
        trigger=rf"{_COOKIE_OPTION}[ \t=]{{0,4}}[^\s\"'`\\<>=;]{{1,64}}=",
        check=_is_cookie,
    ),
    Rule(
        kind="cookie",  # cookies={'sid': '…'}
        before=rf"{_COOKIES}[^{{}}\n]{{0,200}}?{_QUOTE}[ \t]{{0,2}}:[ \t]{{0,2}}{_QUOTE}",
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=_COOKIES,
        check=_is_random,
    ),
    Rule(
        kind="cookie",  # a Netscape cookie jar
        before=_COOKIE_JAR,
        pattern=r"[^\s\"'\\]{6,4096}",
        trigger=_COOKIE_JAR,
        check=_is_cookie,
    ),
    Rule(
        kind="wifi-key",
        before=rf"(?<![A-Za-z0-9]){_PSK}(?:{_QUOTE})?",
        pattern=r"[^\s\"'`\\<>,;(){}]{8,64}",
        after=r"(?![(\[{])",
        trigger=rf"{_PSK}(?:{_QUOTE})?[^\s\"'`\\<>,;(){{}}]{{8}}",
        check=_is_real,
    ),
    Rule(
        kind="password",  # auth=('user', 'password'), HTTPBasicAuth("user", "password")
        before=_PAIR,
        pattern=r"[^\s\"'`\\]{4,128}",
        after=rf"(?={_QUOTE})",
        trigger=_PAIR,
        check=_is_real,
    ),
    Rule(
        kind="token",  # ngrok config add-authtoken TOKEN
        before=rf"authtoken[ \t]{{1,4}}(?:{_QUOTE})?",
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"authtoken[ \t]{{1,4}}(?:{_QUOTE})?{_OPAQUE}{{16}}",
        check=_is_random,
    ),
    Rule(
        kind="secret",  # the salts of WordPress
        before=rf"{_SALT}\\{{0,4}}'",
        pattern=r"[^\n'\\]{32,128}",
        after=r"(?=\\{0,4}')",
        trigger=rf"{_SALT}\\{{0,4}}'[^\n']{{32}}",
        check=_is_salt,
    ),
    Rule(
        kind="secret",
        before=rf"{_SALT}\\{{0,4}}\"",
        pattern=r"[^\n\"\\]{32,128}",
        after=r"(?=\\{0,4}\")",
        trigger=rf"{_SALT}\\{{0,4}}\"[^\n\"]{{32}}",
        check=_is_salt,
    ),
    Rule(
        kind="secret",  # $settings['hash_salt'] = '…', PASSWORD_SALT=…
        before=_SALT_SETTING,
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"{_SALT_SETTING}{_OPAQUE}{{16}}",
        check=_is_random,
    ),
    Rule(
        kind="password",  # define('DB_PASSWORD', '…')
        before=_DEFINE,
        pattern=r"[^\s\"'\\]{4,128}",
        after=rf"(?={_QUOTE})",
        trigger=_DEFINE,
        check=_is_real,
    ),
    Rule(
        kind="private-key",  # the secret members of a JSON Web Key
        before=rf"{_QUOTE}(?:d|p|q|dp|dq|qi|k){_QUOTE}[ \t]{{0,2}}:[ \t]{{0,2}}{_QUOTE}",
        pattern="[A-Za-z0-9_-]{22,1024}",
        after=rf"(?={_QUOTE})",
        trigger=rf"{_QUOTE}(?:d|p|q|dp|dq|qi|k){_QUOTE}[ \t]{{0,2}}:[ \t]{{0,2}}{_QUOTE}[A-Za-z0-9_-]{{22}}",
        check=_is_in_web_key,
    ),
)
