"""The shapes that redaction finds: `SECRET_PATTERNS` and `PERSONAL_PATTERNS`, in this order.

Patterns with a name come first, so that no part of a value is left over. Every one starts at a
fixed word or at the beginning of a run of its own characters, and is bounded or possessive, so that
any text takes linear time. Spaces may be no-break ones, dashes may be typographic.

A value that only stands for a secret is left: `${NAME}`, `$NAME`, `<your key>`, `{{ x }}`, `***`,
the name of a type, a call, or a word of a sentence (`password: must be …`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from redask.core.access import personal_checks, vendor_keys
from redask.core.access.personal_checks import DASHES, SPACES
from redask.core.text import compiled_later


@dataclass(frozen=True, slots=True)
class Pattern:
    """One format of a kind: the last group is replaced, or the whole match when there is none.

    Every match holds one of the `hints`, in lower case, to skip most texts cheaply. `check` returns
    how many characters of a match to replace, 0 for none.
    """

    kind: str
    regex: re.Pattern[str]
    hints: tuple[str, ...] = ("",)
    check: Callable[[str], int] | None = None


_S = f"[\\t{SPACES}]".replace(" ", "\\ ")  # in a verbose pattern a space must be escaped
_GAP = f"[{SPACES}{DASHES}.]".replace(" ", "\\ ")
# Names begin with a class of letters, by which a search skips most of a text.
_PASSWORDS = r"""[pPkKsScCmM](?:
    (?<=[pP])(?i:assword|asswd|assphrase|asscode|asswort|wd|(?<=[_-].)ass|(?<=user.)ass)
  | (?<=[kK])(?i:ennwort) | (?<=[sS])(?i:enha) | (?<=[cC])(?i:ontrase(?:ñ|n)a)
  | (?<=[mM])(?i:ot[_\ ]de[_\ ]passe))"""
_BEFORE_KEY = """api access secret private signing encryption account sharedaccess subscription
    master storage auth client service webhook session app admin encrypt hmac""".split()
_AFTER = "|".join(f"(?<={word}{gap}.)" for word in _BEFORE_KEY for gap in ("", r"[_\ -]"))
_SECRETS = rf"""[sStTcCkK](?:
    (?<=[kK])(?i:(?:{_AFTER})ey(?:[_-]?id)?)
  | (?<=[sS])(?i:ecret(?:[_-]?access)?|hared[_-]?access[_-]?signature)
  | (?<=[tT])(?i:oken) | (?<=[cC])(?i:redentials?))"""
_STANDS_FOR = r"""(?!
    \[redacted:[a-z0-9_]{1,20}\]
  | \$\{[^}\s]{0,80}\} | \$\([^)\n]{0,80}\) | \$[A-Z_][A-Z0-9_]{0,60}(?![^\s"';,)\]}])
  | %[A-Z_]{1,60}% | \{\{[^}\n]{0,80}\}\} | <[A-Za-z][A-Za-z_ -]{0,60}>
  | \*{3} | [•●]{3} | x{4,40}(?![^\s"';,)]) | \.{3}
  | (?i:null|none|nil|true|false|undefined|str|string|text|varchar|bool|boolean|int|integer|bytes
      |char|required|optional|redacted|hidden|masked|unset|empty|n/a|any)(?![^\s"';,)\]}.|?(])
  | (?i:os\.environ|os\.getenv|getenv|process\.env|System\.getenv|ENV\[|env\.|secrets\.|vault:
      |config\.)
  | (?i:your|my|the|some|insert|change|replace|example|enter)[_ -](?i:[a-z_-]{0,20})
      (?i:password|key|token|secret|here|me)\b
  | [A-Za-z_][A-Za-z0-9_.]{0,60}\([A-Za-z0-9_.,\ '"=-]{0,80}\)(?=[\s;,)\]}]|$)
  | (?:must|is|are|was|the|a|an|at|not|and|or|to|in|see|use|please|should|can|may|will|has|have|for
      |with|of|if|when|this|that|it|we|you|they|no|too|minimum|enter|reset|change|forgot)\ [a-z]
)""".replace("[_ -]", "[_\\ -]").replace("[A-Za-z_ -]", "[A-Za-z_\\ -]")


def _pattern(
    kind: str, written: str, hints: str = "", check: Callable[[str], int] | None = None
) -> Pattern:
    return Pattern(kind, compiled_later(written, re.VERBOSE), tuple(hints.split("|")), check)


_HINTS = {
    "password": "pass|pwd|kennwort|senha|contrase",
    "secret": "secret|token|key|credential|signature",
}


def _assigned(kind: str, names: str) -> Pattern:
    """`name=value`, `name: value`, `"name": "value"`, and JSON inside of JSON."""
    return _pattern(
        kind,
        rf"""(?:{names}) ["'\\]{{0,4}} {_S}{{0,4}} (?:=>|:=|==?|[:=：]) {_S}{{0,4}} \\{{0,3}}
            (?: (?:[brfu]?"|[“„]) {_STANDS_FOR} ([^"“”\n]{{1,4096}}+)
              | (?:[brfu]?'|[‘‚]) {_STANDS_FOR} ([^'‘’\n]{{1,4096}}+)
              | ` {_STANDS_FOR} ([^`\n]{{1,4096}}+)
              | (?!["'“„‘‚`]) {_STANDS_FOR} ([^\s"',;&<>]{{3,}}+) )""",
        _HINTS[kind],
    )


def _tagged(kind: str, names: str) -> Pattern:
    """`<password>value</password>`, with a name space, a prefix or attributes."""
    return _pattern(
        kind,
        rf"<[\w:.-]{{0,40}}(?:{names})(?:\ [^<>]{{0,200}})?>{_STANDS_FOR}([^<\s][^<]{{2,4096}}+)</",
        "</",
    )


def _optioned(kind: str, names: str) -> Pattern:
    """`--password value`, as an option of a command."""
    return _pattern(
        kind,
        rf"""(?<![\w-])--[a-z-]{{0,30}}(?:{names}){_S}{{1,4}}["']?(?!-){_STANDS_FOR}
            ([^\s"']{{3,}}+)""",
        "--",
    )


_COMMANDS = (
    (r"\b(?:mysql|mariadb)(?:dump|admin)?\b[^\n]{0,80}?\s-p(?=\S)", "-p"),
    (r"\bsshpass\s{1,4}-p\s{0,4}", "sshpass"),
    (r"\bredis-cli\b[^\n]{0,80}?\s-a\s{1,4}", "redis-cli"),
    (r"\bcurl\b[^\n]{0,80}?\s(?:-u|--user)[\s=]{1,4}[\"']?[^\s:\"']{1,128}:", "curl"),
    (r"(?i:login)\s{1,4}\S{1,128}\s{1,8}(?i:password)\s{1,4}", "login"),  # .netrc
    (
        r"(?i:oracle:thin:|sqlplus\s{1,4}(?:-\S{1,4}\s{1,4})?)[\w$#]{1,64}/(?=[^@\s]{1,128}@)",
        "thin:|sqlplus",
    ),
)
SECRET_PATTERNS = (
    _pattern(
        "private_key",
        r"""-----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
            [^-]*+(?:-(?!----END[ ])[^-]*+)*+ (?:-----END[ ][A-Z0-9 ]{0,60}-----)?""",
        "private key",
    ),
    _pattern("private_key", r"PuTTY-User-Key-File-[23]:[^\0]{0,8192}?Private-MAC:\s?\w++", "putty"),
    _pattern(
        "bearer_token",
        rf"(?i:bearer){_S}{{1,4}}((?=[A-Za-z._~+/=-]{{0,512}}[0-9])[A-Za-z0-9._~+/=-]{{8,}}+)",
        "bearer",
    ),
    _pattern(
        "bearer_token",
        rf"""(?i:authorization)["']?{_S}{{0,4}}[:=]{_S}{{0,4}}["']?
            (?:(?i:basic){_S}{{1,4}}([A-Za-z0-9+/=]{{4,}}+)
              |(?i:token|apikey|api-key|key|digest|negotiate){_S}{{1,4}}{_STANDS_FOR}
               ([^\s"',;]{{8,}}+))""",
        "authorization",
    ),
    *(
        _pattern("password", rf"""{before}["']?{_STANDS_FOR}([^\s"'@;]{{3,}}+)""", hint)
        for before, hint in _COMMANDS
    ),
    _assigned("password", _PASSWORDS),
    _assigned("secret", _SECRETS),
    _tagged("password", _PASSWORDS),
    _tagged("secret", _SECRETS),
    _optioned("password", _PASSWORDS),
    _optioned("secret", _SECRETS),
    _pattern(
        "secret", r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=([\w%+/=-]{20,}+)", "="
    ),
    _pattern(
        "password",
        r"""://(?!\[redacted:)[^\s:/@"'<>]{0,256}:(?!\[redacted:|[0-9]{1,5}/|[$%{<*])
            ((?:[^\s"'<>:]|:(?!//)){1,256})@""",
        "://",
    ),
    _pattern(
        "jwt",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+){1,3}+",
        "eyj",
    ),
    Pattern("api_key", vendor_keys.PATTERN),
    _pattern(
        "api_key",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,}+)",
        "slack",
    ),
    _pattern(
        "api_key",
        r"(?:discord|discordapp)\.com/api/webhooks/([0-9]{15,22}/[A-Za-z0-9_-]{40,}+)",
        "webhooks",
    ),
    _pattern("api_key", r"https://([0-9a-f]{32})@[a-z0-9.-]{1,80}sentry\.io", "sentry.io"),
)
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_DOT = r"(?:\.|\[\.\]|\(\.\))"
_NUMBERED = "".join(
    f"(?<!{word}\\ )"
    for word in ("ersion", "elease", "uild", "ection", "hapter", "lause", "VERSION")
)
PERSONAL_PATTERNS = (
    _pattern(
        "email", r"(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)++", "@", personal_checks.email
    ),
    _pattern(
        "iban",
        rf"(?<![A-Za-z0-9])[A-Za-z]{{2}}[0-9]{{2}}(?:{_GAP}?[A-Za-z0-9]){{11,30}}",
        check=personal_checks.iban,
    ),
    _pattern(
        "card",
        rf"(?<![0-9])(?<![0-9].)[2-6](?:[0-9]{{12,18}}|[0-9]{{3}}(?:{_GAP}[0-9]{{3,7}}){{2,4}})(?![0-9])",
        check=personal_checks.card,
    ),
    _pattern(
        "ipv6",
        r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f.]{0,15}(?![\w:])",
        ":",
        personal_checks.ipv6,
    ),
    _pattern("ipv4", rf"(?<![\w.]){_NUMBERED}(?:{_BYTE}{_DOT}){{3}}{_BYTE}(?!\w|\.[0-9])", "."),
    _pattern(
        "phone",
        rf"""(?<![\w+.-])(?:
            (?:\+|00)[1-9](?:[()/{SPACES}{DASHES}.]{{0,3}}[0-9]){{7,14}}
          | \(?0[1-9][0-9]{{1,4}}(?:\){_S}?|{_GAP}|/|{_S}[/{DASHES}]{_S})
            [0-9](?:{_GAP}?[0-9]){{4,9}}
          | 0[1-9](?:{_GAP}[0-9]{{2}}){{4}}
          | 0[1-9][{DASHES}][0-9]{{4}}[{DASHES}][0-9]{{4}}
          | (?:1{_GAP})?\(?[2-9][0-9]{{2}}(?:\){_S}?|{_GAP})[0-9]{{3}}{_GAP}[0-9]{{4}}
        )(?!\w)""".replace("[()/ ", "[()/\\ "),
    ),
)
