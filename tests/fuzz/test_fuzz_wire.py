"""A little of `make fuzz-wire` in every run of the tests, so that the script itself stays alive."""

from pathlib import Path
from runpy import run_path


def test_some_bad_messages_at_every_transport_give_no_violation() -> None:
    script = run_path(str(Path(__file__).parent / "fuzz_wire.py"))
    rounds = script["run"](list(script["TRANSPORTS"]), 300, 7, 1.0, tell=False)
    assert [each.violation for each in rounds] == [""] * 4
    assert all(each.sent >= 300 and each.honest == 1 and each.asked.answered for each in rounds)
