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

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from redask.core.access.personal_checks import is_card_number
from redask.core.access.redaction_patterns import PERSONAL_PATTERNS, SECRET_PATTERNS, Pattern
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
        patterns = [*(SECRET_PATTERNS if self.secrets else ())]
        patterns += [each for each in PERSONAL_PATTERNS if each.kind in self.personal]
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
        if type(value) is int and "card" in self.personal and is_card_number(value):
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
        lowered = text.lower()
        for pattern in patterns:
            if any(hint in lowered for hint in pattern.hints):
                text = _replaced(pattern, text, counts)
        if text == before:
            break
    return text


def _replaced(pattern: Pattern, text: str, counts: Counter[str]) -> str:
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


PERSONAL = tuple(each.kind for each in PERSONAL_PATTERNS)
SECRET = tuple(dict.fromkeys(each.kind for each in SECRET_PATTERNS))
