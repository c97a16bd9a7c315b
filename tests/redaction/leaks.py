"""Forms in which secrets leave a machine, each with secrets of its own; none may be exported.

`LEAKS` is a table of texts. A form is redacted if none of its `pieces` is left. `SPLIT` holds values as tools
are given them: a list of arguments, a record of parts.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import json
import quopri
import string
from functools import cache
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.redaction.zoo import BASE64, HEX, UPPER, WIDE, WORD, some

LOWER = string.ascii_lowercase
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Leak(NamedTuple):
    """A text, and what of it must not be exported."""

    name: str
    text: str
    pieces: tuple[str, ...]


class Split(NamedTuple):
    """A value in a tool's input, and what of it must not be exported."""

    name: str
    value: Any
    pieces: tuple[str, ...]


def github(seed: str) -> str:
    return "ghp_" + some(WORD, 36, seed)


def word(seed: str) -> str:
    """A password of letters alone."""
    return "sword" + "".join(letter for letter in some(LOWER, 12, seed) if letter.isalpha())[1:7]


def opaque(seed: str, length: int = 32) -> str:
    return some(WORD, length, seed)


# ── Checksummed secrets of wallets ──


def base58check(payload: bytes) -> str:
    data = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    number, digits = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = BASE58[digit] + digits
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def entropy(seed: str, size: int) -> bytes:
    return hashlib.shake_256(seed.encode()).digest(size)


def wif(seed: str, *, network: bytes = b"\x80", compressed: bool = True) -> str:
    return base58check(network + entropy(seed, 32) + (b"\x01" if compressed else b""))


def extended_key(seed: str, version: str) -> str:
    return base58check(bytes.fromhex(version) + entropy(seed, 41) + b"\0" + entropy(seed + "k", 32))


@cache
def wallet_words() -> list[str]:
    """Words that stand for those of BIP-39: what is known of each is its beginning and its length."""
    table = resources.files("agent_journal.redaction").joinpath("bip39.txt").read_text(encoding="ascii")
    return [entry[:-1] + "aeiou"[: int(entry[-1]) - len(entry[:-1])] for entry in table.split()]


