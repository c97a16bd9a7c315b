"""Secrets that are recognized by their context: in a URL, a header, an option, a statement."""

from __future__ import annotations

import base64
import re

from agent_journal.redaction import decoys
from agent_journal.redaction.rules import EDGE, Rule

_OPAQUE = r"[A-Za-z0-9_.~+/=-]"
_QUOTE = r"""(?:\\*["'`])?"""
# Words that follow the name of an option in prose: `the --password option`.
_WORDS_AFTER_OPTION = re.compile(
    r"(?:option|argument|parameter|param|switch|setting|variable|prompt|command)s?"
    r"|instead|should|cannot|without|through|before|because|either|unless|together|explicitly|directly",
    re.IGNORECASE,
)
# aws configure set profile.x.aws_secret_access_key, npm config set //registry/:_authToken
_SET = (
    r"(?:set[ \t]+-[A-Za-z]{1,4}|setx|setenv|ENV|secret[ \t]+set|config(?:ure)?[ \t]+set)[ \t]+"
    r"(?i:[A-Z0-9_.:/-]{0,60}(?:token|key|secret|password|passwd))"
)
# In a sentence, in Markdown, and in a table.
_NAMED_IN_PROSE = (
    r"(?i:api[ _-]?key|token|secret(?:[ _]key)?)(?:[ \t]+(?:is|was):?|[`*]{1,3}:|[`*]{0,3}[ \t]*\|)"
)
_STATEMENTS = (
    r"identified[ \t]+(?:with[ \t]+[a-z0-9_\"'`]{1,40}[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?"
    r"|password[ \t]*=?[ \t]+n?"
    r"|set[ \t]+password[ \t]+for[ \t]+[^\n=;]{1,80}=[ \t]*(?:password\()?"
    r"|convertto-securestring[ \t]+(?:-string[ \t]+)?"
)
_BREAK = r"(?:\s|\\n){1,24}"
_NETRC = rf"login{_BREAK}[^\s\\]{{1,64}}{_BREAK}(?:account{_BREAK}[^\s\\]{{1,64}}{_BREAK})?password"
_READS_STDIN = (
    r"(?:sudo[ \t]+-[A-Za-z]{0,4}S\b|(?:sudo[ \t]+)?chpasswd\b|[a-z]+[ \t]+[^\n|]{0,120}-password-stdin\b)"
)
_ARGUMENTS = r"(?:[ \t][^\n|;\\]{0,120}?)?[ \t]"
_OPTIONS = (
    rf"(?:sqlcmd|bcp|zip|unzip){_ARGUMENTS}-P|ldap[a-z]{{2,8}}{_ARGUMENTS}-w|cqlsh{_ARGUMENTS}-p|7z[ar]?{_ARGUMENTS}-p"
    rf"|keytool{_ARGUMENTS}-(?:store|key)pass|openssl{_ARGUMENTS}-pass(?:in|out)?[ \t]+pass:"
    rf"|(?:requirepass|masterauth|rootpw|nmcli{_ARGUMENTS}password)[ \t]"
    rf"|(?:smbclient|rpcclient|winexe){_ARGUMENTS}-U[ \t]{{0,2}}[A-Za-z0-9_.-]{{1,40}}%"
)
_OPAQUE_OPTION = "--(?i:[a-z-]{0,20}(?:token|api-key|secret|secret-key|access-key|pat))"
_USER_BEFORE = re.compile(r"([^\s/:@]*):\Z")


def _is_random(match: re.Match[str], value: str) -> bool:
    return (
        decoys.is_not_placeholder(match, value) and not decoys.is_reference(value) and decoys.is_random(value)
    )


def _is_real(match: re.Match[str], value: str) -> bool:
    return (
        decoys.is_not_placeholder(match, value)
        and not decoys.is_reference(value)
        and not decoys.is_word(value)
    )


def _is_argument(match: re.Match[str], value: str) -> bool:
    """Whether a value is the argument of an option, not prose about the option."""
    return _is_real(match, value) and _WORDS_AFTER_OPTION.fullmatch(value.rstrip(".,:)")) is None


def _is_in_statement(match: re.Match[str], value: str) -> bool:
    """Whether a value is a password in SQL, not in prose: `the library identified by 'name'`."""
    is_prose = match[0].startswith("identified") and value.replace("_", "").isalpha()
    return _is_real(match, value) and not is_prose


