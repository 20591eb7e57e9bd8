"""Redaction of what providers must not receive: `Redactor(secrets, personal).redact(payload)`.

    kind            what becomes `[redacted:kind]`
    private_key     a PEM or PGP private key block, also one that is cut off
    jwt             header.payload.signature, and encrypted ones
    api_key         keys of known shapes: AWS, GitHub, GitLab, Slack, Stripe, OpenAI, Google, ours…
    bearer_token    what follows `Bearer`, and `Authorization: Basic`
    password        in `password=…`, `"pwd": …`, `scheme://user:…@host`; values of such keys
    secret          the same for names that end in secret, token, api_key, private_key, …

    email, phone, iban, card, ipv4, ipv6      personal data, each only when chosen; IBANs and
                                              cards by their check digits, also a card as a number

Inside text only the match is replaced; the whole value is replaced when its key is named like a
secret (but for null, true, false and empty values). Keys and the structure of the JSON stay; the
output is canonical JSON. Values that are redacted already are unchanged.

It takes linear time on any text: every pattern starts at a fixed word or at the beginning of a
run of its own characters, and is bounded or possessive. A pattern finds known formats only: a
secret without a format, or personal data in prose, passes. Hide such columns by a policy.
"""

import ipaddress
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from redask.core.model import Notice
from redask.core.wire.json import text as canonical

_PASSWORDS = ("password", "passwd", "passphrase", "passcode", "pwd")
_SECRETS = tuple(
    """secret token apikey accesskey accesskeyid secretkey privatekey signingkey encryptionkey
    credential credentials connectionstring""".split()
)
_SEPARATORS = str.maketrans("", "", "_-. ")
_MAX_PASSES = 4
_PLACEHOLDER = re.compile(r"\[redacted:[a-z0-9_]+\]")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One format of a kind: the last group is replaced, or the whole match when there is none.

    `hint` is a substring of every match, to skip most texts cheaply. `check` returns how many
    characters of a match to replace, 0 for none.
    """

    kind: str
    regex: re.Pattern[str]
    hint: str = ""
    check: Callable[[str], int] | None = None


@dataclass(frozen=True, slots=True)
class Redactor:
    """What to redact: secrets or not, and which kinds of personal data."""

    secrets: bool
    personal: tuple[str, ...]

    @property
    def is_idle(self) -> bool:
        """Whether it redacts nothing."""
        return not self.secrets and not self.personal

    def redact(self, payload: str) -> tuple[str, Mapping[str, int]]:
        """The redacted payload, as canonical JSON, and how many of each kind were replaced."""
        patterns = [*(_SECRET_PATTERNS if self.secrets else ())]
        patterns += [each for each in _PERSONAL_PATTERNS if each.kind in self.personal]
        counts: Counter[str] = Counter()
        redacted = self._value(json.loads(payload), patterns, counts)
        return (canonical(redacted), counts) if counts else (payload, counts)

    def _value(self, value: object, patterns: list[Pattern], counts: Counter[str]) -> object:
        if isinstance(value, str):
            return _redacted(value, patterns, counts)
        if isinstance(value, dict):
            return {key: self._keyed(key, item, patterns, counts) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item, patterns, counts) for item in value]
        if type(value) is int and "card" in self.personal and _is_card_number(value):
            return _placeholder("card", counts)
        return value

    def _keyed(
        self, key: str, value: object, patterns: list[Pattern], counts: Counter[str]
    ) -> object:
        kind = _secret_key(key) if self.secrets else None
        if kind is None or isinstance(value, bool) or value in (None, "", [], {}):
            return self._value(value, patterns, counts)
        if isinstance(value, str) and _PLACEHOLDER.fullmatch(value):
            return value
        return _placeholder(kind, counts)


def notice(counts: Iterable[Mapping[str, int]]) -> tuple[Notice, ...]:
    """One warning with the counts by kind; none when nothing was redacted."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    if not total:
        return ()
    named = ", ".join(f"{count} {kind}" for kind, count in sorted(total.items()))
    return (Notice("redacted", f"taken out of the sources: {named}"),)


