"""What a call costs: `pricer(provider, model, overrides)` makes the function that says it.

    free by definition, says its row         0.0
    the user's price for this very model     that
    in the table of `genai-prices`, if the   its price, at noon UTC of today
      row names that as the source
    anything else                            None: unknown, and with a cap refused

The table is an estimate that comes with the package; nothing is fetched. Some vendors are cheaper
at night: noon is the dearer price, and the same all day. A model that the table has under another
name (a dated one, a preview) is priced by the name asked for.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from redask.core.provider_table import PROVIDERS, PriceSource
from redask.core.rules.price_list import TokenPrice

Pricer = Callable[[int, int], float | None]


def pricer(provider: str, model: str, overrides: Mapping[str, TokenPrice]) -> Pricer:
    """The price of a call by its (prompt, completion) tokens."""
    source = PROVIDERS[provider].prices
    if source is PriceSource.FREE:
        return lambda _prompt, _completion: 0.0
    if model in overrides:
        return overrides[model].of
    return _table(provider, model) if source is PriceSource.TABLE else _unknown


def _unknown(_prompt_tokens: int, _completion_tokens: int) -> None:
    return None


def _table(provider: str, model: str) -> Pricer:
    from genai_prices import Usage, calc_price

    def price(prompt_tokens: int, completion_tokens: int) -> float | None:
        noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
        usage = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens)
        try:
            found = calc_price(
                usage, model_ref=model, provider_id=provider, genai_request_timestamp=noon
            )
        except (LookupError, ValueError):
            return None
        return float(found.total_price)

    return price
