"""Which providers there are: `core.provider_table`."""

from redask.core.provider_table import PROVIDERS, rows


def test_those_that_play_a_provider_are_for_tests_only() -> None:
    assert rows(for_tests=True) == list(PROVIDERS)
    left_out = set(PROVIDERS) - set(rows(for_tests=False))
    assert "scripted" in left_out
    assert all(PROVIDERS[name].for_tests for name in left_out)