def _placeholder(kind: str, counts: Counter[str]) -> str:
    counts[kind] += 1
    return f"[redacted:{kind}]"


def _secret_key(key: str) -> str | None:
    """The kind of secret by the end of a key's name: `DB_PASSWORD`, `apiKey`."""
    name = key.lower().translate(_SEPARATORS)
    if name.endswith(_PASSWORDS):
        return "password"
    return "secret" if name.endswith(_SECRETS) else None


def _redacted(text: str, patterns: list[Pattern], counts: Counter[str]) -> str:
    """The redacted text; repeated, since a replacement can uncover an adjacent match."""
    for _ in range(_MAX_PASSES):
        before = text
        for pattern in patterns:
            text = _replaced(pattern, text, counts)
        if text == before:
            break
    return text


def _replaced(pattern: Pattern, text: str, counts: Counter[str]) -> str:
    if pattern.hint not in text:
        return text
    pieces, done, position = [], 0, 0
    while found := pattern.regex.search(text, position):
        start, end = found.span(found.lastindex or 0)
        if pattern.check is not None:
            size = pattern.check(found[0])
            if not size:
                position = start + 1
                continue
            end = start + size
        pieces += [text[done:start], _placeholder(pattern.kind, counts)]
        done = position = end
    return "".join([*pieces, text[done:]]) if pieces else text


# --- kinds with check digits --------------------------------------------------------------

_DOUBLED = dict(zip("0123456789", (0, 2, 4, 6, 8, 1, 3, 5, 7, 9), strict=True))
_IBAN_LENGTHS = {
    each[:2]: int(each[2:])
    for each in """AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24
    DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28
    IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19
    MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18
    SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30""".split()
}


def _luhn(digits: str) -> bool:
    plain = sum(map(int, digits[-1::-2]))
    return (plain + sum(_DOUBLED[digit] for digit in digits[-2::-2])) % 10 == 0


def _is_card_number(value: int) -> bool:
    return 10**12 <= value < 10**19 and str(value)[0] in "23456" and _luhn(str(value))


def _card(found: str) -> int:
    """The length of the longest prefix of whole groups that is a card number."""
    ends = [index for index, each in enumerate(found) if each in " -"]
    for end in (len(found), *reversed(ends)):
        digits = found[:end].replace(" ", "").replace("-", "")
        if 13 <= len(digits) <= 19 and _luhn(digits):
            return end
    return 0


def _iban(found: str) -> int:
    """The length of the IBAN at the beginning, by its country, if the check digits are right."""
    length = _IBAN_LENGTHS.get(found[:2].upper())
    if length is None:
        return 0
    indexes = [index for index, each in enumerate(found) if each not in " \u00a0-"]
    if len(indexes) < length:
        return 0
    end = indexes[length - 1] + 1
    if found[end : end + 1].isalnum():  # the word continues
        return 0
    compact = "".join(found[index] for index in indexes[:length])
    number = "".join(str(int(each, 36)) for each in compact[4:] + compact[:4])
    return end if int(number) % 97 == 1 else 0


def _ipv6(found: str) -> int:
    address = found.rstrip(".")
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return 0
    return len(address) if address != "::" else 0


# --- the patterns of each kind ----------------------------------------------------------------


def _pattern(
    kind: str, written: str, hint: str = "", check: Callable[[str], int] | None = None
) -> Pattern:
    return Pattern(kind, re.compile(written, re.VERBOSE), hint, check)


def _assigned(kind: str, names: str) -> Pattern:
    """`name=value`, `name: value`, `"name": "value"`, and JSON inside of JSON."""
    return _pattern(
        kind,
        rf"""(?i:{names}) ["'\\]{{0,4}} [ \t]{{0,4}} (?:=>|:=|[:=]) [ \t]{{0,4}} \\{{0,3}}
            (?: "(?!\[redacted:) ([^"\n]{{1,4096}}+) | '(?!\[redacted:) ([^'\n]{{1,4096}}+)
              | (?!\[redacted:[a-z0-9_]{{1,20}}\]) ([^\s"',;&<>]{{3,}}+) )""",
    )


