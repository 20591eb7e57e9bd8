"""What redaction is measured on: `POSITIVES`, `(kind, text, secret)`, and `NEAR_MISSES`, texts.

A positive is caught when nothing of the secret but a beginning is left. Keys are put together
here, so that no file of this repository looks like it holds one; their bodies are drawn by a fixed
generator, in each vendor's alphabet and length. Near-misses are what stands in manuals, logs, code
and tables: placeholders, types, versions, identifiers, numbers whose check digits are wrong.
"""

import random
import string

_RANDOM = random.Random(21)
_W = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"


def body(size: int, letters: str = _W) -> str:
    """So many letters, with a digit among them."""
    drawn = "".join(_RANDOM.choice(letters) for _ in range(size - 1))
    return drawn[: size // 2] + "7" + drawn[size // 2 :]


_PEM = "-----BEGIN {0}PRIVATE KEY{1}-----\n{2}\n{3}\n-----END {0}PRIVATE KEY{1}-----"
_UUID = "-".join(body(each, _HEX) for each in (8, 4, 4, 4, 12))
KEYS = {
    "aws": "AKIA" + body(16, string.ascii_uppercase + string.digits),
    "aws session": "ASIA" + body(16, string.ascii_uppercase + string.digits),
    "bedrock": "ABSK" + body(120),
    "alibaba": "LTAI5t" + body(18),
    "azure ad": body(3) + "8Q~" + body(34, _W + "_~.-"),
    "google": "AIza" + body(35, _W + "-_"),
    "google oauth": "ya29." + body(120, _W + "-_"),
    "google client": "GOCSPX-" + body(28, _W + "-_"),
    "google refresh": "1//0" + body(60, _W + "-_"),
    "gemini": "AQ.Ab" + body(48, _W + "-_"),
    "github": "ghp_" + body(36),
    "github oauth": "gho_" + body(36),
    "github app": "ghs_" + body(36),
    "github refresh": "ghr_" + body(76),
    "github fine": "github_pat_" + body(22) + "_" + body(59),
    "gitlab": "glpat-" + body(20, _W + "-_"),
    "gitlab deploy": "gldt-" + body(20),
    "gitlab runner": "glrt-" + body(20),
    "gitlab job": "glcbt-64_" + body(20),
    "bitbucket": "ATBB" + body(32),
    "atlassian": "ATATT3xFfGF0" + body(170, _W + "-_") + "=" + body(8, _HEX),
    "slack bot": f"xoxb-{body(12, string.digits)}-{body(13, string.digits)}-{body(24)}",
    "slack user": f"xoxp-{body(12, string.digits)}-{body(12, string.digits)}-{body(32, _HEX)}",
    "slack rotated": "xoxe.xoxp-1-" + body(160),
    "slack app": f"xapp-1-A{body(10)}-{body(13, string.digits)}-{body(64, _HEX)}",
    "stripe": "sk_live_" + body(24),
    "stripe long": "sk_live_51" + body(97),
    "stripe restricted": "rk_live_" + body(99),
    "stripe webhook": "whsec_" + body(32),
    "openai": "sk-" + body(48),
    "openai project": "sk-proj-" + body(74, _W + "-_") + "T3BlbkFJ" + body(74, _W + "-_"),
    "openai service": "sk-svcacct-" + body(120, _W + "-_"),
    "openai admin": "sk-admin-" + body(120, _W + "-_"),
    "anthropic": "sk-ant-api03-" + body(93, _W + "-_") + "AA",
    "anthropic admin": "sk-ant-admin01-" + body(93, _W + "-_") + "AA",
    "anthropic oauth": "sk-ant-oat01-" + body(93, _W + "-_"),
    "openrouter": "sk-or-v1-" + body(64, _HEX),
    "deepseek": "sk-" + body(32, _HEX),
    "groq": "gsk_" + body(52),
    "xai": "xai-" + body(80),
    "perplexity": "pplx-" + body(48),
    "replicate": "r8_" + body(37),
    "hugging face": "hf_" + body(34, string.ascii_letters),
    "nvidia": "nvapi-" + body(64, _W + "-_"),
    "together": "tgp_v1_" + body(43, _W + "-_"),
    "fireworks": "fw_" + body(24),
    "pinecone": "pcsk_" + body(70, _W + "_"),
    "langsmith": f"lsv2_pt_{body(32, _HEX)}_{body(10, _HEX)}",
    "elevenlabs": "sk_" + body(48, _HEX),
    "tavily": "tvly-dev-" + body(32),
    "databricks": "dapi" + body(32, _HEX) + "-2",
    "sendgrid": f"SG.{body(22, _W + '-_')}.{body(43, _W + '-_')}",
    "mailgun": "key-" + body(32, _HEX),
    "mailchimp": body(32, _HEX) + "-us12",
    "brevo": f"xkeysib-{body(64, _HEX)}-{body(16)}",
    "twilio": "SK" + body(32, _HEX),
    "npm": "npm_" + body(36),
    "pypi": "pypi-AgEIcHlwaS5vcmc" + body(150, _W + "-_"),
    "rubygems": "rubygems_" + body(48, _HEX),
    "digitalocean": "dop_v1_" + body(64, _HEX),
    "heroku": "HRKU-" + body(60, _W + "-_"),
    "fly": "fm2_" + body(200, _W + "+/"),
    "netlify": "nfp_" + body(36),
    "supabase": "sbp_" + body(40, _HEX),
    "supabase secret": "sb_secret_" + body(31, _W + "-_"),
    "render": "rnd_" + body(28),
    "planetscale": "pscale_tkn_" + body(43, _W + "-_"),
    "linear": "lin_api_" + body(40),
    "notion": "ntn_" + body(46),
    "notion old": "secret_" + body(43),
    "airtable": f"pat{body(14)}.{body(64, _HEX)}",
    "figma": "figd_" + body(40, _W + "-_"),
    "discord": f"MT{body(24)}.{body(6)}.{body(38, _W + '-_')}",
    "telegram": f"{body(10, string.digits)}:AA{body(33, _W + '-_')}",
    "shopify": "shpat_" + body(32, _HEX),
    "square": "sq0csp-" + body(43, _W + "-_"),
    "meta": "EAA" + body(180),
    "new relic": "NRAK-" + body(27, string.ascii_uppercase + string.digits),
    "grafana": f"glsa_{body(32)}_{body(8, _HEX)}",
    "sentry": "sntrys_" + body(140, _W + "+/="),
    "postman": f"PMAK-{body(24, _HEX)}-{body(34, _HEX)}",
    "doppler": "dp.pt." + body(43),
    "vault": "hvs." + body(90, _W + "-_"),
    "terraform": f"{body(14)}.atlasv1.{body(67, _W + '-_')}",
    "age": "AGE-SECRET-KEY-1" + body(58, string.ascii_uppercase + string.digits),
    "docker": "dckr_pat_" + body(27, _W + "-_"),
    "1password": "ops_eyJ" + body(250, _W + "-_"),
    "sonar": "squ_" + body(40, _HEX),
    "contentful": "CFPAT-" + body(43, _W + "-_"),
    "pulumi": "pul-" + body(40, _HEX),
    "circleci": f"CCIPAT_{body(22)}_{body(40, _HEX)}",
    "buildkite": "bkua_" + body(40, _HEX),
    "plaid": f"access-production-{_UUID}",
    "razorpay": "rzp_live_" + body(14),
    "flutterwave": f"FLWSECK-{body(32, _HEX)}-X",
    "redask": f"redask_{body(16, _HEX)}_{body(64, _HEX)}",
}
_IN = ("the key is {}.", "KEY:{}", "({})", "curl -H 'X: {}'", "{}\n")
_HASH = body(32, _HEX)
_PW, _TOKEN, _B64 = "hunter2!", body(40), body(86, _W + "+/") + "=="
_NBSP, _THIN, _EN, _NBH = "\u00a0", "\u202f", "\u2013", "\u2011"
_JWT = f"eyJhbGciOiJSUzI1NiJ9.eyJ{body(60)}.{body(80, _W + '-_')}"
POSITIVES: list[tuple[str, str, str]] = [
    *(("api_key", _IN[at % 5].format(key), key) for at, key in enumerate(KEYS.values())),
    *(
        ("private_key", _PEM.format(kind, end, body(64), body(64)), "PRIVATE KEY")
        for kind, end in (("", ""), ("RSA ", ""), ("EC ", ""), ("OPENSSH ", ""), ("DSA ", ""))
    ),
    ("private_key", _PEM.format("ENCRYPTED ", "", body(64), body(60)), "PRIVATE KEY"),
    ("private_key", _PEM.format("PGP ", " BLOCK", body(64), body(60)), "PRIVATE KEY"),
    ("private_key", _PEM.format("", "", body(64), "").replace("\n", "\\n"), "PRIVATE KEY"),
    ("private_key", f"-----BEGIN RSA PRIVATE KEY-----\n{body(64)}", "PRIVATE KEY"),
    ("jwt", _JWT, _JWT),
    ("jwt", f"?id_token={_JWT}&x=1", _JWT),
    ("bearer_token", f"Authorization: Bearer {_TOKEN}", _TOKEN),
    ("bearer_token", f"authorization:{_NBSP}bearer{_NBSP}{_TOKEN}", _TOKEN),
    ("bearer_token", f"Authorization: Basic {_B64}", _B64),
    ("bearer_token", f'"Authorization": "Token {_TOKEN}"', _TOKEN),
    ("bearer_token", f"Authorization: ApiKey {_TOKEN}", _TOKEN),
    *(
        ("password", text.format(_PW), _PW)
        for text in (
            "password={}",
            "Password: {}",
            "password\t=\t{}",
            f"password{_NBSP}:{_NBSP}{{}}",
            f"password{_THIN}={_THIN}{{}}",
            "password：{}",
            "PASSWORD = '{}'",
            'password: "{}"',
            "password: “{}”",
            "password=`{}`",
            "password := {}",
            ":password => '{}'",
            "'password' => '{}',",
            '{{"password":"{}"}}',
            '{{\\"password\\":\\"{}\\"}}',
            "spring.datasource.password={}",
            "DB_PASSWORD={}",
            "export PGPASSWORD='{}'",
            "MYSQL_PWD={}",
            "SMTP_PASS={}",
            "db-pass: {}",
            "passwd: {}",
            "passphrase: {}",
            "passcode={}",
            "Passwort: {}",
            "Kennwort: {}",
            "mot de passe : {}",
            "contraseña: {}",
            "senha={}",
            "<password>{}</password>",
            "<db:Password type='x'>{}</db:Password>",
            "mysqldump --password {} shop",
            "psql --db-password '{}'",
            "mysql -u root -p{} shop",
            "sshpass -p {} ssh h",
            "redis-cli -h h -a {} ping",
            "curl -u admin:{} https://h/",
            'curl --user "admin:{}" https://h/',
            "machine h login jo password {}",
            "Server=h;Database=d;Uid=sa;Pwd={};",
            "Data Source=h;User ID=sa;Password={};Encrypt=yes",
            "jdbc:sqlserver://h:1433;user=sa;password={};",
            "jdbc:mysql://h/d?user=root&password={}&x=1",
            "jdbc:oracle:thin:scott/{}@//h:1521/x",
            "sqlplus scott/{}@db",
            "postgres://jo:{}@h:5432/d",
            "postgresql+psycopg://jo:{}@h/d",
            "mysql://root:{}@127.0.0.1/d",
            "mongodb+srv://jo:{}@c.mongodb.net/d",
            "amqps://jo:{}@h/v",
            "redis://:{}@h:6379/0",
            "rediss://default:{}@h:6379",
            "ftp://jo:{}@h/f",
            "smtp://jo%40x.de:{}@h:587",
            "https://jo:{}@h/repo.git",
            "clickhouse://d:{}@h:9000/x",
            "ldap://cn=jo:{}@h",
            "snowflake://jo:{}@acct/db",
        )
    ),
    *(
        ("secret", text.format(_TOKEN), _TOKEN)
        for text in (
            "api_key={}",
            "API-KEY: {}",
            "apiKey = '{}'",
            "x-api-key: {}",
            "?api_key={}&x=1",
            "OPENAI_API_KEY={}",
            "AWS_SECRET_ACCESS_KEY={}",
            "aws_secret_access_key = {}",
            "client_secret: {}",
            "CLIENT-SECRET={}",
            "access_token={}",
            "refresh_token: {}",
            "auth_token: '{}'",
            "X-Auth-Token: {}",
            "private_key: {}",
            "signing_key={}",
            "encryption key: {}",
            "subscription-key: {}",
            "Ocp-Apim-Subscription-Key: {}",
            "webhook_secret: {}",
            "session_key={}",
            "--api-key {}",
            "--token '{}'",
            "<apiKey>{}</apiKey>",
            "<add key='x'/><secret>{}</secret>",
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
            "Endpoint=sb://n/;SharedAccessKeyName=r;SharedAccessKey={}",
            "https://a.blob.core.windows.net/c?sv=2022&sig={}",
            "https://b.s3.amazonaws.com/k?X-Amz-Signature={}",
            f"token{_NBSP}={_NBSP}{{}}",
        )
    ),
    ("api_key", f"https://hooks.slack.com/services/T0A1/B0A2/{body(24)}", "T0A1/B0A2"),
    ("api_key", f"https://discord.com/api/webhooks/{body(18, string.digits)}/{_TOKEN}x", _TOKEN),
    ("api_key", f"https://{_HASH}@o1.ingest.sentry.io/5", _HASH),
    *(
        ("email", text, "jo.do+x@mail.example.org")
        for text in (
            "jo.do+x@mail.example.org",
            "mailto:jo.do+x@mail.example.org?subject=x",
            "Jo <jo.do+x@mail.example.org>,",
            "write to jo.do+x@mail.example.org.",
            "jo.do+x@mail.example.org;a",
            f"{_NBSP}jo.do+x@mail.example.org{_NBSP}",
        )
    ),
    ("email", "jörg@bücher.example", "jörg@bücher.example"),
    ("email", "JO_DO@EXAMPLE.CO.UK", "JO_DO@EXAMPLE.CO.UK"),
    ("email", "a@xn--bcher-kva.xn--p1ai", "xn--bcher-kva"),
    *(
        ("iban", f"IBAN {number} bitte", number)
        for number in (
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            f"DE89{_NBSP}3704{_NBSP}0044{_NBSP}0532{_NBSP}0130{_NBSP}00",
            f"DE89{_THIN}3704{_THIN}0044{_THIN}0532{_THIN}0130{_THIN}00",
            "DE89-3704-0044-0532-0130-00",
            f"DE89{_NBH}3704{_NBH}0044{_NBH}0532{_NBH}0130{_NBH}00",
            "DE89.3704.0044.0532.0130.00",
            "gb82 west 1234 5698 7654 32",
            "FR14 2004 1010 0505 0001 3M02 606",
            "NL91ABNA0417164300",
            "CH93 0076 2011 6238 5295 7",
        )
    ),
    *(
        ("card", f"card {number} exp 12/27", number)
        for number in (
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            f"4111{_NBSP}1111{_NBSP}1111{_NBSP}1111",
            f"4111{_THIN}1111{_THIN}1111{_THIN}1111",
            f"4111{_EN}1111{_EN}1111{_EN}1111",
            f"4111{_NBH}1111{_NBH}1111{_NBH}1111",
            "4111.1111.1111.1111",
            "5555555555554444",
            "5555 5555 5555 4444",
            "2223003122003222",
            "378282246310005",
            "3782 822463 10005",
            "6011111111111117",
            "3530111333300000",
            "30569309025904",
        )
    ),
    *(
        ("ipv4", text, number)
        for text, number in (
            ("from 192.168.0.1, to", "192.168.0.1"),
            ("10.0.0.0/8", "10.0.0.0"),
            ("8.8.8.8:53", "8.8.8.8"),
            ("[203.0.113.9]", "203.0.113.9"),
            ("203[.]0[.]113[.]9", "203[.]0"),
            ("x=198.51.100.7;", "198.51.100.7"),
        )
    ),
    *(
        ("ipv6", text, number)
        for text, number in (
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("fe80::1%eth0", "fe80::1"),
            ("::1", "::1"),
            ("2001:0DB8:0000:0000:0000:FF00:0042:8329", "2001:0DB8"),
            ("::ffff:192.0.2.1 x", "::ffff:192.0.2.1"),
        )
    ),
    *(
        ("phone", f"Tel. {number}, ab 9", number)
        for number in (
            "+49 30 901820",
            "+49 (0)30 901820",
            "+4930901820",
            f"+49{_NBSP}30{_NBSP}901820",
            f"+49{_THIN}30{_THIN}901820",
            f"+49{_EN}30{_EN}901820",
            f"+49{_NBH}30{_NBH}901820",
            "+1 (555) 123-4567",
            "+1.555.123.4567",
            "0049 171 5551234",
            "030/1234567",
            "030 / 1234567",
            "0171-5551234",
            f"0171{_NBSP}5551234",
            f"0171{_EN}5551234",
            "(030) 901820",
            "01 23 45 67 89",
            "01.23.45.67.89",
            "03-1234-5678",
            "(555) 123-4567",
            "555-123-4567",
            "555.123.4567",
            "1-800-555-0199",
            "+44 20 7946 0958",
            "020 7946 0958",
            "+86 138 0013 8000",
        )
    ),
]

_NAMES = ("password", "token", "secret", "api_key", "client_secret", "access_token", "passphrase")
_STANDING = (
    *("${SECRET}", "$SECRET", "<your key>", "{{ vault }}", "***", "xxxxxxxx", "null", "None"),
    *("str", "string", "os.environ['X']", "process.env.X", "get_value()", "required", "..."),
)
_SENTENCES = (
    *("The bearer of this certificate may enter.", "Passwords are stored as hashes."),
    *("A token is a unit of text.", "tokens: 500, passwordless: true", "max_tokens=1024"),
    *("password: must be at least 12 characters", "Password: the words you chose"),
    *("token: a unit of text that a model reads", "secret: it is in the sauce"),
    *("Forgot your password?", "Reset password", "password policy", "password-protected file"),
    *("the secret garden", "secretary: Ann", "Secret Santa 2026", "tokenizer: bert", "token count"),
    *("key: value", "the key to success", "primary key (id)", "foreign key", "keyboard: us"),
    *("public_key_type", "Use sk-learn-based-classification-model here", "sk-SK locale"),
    *("pk_customers", "ghp stands for geothermal heat pump", "hf_hub is a library", "npm_config"),
    *("AKIA is a prefix", "AIza", "xoxb tokens begin so", "glpat- is a prefix", "eyJ is not much"),
    *("SG.1 and SG.2", "key-value store", "whsec", "a sk- b", "dop_v1", "secret_santa_list"),
    *("me @ home, @handle, x@localhost", "lodash@4.17.21", "react@18.2.0", "logo@2x.png"),
    *("git@github.com:org/repo.git", "icon@3x.svg", "@media (min-width: 1px)", "a@b", "user@host"),
    *("@types/node@20.1.0", "python@3.11", "E=mc2@rest", "10@5.00", "@team, please", "5 @ 2.50"),
    *("version 1.2.3.4", "Release 10.0.0.1", "build 4.5.6.7", "section 1.2.3.4", "v1.2.3.4"),
    *("300.1.1.1", "1.2.3.4.5", "1.2.3", "256.1.1.1", "10.20.30", "§ 1.2.3.4.5", "1,2,3,4"),
    *("std::vector", "a :: b", "10:20:30", "12:34", "00:1a:2b:3c:4d:5e", "Foo::bar()", "a::b"),
    *("dead::beef", "::", "x::y::z", "1:2", "key::value", "12:30:45.123", "0:00:01", "aa:bb:cc"),
    *("https://example.org:8080/a@b", "http://h:80/x", "ssh://h:22/x", "https://example.org/a"),
    *("postgres://h/d", "postgres://jo@h/d", "redis://h:6379/0", "postgres://${U}:${P}@h/d"),
    *("mysql://root:<password>@h/d", "https://u:***@h", "jdbc:mysql://h/d", "file:///etc/hosts"),
    *("mysql -u root -p shop", "curl -u admin https://h", "psql -p 5432", "--password", "--token"),
    *("--password-file /run/x", "--token-limit 500", "-p 8080", "ssh -p 22 h", "curl https://h"),
    *("<password></password>", "<token/>", "<secret>***</secret>", "</password>", "<password>"),
    *("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "BEGIN PRIVATE KEY"),
    *("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "PRIVATE KEY holders"),
    *("Authorization: required", "authorization is needed", "Basic English", "Bearer of news"),
    *("bearer bonds", "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}"),
    *("DE89370400440532013001", "GB82WEST123456987654321", "AB12 3456 7890 1234", "DE12 3456"),
    *("ISO 9001:2015", "RFC 2119", "DIN EN 62366-1", "EN12345678901234", "AT12 not an IBAN"),
    *("2026-05-04", "04.05.2026", "2026-05-04T10:20:30Z", "20260504102030", "12/31/2026"),
    *("ISBN 978-3-16-148410-0", "EAN 4006381333931", "0x1F4A9C", "1e10", "3.14159265358979"),
    *("1,234,567.89", "1 234 567", "12 345 678 EUR", "$1,299.00", "50 %", "100-200", "5-10 days"),
    *("order 4111111111111112", "4111 1111 1111 1112", "12345678", "order 12-345", "No. 0815"),
    *("1700000000000000000", "1700000000123", "9007199254740993", "18446744073709551615"),
    *("Room 0.123", "0.5", "007", "0123", "phone: n/a", "ext. 42", "call 911", "dial 112"),
    *("00:00:00", "+5 °C", "+100", "-20", "+3 points", "1-2-3", "01-02-03", "2019-2024"),
    *("1998-2004-2010", "chapter 01 02", "0 12 34", "24/7", "1/2/3", "3-4-3 formation", "4x4"),
    *("``APP_SECRET``: Equivalent to the option", "-v `pwd`:/mnt", "<create_token>` for signed"),
    *("4676002274784316434", "4243557355858281972", "-6580776415184358023", '"_id": "-533432"'),
    *("C-3PO", "R2-D2", "B-52", "A4 paper", "H2O", "COVID-19", "Python 3.11", "UTF-8", "SHA-256"),
)


def _wrong_check_digit(number: str) -> str:
    return number[:-1] + str((int(number[-1]) + 1) % 10)


def _near_misses() -> list[str]:
    found = [*_SENTENCES]
    found += [f"{name}: {value}" for name in _NAMES for value in _STANDING]
    found += [f"{name} = {value}" for name in _NAMES[:4] for value in _STANDING]
    for _ in range(20):
        found += [
            f"commit {body(40, _HEX)}",
            f"sha256:{body(64, _HEX)}",
            "-".join(body(each, _HEX) for each in (8, 4, 4, 4, 12)),
            f"order 4{_wrong_check_digit(_card())}",
            f"ticket ABC-{body(5, string.digits)}",
            f"invoice 2026-{body(6, string.digits)}",
            f"{_RANDOM.randint(1, 20)}.{_RANDOM.randint(0, 99)}.{_RANDOM.randint(0, 99)}",
            f"part no. {body(3, string.ascii_uppercase)}-{body(4, string.digits)}",
            f"/srv/{body(8)}/{body(12)}.log",
            f"https://example.org/{body(10)}?page={_RANDOM.randint(1, 99)}",
            f"{_RANDOM.randint(1, 9)},{_RANDOM.randint(100, 999)},000 units",
            f"order {body(9, '1234568')}",
            f'"id": "{body(24, _HEX)}"',
        ]
    return found


def _card() -> str:
    """Fifteen digits behind a 4 that make a card number."""
    digits = "4" + body(14, string.digits)
    for last in "0123456789":
        number = digits + last
        doubled = (int(each) * (2 if at % 2 == 0 else 1) for at, each in enumerate(number))
        if sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0:
            return number[1:]
    raise AssertionError


NEAR_MISSES = list(dict.fromkeys(_near_misses()))
