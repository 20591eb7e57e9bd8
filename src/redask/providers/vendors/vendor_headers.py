"""What the SDKs send of their own accord, and to whom: a vendor's headers go to the vendor only.

The SDKs of OpenAI and Anthropic read headers from the environment: organisation and project,
and any other by `OPENAI_CUSTOM_HEADERS`, `ANTHROPIC_CUSTOM_HEADERS`. They may hold a proxy's
password. Whatever host a user talks to through the same SDK must not see them: `withheld` are the
names to leave out, for a client of any address but the vendor's own.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

OPENAI = "https://api.openai.com"
ANTHROPIC = "https://api.anthropic.com"
_NAMED = {OPENAI: ("OpenAI-Organization", "OpenAI-Project"), ANTHROPIC: ()}
_CUSTOM = {OPENAI: "OPENAI_CUSTOM_HEADERS", ANTHROPIC: "ANTHROPIC_CUSTOM_HEADERS"}


def withheld(vendor: str, base_url: str | None, env: Mapping[str, str]) -> tuple[str, ...]:
    """The headers that a client of this address must not send; names as the SDK has them."""
    address, own = urlsplit(base_url or ""), urlsplit(vendor)
    if (address.scheme, address.hostname, address.port or 443) == (own.scheme, own.hostname, 443):
        return ()
    lines = env.get(_CUSTOM[vendor], "").split("\n")
    custom = (line.partition(":")[0].strip() for line in lines if ":" in line)
    return tuple(dict.fromkeys((*_NAMED[vendor], *custom)))
