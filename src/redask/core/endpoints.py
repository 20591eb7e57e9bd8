"""Where providers are reached, and with which key: `endpoints` of an environment.

    REDASK_<PROVIDER>_API_KEY, _BASE_URL, _MODEL      the key also by its usual name
    REDASK_<PROVIDER>_API_KEY_FILE, _COMMAND          read by whoever reads the environment

Nothing of this is read from a database's directory, which somebody may have handed over: an
address there would receive the keys of whoever opens it. Keys never appear in `repr`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from redask.core.provider_table import PROVIDERS

EMBEDDER_KEY = "REDASK_EMBEDDER_API_KEY"
CLIENT_SECRET = "REDASK_SIGN_IN_CLIENT_SECRET"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach one provider; None where the provider's own default holds."""

    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    model: str | None = None


def key_variables(provider: str) -> tuple[str, ...]:
    """The variables that may hold a provider's key, the one that wins first."""
    ours, usual = f"REDASK_{provider.upper()}_API_KEY", PROVIDERS[provider].key_variable
    return (ours,) if usual is None else (ours, usual)


def secret_variables() -> tuple[str, ...]:
    """Our own variables that hold a secret: each may instead name a file or a command."""
    named = (key_variables(row.name)[0] for row in PROVIDERS.values() if not row.built_in)
    return (*named, EMBEDDER_KEY, CLIENT_SECRET)


def endpoints(env: Mapping[str, str]) -> dict[str, Endpoint]:
    """The providers for which the environment says anything."""
    found = {}
    for provider in (row.name for row in PROVIDERS.values() if not row.built_in):
        prefix = f"REDASK_{provider.upper()}_"
        endpoint = Endpoint(
            next((env[name] for name in key_variables(provider) if env.get(name)), None),
            env.get(f"{prefix}BASE_URL") or None,
            env.get(f"{prefix}MODEL") or None,
        )
        if endpoint != Endpoint():
            found[provider] = endpoint
    return found
