"""Where a database on PostgreSQL is, and where this machine keeps what is derived of it."""

import os
from pathlib import Path

import pytest

from redask.core.errors import Misconfigured
from redask.stores.backends import backend_for
from redask.stores.postgres import pg_location

SECRET = "hunter2"
URL = f"postgresql://ann:{SECRET}@db.example.org:5433/answers?sslmode=require&password={SECRET}"


def test_a_password_is_in_no_name_and_no_message() -> None:
    assert SECRET not in pg_location.without_secrets(URL)
    assert pg_location.shown(URL) == "the PostgreSQL database answers at db.example.org:5433"
    assert SECRET not in str(pg_location.local_directory(URL))


def test_two_passwords_have_one_directory_and_two_databases_have_two() -> None:
    other = URL.replace(SECRET, "another")
    assert pg_location.local_directory(other) == pg_location.local_directory(URL)
    elsewhere = URL.replace("/answers", "/others")
    assert pg_location.local_directory(elsewhere) != pg_location.local_directory(URL)


def test_the_local_directory_is_the_chosen_one_or_in_the_cache(tmp_path: Path) -> None:
    chosen = pg_location.local_directory(URL, {pg_location.DIRECTORY: str(tmp_path)})
    assert chosen.parent == tmp_path
    cached = pg_location.local_directory(URL, {"XDG_CACHE_HOME": str(tmp_path)})
    assert cached.parent == tmp_path / "redask"
    assert cached.name == chosen.name


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "PostgreSQL"])
def test_both_schemes_are_the_backend_on_postgresql(scheme: str) -> None:
    assert backend_for(f"{scheme}://host/db").name == "postgresql"
    assert pg_location.url_of(f"{scheme}:/host/db") == "postgresql://host/db"
    assert pg_location.url_of(f"{scheme}:///db?host=/tmp") == "postgresql:///db?host=/tmp"


def test_a_url_that_cannot_be_read_is_refused_without_it() -> None:
    with pytest.raises(Misconfigured) as refused:
        pg_location.shown(f"postgresql://ann:{SECRET}@[::1/answers")
    assert SECRET not in f"{refused.value} {refused.value.detail}"


@pytest.mark.parametrize(
    "password", ["hun#ter2", "hun?ter2", "hun[ter2", "h:un+ter2", "%2Fhun%40ter2"]
)
def test_what_libpq_takes_for_a_password_is_one(password: str) -> None:
    url = f"postgresql://ann:{password}@db.example.org/answers?user=me@realm&host=other"
    assert pg_location.shown(url) == "the PostgreSQL database answers at db.example.org"
    assert pg_location.without_secrets(url) == (
        "postgresql://ann@db.example.org/answers?host=other&user=me%40realm"
    )


@pytest.mark.parametrize("password", ["hun/ter2", "hun@ter2", "hu/n@ter2", "hun@t/er2"])
def test_a_password_that_libpq_takes_for_a_host_or_a_database_is_refused(password: str) -> None:
    for tell in (pg_location.shown, pg_location.without_secrets):
        with pytest.raises(Misconfigured, match="%40 for @") as refused:
            tell(f"postgresql://ann:{password}@db.example.org/answers")
        assert "hu" not in f"{refused.value} {refused.value.detail}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://", "(default)"),
        ("postgresql:///answers?host=/run/pg", "answers at /run/pg"),
        ("postgresql://%2Frun%2Fpg/answers", "answers at /run/pg"),
        ("postgresql://[::1]:5433/answers", "answers at [::1]:5433"),
        ("postgresql://one:1,two,[::1]:3/answers", "answers at one:1,two,[::1]:3"),
        ("postgresql://one?dbname=answers", "answers at one"),
    ],
)
def test_host_and_database_are_shown_in_each_way_to_write_them(url: str, shown: str) -> None:
    assert pg_location.shown(url) == f"the PostgreSQL database {shown}"


def test_a_local_directory_that_others_may_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pg_location.DIRECTORY, str(tmp_path))
    pg_location.check_modes(URL)
    made = pg_location.make_local_directory(URL)
    assert made.stat().st_mode & 0o777 == 0o700
    pg_location.check_modes(URL)
    os.chmod(made, 0o755)
    with pytest.raises(Misconfigured, match="0755"):
        pg_location.check_modes(URL)
