"""One more provider, added by its row alone; as a pytest plugin (`-p added_provider`) for a run."""

from redask.core.model import Capabilities
from redask.core.provider_table import PROVIDERS, PriceSource, Quirks, host

NAME = "acme"
ROW = host(
    NAME,
    "acme-1",
    "https://api.acme.example/v1",
    Capabilities(True, True, False, True),
    PriceSource.SETTINGS,
    quirks=Quirks(limit_name="max_completion_tokens"),
)


def pytest_configure() -> None:
    PROVIDERS[NAME] = ROW  # type: ignore[index]  # nobody but a test may
