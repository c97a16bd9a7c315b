"""Credentials of every kind, made up: each is put together here, so that none stands in the repository."""

from __future__ import annotations

import base64
import hashlib
import string
from typing import NamedTuple

WORD = string.ascii_letters + string.digits
WIDE = WORD + "_-"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
BASE64 = WORD + "+/"


class Credential(NamedTuple):
    """A secret, what it is called, and the text that it stands in."""

    kind: str
    secret: str
    text: str


def some(alphabet: str, length: int, seed: str) -> str:
    """Characters that are always the same for a seed, with a digit and a letter among the first."""
    stream = hashlib.shake_256(seed.encode()).digest(length)
    letters = "".join(alphabet[byte % len(alphabet)] for byte in stream)
    digit = next((each for each in alphabet if each.isdigit()), "")
    letter = next(each for each in alphabet if each.isalpha())
    return (letter + digit + letters)[:length]


def token(kind: str, prefix: str, alphabet: str, length: int) -> tuple[str, str]:
    return kind, prefix + some(alphabet, length, kind + prefix)


def _pem(label: str, lines: int) -> str:
    body = some(BASE64, 64 * lines + 20, label)
    wrapped = "\n".join(body[place : place + 64] for place in range(0, len(body), 64))
    return f"-----BEGIN {label}-----\n{wrapped}\n-----END {label}-----"


def _jwt() -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"4711","name":"Ana","iat":1516239022}').decode().rstrip("=")
    return f"{head}.{body}.{some(WIDE, 43, 'jwt')}"


def _putty() -> str:
    return (
        "\n".join(some(BASE64, 64, f"putty {line}") for line in range(14))
        + f"\nPrivate-MAC: {some(HEX, 64, 'mac')}"
    )


