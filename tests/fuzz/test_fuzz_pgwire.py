"""A little of `make fuzz-pgwire` in every run of the tests, so that the script stays alive."""

from pathlib import Path
from runpy import run_path


def test_some_hundred_messages_give_no_violation() -> None:
    script = run_path(str(Path(__file__).parent / "fuzz_pgwire.py"))
    report = script["run"](7, 800)
    assert report.violation == ""
    assert report.messages >= 800
    assert report.received["Z"] > 50
    assert report.received["D"] > 0
