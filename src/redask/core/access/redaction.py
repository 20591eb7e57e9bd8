"""What must not leave for a provider: `Redactor(secrets, personal).redact(payload)`.

    kind            what becomes `[redacted:kind]`
    private_key     a PEM or PGP private key block, also one that is cut off
    jwt             header.payload.signature, and encrypted ones
    api_key         keys of known shapes: AWS, GitHub, GitLab, Slack, Stripe, OpenAI, Google, ours…
    bearer_token    what follows `Bearer`, and `Authorization: Basic`
    password        in `password=…`, `"pwd": …`, `scheme://user:…@host`; values of such keys
    secret          the same for names that end in secret, token, api_key, private_key, …

    email, phone, iban, card, ipv4, ipv6      personal data, each only when chosen; IBANs and
                                              cards by their check digits, also a card as a number

Inside text only what was found is replaced; the whole value goes when its key is named like a
secret (null, true, false and empty text stay: there is nothing in them). Keys stay, and so does
the shape of the JSON; what comes out is canonical. What is redacted already stays as it is.

It costs linear time on any text: every pattern starts at a fixed word or where a run of its
own characters begins, and is bounded or gives nothing back. A pattern finds what looks like it:
a secret without a shape, or personal data in words, passes. Hide such columns by a policy.
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
_ROUNDS = 4
_DONE = re.compile(r"\[redacted:[a-z0-9_]+\]")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way a kind looks: what is replaced is the last group, or all when there is none.

    `hint` is a text without which nothing can match: looking for it is much cheaper. `check`
    says how many characters of a match count, 0 for none.
    """

    kind: str
    regex: re.Pattern[str]
    hint: str = ""
    check: Callable[[str], int] | None = None


@dataclass(frozen=True, slots=True)
class Redactor:
    """What to take out: secrets or not, and which kinds of personal data."""

    secrets: bool
    personal: tuple[str, ...]

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to take out."""
        return not self.secrets and not self.personal

    def redact(self, payload: str) -> tuple[str, Mapping[str, int]]:
        """The payload without them, as canonical JSON, and how many of each kind there were."""
        patterns = [*(_SECRET_PATTERNS if self.secrets else ())]
        patterns += [each for each in _PERSONAL_PATTERNS if each.kind in self.personal]
        counts: Counter[str] = Counter()
        shown = self._value(json.loads(payload), patterns, counts)
        return (canonical(shown), counts) if counts else (payload, counts)

    def _value(self, value: object, patterns: list[Pattern], counts: Counter[str]) -> object:
        if isinstance(value, str):
            return _cleaned(value, patterns, counts)
        if isinstance(value, dict):
            return {key: self._keyed(key, item, patterns, counts) for key, item in value.items()}
        if isinstance(value, list):
            return [self._value(item, patterns, counts) for item in value]
        if type(value) is int and "card" in self.personal and _is_card_number(value):
            return _marked("card", counts)
        return value

    def _keyed(
        self, key: str, value: object, patterns: list[Pattern], counts: Counter[str]
    ) -> object:
        kind = _secret_key(key) if self.secrets else None
        if kind is None or isinstance(value, bool) or value in (None, "", [], {}):
            return self._value(value, patterns, counts)
        if isinstance(value, str) and _DONE.fullmatch(value):
            return value
        return _marked(kind, counts)


def notice(counts: Iterable[Mapping[str, int]]) -> tuple[Notice, ...]:
    """One warning that names kinds and counts, by name; none when nothing was taken out."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    if not total:
        return ()
    named = ", ".join(f"{count} {kind}" for kind, count in sorted(total.items()))
    return (Notice("redacted", f"taken out of the sources: {named}"),)


def _marked(kind: str, counts: Counter[str]) -> str:
    counts[kind] += 1
    return f"[redacted:{kind}]"


def _secret_key(key: str) -> str | None:
    """The kind that a key's name tells, whatever is before it: `DB_PASSWORD`, `apiKey`."""
    name = key.lower().translate(_SEPARATORS)
    if name.endswith(_PASSWORDS):
        return "password"
    return "secret" if name.endswith(_SECRETS) else None


def _cleaned(text: str, patterns: list[Pattern], counts: Counter[str]) -> str:
    """The text without any of these; what stood right beside one only shows once it is gone."""
    for _ in range(_ROUNDS):
        before = text
        for pattern in patterns:
            text = _without(pattern, text, counts)
        if text == before:
            break
    return text


def _without(pattern: Pattern, text: str, counts: Counter[str]) -> str:
    if pattern.hint not in text:
        return text
    pieces, done, place = [], 0, 0
    while found := pattern.regex.search(text, place):
        start, end = found.span(found.lastindex or 0)
        if pattern.check is not None:
            size = pattern.check(found[0])
            if not size:
                place = start + 1
                continue
            end = start + size
        pieces += [text[done:start], _marked(pattern.kind, counts)]
        done = place = end
    return "".join([*pieces, text[done:]]) if pieces else text


# --- what has check digits --------------------------------------------------------------

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
    """The longest beginning of whole groups that is a card number."""
    ends = [place for place, each in enumerate(found) if each in " -"]
    for end in (len(found), *reversed(ends)):
        digits = found[:end].replace(" ", "").replace("-", "")
        if 13 <= len(digits) <= 19 and _luhn(digits):
            return end
    return 0


def _iban(found: str) -> int:
    """So much of the text as the country's IBANs have, if the check digits are right."""
    wanted = _IBAN_LENGTHS.get(found[:2].upper())
    if wanted is None:
        return 0
    places = [place for place, each in enumerate(found) if each not in " \u00a0-"]
    if len(places) < wanted:
        return 0
    end = places[wanted - 1] + 1
    if found[end : end + 1].isalnum():  # a word that goes on
        return 0
    compact = "".join(found[place] for place in places[:wanted])
    number = "".join(str(int(each, 36)) for each in compact[4:] + compact[:4])
    return end if int(number) % 97 == 1 else 0


def _ipv6(found: str) -> int:
    address = found.rstrip(".")
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return 0
    return len(address) if address != "::" else 0


# --- how each kind looks ----------------------------------------------------------------


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


# In this order: what is told by its name goes first, so that nothing of it is left over.
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