# What has a form of its own: it is found wherever it stands.
TOKENS: tuple[tuple[str, str], ...] = (
    token("aws-access-key", "AKIA", UPPER, 16),
    token("aws-access-key", "ASIA", UPPER, 16),
    token("google-api-key", "AIza", WIDE, 35),
    token("google-oauth-token", "ya29.", WIDE, 60),
    token("google-oauth-secret", "GOCSPX-", WIDE, 28),
    token("azure-client-secret", "abc8Q~", WORD, 34),
    token("digitalocean-token", "dop_v1_", HEX, 64),
    token("fly-token", "fo1_", WIDE, 43),
    token("render-key", "rnd_", WORD, 28),
    token("netlify-token", "nfp_", WORD, 36),
    token("supabase-key", "sbp_", HEX, 40),
    token("planetscale-token", "pscale_tkn_", WIDE, 43),
    token("vault-token", "hvs.", WIDE, 90),
    token("pulumi-token", "pul-", HEX, 40),
    token("doppler-token", "dp.pt.", WORD, 43),
    token("tailscale-key", "tskey-auth-", WIDE, 40),
    token("age-key", "AGE-SECRET-KEY-1", UPPER, 58),
    token("terraform-token", some(WORD, 14, "tf") + ".atlasv1.", WIDE, 67),
    token("anthropic-key", "sk-ant-api03-", WIDE, 95),
    token("anthropic-key", "sk-ant-oat01-", WIDE, 95),
    token("openai-key", "sk-proj-", WIDE, 120),
    token("openai-key", "sk-", WORD, 48),
    token("openrouter-key", "sk-or-v1-", HEX, 64),
    token("huggingface-token", "hf_", WORD, 34),
    token("groq-key", "gsk_", WORD, 52),
    token("xai-key", "xai-", WORD, 80),
    token("perplexity-key", "pplx-", WORD, 48),
    token("replicate-token", "r8_", WORD, 37),
    token("nvidia-key", "nvapi-", WIDE, 64),
    token("pinecone-key", "pcsk_", WORD, 60),
    token("langsmith-key", "lsv2_pt_", HEX, 32),
    token("github-token", "ghp_", WORD, 36),
    token("github-token", "gho_", WORD, 36),
    token("github-token", "github_pat_", WORD, 82),
    token("gitlab-token", "glpat-", WIDE, 20),
    token("gitlab-token", "glwt-", WIDE, 24),
    token("bitbucket-token", "ATBB", WORD, 32),
    token("atlassian-token", "ATATT3", WIDE, 186),
    token("npm-token", "npm_", WORD, 36),
    token("pypi-token", "pypi-Ag", WIDE, 150),
    token("rubygems-key", "rubygems_", HEX, 48),
    token("docker-token", "dckr_pat_", WIDE, 27),
    token("sonar-token", "sqp_", HEX, 40),
    token("figma-token", "figd_", WIDE, 40),
    token("linear-key", "lin_api_", WORD, 40),
    token("notion-token", "ntn_", WORD, 46),
    token("airtable-token", "pat" + some(WORD, 14, "air") + ".", HEX, 64),
    token("databricks-token", "dapi", HEX, 32),
    token("postman-key", "PMAK-", HEX, 59),
    token("newrelic-key", "NRAK-", UPPER, 27),
    token("sentry-token", "sntrys_", WORD, 90),
    token("grafana-token", "glsa_", WORD, 41),
    token("stripe-key", "sk_live_", WORD, 24),
    token("stripe-key", "rk_test_", WORD, 99),
    token("stripe-key", "sk_org_live_", WORD, 60),
    token("square-token", "EAAA", WIDE, 60),
    token("cloudflare-key", "cfut_", WORD, 40),
    token("aws-bedrock-key", "bedrock-api-key-", BASE64, 120),
    token("moonshot-key", "sk-kimi-", WORD, 64),
    token("minimax-key", "sk-cp-", WIDE, 90),
    token("cartesia-key", "sk_car_", WIDE, 24),
    token("context7-key", "ctx7sk-", HEX, 36),
    token("cursor-key", "crsr_", HEX, 64),
    token("browserbase-key", "bb_live_", WIDE, 27),
    token("apify-token", "apify_api_", WORD, 36),
    token("posthog-key", "phx_", WORD, 43),
    token("webhook-secret", "whsec_", WORD, 32),
    token("slack-token", "xoxb-", string.digits + "-" + WORD, 50),
    token("slack-token", "xoxd-", WORD, 90),
    token("slack-token", "xwfp-", WORD, 60),
    token("slack-webhook", "hooks.slack.com/services/T0", UPPER, 40),
    token("discord-webhook", "discord.com/api/webhooks/123456789012345678/", WIDE, 68),
    (
        "discord-token",
        "M" + some(WORD, 25, "d1") + "." + some(WORD, 6, "d2") + "." + some(WIDE, 37, "d3") + "x",
    ),
    ("telegram-token", "1234567890:AA" + some(WIDE, 32, "telegram") + "x"),
    token("twilio-key", "SK", HEX, 32),
    ("sendgrid-key", "SG." + some(WIDE, 22, "sg1") + "." + some(WIDE, 43, "sg2")),
    token("mailgun-key", "key-", HEX, 32),
    ("mailchimp-key", some(HEX, 32, "mailchimp") + "-us" + "12"),
    token("square-token", "sq0atp-", WIDE, 22),
    token("shopify-token", "shpat_", HEX, 32),
    ("jwt", _jwt()),
    ("private-key", _pem("RSA PRIVATE KEY", 24)),
    ("private-key", _pem("OPENSSH PRIVATE KEY", 6)),
    ("private-key", _pem("PRIVATE KEY", 1)),
    ("private-key", _pem("EC PRIVATE KEY", 0)),
    ("github-token", "ghp_" + "A" * 36),
    ("openai-key", "sk-" + "a" * 48),
    ("private-key", _pem("PGP PRIVATE KEY BLOCK", 30)),
)

# Where people and programs leave them.
PLACES = (
    "{}",
    "use {} please.",
    "export KEY={}\n",
    '{{"key": "{}"}}',
    "curl -H 'X-Key: {}' https://api.example.org/v1",
    "https://example.org/cb?x={}&y=2",
    "key: `{}`, and\nmore",
    "- {}\n- other",
    "(\u201c{}\u201d)",
    'log line\\nkey={}\\n\\"end\\"',
    "redirect%3Dkey%3D{}",
)

_HUNTER = "Hunter" + "2!xy"
_PLAIN = "sword" + "fish"
_HEX32, _AWS = some(HEX, 32, "hex32"), some(BASE64, 40, "aws secret")
_RANDOM = some(WORD, 24, "random")


def in_contexts(kind: str, secret: str, *texts: str) -> list[Credential]:
    return [Credential(kind, secret, text.replace("{}", secret)) for text in texts]