def _is_password_of_user(match: re.Match[str], value: str) -> bool:
    """Whether a value is a password, not the example `postgres:postgres` of manuals, nor a port."""
    user = _USER_BEFORE.search(match.string, match.start(), match.start(match.lastgroup or 0))
    return _is_real(match, value) and not (user and user[1] == value) and not value.isdigit()


def _is_credentials(match: re.Match[str], value: str) -> bool:
    """Whether a value is the base64 of `user:password`."""
    try:
        text = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    user, colon, password = text.partition(":")
    return bool(colon and password and text.isprintable()) and _is_real(match, password) and user != password


def _is_strong(match: re.Match[str], value: str) -> bool:
    kinds = (any(map(str.islower, value)), any(map(str.isupper, value)), decoys.has_digit(value))
    return all(kinds) and not value.isupper() and _is_real(match, value)


CONTEXTS = (
    Rule(
        kind="url-password",
        before=r"://[^\s/:@\"'`<>\\]{0,48}:",
        pattern=r"[^\s/@\"'`<>\\]{3,128}",
        after="(?=@)",
        trigger=r"://[^\s/:@\"'`<>\\]{0,48}:[^\s/@\"'`<>\\]{3,128}@",
        check=_is_password_of_user,
    ),
    Rule(
        kind="bearer-token",
        before=r"(?:Bearer|bearer|BEARER)[ \t]{1,4}",
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"(?:Bearer|bearer|BEARER)[ \t]{{1,4}}{_OPAQUE}{{16}}",
        check=_is_random,
    ),
    Rule(
        kind="authorization",
        before=(  # any scheme, also with a parameter: Token token="…"
            rf"(?i:authorization){_QUOTE}[ \t]{{0,4}}[:=,][ \t]{{0,4}}{_QUOTE}"
            rf"(?!(?i:basic|bearer)[ \t])(?:[A-Za-z][A-Za-z0-9-]{{1,24}}[ \t]{{1,4}})?"
            rf"(?:[A-Za-z@!]{{1,24}}=)?{_QUOTE}"
        ),
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"(?i:authorization){_QUOTE}[ \t]{{0,4}}[:=,][ \t]{{0,4}}{_QUOTE}[A-Za-z0-9]",
        check=_is_random,
    ),
    Rule(
        kind="basic-auth",
        before=r"(?:Basic|basic|BASIC)[ \t]{1,4}",
        pattern="[A-Za-z0-9+/]{8,}+={0,2}",
        trigger=r"(?:Basic|basic|BASIC)[ \t]{1,4}[A-Za-z0-9+/]{8}",
        check=_is_credentials,
    ),
    Rule(
        kind="cookie",
        before=rf"(?i:(?:set-)?cookie){_QUOTE}[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}",
        pattern=r"[^\s\"'`\\<>]{1,64}=[^\r\n\"'`\\<>]{16,4096}",
        trigger=r"(?i:cookie)\\*[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\*[\"']?[^\s\"'`\\<>]{1,64}=",
        check=_is_random,
    ),
    Rule(
        kind="password",
        before=r"(?<![A-Za-z0-9-])--?(?i:password|passwd|pass|passphrase)[ \t]{1,4}" + _QUOTE,
        pattern=r"[^\s\"'`\\<>|&;$-][^\s\"'`\\<>|&;]{5,128}",
        trigger=r"--?(?i:password|passwd|pass|passphrase)[ \t]{1,4}",
        check=_is_argument,
    ),
    Rule(
        kind="token",
        before=rf"(?<![A-Za-z0-9]){_OPAQUE_OPTION}[ \t=]{{1,4}}{_QUOTE}",
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"{_OPAQUE_OPTION}[ \t=]{{1,4}}",
        check=_is_random,
    ),
    Rule(
        kind="token",  # setx NAME SECRET, set -x NAME SECRET, ENV NAME SECRET, gh secret set NAME -b SECRET
        before=rf"(?<![A-Za-z0-9]){_SET}[ \t]+(?:(?:--body|-b)[ \t=]*)?{_QUOTE}",
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"{_SET}[ \t]",
        check=_is_random,
    ),
    Rule(
        kind="password",  # curl -u user:password
        before=r"(?<![A-Za-z0-9-])(?:-u|--user)[ \t=]{1,4}" + _QUOTE + r"[^\s:\"'`\\<>/$]{1,64}:",
        pattern=r"[^\s\"'`\\<>|;/$][^\s\"'`\\<>|;/]{3,128}",
        trigger=r"(?:-u|--user)[ \t=]{1,4}\\*[\"']?[^\s:\"'`\\<>/$]{1,64}:",
        check=_is_password_of_user,
    ),
    Rule(
        kind="password",  # curl -uuser:password, curl -su user:password, curl --proxy-user, http -a
        before=r"(?<![A-Za-z0-9])(?:curl\b[^\n|;]{0,120}?[ \t](?:-[A-Za-z]{0,4}[uU]|--proxy-user)"
        r"|https?[ \t]+-a)"
        rf"[ \t=]{{0,4}}{_QUOTE}[^\s:\"'`\\<>/$]{{1,64}}:",
        pattern=r"[^\s\"'`\\<>|;/$][^\s\"'`\\<>|;/]{3,128}",
        trigger=r"(?:curl[^\n|;]{0,120}[ \t](?:-[A-Za-z]{0,4}[uU]|--proxy-user)|https?[ \t]+-a)"
        r"[ \t=]{0,4}\\*[\"']?[^\s:\"'`\\<>/$]{1,64}:",
        check=_is_password_of_user,
    ),
    Rule(
        kind="password",  # mysql -pSECRET, sshpass -p SECRET
        before=r"(?:(?:mysql|mariadb)[a-z-]{0,8}\b[^\n|;\\]{0,120}? -p|sshpass -p ?)" + _QUOTE,
        pattern=r"[^\s\"'`\\<>|;$]{4,128}",
        trigger=r"(?:(?:mysql|mariadb)[^\n|;]{0,120} -p|sshpass -p)",
        check=_is_real,
    ),
    Rule(
        kind="password",  # options of other programs
        before=rf"(?<![A-Za-z0-9])(?:{_OPTIONS})[ \t]{{0,4}}{_QUOTE}",
        pattern=r"[^\s\"'`\\<>|&;$-][^\s\"'`\\<>|&;]{3,128}",
        trigger=_OPTIONS.replace(r"{0,120}?", "{0,120}"),
        check=_is_argument,
    ),
    Rule(
        kind="password",  # htpasswd -b FILE USER SECRET, htpasswd -nb USER SECRET
        before=r"htpasswd(?:[ \t]+-[A-Za-z]{0,4}b[A-Za-z]{0,4}"
        r"|[ \t]+-[A-Zac-z]{1,4}(?:[ \t]+[0-9]{1,2})?){1,4}"
        rf"(?:[ \t]+[^\s|&;<>-][^\s|&;<>]{{0,80}}){{1,2}}[ \t]+{_QUOTE}",
        pattern=r"[^\s\"'`\\<>|&;$-][^\s\"'`\\<>|&;]{3,128}",
        after=r"(?=[\s\"'`\\|&;<>)]|\Z)",
        trigger=r"htpasswd[ \t]+-",
        check=_is_real,
    ),
    Rule(
        kind="password",  # echo SECRET | sudo -S, and other programs that read it
        before=rf"(?:echo|printf)[ \t]+(?:-[a-z]{{1,2}}[ \t]+)?{_QUOTE}",
        pattern=r"[^\s\"'`\\<>|&;$-][^\s\"'`\\<>|&;$]{3,128}",
        after=rf"(?=(?:\\n)?{_QUOTE}[ \t]*\|[ \t]*{_READS_STDIN})",
        trigger=r"\|[ \t]*(?:sudo[ \t]+-[A-Za-z]{0,4}S|(?:sudo[ \t]+)?chpasswd"
        r"|[a-z]+[ \t]+[^\n|]{0,120}-password-stdin)",
        check=_is_real,
    ),
    Rule(
        kind="password",  # .pgpass: host:port:database:user:password
        before=r"(?:(?<![^\n])|(?<=\\n)|(?<=[\"'`]))(?:[A-Za-z][A-Za-z0-9.-]{0,80}|[0-9.]{7,15}|\*):(?:[0-9]{4,5}|\*)"
        r":(?:[A-Za-z_][A-Za-z0-9_-]{0,40}|\*):(?:[A-Za-z_][A-Za-z0-9_-]{0,40}|\*):",
        pattern=r"[^\s\"'`\\<>:/]{6,128}",
        after=r"(?=[\s\\\"'`]|\Z)",
        trigger=r":(?:[0-9]{4,5}|\*):[A-Za-z0-9_*-]{1,41}:[A-Za-z0-9_*-]{1,41}:[^\s:/]{6}",
        check=_is_real,
    ),
    Rule(
        kind="password",  # docker login -p SECRET, mongosh -p SECRET, redis-cli -a SECRET
        before=r"(?:(?:(?:docker|podman|registry|az|oc)[ \t]+login|mongo(?:sh|dump|restore|export|import)?)\b"
        r"[^\n|;\\]{0,120}?[ \t]-p|redis-cli\b[^\n|;\\]{0,120}?[ \t]-a)[ \t]{1,4}" + _QUOTE,
        pattern=r"[^\s\"'`\\<>|&;$-][^\s\"'`\\<>|&;]{3,128}",
        trigger=r"(?:login|mongo[a-z]{0,7})[^\n|;]{0,120}[ \t]-p[ \t]|redis-cli[^\n|;]{0,120}[ \t]-a[ \t]",
        check=_is_real,
    ),
    Rule(
        kind="password",  # .netrc
        before=_NETRC + r"[ \t]+",
        pattern=r"[^\s\"'`\\<>]{4,256}",
        trigger=_NETRC + r"[ \t]",
        check=_is_real,
    ),
    Rule(
        kind="password",  # SQL
        before=rf"(?i:{_STATEMENTS})\\*[\"']",
        pattern=r"[^\s\"'\\]{4,256}",
        after=r"(?=[\\\"'])",
        trigger=rf"(?i:{_STATEMENTS})\\*[\"']",
        check=_is_in_statement,
    ),
    Rule(
        kind="password",  # "the password is Hunter2x", and in the next cell of a table
        before=r"(?i:password|passphrase|passcode)(?i:[ \t]+(?:is|was)|\*{0,2}[ \t]*[:|])[ \t]+[`\"'*]{0,2}",
        pattern=r"[^\s\"'`\\<>,;(){}\[\]*]{7,128}(?<![.])",
        trigger=(
            r"(?i:password|passphrase|passcode)(?i:[ \t]+(?:is|was)|\*{0,2}[ \t]*[:|])[ \t]+"
            r"\\*[`\"'*]{0,2}[^\s\"'`\\<>,;(){}\[\]*]{0,63}[0-9]"
        ),
        check=_is_strong,
    ),
    Rule(
        kind="token",  # "your API key is …", and in the next cell of a table
        before=rf"{_NAMED_IN_PROSE}[ \t]+[`\"'*]{{0,2}}",
        pattern=rf"{_OPAQUE}{{16,}}+",
        trigger=rf"{_NAMED_IN_PROSE}[ \t]+\\*[`\"'*]{{0,2}}{_OPAQUE}{{16}}",
        check=_is_random,
    ),
    Rule(
        kind="token",  # XML, and property lists
        before=r"<(?i:[a-z:._-]{0,20}(?:key|token))>(?:[A-Za-z_-]{0,30}(?i:key|token|secret)</key>(?:\s|\\n){0,12}<string>)?",
        pattern=rf"{_OPAQUE}{{16,}}+",
        after="(?=</)",
        trigger=rf"(?i:key|token)>(?:(?:\s|\\n){{0,12}}<string>)?{_OPAQUE}{{16}}",
        check=_is_random,
    ),
    Rule(
        kind="password",  # XML, as in settings of Maven
        before=r"<(?i:[a-z:._-]{0,20}(?:password|passphrase|secret))>",
        pattern=r"[^\s\"'`<>\\]{6,128}",
        after="(?=</)",
        trigger=r"(?i:password|passphrase|secret)>[^\s\"'`<>\\]{6,128}</",
        check=_is_real,
    ),
    Rule(
        kind="signed-url",
        before=r"[?&;]sig=",
        pattern=r"[A-Za-z0-9%+/_-]{30,}+={0,2}",
        trigger=r"[?&;]sig=[A-Za-z0-9%+/_-]{30}|u0026sig=[A-Za-z0-9%+/_-]{30}",
        check=_is_random,
    ),
    Rule(
        kind="signed-url",
        before=r"X-(?:Amz|Goog)-(?:Signature|Security-Token)=",
        pattern=r"[A-Za-z0-9%+/_.-]{32,}+={0,2}",
        trigger=r"X-(?:Amz|Goog)-(?:Signature|Security-Token)=",
        check=_is_random,
    ),
    Rule(
        kind="aws-secret-key",  # after its access key, as in the table of the AWS console
        before=EDGE
        + r"(?:AKIA|ASIA)[A-Z0-9]{16}[\s,;:|\"'\\]{1,12}(?:[A-Za-z_ ]{0,40}[\s,;:=|\"'\\]{1,12})?",
        pattern="[A-Za-z0-9+/]{40}",
        after="(?![A-Za-z0-9+/=])",
        trigger=r"(?:AKIA|ASIA)[A-Z0-9]{16}",
        check=decoys.is_mixed,
    ),
)
