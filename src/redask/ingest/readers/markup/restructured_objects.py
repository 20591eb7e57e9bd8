"""Objects that reStructuredText declares by a directive: a section of their own, headed by a name.

    .. py:data:: SECRET_KEY                    SECRET_KEY
    .. option:: -x, --exitfirst                -x, --exitfirst
    .. option:: --maxfail=NUM                  --maxfail
    .. function:: open(path, mode="r")         open, and the signature in the text
    .. confval:: cache_dir                     cache_dir, and what `:type:` and `:default:` say
    .. conf::                                  pass_env, passenv; any directive without an argument
       :keys: pass_env, passenv                whose options name what it is about

`is_object` says whether a directive declares one, `named` what its options name, `name` gives the
heading, `signature` what of its arguments the name does not say, `facts` what its options say of
the value. Time is linear.
"""

import re
from collections.abc import Iterable

_KINDS = set(
    """
    attribute class classmethod cmdoption confval data decorator decoratormethod describe directive
    django-admin enum enumerator envvar event exception fieldlookup fixture function hook macro
    member method module namespace object operator option property role setting staticmethod struct
    templatefilter templatetag type union var variable
    """.split()
)
_HTTP = set("get post put delete patch head options any copy".split())
_MAX_NAME = 120
_ARGUMENTS = re.compile(r"\(.*|\s->\s.*|\s?:\s.*|\s=\s.*")
_VALUE = re.compile(r"[=\[<{ ].*")
_MODIFIER = re.compile(r"(?:(?:async|abstract|static|const|final|class|struct)\s)+")
_FACT = re.compile(
    r":(default|type|value|version_?added|version_?deprecated):\s*+(.{1,500})$", re.IGNORECASE
)
_FACTS = {"versionadded": "New in version ", "versiondeprecated": "Deprecated since "}
_NAMED = re.compile(r":(?:keys?|names):\s*(\S.{0,500})$", re.IGNORECASE)


def is_object(directive: str, argument: str) -> bool:
    """Whether a directive declares an object; its name may have a domain (`py:data`)."""
    domain, _, kind = directive.rpartition(":")
    if domain.endswith("http"):
        return bool(argument) and kind in _HTTP
    return bool(argument) and kind in _KINDS


def named(options: Iterable[str]) -> str:
    """The names that the options of a directive give; empty if they give none."""
    return next((found[1].strip() for each in options if (found := _NAMED.match(each.strip()))), "")


def name(directive: str, signatures: Iterable[str]) -> str:
    """The names that are declared, without arguments and values."""
    if directive.startswith("http:"):
        return ", ".join(f"{directive[5:].upper()} {each}" for each in signatures)[:_MAX_NAME]
    found: list[str] = []
    for signature in signatures:
        if signature.startswith(("-", "/", "+")):
            options = (each.strip() for each in signature.split(", "))
            found += [_VALUE.sub("", option) for option in options if option]
        else:
            bare = _MODIFIER.sub("", signature)
            found.append(_ARGUMENTS.sub("", bare).strip() or bare)
    return ", ".join(dict.fromkeys(found))[:_MAX_NAME]


def signature(heading: str, signatures: Iterable[str]) -> str:
    """The signatures as code, unless they are the heading."""
    shown = [each for each in signatures if "`" not in each]
    return "" if ", ".join(shown) == heading else ", ".join(f"`{each}`" for each in shown)


def facts(options: Iterable[str]) -> str:
    """What the options of a directive say of a value: its type, its default, since when it is."""
    found = [fact for option in options if (fact := _FACT.match(option.strip()))]
    kinds = [fact[1].lower().replace("_", "") for fact in found]
    return " ".join(
        f"{_FACTS.get(kind, f'{kind.capitalize()}: ')}{fact[2].strip()}."
        for kind, fact in zip(kinds, found, strict=True)
    )