# What is a secret only because of what stands before it.
IN_CONTEXT: tuple[Credential, ...] = (
    *in_contexts(
        "password",
        _HUNTER,
        "password={}",
        'password = "{}"',
        "password: '{}'",
        '{"password": "{}"}',
        '{\\"password\\": \\"{}\\"}',
        "DB_PASSWORD={}",
        'os.environ["PGPASSWORD"] = "{}"',
        "spring.datasource.password={}",
        "MYSQL_ROOT_PASSWORD: {}",
        "Server=db;User Id=app;Password={};Encrypt=true",
        'mysql_pwd => "{}"',
        "passphrase := `{}`",
        "<password>{}</password>",
        '{"name": "DB_PASSWORD", "value": "{}"}',
        "machine git.example.org login ana password {}",
        "ALTER USER app WITH PASSWORD '{}';",
        "CREATE USER app IDENTIFIED BY '{}';",
        "create user app identified by '{}';",
        "sshpass -p '{}' ssh ana@host",
        "mysqldump -u root -p{} shop",
        'mysql -h "db" --user="root" -p{}',
        "password:\t{}",
        "PASSWORD\t=\t'{}'",
        "login --password\t{}",
        "curl -u ana:{} https://example.org",
        "login --password {} --quiet",
        "the password is {}",
        "**Password:** {}",
        "* **Password:** `{}`",
        "| Password | {} |",
        "| **Admin password** | `{}` |",
        "env:\n  - name: DB_PASSWORD\n    value: {}\n",
        '- name: DB_PASSWORD\n  value: "{}"',
        '{\n  "name": "DB_PASSWORD",\n  "value": "{}"\n}',
        '{\n  "name": "DB_PASSWORD",\n  "slotSetting": false,\n  "value": "{}"\n}',
        "docker login -u ana -p {} registry.example.org",
        "mongosh -u admin -p '{}' --quiet",
        "redis-cli -h cache -a {} ping",
        "machine git.example.org\n  login ana\n  password {}\n",
        "machine git.example.org login ana account shop password {}",
        "db.example.org:5432:shop:ana:{}",
        "# .pgpass\n*:*:*:postgres:{}\n",
        "htpasswd -b /etc/nginx/users ana {}",
        "htpasswd -nbB ana {} > users",
        "mariadb -uroot -p{} shop",
        "curl -uana:{} https://example.org",
        'curl -sku "ana:{}" https://example.org',
        "curl --proxy-user ana:{} https://example.org",
        "http -a ana:{} example.org",
        "echo '{}' | sudo -S apt update",
        "echo {} | docker login -u ana --password-stdin",
        "sqlcmd -S db -U sa -P {}",
        "ldapsearch -D cn=admin -w {} -b dc=shop",
        "openssl rsa -in key.pem -passin pass:{}",
        "keytool -list -storepass {}",
        "7z a -p{} a.7z notes",
        "requirepass {}",
        'CREATE USER app IDENTIFIED BY "{}";',
        "CREATE USER app IDENTIFIED WITH mysql_native_password BY '{}';",
        "SET PASSWORD FOR 'app'@'%' = '{}';",
        "CREATE LOGIN app WITH PASSWORD = N'{}';",
        'ConvertTo-SecureString "{}" -AsPlainText -Force',
        "auth: { user: 'ana', pass: '{}' }",
        "RSYNC_PASSWORD={}",
        'password: str = "{}"',
    ),
    *in_contexts(
        "password",
        "correct horse " + "battery 9",
        'password: "{}"',
        "passphrase = '{}'",
        '{"password": "{}"}',
        '{\\"password\\": \\"{}\\"}',
    ),
    *in_contexts(
        "password", "correct horse " + "battery staple", 'export DB_PASSWORD="{}"', "PGPASSWORD='{}' psql"
    ),
    *in_contexts(
        "password", base64.b64encode(b"sword" + b"fish99!").decode(), "kind: Secret\ndata:\n  DB_PASS: {}\n"
    ),
    *in_contexts(
        "password",
        base64.b64encode(
            b"# settings of the shop\nDB_HOST=db\nDB_PASSWORD=sword" + b"fish9\nDEBUG=1\n"
        ).decode(),
        "echo {} | base64 -d > .env",
        '{"content": "{}"}',
    ),
    *in_contexts(
        "private-key",
        base64.b64encode(_pem("RSA PRIVATE KEY", 6).encode()).decode(),
        "    client-key-data: {}\n",
        "kind: Secret\ndata:\n  tls.key: {}\n",
    ),
    *in_contexts("password", "Ab'<9x" + "`y>7", 'DB_PASSWORD="{}"', '{"password": "{}"}'),
    *in_contexts("password", _PLAIN, "DB_PASSWORD={}\n", "export SMTP_PASS={}"),
    *in_contexts("password", "hunter" + "2", "password: {}", "pwd={}"),
    *in_contexts(
        "url-password",
        _HUNTER.replace("!", "%21"),
        "postgres://ana:{}@db.example.org:5432/shop",
        "redis://:{}@cache:6379/0",
        "git clone https://ana:{}@git.example.org/x.git",
        "mongodb+srv://ana:{}@cluster0.abcde.mongodb.net/?retryWrites=true",
        "DATABASE_URL=mysql://root:{}@127.0.0.1/x",
        "amqps://user:{}@mq.example.org/vhost",
    ),
    *in_contexts("url-password", _PLAIN, "postgresql://app:{}@10.0.0.7/shop"),
    *in_contexts(
        "api-key",
        _HEX32,
        "api_key={}",
        "X-Api-Key: {}",
        'apiKey: "{}",',
        "DD_API_KEY={}",
        "?api_key={}&x=1",
        "client.access_key = '{}'",
        "LICENSE_KEY={}",
        "AWS Secret Access Key [None]: {}",
    ),
    *in_contexts(
        "token",
        _RANDOM,
        "token: {}",
        'access_token="{}"',
        "//registry.example.org/:_authToken={}",
        "PRIVATE-TOKEN: {}",
        'refreshToken = "{}"',
        "TWILIO_AUTH_TOKEN={}",
        "gh auth login --with-token {}",
        "API token: {}",
        "set -gx SHOP_TOKEN {}",
        'setx SHOP_API_KEY "{}"',
        "ENV SHOP_TOKEN {}",
        "gh secret set SHOP_TOKEN --body {}",
        'gh secret set SHOP_TOKEN -b"{}" --repo ana/shop',
        "npm config set //registry.example.org/:_authToken {}",
        "your token is: {}",
        "| API key | `{}` |",
        "**Token**: `{}`",
        "<apiKey>{}</apiKey>",
        "<key>ShopToken</key>\n\t<string>{}</string>",
        "aws configure set profile.shop.aws_secret_access_key {}",
    ),
    *in_contexts(
        "api-key",
        _RANDOM,
        'API_KEY: str = "{}"',
        'const API_KEY: &str = "{}";',
        'request.header("X-Api-Key", "{}")',
        'os.getenv("SHOP_API_KEY", "{}")',
        'os.environ.get("SHOP_API_KEY") or "{}"',
        "process.env.API_KEY || '{}'",
        'process.env.API_KEY ?? "{}"',
    ),
    *in_contexts("secret", _RANDOM, 'client_secret: "{}"', "WEBHOOK_SECRET={}", "otpauth://totp/x?secret={}"),
    *in_contexts("secret", "s3cr3t" + "v4lue", 'secret = "{}"'),
    *in_contexts(
        "aws-secret-key",
        _AWS,
        "aws_secret_access_key = {}",
        "AWS_SECRET_ACCESS_KEY={}",
        f"AKIA{some(UPPER, 16, 'pair')},{{}}",
    ),
    *in_contexts("bearer-token", _RANDOM, "Authorization: Bearer {}", "-H 'authorization: bearer {}'"),
    *in_contexts("authorization", _RANDOM, "Authorization: Token {}", '"Authorization": "SSWS {}"'),
    *in_contexts(
        "authorization",
        _RANDOM,
        "Authorization: {}",
        '{"authorization": "{}"}',
        "Authorization: JWT {}",
        "Authorization: Klaviyo-API-Key {}",
        'Authorization: Discogs key="{}"',
        '.header("Authorization", "{}")',
    ),
    *in_contexts(
        "basic-auth",
        base64.b64encode(f"ana:{_HUNTER}".encode()).decode(),
        "Authorization: Basic {}",
        '{"Authorization": "Basic {}"}',
    ),
    *in_contexts("cookie", f"sid={_RANDOM}; theme=dark", "Cookie: {}\n", "set-cookie: {}"),
    *in_contexts(
        "azure-storage-key",
        "AccountKey=" + some(BASE64, 86, "azure") + "==",
        "DefaultEndpointsProtocol=https;AccountName=shop;{};EndpointSuffix=core.windows.net",
    ),
    *in_contexts("private-key", f"\n{_putty()}", "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 14{}\n"),
    *in_contexts(
        "signed-url", some(WORD, 43, "sas") + "%3D", "https://x.blob.core.windows.net/c?sv=2024&sig={}"
    ),
    *in_contexts("signed-url", some(HEX, 64, "amz"), "https://b.s3.amazonaws.com/k?X-Amz-Signature={}"),
)

