"""Every statement of tests/sql/corpus gives here what a real PostgreSQL gives, or is refused."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_postgres import NoPostgres, find_programs
from sql_twin import world
from sql_twin.cases import CORPUS, Case, read
from sql_twin.tally import Tally
from sql_twin.twins import Twins, shared_world, twins
from sql_twin.verdict import Outcome

MOST_REFUSED = 0.5  # of what PostgreSQL answers in one part; more is a feature lost
PARTS = sorted(CORPUS.glob("*.sql"), key=lambda path: path.name)


def _missing() -> str:
    try:
        find_programs()
    except NoPostgres as error:
        return str(error)
    return "" if world.FILES[0].exists() else f"no evaluation data at {world.DATA} (REDASK_DATA)"


needs_postgres = pytest.mark.skipif(bool(_missing()), reason=_missing())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent  # which all workers of one run share
    with twins(shared_world(place / "sql-world")) as opened:
        yield opened


@needs_postgres
@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_statements_give_what_postgresql_gives_or_are_refused(both: Twins, path: Path) -> None:
    tally = Tally()
    different = []
    for case in read(path):
        verdict = both.compare(case)
        tally.add(case, verdict)
        if verdict.outcome is Outcome.DIFFERENT:
            different.append(f"{case.name}\n    {case.sql}\n    {verdict.why}")
    print(tally.summary())
    assert not different, "\n".join([tally.summary(), *different])
    refused, equal = tally.counts[Outcome.REFUSED], tally.counts[Outcome.EQUAL]
    assert refused <= MOST_REFUSED * (refused + equal), "\n".join(tally.listing())


@needs_postgres
def test_our_own_tables_are_announced_with_every_type(both: Twins) -> None:
    announced = {table.name: dict(table.columns) for table, _ in both.here.tables()}
    for name, types in world.COLUMN_TYPES.items():
        assert {key: announced[name][key] for key in types} == types


def test_the_corpus_has_at_least_450_statements_and_no_name_twice() -> None:
    cases: list[Case] = [case for path in PARTS for case in read(path)]
    assert len(cases) >= 450
    assert len({case.name for case in cases}) == len(cases)