def seed_phrase(seed: str, count: int) -> list[str]:
    """A mnemonic with a valid checksum."""
    size = count * 4 // 3
    data = entropy(seed, size)
    bits = (
        f"{int.from_bytes(data, 'big'):0{size * 8}b}" + f"{hashlib.sha256(data).digest()[0]:08b}"[: size // 4]
    )
    return [wallet_words()[int(bits[place : place + 11], 2)] for place in range(0, len(bits), 11)]


def electrum_phrase(seed: str) -> list[str]:
    for number in range(10_000):
        stream = entropy(f"{seed}{number}", 24)
        words = [wallet_words()[int.from_bytes(stream[i : i + 2], "big") % 2048] for i in range(0, 24, 2)]
        digest = hmac.new(b"Seed version", " ".join(words).encode(), "sha512").hexdigest()
        if digest.startswith("100"):
            return words
    raise AssertionError


# ── Private keys ──


def key_body(seed: str, lines: int = 6, width: int = 64) -> list[str]:
    body = some(BASE64, width * lines + 20, seed)
    return [body[place : place + width] for place in range(0, len(body), width)]


def pem(seed: str, label: str = "RSA PRIVATE KEY", lines: int = 6) -> list[str]:
    return [f"-----BEGIN {label}-----", *key_body(seed, lines), f"-----END {label}-----"]


def putty(seed: str) -> list[str]:
    return [
        *("PuTTY-User-Key-File-3: ssh-rsa", "Encryption: none", "Comment: rsa-key-20260101"),
        *("Public-Lines: 1", some(BASE64, 64, "public" + seed), "Private-Lines: 6"),
        *key_body(seed, 5),
        f"Private-MAC: {some(HEX, 64, seed + 'mac')}",
    ]


def pgp(seed: str) -> list[str]:
    label = "PGP PRIVATE KEY BLOCK"
    return [
        f"-----BEGIN {label}-----",
        "Version: GnuPG v2",
        "",
        *key_body(seed),
        "=aB3d",
        f"-----END {label}-----",
    ]


# How programs show the lines of a file: `{line}` is the line, `{number}` its number.
LINE_PREFIXES: dict[str, str] = {
    "diff added": "+{line}",
    "diff removed": "-{line}",
    "diff added, spaced": "+ {line}",
    "diff removed, spaced": "- {line}",
    "combined diff": "++{line}",
    "diff context": " {line}",
    "plain diff": "> {line}",
    "quoted mail": "> > {line}",
    "docker compose logs": "web-1  | {line}",
    "docker logs -t": "2026-11-16T10:00:0{digit}.123456789Z {line}",
    "kubectl logs --prefix": "[pod/shop-7d9c5b6f4d-x2x{digit}z/app] {line}",
    "kubectl logs of several": "shop-7d9c5b6f4d-x2x8z app {line}",
    "GitHub Actions": "2026-11-16T10:00:0{digit}.1234567Z {line}",
    "GitHub Actions job": "build\tRun tests\t2026-11-16T10:00:0{digit}.1234567Z {line}",
    "GitLab CI": "2026-11-16T10:00:0{digit}.123456Z 01O {line}",
    "Jenkins": "[2026-11-16T10:00:0{digit}.123Z] {line}",
    "syslog": "Nov 16 10:00:0{digit} host app[123{digit}]: {line}",
    "journalctl": "Nov 16 10:00:0{digit} ip-10-0-0-1.ec2.internal shop[8123]: {line}",
    "log with a level": "2026-11-16 10:00:0{digit},123 INFO shop.config - {line}",
    "git blame": "^a1b2c3{digit} (Ana Lopez 2026-11-16 10:00:00 +0100 {number:2}) {line}",
    "git blame -s": "a1b2c3{digit}f {number}) {line}",
    "git log -p in a graph": "| | +{line}",
    "grep -r": "config/deploy.pem:{line}",
    "grep -r context": "config/deploy.pem-{line}",
    "grep -rn": "config/deploy.pem:{number}:{line}",
    "grep -rn context": "config/deploy.pem-{number}-{line}",
    "grep -r, a file with spaces": "my keys/deploy key.pem:{line}",
    "cat -n": "    {number:2}\t{line}",
    "nl": "     {number}\t{line}",
    "cat -A": "{line}$",
    "cat -n with an arrow": "{number:6}→{line}",
    "bat": "{number:4} │ {line}",
    "less -N": "{number:7} {line}",
    "terraform plan": "      + {line}",
    "terraform heredoc": "          ~ {line}",
    "YAML block": "    {line}",
    "Python concatenation": '    "{line}\\n"',
    "JavaScript concatenation": "  '{line}\\n' +",
    "C strings": '"{line}\\n" \\',
    "comment": "# {line}",
    "comment in C": "// {line}",
    "comment block": " * {line}",
    "SQL comment": "-- {line}",
    "Markdown table": "| {line} |",
    "HTML": "<br>{line}",
    "shell trace": "+ echo {line}",
    "ansible": 'ok: [host] => "{line}"',
    "timestamp of ts": "[{digit}.123456] {line}",
    "PowerShell": "PS> {line}",
    "in color": "\x1b[32m+{line}\x1b[m",
}


def prefixed(style: str, lines: list[str]) -> str:
    shown = LINE_PREFIXES[style]
    return "\n".join(
        shown.format(line=line, number=number, digit=number % 10) for number, line in enumerate(lines, 1)
    )


def keys() -> list[Leak]:
    leaks = [
        Leak(f"private key: {style}", prefixed(style, pem(style)), tuple(key_body(style)))
        for style in LINE_PREFIXES
    ]
    kinds = {"PuTTY": putty, "PGP": pgp}
    for kind, make in kinds.items():
        leaks += [
            Leak(
                f"{kind} key: {style}", prefixed(style, make(kind + style)), tuple(key_body(kind + style)[:5])
            )
            for style in (
                "diff added",
                "docker compose logs",
                "GitHub Actions",
                "git blame",
                "cat -n",
                "grep -rn",
            )
        ]
    for style in ("diff added", "kubectl logs --prefix", "git blame", "grep -r"):
        seed = f"openssh {style}"
        lines = pem(seed, "OPENSSH PRIVATE KEY")
        leaks.append(Leak(f"OpenSSH key: {style}", prefixed(style, lines), tuple(key_body(seed))))
        cut = f"cut {style}"
        leaks.append(Leak(f"cut key: {style}", prefixed(style, pem(cut)[:-3]), tuple(key_body(cut)[:-2])))
        tail = f"tail {style}"
        leaks.append(
            Leak(f"end of a key: {style}", prefixed(style, pem(tail)[3:]), tuple(key_body(tail)[2:6]))
        )
        age = "AGE-SECRET-KEY-1" + some(UPPER, 58, f"age {style}")
        leaks.append(Leak(f"age key: {style}", prefixed(style, ["# created: 2026", age]), (age,)))
    one = "\n".join(pem("escaped"))
    twice, thrice = json.dumps(json.dumps(one)), json.dumps(json.dumps(json.dumps(pem("escaped thrice"))))
    leaks += [
        Leak(
            "key of minisign", f"RWRTY0Iy{some(BASE64, 200, 'minisign')}==", (some(BASE64, 200, "minisign"),)
        ),
        Leak("private key in JSON", json.dumps({"k": "\n".join(pem("json"))}), tuple(key_body("json"))),
        Leak("private key in JSON twice", twice, tuple(key_body("escaped"))),
        Leak("private key in JSON three times", thrice, tuple(key_body("escaped thrice"))),
        Leak("private key on one line", " ".join(pem("one line")), tuple(key_body("one line"))),
        Leak("private key without breaks", "".join(pem("no breaks")), tuple(key_body("no breaks"))),
        Leak("private key in a URL", quote("\n".join(pem("in url"))), tuple(map(quote, key_body("in url")))),
        Leak(
            "SSH2 key",
            "\n".join(
                [
                    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
                    *key_body("ssh2"),
                    "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
                ]
            ),
            tuple(key_body("ssh2")),
        ),
        Leak(
            "JWK",
            json.dumps({"kty": "EC", "crv": "P-256", "d": some(WIDE, 43, "jwk")}),
            (some(WIDE, 43, "jwk"),),
        ),
        Leak(
            "age key in lower case",
            ("AGE-SECRET-KEY-1" + some(UPPER, 58, "agelow")).lower(),
            (some(UPPER, 58, "agelow").lower(),),
        ),
    ]
    return leaks


# ── Colors ──

COLORS = {
    "after a color": "\x1b[32m{}\x1b[0m",
    "after a color at the end of a word": "using\x1b[1m{}",
    "after two colors": "\x1b[01;31m\x1b[K{}\x1b[m\x1b[K",
    "after a color of 256": "token \x1b[38;5;208m{}\x1b[39m",
    "after a true color": "\x1b[38;2;255;100;0m{}\x1b[0m",
    "after a true color with colons": "\x1b[38:2::255:100:0m{}\x1b[0m",
    "after a link": "\x1b]8;;https://example.org\x1b\\{}\x1b]8;;\x1b\\",
    "after a link that ends with a bell": "\x1b]8;id=1;https://example.org\x07{}\x1b]8;;\x07",
    "after a title": "\x1b]0;build\x07{}",
    "in the address of a link": "\x1b]8;;https://example.org/{}\x1b\\log in\x1b]8;;\x1b\\",
    "after erasing a line": "\x1b[2K\r{}",
    "after moving the cursor": "\x1b[12;40H{}",
    "after hiding the cursor": "\x1b[?25l{}\x1b[?25h",
    "after an eight-bit color": "\x9b32m{}",
    "after a charset": "\x1b(B{}",
    "after a color as JSON has it": "\\u001b[32m{}\\u001b[0m",
    "after a color in upper case": "\\u001B[1;32m{}\\u001B[0m",
    "after a color as C has it": "\\x1b[32m{}\\x1b[0m",
    "after an octal color": "\\033[32m{}\\033[0m",
    "after a color of a shell": "echo -e '\\e[32m{}\\e[0m'",
    "after a color that is shown": "^[[32m{}^[[0m",
    "after a color whose escape is lost": "[32m{}[0m",
    "after a color in JSON twice": "\\\\u001b[32m{}\\\\u001b[0m",
    "colored in the middle": "use \x1b[32m{head}\x1b[31m{tail}\x1b[0m",
    "linked in the middle": "{head}\x1b]8;;https://example.org\x1b\\{tail}\x1b]8;;\x1b\\",
    "after a symbol for escape": "\u241b[32m{}\u241b[0m",
}


def colored() -> list[Leak]:
    leaks = []
    for name, form in COLORS.items():
        token = github(name)
        text = form.replace("{}", token).replace("{head}", token[:20]).replace("{tail}", token[20:])
        pieces = (token,) if "{}" in form else (token[:20], token[20:])
        leaks.append(Leak(f"token {name}", text, pieces))
    for name in ("after a color", "after a link", "after a color as JSON has it", "after an octal color"):
        secret = word(f"password {name}")
        leaks.append(Leak(f"password {name}", "DB_PASSWORD=" + COLORS[name].replace("{}", secret), (secret,)))
        secret = "AKIA" + some(UPPER, 16, f"aws {name}")
        leaks.append(Leak(f"AWS key {name}", COLORS[name].replace("{}", secret), (secret,)))
    return leaks


# ── Encodings ──


def quoted_printable(text: str) -> str:
    return quopri.encodestring(text.encode(), quotetabs=True).decode()


def every_character(pattern: str, text: str) -> str:
    return "".join(pattern.format(ord(character)) for character in text)


def encoded() -> list[Leak]:
    def leak(name: str, template: str, secret: str) -> Leak:
        return Leak(f"encoded: {name}", template.replace("{}", secret), (secret,))

    long_line = f"Your API token is below, please keep it. token={opaque('qp soft')} and more words follow it"
    soft = quoted_printable(long_line)
    wrapped = github("qp wrapped")
    return [
        leak("= as \\u003d", "DB_PASSWORD\\u003d{}", word("u003d")),
        leak("= as \\u003D", "password\\u003D{}\\u0026x\\u003d1", "Ab1!" + opaque("u003D", 8)),
        leak("= as \\u003d in JSON twice", "api_key\\\\u003d{}", opaque("u003d twice")),
        leak("= as \\x3d", "api_key\\x3d{}", opaque("x3d")),
        leak("= as \\075", "api_key\\075{}", opaque("075")),
        leak(
            "quotes as \\u0022", "{\\u0022password\\u0022:\\u0022{}\\u0022}", "Hunter" + word("u0022") + "1"
        ),
        leak("quotes as \\u0027", "password=\\u0027{}\\u0027", "Hunter" + word("u0027") + "1"),
        leak("colon as \\u003a", "password\\u003a {}", "Hunter" + word("u003a") + "1"),
        leak("underscore as \\u005f", "{}", github("u005f").replace("_", "\\u005f")),
        leak("= as =3D", "api_key=3D{}", opaque("3D")),
        leak("= as =3D in a shell line", "export DB_PASSWORD=3D{}", word("3D shell")),
        leak("= as =3d", "token=3d{}", opaque("3d")),
        leak("quotes as =22", "password =3D =22{}=22", "Hunter" + word("=22") + "1"),
        leak("colon and blank as =3A=20", "password=3A=20{}", "Hunter" + word("=3A") + "1"),
        leak("token behind =3D", "href=3D=22https://example.org/?t=3D{}=22", github("behind 3D")),
        Leak("encoded: soft line breaks", soft, (opaque("qp soft")[:8], opaque("qp soft")[-8:])),
        Leak("encoded: a token with a soft line break", f"{wrapped[:15]}=\n{wrapped[15:]}", (wrapped[15:],)),
        Leak(
            "encoded: a token with a soft line break of Windows",
            f"{github('crlf')[:15]}=\r\n{github('crlf')[15:]}",
            (github("crlf")[15:],),
        ),
        leak(
            "= in a URL", "https://example.org/login?next=%2F%3Fpassword%3D{}", "Hunter" + word("%3D") + "1"
        ),
        leak("= in a URL in lower case", "x=api_key%3d{}", opaque("%3d")),
        leak("= in a URL twice", "x=api_key%253D{}", opaque("%253D")),
        leak("JSON in a URL", "q=%7B%22password%22%3A%22{}%22%7D", "Hunter" + word("%7B") + "1"),
        leak(
            "JSON in a URL with blanks", "q=%7B%22password%22%3A+%22{}%22%7D", "Hunter" + word("%7B+") + "1"
        ),
        leak("a header in a URL", "Authorization%3A%20Bearer%20{}", opaque("%20")),
        leak("credentials of a URL in a URL", "u=postgres%3A%2F%2Fana%3A{}%40db%2Fshop", word("%40")),
        leak("underscore in a URL", "{}", github("%5F").replace("_", "%5F")),
        leak("a dash in a URL", "{}", "glpat%2D" + some(WORD, 20, "%2D")),
        leak("JSON in HTML", "&quot;password&quot;: &quot;{}&quot;", "Hunter" + word("quot") + "1"),
        leak("JSON in HTML by numbers", "&#34;password&#34;:&#34;{}&#34;", "Hunter" + word("#34") + "1"),
        leak(
            "JSON in HTML by hex numbers",
            "&#x22;password&#x22;:&#x22;{}&#x22;",
            "Hunter" + word("#x22") + "1",
        ),
        leak("= in HTML", "password&#61;{}", "Hunter" + word("#61") + "1"),
        leak("= in HTML by its name", "password&equals;{}", "Hunter" + word("equals") + "1"),
        leak("= in HTML twice", "api_key&amp;#61;{}", opaque("amp")),
        leak("underscore in HTML", "{}", github("lowbar").replace("_", "&#95;")),
        Leak(
            "encoded: every character as \\u",
            every_character("\\u{:04x}", github("all u")),
            (every_character("\\u{:04x}", github("all u")[8:]),),
        ),
        Leak(
            "encoded: every character as \\x",
            every_character("\\x{:02x}", github("all x")),
            (every_character("\\x{:02x}", github("all x")[8:]),),
        ),
        Leak(
            "encoded: every character as %",
            every_character("%{:02X}", github("all %")),
            (every_character("%{:02X}", github("all %")[8:]),),
        ),
        Leak(
            "encoded: every character as HTML",
            every_character("&#{};", github("all html")),
            (every_character("&#{};", github("all html")[8:]),),
        ),
        leak("JSON once", json.dumps({"env": 'DB_PASSWORD="{}"'}), word("json once")),
        leak("JSON twice", json.dumps(json.dumps({"password": "{}"})), "Hunter" + word("json twice") + "1"),
        leak(
            "JSON three times",
            json.dumps(json.dumps(json.dumps({"password": "{}"}))),
            "Hunter" + word("json 3") + "1",
        ),
        leak("HTML in JSON", json.dumps(html.escape('{"api_key": "{}"}')), opaque("html json")),
        Leak(
            "encoded: base64 of YAML",
            base64.b64encode(f"user: ana\npassword: {word('b64 yaml')}\n".encode()).decode(),
            (base64.b64encode(f"ana\npassword: {word('b64 yaml')}".encode()).decode()[4:-4],),
        ),
        Leak(
            "encoded: base64 of a cookie jar",
            base64.b64encode(jar("b64 jar").encode()).decode(),
            (base64.b64encode(jar("b64 jar").encode()).decode()[-24:-4],),
        ),
        Leak(
            "encoded: base64 of base64",
            base64.b64encode(base64.b64encode(f"token={github('b64 b64')}".encode())).decode(),
            (base64.b64encode(base64.b64encode(f"token={github('b64 b64')}".encode())).decode()[12:],),
        ),
        Leak(
            "encoded: base64 of a key in a diff",
            base64.b64encode(prefixed("diff added", pem("b64 diff")).encode()).decode(),
            (base64.b64encode(prefixed("diff added", pem("b64 diff")).encode()).decode()[120:180],),
        ),
    ]


def jar(seed: str) -> str:
    return f"# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t1799999999\tsid\t{opaque(seed, 24)}\n"


# ── Names, options, places ──

LONG_NAMES = (
    "production_database_primary_replica_connection_pool_{}",
    "organization-wide-continuous-integration-{}",
    "the_name_of_the_service_account_that_deploys_to_production_in_europe_west_4_{}",
    "terraform-aws-modules-eks-cluster-blue-{}",
    "PROJECT_SERVICE_ACCOUNT_GITHUB_TOKEN_{}",
    "backup.2026.production.database.europe.{}",
)


def long_names() -> list[Leak]:
    leaks = [
        Leak(f"token behind a long name: {name}", name.replace("{}", github(name)), (github(name),))
        for name in LONG_NAMES
    ]
    prefix = "spring.datasource.hikari.primary.replica.connection.pool.of.the.shop."
    leaks += [
        Leak(f"long name: {suffix}", f"{prefix}{suffix}={opaque(suffix)}", (opaque(suffix),))
        for suffix in ("password", "api-key", "secret", "access_token")
    ]
    env = "ORGANIZATION_PRODUCTION_DATABASE_PRIMARY_REPLICA_CONNECTION_"
    leaks += [
        Leak(f"long name: {env}PASSWORD", f"{env}PASSWORD={word('long env')}", (word("long env"),)),
        Leak("long name in JSON", json.dumps({f"{env}TOKEN": opaque("long json")}), (opaque("long json"),)),
    ]
    return leaks


def placed() -> list[Leak]:
    rows: list[tuple[str, str]] = []

    def add(secret: str, *forms: str) -> None:
        rows.extend((form, secret) for form in forms)

    for form in (
        *("GITHUB_PAT={}", "export AZURE_DEVOPS_EXT_PAT={}", "GH_PAT: {}", "GH_PAT: '{}'", '"ADO_PAT": "{}"'),
        *("$env:DEVOPS_PAT = '{}'", "set DEVOPS_PAT={}", "ghPat={}", "--pat {}", "az devops login --pat={}"),
        *(
            "ngrok config add-authtoken {}",
            "ngrok authtoken {}",
            "ngrok authtoken '{}'",
            "ngrok http 80 --authtoken {}",
        ),
        *("authtoken: {}", "NGROK_AUTHTOKEN={}"),
        *(
            "AUTH_KEY='{}'",
            "https://{}@git.example.org/x.git",
            "https://{}:x-oauth-basic@github.com/a/b",
            "https://{}:@api.example.org",
        ),
        *(
            "git remote add origin https://{}@github.com/a/b.git",
            "git+https://{}@github.com/a/b",
            "pip install git+https://{}@git.example.org/a",
        ),
        *(
            "npm i git+https://{}:@git.example.org/a",
            "HTTPS://{}@HOST.example.org",
            '"url": "https://{}@api.example.org/v1"',
        ),
        *(
            "curl -b 'sid={}' https://example.org",
            "curl -b sid={} https://example.org",
            'curl -b "theme=dark; session={}" x',
        ),
        *(
            "curl --cookie 'sid={}' x",
            'curl --cookie="sid={}" x',
            "curl -sSb 'sid={}' x",
            "wget --header 'Cookie: sid={}' x",
            "http x Cookie:sid={}",
        ),
        *(
            "requests.get(u, cookies={'sid': '{}'})",
            "document.cookie = 'sid={}'",
            "hash_salt = '{}'",
            "SECRET_KEY_BASE={}",
        ),
        *("$settings['hash_salt'] = '{}';", "APP_KEY=base64:{}="),
    ):
        add(opaque(f"opaque {form}"), form)
    ngrok = "2" + some(WORD, 26, "ngrok 1") + "_" + some(WORD, 21, "ngrok 2")
    add(ngrok, "the tunnel uses {} now", "agent:\n    authtoken: {}\n")
    for form in (
        *(
            "https://api.telegram.org/bot{}/sendMessage",
            "curl -s api.telegram.org/bot{}/getMe",
            "bot{}",
            "TELEGRAM={}",
        ),
        *("api.telegram.org%2Fbot{}%2FgetMe", "https://api.telegram.org/file/bot{}/photos/1.jpg", "BOT{}"),
    ):
        add(f"12345678{len(rows)}:AA" + some(WIDE, 32, form) + "x", form)
    add(
        "5432109876:BBx" + some(WIDE, 31, "telegram other") + "z", "https://api.telegram.org/bot{}/getUpdates"
    )
    for form in (
        *(
            'psk="{}"',
            "psk={}",
            '  psk="{}"\n  key_mgmt=WPA-PSK',
            "wpa_psk={}",
            "wpa_passphrase={}",
            "wpa_passphrase home {}",
        ),
        *(
            "nmcli c modify home wifi-sec.psk {}",
            "802-11-wireless-security.psk: {}",
            ': PSK "{}"',
            "%any %any : PSK '{}'",
        ),
        *(
            "pre-shared-key {}",
            'pre-shared-key ascii-text "{}"',
            "nmcli dev wifi connect home password {}",
            "WIFI_PSK={}",
        ),
        *(
            "requests.get(u, auth=('ana', '{}'))",
            'requests.get(u, auth=("ana", "{}"))',
            "auth=( 'ana' , '{}' )",
            "auth = ('ana','{}')",
        ),
        *(
            'auth=(\\"ana\\", \\"{}\\")',
            "HTTPBasicAuth('ana', '{}')",
            'httpx.BasicAuth(username="ana", password="{}")',
            'aiohttp.BasicAuth("ana", "{}")',
        ),
        *(
            "HTTPDigestAuth('ana', '{}')",
            'smtp.login("ana@example.org", "{}")',
            "auth: ['ana', '{}']",
            '"auth": ["ana", "{}"]',
        ),
        *(
            '.basic_auth("ana", Some("{}"))',
            'req.SetBasicAuth("ana", "{}")',
            "client.connect(host, username='ana', password='{}')",
        ),
    ):
        add(word(f"word {form}"), form)
    for form in (
        *(
            "password: {}\n",
            "db:\n  user: ana\n  password: {}\n  host: db\n",
            'password: "{}"\n',
            "password: '{}'\n",
            "- password: {}\n",
        ),
        *(
            "  passwd: {}\n",
            "admin_password: {}\n",
            "password: {} # changed in May\n",
            "DB_PASS: {}\n",
            "passphrase: {}\n",
            "  PASSWORD: {}\n",
        ),
        *(
            '{"password": "{}"}',
            '{"password":"{}"}',
            '{"db": {"user": "ana", "password": "{}", "host": "db"}}',
            '{\n  "password" : "{}"\n}',
        ),
        *(
            '{\\"password\\":\\"{}\\"}',
            '"dbPassword": "{}",',
            '{"smtp_pass": "{}"}',
            '{"passphrase": "{}"}',
            '{"user":"ana","pwd":"{}"}',
        ),
        *(
            "mysql:\n  root_password: {}",
            "spring:\n  datasource:\n    password: {}\n",
            "Password: {}\n",
            "user: ana\r\npassword: {}\r\n",
        ),
    ):
        add(word(f"plain {form}"), form)
    names = (
        "AUTH_KEY",
        "SECURE_AUTH_KEY",
        "LOGGED_IN_KEY",
        "NONCE_KEY",
        "AUTH_SALT",
        "SECURE_AUTH_SALT",
        "LOGGED_IN_SALT",
        "NONCE_SALT",
    )
    salts = [(f"define('{name}', {' ' * number}'{{}}');", _salt(name)) for number, name in enumerate(names)]
    salts += [
        ('define( "AUTH_KEY", "{}" );', _salt("double")),
        ("AUTH_SALT='{}'", _salt("bedrock")),
        ("define('DB_PASSWORD', '{}');", word("wp")),
    ]
    rows += salts
    for domain in (".example.org\tTRUE", "#HttpOnly_example.org\tFALSE", "127.0.0.1\tFALSE"):
        add(opaque(domain, 26), f"{domain}\t/\tTRUE\t1799999999\tsid\t{{}}")
        add(opaque(domain + "session"), f"{domain}\t/app\tFALSE\t0\tPHPSESSID\t{{}}\n")
    add(opaque("jar spaces"), ".example.org  TRUE  /  TRUE  1799999999  sid  {}")
    add(opaque("jar json"), json.dumps(".example.org\tTRUE\t/\tTRUE\t1799999999\tsid\t{}\n"))
    return [Leak(f"{form!r}", form.replace("{}", secret), (secret,)) for form, secret in rows]


def _salt(seed: str) -> str:
    symbols = string.ascii_letters + string.digits + "!@#$%^&*()-_ []{}<>~+=,.;:/?|"
    return "".join(symbols[byte % len(symbols)] for byte in entropy(seed, 64)).strip().ljust(60, "k")


def wallets() -> list[Leak]:
    leaks = []
    layouts = {
        "alone": "{}",
        "in a sentence": "restore it with: {}. Then wait.",
        "in quotes": 'MNEMONIC="{}"',
        "in JSON": '{"mnemonic": "{}"}',
    }
    for count in (12, 15, 18, 21, 24):
        for name, layout in layouts.items():
            words = seed_phrase(f"{count} {name}", count)
            phrase = " ".join(words)
            leaks.append(
                Leak(
                    f"{count} words {name}",
                    layout.replace("{}", phrase),
                    (" ".join(words[:3]), " ".join(words[-3:])),
                )
            )
    joined = {
        "by line": "\n",
        "with commas": ", ",
        "with commas only": ",",
        "as a JSON list": '", "',
        "by escaped line": "\\n",
        "with two blanks": "  ",
        "with dashes": "-",
    }
    for name, separator in joined.items():
        words = seed_phrase(name, 12)
        leaks.append(
            Leak(f"12 words {name}", "[" + separator.join(words) + "]", (separator.join(words[4:8]),))
        )
    numbered = seed_phrase("numbered", 12)
    text = "\n".join(f"{number}. {each}" for number, each in enumerate(numbered, 1))
    leaks.append(Leak("12 words numbered", text, (f"5. {numbered[4]}\n6. {numbered[5]}",)))
    numbered = seed_phrase("numbered on a line", 24)
    text = " ".join(f"{number}) {each}" for number, each in enumerate(numbered, 1))
    leaks.append(Leak("24 words numbered on a line", text, (f"5) {numbered[4]} 6) {numbered[5]}",)))
    upper = " ".join(seed_phrase("upper", 12)).upper()
    title = " ".join(seed_phrase("title", 12)).title()
    electrum = " ".join(electrum_phrase("electrum"))
    typo = seed_phrase("typo", 12)
    typo[3], typo[4] = typo[4], typo[3]
    leaks += [
        Leak("12 words in upper case", upper, (upper[10:40],)),
        Leak("12 words in title case", title, (title[10:40],)),
        Leak("Electrum's words", f"wallet: {electrum}", (electrum[10:40],)),
        Leak("words called a seed phrase", "seed phrase: " + " ".join(typo), (" ".join(typo[:4]),)),
        Leak(
            "words called a recovery phrase",
            "My recovery phrase is " + " ".join(typo[::-1]),
            (" ".join(typo[::-1][:4]),),
        ),
    ]
    for name, secret in {
        "WIF": wif("wif"),
        "WIF, not compressed": wif("wif 2", compressed=False),
        "WIF of a test network": wif("wif 3", network=b"\xef"),
        "WIF of Litecoin": wif("wif 4", network=b"\xb0"),
        "WIF of Dogecoin": wif("wif 5", network=b"\x9e"),
        "xprv": extended_key("xprv", "0488ADE4"),
        "tprv": extended_key("tprv", "04358394"),
        "yprv": extended_key("yprv", "049D7878"),
        "zprv": extended_key("zprv", "04B2430C"),
        "BIP-38": base58check(bytes.fromhex("0142C0") + entropy("bip38", 36)),
    }.items():
        leaks += [
            Leak(name, secret, (secret,)),
            Leak(f"{name} in a line", f"bitcoin-cli importprivkey {secret} shop", (secret,)),
            Leak(f"{name} in JSON", json.dumps({"k": secret}), (secret,)),
        ]
    return leaks


# ── Lines ──


def wrapped() -> list[Leak]:
    leaks = []
    for width in (20, 30, 38):
        token = github(f"wrapped {width}")
        for name, end in {
            "": "\n",
            " and indented": "\n    ",
            " on Windows": "\r\n",
            " in JSON": "\\n",
        }.items():
            each = github(f"wrapped {width} {name}")
            leaks.append(
                Leak(
                    f"token wrapped at {width}{name}",
                    f"token: {each[:width]}{end}{each[width:]}",
                    (each[:width], each[width:][-10:]),
                )
            )
        leaks.append(
            Leak(f"token alone wrapped at {width}", f"{token[:width]}\n{token[width:]}\n", (token[:width],))
        )
    long = "github_pat_" + some(WORD, 82, "wrapped long")
    text = f"export GITHUB_TOKEN={long}"
    lines = [text[place : place + 60] for place in range(0, len(text), 60)]
    leaks.append(Leak("long token wrapped by a terminal", "\n".join(lines), (lines[0][20:], lines[1])))
    jwt = f"eyJ{some(WIDE, 60, 'j1')}.eyJ{some(WIDE, 120, 'j2')}.{some(WIDE, 43, 'j3')}"
    lines = [jwt[place : place + 76] for place in range(0, len(jwt), 76)]
    leaks.append(Leak("JWT wrapped at 76", "\n".join(lines), tuple(lines)))
    leaks.append(
        Leak(
            "JWT wrapped and quoted",
            "\n".join(f"> {line}" for line in _lines("jwt quoted")),
            tuple(_lines("jwt quoted")),
        )
    )
    key = "sk-ant-api03-" + some(WIDE, 95, "wrapped ant")
    lines = [key[place : place + 50] for place in range(0, len(key), 50)]
    leaks.append(Leak("key wrapped in a box", "\n".join(f"│ {line} │" for line in lines), tuple(lines)))
    leaks.append(
        Leak("key wrapped in a diff", "\n".join(f"+{line}" for line in _ant("diff")), tuple(_ant("diff")))
    )
    leaks.append(Leak("key wrapped with a backslash", " \\\n".join(_ant("slash")), tuple(_ant("slash"))))
    leaks.append(
        Leak(
            "key in adjacent strings",
            "(\n  " + "\n  ".join(f'"{line}"' for line in _ant("adjacent")) + "\n)",
            tuple(_ant("adjacent")),
        )
    )
    leaks.append(
        Leak(
            "key concatenated over lines",
            " +\n".join(f'"{line}"' for line in _ant("concat")),
            tuple(_ant("concat")),
        )
    )
    leaks.append(
        Leak("key concatenated by PHP", " . ".join(f"'{line}'" for line in _ant("php")), tuple(_ant("php")))
    )
    return leaks


def _lines(seed: str) -> list[str]:
    jwt = f"eyJ{some(WIDE, 60, seed + '1')}.eyJ{some(WIDE, 120, seed + '2')}.{some(WIDE, 43, seed + '3')}"
    return [jwt[place : place + 76] for place in range(0, len(jwt), 76)]


def _ant(seed: str) -> list[str]:
    key = "sk-ant-api03-" + some(WIDE, 95, seed)
    return [key[place : place + 54] for place in range(0, len(key), 54)]


LEAKS: tuple[Leak, ...] = (
    *colored(),
    *keys(),
    *encoded(),
    *long_names(),
    *placed(),
    *wallets(),
    *wrapped(),
)


def split() -> list[Split]:
    def each(name: str, make: Any, secret: str) -> Split:
        return Split(name, make(secret), (secret,))

    token = github("chunks")
    halves = github("halves")
    return [
        each("option and value", lambda s: ["mysql", "--password", s], word("a1")),
        each("login -p", lambda s: ["docker", "login", "-u", "ana", "-p", s], word("a2")),
        each("curl -u", lambda s: ["curl", "-u", f"ana:{s}", "https://example.org"], word("a3")),
        each("curl -b", lambda s: ["curl", "-b", f"sid={s}", "https://example.org"], opaque("a4")),
        each("--token", lambda s: ["tool", "--token", s], opaque("a5")),
        each("name and value", lambda s: ["set", "API_KEY", "=", s], opaque("a6")),
        each("bearer", lambda s: ["Authorization:", "Bearer", s], opaque("a7")),
        each("add-authtoken", lambda s: ["ngrok", "config", "add-authtoken", s], opaque("a8")),
        each("nested", lambda s: {"command": {"args": ["sshpass", "-p", s, "ssh", "x"]}}, word("a9")),
        Split(
            "words of a phrase", seed_phrase("list", 12), (json.dumps(seed_phrase("list", 12)[3:7])[1:-1],)
        ),
        Split("lines of a key", pem("list"), tuple(key_body("list"))),
        Split("lines of a diff", [f"+{line}" for line in pem("diff list")], tuple(key_body("diff list"))),
        Split("pieces of a token", [token[:12], token[12:25], token[25:]], (token[12:25], token[25:])),
        Split("halves of a token", ["x", halves[:20], halves[20:]], (halves[:20], halves[20:])),
    ]


SPLIT: tuple[Split, ...] = tuple(split())