STANDING_ALONE = tuple(
    Credential(kind, secret, place.format(secret)) for kind, secret in TOKENS for place in PLACES
)

_SHA1, _SHA256 = some(HEX, 40, "sha1"), some(HEX, 64, "sha256")
_UUID = "123e4567-e89b-42d3-a456-426614174000"

# What looks like one and is none.
DECOYS: tuple[str, ...] = (
    f"commit {_SHA1}",
    f"sha256:{_SHA256}",
    f"md5 = {some(HEX, 32, 'md5')}",
    f"session {_UUID} and session_id={_UUID}",
    f"message-id-{_UUID}",
    "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLE" + "KEY",
    "api_key=<YOUR_KEY>",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "ANTHROPIC_API_KEY=sk-ant-api03-your-key-goes-in-this-place",
    "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: ${DB_PASSWORD}",
    "password = os.environ['DB_PASSWORD']",
    "const apiKey = process.env.API_KEY2;",
    "password=$(cat /run/secrets/db1)",
    "PASSWORD=%DB_PASSWORD1%",
    "password: {{ vault_password_1 }}",
    "token = get_token(user1)",
    "password: str = Field(min_length=8)",
    'password: "Enter your password"',
    '"password": "Passwort"',
    "password: ********",
    "the password is required and must have 8 characters",
    "password is case-sensitive",
    "input_tokens: 12345678, max_tokens=4096, total_tokens: 99",
    '"usage": {"input_tokens": 3, "cache_read_input_tokens": 9000}',
    '"nextPageToken": "CAUQAA' + some(WORD, 30, "page") + '"',
    '"token_type": "bearer"',
    "tokenizer: cl100k_base, token_count=128000abc",
    f"password_hash: $2b$12${some(WORD, 53, 'bcrypt')}",
    f'"integrity": "sha512-{some(BASE64, 86, "sha512")}=="',
    f"data:image/png;base64,{some(BASE64, 400, 'png')}=",
    f'"signature": "{some(BASE64, 320, "thought")}"',
    f"cache key: {_SHA256}, primary_key=user_id_12345678",
    "https://example.org:8080/a@b/c:d",
    "postgres://postgres:postgres@localhost:5432/test",
    "postgres://user:password@localhost/db",
    "https://user:${TOKEN}@example.org/",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    f"-----BEGIN PUBLIC KEY-----\n{some(BASE64, 64, 'public')}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{some(BASE64, 640, 'cert')}\n-----END CERTIFICATE-----",
    f"ssh-ed25519 {some(BASE64, 68, 'ssh')} ana@laptop",
    "model claude-3-5-sonnet-20241022, gpt-4o-mini-2024-07-18",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "secretName: my-app-secret-v2",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: {name: shop-db1, key: password}",
    "System.Data, Version=4.0.0.0, Culture=neutral, PublicKeyToken=" + some(HEX, 16, "assembly"),
    "the --username and --password options are refused; use --password instead, or the --password option.",
    "load and return the library identified by 'shop_name'",
    "they stay where they are--pass `strict=False1` if not",
    "- name: TOKEN_URL\n  value: https://auth1.example.org/token",
    "- name: DB_PASSWORD\n  value: $(DB_PASSWORD_1)\n- name: PORT\n  value: 5432",
    "| Password | Required |\n| password | VARCHAR(255) |\n| Token | string | 16 |",
    "**Password:** at least 8 characters",
    "element.html('<input password=\"'+value1+'\">')",
    "docker run -p 8080:80 -a stdout img1; docker login -u ana --password-stdin",
    "mongosh -u admin -p --authenticationDatabase admin1",
    "gh secret set SHOP_TOKEN < token1.txt; set -x API_KEY $OTHER_KEY1; ENV KEY_PATH /etc/keys/shop1.pem",
    "--user-input-color:#00cc00 -user-select:none1",
    "the token: base64url-encoded, signed with sha512crypt-rounds",
    "auth: true, author: john123smith, authority=example",
    "the token is a word; token: string | undefined",
    "toolu_" + some(WORD, 24, "toolu") + " msg_" + some(WORD, 24, "msg") + " call_" + some(WORD, 24, "call"),
    "resp_" + some(HEX, 50, "resp") + " req_" + some(WORD, 24, "req"),
    f"eyJ{some(WIDE, 60, 'cursor')}",
    "pk_live_" + some(WORD, 24, "publishable"),
    "ls --token-file tokens1.txt -u root:root",
    "task-" + some(WORD, 10, "task") + " disk-usage risk-free",
    'raise ValueError("Invalid password or PKCS12 data")',
    "isinstance(private_key, ed25519.Ed25519PrivateKey)",
    '["password", "address1", "token", "email2", "api_key", "base64url-sha256-x86"]',
    'password: "at least 8 characters and 2 digits"',
    '"password": "Enter your 4 digit PIN"',
    'PASSWORD = "Wrong password, 3 attempts left"',
    '"passwordHint": "Passwort (min. 8 Zeichen)"',
    "2026-11-16 10:00:00:1234:worker:main:started src/app.py:1200:in:main:raised",
    "echo hello | sudo tee /etc/motd; echo 1234 | sudo -u ana tee x; sudo -S is insecure",
    "zip -r a.zip notes -P; unzip -l a.zip; ldapsearch -x -w; cqlsh -p",
    "Authorization: required, Authorization, please; authorization: ApplicationDefaultCredentialsProvider",
    "the api key is stored in configuration-service-v2; the token is eventually-consistent",
    f"<key>CFBundleIdentifier</key>\n<string>org.example.shop</string> <key>{_SHA1[:8]}</key>",
    base64.b64encode(b"DB_PASSWORD=${DB_PASSWORD} and other things that are said at length").decode(),
    base64.b64encode(b'{"cursor": "2026-11-16T10:00:00Z", "page": 12, "size": 50}').decode(),
    "/home/ana/.ssh/id_ed25519 and secrets/api_key_2024.txt",
    "[REDACTED:github-token] password=[REDACTED:password]",
)