# In this order: patterns with a name come first, so that no part of a value is left over.
_SECRET_PATTERNS = (
    _pattern(
        "private_key",
        r"""-----BEGIN[ ][A-Z0-9 ]{0,40}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
            [^-]*+(?:-(?!----END[ ])[^-]*+)*+ (?:-----END[ ][A-Z0-9 ]{0,60}-----)?""",
        "PRIVATE KEY",
    ),
    _pattern(
        "bearer_token",
        r"(?i:bearer)[ \t]{1,4}((?=[A-Za-z._~+/=-]{0,512}[0-9])[A-Za-z0-9._~+/=-]{8,}+)",
    ),
    _pattern(
        "bearer_token",
        r"""(?i:authorization)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?i:basic)[ \t]{1,4}
            ([A-Za-z0-9+/=]{4,}+)""",
    ),
    _assigned("password", "password|passwd|passphrase|passcode|pwd"),
    _assigned(
        "secret",
        "secret|token|(?:api|access|secret|private|signing|encryption)[_ -]?key(?:[_-]?id)?",
    ),
    _pattern(
        "password",
        r"""://[^\s:/@"'<>]{0,256}:(?!\[redacted:|[0-9]{1,5}/)((?:[^\s"'<>:]|:(?!//)){1,256})@""",
        "://",
    ),
    _pattern(
        "jwt",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]*+){1,3}+",
        "eyJ",
    ),
    _pattern(
        "api_key",
        r"""(?<![A-Za-z0-9])(?:
            (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])
          | gh[opsur]_[A-Za-z0-9]{30,}+ | github_pat_[A-Za-z0-9_]{20,}+ | glpat-[A-Za-z0-9_-]{20,}+
          | xox[abeoprs]-[A-Za-z0-9-]{10,}+ | xapp-[A-Za-z0-9-]{10,}+
          | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}+ | whsec_[A-Za-z0-9+/=]{16,}+
          | sk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20,}+
          | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,}+
          | SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+ | hf_[A-Za-z0-9]{30,}+
          | npm_[A-Za-z0-9]{36,}+ | pypi-[A-Za-z0-9_-]{50,}+ | do[opr]_v1_[a-f0-9]{64}
          | redask_[0-9a-f]{16}_[0-9a-f]{64}
        )""",
    ),
    _pattern("api_key", r"hooks\.slack\.com/services/([A-Za-z0-9/]{20,}+)", "hooks.slack.com"),
)
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PERSONAL_PATTERNS = (
    _pattern("email", r"(?<![\w.%+-])[\w.%+-]++@[\w-]++(?:\.[\w-]++)++", "@"),
    _pattern(
        "iban",
        r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ \u00a0-]?[A-Za-z0-9]){11,30}",
        check=_iban,
    ),
    _pattern(
        "card",
        r"(?<![0-9])[2-6](?:[0-9]{12,18}|[0-9]{3}(?:[ -][0-9]{3,6}){2,4})(?![0-9])",
        check=_card,
    ),
    _pattern(
        "ipv6",
        r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f.]{0,15}(?![\w:])",
        ":",
        _ipv6,
    ),
    _pattern("ipv4", rf"(?<![\w.])(?:{_BYTE}\.){{3}}{_BYTE}(?!\w|\.[0-9])", "."),
    _pattern(
        "phone",
        r"""(?<![\w+.-])(?:
            (?:\+|00)[1-9](?:[ ()./-]{0,2}[0-9]){7,14}
          | \(?0[1-9][0-9]{1,4}(?:\)[ ]?|[ /-]|[ ][/-][ ])[0-9](?:[ -]?[0-9]){4,9}
          | \(?[2-9][0-9]{2}(?:\)[ ]?|[ .-])[0-9]{3}[ .-][0-9]{4}
        )(?!\w)""",
    ),
)
PERSONAL = tuple(each.kind for each in _PERSONAL_PATTERNS)
SECRET = tuple(dict.fromkeys(each.kind for each in _SECRET_PATTERNS))
