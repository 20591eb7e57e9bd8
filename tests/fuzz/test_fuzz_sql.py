"""A little of `make fuzz-sql` in every run of the tests, so that the script itself stays alive."""

from pathlib import Path
from runpy import run_path


def test_a_hundred_and_fifty_statements_give_no_violation() -> None:
    script = run_path(str(Path(__file__).parent / "fuzz_sql.py"))
    report = script["run"]((7, 150))
    assert report.violation == ""
    assert sum(report.outcomes.values()) == 150
    assert report.outcomes["rows"] > 15
