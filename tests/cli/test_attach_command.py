"""`redask attach` and `redask detach`."""

import json
from pathlib import Path

from attached_shop import shop
from click.testing import CliRunner

from redask.cli import main


def run(*arguments: str) -> str:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_tables_are_attached_listed_synced_and_detached(tmp_path: Path) -> None:
    db = ["--db", str(tmp_path / "data")]
    with shop() as place:
        given = ["--tables", "customers, orders", "--role", "shop_reader", "--name", "shop"]
        told = run("attach", place.url, *given, "--readers", "support", *db)
        assert told == "10 written, 0 removed\n"
        listed = run("attach", *db)
        assert "as shop_reader, for support, by polling" in listed
        assert "orders  public.orders, 11 columns: What customers bought" in listed
        (known,) = json.loads(run("attach", "--json", *db))
        assert known["tables"][1]["columns"][2] == {
            "comment": "in euros, with tax",
            "name": "amount",
            "type": "numeric(10,2)",
        }
        place.run("DELETE FROM orders WHERE id = 14")
        done = json.loads(run("attach", "--sync", "--json", *db))
        assert done == {"busy": False, "removed": 1, "written": 0}
        assert run("detach", "shop", *db) == "detached shop: 9 went\n"
        assert run("attach", *db) == "nothing is attached\n"


def test_an_attachment_that_is_not_there_is_told(tmp_path: Path) -> None:
    db = ["--db", str(tmp_path / "data")]
    with shop() as place:
        run("attach", place.url, "--tables", "orders", "--role", "shop_reader", *db)
        for arguments in (["detach", "other"], ["attach", "--sync", "--name", "other"]):
            done = CliRunner().invoke(main, [*arguments, *db])
            assert done.exit_code != 0
            assert "there is no attachment 'other'" in done.output
