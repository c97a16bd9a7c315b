"""Tokens that vendors made recognizable: the prefix of each, and what follows."""

from __future__ import annotations

from agent_journal.redaction.decoys import is_mixed
from agent_journal.redaction.keys import KEYS
from agent_journal.redaction.rules import EDGE, Rule, token
from agent_journal.redaction.wallets import WALLETS

_WORD = "[A-Za-z0-9]"
_WIDE = "[A-Za-z0-9_-]"
_HEX = "[a-f0-9]"
_BASE64 = "[A-Za-z0-9+/=]"

CLOUDS = (
    token("aws-access-key", "AKIA|ASIA|ABIA|ACCA", "[A-Z0-9]", 16, max_chars=16),
    token("aws-bedrock-key", "ABSK|bedrock-api-key-", _BASE64, 100),
    token("google-api-key", "AIza", _WIDE, 35),
    token("google-api-key", r"AQ\.Ab8", _WIDE, 30),
    token("google-oauth-token", r"ya29\.", "[A-Za-z0-9_.-]", 20),
    token("google-oauth-secret", "GOCSPX-", _WIDE, 24),
    token("google-refresh-token", "1//0", _WIDE, 30),
    token("azure-storage-key", "AccountKey=", "[A-Za-z0-9+/=]", 44),
    token("azure-shared-key", "SharedAccessKey=", "[A-Za-z0-9+/=]", 40),
    token("azure-client-secret", r"[A-Za-z0-9_~.-]{3}[0-9]Q~", "[A-Za-z0-9_~.-]", 31, max_chars=34),
    token("azure-devops-token", "[A-Za-z0-9]{52,76}AZDO", _WORD, 4, trigger="AZDO[A-Za-z0-9]{4}"),
    token("azure-key", "[A-Za-z0-9]{20,52}JQQJ99", _WORD, 20, trigger="JQQJ99[A-Za-z0-9]{16}"),
    token("digitalocean-token", "do[opr]_v1_", _HEX, 64),
    token("alibaba-access-key", "LTAI", _WORD, 16, max_chars=26),
    token("tencent-secret-id", "AKID", _WORD, 32, max_chars=36),
    token("cloudflare-key", r"v1\.0-[a-f0-9]{24}-", _HEX, 100),
    token("cloudflare-key", "cf(?:ut|at|k)_", _WORD, 32, check=is_mixed),
    token("heroku-key", "HRKU-", _WIDE, 36),
    token("fly-token", "FlyV1 |fm[12][ar]?_", "[A-Za-z0-9+/=_,-]", 60),
    token("fly-token", "fo1_", _WIDE, 40),
    token("render-key", "rnd_", _WORD, 24),
    token("netlify-token", "nfp_", _WORD, 32),
    token("vercel-token", "vc[kpira]_", _WORD, 24, check=is_mixed),
    token("supabase-key", "sbp_", _HEX, 40),
    token("supabase-key", "sb_secret_", _WIDE, 20),
    token("planetscale-token", "pscale_(?:tkn|pw|oauth)_", "[A-Za-z0-9_.=-]", 30),
    token("neon-key", "napi_", _WORD, 40),
    token("scalingo-token", "tk-us-", _WIDE, 40),
    token("tailscale-key", "tskey-[a-z]+-", _WIDE, 20),
    token("vault-token", r"hv[sbr]\.", _WIDE, 24),
    token("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.", _WIDE, 60, trigger=r"\.atlasv1\."),
    token("pulumi-token", "pul-", _HEX, 40),
    token("doppler-token", r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?", _WORD, 40),
    token("1password-token", "ops_eyJ", _BASE64, 100),
    token("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]", 58),
    token("age-key", "age-secret-key-1", "[a-z0-9]", 58),
    token("age-key", "AGE-PLUGIN-[A-Z0-9]{2,20}-1", "[A-Z0-9]", 40),
)

MODELS = (
    token("anthropic-key", "sk-ant-[a-z0-9]{2,12}-", _WIDE, 20),
    token("openrouter-key", "sk-or-(?:v1-)?", _HEX, 32),
    token("openai-key", "sk-(?:proj|svcacct|admin|None|service|user)-", _WIDE, 20),
    token("openai-key", "sess-", _WORD, 40),
    token("moonshot-key", "sk-kimi-", _WORD, 32),
    token("minimax-key", "sk-cp-", _WIDE, 40, check=is_mixed),
    token("cartesia-key", "sk_car_", _WIDE, 20, check=is_mixed),
    token("langfuse-key", "sk-lf-", "[a-f0-9-]", 32),
    # Also DeepSeek, Moonshot and others with the same API.
    token("openai-key", "sk-", _WORD, 20, check=is_mixed),
    token("huggingface-token", "hf_|api_org_", _WORD, 30),
    token("groq-key", "gsk_", _WORD, 40),
    token("xai-key", "xai-", _WORD, 60),
    token("perplexity-key", "pplx-", _WORD, 40),
    token("replicate-token", "r8_", _WORD, 36),
    token("fireworks-key", "fw_", _WORD, 22, check=is_mixed),
    token("together-key", "tgp_v1_", _WIDE, 40),
    token("cerebras-key", "csk-", _WORD, 40, check=is_mixed),
    token("nvidia-key", "nvapi-", _WIDE, 40),
    token("elevenlabs-key", "sk_", _HEX, 48),
    token("tavily-key", "tvly-", _WIDE, 20, check=is_mixed),
    token("firecrawl-key", "fc-", _HEX, 32, max_chars=32),
    token("langsmith-key", "lsv2_(?:pt|sk)_", "[a-f0-9_]", 32),
    token("pinecone-key", "pcsk_", "[A-Za-z0-9_]", 40),
    token("context7-key", "ctx7sk-", "[a-f0-9-]", 32),
    token("cursor-key", "crsr_|key_", _HEX, 64),
    token("browserbase-key", "bb_(?:live|test)_", _WIDE, 24, check=is_mixed),
    token("apify-token", "apify_api_", _WORD, 32),
    token("jina-key", "jina_", _WIDE, 40),
    token("e2b-key", "e2b_", _HEX, 40),
    token("runpod-key", "rpa_", _WORD, 40),
    token("wandb-key", "wandb_v1_", _WIDE, 40),
    token("voyage-key", "pa-", _WIDE, 43, max_chars=43, check=is_mixed),
)

CODE = (
    token("github-token", "gh[pousr]_", "[A-Za-z0-9_]", 36),
    token("github-token", "github_pat_", "[A-Za-z0-9_]", 36),
    token("gitlab-token", "gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-", "[A-Za-z0-9_.-]", 20),
    token("gitlab-token", "GR1348941", _WIDE, 20),
    token("bitbucket-token", "ATBB", _WORD, 28, max_chars=36),
    token("atlassian-token", "AT[AC]TT3", "[A-Za-z0-9_=-]", 60),
    token("npm-token", "npm_", _WORD, 36),
    token("pypi-token", "pypi-Ag", _WIDE, 50),
    token("rubygems-key", "rubygems_", _HEX, 48),
    token("crates-token", "cio", _WORD, 32, max_chars=32, check=is_mixed),
    token("nuget-key", "oy2", "[a-z0-9]", 43, max_chars=43),
    token("clojars-token", "CLOJARS_", "[a-z0-9]", 60),
    token("docker-token", "dckr_[po]at_", _WIDE, 20),
    token("jfrog-key", "AKCp[0-9]", _WORD, 60),
    token("sonar-token", "sq[pua]_", _HEX, 40),
    token("circleci-token", "CCI(?:PAT|PRJ)_", "[A-Za-z0-9_]", 30),
    token("buildkite-token", "bkua_", _HEX, 40),
    token("sourcegraph-token", "sgp_", "[A-Za-z0-9_]", 40),
    token("postman-key", "PMAK-", "[a-f0-9-]", 59),
    token("figma-token", "fig[du]_", _WIDE, 36),
    token("linear-key", "lin_(?:api|oauth)_", _WORD, 32),
    token("notion-token", "ntn_", _WORD, 40),
    token("notion-token", "secret_", _WORD, 43, max_chars=43, check=is_mixed),
    token("airtable-token", r"pat[A-Za-z0-9]{14}\.", _HEX, 64),
    token("databricks-token", "dapi", "[a-f0-9-]", 32, check=is_mixed),
    token("newrelic-key", "NR(?:AK|II|JS|AA)-", _WIDE, 24),
    token("sentry-token", "sntry[su]_", "[A-Za-z0-9_+/=-]", 40),
    token("grafana-token", "glsa_", "[A-Za-z0-9_]", 40),
    token("grafana-token", "glc_eyJ", _BASE64, 30),
    token("posthog-key", "phx_", _WORD, 40),
    token("dynatrace-token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.", "[A-Z0-9]", 64),
    token("contentful-token", "CFPAT-", _WIDE, 40),
    token("prefect-key", "pn[ub]_", _WORD, 36),
    token("readme-key", "rdme_", _WORD, 60),
    token("infracost-key", "ico-", _WORD, 32, check=is_mixed),
    token("launchdarkly-key", "sdk-", "[a-f0-9-]", 36, max_chars=36, check=is_mixed),
)

SERVICES = (
    token("stripe-key", "[sr]k_(?:live|test|prod|org)_", "[A-Za-z0-9_]", 16, check=is_mixed),
    token("webhook-secret", "whsec_", _BASE64, 24),
    token("slack-token", r"xox[abcdeoprs]-|xoxe\.xox[bp]-|xwfp-", "[A-Za-z0-9%-]", 10, check=is_mixed),
    token("slack-token", "xapp-[0-9]-", "[A-Za-z0-9-]", 20),
    token("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/", "[A-Za-z0-9/]", 24),
    token("discord-webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{15,20}/", _WIDE, 40),
    token("teams-webhook", r"webhook\.office\.com/webhookb2/", "[A-Za-z0-9@/-]", 60),
    Rule(
        kind="discord-token",
        before=EDGE,
        pattern=r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        after=r"(?![A-Za-z0-9_.-])",
        trigger=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
        check=is_mixed,
    ),
    Rule(
        kind="telegram-token",
        before=EDGE,
        pattern="[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}",
        after="(?![A-Za-z0-9_-])",
        trigger="[0-9]:AA[A-Za-z0-9_-]{30}",
    ),
    Rule(
        kind="telegram-token",  # in the URL of a bot
        before="(?i:bot)",
        pattern="[0-9]{8,10}:[A-Za-z0-9_-]{35}",
        after="(?![A-Za-z0-9_-])",
        trigger="(?i:bot)[0-9]{8,10}:[A-Za-z0-9_-]{35}",
    ),
    Rule(
        kind="ngrok-token",
        before=EDGE,
        pattern="[123][A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}",
        after="(?![A-Za-z0-9_-])",
        trigger=r"(?:^|[^A-Za-z0-9]|\\[nrt])[123][A-Za-z0-9]{26}_[A-Za-z0-9]{20}",
        check=is_mixed,
    ),
    token("twilio-key", "SK", _HEX, 32, max_chars=32),
    Rule(
        kind="sendgrid-key",
        before=EDGE,
        pattern=r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",
        trigger=r"SG\.[A-Za-z0-9_-]{16}",
    ),
    token("mailgun-key", "key-", _HEX, 32, max_chars=32),
    token(
        "mailgun-key", "[a-f0-9]{32}-[a-f0-9]{8}-", _HEX, 8, max_chars=8, trigger="-[a-f0-9]{8}-[a-f0-9]{8}"
    ),
    token("mailchimp-key", "[a-f0-9]{32}-us", "[0-9]", 1, max_chars=2, trigger="[a-f0-9]-us[0-9]"),
    token("resend-key", "re_[A-Za-z0-9]{8}_", _WORD, 22, max_chars=26),
    token("brevo-key", "xkeysib-", "[A-Za-z0-9-]", 60),
    token("square-token", "sq0(?:atp|csp|idp)-", _WIDE, 22),
    token("square-token", "EAAA", _WIDE, 60, max_chars=60, trigger="EAAA[A-Za-z0-9_-]{60}", check=is_mixed),
    token("shopify-token", "shp(?:at|ss|ca|pa)_", "[a-fA-F0-9]", 32),
    token("plaid-token", "access-(?:sandbox|development|production)-", "[a-f0-9-]", 36),
    token("razorpay-key", "rzp_(?:live|test)_", _WORD, 14),
    token("braintree-token", r"access_token\$production\$[a-z0-9]{16}\$", _HEX, 32),
    token("easypost-key", "EZ[AT]K", _WORD, 54),
    token("flutterwave-key", "FLWSECK(?:_TEST)?-", _WIDE, 12),
    token("facebook-token", "EAA[A-Z]", _WORD, 100, trigger="EAA[A-Z][A-Za-z0-9]{100}"),
    token("mapbox-token", r"sk\.eyJ", "[A-Za-z0-9_.-]", 60),
    token("typeform-token", "tfp_", "[A-Za-z0-9_.-]", 40),
    token("adafruit-key", "aio_", _WORD, 28, check=is_mixed),
)

WEB_TOKENS = (
    Rule(
        kind="jwt",
        before=EDGE,
        pattern=r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        trigger=r"\.eyJ[A-Za-z0-9_-]{8}",
        wrappable_prefix="eyJ[A-Za-z0-9_-]{4}",
    ),
    Rule(
        kind="jwt",  # encrypted: five pieces
        before=EDGE,
        pattern=r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        trigger=r"eyJ[A-Za-z0-9_-]{10,160}\.[A-Za-z0-9_-]{0,2}",
    ),
)

TOKENS = (*CLOUDS, *MODELS, *CODE, *SERVICES, *KEYS, *WEB_TOKENS, *WALLETS)
