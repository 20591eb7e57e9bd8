"""What tokens cost by the user's own price list: `read_overrides`, `TokenPrice.of`.

    [ask.prices.<provider>."<model>"]    input = 0.15, output = 0.6    US dollars a million tokens

Both numbers are required, from 0 to a million; provider tokens ignore ASCII case, model names do
not. Some providers cost nothing by definition (their row of `core.provider_table` says so), so a
price for one is refused, and so is a provider we do not know. An override wins over the price
table of the provider's adapter.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from redask.core import values
from redask.core.errors import Misconfigured
from redask.core.provider_table import PROVIDERS, PriceSource
from redask.core.text import lower

_KEYS = ("input", "output")
_MOST = 1_000_000
_read = values.real(0, _MOST)


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars for a million tokens in and a million tokens out."""

    input: float
    output: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What a call costs."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1_000_000


PriceList = Mapping[str, Mapping[str, TokenPrice]]


def read_overrides(tables: Mapping[str, object]) -> dict[str, dict[str, TokenPrice]]:
    """The tables of `ask.prices`, by lower-cased provider and by model."""
    found: dict[str, dict[str, TokenPrice]] = {}
    for token, models in tables.items():
        provider = lower(token)
        where = f"ask.prices.{values.printable(provider)}"
        row = PROVIDERS.get(provider)
        if row is None:
            raise Misconfigured(f"{where}: there is no such provider", detail=where)
        if row.prices is PriceSource.FREE:
            raise Misconfigured(f"{where}: {provider} costs nothing by definition", detail=where)
        if provider in found:
            raise Misconfigured(f"{where} is there twice", detail=where)
        if not isinstance(models, Mapping):
            raise Misconfigured(f"{where} must be a table of models", detail=where)
        found[provider] = {
            name: _price(models[name], f"{where}.{values.printable(name)}") for name in models
        }
    return found


def _price(table: object, where: str) -> TokenPrice:
    if not isinstance(table, Mapping) or set(table) != set(_KEYS):
        expected = "input and output, in US dollars a million tokens"
        raise Misconfigured(f"{where} must say {expected}, and nothing else", detail=where)
    try:
        numbers = [_read(table[key]) for key in _KEYS]
    except values.Unfit as unfit:
        raise Misconfigured(f"{where}: {unfit}", detail=where) from None
    return TokenPrice(*(float(number) for number in numbers if isinstance(number, float)))
