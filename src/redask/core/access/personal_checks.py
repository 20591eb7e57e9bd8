"""What looks like personal data, looked at closely: how many characters of a match are it.

    card      groups of digits with a network's beginning and length, and the right check digit
    iban      as long as its country has it, with the right check digits
    ipv6      an address, with a digit or many groups: `a::b` is also a name in programs
    email     the last part of the domain is letters; `pkg@1.2.3` and `logo@2x.png` are none

0 says that it is none.
"""

import ipaddress
import re

from redask.core.text import compiled_later

_DOUBLED = dict(zip("0123456789", (0, 2, 4, 6, 8, 1, 3, 5, 7, 9), strict=True))
SPACES = " \u00a0\u2007\u2009\u202f"
DASHES = "\\-\u2010\u2011\u2012\u2013"  # for a class of a pattern
_GAPS = compiled_later(f"[{SPACES}{DASHES}.]")
# the beginning of a network's numbers, and how long they are
_NETWORKS = (
    (re.compile("4"), (13, 16)),
    (re.compile("5[1-5]|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)"), (16,)),
    (re.compile("3[47]"), (15,)),
    (re.compile("6(?:011|4[4-9]|5)|35(?:2[89]|[3-8])"), (16,)),
    (re.compile("62"), (16, 17, 18, 19)),
    (re.compile("3(?:0[0-5]|[689])"), (14, 16)),
    (re.compile("5(?:0|[6-8])|6(?:304|39|7)"), (13, 16)),
)
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


def _is_card(digits: str) -> bool:
    return any(
        len(digits) in lengths and beginning.match(digits) for beginning, lengths in _NETWORKS
    ) and _luhn(digits)


def is_card_number(value: int) -> bool:
    """Whether a number is that of a card."""
    return 10**12 <= value < 10**19 and _is_card(str(value))


def card(found: str) -> int:
    """The length of the longest prefix of whole groups that is a card number."""
    ends = [gap.start() for gap in _GAPS.finditer(found)]
    for end in (len(found), *reversed(ends)):
        if _is_card(_GAPS.sub("", found[:end])):
            return end
    return 0


def iban(found: str) -> int:
    """The length of the IBAN at the beginning, by its country, if the check digits are right."""
    length = _IBAN_LENGTHS.get(found[:2].upper())
    if length is None:
        return 0
    indexes = [index for index, each in enumerate(found) if not _GAPS.match(each)]
    if len(indexes) < length:
        return 0
    end = indexes[length - 1] + 1
    if found[end : end + 1].isalnum():  # the word continues
        return 0
    compact = "".join(found[index] for index in indexes[:length])
    number = "".join(str(int(each, 36)) for each in compact[4:] + compact[:4])
    return end if int(number) % 97 == 1 else 0


def ipv6(found: str) -> int:
    """The length of the address, if it is one."""
    address = found.rstrip(".")
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return 0
    return len(address) if any(each.isdigit() for each in address) or address.count(":") > 3 else 0


_PIXELS = re.compile(r"[0-9]x\.(?:png|jpe?g|gif|svg|webp|ico|avif)$", re.I)


def email(found: str) -> int:
    """The length of the address, if its domain is one."""
    address = found.rstrip(".-_")
    name, _, domain = address.rpartition("@")
    last = domain.rpartition(".")[2]
    letters = len(last) > 1 and (last.isalpha() or last.lower().startswith("xn--"))
    return len(address) if letters and name != "git" and not _PIXELS.match(domain) else 0