PERSONAL: tuple[Credential, ...] = (
    *in_contexts(
        "email", "ana.lopez" + "@" + "posteo.de", "write to {}, please", '{"email": "{}"}', "Ana <{}>"
    ),
    *in_contexts("phone", "+49 30 9018" + "2034", "call {} today", '"phone": "{}"'),
    *in_contexts("phone", "+1 (415) 555" + "-0134", "call {} today"),
    *in_contexts("phone", "415-555" + "-0134", "Tel. {}"),
    *in_contexts("phone", "030 9018" + "2034", "Tel. {}"),
    *in_contexts("credit-card", "4111 1111 1111" + " 1111", "card {} exp 12/29", '"card": "{}"'),
    *in_contexts("credit-card", "37828224" + "6310005", "amex {}"),
    *in_contexts("iban", "DE89 3704 0044" + " 0532 0130 00", "IBAN {}", "IBAN: {}."),
    *in_contexts("iban", "GB82WEST1234" + "5698765432", "to {}"),
    *in_contexts("ssn", "123-45" + "-6789", "SSN {}"),
    *in_contexts("ip-address", "84.112." + "37.201", "from {} at noon", '"ip": "{}"'),
)

PERSONAL_DECOYS: tuple[str, ...] = (
    "git@github.com:ana/x.git, noreply@github.com, 12345+ana@users.noreply.github.com",
    "logo@2x.png and @decorator",
    "2026-03-01T10:00:00.000Z, 1771000000, 1771000000000",
    "v1.2.3.4, 10.0.0.1, 127.0.0.1, 192.168.1.20, 8.8.8.8",
    "4111 1111 1111 1112",
    "order 1234-5678-9012-3456",
    "DE89 3704 0044 0532 0130 01",
    "000-12-3456 and 2024-01-02",
    f"{_UUID} {_SHA1}",
    "+ 12345678 lines, - 3 lines, +1,234,567",
    "@@ -120,7 +120,7 @@",
)
